"""What quantities are computed from: an arm, the chain that formulations walk, and drives, which enter here, once."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm import drives
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.compiler.model.base_parameters import described, reframed
from forearm.formulations import FORMULATIONS

SINGULAR = {"float64": 1e-13, "float32": 1e-5}
"""A joint whose effective inertia is this small beside its locked one makes M singular in floats of a precision."""


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
    refined: bool = False
    """Whether accelerations by M are refined once (see trees/tree_digits)."""
    precision: str = "float64"
    """In which numbers will be computed."""

    @property
    def singular(self) -> float:
        """Which share of a pivot of M is rounding."""
        return SINGULAR[self.precision]

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

    def mass_matrix(self, q: Vector) -> Matrix:
        """M, reflected rotors on its diagonal."""
        return self.rigid_mass_matrix(q) + self.rotor_matrix()

    def inverse_dynamics(self, q: Vector, qd: Vector, qdd: Vector) -> Vector:
        """M qdd + C qd + g + friction."""
        return self.torques(q, qd, qdd) + self.rotor_torque(qdd) + self.friction_torque(qd)

    def bias_torque(self, q: Vector, qd: Vector) -> Vector:
        """C qd + g + friction."""
        return self.torques(q, qd, np.zeros(self.arm.nv)) + self.friction_torque(qd)

    def with_turning_axes(self, C: Matrix, q: Vector, qd: Vector) -> Matrix:
        """C with what axes that turn with a free base add; an arm has none."""
        return C

    def turning_axes_transposed(self, q: Vector, qd: Vector, v: Vector) -> Vector:
        """What they add to Cᵀ v."""
        return np.zeros(self.arm.nv)
