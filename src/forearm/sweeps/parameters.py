"""From what is varied to the inputs of a kernel: payloads, mounts, friction, bodies, lengths, motions.

Each row of `PARAMETERS` says which free parameter of a kernel an axis sets, in which shapes its values come, and how
they become the kernel's numbers. Any other path that `compile` can leave free is an axis too: 'links[2].mass'.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.compiler.model.free_parameters import current, lengths_of, port_name, port_shape
from forearm.dynamics import inverse_dynamics
from forearm.faults import DEGREES, StateFault, loads_doubts, possible_sizes
from forearm.motion.feasibility import rows_with_peaks
from forearm.motion.instants import so_many
from forearm.motion.motions import Motion, Samples
from forearm.motion.slope_checks import row_notes
from forearm.outside.running_log import LOG
from forearm.robot import Robot
from forearm.sweeps.axes import GridAxis

IN_WORLD_AXES = (
    *("pose", "jacobian", "jacobian_rate", "mount_wrench"),
    *("center_of_mass", "center_of_mass_jacobian", "centroidal_momentum", "wrench_torque"),
)
"""Quantities in world axes: turning gravity, as a mount does, does not turn them."""
MOTION = "motion"
"""The axis that sets q, qd and qdd together, for many instants."""
LOOKED_AT, LOWER = 301, 0.01
"""Instants at which a motion is looked at for peaks that a sweep's instants miss, and the share that may be missed."""


LINKS, LENGTHS = "links", "lengths"
"""In a shape: as many as the arm has."""


@dataclass(frozen=True)
class Parameter:
    """An axis that sets a free parameter. It travels to workers, so it holds nothing that cannot."""

    path: str
    """Which, as `compile(free=...)` names it."""
    forms: tuple[tuple[int | str, ...], ...]
    """Shapes in which values come."""
    numbers: Callable[[Any, Vector], Vector]
    """From an arm and values (S, *shape) to the kernel's input (S, ...)."""
    about: str
    """What values are, for messages."""

    def shapes(self, arm: Arm | Robot) -> tuple[tuple[int, ...], ...]:
        """Shapes in which values come, for an arm."""
        many = {LINKS: len(arm.links), LENGTHS: len(lengths_of(arm))}
        return tuple(tuple(many[k] if isinstance(k, str) else k for k in form) for form in self.forms)


def _payload(arm: Any, values: Vector) -> Vector:
    """Ten numbers about the tool's origin, from a mass, or mass and centre, or all ten."""
    if values.shape[1:] == (10,):
        return values
    mass, *com = values.reshape(len(values), -1).T
    x, y, z = com or np.zeros((3, len(values)))
    moments = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    found = np.empty((len(values), 10))
    found[:, 0] = mass
    for k, factor in enumerate((x, y, z, *moments), 1):
        np.multiply(mass, factor, out=found[:, k])
    return found


def _mount(arm: Any, rpy: Vector) -> Vector:
    """Gravity as an arm feels it whose base is turned by roll, pitch, yaw: Rᵀ g."""
    (sr, cr), (sp, cp), (sy, cy) = (_sine_and_cosine(angles) for angles in rpy.T)
    g, rows = arm.gravity, [(), (), (-sp, cp * sr, cp * cr)]
    if g[0] or g[1] or not np.isfinite(sy).all():  # otherwise the yaw does not matter
        rows[0] = (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr)
        rows[1] = (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr)
    found = np.empty((len(rpy), 3))
    for j in range(3):
        found[:, j] = sum(row[j] * g[i] for i, row in enumerate(rows) if row)
    return found


def _sine_and_cosine(angles: Vector) -> tuple[Vector, Vector]:
    """Of angles (S,), taken once where all are the same."""
    if (angles == angles[0]).all():
        angles = angles[:1]
    return np.sin(angles), np.cos(angles)


def _friction(arm: Any, values: Vector) -> Vector:
    """Viscous and dry friction, the same in both directions, of each joint or of all alike."""
    values = np.ascontiguousarray(values[:, None] if values.ndim == 2 else values)
    whole = np.broadcast_to(values, (len(values), len(arm.links), 2))
    return np.concatenate([whole, whole[..., 1:]], axis=-1)


def _own_friction(arm: Any, count: int) -> Vector:
    """Viscous friction, dry forth and dry back of each joint (count, n, 3), as the arm has them."""
    return np.broadcast_to(current(arm, "friction"), (count, len(arm.links), 3)).copy()


def _viscous(arm: Any, values: Vector) -> Vector:
    """Viscous friction of all joints alike, or of each; dry friction stays the arm's own."""
    whole = _own_friction(arm, len(values))
    whole[..., 0] = values[:, None] if values.ndim == 1 else values
    return whole


def _dry(arm: Any, values: Vector) -> Vector:
    """Dry friction, the same in both directions; viscous friction stays the arm's own."""
    whole = _own_friction(arm, len(values))
    whole[..., 1:] = (values[:, None] if values.ndim == 1 else values)[..., None]
    return whole


def _density(arm: Any, factors: Vector) -> Vector:
    """All ten numbers of each link, with what it holds, times a factor: the same bodies of other material."""
    factors = factors[:, None] if factors.ndim == 1 else factors
    return current(arm, "inertial") * factors[..., None]  # type: ignore[no-any-return]


def _lengths(arm: Any, factors: Vector) -> Vector:
    """The arm's own lengths times a factor."""
    factors = factors[:, None] if factors.ndim == 1 else factors
    return current(arm, "geometry") * factors  # type: ignore[no-any-return]


def _as_given(arm: Any, values: Vector) -> Vector:
    return values


PARAMETERS = {
    "payload": Parameter(
        "payload@tool",
        ((), (4,), (10,)),
        _payload,
        "a mass [kg], mass and centre x y z [m], or ten numbers (mass, first moment, inertia), in the tool's frame",
    ),
    "gravity": Parameter("gravity", ((3,),), _as_given, "a vector [m/s²] in world axes"),
    "mount": Parameter("gravity", ((3,),), _mount, "roll, pitch, yaw by which the base is turned [rad]"),
    "friction": Parameter(
        "friction",
        ((2,), (LINKS, 2)),
        _friction,
        "viscous and dry friction, of all joints alike or of each",
    ),
    "viscous": Parameter(
        "friction",
        ((), (LINKS,)),
        _viscous,
        "viscous friction of all joints alike or of each; dry friction stays",
    ),
    "dry": Parameter(
        "friction",
        ((), (LINKS,)),
        _dry,
        "dry friction of all joints alike or of each; viscous friction stays",
    ),
    "inertial": Parameter(
        "inertial",
        ((LINKS, 10),),
        _as_given,
        "ten numbers for each link, in its own frame",
    ),
    "density": Parameter(
        "inertial",
        ((), (LINKS,)),
        _density,
        "a factor on mass and inertia, or one for each link, what it holds included",
    ),
    "geometry": Parameter("geometry", ((LENGTHS,),), _as_given, "the lengths that are not zero [m]"),
    "lengths": Parameter(
        "geometry",
        ((), (LENGTHS,)),
        _lengths,
        "a factor on the lengths, or one for each; bodies stay where they are in the frames at the far ends of links",
    ),
}
"""Axes by name."""


def parameter_of(arm: Arm | Robot, name: str) -> Parameter:
    """The row of an axis, or one for a path that `compile` can leave free."""
    if name in PARAMETERS:
        return PARAMETERS[name]
    shape = port_shape(arm, name)
    return Parameter(name, (shape,), _as_given, f"numbers of shape {shape}")


def checked_parameters(what: str, arm: Arm | Robot, axes: dict[str, Any]) -> dict[str, Parameter]:
    """Every axis that sets a parameter of a quantity, its shape checked; no two set the same."""
    if "mount" in axes and what in IN_WORLD_AXES:
        raise StateFault(
            f"sweep: {what} is in world axes, and over['mount'] turns the base by turning gravity, which does not turn "
            "it; give a function that turns the arm: arm.with_base(fa.Pose.at(rpy=rpy) @ arm.base)."
        )
    found: dict[str, Parameter] = {}
    ports: dict[str, str] = {}
    for name, axis in axes.items():
        row = parameter_of(arm, name)
        if axis.shape not in row.shapes(arm):
            shapes = " or ".join(map(str, row.shapes(arm)))
            raise StateFault(
                f"sweep: values of over[{name!r}] have shape {axis.shape}; give {shapes}: {row.about}."
            )
        other = ports.setdefault(port_name(row.path), name)
        if other != name:
            raise StateFault(f"sweep: over has {other!r} and {name!r}, which set the same; give one of them.")
        found[name] = row
        for bound in ("values", "low"):
            if hasattr(axis, bound):
                given = np.asarray(getattr(axis, bound)).reshape(-1, *axis.shape)
                possible_sizes(f"sweep: over[{name!r}]", arm, name, given)
        far = farthest(axis)
        for doubt in loads_doubts(arm, name, far if axis.shape else far[:1]):
            LOG.warning("%s: %s", arm.name, doubt)
        if name == "mount" and (most := float(farthest(axis).max())) > DEGREES:
            raise StateFault(
                f"sweep: over['mount'] goes to {most:.4g} rad, {most / math.tau:.1f} turns: degrees? Give radians "
                "(numpy.deg2rad)."
            )
    return found


def farthest(axis: Any) -> Vector:
    """How far an axis of vectors goes, number by number: its bounds, mean or values."""
    given = [getattr(axis, name) for name in ("low", "high", "mean", "values") if hasattr(axis, name)]
    return np.max(np.abs(np.vstack(given)), axis=0)  # type: ignore[no-any-return]


class MotionAxis(GridAxis):
    """Motions, each at the same number of instants; a value is the motion's number."""

    def __init__(self, samples: Sequence[Samples]) -> None:
        """Stack them."""
        object.__setattr__(self, "values", np.arange(len(samples)))
        self.__dict__["times"] = np.stack([s.t for s in samples])
        states = {name: np.stack([getattr(s, name) for s in samples]) for name in ("q", "qd", "qdd")}
        self.__dict__["states"] = {name: np.ascontiguousarray(a, dtype=float) for name, a in states.items()}

    times: Vector
    """When instants are (motions, T) [s]."""
    states: dict[str, Vector]
    """q, qd and qdd (motions, T, n)."""

    def told(self) -> bytes:
        """All states."""
        return b"motions" + b"".join(a.tobytes() for a in (self.times, *self.states.values()))


def _sampled(arm: Arm | Robot, motion: Motion, k: int, instants: int) -> Samples:
    """A motion at so many instants; where they miss a short phase of acceleration, or a torque's peak, it is said."""
    times, shortest = so_many(motion, instants)
    samples = motion.sample(times)
    if shortest is not None:
        LOG.warning(
            "sweep: over['motion'][%d] has a piece of %.3g s, and its %d instants are %.3g s apart, so the greatest "
            "torques may lie between them; give instants=%d.",
            *(k, shortest, instants, motion.duration / (instants - 1)),
            int(np.ceil(2 * motion.duration / shortest)) + 1,
        )
    elif arm.dynamics and samples.q.shape[1:] == (arm.nv,) == (arm.n,) and np.isfinite(samples[1:]).all():
        _tell_missed(arm, motion, k, samples)
    return samples


def _tell_missed(arm: Arm | Robot, motion: Motion, k: int, samples: Samples) -> None:
    """Say where the arm as it is has torques that samples of a motion do not show."""
    seen = np.max(np.abs(inverse_dynamics(arm, *samples[1:])), axis=0)
    peaks = np.max(np.abs(rows_with_peaks(arm, motion, LOOKED_AT)[1]), axis=0)
    if np.any(seen < (1.0 - LOWER) * peaks):
        j = int(np.argmax(np.where(peaks > 0, 1.0 - seen / np.where(peaks > 0, peaks, 1.0), 0.0)))
        LOG.warning(
            "sweep: over['motion'][%d] at %d instants misses peaks of its torques between them: that of joint %r "
            "reaches %.4g, in them %.4g; give more instants=.",
            *(k, len(samples.t), arm.state_links[j].name, peaks[j], seen[j]),
        )


def motion_axis(arm: Arm | Robot, given: Any, instants: int) -> MotionAxis:
    """Motions as a caller gives them: a sequence of motions or of samples."""
    if isinstance(given, (Motion, Samples)):
        given = [given]
    if not isinstance(given, Iterable):
        raise StateFault(
            f"sweep: over['motion'] is {type(given).__name__}; give motions (fa.point_to_point, fa.via_points, …) or "
            "what their sample() gives."
        )
    samples: list[Samples] = []
    for k, one in enumerate(given):
        if of_its_own := isinstance(one, Motion):
            one = _sampled(arm, one, k, instants)
        if not isinstance(one, Samples):
            raise StateFault(
                f"sweep: over['motion'][{k}] is {type(one).__name__}; give motions (fa.point_to_point, fa.via_points, "
                "…) or what their sample() gives."
            )
        wrong = [a.shape for a in one[1:] if a.shape != (len(one.t), arm.nv)]
        if wrong:
            raise StateFault(
                f"sweep: over['motion'][{k}] has states of shape {wrong[0]}, arm {arm.name!r} has {arm.nv} joints; "
                f"give ({len(one.t)}, {arm.nv})."
            )
        if samples and len(one.t) != len(samples[0].t):
            raise StateFault(
                f"sweep: over['motion'][{k}] has {len(one.t)} instants, the first has {len(samples[0].t)}; sample all "
                "alike: motion.sample(101)."
            )
        for note in () if of_its_own else row_notes(arm, one):
            LOG.warning("sweep: over['motion'][%d]: %s", k, note)
        samples.append(one)
    if not samples:
        raise StateFault("sweep: over['motion'] is empty; give motions.")
    return MotionAxis(samples)
