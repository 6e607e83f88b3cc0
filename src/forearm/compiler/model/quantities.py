"""The quantities that can be compiled, each as a plain function of one state, ready for tracing.

A quantity's function is handed a `Model` (the arm, the chain that formulations walk) and the inputs, and returns
the outputs. Drives (rotor inertia and friction) enter here, once, in every quantity or in none.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from forearm import drives, energies, kinematics
from forearm.algebra import Matrix, Vector, cross, product
from forearm.arm import Arm
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.graph import Graph
from forearm.compiler.model.base_parameters import described, reframed
from forearm.factorisation import factor, solve_factored
from forearm.formulations import FORMULATIONS
from forearm.inertia import TEN
from forearm.robot import Robot

Slopes: TypeAlias = Callable[..., dict[str, Any]]
"""The differentiated graph as a function of its inputs, by name."""

SINGULAR = 1e-13
"""A joint whose effective inertia is this small beside its locked one makes M singular in floats."""


@dataclass(frozen=True)
class Model:
    """What a quantity is computed from."""

    arm: Arm
    """The arm itself (its parameters may be traced)."""
    chain: Any
    """What formulations walk: the arm, or its chain in better frames with base parameters."""
    torques_by: str = "khalil_kleinfinger_1987"
    """The formulation that gives torques."""
    mass_by: str = "walker_orin_1982"
    """The formulation that gives M; the one for torques, strobed, if it has the same name."""
    accelerations_by: str = ""
    """The formulation that gives accelerations; by default M and torques do, with Lᵀ D L."""
    frames: str = "arm"
    """'arm' where the chain's frames are as described, else those of `trust.LADDER`."""

    def torques(self, q: Vector, qd: Vector, qdd: Vector) -> Vector:
        """Rigid-body torques."""
        return FORMULATIONS[self.torques_by].joint_torques(self.chain, q, qd, qdd)

    def rigid_mass_matrix(self, q: Vector) -> Matrix:
        """Rigid-body M."""
        if self.mass_by != self.torques_by:
            return FORMULATIONS[self.mass_by].mass_matrix(self.chain, q)
        still, n = self.weightless(), self.arm.nv
        columns = np.array([still.torques(q, np.zeros(n), e) for e in np.eye(n)])
        return np.array([[columns[max(i, j), min(i, j)] for j in range(n)] for i in range(n)])

    def accelerations(self, q: Vector, qd: Vector, tau: Vector) -> Vector:
        """Rigid-body accelerations, where a formulation gives them."""
        return FORMULATIONS[self.accelerations_by].joint_accelerations(self.chain, q, qd, tau)

    def torques_of_parameters(self, q: Vector, qd: Vector, qdd: Vector, pi: Matrix) -> Vector:
        """Rigid-body torques for any ten parameters of each link, in its own frame."""
        frames = described if self.frames == "arm" else reframed
        chain = frames(self.arm).with_link_numbers(pi)
        return FORMULATIONS[self.torques_by].joint_torques(chain, q, qd, qdd)

    def reactions(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Matrix, Matrix]:
        """Force and moment that link i-1 exerts on link i, axes of link i, at origin i-1."""
        return FORMULATIONS["luh_walker_paul_1980"].reactions(self.arm, q, qd, qdd)

    def weightless(self) -> "Model":
        """The same without gravity."""
        arm = self.arm.replace(gravity=(0.0, 0.0, 0.0))
        chain = arm if isinstance(self.chain, Arm) else replace(self.chain, gravity_in_base=np.zeros(3))
        return replace(self, chain=chain, arm=arm)

    # -- drives, and what a free base adds ---------------------------------------------------------------

    def rotor_torque(self, qdd: Vector) -> Vector:
        """Reflected rotor inertia times acceleration."""
        return drives.rotor_torque(self.arm, qdd)

    def rotor_matrix(self) -> Matrix:
        """What M gains by the rotors."""
        return np.diag(drives.rotor_inertias(self.arm))

    def friction_torque(self, qd: Vector) -> Vector:
        """Viscous and dry friction."""
        return drives.friction_torque(self.arm, qd)

    def with_turning_axes(self, C: Matrix, q: Vector, qd: Vector) -> Matrix:
        """C with what axes that turn with a free base add; an arm has none."""
        return C

    def turning_axes_transposed(self, q: Vector, qd: Vector, v: Vector) -> Vector:
        """What they add to Cᵀ v."""
        return np.zeros(self.arm.nv)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """M qdd + C qd + g + friction."""
    return model.torques(q, qd, qdd) + model.rotor_torque(qdd) + model.friction_torque(qd)


def bias_torque(model: Model, q: Vector, qd: Vector) -> Vector:
    """C qd + g + friction."""
    return model.torques(q, qd, np.zeros(model.arm.nv)) + model.friction_torque(qd)


def velocity_torque(model: Model, q: Vector, qd: Vector) -> Vector:
    """C qd alone: no gravity, no friction."""
    return model.weightless().torques(q, qd, np.zeros(model.arm.nv))


def gravity_torque(model: Model, q: Vector) -> Vector:
    """The torques that hold the arm still, g(q)."""
    zero = np.zeros(model.arm.nv)
    return model.torques(q, zero, zero)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """M, reflected rotors on its diagonal."""
    return model.rigid_mass_matrix(q) + model.rotor_matrix()


def packed_mass_matrix(model: Model, q: Vector) -> Vector:
    """The lower triangle of M, row by row: M[0, 0], M[1, 0], M[1, 1], … (n (n + 1) / 2 numbers)."""
    M = mass_matrix(model, q)
    return np.array([M[i, j] for i in range(len(M)) for j in range(i + 1)])


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector) -> Vector:
    """Accelerations; not finite where M is singular."""
    if model.accelerations_by:
        return model.accelerations(q, qd, tau - model.friction_torque(qd))
    rows, inverse = factor(mass_matrix(model, q), SINGULAR, model.arm)
    return solve_factored(rows, inverse, tau - bias_torque(model, q, qd))


def solve_mass(model: Model, q: Vector, b: Vector) -> Vector:
    """x with M x = b; not finite where M is singular."""
    rows, inverse = factor(mass_matrix(model, q), SINGULAR, model.arm)
    return solve_factored(rows, inverse, b)


def momentum(model: Model, q: Vector, qd: Vector) -> Vector:
    """Generalised momentum M qd, by one walk along the chain."""
    return model.weightless().torques(q, np.zeros(model.arm.nv), qd) + model.rotor_torque(qd)


# -- quantities that are derivatives of others: `slopes` runs the differentiated graph -----------------------


def half_velocity_torque(model: Model, q: Vector, qd: Vector) -> Vector:
    """½ C qd, quadratic in qd: its derivative by qd is the Christoffel C."""
    return velocity_torque(model, q, qd) * 0.5


def weighted_velocity_torque(model: Model, q: Vector, qd: Vector, v: Vector) -> Any:
    """v · ½ C qd: its gradient by qd is Cᵀ v."""
    return v @ half_velocity_torque(model, q, qd)


def torques_of_parameters(model: Model, q: Vector, qd: Vector, qdd: Vector, pi: Matrix) -> Vector:
    """Rigid-body torques for any ten parameters of each link, in its own frame."""
    return model.torques_of_parameters(q, qd, qdd, pi)


def coriolis_matrix(model: Model, slopes: Slopes, q: Vector, qd: Vector) -> Matrix:
    """The Christoffel C."""
    return model.with_turning_axes(slopes(q=q, qd=qd)["dc_dqd"], q, qd)


def christoffel(model: Model, slopes: Slopes, q: Vector) -> Matrix:
    """C[i, j, k], symmetric in j and k: the second derivative of ½ C qd by qd."""
    return slopes(q=q, qd=np.zeros(model.arm.nv))["ddc_dqd_dqd"]


def mass_matrix_rate(model: Model, slopes: Slopes, q: Vector, qd: Vector) -> Matrix:
    """dM/dt = C + Cᵀ for the Christoffel C."""
    C = coriolis_matrix(model, slopes, q, qd)
    return np.array(
        [[C[min(i, j), max(i, j)] + C[max(i, j), min(i, j)] for j in range(len(C))] for i in range(len(C))]
    )


def coriolis_transpose_times(model: Model, slopes: Slopes, q: Vector, qd: Vector, v: Vector) -> Vector:
    """Cᵀ v, as a gradient: no C is formed."""
    return slopes(q=q, qd=qd, v=v)["ds_dqd"] + model.turning_axes_transposed(q, qd, v)


def derivatives(model: Model, slopes: Slopes, q: Vector, qd: Vector, qdd: Vector) -> dict[str, Matrix]:
    """d tau/d q and d tau/d qd (each [i, j] = d tau_i / d q_j)."""
    found = slopes(q=q, qd=qd, qdd=qdd)
    return {"dq": found["dtau_dq"], "dqd": found["dtau_dqd"]}


def forward_derivatives(
    model: Model, slopes: Slopes, q: Vector, qd: Vector, tau: Vector
) -> dict[str, Matrix]:
    """d qdd/d q, d qdd/d qd, d qdd/d tau = M⁻¹, from the derivatives of torques at the acceleration that tau gives."""
    rows, inverse = factor(mass_matrix(model, q), SINGULAR, model.arm)
    qdd = solve_factored(rows, inverse, tau - bias_torque(model, q, qd))
    by = derivatives(model, slopes, q, qd, qdd)
    n = model.arm.nv
    columns = {
        "dq": [-by["dq"][:, j] for j in range(n)],
        "dqd": [-by["dqd"][:, j] for j in range(n)],
        "dtau": list(np.eye(n)),
    }
    return {k: np.array([solve_factored(rows, inverse, c) for c in v]).T for k, v in columns.items()}


def regressor(model: Model, slopes: Slopes, q: Vector, qd: Vector, qdd: Vector) -> Matrix:
    """Y (n, 10 n): rigid-body tau = Y π, π the ten parameters of each link in its own frame, in the order of `TEN`."""
    zero = np.zeros((bodies_of(model.arm), len(TEN)))
    return slopes(q=q, qd=qd, qdd=qdd, pi=zero)["dtau_dpi"].reshape(model.arm.nv, -1)


def bodies_of(arm: Arm | Robot) -> int:
    """How many bodies have parameters: the links, and the base where it is free."""
    return len(arm.links) + (isinstance(arm, Robot) and arm.free)


def pose(model: Model, q: Vector, *, frame: Any = "tool") -> Matrix:
    """The 4x4 pose of a frame in the world."""
    R, p = kinematics.frame_pose(model.arm, q, frame)
    return np.array([[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]])


def frame_jacobian(model: Model, q: Vector, *, frame: Any = "tool") -> Matrix:
    """J (6, n) of a frame, [linear; angular], world axes."""
    return kinematics.frame_jacobian(model.arm, q, frame)


def jacobian_rate(model: Model, q: Vector, qd: Vector, *, frame: Any = "tool") -> Vector:
    """dJ/dt qd (6,)."""
    return kinematics.frame_motion(model.arm, q, qd, None, frame)[1]


def energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """Kinetic and potential energy [J]."""
    arm = model.arm
    return {"kinetic": energies.kinetic_energy(arm, q, qd), "potential": energies.potential_energy(arm, q)}


def wrench_torque(
    model: Model, q: Vector, wrench: Vector, point: Vector, *, frame: Any = "tool", local: bool = False
) -> Vector:
    """Jᵀ f of a wrench [force; moment] (6,) on a point (3,) of a frame, which is data: contact points move."""
    arm = model.arm
    R, p = kinematics.frame_pose(arm, q, frame)
    p = p + product(R, point)
    force, moment = wrench[:3], wrench[3:]
    if local:
        force, moment = product(R, force), product(R, moment)
    J = kinematics.jacobian_at(arm, q, p, kinematics.frame_number(arm, frame))
    return product(J.T, np.concatenate([force, moment]))


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector) -> dict[str, Matrix]:
    """Force and moment that link i-1 exerts on link i, axes of link i, at origin i-1 (rigid body, no drives)."""
    force, moment = model.reactions(q, qd, qdd)
    return {"force": force, "moment": moment}


def mount_wrench(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """[force; moment] (6,) that the robot exerts on its mount: world axes, at the origin of frame 0."""
    arm = model.arm
    forces, moments = model.reactions(q, qd, qdd)
    poses = kinematics.link_poses(arm, q)
    frames, (_, origin) = kinematics.joint_frames(arm, poses), poses[0]
    force, moment = np.zeros(3), np.zeros(3)
    for i, parent in enumerate(arm.parents):
        if not parent:
            f, m = (product(poses[i + 1][0], x[i]) for x in (forces, moments))
            force, moment = force - f, moment - m - cross(frames[i][1] - origin, f)
    return np.concatenate([force, moment])


def center_of_mass(model: Model, q: Vector) -> Vector:
    """Centre of mass of all that moves (3,), world axes."""
    return energies.center_of_mass(model.arm, q)


def center_of_mass_jacobian(model: Model, q: Vector) -> Matrix:
    """J (3, n) of the centre of mass, world axes."""
    return energies.center_of_mass_jacobian(model.arm, q)


def centroidal_momentum(model: Model, q: Vector, qd: Vector) -> Vector:
    """[linear; angular] momentum (6,) about the centre of mass, world axes."""
    center = energies.center_of_mass(model.arm, q)
    spin = energies.angular_momentum(model.arm, q, qd, center)
    return np.concatenate([energies.linear_momentum(model.arm, q, qd), spin])


@dataclass(frozen=True)
class Derivative:
    """A function that is traced, and differentiated as a graph, before the quantity itself is."""

    function: Callable[..., Any]
    """Function of a Model and the inputs, by name."""
    inputs: tuple[str, ...]
    """Its inputs, (n,) each; `pi` is (n, 10)."""
    output: str
    """Name of its output."""
    wrt: tuple[str, ...]
    """By what it is differentiated."""
    twice: bool = False
    """Whether the result is differentiated once more, by the same."""

    def differentiated(self, graph: Graph) -> Graph:
        """The traced function's derivatives as a graph."""
        found = jacobian(graph, self.output, self.wrt, keep=False, effort=0)
        if self.twice:
            found = jacobian(found, found.outputs[0].name, self.wrt, keep=False, effort=0)
        return found


HALF_VELOCITY = Derivative(half_velocity_torque, ("q", "qd"), "c", ("qd",))
TORQUE_SLOPES = Derivative(inverse_dynamics, ("q", "qd", "qdd"), "tau", ("q", "qd"))


@dataclass(frozen=True)
class Quantity:
    """Something that can be compiled: its ports and its function."""

    function: Callable[..., Any]
    """Function of a Model (and `slopes`, where it is built on a derivative) and the inputs, by name."""
    inputs: tuple[str, ...]
    """State inputs, (n,) each (a wrench is (6,))."""
    outputs: tuple[str, ...]
    """Names of the outputs."""
    needs: str = "torques"
    """What the formulations must give: 'torques', 'mass', 'accelerations' (M and torques will do), or '' for none."""
    dynamics: bool = True
    """Whether masses are needed."""
    derivative: Derivative | None = None
    """What is differentiated first."""
    solves: bool = False
    """Whether it divides by the mass matrix, which may be singular."""


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(inverse_dynamics, ("q", "qd", "qdd"), ("tau",)),
    "gravity_torque": Quantity(gravity_torque, ("q",), ("g",)),
    "bias_torque": Quantity(bias_torque, ("q", "qd"), ("h",)),
    "velocity_torque": Quantity(velocity_torque, ("q", "qd"), ("c",)),
    "mass_matrix": Quantity(mass_matrix, ("q",), ("M",), "mass"),
    "packed_mass_matrix": Quantity(packed_mass_matrix, ("q",), ("M",), "mass"),
    "forward_dynamics": Quantity(
        forward_dynamics, ("q", "qd", "tau"), ("qdd",), "accelerations", solves=True
    ),
    "solve_mass": Quantity(solve_mass, ("q", "b"), ("x",), "mass", solves=True),
    "momentum": Quantity(momentum, ("q", "qd"), ("p",)),
    "coriolis_matrix": Quantity(coriolis_matrix, ("q", "qd"), ("C",), derivative=HALF_VELOCITY),
    "christoffel": Quantity(christoffel, ("q",), ("C",), derivative=replace(HALF_VELOCITY, twice=True)),
    "mass_matrix_rate": Quantity(mass_matrix_rate, ("q", "qd"), ("Mdot",), derivative=HALF_VELOCITY),
    "coriolis_transpose_times": Quantity(
        coriolis_transpose_times,
        ("q", "qd", "v"),
        ("CTv",),
        derivative=Derivative(weighted_velocity_torque, ("q", "qd", "v"), "s", ("qd",)),
    ),
    "derivatives": Quantity(derivatives, ("q", "qd", "qdd"), ("dq", "dqd"), derivative=TORQUE_SLOPES),
    "forward_derivatives": Quantity(
        forward_derivatives,
        ("q", "qd", "tau"),
        ("dq", "dqd", "dtau"),
        "accelerations",
        derivative=TORQUE_SLOPES,
        solves=True,
    ),
    "regressor": Quantity(
        regressor,
        ("q", "qd", "qdd"),
        ("Y",),
        dynamics=False,
        derivative=Derivative(torques_of_parameters, ("q", "qd", "qdd", "pi"), "tau", ("pi",)),
    ),
    "reactions": Quantity(reactions, ("q", "qd", "qdd"), ("force", "moment"), ""),
    "pose": Quantity(pose, ("q",), ("T",), "", dynamics=False),
    "jacobian": Quantity(frame_jacobian, ("q",), ("J",), "", dynamics=False),
    "jacobian_rate": Quantity(jacobian_rate, ("q", "qd"), ("Jdqd",), "", dynamics=False),
    "mount_wrench": Quantity(mount_wrench, ("q", "qd", "qdd"), ("wrench",), ""),
    "center_of_mass": Quantity(center_of_mass, ("q",), ("c",), ""),
    "center_of_mass_jacobian": Quantity(center_of_mass_jacobian, ("q",), ("J",), ""),
    "centroidal_momentum": Quantity(centroidal_momentum, ("q", "qd"), ("h",), ""),
    "energy": Quantity(energy, ("q", "qd"), ("kinetic", "potential"), ""),
    "wrench_torque": Quantity(wrench_torque, ("q", "wrench", "point"), ("tau",), "", dynamics=False),
}
"""Everything that `compile` knows by name."""
