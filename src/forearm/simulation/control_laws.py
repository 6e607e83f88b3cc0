"""Control laws: torques from time and state.

A law is any function law(t, q, qd) -> tau (n,) of one state, written as for NumPy arrays; what it takes beyond that
comes by name from `simulate(gains={...})`, shared or one for each row. The laws here are such functions, as frozen
dataclasses, so that they print what they are. They use forearm's own functions on the arm that the controller
believes in, which need not be the arm that is simulated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import dynamics, faults
from forearm.algebra import Scalar, Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.frames import Pose
from forearm.inertia import SIX


def gain(arm: Arm, name: str, value: Any) -> Vector:
    """A gain as (n,): one number for all joints, or one for each."""
    faults.not_masked(value, name)
    labelled = hasattr(value, "keys") or hasattr(value, "coords") or faults.fields_of(value)
    array = faults.for_joints(arm, name, value) if labelled else np.asarray(value)
    if not faults.may_be_numbers(array):
        raise StateFault(f"{name} is {faults.shown(value)}; give one number, or one for each joint.")
    if array.shape not in ((), (arm.n,)):
        raise StateFault(
            f"{name} has shape {array.shape}; give one number, or one for each joint of arm {arm.name!r} ({arm.n},)."
        )
    return array * np.ones(arm.n)


def gains(law: Any, kp: Any, kd: Any) -> tuple[Vector, Vector]:
    """Stiffness and damping of a law: those given in the call, or its own."""
    return (
        gain(law.arm, "kp", law.kp if kp is None else kp),
        gain(law.arm, "kd", law.kd if kd is None else kd),
    )


def reference(arm: Arm, target: Any) -> Callable[[Scalar], tuple[Vector, Vector, Vector]]:
    """A target as a function of time: a motion as it is, a position held."""
    if getattr(arm, "free", False):
        raise StateFault(
            f"robot {arm.name!r} has a free base, and this law is for joints alone; give a function law(t, q, qd) of "
            "your own."
        )
    if callable(target):
        return target  # type: ignore[no-any-return]
    goal = faults.state(arm, "target", target)
    if goal.ndim != 1:
        raise StateFault(f"target has shape {goal.shape}; give one position ({arm.n},), or a motion.")
    rest = np.zeros(arm.n)
    return lambda t: (goal, rest, rest)


@dataclass(frozen=True, eq=False)
class PDWithGravity:
    """tau = g(q) + kp (target - q) + kd (d target/dt - qd): holds still without knowing M."""

    arm: Arm
    """The arm that the controller believes in."""
    target: Any
    """A position (n,), or a motion to follow."""
    kp: Any
    """Stiffness, one number or (n,) [N m/rad or N/m]."""
    kd: Any
    """Damping, one number or (n,) [N m s/rad or N s/m]."""

    def __call__(self, t: Scalar, q: Vector, qd: Vector, kp: Any = None, kd: Any = None) -> Vector:
        """Torques (n,)."""
        p, d = gains(self, kp, kd)
        goal, rate, _ = reference(self.arm, self.target)(t)
        return dynamics.gravity_torque(self.arm, q) + p * (goal - q) + d * (rate - qd)


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """tau = M(q) (qdd_r + kd (qd_r - qd) + kp (q_r - q)) + C qd + g + friction: each joint a unit mass on a spring."""

    arm: Arm
    """The arm that the controller believes in."""
    target: Any
    """A position (n,), or a motion to follow."""
    kp: Any = 100.0
    """Square of the natural frequency [1/s²]."""
    kd: Any = 20.0
    """Twice damping ratio times natural frequency [1/s]."""

    def __call__(self, t: Scalar, q: Vector, qd: Vector, kp: Any = None, kd: Any = None) -> Vector:
        """Torques (n,)."""
        p, d = gains(self, kp, kd)
        goal, rate, push = reference(self.arm, self.target)(t)
        return dynamics.inverse_dynamics(self.arm, q, qd, push + d * (rate - qd) + p * (goal - q))


@dataclass(frozen=True, eq=False)
class FeedforwardPD:
    """tau = inverse dynamics of the motion itself + kp (q_r - q) + kd (qd_r - qd)."""

    arm: Arm
    """The arm that the controller believes in."""
    target: Any
    """The motion to follow."""
    kp: Any
    """Stiffness, one number or (n,) [N m/rad or N/m]."""
    kd: Any
    """Damping, one number or (n,) [N m s/rad or N s/m]."""

    def __call__(self, t: Scalar, q: Vector, qd: Vector, kp: Any = None, kd: Any = None) -> Vector:
        """Torques (n,)."""
        p, d = gains(self, kp, kd)
        goal, rate, push = reference(self.arm, self.target)(t)
        return dynamics.inverse_dynamics(self.arm, goal, rate, push) + p * (goal - q) + d * (rate - qd)


@faults.explained
def payload_numbers(
    mass: Any,
    com: Any = (0.0, 0.0, 0.0),
    inertia: Any = None,
    *,
    arm: Arm | None = None,
    frame: str | int | None = None,
) -> Vector:
    """Payloads in frame n as `simulate(payload=...)` takes them: (..., 10), leading axes broadcast.

    Args:
        mass: Masses (...) [kg].
        com: Centres of mass from the origin of `frame`, its axes (..., 3) [m].
        inertia: Inertia about the centre of mass, axes of `frame` (..., 3, 3) [kg m²]; a point mass by default.
        arm: The arm whose frame is meant, where `frame` is given.
        frame: A frame of its last link, by name or number; frame n by default.

    Returns:
        Mass, first moment, and inertia about the origin of frame n (XX, XY, XZ, YY, YZ, ZZ).
    """
    m, c = faults.floats("payload: mass", mass), faults.floats("payload: com", com)
    tensor = np.zeros((3, 3)) if inertia is None else faults.floats("payload: inertia", inertia)
    for name, values in (("mass", m), ("com", c), ("inertia", tensor)):
        if not np.all(np.isfinite(values)):
            raise StateFault(f"payload: {name} has entries that are not finite; give finite numbers.")
    if c.shape[-1:] != (3,) or tensor.shape[-2:] != (3, 3):
        raise StateFault(
            f"payload: com has shape {c.shape}, inertia {tensor.shape}; give (..., 3) and (..., 3, 3)."
        )
    turned = np.swapaxes(tensor, -1, -2)
    if np.any(np.abs(tensor - turned) > 1e-9 * np.max(np.abs(tensor), initial=0.0)):
        raise StateFault(
            "payload: inertia is not symmetric; an inertia matrix is. Give (..., 3, 3) about the centre."
        )
    if np.any(m < 0):
        raise StateFault(
            f"payload: the least mass is {np.min(m):g} kg; give masses that are zero or positive."
        )
    if frame is None and arm is not None:
        raise StateFault(
            "payload_numbers(arm=…): give frame= too, such as 'tool' or 'flange'; without it the numbers are in "
            "frame n, whatever the arm's tool is."
        )
    if frame is not None:
        pose = _on_last_link(arm, frame)
        c, tensor = c @ pose.R.T + pose.p, pose.R @ tensor @ pose.R.T
    square = np.einsum("...i,...i->...", c, c)[..., None, None] * np.eye(3)
    about = tensor + m[..., None, None] * (square - c[..., :, None] * c[..., None, :])
    batch = np.broadcast_shapes(m.shape, c.shape[:-1], about.shape[:-2])
    numbers = np.empty((*batch, 10))
    numbers[..., 0] = m
    numbers[..., 1:4] = m[..., None] * c
    for k, (i, j) in enumerate(SIX, 4):
        numbers[..., k] = about[..., i, j]
    return numbers


def _on_last_link(arm: Arm | None, frame: str | int) -> Pose:
    """A frame seen from frame n, which must carry it."""
    if arm is None:
        raise StateFault(f"payload_numbers(frame={frame!r}): give arm= too, whose frame it is.")
    number, pose = arm.place_of(frame)
    if number != arm.n:
        raise StateFault(
            f"payload_numbers: frame {frame!r} of arm {arm.name!r} rides on link {number}, a payload of a motion on "
            f"the last one, {arm.n}; give a frame there, or arm.with_payload(..., frame={frame!r})."
        )
    return pose
