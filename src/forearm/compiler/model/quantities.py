"""The quantities that can be compiled, each as a plain function of one state, ready for tracing.

A quantity's function is handed a `Model` (the arm, the chain that formulations walk) and the inputs, and returns
the outputs. Drives (rotor inertia and friction) enter here, once, in every quantity or in none.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm import energies, kinematics
from forearm.algebra import Matrix, Vector, cross, product
from forearm.compiler.graph.curvatures import Pair, hessian_product, second
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.graph import Graph
from forearm.compiler.model import hessians, rollout_slopes
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.hessians import Slopes
from forearm.factorisation import factor, solve_factored
from forearm.inertia import TEN


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """M qdd + C qd + g + friction."""
    return model.inverse_dynamics(q, qd, qdd)


def bias_torque(model: Model, q: Vector, qd: Vector) -> Vector:
    """C qd + g + friction."""
    return model.bias_torque(q, qd)


def velocity_torque(model: Model, q: Vector, qd: Vector) -> Vector:
    """C qd alone: no gravity, no friction."""
    return model.weightless().torques(q, qd, np.zeros(model.arm.nv))


def gravity_torque(model: Model, q: Vector) -> Vector:
    """The torques that hold the arm still, g(q)."""
    zero = np.zeros(model.arm.nv)
    return model.torques(q, zero, zero)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """M, reflected rotors on its diagonal."""
    return model.mass_matrix(q)


def packed_mass_matrix(model: Model, q: Vector) -> Vector:
    """The lower triangle of M, row by row: M[0, 0], M[1, 0], M[1, 1], … (n (n + 1) / 2 numbers)."""
    M = mass_matrix(model, q)
    return np.array([M[i, j] for i in range(len(M)) for j in range(i + 1)])


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector) -> Vector:
    """Accelerations; not finite where M is singular."""
    if model.accelerations_by:
        return model.accelerations(q, qd, tau - model.friction_torque(qd))
    rows, inverse = factor(mass_matrix(model, q), model.singular, model.arm)
    qdd = solve_factored(rows, inverse, tau - bias_torque(model, q, qd))
    if model.refined:
        qdd = qdd + solve_factored(rows, inverse, tau - inverse_dynamics(model, q, qd, qdd))
    return qdd


def solve_mass(model: Model, q: Vector, b: Vector) -> Vector:
    """x with M x = b; not finite where M is singular."""
    rows, inverse = factor(mass_matrix(model, q), model.singular, model.arm)
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
    rows, inverse = factor(mass_matrix(model, q), model.singular, model.arm)
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
    zero = np.zeros((len(model.arm.bodies), len(TEN)))
    return slopes(q=q, qd=qd, qdd=qdd, pi=zero)["dtau_dpi"].reshape(model.arm.nv, -1)


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
    pairs: tuple[Pair, ...] = ()
    """Pairs of inputs by which it is differentiated twice, beside the first derivatives."""
    along: bool = False
    """Whether the gradient's rate along a direction of `wrt` is taken instead, whose inputs are `d<input>`."""
    beside: "tuple[Derivative, ...]" = ()
    """Others whose derivatives come with these."""

    @property
    def twofold(self) -> bool:
        """Whether it is of the second order."""
        return self.along or bool(self.pairs)

    def differentiated(self, graph: Graph) -> Graph:
        """The traced function's derivatives as a graph."""
        if self.pairs:
            return second(graph, self.output, self.pairs)
        if self.along:
            return hessian_product(graph, self.output, self.wrt)
        found = jacobian(graph, self.output, self.wrt, keep=False, effort=0)
        if self.twice:
            found = jacobian(found, found.outputs[0].name, self.wrt, keep=False, effort=0)
        return found


HALF_VELOCITY = Derivative(half_velocity_torque, ("q", "qd"), "c", ("qd",))
STATE, PUSHED = ("q", "qd", "qdd"), ("q", "qd", "tau")
TORQUE_SLOPES = Derivative(inverse_dynamics, STATE, "tau", ("q", "qd"))
FRICTION_CURVATURES = Derivative(hessians.friction, ("qd",), "f", (), pairs=(("qd", "qd"),))
TORQUE_CURVATURES = Derivative(
    inverse_dynamics, STATE, "tau", (), pairs=hessians.FEWER_PAIRS, beside=(FRICTION_CURVATURES,)
)
WEIGHTED_CURVATURES = Derivative(hessians.weighted_torque, (*STATE, "weights"), "s", (), pairs=hessians.PAIRS)
WEIGHTED_SLOPES = replace(WEIGHTED_CURVATURES, pairs=(), wrt=("q", "qd"))
WEIGHTED_PARAMETERS = Derivative(
    rollout_slopes.weighted_torque_of_parameters, (*STATE, "weights", "pi"), "p", ("pi",)
)


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


def _step(function: Callable[..., Any], derivative: Derivative, *outputs: str) -> Quantity:
    """What says how the state after a step depends on what was before, and the state; backwards it takes weights."""
    weights = () if derivative is TORQUE_SLOPES else ("weights_q", "weights_qd")
    inputs = (*PUSHED, "dt", *weights)
    outputs = (*outputs, "q_next", "qd_next")
    return Quantity(function, inputs, outputs, "accelerations", derivative=derivative, solves=True)


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
    "second_derivatives": Quantity(
        hessians.second_derivatives, STATE, ("dqq", "dqdqd", "dqqd", "dqqdd"), derivative=TORQUE_CURVATURES
    ),
    "weighted_second_derivatives": Quantity(
        hessians.weighted_second_derivatives,
        (*STATE, "weights"),
        ("dqq", "dqdqd", "dqqd", "dqqdd"),
        derivative=WEIGHTED_CURVATURES,
    ),
    "hessian_times": Quantity(
        hessians.hessian_times,
        (*STATE, "weights", "along_q", "along_qd", "along_qdd"),
        ("by_q", "by_qd", "by_qdd"),
        derivative=Derivative(hessians.weighted_torque, (*STATE, "weights"), "s", STATE, along=True),
    ),
    "second_forward_derivatives": Quantity(
        hessians.second_forward_derivatives,
        PUSHED,
        ("dqq", "dqdqd", "dqqd", "dqtau"),
        "accelerations",
        derivative=TORQUE_CURVATURES,
        solves=True,
    ),
    "weighted_second_forward_derivatives": Quantity(
        hessians.weighted_second_forward_derivatives,
        (*PUSHED, "weights"),
        ("dqq", "dqdqd", "dqqd", "dqtau"),
        "accelerations",
        derivative=replace(WEIGHTED_CURVATURES, beside=(TORQUE_SLOPES,)),
        solves=True,
    ),
    "forward_hessian_times": Quantity(
        hessians.hessian_times,
        (*PUSHED, "weights", "along_q", "along_qd", "along_tau"),
        ("by_q", "by_qd", "by_tau"),
        "accelerations",
        derivative=Derivative(hessians.weighted_acceleration, (*PUSHED, "weights"), "s", PUSHED, along=True),
        solves=True,
    ),
    "rk4_pullback": _step(rollout_slopes.rk4_pullback, WEIGHTED_SLOPES, "by_q", "by_qd", "by_tau"),
    "rk4_parameter_pullback": _step(
        rollout_slopes.rk4_parameter_pullback,
        replace(WEIGHTED_SLOPES, beside=(WEIGHTED_PARAMETERS,)),
        *("by_q", "by_qd", "by_parameters"),
    ),
    "rk4_step_slopes": _step(rollout_slopes.rk4_step_slopes, TORQUE_SLOPES, "slopes"),
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
