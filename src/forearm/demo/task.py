"""The task of the demo: a PUMA 560 with a gripper takes a body from one place to another."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, rotation_x
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.frames import Pose
from forearm.motion.motions import Motion, ViaPoints
from forearm.motion.profiles.path_profiles import run_along
from forearm.reach import inverse_kinematics
from forearm.readers import load

PAYLOAD = 2.5
"""What the PUMA 560 is rated for [kg]."""
PICK, PLACE = (0.42, -0.42, 0.30), (0.30, 0.50, 0.42)
LIFT = (0.0, 0.0, 0.22)
TILT = 0.3
"""How far the gripper leans at both places [rad]."""
GRIPPER = 0.16
"""Length of the gripper [m]."""
SMOOTHING = 0.05
"""Speed below which dry friction fades [rad/s]: wide enough for steps of a millisecond."""


@dataclass(frozen=True, eq=False)
class Phase:
    """A stretch of the motion between two stops."""

    name: str
    """What happens."""
    start: float
    """When it begins [s]."""
    end: float
    """When it ends [s]."""
    points: Matrix
    """Positions on the way, evenly spread in time (K, n)."""
    carrying: bool
    """Whether the body is in the gripper."""

    def __call__(self, t: Any) -> tuple[Vector, Vector, Vector]:
        """q, qd, qdd at a time, or at times (K,)."""
        since = np.asarray(t, dtype=float) - self.start
        q, qd, qdd = self.motion.rows(np.atleast_1d(since))
        return (q, qd, qdd) if since.ndim else (q[0], qd[0], qdd[0])

    @cached_property
    def motion(self) -> Motion:
        """A spline through the points, run by an S-curve in the time that there is."""
        path = ViaPoints(np.linspace(0.0, 1.0, len(self.points)), self.points, at_rest=False)
        calm = run_along(path, speed=1.8, acceleration=6.0, jerk=40.0)
        return calm.faster(calm.duration / (self.end - self.start))


def the_arm() -> Arm:
    """PUMA 560 with a gripper as its tool, friction smooth enough for steps of a millisecond."""
    puma = load("puma560").with_tool(Pose.at((0.0, 0.0, GRIPPER)))
    links = tuple(link.replace(drive=link.drive.replace(smoothing=SMOOTHING)) for link in puma.links)
    return puma.replace(links=links)


def loaded(arm: Arm) -> Arm:
    """The arm with the body in its gripper."""
    return arm.with_payload(PAYLOAD, frame="tool")


def phases(arm: Arm) -> list[Phase]:
    """Home to the pick, pick to place, and home again, from stop to stop."""
    home = arm.configuration("nominal") * [1, 1, 1, 1, -1, 1]  # the wrist bent downward
    pick, over_pick = _grasp(arm, PICK, home)
    place, over_place = _grasp(arm, PLACE, home)
    return [
        Phase("reach", 0.0, 1.6, np.array([home, over_pick, pick]), False),
        Phase("carry", 1.6, 4.0, np.array([pick, over_pick, over_place, place]), True),
        Phase("return", 4.0, 5.6, np.array([place, over_place, home]), False),
    ]


def _grasp(arm: Arm, at: Any, home: Vector) -> tuple[Vector, Vector]:
    """Joint positions with the gripper pointing down at a place, and above it."""
    yaw = float(np.arctan2(at[1], at[0]))
    c, s = np.cos(yaw), np.sin(yaw)
    lean = TILT * np.sign(yaw)
    down = np.array([[-c, -s, 0.0], [-s, c, 0.0], [0.0, 0.0, -1.0]]) @ rotation_x(np.sin(lean), np.cos(lean))
    above = reached(arm, np.add(at, LIFT), down, home + yaw * np.eye(arm.n)[0])
    return reached(arm, at, down, above), above


def sampled(parts: list[Phase], step: float) -> tuple[Vector, Vector, Vector, Vector]:
    """t, q, qd, qdd of the whole task, every `step` seconds."""
    t = np.arange(parts[0].start, parts[-1].end + step / 2, step)
    rows = [np.concatenate([np.stack(part(t[_within(part, t)]), axis=1) for part in parts])]
    q, qd, qdd = (rows[0][:, k] for k in range(3))
    return t, q, qd, qdd


def _within(part: Phase, t: Vector) -> Any:
    last = part.name == "return"
    return (t >= part.start - 1e-9) & ((t < part.end - 1e-9) | last)


def reached(arm: Arm, at: Any, turned: Matrix, start: Vector) -> Vector:
    """Joint positions with the tool at a point, turned so: of all that there are, those nearest to a start."""
    found = inverse_kinematics(arm, Pose(turned, at), q0=start)  # type: ignore[arg-type]
    if not found.solved:
        raise StateFault(
            f"demo: arm {arm.name!r} does not reach {tuple(map(float, at))} from {start} ({found.status}); choose "
            "another place."
        )
    return found.q
