"""Robots of the Robotics Toolbox for Python (DHRobot, standard or modified): links, motors and friction as an Arm.

The Toolbox is not imported: its robot is an object with `links`, `base`, `tool` and `gravity`. Two things are the
motor's there and the joint's here: viscous friction B (times G²) and Coulomb friction Tc (times |G|; its second number
is negative there). Versions differ in the sign of `gravity`, so the robot itself is asked what it weighs. Where a joint
is flipped, its `rne_python` (1.5) turns q and neither qd nor tau; here all three turn.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm, Defect
from forearm.faults import ReadFault, physical_faults
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link

SMOOTHING = 1e-6
"""Speed over which dry friction turns over [rad/s or m/s]: the Toolbox's jumps at zero."""
STEP = 1e-5
"""Of the differences of potential energy."""
AGREES = 1e-4
"""Share of the largest gravity torque that those differences may be off."""


class ToolboxRobot(Protocol):
    """A DHRobot, as far as we look at it."""

    name: str
    """What it is called."""
    links: Any
    """Its rows, with bodies and motors."""

    def rne(self, *state: Any, **how: Any) -> Any:
        """Its torques."""


def is_toolbox_robot(source: Any) -> bool:
    """Whether something looks like a robot of the Toolbox that has Denavit-Hartenberg rows."""
    return hasattr(source, "rne") and hasattr(source, "mdh") and hasattr(source, "links")


def read_toolbox(robot: Any, *, keep_defects: bool = True, smoothing: float = SMOOTHING) -> Arm:
    """The arm of a DHRobot.

    keep_defects: take impossible inertias as they are, as declared defects with a note; its PUMA 560 has three.
    smoothing: speed over which dry friction turns over [rad/s or m/s].
    """
    label = f"robot {robot.name!r} of the Robotics Toolbox"
    try:
        rows = [_row(label, number, link, smoothing) for number, link in enumerate(robot.links, 1)]
    except (AttributeError, TypeError, ValueError) as error:
        raise ReadFault(
            f"{label}: its links are not those of a DHRobot with numbers ({type(error).__name__}: {error}); give each "
            "link its numbers, or the arm as rows (Arm.from_dh)."
        ) from error
    convention = "modified" if robot.mdh else "standard"
    bodies = [Link(row["kind"], mass=row["mass"], com=row["com"], inertia=row["inertia"]) for row in rows]
    found = physical_faults(bodies) if keep_defects else []
    place = {"base": _pose(robot.base), "tool": _pose(robot.tool)}
    arm = Arm.from_dh(
        str(robot.name or "robot"),
        rows,
        convention=convention,
        defects=[Defect(i, kind, f"so in the {label}") for i, kind in found],
        remarks=(f"from the {label}, {convention} Denavit-Hartenberg",),
        provenance=(("all numbers", str(getattr(robot, "manufacturer", "") or label)),),
        gravity=tuple(float(x) for x in np.ravel(robot.gravity)),
        **place,
    )
    return _weighed(label, arm, robot)


def _row(label: str, number: int, link: Any, smoothing: float) -> dict[str, Any]:
    """One link as arguments of Link.dh; the Toolbox ignores theta where q is the angle, d where it is the length."""
    where = f"{label}, link {number}"
    prismatic = bool(link.sigma)
    gear = float(link.G or 0.0)
    forward, backward = (float(x) for x in np.ravel(link.Tc))
    if forward < 0 or backward > 0:
        raise ReadFault(
            f"{where}: Coulomb friction Tc is ({forward:g}, {backward:g}), which pushes; give (positive, negative)."
        )
    drive = Drive(
        rotor_inertia=float(link.Jm) if gear else 0.0,
        gear=gear or 1.0,
        side="motor",
        viscous=float(link.B) * gear**2,
        coulomb=(abs(gear) * forward, abs(gear) * -backward),
        smoothing=smoothing,
    )
    limits = None if link.qlim is None else tuple(float(x) for x in np.ravel(link.qlim))
    return {
        "kind": "prismatic" if prismatic else "revolute",
        "a": float(link.a),
        "alpha": float(link.alpha),
        "d": float(link.offset if prismatic else link.d),
        "theta": float(link.theta if prismatic else link.offset),
        "flip": bool(link.isflip),
        "mass": float(link.m),
        "com": tuple(float(x) for x in np.ravel(link.r)),
        "inertia": Inertia.about_com(np.array(link.I, dtype=float)),
        "drive": drive,
        "name": str(link.name or f"joint{number}"),
        "limits": limits if limits is not None and limits[0] < limits[1] else None,
    }


def _pose(place: Any) -> Pose:
    return Pose.from_matrix(np.array(getattr(place, "A", place), dtype=float))


def _weighed(label: str, arm: Arm, robot: Any) -> Arm:
    """The arm with the sign of gravity by which the robot's own torques at rest are the slopes of potential energy.

    The compiled `rne` is wrong where the first joint is prismatic (1.5; its P8): the one in Python is asked then.
    """
    if not arm.dynamics or not any(arm.gravity):
        return arm
    q, rest = np.linspace(0.3, 1.1, arm.n), np.zeros(arm.n)
    slopes = -arm.total_mass * (_slopes(arm.center_of_mass, q) @ np.array(arm.gravity))
    theirs = np.ravel(robot.rne(q, rest, rest))
    turned = np.array([-1.0 if link.flip else 1.0 for link in arm.links])
    if np.any(turned < 0):
        flipped = ", ".join(link.name for link in arm.links if link.flip)
        arm = arm.replace(
            remarks=(*arm.remarks, f"{flipped} run the other way: q, qd and tau; the Toolbox turns q alone")
        )
    if (sign := _sign(slopes * turned, theirs)) is None and hasattr(robot, "rne_python"):
        sign = _sign(slopes * turned, np.ravel(robot.rne_python(q, rest, rest)))
        apart = f"{np.max(np.abs(theirs - (sign or 1.0) * slopes * turned)):.3g}"
        arm = arm.replace(
            remarks=(
                *arm.remarks,
                f"the compiled rne of the Toolbox differs from its own rne_python by up to {apart} N m or N at "
                f"q = {q.round(3).tolist()}; this arm agrees with rne_python and with the slopes of potential energy",
            )
        )
    if sign is None:
        raise ReadFault(
            f"{label}: its own gravity torques at q = {q.round(3)} are {theirs.round(4)}, but its links, base and "
            f"gravity make {slopes.round(4)}: its rne does not fit its own description. Give the arm as rows "
            "(Arm.from_dh)."
        )
    return arm if sign > 0 else arm.replace(gravity=tuple(-x for x in arm.gravity))


def _sign(slopes: Vector, theirs: Vector) -> float | None:
    """1 or -1 where torques are that many times the slopes; None where they are neither."""
    most = max(float(np.max(np.abs(theirs))), float(np.max(np.abs(slopes))))
    fits = [sign for sign in (1.0, -1.0) if np.max(np.abs(sign * slopes - theirs)) <= AGREES * most]
    return fits[0] if fits else None


def _slopes(function: Callable[[Vector], Vector], q: Vector) -> Vector:
    """How a vector (3,) changes with each joint (n, 3), by differences."""
    steps = STEP * np.eye(len(q))
    return np.stack([(function(q + s) - function(q - s)) / (2 * STEP) for s in steps])
