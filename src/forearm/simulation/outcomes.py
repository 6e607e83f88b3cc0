"""How each motion of a simulation ended, and what to do about it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.dynamics import mass_matrix
from forearm.faults import SingularInertia, singular_inertia
from forearm.motion.limit_excesses import LimitExcess, held_between, limit_excesses, passed_between
from forearm.outside.option_names import option
from forearm.simulation.engines import Scheme
from forearm.simulation.plant import trespasser
from forearm.simulation.records import Outcome
from forearm.simulation.request import Request
from forearm.simulation.schemes import SCHEMES
from forearm.simulation.stability import fastest_rate, friction_rates, rate_beneath_limits

LOOKED_AT = 32
"""Motions of a batch whose law is looked at where limits of torque may hide that it is too stiff for the step."""
_STICKING = [scheme.sticking for scheme in SCHEMES.values() if scheme.sticking is not None]
"""Schemes that follow dry friction however steep it is."""


def outcomes_of(
    request: Request,
    end: dict[str, Vector],
    states: dict[str, Vector],
    tau: Vector,
    t: Vector,
    done: int,
    interrupted: bool,
    scheme: Scheme,
) -> Any:
    """One Outcome for each motion, an object array of the batch's shape."""
    plant, until = request.plant, done * request.dt
    alive = end.get("alive", np.full(request.batch, until))
    sound = np.all(np.isfinite(end["q"]), axis=-1) & np.all(np.isfinite(end["qd"]), axis=-1)
    if "alive" not in end:
        alive = _last_sound(states, t, until)
    clear, which = _trespasses(plant, end, until)
    found = np.empty(request.batch, dtype=object)
    # frozen, so that a million motions share one
    cut = Outcome("interrupted", until, "the record holds what was computed until then.")
    whole = cut if interrupted else Outcome("finished", until)
    doubts = np.full(request.batch, "", dtype=object)
    steep, advice = _steep_friction(request, scheme)
    found[...], found[steep], doubts[steep] = whole, _also(whole, advice), advice
    for row in map(tuple, np.argwhere(end.get("unsettled", np.zeros(request.batch)) > 0)):
        doubts[row] = _unsettled(float(end["unsettled"][row]), until, request.dt)
        found[row] = _also(whole, doubts[row])
    for row in map(tuple, np.argwhere(~sound | (alive < until - request.dt / 2) | (which != 0))):
        if not sound[row] or alive[row] < until - request.dt / 2:
            if which[row] and clear[row] < alive[row] - request.dt / 2 and plant.stop:
                hit = _limit(request, int(which[row]), float(clear[row]), scheme)
                found[row] = _also(hit, doubts[row])
            elif "crawls" in end:
                found[row] = _too_stiff(request, row, float(alive[row]), scheme)
            else:
                found[row] = _diverged(request, row, float(alive[row]), scheme)
        else:
            hit = _limit(request, int(which[row]), float(clear[row]), scheme)
            found[row] = _also(hit, doubts[row])
            if interrupted and not plant.stop:  # it would have gone on
                found[row] = _cut_beyond(cut, found[row])
    return _with_limits(request, found, end, states, tau, t, scheme)


def _also(outcome: Outcome, doubt: str) -> Outcome:
    """An outcome that says one thing more: what ended a motion is no reason to believe its numbers."""
    return replace(outcome, advice=" ".join(filter(None, (outcome.advice, doubt))))


def _with_limits(
    request: Request,
    found: Any,
    end: dict[str, Vector],
    states: dict[str, Vector],
    tau: Vector,
    t: Vector,
    scheme: Scheme,
) -> Any:
    """The outcomes with the limits that states pass or are held at; a motion that ran away is told as such."""
    plant = request.plant
    watched = plant.watch_limits
    position = states["q"] if watched and not plant.stop else None
    speed = states["qd"] if watched else None
    torque = tau if watched or plant.torque_limits is not None else None
    if torque is None:
        return found
    if not request.batch and math.isfinite(found[()].last):  # the rows behind repeat the one where it stopped
        last = int(np.searchsorted(t, found[()].last - 1e-6 * request.dt))
        t, torque = np.append(t[:last], found[()].last), torque[: last + 1]
        speed = None if speed is None else speed[: last + 1]
    beyond = limit_excesses(plant.arm, t, position, speed, torque, plant.torque_limits)
    shares = _shares_held(plant, end, request.batch, float(t[-1]))
    over = _shares_over(plant, end, request.batch, float(t[-1]))
    some = np.vectorize(bool, otypes=[bool])(beyond) | np.any(shares > 0, axis=-1) | np.any(over > 0, axis=-1)
    # of the motions that are held longest; the others are taken to be like the first that shows it
    hidden: list[str] = []
    longest = sorted(map(tuple, np.argwhere(some)), key=lambda row: -shares[row].max(initial=0.0))
    for row in longest:
        outcome = found[row]
        if outcome.kind in ("diverged", "step too large", "too stiff"):
            continue
        told = beyond[row]
        if np.any(over[row]):
            told = (*told, *_over_between(plant, over[row], told))
        if plant.torque_limits is not None:
            told = (*told, *held_between(plant.arm, shares[row], plant.torque_limits, told))
        held = any(excess.held for excess in told)
        kind = "saturated" if held and outcome.kind == "finished" else outcome.kind
        if held and len(hidden) < LOOKED_AT:
            hidden.append(_hidden_by_limits(request, row, end, scheme))
            mine = hidden[-1]
        else:
            mine = next(filter(None, hidden), "") if held else ""
        found[row] = _also(replace(outcome, kind=kind, limits=told), mine)
    return found


def _hidden_by_limits(request: Request, row: tuple[int, ...], end: dict[str, Vector], scheme: Scheme) -> str:
    """Advice where the step is too large for the law, and only limits of torque kept the motion from running away."""
    rate = rate_beneath_limits(request, row, end["q"][row], end["qd"][row])
    if not rate * request.dt > scheme.stable:
        return ""
    return (
        f"arm and law have a rate of {rate:.3g} 1/s, and {scheme.name} follows rates up to "
        f"{scheme.stable / request.dt:.3g} 1/s at dt = {request.dt:g} s: torques swing from limit to limit, and the "
        f"motion is not the arm's; try dt = {0.25 * scheme.stable / rate:.1g} s."
    )


def _shares_held(plant: Any, end: dict[str, Vector], batch: tuple[int, ...], until: float) -> Vector:
    """For which share of the time each torque was at its limit (*batch, n), as the steps themselves saw it."""
    found = np.zeros((*batch, plant.arm.nv))
    for j in plant.holding if until > 0 else ():
        found[..., j] = np.minimum(np.nan_to_num(end.get(f"held_{j + 1}", np.zeros(batch))) / until, 1.0)
    return found


def _shares_over(plant: Any, end: dict[str, Vector], batch: tuple[int, ...], until: float) -> Vector:
    """For which share of the time each limit of `overruns` was passed (*batch, K), as the steps themselves saw it."""
    found = np.zeros((*batch, len(plant.overruns)))
    for k, name in enumerate(plant.overruns if until > 0 else ()):
        found[..., k] = np.minimum(np.nan_to_num(end.get(name, np.zeros(batch))) / until, 1.0)
    return found


def _over_between(plant: Any, shares: Vector, said: tuple[LimitExcess, ...]) -> list[LimitExcess]:
    """Limits of speed and effort that were passed for a share of the time (K,), and that no recorded instant shows."""
    seen = {(excess.joint, excess.what) for excess in said}
    return [
        passed_between(overrun.link, overrun.what, overrun.most, float(share))
        for overrun, share in zip(plant.overruns.values(), shares, strict=True)
        if share > 0 and (overrun.link.name, overrun.what) not in seen
    ]


def interrupted_late(outcomes: Any) -> Any:
    """Outcomes where Ctrl-C came when all was computed: whoever asks whether motions finished stops here too."""
    found = np.empty(outcomes.shape, dtype=object)
    for row, outcome in np.ndenumerate(outcomes):
        found[row] = outcome
        if outcome.finished:
            late = "all steps were done; Ctrl-C came while the record was made."
            found[row] = _also(replace(outcome, kind="interrupted", advice=late), outcome.advice)
    return found


def _steep_friction(request: Request, scheme: Scheme) -> tuple[Any, str]:
    """Motions whose dry friction turns over so steeply that the scheme cannot follow it, and advice for all of them."""
    bound, none = scheme.stable, np.zeros(request.batch, dtype=bool)
    if scheme in _STICKING or not np.isfinite(bound):
        return none, ""
    rates = friction_rates(request)
    steep = np.any(rates * request.dt > bound, axis=-1)
    if not np.any(steep):
        return none, ""
    *row, j = np.unravel_index(int(np.nanargmax(rates)), rates.shape)
    rate = float(rates[(*row, j)])
    arm = request.plant.with_own_drives({k: v[tuple(row)] for k, v in request.values.items()})
    link = arm.state_links[j]
    return steep, (
        f"dry friction of joint {link.name!r} turns over within {link.drive.smoothing:g} rad/s or m/s, a rate of "
        f"{rate:.2g} 1/s, which {scheme.name} cannot follow at dt = {request.dt:g} s near rest; look at the drift, "
        f"and give dt = {0.5 * bound / rate:.1g} s, a wider smoothing, or {option('sticking', 'True')} with "
        f"{option('method', repr('euler'))}."
    )


def _unsettled(time: float, until: float, dt: float) -> str:
    return (
        f"for {100 * min(time / until, 1.0):.2g} % of the time it was not settled which joints stick: friction is "
        f"within its bounds then, not exact; try a step below dt = {dt:g} s, and see whether the motion stays as it is."
    )


def _last_sound(states: dict[str, Vector], t: Vector, until: float) -> Vector:
    """When numbers were last sound, from the records alone (one motion)."""
    bad = ~np.all(np.isfinite(states["q"]), axis=-1)
    return np.asarray(t[max(int(np.argmax(bad)) - 1, 0)] if np.any(bad) else until)


def _trespasses(plant: Any, end: dict[str, Vector], until: float) -> tuple[Vector, Vector]:
    """When the first joint left its limits, and which (from 1; 0 for none)."""
    shape = end["q"].shape[:-1]
    if "first" in end:
        return np.asarray(end["clear"]), trespasser(plant, end["first"], end["which"])
    return np.full(shape, until), np.zeros(shape)


def _limit(request: Request, number: int, when: float, scheme: Scheme) -> Outcome:
    plant, dt = request.plant, request.dt
    link = plant.watched_links[number - 1]
    assert link.limits is not None
    low, high = link.limits
    unit = "rad" if link.revolute else "m"
    told = f"its limits are {low:g} to {high:g} {unit}"
    if plant.stop:
        steps = math.floor(when / dt + 1e-6) + 1 if scheme.looks_once else math.ceil(when / dt - 1e-6)
        ends = f"{told}; the motion ends there."
        return Outcome("stopped at a limit", when, ends, link.name, last=steps * dt)
    return Outcome(
        "limit hit",
        when,
        f"{told}; the motion goes on beyond them ({option('limits', repr('stop'))} ends it).",
        link.name,
    )


def _cut_beyond(cut: Outcome, hit: Outcome) -> Outcome:
    """The outcome of a motion that was beyond its joint's limits when Ctrl-C came."""
    when = f"joint {hit.joint!r} left its limits at t = {hit.t:.6g} s: {hit.advice}"
    return replace(cut, advice=f"{cut.advice} Before, {when}", joint=hit.joint)


def _too_stiff(request: Request, row: tuple[int, ...], when: float, scheme: Scheme) -> Outcome:
    """Where a scheme that chooses its steps itself would take for ever."""
    rate = fastest_rate(request, row)
    told = (
        f"arm and law have a rate of {rate:.3g} 1/s at the beginning" if rate > 0 else "the motion is stiff"
    )
    return Outcome(
        "too stiff",
        when,
        f"{told}, and the steps of {scheme.name} became so small that it would not come to an end; look at speeds, "
        "damping, friction (a wider smoothing?) and gains.",
    )


def _diverged(request: Request, row: tuple[int, ...], when: float, scheme: Scheme) -> Outcome:
    """Whether the step is too large for the arm under its law, or something else is wrong."""
    if not (np.all(np.isfinite(request.q[row])) and np.all(np.isfinite(request.qd[row]))):
        return Outcome("diverged", 0.0, "its initial state is not finite.")
    if not _moves(request, row):
        return Outcome("diverged", 0.0, _singular(request, row))
    bound = scheme.stable
    rate = fastest_rate(request, row)
    if np.isinf(rate):  # of a free base there is none
        return Outcome(
            "diverged",
            when,
            "arm or law give numbers that are not finite at the beginning; look for a division by zero, or NaN, in "
            "the law.",
        )
    if rate * request.dt > bound / 2:
        return Outcome(
            "step too large",
            when,
            f"arm and law have a rate of {rate:.3g} 1/s at the beginning, and {scheme.name} follows rates up to "
            f"{bound / request.dt:.3g} 1/s at dt = {request.dt:g} s; try dt = {0.25 * bound / rate:.1g} s.",
        )
    held = request.hold * request.dt
    if (
        request.law is not None
        and request.hold
        and (fast := fastest_rate(request, row, sampled=True)) * held > 1.0
    ):
        return Outcome(
            "step too large",
            when,
            f"arm and law have a rate of {fast:.3g} 1/s at the beginning, and the law is held for control_dt = "
            f"{held:g} s; try control_dt = {0.3 / fast:.1g} s, or lower gains.",
        )
    return Outcome(
        "diverged",
        when,
        f"speeds ran away; look at the signs and gains of the law, or try dt = {request.dt / 4:.2g} s.",
    )


def _moves(request: Request, row: tuple[int, ...]) -> bool:
    """Whether a motion has accelerations at its beginning; it has none where the mass matrix is singular."""
    own = [np.asarray(value)[row][None] for value in request.own.values()]
    q, qd = request.q[row][None], request.qd[row][None]
    with np.errstate(all="ignore"):
        found = request.plant.kernel("forward_dynamics").general(q, qd, np.zeros_like(qd), *own)
    return bool(np.all(np.isfinite(found)))


def _singular(request: Request, row: tuple[int, ...]) -> str:
    try:
        singular_inertia(
            request.plant.arm, np.asarray(mass_matrix(request.plant.arm, request.q[row])), request.q[row]
        )
    except SingularInertia as fault:
        return str(fault)
