"""How each motion of a simulation ended, and what to do about it."""

from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.dynamics import mass_matrix
from forearm.faults import SingularInertia, singular_inertia
from forearm.simulation.advising import STABLE, fastest_rate
from forearm.simulation.jobs import Job
from forearm.simulation.records import Outcome


def outcomes_of(
    job: Job,
    end: dict[str, Vector],
    states: dict[str, Vector],
    t: Vector,
    done: int,
    interrupted: bool,
    method: str,
) -> Any:
    """One Outcome for each motion, an object array of the batch's shape."""
    plant, until = job.plant, done * job.dt
    alive = end.get("alive", np.full(job.batch, until))
    sound = np.all(np.isfinite(end["q"]) & np.isfinite(end["qd"]), axis=-1)
    if "alive" not in end:
        alive = _last_sound(states, t, until)
    clear, which = _trespasses(plant, end, states, t, until)
    found = np.empty(job.batch, dtype=object)
    advice = _steep_friction(job, method) if np.any(sound) else ""
    for row in np.ndindex(job.batch):
        if not sound[row] or alive[row] < until - job.dt / 2:
            if which[row] and clear[row] < alive[row] - job.dt / 2 and plant.stop:
                found[row] = _limit(plant, int(which[row]), float(clear[row]))
            else:
                found[row] = _diverged(job, row, float(alive[row]), method)
        elif which[row]:
            found[row] = _limit(plant, int(which[row]), float(clear[row]))
        elif interrupted:
            found[row] = Outcome("interrupted", until, "the record holds what was computed until then.")
        else:
            found[row] = Outcome("finished", until, advice)
    return found


def _steep_friction(job: Job, method: str) -> str:
    """Advice where dry friction turns over so steeply that the scheme cannot follow it at this step."""
    arm, bound = job.plant.arm, STABLE.get(method, np.inf)
    steep = np.array([float(sum(link.drive.coulomb)) / 2 / link.drive.smoothing for link in arm.links])
    if method == "euler with sticking" or not np.any(steep) or not np.isfinite(bound):
        return ""
    first = (0,) * len(job.batch)
    own = [np.asarray(value)[first][None] for value in job.own.values()]
    q = np.broadcast_to(job.q[first], (arm.n + 1, arm.n))
    pushes = np.concatenate([np.zeros((1, arm.n)), np.eye(arm.n)])
    with np.errstate(all="ignore"):
        qdd = job.plant.kernel("forward_dynamics").general(q, np.zeros_like(q), pushes, *own)
    rates = steep * np.diag(qdd[1:] - qdd[0])
    j = int(np.argmax(rates))
    if not rates[j] * job.dt > bound:
        return ""
    drive = arm.links[j].drive
    return (
        f"dry friction of joint {arm.links[j].name!r} turns over within {drive.smoothing:g} rad/s or m/s, a rate of "
        f"{rates[j]:.2g} 1/s, which {method} cannot follow at dt = {job.dt:g} s near rest; look at the drift, and give "
        f"dt = {0.5 * bound / rates[j]:.1g} s, a wider smoothing, or sticking=True with method='euler'."
    )


def _last_sound(states: dict[str, Vector], t: Vector, until: float) -> Vector:
    """When numbers were last sound, from the records alone (one motion)."""
    bad = ~np.all(np.isfinite(states["q"]), axis=-1)
    return np.asarray(t[max(int(np.argmax(bad)) - 1, 0)] if np.any(bad) else until)


def _trespasses(
    plant: Any, end: dict[str, Vector], states: dict[str, Vector], t: Vector, until: float
) -> tuple[Vector, Vector]:
    """When the first joint left its limits, and which (from 1; 0 for none)."""
    shape = end["q"].shape[:-1]
    if "first" in end:
        with np.errstate(invalid="ignore", divide="ignore"):
            which = np.where(end["first"] > 0, np.rint(end["which"] / end["first"]), 0)
        return np.asarray(end["clear"]), np.nan_to_num(which)
    for i, q in enumerate(states["q"] if plant.bounds and not shape else []):
        for j, low, high in plant.bounds:
            if not low < q[j] < high:
                return np.asarray(t[i]), np.asarray(j + 1)
    return np.full(shape, until), np.zeros(shape)


def _limit(plant: Any, number: int, when: float) -> Outcome:
    link = plant.arm.links[number - 1]
    low, high = link.limits
    unit = "rad" if link.revolute else "m"
    told = f"its limits are {low:g} to {high:g} {unit}"
    if plant.stop:
        return Outcome("stopped at a limit", when, f"{told}; the motion ends there.", link.name)
    return Outcome(
        "limit hit", when, f"{told}; the motion goes on beyond them (limits='stop' ends it).", link.name
    )


def _diverged(job: Job, row: tuple[int, ...], when: float, method: str) -> Outcome:
    """Whether the step is too large for the arm under its law, or something else is wrong."""
    if not (np.all(np.isfinite(job.q[row])) and np.all(np.isfinite(job.qd[row]))):
        return Outcome("diverged", 0.0, "its initial state is not finite.")
    if not _moves(job, row):
        return Outcome("diverged", 0.0, _singular(job, row))
    bound = STABLE.get(method, np.inf)
    rate = fastest_rate(job, row)
    if not np.isfinite(rate):
        return Outcome(
            "diverged",
            when,
            "arm or law give numbers that are not finite at the beginning; look for a division by zero, or NaN, in "
            "the law.",
        )
    if rate * job.dt > bound / 2:
        return Outcome(
            "step too large",
            when,
            f"arm and law have a rate of {rate:.3g} 1/s at the beginning, and {method} follows rates up to "
            f"{bound / job.dt:.3g} 1/s at dt = {job.dt:g} s; try dt = {0.25 * bound / rate:.1g} s.",
        )
    held = job.hold * job.dt
    if job.law is not None and job.hold and (fast := fastest_rate(job, row, sampled=True)) * held > 1.0:
        return Outcome(
            "step too large",
            when,
            f"arm and law have a rate of {fast:.3g} 1/s at the beginning, and the law is held for control_dt = "
            f"{held:g} s; try control_dt = {0.3 / fast:.1g} s, or lower gains.",
        )
    return Outcome(
        "diverged",
        when,
        f"speeds ran away; look at the signs and gains of the law, or try dt = {job.dt / 4:.2g} s.",
    )


def _moves(job: Job, row: tuple[int, ...]) -> bool:
    """Whether a motion has accelerations at its beginning; it has none where the mass matrix is singular."""
    own = [np.asarray(value)[row][None] for value in job.own.values()]
    q, qd = job.q[row][None], job.qd[row][None]
    with np.errstate(all="ignore"):
        found = job.plant.kernel("forward_dynamics").general(q, qd, np.zeros_like(q), *own)
    return bool(np.all(np.isfinite(found)))


def _singular(job: Job, row: tuple[int, ...]) -> str:
    try:
        singular_inertia(job.plant.arm, np.asarray(mass_matrix(job.plant.arm, job.q[row])), job.q[row])
    except SingularInertia as fault:
        return str(fault)
