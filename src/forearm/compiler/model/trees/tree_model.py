"""The model of a robot: sums over its chains, in the coordinates of its states.

What `Model` is to an arm. A formulation walks one chain at a time; torques and M add up at the joints that chains
share. (The two that have a walk along the tree, `WALKED`, take that: the same sums for fewer operations.) At the edge,
couplings turn all joints into the independent ones (tau_a = Bᵀ tau, M_a = Bᵀ M B), and a free base's velocity becomes
the rates of six joints.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm import drives
from forearm.algebra import Matrix, Vector, cross, is_zero, product
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.trees.tree_frames import TreeFrames, described_tree
from forearm.compiler.model.trees.tree_walk import walked_mass_matrix, walked_torques
from forearm.faults import KernelFault
from forearm.formulations import FORMULATIONS
from forearm.free_base import SIX, bracket, gravity_in_base, joint_accelerations
from forearm.link import Body, carrying
from forearm.robot import Robot
from forearm.strobing import torques_of

WALKED = ("khalil_kleinfinger_1987", "walker_orin_1982")
"""Formulations of torques and of M whose equations tree_walk follows along the tree."""


@dataclass(frozen=True)
class TreeModel(Model):
    """What a quantity of a robot is computed from: `arm` is the robot, `chain` its tree of frames, or None."""

    arm: Robot  # type: ignore[assignment]
    """The robot itself (its parameters may be traced)."""
    chain: TreeFrames | None
    """The tree that formulations of the view `ten` walk; None for those that walk the robot's own chains."""
    turn: Any = None
    """A small turn of the base in its own axes (3,), by which torques are differentiated; None for none."""

    # -- sums over chains --------------------------------------------------------------------------------

    def torques(self, q: Vector, qd: Vector, qdd: Vector) -> Vector:
        """Rigid-body torques."""
        return self._torques_of(self.chain, q, qd, qdd)

    def torques_of_parameters(self, q: Vector, qd: Vector, qdd: Vector, pi: Matrix) -> Vector:
        """Rigid-body torques for any ten parameters of each body, in its own frame; a free base's come first."""
        tree = self.chain or described_tree(self.arm)
        return self._torques_of(tree.with_numbers(pi, len(SIX) if self.arm.free else 1), q, qd, qdd)

    def _torques_of(self, tree: TreeFrames | None, q: Vector, qd: Vector, qdd: Vector) -> Vector:
        joints = self.all_joints(q, qd, qdd)
        if tree is not None and self.torques_by == WALKED[0]:
            gravity = self._gravity(q) if self.arm.free else tree.gravity
            return self.independent(walked_torques(tree, gravity, *joints))
        total: list[Any] = [0.0] * len(joints[0])
        by_paper = torques_of(self.torques_by)
        for chain, numbers in self._chains(tree, q):
            own = (x[list(numbers)] for x in joints)
            for i, tau in zip(numbers, by_paper(chain, *own), strict=True):
                total[i] = total[i] + tau
        return self.independent(np.array(total))

    def rigid_mass_matrix(self, q: Vector) -> Matrix:
        """Rigid-body M."""
        if self.mass_by == self.torques_by:
            return Model.rigid_mass_matrix(self, q)
        joints = self._positions(q)
        if self.chain is not None and self.mass_by == WALKED[1]:
            return self._folded(walked_mass_matrix(self.chain, joints))
        total: list[list[Any]] = [[0.0] * len(joints) for _ in joints]
        for chain, numbers in self._chains(self.chain, q):
            M = FORMULATIONS[self.mass_by].mass_matrix(chain, joints[list(numbers)])
            for a, i in enumerate(numbers):
                for b, j in enumerate(numbers):
                    total[i][j] = total[i][j] + M[a][b]
        return self._folded(np.array(total))

    def accelerations(self, q: Vector, qd: Vector, tau: Vector) -> Vector:
        """Accelerations do not add up over chains: M and torques give them, and nothing else is chosen."""
        raise KernelFault(
            f"{self.accelerations_by} gives accelerations of one chain; those of robot {self.arm.name!r} come from its "
            "mass matrix and torques."
        )

    def _chains(self, tree: TreeFrames | None, q: Vector) -> list[tuple[Any, tuple[int, ...]]]:
        """What formulations walk, gravity included, with the numbers of their joints."""
        gravity = self._gravity(q) if self.arm.free else None
        if tree is not None:
            return tree.chains(gravity)
        robot = self.arm if gravity is None else self.arm.replace(gravity=tuple(gravity))
        return replace(self, arm=robot).chain_arms()

    def chain_arms(self) -> list[tuple[Any, tuple[int, ...]]]:
        """The robot's own chains that have bodies, with the numbers of their joints."""
        names = [*(SIX if self.arm.free else ()), *self.arm.all_joint_names]
        arms = [arm for arm in self.arm.chains() if arm.dynamics]
        return [(arm, tuple(names.index(name) for name in arm.joint_names)) for arm in arms]

    def _gravity(self, q: Vector) -> Vector:
        """Gravity in the axes of the free base."""
        if all(is_zero(x) for x in self.arm.gravity):
            return np.zeros(3)
        g = gravity_in_base(self.arm.base_pose(q)[0], self.arm.gravity)
        return g if self.turn is None else g + cross(g, self.turn)

    # -- coordinates -------------------------------------------------------------------------------------

    def _positions(self, q: Vector) -> Vector:
        joints = self.arm.joint_positions(q)
        return np.concatenate([np.zeros(len(SIX)), joints]) if self.arm.free else joints

    def all_joints(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector, Vector]:
        """Positions, rates and accelerations of all joints, the six of a free base first."""
        robot = self.arm
        rates, pushes = robot.joint_rates(qd), robot.joint_rates(qdd)
        if robot.free:
            rates = np.concatenate([qd[: len(SIX)], rates])
            pushes = np.concatenate([joint_accelerations(qd, qdd), pushes])
        return self._positions(q), rates, pushes

    def independent(self, tau: Vector) -> Vector:
        """Torques of all joints as the states' coordinates feel them."""
        if not self.arm.free:
            return self.arm.independent(tau)
        return np.concatenate([tau[: len(SIX)], self.arm.independent(tau[len(SIX) :])])

    def _folded(self, M: Matrix) -> Matrix:
        """Bᵀ M B."""
        if not self.arm.couplings:
            return M
        half = np.array([self.independent(row) for row in M])
        return np.array([self.independent(row) for row in half.T])

    # -- drives and turning axes -------------------------------------------------------------------------

    def rotor_torque(self, qdd: Vector) -> Vector:
        """Reflected rotor inertia times acceleration, by all joints."""
        return self._of_drives(drives.rotor_torque(self.arm, self.arm.joint_rates(qdd)))

    def rotor_matrix(self) -> Matrix:
        """What M gains by the rotors of all joints."""
        rotors = drives.rotor_inertias(self.arm)
        before = np.zeros(len(SIX)) if self.arm.free else np.zeros(0)
        return self._folded(np.diag(np.concatenate([before, rotors])))

    def friction_torque(self, qd: Vector) -> Vector:
        """Viscous and dry friction of all joints."""
        return self._of_drives(drives.friction_torque(self.arm, self.arm.joint_rates(qd)))

    def _of_drives(self, tau: Vector) -> Vector:
        return self.independent(np.concatenate([np.zeros(len(SIX)), tau]) if self.arm.free else tau)

    def with_turning_axes(self, C: Matrix, q: Vector, qd: Vector) -> Matrix:
        """C + ½ M ad: dM/dt - 2 C is then skew in the axes of a free base, too."""
        if not self.arm.free:
            return C
        six = len(SIX)
        M = self.rigid_mass_matrix(q)
        more = product(M[:, :six], bracket(qd) * 0.5)
        return np.concatenate([C[:, :six] + more, C[:, six:]], axis=1)

    def turning_axes_transposed(self, q: Vector, qd: Vector, v: Vector) -> Vector:
        """½ adᵀ M v, the same for Cᵀ v."""
        if not self.arm.free:
            return np.zeros(self.arm.nv)
        momentum = self.weightless().torques(q, np.zeros(self.arm.nv), v)[: len(SIX)]
        return np.concatenate([product(bracket(qd).T * 0.5, momentum), np.zeros(self.arm.n)])

    # -- the same with something else --------------------------------------------------------------------

    def weightless(self) -> "TreeModel":
        """The same without gravity."""
        still = self.chain if self.chain is None else replace(self.chain, gravity=np.zeros(3))
        return replace(self, arm=self.arm.replace(gravity=(0.0, 0.0, 0.0)), chain=still)

    def moved(self, at: Vector, q: Vector) -> tuple["TreeModel", Vector]:
        """Model and state after a small move q (nv,) from a state: what torques are differentiated by."""
        place = len(at) - self.arm.n
        return replace(self, turn=q[3 : len(SIX)]), np.concatenate([at[:place], at[place:] + q[len(SIX) :]])

    def reactions(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Matrix, Matrix]:
        """Force and moment by the link before on each link, axes of the link, at its joint: sums over chains."""
        joints = self.all_joints(q, qd, qdd)
        before, n = (len(SIX) if self.arm.free else 0), len(self.arm.links)
        forces, moments = np.zeros((n, 3), dtype=object), np.zeros((n, 3), dtype=object)
        for chain, numbers in self._chains(None, q):
            own = (x[list(numbers)] for x in joints)
            force, moment = FORMULATIONS["luh_walker_paul_1980"].reactions(chain, *own)
            ends = (*(self.arm.mounts[i - before].R for i in numbers[before + 1 :]), np.eye(3))
            for k, (i, turn) in enumerate(zip(numbers[before:], ends, strict=True), before):
                forces[i - before] = forces[i - before] + product(turn, force[k])
                moments[i - before] = moments[i - before] + product(turn, moment[k])
        return forces, moments


def with_payload(robot: Robot, number: int, body: Any) -> Robot:
    """The robot whose link (1 to n, 0 a free base) holds a body given in its frame, for what reads the robot itself."""
    changed = carrying(robot.links[number - 1] if number else robot.trunk.as_link, body)
    if not number:
        return robot.replace(trunk=Body(changed.mass, changed.com, changed.inertia))
    return robot.replace(links=(*robot.links[: number - 1], changed, *robot.links[number:]))
