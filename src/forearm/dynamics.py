"""The user's functions: torques, accelerations, M, C, g and the rest, batched and compiled.

    tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J(q)ᵀ f_env

Every function takes arrays (..., n), or dicts by joint name, and broadcasts leading axes; payload, rotor inertia
and friction are in every quantity, consistently (`arm.without_drives()` leaves the rigid arm). `out=` is written
and returned, `threads=` shares a batch between threads. The first call compiles (about 0.1 s, kept on disk), and
the kernel stays on the arm.
"""

import logging
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.link import Wrench

LOG = logging.getLogger("forearm")


# -- kernels, kept on the arm ------------------------------------------------------------------------------


def _kept(arm: Arm, key: Any) -> Any:
    """What the arm keeps under a key, or None; the first look that anybody takes at an arm."""
    try:
        return arm.kernels.get(key)
    except AttributeError:
        faults.no_arm(arm)


def kernel_of(arm: Arm, quantity: str, **options: Any) -> Any:
    """The arm's kernel for a quantity, compiled once and kept on the arm."""
    key = (quantity, *options.items())
    found = _kept(arm, key)
    if found is None:
        from forearm.compiler.pipeline import compile

        found = arm.kernels[key] = compile(arm, quantity, **options)
    return found


def _entry(arm: Arm, quantity: str, frame: str | int | None = None) -> Callable[..., Any]:
    """The fastest way into a kernel: what is plain goes straight to machine code, all else through the checks."""
    key = quantity if frame is None else (quantity, frame)
    found: Callable[..., Any] | None = _kept(arm, key)
    if found is None:
        from forearm.compiler.call.way import Way

        kernel = kernel_of(arm, quantity) if frame is None else kernel_of(arm, quantity, frame=frame)

        def checked(*values: Any, out: Any = None, threads: int = 1) -> Any:
            return _checked(arm, kernel, values, out, threads)

        def use(entry: Any) -> None:
            arm.kernels[key] = entry

        found = arm.kernels[key] = Way(kernel, checked, use)
    return found


def _checked(arm: Arm, kernel: Any, values: tuple[Any, ...], out: Any, threads: int) -> Any:
    """Call a kernel with every check of the arguments, in the arm's own words."""
    names = [port.name for port in kernel.graph.inputs]
    arrays = [faults.state(arm, name, value) for name, value in zip(names, values, strict=True)]
    if any(array.dtype == object for array in arrays):
        return _on_other_scalars(kernel.graph, names, arrays)
    for name, array in zip(names, arrays, strict=True):
        faults.finite_state(arm, name, array)
    result = kernel.general(*arrays, out=out, threads=threads)
    if all(array.ndim == 1 for array in arrays):
        _refuse_not_finite(arm, kernel, dict(zip(names, arrays, strict=True)), result)
    hint_degrees(arm, arrays[0])
    return result


def _on_other_scalars(graph: Any, names: list[str], arrays: list[Vector]) -> Any:
    """The graph on traced scalars (a law that is being compiled), mpmath numbers or symbols: one state."""
    from forearm.compiler.graph.interpreter import apply

    for name, array in zip(names, arrays, strict=True):
        if array.ndim != 1:
            raise faults.StateFault(
                f"{name} has shape {array.shape} and type object; traced values, symbols and mpmath numbers go one "
                "state at a time: give (n,)."
            )
    found = apply(graph, **dict(zip(names, arrays, strict=True)))
    if len(found) == 1:
        return next(iter(found.values()))
    return namedtuple("Results", found)(**found)  # type: ignore[misc]


def hint_degrees(arm: Arm, q: Vector) -> None:
    """Log a warning when angles look like degrees."""
    hint = faults.degrees_hint(arm, q.reshape(-1, arm.n)[:64])
    if hint:
        LOG.warning("%s: %s", arm.name, hint)


def _refuse_not_finite(arm: Arm, kernel: Any, given: dict[str, Vector], result: Any) -> None:
    """One state that overflows, or whose M is singular, is a fault that names the joint; in a batch its row is NaN."""
    outputs = result if isinstance(result, tuple) else (result,)
    if all(np.all(np.isfinite(value)) for value in outputs):
        return
    if "tau" in given or "b" in given:  # solved with M
        M = kernel_of(arm, "mass_matrix").general(given["q"])
        faults.singular_inertia(arm, np.asarray(M), given["q"], given)
    faults.not_finite(arm, kernel.name.partition(" of ")[0], given)


# -- torques and accelerations -----------------------------------------------------------------------------


def inverse_dynamics(
    arm: Arm,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    wrench: Wrench | None = None,
    out: Any = None,
    threads: int = 1,
    target: str = "cpu",
) -> Vector:
    """Joint torques (..., n) that give the accelerations qdd [N m, N for prismatic joints].

    `wrench` is what the environment exerts on the arm.

    >>> import forearm as fa
    >>> arm = fa.load("rr")
    >>> fa.inverse_dynamics(arm, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(6)
    array([20.668947,  2.876616])
    """
    if target != "cpu":
        found = _elsewhere(arm, "inverse_dynamics", target, (q, qd, qdd), out, wrench=wrench)
        if found is not None:
            return found
    entry = _kept(arm, "inverse_dynamics") or _entry(arm, "inverse_dynamics")
    if wrench is None and threads == 1:
        return entry(q, qd, qdd) if out is None else entry(q, qd, qdd, out=out)
    tau = entry(q, qd, qdd, out=out, threads=threads)
    if wrench is not None:
        tau -= external_torque(arm, q, wrench, threads=threads)
    return tau


def forward_dynamics(
    arm: Arm,
    q: Any,
    qd: Any,
    tau: Any,
    *,
    wrench: Wrench | None = None,
    out: Any = None,
    threads: int = 1,
    target: str = "cpu",
    status: Any = None,
) -> Vector:
    """Joint accelerations (..., n) under the torques tau.

    A single state whose mass matrix is singular raises `SingularInertia` and names the joint; in a batch such rows
    are not finite, and `status`, a bool array of the batch's shape, is set to True for them (on the processor).
    """
    if wrench is not None:
        faults.needs_arm(arm)
        tau = faults.state(arm, "tau", tau) + external_torque(arm, q, wrench, threads=threads)
    if target != "cpu":
        found = _elsewhere(arm, "forward_dynamics", target, (q, qd, tau), out, status=status)
        if found is not None:
            return found
    entry = _kept(arm, "forward_dynamics") or _entry(arm, "forward_dynamics")
    if threads == 1 and status is None:
        return entry(q, qd, tau) if out is None else entry(q, qd, tau, out=out)
    qdd = entry(q, qd, tau, out=out, threads=threads)
    if status is not None:
        status[...] = ~np.isfinite(qdd).all(axis=-1)
    return qdd


def external_torque(arm: Arm, q: Any, wrench: Wrench, *, threads: int = 1) -> Vector:
    """Jᵀ f (..., n): what a wrench on the arm does at the joints."""
    if not isinstance(wrench, Wrench):
        raise faults.StateFault(
            f"wrench is {faults.a_or_an(type(wrench).__name__)}; give a Wrench(force=, moment=, at=, frame=): six "
            "bare numbers do not say where and in which axes they act."
        )
    at, point = wrench.at if isinstance(wrench.at, tuple) else (wrench.at, None)
    kernel = kernel_of(arm, "wrench_torque", at=at, point=point, local=wrench.frame == "local")
    numbers = np.array([*wrench.force, *wrench.moment], dtype=float)
    values = faults.state(arm, "q", q)
    if values.dtype == object:
        return _on_other_scalars(kernel.graph, ["q", "wrench"], [values, numbers])
    return kernel.general(values, numbers, threads=threads)


_ON_CUDA = {
    "wrench": "takes no wrench; add its torque (external_torque) yourself.",
    "status": "fills no status; leave it out: singular rows are those where qdd is not finite.",
}
"""Arguments that only the processor knows, and what to do instead."""


def _elsewhere(
    arm: Arm, quantity: str, target: str, values: tuple[Any, ...], out: Any, **processor_only: Any
) -> Any:
    """The same on another target; None where 'auto' means the processor."""
    from forearm.compiler.targets import on_cuda, resolve

    faults.needs_arm(arm)
    if resolve(target, values) == "cpu":
        return None
    for name, value in processor_only.items():
        if value is not None:
            raise faults.KernelFault(f"{quantity} of {arm.name} on 'cuda' {_ON_CUDA[name]}")
    return on_cuda(arm, quantity, values, out)


# -- the terms of the equation of motion -------------------------------------------------------------------


def mass_matrix(arm: Arm, q: Any, *, out: Any = None, threads: int = 1) -> Matrix:
    """M(q) (..., n, n), full and symmetric, reflected rotor inertia included."""
    return _entry(arm, "mass_matrix")(q, out=out, threads=threads)


def solve_mass(arm: Arm, q: Any, b: Any, *, out: Any = None, threads: int = 1) -> Vector:
    """x (..., n) with M(q) x = b, by factors, never by an inverse."""
    return _entry(arm, "solve_mass")(q, b, out=out, threads=threads)


def mass_matrix_rate(arm: Arm, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> Matrix:
    """dM/dt (..., n, n) along qd."""
    return _entry(arm, "mass_matrix_rate")(q, qd, out=out, threads=threads)


def coriolis_matrix(arm: Arm, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> Matrix:
    """C(q, qd) (..., n, n) by Christoffel symbols: dM/dt - 2 C is skew. (C is not unique; C qd is.)"""
    return _entry(arm, "coriolis_matrix")(q, qd, out=out, threads=threads)


def coriolis_transpose_times(
    arm: Arm, q: Any, qd: Any, v: Any, *, out: Any = None, threads: int = 1
) -> Vector:
    """C(q, qd)ᵀ v (..., n) without forming C: what a momentum observer needs (v = qd there)."""
    return _entry(arm, "coriolis_transpose_times")(q, qd, v, out=out, threads=threads)


def christoffel(arm: Arm, q: Any, *, out: Any = None, threads: int = 1) -> Matrix:
    """C[i, j, k] (..., n, n, n), symmetric in j and k: tau_i = Σ C[i, j, k] qd_j qd_k."""
    return _entry(arm, "christoffel")(q, out=out, threads=threads)


def gravity_torque(arm: Arm, q: Any, *, out: Any = None, threads: int = 1) -> Vector:
    """g(q) (..., n): the torques that hold the arm still."""
    return _entry(arm, "gravity_torque")(q, out=out, threads=threads)


def bias_torque(arm: Arm, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> Vector:
    """C qd + g + friction (..., n): the torques at zero acceleration."""
    return _entry(arm, "bias_torque")(q, qd, out=out, threads=threads)


def momentum(arm: Arm, q: Any, qd: Any, *, out: Any = None, threads: int = 1) -> Vector:
    """Generalised momentum M qd (..., n)."""
    return _entry(arm, "momentum")(q, qd, out=out, threads=threads)


def energy(arm: Arm, q: Any, qd: Any, *, threads: int = 1) -> Any:
    """Kinetic and potential energy (...) [J], as a named tuple; the rotors' kinetic energy included."""
    return _entry(arm, "energy")(q, qd, threads=threads)


def reactions(arm: Arm, q: Any, qd: Any, qdd: Any, *, threads: int = 1) -> Any:
    """Force and moment (..., n, 3) that each joint carries: link i-1 on link i, axes of link i, at origin i-1.

    Rigid-body forces; rotor torque and friction act along the joint and are not among them.
    """
    return _entry(arm, "reactions")(q, qd, qdd, threads=threads)


def derivatives(arm: Arm, q: Any, qd: Any, qdd: Any, *, threads: int = 1) -> Any:
    """d tau/d q and d tau/d qd (..., n, n), as a named tuple (dq, dqd); d tau/d qdd is `mass_matrix`."""
    return _entry(arm, "derivatives")(q, qd, qdd, threads=threads)


def forward_derivatives(arm: Arm, q: Any, qd: Any, tau: Any, *, threads: int = 1) -> Any:
    """d qdd/d q, d qdd/d qd, d qdd/d tau (..., n, n), as a named tuple (dq, dqd, dtau)."""
    return _entry(arm, "forward_derivatives")(q, qd, tau, threads=threads)


def regressor(arm: Arm, q: Any, qd: Any, qdd: Any, *, out: Any = None, threads: int = 1) -> Matrix:
    """Y (..., n, 10 n) with Y @ parameters(arm) the rigid-body torques; columns as `parameter_names` says."""
    return _entry(arm, "regressor")(q, qd, qdd, out=out, threads=threads)


def parameters(arm: Arm) -> Vector:
    """The ten linear parameters of each link (10 n,): mass, first moment, inertia about the link frame's origin."""
    from forearm.inertia import numbers_of

    faults.needs_arm(arm)
    return np.array([x for link in arm.links for x in numbers_of(link.ten)], dtype=float)


def parameter_names(arm: Arm) -> list[str]:
    """Names of `parameters`, in order: M1, MX1, …, ZZn, with units kg, kg m, kg m²."""
    from forearm.inertia import TEN

    faults.needs_arm(arm)
    return [f"{name}{i}" for i in range(1, arm.n + 1) for name in TEN]


# -- frames ------------------------------------------------------------------------------------------------


def pose(arm: Arm, q: Any, frame: str | int = "tool", *, threads: int = 1) -> Matrix:
    """The 4x4 pose (..., 4, 4) of a frame in the world."""
    return _entry(arm, "pose", frame)(q, threads=threads)


def jacobian(arm: Arm, q: Any, frame: str | int = "tool", *, threads: int = 1) -> Matrix:
    """J (..., 6, n): [linear; angular] velocity of the frame's origin = J qd, world axes."""
    return _entry(arm, "jacobian", frame)(q, threads=threads)


def jacobian_rate(arm: Arm, q: Any, qd: Any, frame: str | int = "tool", *, threads: int = 1) -> Vector:
    """dJ/dt qd (..., 6): the acceleration of the frame's origin at qdd = 0."""
    return _entry(arm, "jacobian_rate", frame)(q, qd, threads=threads)


# -- the torque, term by term ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """What the torque is made of; the fields sum to `total`."""

    inertial: Vector
    """M qdd of the rigid arm (..., n)."""
    centrifugal: Vector
    """Σ C[i, j, j] qd_j²."""
    coriolis: Vector
    """Σ C[i, j, k] qd_j qd_k over j different from k."""
    gravity: Vector
    """g(q)."""
    rotor: Vector
    """Reflected rotor inertia times qdd."""
    friction: Vector
    """Viscous and dry friction."""
    external: Vector
    """- Jᵀ f of the wrench."""

    @property
    def total(self) -> Vector:
        """The torque (..., n)."""
        return (
            self.inertial
            + self.centrifugal
            + self.coriolis
            + self.gravity
            + self.rotor
            + self.friction
            + self.external
        )


def terms(arm: Arm, q: Any, qd: Any, qdd: Any, *, wrench: Wrench | None = None) -> Terms:
    """The torque split into inertial, centrifugal, Coriolis, gravity, rotor, friction and external parts."""
    faults.needs_arm(arm)
    q, qd, qdd = (faults.state(arm, k, v) for k, v in (("q", q), ("qd", qd), ("qdd", qdd)))
    q, qd, qdd = np.broadcast_arrays(q, qd, qdd)
    rigid = arm.without_drives() if arm.has_drives else arm
    velocity = kernel_of(rigid, "velocity_torque")
    both = velocity.general(q, qd)
    # C is quadratic in qd, so joints moving one at a time show the squares alone
    alone = np.moveaxis(qd[..., None, :] * np.eye(arm.n), -2, 0)
    centrifugal = velocity.general(np.broadcast_to(q, alone.shape), alone).sum(axis=0)
    gravity = gravity_torque(arm, q)
    inertial = np.einsum("...ij,...j->...i", mass_matrix(rigid, q), qdd)
    rotors = np.array([link.drive.reflected_inertia for link in arm.links], dtype=float)
    friction = bias_torque(arm, q, qd) - bias_torque(rigid, q, qd) if arm.has_drives else np.zeros_like(qd)
    external = -external_torque(arm, q, wrench) if wrench is not None else np.zeros_like(qd)
    return Terms(inertial, centrifugal, both - centrifugal, gravity, rotors * qdd, friction, external)
