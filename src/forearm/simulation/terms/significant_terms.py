"""significance: how much each term of the torque matters along a motion, and what could be deleted at a tolerance.

Two grains. Whole terms (inertial, Coriolis, gravity, ...) are left out one after the other, smallest first. Then the
recursion itself: every summand of every equation of a formulation, link by link, is a candidate; its effect on the
torques comes from the graph's derivatives, the smallest are deleted, and what is left is run along the motion, so
that the error that is reported is a measured one. It holds for motions like the one that was given, not for others.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forearm import dynamics, faults
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import simplify
from forearm.faults import StateFault, needs_chain, no_formulation
from forearm.formulations import FORMULATIONS
from forearm.motion.instants import averaging, looked_at, shares_of_time, with_peaks
from forearm.motion.motions import Motion, Samples
from forearm.outside.running_log import LOG
from forearm.simulation.terms.summands import adjoints, edges, located_graph, measured, without

MOST_SAMPLES = 100_000
"""Instants at which a motion is looked at, at most."""
MOST_MORE = 1000
"""Instants that are added at most for the breaks of a motion: each costs a row of every summand's effect."""
TERMS = ("inertial", "centrifugal", "coriolis", "gravity", "rotor", "friction")


@dataclass(frozen=True)
class Share:
    """What one term contributes along a motion."""

    peak: Vector
    """Largest magnitude at each joint (n,) [N m or N]."""
    mean: Vector
    """Root mean square at each joint (n,)."""
    relative: float
    """Largest over the joints of peak over the joint's largest torque."""


@dataclass(frozen=True)
class Tagged:
    """The summands of one equation at one link, and how many of them may go."""

    tag: str
    """The equation's number in the paper; '-' for lines without one (building rotations)."""
    link: int
    """Which link, 1 to n; 0 outside the walks."""
    summands: int
    """How many scalar summands there are."""
    deleted: int
    """How many are deleted."""
    effect: float
    """Largest effect of a single summand, over the joint's largest torque, to first order."""


@dataclass(frozen=True, eq=False)
class Significance:
    """How much each term matters along a motion, and what can go."""

    arm: Arm
    """The arm."""
    formulation: str
    """Whose recursion was taken apart."""
    tolerance: float
    """Torque error that was allowed, over each joint's largest torque."""
    shares: dict[str, Share]
    """What each term contributes."""
    droppable: tuple[str, ...]
    """Whole terms that may be left out together."""
    droppable_error: float
    """Torque error of leaving them out, over each joint's largest torque."""
    tagged: tuple[Tagged, ...]
    """Every equation, link by link."""
    error: float
    """Torque error of the recursion with summands deleted, measured along the motion."""
    operations: tuple[int, int]
    """Operations of the compiled recursion: all of it, and what is left."""
    graph: Graph = field(repr=False)
    """The recursion that is left (rigid-body torques); `Kernel(passes.lower(graph))` runs it."""

    @property
    def saved(self) -> float:
        """Share of the operations that is saved."""
        return 1 - self.operations[1] / self.operations[0]

    def __str__(self) -> str:
        lines = [f"{self.arm.name}, tolerance {self.tolerance:.3g} of each joint's largest torque"]
        for name, share in sorted(self.shares.items(), key=lambda pair: -pair[1].relative):
            told = "  may be left out" if name in self.droppable else ""
            lines.append(f"  {name:12s} {100 * share.relative:9.4g} %{told}")
        if self.droppable:
            lines.append(f"  without {', '.join(self.droppable)}: error {100 * self.droppable_error:.3g} %")
        gone, every = sum(t.deleted for t in self.tagged), sum(t.summands for t in self.tagged)
        lines.append(
            f"{self.formulation}: {gone} of {every} summands deleted, error {100 * self.error:.3g} %"
        )
        lines.append(
            f"  operations {self.operations[0]} -> {self.operations[1]} ({100 * self.saved:.0f} % saved)"
        )
        lines += [
            f"  ({t.tag}) link {t.link}: {t.deleted} of {t.summands}, largest effect {100 * t.effect:.3g} %"
            for t in self.tagged
            if t.deleted
        ]
        return "\n".join(lines)


@faults.explained
def significance(
    arm: Arm,
    motion: Any,
    tolerance: float = 0.01,
    *,
    formulation: str = "luh_walker_paul_1980",
    samples: int = 201,
) -> Significance:
    """How much each term contributes along a motion, and what could be deleted.

    Args:
        arm: The arm.
        motion: A motion, a Record, or arrays (q, qd, qdd), each (K, n).
        tolerance: Torque error that is allowed, over the joint's largest torque along the motion.
        formulation: Whose recursion is taken apart, by its name in FORMULATIONS.
        samples: At how many times a motion is looked at; pieces that are shorter than that, more closely.
    """
    needs_chain(arm, "significance")
    if not 0 < tolerance < 1:
        raise StateFault(
            f"significance: tolerance is {tolerance!r}; give a share of the torque between 0 and 1."
        )
    row = FORMULATIONS.get(formulation)
    if row is None or "joint_torques" not in row.gives or row.needs:
        able = [k for k, r in FORMULATIONS.items() if "joint_torques" in r.gives and not r.needs]
        no_formulation(formulation, able, where="significance: ", giving="joint torques")
    states, weights = states_of(arm, motion, samples)
    parts, averaged, looked = _parts_along(arm, motion, samples, states)
    scale = _scale(parts.total)
    even, weights = averaged or (parts, weights)
    shares = {name: _share(getattr(parts, name), scale, getattr(even, name), weights) for name in TERMS}
    droppable, error = _droppable(parts, scale, tolerance)
    graph, tags, links = located_graph(arm, formulation)
    pruned, tagged, measured_error = _pruned(graph, tags, links, looked, tolerance)
    counts = simplify(graph).counts.operations, simplify(pruned).counts.operations
    return Significance(
        arm, formulation, tolerance, shares, droppable, error, tagged, measured_error, counts, pruned
    )


def states_of(arm: Arm, motion: Any, samples: int) -> tuple[tuple[Vector, Vector, Vector], Vector]:
    """A motion as arrays (K, n), and what part of the time each row stands for (K,)."""
    weights = None
    samples = faults.whole(samples, "samples", 1, MOST_SAMPLES)
    if isinstance(motion, Motion):
        t, *motion = motion.sample(looked_at(motion, samples, "significance", MOST_MORE))
        weights = shares_of_time(t)
    elif hasattr(motion, "qdd"):
        weights = _of_times(getattr(motion, "t", None), np.shape(motion.q))
        motion = (motion.q, motion.qd, motion.qdd)
    try:
        q, qd, qdd = motion
        given = list(faults.states(arm, "significance", q=q, qd=qd, qdd=qdd).values())
    except faults.Fault:
        raise
    except (TypeError, ValueError):
        raise StateFault("motion: give a motion, a record, or three arrays q, qd, qdd (K, n).") from None
    q, qd, qdd = (array.reshape(-1, arm.n) for array in np.broadcast_arrays(*given))
    sound = np.all(np.isfinite(q) & np.isfinite(qd) & np.isfinite(qdd), axis=1)
    if not np.any(sound):
        raise StateFault("motion: it has no finite states; give at least one (q, qd, qdd).")
    if not np.all(sound):
        LOG.warning("significance: %d of %d states are not finite, and left out", np.sum(~sound), len(sound))
    if weights is None:
        weights = np.full(len(q), 1 / len(q))
    return (q[sound], qd[sound], qdd[sound]), weights[sound] / np.sum(weights[sound])


def _parts_along(
    arm: Arm, motion: Any, samples: int, states: tuple[Vector, ...]
) -> tuple[Any, Any, tuple[Vector, ...]]:
    """Terms where peaks are, terms and weights by which they are averaged, if others, and states with those peaks."""
    if not isinstance(motion, Motion):
        return dynamics.terms(arm, *states), None, states
    rows = _rows_with_peaks(arm, motion, samples)
    parts, (t, weights) = dynamics.terms(arm, *rows[1:]), averaging(motion)
    greatest = [np.argmax(np.abs(getattr(parts, name)), axis=0) for name in (*TERMS, "total")]
    worst = np.unique(np.concatenate(greatest))
    states = tuple(np.concatenate([x, y[worst]]) for x, y in zip(states, rows[1:], strict=True))
    return parts, (dynamics.terms(arm, *motion.rows(t)), weights), states


def _rows_with_peaks(arm: Arm, motion: Motion, samples: int) -> Samples:
    """A motion looked at so closely that no term is greater between."""

    def asked(rows: Samples) -> tuple[Vector, ...]:
        parts = dynamics.terms(arm, *rows[1:])
        return tuple(getattr(parts, name) for name in (*TERMS, "total"))

    times = looked_at(motion, max(samples, 2), "significance")
    return with_peaks(motion, times, asked, lambda _, values: np.abs(np.concatenate(values, axis=1)))[0]


def _of_times(t: Any, shape: tuple[int, ...]) -> Vector | None:
    """What part of the time each row (..., K, n) of a record stands for; None where it has no times of its rows."""
    if t is None or np.ndim(t) != 1 or len(shape) < 2 or len(t) != shape[-2]:
        return None
    times = np.asarray(t, dtype=float)
    if not (np.all(np.isfinite(times)) and np.all(np.diff(times) > 0)):
        raise StateFault("motion: its times do not rise; give finite times, each after the one before.")
    return np.broadcast_to(shares_of_time(times), shape[:-1]).ravel()


def _scale(tau: Vector) -> Vector:
    """Largest torque of each joint (n,); of the whole arm, a trillionth, where a joint has none."""
    peak = np.abs(tau).max(axis=0)
    return np.maximum(peak, 1e-12 * max(float(peak.max()), np.finfo(float).tiny))


def _share(term: Vector, scale: Vector, averaged: Vector, weights: Vector) -> Share:
    peak = np.abs(term).max(axis=0)
    return Share(peak, np.sqrt(weights @ averaged**2), float(np.max(peak / scale)))


def _droppable(parts: Any, scale: Vector, tolerance: float) -> tuple[tuple[str, ...], float]:
    """Whole terms, smallest first, for as long as the torque stays within tolerance."""
    order = sorted(TERMS, key=lambda name: float(np.max(np.abs(getattr(parts, name)) / scale)))
    gone: list[str] = []
    left_out, error = np.zeros_like(parts.total), 0.0
    for name in order:
        trial = left_out + getattr(parts, name)
        worst = float(np.max(np.abs(trial) / scale))
        if worst > tolerance:
            break
        left_out, error = trial, worst
        gone.append(name)
    return tuple(gone), error


def _pruned(
    graph: Graph, tags: list[str], links: list[int], states: tuple[Vector, ...], tolerance: float
) -> tuple[Graph, tuple[Tagged, ...], float]:
    """Delete as many summands as the tolerance allows, smallest effects first; the error is measured."""
    values, tau = measured(graph, states)
    scale = _scale(tau)
    slopes = adjoints(graph, states)
    candidates = edges(graph)
    effects = np.array(
        [
            np.max(np.abs(slopes[:, node] * values[graph.nodes[node].args[k]]) / scale[:, None])
            for node, k in candidates
        ]
    )
    order = np.argsort(effects, kind="stable")

    def error_of(count: int) -> tuple[float, Graph]:
        trial = without(graph, {candidates[k] for k in order[:count]})
        return float(np.max(np.abs(measured(trial, states)[1] - tau) / scale)), trial

    low, high = 0, int(np.searchsorted(np.sort(effects), tolerance, "right"))
    best = (0.0, graph)
    while low < high:
        middle = (low + high + 1) // 2
        found = error_of(middle)
        if found[0] <= tolerance:
            low, best = middle, found
        else:
            high = middle - 1
    deleted = set(order[:low].tolist())
    return best[1], _by_equation(candidates, effects, deleted, tags, links), best[0]


def _by_equation(
    candidates: list[tuple[int, int]], effects: Vector, deleted: set[int], tags: list[str], links: list[int]
) -> tuple[Tagged, ...]:
    groups: dict[tuple[int, str], list[int]] = {}
    for k, (node, _) in enumerate(candidates):
        groups.setdefault((links[node], tags[node]), []).append(k)
    return tuple(
        Tagged(tag, link, len(rows), sum(k in deleted for k in rows), float(max(effects[k] for k in rows)))
        for (link, tag), rows in sorted(groups.items())
    )


# -- error against speed -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SpeedStudy:
    """Torque error of leaving velocity terms out, against how fast a motion is run."""

    arm: Arm
    """The arm."""
    factors: Vector
    """How many times faster than the motion itself (F,)."""
    errors: dict[str, Vector]
    """Largest torque error over the joint's largest torque (F,), by what is left out."""
    top_speeds: Vector
    """Largest |qd| at each factor (F,) [rad/s or m/s]."""

    def plot(self) -> Any:
        """A figure, error against speed; needs matplotlib."""
        from forearm.plots.record_figures import speed_figure

        return speed_figure(self)


@faults.explained
def error_against_speed(arm: Arm, motion: Any, factors: Any = None, *, samples: int = 201) -> SpeedStudy:
    """What ignoring Coriolis and centrifugal torques costs, from slow to fast: the papers' remark, measured.

    Args:
        arm: The arm.
        motion: A motion, a Record, or arrays (q, qd, qdd), each (K, n).
        factors: How many times faster to run it, (F,); 0.1 to 10 by default.
        samples: At how many times a motion is looked at; pieces that are shorter than that, more closely.
    """
    (q, qd, qdd), _ = states_of(arm, motion, samples)
    if isinstance(motion, Motion):
        _, q, qd, qdd = _rows_with_peaks(arm, motion, samples)
    speeds = (
        np.geomspace(0.1, 10, 21) if factors is None else np.atleast_1d(faults.floats("factors", factors))
    )
    if speeds.ndim != 1 or not speeds.size or not np.all((speeds > 0) & np.isfinite(speeds)):
        raise StateFault(
            f"error_against_speed: factors is {faults.shown(factors)}; give positive numbers (F,), some of them."
        )
    names = {
        "Coriolis": ("coriolis",),
        "centrifugal": ("centrifugal",),
        "Coriolis and centrifugal": ("coriolis", "centrifugal"),
    }
    errors: dict[str, list[float]] = {name: [] for name in names}
    for factor in speeds:
        parts = dynamics.terms(arm, q, factor * qd, factor**2 * qdd)
        scale = _scale(parts.total)
        for name, fields in names.items():
            missing = sum((getattr(parts, f) for f in fields), np.zeros_like(q))
            errors[name].append(float(np.max(np.abs(missing) / scale)))
    return SpeedStudy(arm, speeds, {k: np.array(v) for k, v in errors.items()}, speeds * np.abs(qd).max())
