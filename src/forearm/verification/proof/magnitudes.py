"""How large the numbers are that are added up for each joint: what a difference in that joint is measured by.

The recursion of Newton and Euler with every vector replaced by its length and every sum by a sum of lengths: nothing
cancels. So each joint gets a scale of its own, in its own unit (N m of a revolute joint, N of a prismatic one), that is
never smaller than what any way to its torque meets, and that knows nothing of heavier joints before it. Rounding is
some ε of it, whatever the robot's size; a mistake in a small joint is not hidden by a large one.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from forearm import drives
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.chain_cuts import on_six_joints
from forearm.robot import Robot

TOLERANCE = 64 * float(np.finfo(float).eps)
"""How far apart two ways to one number may be, relative to the magnitudes that are added up for it."""
FAR = 1 / 64
"""Share of a place seen from the base that joins a lever: some formulations take levers as differences of places."""


@dataclass(frozen=True, eq=False)
class _Length:
    """One joint and its body, as lengths."""

    parent: int
    """The link before, 1 to n; 0 is the base."""
    revolute: bool
    travel: float
    """From the frame of the link before to the frame of this one [m]."""
    mass: float
    arm: float
    """From the centre of mass to the frame of the link, and on to the farthest joint on it [m]."""
    inertia: float
    """Of the tensor, about the centre of mass or the origin, whichever is larger [kg m²]."""


class Magnitudes:
    """Sums of magnitudes of one robot or arm at one position; each quantity has those of its own elements."""

    def __init__(self, robot: Arm | Robot, q: Vector) -> None:
        """Take the lengths of the robot's links at q (nq,)."""
        self.robot = robot
        free = isinstance(robot, Robot) and robot.free
        self.before = 6 if free else 0
        whole: Any = on_six_joints(robot) if free else robot
        joints = robot.joint_positions(q) if isinstance(robot, Robot) else q
        joints = np.concatenate([np.zeros(self.before), joints])
        mounts = [_norm(mount.translation) for mount in getattr(whole, "mounts", ())] or [0.0] * len(
            whole.links
        )
        beyond = [0.0] * (
            1 + len(whole.links)
        )  # to the farthest joint on each link: a chain's frames stand there
        for parent, mount in zip(whole.parents, mounts, strict=True):
            beyond[parent] = max(beyond[parent], mount)
        parts = zip(whole.links, whole.parents, mounts, beyond[1:], joints, strict=True)
        self.lengths = [_length(*part) for part in parts]
        self.gravity = _norm(robot.gravity)
        self.base = _norm(q[:3] if free else robot.base.translation)
        turns = [
            abs(float(x)) + abs(float(link.theta)) + abs(float(link.offset))
            for link, x in zip(whole.links, joints, strict=True)
            if link.revolute
        ]
        self.turns = max(1.0, max(turns, default=0.0) / (2 * np.pi))
        """The largest angle, where it is more than a turn: its rounding is that of a direction."""

    @property
    def spread(self) -> Matrix:
        """Magnitudes of all joints from those of the state's coordinates (N, nv)."""
        B = self.robot.coupling_map[0] if isinstance(self.robot, Robot) else np.eye(self.robot.n)
        total = np.zeros((self.before + B.shape[0], self.before + B.shape[1]))
        total[: self.before, : self.before] = np.eye(self.before)
        total[self.before :, self.before :] = np.abs(np.asarray(B, dtype=float))
        return total

    def torques(self, qd: Any, qdd: Any) -> Vector:
        """Of the torques (nv,) at rates and accelerations (nv,), gravity and drives included."""
        pushed = self._folded(self._sums(0 * qd, 0 * qd, qdd, self.gravity))
        return pushed + self.velocity_torques(qd) + self._friction(qd) + self._rotors(qdd)

    @cached_property
    def gravity_torques(self) -> Vector:
        """Of the torques at rest (nv,)."""
        rest = np.zeros(self.robot.nv)
        return self._folded(self._sums(rest, rest, rest, self.gravity))

    def velocity_torques(self, qd: Any) -> Vector:
        """Of the velocity torques (nv,); no gravity, no drives."""
        return self.coriolis(qd) @ np.abs(qd)

    @cached_property
    def mass(self) -> Matrix:
        """Of the mass matrix (nv, nv), symmetric."""
        units = np.eye(self.robot.nv)
        M = self._folded(self._sums(0 * units, 0 * units, units, 0.0)) + self._rotors(units)
        return np.maximum(M, M.T)

    @cached_property
    def christoffel(self) -> Any:
        """Of the Christoffel symbols (nv, nv, nv).

        What a rate costs at one joint is taken together with what it costs at the others: Lagrange's equations add up
        all three slopes of M, also where they cancel.
        """
        n = self.robot.nv
        u, v = np.broadcast_arrays(np.eye(n)[:, None], np.eye(n)[None])
        once = np.moveaxis(self._folded(self._sums(u, v, 0 * u, 0.0)), -1, 0)
        return once + np.moveaxis(once, 0, 1) + np.moveaxis(once, 0, 2)

    def coriolis(self, qd: Vector) -> Matrix:
        """Of the Coriolis matrix (nv, nv), and of half of dM/dt."""
        return np.asarray(self.christoffel @ np.abs(qd))

    def accelerations(self, M: Matrix, qd: Vector, qdd: Vector) -> Vector:
        """Of the accelerations (nv,) that undo torques: what an error of each torque costs, by the inverse of M."""
        own = joint_sizes(M)
        inverse = np.linalg.inv(M / own[:, None] / own) / own[:, None] / own
        return np.abs(inverse) @ self.torques(qd, qdd) + np.abs(qdd)

    def kinetic(self, qd: Vector) -> float:
        """Of the kinetic energy, velocities taken from where the links are in the world [J]."""
        rates, total = self._all(qd), 0.0
        moving = [(0.0, 0.0)]
        for place, part, rate in zip(self._places, self.lengths, rates, strict=True):
            speed, turning = moving[part.parent]
            speed, turning = speed + part.travel * turning, turning + part.revolute * rate
            speed = speed + (part.travel * turning if part.revolute else rate)
            moving.append((speed, turning))
            speed = speed + part.arm * turning
            world = speed + turning * (self.base + place)  # what forward kinematics adds and takes off
            total += (part.mass * speed * world + part.inertia * turning * turning) / 2
        rotors = np.asarray(drives.rotor_inertias(self.robot), dtype=float)
        return self.turns * total + float(rotors @ rates[self.before :] ** 2) / 2

    def pushed(self, wrench: Vector) -> Vector:
        """Of what a wrench [force; moment] at the last link's frame takes off the torques of a chain (n,)."""
        force, moment = float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:]))
        levers = np.cumsum([part.travel for part in self.lengths][::-1])[::-1]
        turning = np.array([part.revolute for part in self.lengths])
        return np.where(turning, moment + levers * force, force)

    @cached_property
    def potential(self) -> float:
        """Of the potential energy, from the world's origin [J]."""
        heights = (
            part.mass * (self.base + place + part.arm)
            for place, part in zip(self._places, self.lengths, strict=True)
        )
        return self.gravity * self.turns * sum(heights)

    def pace(self, qd: Vector) -> float:
        """How fast rates (nv,) change the robot [1/s]: turns in radians, slides by the robot's own length."""
        extent = max(x + part.arm for x, part in zip(self._places, self.lengths, strict=True)) or 1.0
        units = np.array([1.0 if part.revolute else extent for part in self.lengths])
        return float(np.sum(self._all(qd) / units))

    @cached_property
    def _places(self) -> list[float]:
        """The length of the way from the base to each link's frame [m]."""
        places = [0.0]
        for part in self.lengths:
            places.append(places[part.parent] + part.travel)
        return places[1:]

    # -- the recursion -----------------------------------------------------------------------------------

    def _sums(self, u: Any, v: Any, push: Any, gravity: float) -> Any:
        """Torques of all joints (..., N) of magnitudes alone: bilinear in the rates u and v, linear in push."""
        u, v, push = (self._all(x) for x in (u, v, push))
        if self.before:  # the axes turn with a free base: v̇ + ω × v, ω̇ and a product
            push = push + self._turning(u, v)
        nothing = np.zeros(push.shape[:-1])
        states = [(nothing, nothing, nothing, nothing + gravity)]
        forces, moments = [], []
        for i, (part, place) in enumerate(zip(self.lengths, self._places, strict=True)):
            w_u, w_v, wd, a = states[part.parent]
            a = a + (wd + w_u * w_v) * part.travel
            if part.revolute:
                wd = wd + push[..., i] + w_u * v[..., i] + w_v * u[..., i]
                w_u, w_v = w_u + u[..., i], w_v + v[..., i]
                a = a + (wd + w_u * w_v) * part.travel
            else:
                a = a + push[..., i] + w_u * v[..., i] + w_v * u[..., i]
            states.append((w_u, w_v, wd, a))
            arm = part.arm + FAR * place
            force = part.mass * (a + (wd + w_u * w_v) * arm)
            forces.append(force)
            moments.append(part.inertia * (wd + w_u * w_v) + (part.travel + arm) * force)
        for i in range(len(self.lengths) - 1, -1, -1):
            if parent := self.lengths[i].parent:
                forces[parent - 1] = forces[parent - 1] + forces[i]
                carried = moments[i] + self.lengths[parent - 1].travel * forces[i]
                moments[parent - 1] = moments[parent - 1] + carried
        sums = [m if part.revolute else f for part, m, f in zip(self.lengths, moments, forces, strict=True)]
        return np.stack(sums, axis=-1) * self.turns

    def _all(self, x: Any) -> Any:
        return np.abs(np.asarray(x, dtype=float)) @ self.spread.T

    @staticmethod
    def _turning(u: Any, v: Any) -> Any:
        more = np.zeros_like(u)
        for one, other in ((u, v), (v, u)):
            w = one[..., 3:6].sum(axis=-1, keepdims=True)
            more[..., :6] += w * np.repeat(
                np.stack([other[..., :3].sum(-1), other[..., 3:6].sum(-1)], -1), 3, axis=-1
            )
        return more

    def _folded(self, sums: Any) -> Any:
        return sums @ self.spread

    def _friction(self, qd: Any) -> Any:
        rates = self._all(qd)[..., self.before :]
        total = np.zeros((*rates.shape[:-1], len(self.lengths)))
        for i, link in enumerate(self.robot.links):
            drive, v = link.drive, rates[..., i]
            total[..., self.before + i] = drive.viscous * v + max(drive.coulomb) * (v > 0)
        return self._folded(total)

    def _rotors(self, qdd: Any) -> Any:
        rotors = np.concatenate(
            [np.zeros(self.before), np.asarray(drives.rotor_inertias(self.robot), dtype=float)]
        )
        return self._folded(self._all(qdd) * rotors)


def joint_sizes(M: Matrix) -> Vector:
    """Roots of the diagonal of M (nv,): divided by them, rows and columns have no unit; 1 where there is no inertia."""
    diagonal = np.diag(M)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def magnitudes(robot: Arm | Robot, q: Vector) -> Magnitudes:
    """The sums of magnitudes at q; those of the last positions are kept."""
    return _kept(robot, np.asarray(q, dtype=float).tobytes())


@lru_cache(maxsize=8)
def _kept(robot: Arm | Robot, q: bytes) -> Magnitudes:
    return Magnitudes(robot, np.frombuffer(q))


def _length(link: Any, parent: int, mount: float, beyond: float, q: float) -> _Length:
    mass, arm = float(link.mass), _norm(link.com) + beyond
    travel = mount + _norm(link.pose.translation) + abs(float(link.d))
    if not link.revolute:
        travel += abs(float(link.offset)) + abs(float(q))
    inertia = _norm(link.inertia.tensor) + mass * arm * arm
    return _Length(parent, link.revolute, travel, mass, arm, inertia)


def _norm(values: Any) -> float:
    return float(np.linalg.norm(np.array(values, dtype=float)))
