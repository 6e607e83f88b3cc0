"""The search for what explains a difference: one cause, then two; the simplest, if there is one only.

A cause explains where it leaves less than counts as none in every joint, much less than there was, and no more than
others do. Among those the one with the fewest unknowns is named, unless another that is no wider form of it does as
well: then which it is cannot be told.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.bounds import SEEN, Bounds
from forearm.verification.difference.causes.cause_texts import key_of, text_of
from forearm.verification.difference.causes.coincidences import PLAIN, Odds
from forearm.verification.difference.causes.hypotheses import Bench, Cause, Fit, OtherView, fit
from forearm.verification.difference.causes.remainders import can_be

GRID = 16
"""Positions from which an unknown zero is searched."""
HOPE = 0.8
"""A zero is only searched closely where a position of the grid takes so much of the difference away."""
AHEAD = 1.5
"""How many times less a cause must leave than any other cause leaves."""
EXACT = 1e-9
"""What is so little beside the torques is no difference between two explanations."""
FEW = 10
"""Rows from which on a cause may be named that leaves something."""
FLEXIBLE = (3, 10)
"""Numbers of unknowns (gravity, a body) with which a fit could imitate a shifted zero."""
GRAVITY = ("base rotation", "gravity size", "gravity", "cannot tell")
"""What a free gravity vector may be called."""
WIDER = {
    "gravity sign": GRAVITY,
    "gravity missing": GRAVITY,
    "scale": ("torque factors",),
    "torque sign": ("torque factors",),
    "joint zero": ("link",),
    "inertia about origin": ("link",),
    "products sign": ("link",),
    "frame": ("link",),
    "armature": ("coupled inertia",),
    "link": ("coupled inertia",),
    "offset": ("springs",),
}
"""Causes of which others, with more unknowns, are a wider form: explaining as much, those are no rivals."""
OF_JOINTS = ("joint direction", "joint zero", "joint order", "torque order", "torque sign", "rows late")
"""Causes that say which joint it is."""

Explained = tuple[tuple[Cause, ...], Fit, int]


@dataclass(frozen=True)
class Explanation:
    """What explains a difference."""

    found: Explained | None = None
    """The one explanation; None without one, or with several."""
    either: tuple[str, ...] = ()
    """In words, several that explain all of it equally well."""
    whole: bool = True
    """Whether all causes and pairs were tried; False where patience ended before."""


def unknowns_of(group: tuple[Cause, ...]) -> int:
    """How many unknowns causes have together."""
    return sum(cause.parameters for cause in group)


def alone_until(bench: Bench, every: list[Cause], until: float) -> tuple[list[Explained], bool]:
    """What causes leave, each by itself, in their order; and whether all were tried before the time was over.

    First come those that see the joints as they are, which share one table, and kinds of which there are few.
    """
    kinds = Counter(cause.key for cause in every)

    def effort(k: int) -> tuple[bool, int]:
        seen = every[k].unknown_zero is not None or any(name in every[k].change for name in SEEN)
        return seen, kinds[every[k].key]

    found: dict[int, Explained] = {}
    for k in sorted(range(len(every)), key=effort):
        if found and time.process_time() > until:
            break
        found[k] = ((every[k],), tried(bench, (every[k],)), every[k].parameters)
    return [found[k] for k in sorted(found)], len(found) == len(every)


def unsure(answer: Explanation, arm: Arm | Robot) -> Explanation:
    """An answer where causes were left untried: one with unknowns may have a simpler rival among those."""
    if answer.found is None or not answer.found[2]:
        return replace(answer, whole=False)
    group, left_over, _ = answer.found
    told = "; and ".join(text_of(cause, left_over, arm) for cause in group)
    return Explanation(None, (told,), whole=False)


def single_cause(bench: Bench, plain: Fit, alone: list[Explained]) -> Explanation:
    """The cause that leaves nothing, by itself."""
    leading = _leading(bench, plain, alone)
    whole = [e for e in alone if e[1].over <= 1]
    # no fit of roundings outdoes these
    sharp = [e for e in whole if e[2] == 0 and e[1].rms <= plain.rms / PLAIN]
    return _chosen(bench, [*sharp, *(e for e in leading if e[1].over <= 1)], sharp + leading, sure=True)


def cause_in_noise(bench: Bench, plain: Fit, alone: list[Explained], told: list[Explained]) -> Explanation:
    """The one cause of these that takes most of a measured difference away; several in words where others come near."""
    if len(bench.q) < FEW:
        return Explanation()
    leading = _leading(bench, plain, alone)
    good = [e for e in leading if any(e is one for one in told)]
    return _chosen(bench, good, leading, sure=False)


def _leading(bench: Bench, plain: Fit, alone: list[Explained]) -> list[Explained]:
    """Those that leave much less than was there, and than the torques are, and hardly more than the best one."""
    size = float(np.sqrt(np.mean(bench.tau**2)))
    most, least = min(plain.rms, size) / PLAIN, min((f.rms for _, f, _ in alone), default=0.0)
    return [e for e in alone if e[1].rms <= min(most, max(AHEAD * least, EXACT * size))]


def _chosen(bench: Bench, good: list[Explained], near: list[Explained], sure: bool) -> Explanation:
    """The explanation with the fewest unknowns; none where others come near that are no wider form of it.

    With `sure`, nothing was left: a cause without unknowns is then no accident, except for another with one at most.
    """
    if not good:
        return Explanation()
    least = min(parameters for _, _, parameters in good)
    best = next(e for e in good if e[2] == least)
    key, name = _key(bench, best), _name(bench, best)
    rivals = [e for e in near if _name(bench, e) != name and not _is_wider(_key(bench, e), key)]
    if sure and least == 0:
        rivals = [e for e in rivals if e[2] <= 1]
    if not rivals and "cannot tell" not in key:
        return Explanation(best)
    texts = [text_of(e[0][0], e[1], bench.arm) for e in (best, *sorted(rivals, key=lambda e: e[2]))]
    return Explanation(None, tuple(dict.fromkeys(texts)))


def _key(bench: Bench, explained: Explained) -> str:
    causes, found, _ = explained
    return key_of(causes[0], found, bench.arm)


def _name(bench: Bench, explained: Explained) -> str:
    """What tells one explanation from another: its key, and of causes that name joints the words."""
    key = _key(bench, explained)
    return explained[0][0].text if key in OF_JOINTS else key


def _is_wider(key: str, narrow: str) -> bool:
    """Whether a cause includes another as a special case."""
    plain, narrow = ("link" if k == "last link" or k.startswith("link ") else k for k in (key, narrow))
    return plain in WIDER.get(narrow, ())


# -- two causes ----------------------------------------------------------------------------------------------


def two_causes(bench: Bench, odds: Odds, every: list[Cause], until: float) -> Explanation:
    """The simplest pair: those without an unknown zero first, the others if they could still be simpler.

    Pairs that no numbers of bodies, gravity and drives could help are passed by.
    """
    general, bounds = [c for c in every if c.in_pairs], Bounds(bench)
    good: list[Explained] = []
    for zero in (False, True):
        for pair in sorted(_pairs(general, zero), key=unknowns_of):
            if good and unknowns_of(pair) > min(e[2] for e in good):
                break
            if time.process_time() > until:
                return replace(_simplest(bench, good), whole=False)
            if not zero and bounds.exclude(pair):
                continue
            if tried(bench.few, pair, coarse=True).over <= 1:
                whole, count = tried(bench, pair), unknowns_of(pair)
                if (
                    whole.over <= 1
                    and can_be(whole, bench.arm)
                    and odds.told(whole, count, len(general) ** 2)
                ):
                    good.append((pair, whole, count))
        if good and not any(c.parameters in FLEXIBLE for e in good for c in e[0]):
            break
    return _simplest(bench, good)


def _pairs(every: list[Cause], zero: bool) -> Iterator[tuple[Cause, ...]]:
    """Pairs of different causes, with or without an unknown zero; readings in either order."""
    for one, two in combinations(every, 2):
        searched = (one.unknown_zero is not None) + (two.unknown_zero is not None)
        if one.key == two.key or searched != zero or ("gravity" in one.change and "gravity" in two.change):
            continue
        yield one, two
        if "maps" in one.change and "maps" in two.change:
            yield two, one


def _simplest(bench: Bench, good: list[Explained]) -> Explanation:
    """The pair with the fewest unknowns; both in words if different ones are equally simple."""
    if not good:
        return Explanation()
    least = min(parameters for _, _, parameters in good)
    best = [e for e in good if e[2] == least]
    names = {tuple(sorted(key_of(c, e[1], bench.arm) for c in e[0])) for e in best}
    if len(names) > 1 or any("cannot tell" in name for name in next(iter(names))):
        texts = ("; and ".join(text_of(c, e[1], bench.arm) for c in e[0]) for e in best)
        return Explanation(None, tuple(dict.fromkeys(texts)))
    return Explanation(min(best, key=lambda e: e[1].residual))


# -- what is left --------------------------------------------------------------------------------------------


def tried(bench: Bench, group: tuple[Cause, ...], coarse: bool = False) -> Fit:
    """What is left under these causes; an unknown zero is searched."""
    view = bench.plain
    for cause in group:
        view = cause.apply(view)
    zero = next((cause.unknown_zero for cause in group if cause.unknown_zero is not None), None)
    return fit(bench, view) if zero is None else _zeroed(bench, view, zero, coarse)


def _zeroed(bench: Bench, view: OtherView, joint: int, coarse: bool) -> Fit:
    """The best zero of one joint: a grid, then Gauss-Newton from the best places, on few states and then on all."""

    def moved(zero: float) -> OtherView:
        return replace(view, zeros=tuple(zero if i == joint else z for i, z in enumerate(view.zeros)))

    def at(zero: float, keep: bool = False) -> Fit:
        return fit(bench.few, moved(zero), keep)

    half = np.pi if bench.arm.state_links[joint].revolute else 1.0
    grid = np.linspace(-half, half, GRID, endpoint=False) + half / GRID
    bench.few.prepare([moved(float(z)) for z in grid])
    tries = [(at(float(z), True), float(z)) for z in grid]
    tries.sort(key=lambda pair: float(np.linalg.norm(pair[0].left)))
    best, without = tries[0][0], at(0.0, True)
    best.unknowns["zero"] = np.array([tries[0][1]])
    near = [] if coarse else [0.0]  # a small shift is nearer to none than to any place of the grid
    hope = np.linalg.norm(best.left) <= HOPE * np.linalg.norm(without.left)
    if not (near or hope):
        return best
    for zero in near + [zero for _, zero in tries[: 1 if coarse else 3] if hope]:
        best = min(best, _polished(at, zero), key=lambda f: f.residual)
    zero, step = float(best.unknowns["zero"][0]), 1e-5
    found, more, less = (fit(bench, moved(zero + by), keep=False) for by in (0.0, step, -step))
    found.unknowns["zero"] = best.unknowns["zero"]
    found.slopes["zero"] = (less.left - more.left)[:, None] / (2 * step)
    return found


def _polished(at: Any, zero: float) -> Fit:
    """Gauss-Newton for a zero."""
    step = 1e-6
    here = at(zero)
    for _ in range(12):
        slope = (at(zero + step).left - at(zero - step).left) / (2 * step)
        size = float(slope @ slope)
        if size == 0:
            break
        zero = zero - float(np.clip(slope @ here.left / size, -0.5, 0.5))
        before, here = here, at(zero)
        if here.residual < 1e-12 or abs(here.residual - before.residual) < 1e-3 * here.residual:
            break
    here.unknowns["zero"] = np.array([zero])
    return here
