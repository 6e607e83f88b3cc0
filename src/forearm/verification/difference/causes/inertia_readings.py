"""How the inertias and rows of an arm may be read by somebody else: about another point, with other signs, modified."""

from functools import lru_cache
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, parallel_axis
from forearm.arm import Arm
from forearm.denavit_hartenberg import dh_rows
from forearm.faults import ArmFault
from forearm.inertia import numbers_of as ten_numbers
from forearm.inertia import ten_of
from forearm.robot import Robot
from forearm.verification.difference.torque_tables import numbers_of


@lru_cache(maxsize=64)
def mapped_numbers(arm: Arm | Robot, maps: tuple[tuple[str, int | None], ...]) -> Vector:
    """The ten numbers of each link after its inertia was read differently."""
    if not maps:
        return numbers_of(arm)
    rows: list[float] = []
    for i, link in enumerate(arm.links):
        mass, com, tensor = (
            float(link.mass),
            np.array(link.about_com[1], float),
            np.array(link.about_com[2], float),
        )
        for which, only in maps:
            if only is None or only == i:
                com, tensor = _read(which, link, mass, com, tensor)
        rows += ten_numbers(ten_of(mass, com, tensor))
    return np.array(rows)


def _read(which: str, link: Any, mass: float, com: Vector, tensor: Matrix) -> tuple[Vector, Matrix]:
    R, joint = np.array(link.pose.rotation, float), com + np.array(link.p_star(0.0), float)
    flipped = 2 * np.diag(np.diag(tensor)) - tensor
    if which == "products":
        return com, flipped
    if which == "products, joint axes":
        turned = R @ tensor @ R.T
        return com, R.T @ (2 * np.diag(np.diag(turned)) - turned) @ R
    if which == "frame":
        return R.T @ (com - np.array(link.pose.translation, float)), R.T @ tensor @ R
    arm = com if "origin" in which else joint
    sign = 1.0 if which.endswith("+") else -1.0
    return com, tensor + sign * parallel_axis(mass, arm)


@lru_cache(maxsize=8)
def read_as_modified(arm: Arm | Robot) -> Arm | None:
    """The arm that its standard Denavit-Hartenberg rows describe when they are read as modified; None without rows."""
    if isinstance(arm, Robot):
        return None
    try:
        table = dh_rows(arm)
        rows = [
            {"a": a, "alpha": alpha, "d": d, "theta": theta}
            | {
                name: getattr(link, name)
                for name in ("kind", "mass", "com", "inertia", "name", "drive", "flip", "offset")
            }
            for link, (a, alpha, d, theta) in zip(arm.links, table, strict=True)
        ]
        return Arm.from_dh(
            arm.name, rows, convention="modified", base=arm.base, gravity=arm.gravity, defects=arm.defects
        )
    except ArmFault:
        return None
