"""Structs of free parameters in C: what each number is called, and what it means, with frame, point, sign and unit.

The names follow from what a parameter is, never from how many numbers it has: six lengths are no tensor.
"""

from forearm.arm import Arm
from forearm.compiler.model.free_parameters import (
    FRICTION,
    GEOMETRY,
    INERTIA_ORDER,
    INERTIAL,
    is_payload,
    lengths_of,
    port_name,
    port_shape,
)
from forearm.inertia import TEN
from forearm.robot import Robot

MOMENTS = (("y^2 + z^2", ""), ("", "x y"), ("", "x z"), ("z^2 + x^2", ""), ("", "y z"), ("x^2 + y^2", ""))
"""What is summed for XX, XY, XZ, YY, YZ, ZZ: squares with a plus, products with a minus."""
Members = tuple[str, dict[str, str]]
"""A sentence for the struct, and what each of its members is, by name."""


def struct_of(arm: Arm | Robot, path: str) -> Members | None:
    """The struct of a free parameter; None for a single number."""
    if is_payload(path):
        frame = path.partition("@")[2] or ("" if isinstance(arm, Arm) else _hand(arm))
        where = f"frame {frame!r}" if frame else f"frame {arm.n} (the far end of the last link)"
        said = f"A body that the arm holds, in the axes of {where}, from its origin; signs of the inertia tensor."
        return said, dict(zip(TEN, _body("the frame's origin"), strict=True))
    if path == INERTIAL:
        return _bodies(arm)
    if path == GEOMETRY:
        said = (
            "geometry: lengths [m]; d along the joint's axis, x y z the step after it; links counted from 0."
        )
        return said, {port_name(name): "[m]" for name in lengths_of(arm)}
    if path == FRICTION:
        said = "friction of each joint, joints counted from 1: sizes, all positive [N m and rad/s, or N and m/s]."
        return said, {name: text for i, _ in enumerate(arm.links, 1) for name, text in _friction(f"_{i}")}
    field, shape = path.rpartition(".")[2], port_shape(arm, path)
    if field == "inertia":
        said = f"{path}: about the link's centre of mass, link axes; entries of the tensor (Ixy = -sum of x y dm)."
        return said, dict.fromkeys(INERTIA_ORDER, "[kg m^2]")
    if field == "coulomb":
        return f"{path}: dry friction, sizes.", dict(_friction("")[1:])
    if field == "gravity":
        return "Acceleration of free fall, world axes.", dict.fromkeys("xyz", "[m/s^2]")
    if field == "com":
        return f"{path}: centre of mass from the origin of the link's frame, link axes.", dict.fromkeys(
            "xyz", "[m]"
        )
    assert shape == (), f"{path} has no names for its numbers"
    return None


def _hand(robot: Robot) -> str:
    """The frame that 'payload' means on a robot: its tool, or its only end."""
    return "tool" if "tool" in robot.places else robot.tips[0]


def _body(about: str) -> list[str]:
    """What ten numbers are."""
    sums = [f"+sum of ({squared}) dm" if squared else f"-sum of ({mixed}) dm" for squared, mixed in MOMENTS]
    return [
        "mass [kg]",
        *(f"mass times {x} of the centre of mass [kg m]" for x in "xyz"),
        *(f"{text} about {about} [kg m^2]" for text in sums),
    ]


def _bodies(arm: Arm | Robot) -> Members:
    first = 1 - (len(arm.bodies) - len(arm.links))
    base = "; _0 is the base" if first == 0 else ""
    said = f"inertial: bodies, links counted from 1{base}, each in its link's frame; signs of the inertia tensor."
    numbers = zip(TEN, _body("the origin of the link's frame"), strict=True)
    rows = list(numbers)
    return said, {f"{name}_{i}": text for i, _ in enumerate(arm.bodies, first) for name, text in rows}


def _friction(which: str) -> list[tuple[str, str]]:
    return [
        (f"viscous{which}", "[N m s/rad or N s/m]"),
        (f"dry_plus{which}", "dry, at positive speed [N m or N]"),
        (f"dry_minus{which}", "dry, at negative speed [N m or N]"),
    ]
