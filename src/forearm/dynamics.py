"""The user's functions: torques, accelerations, M, C, g and the rest, batched and compiled.

    tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J(q)ᵀ f_env

Every function takes arrays (..., n), or dicts by joint name, and broadcasts leading axes; payload, rotor inertia
and friction are in every quantity, consistently (`arm.without_drives()` leaves the rigid arm). `out=` is written
and returned, `threads=` shares a batch between threads. The first call compiles (about 0.1 s, kept on disk), and
the kernel stays on the arm.

Arrays decide where the work is done: NumPy, CuPy, PyTorch or JAX arrays go in, and the same kind comes out, on the
device where they live, in their precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm import faults
from forearm.algebra import AnyArray, Matrix, States, Vector
from forearm.arm import Arm
from forearm.arm_calls import addend, arm_call, as_exact_as, kept_call, mark_rows_not_finite, wrench_call
from forearm.compiler.call.foreign_arrays import on_natives
from forearm.drives import drive_and_bearing, rotor_matrix
from forearm.inertia import TEN, numbers_of
from forearm.link import Wrench
from forearm.outside.signal_errors import pass_on_signals

if TYPE_CHECKING:
    from forearm.results import Derivatives, Energy, ForwardDerivatives, JointReactions, Terms
    from forearm.robot import Robot

# fmt: off
__all__ = [
    "bias_torque", "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum", "christoffel",
    "coriolis_matrix", "coriolis_transpose_times", "derivatives", "energy", "external_torque",
    "forward_derivatives", "forward_dynamics", "gravity_torque", "inverse_dynamics", "jacobian",
    "jacobian_rate", "mass_matrix", "mass_matrix_rate", "momentum", "mount_wrench", "parameter_names",
    "parameters", "pose", "reactions", "regressor", "solve_mass", "terms",
]  # what is listed here is public: `fa.name`
# fmt: on


# -- torques and accelerations -----------------------------------------------------------------------------


def inverse_dynamics(
    arm: Arm | Robot,
    q: States,
    qd: States,
    qdd: States,
    *,
    wrench: Wrench | Sequence[Wrench] | None = None,
    out: AnyArray | None = None,
    threads: int = 1,
) -> Vector:
    """Joint torques (..., n) that give the accelerations qdd [N m, N for prismatic joints].

    `wrench` is what the environment exerts on the arm.

    >>> import forearm as fa
    >>> arm = fa.load("rr")
    >>> fa.inverse_dynamics(arm, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(6)
    array([20.668947,  2.876616])
    """
    call = kept_call(arm, "inverse_dynamics") or arm_call(arm, "inverse_dynamics")
    try:
        if wrench is None and threads == 1:
            return call.enter(q, qd, qdd) if out is None else call.enter(q, qd, qdd, out=out)
    except Exception:
        pass_on_signals()
        # an array can be compared with nothing
        faults.whole(threads, f"inverse_dynamics of {arm.name}: threads", 1)
        raise
    if wrench is None:
        return call.enter(q, qd, qdd, out=out, threads=threads)
    outside = external_torque(arm, as_exact_as(arm, q, qd, qdd), wrench, threads=threads)  # `out` may be q
    tau = call.enter(q, qd, qdd, out=out, threads=threads)
    tau -= outside
    return tau


def forward_dynamics(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    *,
    wrench: Wrench | Sequence[Wrench] | None = None,
    out: AnyArray | None = None,
    threads: int = 1,
    status: AnyArray | None = None,
) -> Vector:
    """Joint accelerations (..., n) under the torques tau.

    A single state whose mass matrix is singular raises `SingularInertia` and names the joint; in a batch such rows
    are not finite, and `status`, a bool array of the batch's shape, is set to True for them.
    """
    call = kept_call(arm, "forward_dynamics") or arm_call(arm, "forward_dynamics")
    if wrench is not None:
        # while tau has its labels: a sum has none
        faults.rows_alike(f"forward_dynamics of {arm.name}", ("q", "qd", "tau"), (q, qd, tau))
        outside = external_torque(arm, as_exact_as(arm, q, qd, tau), wrench, threads=threads)
        given = addend(arm, tau, outside)
        faults.joint_batch(arm, "forward_dynamics", tau=given, **{"J(q)ᵀ f": outside})
        tau = given + outside
    try:
        if threads == 1 and status is None:
            return call.enter(q, qd, tau) if out is None else call.enter(q, qd, tau, out=out)
    except Exception:
        pass_on_signals()
        faults.whole(threads, f"forward_dynamics of {arm.name}: threads", 1)
        raise
    qdd = call.enter(q, qd, tau, out=out, threads=threads)
    if status is not None:
        mark_rows_not_finite(qdd, status)
    return qdd


def external_torque(
    arm: Arm | Robot,
    q: States,
    wrench: Wrench | Sequence[Wrench],
    *,
    out: AnyArray | None = None,
    threads: int = 1,
) -> Vector:
    """Jᵀ f (..., n): what a wrench on the arm, or several at once, do at the joints."""
    if isinstance(wrench, (list, tuple)) and wrench and all(isinstance(w, Wrench) for w in wrench):
        *others, last = wrench
        each = [external_torque(arm, q, other, threads=threads) for other in others]
        found = external_torque(arm, q, last, out=out, threads=threads)  # others first: `out` may be q itself
        for torque in each:
            if out is None:
                found = found + torque
            else:
                found += torque
        return found
    if not isinstance(wrench, Wrench):
        raise faults.StateFault(
            f"wrench is {faults.a_or_an(type(wrench).__name__)}; give a Wrench(force=, moment=, at=, frame=): six "
            "bare numbers do not say where and in which axes they act."
        )
    at, point = wrench.at if isinstance(wrench.at, tuple) else (wrench.at, (0.0, 0.0, 0.0))
    call = wrench_call(arm, wrench, at, point)
    numbers = call.beside(q, (*wrench.force, *wrench.moment)), call.beside(q, point)
    return call.enter(q, *numbers, out=out, threads=threads)


# -- the terms of the equation of motion -------------------------------------------------------------------


def mass_matrix(arm: Arm | Robot, q: States, *, out: AnyArray | None = None, threads: int = 1) -> Matrix:
    """M(q) (..., n, n), full and symmetric, reflected rotor inertia included."""
    return arm_call(arm, "mass_matrix").enter(q, out=out, threads=threads)


def solve_mass(
    arm: Arm | Robot, q: States, b: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """x (..., n) with M(q) x = b, by factors, never by an inverse."""
    return arm_call(arm, "solve_mass").enter(q, b, out=out, threads=threads)


def mass_matrix_rate(
    arm: Arm | Robot, q: States, qd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """dM/dt (..., n, n) along qd."""
    return arm_call(arm, "mass_matrix_rate").enter(q, qd, out=out, threads=threads)


def coriolis_matrix(
    arm: Arm | Robot, q: States, qd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """C(q, qd) (..., n, n) by Christoffel symbols: dM/dt - 2 C is skew. (C is not unique; C qd is.)"""
    return arm_call(arm, "coriolis_matrix").enter(q, qd, out=out, threads=threads)


def coriolis_transpose_times(
    arm: Arm | Robot, q: States, qd: States, v: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """C(q, qd)ᵀ v (..., n) without forming C: what a momentum observer needs (v = qd there)."""
    return arm_call(arm, "coriolis_transpose_times").enter(q, qd, v, out=out, threads=threads)


def christoffel(arm: Arm | Robot, q: States, *, out: AnyArray | None = None, threads: int = 1) -> Matrix:
    """C[i, j, k] (..., n, n, n), symmetric in j and k: tau_i = Σ C[i, j, k] qd_j qd_k."""
    return arm_call(arm, "christoffel").enter(q, out=out, threads=threads)


def gravity_torque(arm: Arm | Robot, q: States, *, out: AnyArray | None = None, threads: int = 1) -> Vector:
    """g(q) (..., n): the torques that hold the arm still."""
    return arm_call(arm, "gravity_torque").enter(q, out=out, threads=threads)


def bias_torque(
    arm: Arm | Robot, q: States, qd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """C qd + g + friction (..., n): the torques at zero acceleration."""
    return arm_call(arm, "bias_torque").enter(q, qd, out=out, threads=threads)


def momentum(
    arm: Arm | Robot, q: States, qd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """Generalised momentum M qd (..., n)."""
    return arm_call(arm, "momentum").enter(q, qd, out=out, threads=threads)


def energy(
    arm: Arm | Robot, q: States, qd: States, *, out: tuple[AnyArray, ...] | None = None, threads: int = 1
) -> Energy:
    """Kinetic and potential energy (...) [J], as a named tuple; the rotors' kinetic energy included."""
    return arm_call(arm, "energy").enter(q, qd, out=out, threads=threads)


def reactions(
    arm: Arm | Robot,
    q: States,
    qd: States,
    qdd: States,
    *,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> JointReactions:
    """Force and moment (..., n, 3) that each joint carries: link i-1 on link i, axes of link i, at origin i-1.

    Rigid-body forces; rotor torque and friction act along the joint and are not among them. Beside the pair, the
    result has `drive` (..., n), the one number that the actuator supplies, and `bearing_force`, `bearing_moment`
    (..., n, 3), the five that the bearing carries. Where joints follow others, each has a drive of its own here: what
    the motors give is `inverse_dynamics`, and what rods, belts or gears between joints do to bearings is not included.
    """
    from forearm.results import JointReactions

    faults.needs_joints(arm, "reactions")
    found = JointReactions(*arm_call(arm, "reactions").enter(q, qd, qdd, out=out, threads=threads))
    found.split = partial(_split_reactions, arm)
    return found


def _split_reactions(arm: Arm | Robot, force: Any, moment: Any) -> Any:
    given = {"force": force, "moment": moment}
    return on_natives(f"reactions of {arm.name}", given, partial(drive_and_bearing, arm))


def mount_wrench(
    arm: Arm | Robot, q: States, qd: States, qdd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """[force; moment] (..., 6) that a robot on a fixed base exerts on its mount: world axes, at the base's origin.

    By all that moves; the base's own weight is not in it. The base is frame 0: of a robot from a file its root link,
    of an arm the place of its first joint (`arm.base`), from which the moment may be moved to the floor.
    """
    faults.needs_mount(arm)
    return arm_call(arm, "mount_wrench").enter(q, qd, qdd, out=out, threads=threads)


def center_of_mass(arm: Arm | Robot, q: States, *, out: AnyArray | None = None, threads: int = 1) -> Vector:
    """Centre of mass of all that moves (..., 3), world axes [m]."""
    return arm_call(arm, "center_of_mass").enter(q, out=out, threads=threads)


def center_of_mass_jacobian(
    arm: Arm | Robot, q: States, *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """J (..., 3, n): velocity of the centre of mass = J qd, world axes."""
    return arm_call(arm, "center_of_mass_jacobian").enter(q, out=out, threads=threads)


def centroidal_momentum(
    arm: Arm | Robot, q: States, qd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Vector:
    """[linear; angular] momentum (..., 6) about the centre of mass, world axes [kg m/s, kg m²/s]."""
    return arm_call(arm, "centroidal_momentum").enter(q, qd, out=out, threads=threads)


def derivatives(
    arm: Arm | Robot,
    q: States,
    qd: States,
    qdd: States,
    *,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> Derivatives:
    """d tau/d q and d tau/d qd (..., n, n), as a named tuple (dq, dqd); d tau/d qdd is `mass_matrix`."""
    return arm_call(arm, "derivatives").enter(q, qd, qdd, out=out, threads=threads)


def forward_derivatives(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    *,
    out: tuple[AnyArray, ...] | None = None,
    threads: int = 1,
) -> ForwardDerivatives:
    """d qdd/d q, d qdd/d qd, d qdd/d tau (..., n, n), as a named tuple (dq, dqd, dtau)."""
    return arm_call(arm, "forward_derivatives").enter(q, qd, tau, out=out, threads=threads)


def regressor(
    arm: Arm | Robot, q: States, qd: States, qdd: States, *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """Y (..., n, 10 n) with Y @ parameters(arm) the rigid-body torques; columns as `parameter_names` says."""
    return arm_call(arm, "regressor").enter(q, qd, qdd, out=out, threads=threads)


def parameters(arm: Arm | Robot) -> Vector:
    """The ten linear parameters of each link (10 n,): mass, first moment, inertia about the link frame's origin.

    Those of a free base come first.
    """
    faults.needs_arm(arm)
    return np.array([x for body in arm.bodies for x in numbers_of(body.ten)], dtype=float)


def parameter_names(arm: Arm | Robot) -> list[str]:
    """Names of `parameters`, in order: M1, MX1, …, ZZn, with units kg, kg m, kg m²; M0 … are a free base's."""
    faults.needs_arm(arm)
    last = len(arm.links)
    return [f"{name}{i}" for i in range(last + 1 - len(arm.bodies), last + 1) for name in TEN]


# -- frames ------------------------------------------------------------------------------------------------


def pose(
    arm: Arm | Robot, q: States, frame: str | int = "tool", *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """The 4x4 pose (..., 4, 4) of a frame in the world."""
    return arm_call(arm, "pose", frame).enter(q, out=out, threads=threads)


def jacobian(
    arm: Arm | Robot, q: States, frame: str | int = "tool", *, out: AnyArray | None = None, threads: int = 1
) -> Matrix:
    """J (..., 6, n): [linear; angular] velocity of the frame's origin = J qd, world axes."""
    return arm_call(arm, "jacobian", frame).enter(q, out=out, threads=threads)


def jacobian_rate(
    arm: Arm | Robot,
    q: States,
    qd: States,
    frame: str | int = "tool",
    *,
    out: AnyArray | None = None,
    threads: int = 1,
) -> Vector:
    """dJ/dt qd (..., 6): the acceleration of the frame's origin at qdd = 0."""
    return arm_call(arm, "jacobian_rate", frame).enter(q, qd, out=out, threads=threads)


# -- the torque, term by term ------------------------------------------------------------------------------


def terms(
    arm: Arm | Robot, q: States, qd: States, qdd: States, *, wrench: Wrench | Sequence[Wrench] | None = None
) -> Terms:
    """The torque split into inertial, centrifugal, Coriolis, gravity, rotor, friction and external parts.

    (No `out` or `threads`: seven arrays, from a dozen kernel calls.)
    """
    faults.needs_arm(arm)
    given = {"q": q, "qd": qd, "qdd": qdd}
    parts: Terms = on_natives(f"terms of {arm.name}", given, partial(_terms, arm, wrench))
    return parts


def _terms(
    arm: Arm | Robot, wrench: Wrench | Sequence[Wrench] | None, xp: Any, q: Any, qd: Any, qdd: Any
) -> Terms:
    from forearm.results import Terms

    given = (("q", q), ("qd", qd), ("qdd", qdd))
    q, qd, qdd = (v if xp is not np else faults.joint_floats(arm, k, v) for k, v in given)
    batch = faults.joint_batch(arm, "terms", q=q, qd=qd, qdd=qdd)
    kind = q.dtype if q.dtype == qd.dtype == qdd.dtype else np.dtype(float)
    q, qd, qdd = (xp.broadcast_to(v, (*batch, v.shape[-1])).astype(kind) for v in (q, qd, qdd))
    rotors = xp.asarray(rotor_matrix(arm), dtype=qd.dtype)
    rigid = arm.without_drives() if arm.has_drives else arm
    both, centrifugal, gravity, inertial, friction, external = (xp.zeros_like(qd) for _ in range(6))
    if rigid.dynamics:  # there may be rotors alone
        velocity = arm_call(rigid, "velocity_torque").enter
        both = velocity(q, qd)
        # C is quadratic in qd, so joints moving one at a time show the squares alone
        alone = xp.moveaxis(qd[..., None, :] * xp.eye(arm.nv, dtype=qd.dtype), -2, 0)
        centrifugal = velocity(xp.broadcast_to(q, (*alone.shape[:-1], q.shape[-1])), alone).sum(axis=0)
        gravity = gravity_torque(arm, q)
        inertial = xp.einsum("...ij,...j->...i", mass_matrix(rigid, q), qdd)
    if arm.has_drives:
        friction = bias_torque(arm, q, qd) - (bias_torque(rigid, q, qd) if rigid.dynamics else 0.0)
    if wrench is not None:
        external = -external_torque(arm, q, wrench)
    return Terms(inertial, centrifugal, both - centrifugal, gravity, qdd @ rotors, friction, external)
