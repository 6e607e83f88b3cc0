"""compare: how two torque functions differ, term by term, and why.

The cause is never guessed: each hypothesis of `hypotheses` is tested on the same states, first alone, then in
pairs, and is named only if it takes the whole difference away with the fewest unknowns. If none does, or if two
different ones do equally well, the answer is "cannot tell", with the evidence.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.counterparts import Other, on_fixed_bases, other_of
from forearm.verification.difference.hypotheses import Bench, Cause, Fit, OtherView, fit, tilt
from forearm.verification.difference.suspects import causes
from forearm.verification.difference.verdict import Comparison, Evidence

TOLERANCE = 1e-7
"""Relative difference of torques that counts as none."""
COARSEST = 0.05
"""However few digits a file has, torques that are farther apart are not the same."""
GRID = 16
"""Positions from which an unknown zero is searched."""
ROUNDING = 1e-14
"""A part of a torque that is so small beside the whole is its rounding."""
HOPE = 0.8
"""A zero is only searched closely where a position of the grid takes so much of the difference away."""
PLAIN, AHEAD = 3.0, 1.5
"""In noise: how many times less a cause must leave than was there, and than any other cause leaves."""
FLEXIBLE = (3, 10)
"""Numbers of unknowns (gravity, a body) with which a fit could imitate a shifted zero."""

Explained = tuple[tuple[Cause, ...], Fit, int]


def compare(
    arm: Arm | Robot,
    other: Any,
    *,
    states: int = 48,
    seed: int = 0,
    tolerance: float | None = None,
    name: str | None = None,
    patience: float = 60.0,
) -> Comparison:
    """Compare the torques of an arm with somebody else's, and name the cause of a difference.

    Args:
        arm: The arm or robot, with its drives (leave them out with `without_drives()` if the other has none).
        other: An Arm or Robot, a Pinocchio or MuJoCo model, a Robotics Toolbox robot, a function of q, qd, qdd for one
            state, or the path of a CSV file with columns q1 …, qd1 …, qdd1 …, tau1 ….
        states: How many random states.
        seed: Which ones.
        tolerance: Relative difference that counts as none; by default 1e-7, or what the digits of a file allow.
        name: What to call the other.
        patience: Processor seconds after which no more pairs of causes are tried.

    Returns:
        The comparison: `same`, `causes`, `terms`, `evidence`; print it.
    """
    if not arm.dynamics:
        faults.no_dynamics(arm, "torques to compare")
    if states < 1:
        raise faults.StateFault(f"compare: states is {states}; give a whole number, 1 or more.")
    arm, other = on_fixed_bases(arm, other)
    that = other_of(arm, other, name)
    bench = _bench(arm, that, states, seed)
    found = _judged(arm, that, bench, tolerance, patience)
    return replace(found, notes=(*that.notes, *_too_few(found, bench)))


def _too_few(found: Comparison, bench: Bench) -> tuple[str, ...]:
    """A note where there are too few rows to tell some causes from each other."""
    if found.same or all(_told(bench, (cause,)) for cause in causes(bench.arm)):
        return ()
    rows = f"{len(bench.q)} rows are" if len(bench.q) > 1 else "one row is"
    return (f"{rows} too few to look for causes with unknowns (friction, offsets, a body): give more states",)


def _judged(
    arm: Arm | Robot, that: Other, bench: Bench, tolerance: float | None, patience: float
) -> Comparison:
    """Whether torques differ, and why."""
    allowed = max(tolerance or TOLERANCE, 0.0 if tolerance else min(4 * that.digits, COARSEST))
    terms = _terms(arm, that, bench)
    plain = fit(bench, bench.plain)
    if plain.residual <= allowed:
        if plain.residual <= TOLERANCE or tolerance:
            return Comparison(arm.name, that.name, True, (), terms, residual=plain.residual)
        terms = tuple((name, size, "within the digits written") for name, size, _ in terms)
        return Comparison(arm.name, that.name, True, (), terms, residual=plain.residual, written=that.digits)
    every = [cause for cause in causes(arm) if _told(bench, (cause,))]
    alone: list[Explained] = [((cause,), _tried(bench, (cause,)), cause.parameters) for cause in every]
    found, evidence = _search(bench, plain, alone, allowed, patience)
    noise = ""
    if found is None and that.rows is not None:
        found = _in_noise(bench, plain, alone)
        noise = f"; {found[1].rms:.2g} N m or N rms are left: noise, or a second cause" if found else ""
    if found is None:
        return Comparison(arm.name, that.name, False, (), terms, tuple(evidence), plain.residual)
    texts = tuple(_text(cause, found[1], arm) + noise for cause in found[0])
    keys = tuple(_key(cause, found[1], arm) for cause in found[0])
    return Comparison(arm.name, that.name, False, texts, terms, tuple(evidence), found[1].residual, keys)


def _bench(arm: Arm | Robot, other: Other, states: int, seed: int) -> Bench:
    if other.rows is not None:
        q, qd, qdd, tau = other.rows
        return Bench(arm, q, qd, qdd, tau)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (states, arm.n))
    for i, link in enumerate(arm.state_links):
        if link.prismatic:
            q[:, i] = rng.uniform(-0.5, 0.5, states)
    qd = rng.uniform(0.3, 2, (states, arm.n)) * rng.choice([-1.0, 1.0], (states, arm.n))
    qdd = rng.uniform(-4, 4, (states, arm.n))
    assert other.torques is not None
    return Bench(arm, q, qd, qdd, other.torques(q, qd, qdd))


# -- the search ----------------------------------------------------------------------------------------------


def _search(
    bench: Bench, plain: Fit, alone: list[Explained], allowed: float, patience: float
) -> tuple[Explained | None, list[Evidence]]:
    """One cause, then two; the explanation with the fewest unknowns, if there is one only."""
    every = [cs[0] for cs, _, _ in alone]
    evidence = [Evidence(cs[0].text, 1 - f.residual / plain.residual, f.residual) for cs, f, _ in alone]
    evidence.sort(key=lambda e: e.residual)
    good = [e for e in alone if e[1].residual <= allowed]
    if good:
        return _simplest(bench, good), evidence
    return _two_causes(bench, every, allowed, time.process_time() + patience), evidence


def _told(bench: Bench, group: tuple[Cause, ...]) -> bool:
    """Whether there are more torques than these causes have unknowns, a row more: fewer they would fit, whatever."""
    return bench.tau.size >= _unknowns(group) + bench.arm.n


def _in_noise(bench: Bench, plain: Fit, alone: list[Explained]) -> Explained | None:
    """The one cause that takes most of a measured difference away while no other comes near; None without one.

    What is left must be less than the torques, too: a factor near zero leaves all of them.
    """
    best = min(alone, key=lambda e: e[1].rms)
    rivals = [e[1].rms for e in alone if e[0][0].key != best[0][0].key]
    most = min(plain.rms, float(np.sqrt(np.mean(bench.tau**2)))) / PLAIN
    if best[1].rms > most or min(rivals) < best[1].rms * AHEAD:
        return None
    return best


def _two_causes(bench: Bench, every: list[Cause], allowed: float, until: float) -> Explained | None:
    """The simplest pair: those without an unknown zero first, the others if they could still be simpler."""
    general = [c for c in every if c.in_pairs]
    good: list[Explained] = []
    for zero in (False, True):
        for pair in sorted(_pairs(general, zero), key=_unknowns):
            if (good and _unknowns(pair) > min(e[2] for e in good)) or time.process_time() > until:
                break
            if _told(bench, pair) and _tried(bench.few, pair, coarse=True).residual <= allowed:
                whole = _tried(bench, pair)
                if whole.residual <= allowed:
                    good.append((pair, whole, _unknowns(pair)))
        if good and not any(c.parameters in FLEXIBLE for e in good for c in e[0]):
            break
    return _simplest(bench, good) if good else None


def _unknowns(group: tuple[Cause, ...]) -> int:
    return sum(cause.parameters for cause in group)


def _pairs(every: list[Cause], zero: bool) -> Iterator[tuple[Cause, ...]]:
    """Pairs of different causes, with or without an unknown zero; readings in either order."""
    for one, two in combinations(every, 2):
        searched = (one.unknown_zero is not None) + (two.unknown_zero is not None)
        if one.key == two.key or searched != zero or ("gravity" in one.change and "gravity" in two.change):
            continue
        yield one, two
        if "maps" in one.change and "maps" in two.change:
            yield two, one


def _simplest(bench: Bench, good: list[Explained]) -> Explained | None:
    """The explanation with the fewest unknowns; None if different ones are equally simple."""
    least = min(parameters for _, _, parameters in good)
    best = [e for e in good if e[2] == least]
    names = {tuple(sorted(_key(c, e[1], bench.arm) for c in e[0])) for e in best}
    if len(names) > 1 or any("cannot tell" in name for name in next(iter(names))):
        return None
    return min(best, key=lambda e: e[1].residual)


def _tried(bench: Bench, group: tuple[Cause, ...], coarse: bool = False) -> Fit:
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
    found = fit(bench, moved(float(best.unknowns["zero"][0])), keep=False)
    found.unknowns["zero"] = best.unknowns["zero"]
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


# -- words ---------------------------------------------------------------------------------------------------


def _key(cause: Cause, found: Fit, arm: Arm | Robot) -> str:
    if cause.change.get("gravity") != "free":
        return cause.key
    return _gravity(found, arm)[0]


def _gravity(found: Fit, arm: Arm | Robot) -> tuple[str, str]:
    """What a gravity vector that came out of a fit means."""
    before, after = np.array(arm.gravity_in_base, dtype=float), found.gravity
    size = float(np.linalg.norm(before))
    printed = "(" + ", ".join(f"{g:.4g}" for g in after) + ")"
    if size == 0 or abs(np.linalg.norm(after) / size - 1) > 1e-5:
        return "gravity size", f"gravity differs: {printed} m/s² in the base of the other"
    angle = tilt(before, after)
    if angle <= np.pi / 2:
        return (
            "base rotation",
            f"the base is turned: gravity is {printed} m/s² in it, {np.degrees(angle):.4g}° away",
        )
    return (
        "cannot tell",
        f"gravity is {printed} m/s²: a base turned by {np.degrees(angle):.4g}°, or sign and tilt",
    )


def _text(cause: Cause, found: Fit, arm: Arm | Robot) -> str:
    if cause.change.get("gravity") == "free":
        return _gravity(found, arm)[1]
    if cause.unknown_zero is not None:
        return f"{cause.text} by {float(found.unknowns['zero'][0]):.6g}"
    if cause.change.get("extras") == ("armature",):
        return f"{cause.text} by {_vector(found.unknowns['armature'])} kg m²"
    if cause.change.get("extras") == ("offset",):
        return f"{cause.text}, the other's are larger by {_vector(found.unknowns['offset'])} N m or N"
    if cause.change.get("extras") == ("friction",):
        n = arm.n
        viscous, dry = found.unknowns["friction"][:n], found.unknowns["friction"][n:]
        return f"{cause.text}: viscous by {_vector(viscous)}, dry by {_vector(dry)}"
    if cause.change.get("extras") == ("scale",):
        return f"{cause.text}, {1 + float(found.unknowns['scale'][0]):.6g}"
    if cause.parameters == 10:
        body = cause.change["extras"][0]
        if not found.tells(body, 0):
            return f"{cause.text}; the torques do not tell by how much mass"
        return f"{cause.text}; mass by {float(found.unknowns[body][0]):.4g} kg"
    return cause.text


def _vector(values: Vector) -> str:
    return "(" + ", ".join(f"{0.0 if abs(v) < 1e-9 else v:.4g}" for v in values) + ")"


# -- terms ---------------------------------------------------------------------------------------------------


def _terms(arm: Arm | Robot, other: Other, bench: Bench) -> tuple[tuple[str, float, str], ...]:
    """Gravity, mass matrix and velocity torques compared, where the other can be asked."""
    if other.torques is None:
        ours = other_of(arm, arm).torques
        assert ours is not None
        return (("torques", *_difference(ours(bench.q, bench.qd, bench.qdd), bench.tau, 0.0)),)
    mine_of, theirs_of = other_of(arm, arm).torques, other.torques
    assert mine_of is not None
    q, qd = bench.q[:6], bench.qd[:6]
    mine, theirs = (_split(f, q, qd) for f in (mine_of, theirs_of))
    names = ("gravity torques", "mass matrix", "velocity torques")
    size = float(np.max(np.abs(bench.tau), initial=0.0))
    sizes = (size, 0.0, size)
    return tuple(
        (name, *_difference(a, b, s)) for name, a, b, s in zip(names, mine, theirs, sizes, strict=True)
    )


def _split(torques: Any, q: Matrix, qd: Matrix) -> tuple[Any, Any, Any]:
    still = 0 * q
    weight = torques(q, still, still)
    n = q.shape[1]
    columns = [torques(q, still, still + e) - weight for e in np.eye(n)]
    return weight, np.array(columns).transpose(1, 2, 0), torques(q, qd, still) - weight


def _difference(mine: Any, theirs: Any, torque: float) -> tuple[float, str]:
    """Largest difference relative to the larger of the two, and what it looks like; rounding of a torque is none."""
    apart = np.asarray(theirs) - np.asarray(mine)
    apart = np.where(np.abs(apart) <= ROUNDING * torque, 0.0, apart)
    scale = max(float(np.max(np.abs(mine))), float(np.max(np.abs(theirs))), 1e-300)
    size = float(np.max(np.abs(apart))) / scale
    return size, _pattern(np.asarray(mine), np.asarray(theirs), apart, 1e-7 * scale) if size > 1e-7 else ""


def _pattern(mine: Any, theirs: Any, apart: Any, small: float) -> str:
    if np.max(np.abs(theirs)) < small:
        return "absent in the other"
    if np.max(np.abs(theirs + mine)) < small:
        return "the other sign"
    if (
        apart.ndim == 3
        and np.max(np.abs(apart - apart[0])) < small
        and np.max(np.abs(apart[0] - np.diag(np.diag(apart[0])))) < small
    ):
        return f"a constant diagonal {_vector(np.diag(apart[0]))}"
    rows = np.max(np.abs(apart), axis=tuple(i for i in range(apart.ndim) if i != 1))
    joints = [str(i + 1) for i in np.flatnonzero(rows > small)]
    if len(joints) < len(rows):
        return f"only in joint {', '.join(joints)}"
    factor = float(np.sum(mine * theirs) / max(float(np.sum(mine * mine)), 1e-300))
    return f"a factor {factor:.6g}" if np.max(np.abs(theirs - factor * mine)) < small else ""
