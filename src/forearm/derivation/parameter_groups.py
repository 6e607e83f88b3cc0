"""Base parameters: the combinations of masses, centres and inertias that torques can tell apart.

Each link's ten parameters are taken about its joint (frame before the constant pose): L for the inertia
about that origin, l for the first moment, m for the mass. What is symmetric about a joint's axis rides on
the link before (Gautier and Khalil 1990), and what then never enters is left out. A parameter that took
something over ends in R.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import is_number, rotation_z, sin_cos_of_constant
from forearm.arm import Arm
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.frames import Pose
from forearm.inertia import Ten, moved_ten, numbers_of, split_at_axis, sum_of_tens, ten_from

LETTERS = ("m", "lx", "ly", "lz", "Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz")
"""Names of the ten parameters in the order of `inertia.TEN`."""


@dataclass(frozen=True)
class Grouping:
    """One base parameter and what it stands for."""

    name: str
    """Lzz1R, for instance."""
    meaning: Expression
    """The combination of the arm's own parameters."""

    def __str__(self) -> str:
        return f"{self.name} = {self.meaning}"


@dataclass(frozen=True)
class GroupedLink:
    """A link whose ten parameters are letters: what the energies need, nothing else."""

    link: Any
    """The link that it came from."""
    ten: Ten
    """The grouped parameters in the link's own frame."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.link, name)


@dataclass(frozen=True)
class GroupedArm:
    """A chain of grouped links; only energies can be taken of it, no inner forces."""

    links: tuple[GroupedLink, ...]
    """The links, base to tip."""
    gravity_in_base: Any
    """Gravity in the axes of frame 0."""

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.links)


def grouped(arm: Arm, ring: Ring) -> tuple[GroupedArm, list[Grouping]]:
    """The arm over base parameters, and what each of them means."""
    before = [numbers_of(link.ten_at_joint) for link in arm.links]
    after = [numbers_of(ten) for ten in _regrouped(arm)]
    groupings, made = [], []
    for i, (link, old, new) in enumerate(zip(arm.links, before, after, strict=True), 1):
        row: list[Any] = []
        for letter, a, b in zip(LETTERS, old, new, strict=True):
            meaning = _expression(ring, b)
            if meaning.is_zero:
                row.append(0.0)
                continue
            name = _free_name(ring, f"{letter}{i}{'' if _expression(ring, a) == meaning else 'R'}", meaning)
            groupings.append(Grouping(name, meaning))
            row.append(ring.generator(name))
        made.append(GroupedLink(link, moved_ten(ten_from(row), link.pose)))
    return GroupedArm(tuple(made), arm.gravity_in_base), groupings


def _regrouped(arm: Arm) -> list[Ten]:
    """Ten parameters about each joint, what a joint cannot notice moved to the link before."""
    tens = [link.ten_at_joint for link in arm.links]
    for j in range(arm.n - 1, -1, -1):
        link, (mass, h, J) = arm.links[j], tens[j]
        if link.revolute:
            tens[j], move = split_at_axis(tens[j], revolute=True)
            along = Pose(translation=(0.0, 0.0, link.d))
        else:  # a sliding body keeps its direction: all of its inertia, and h where no axis notices its height
            first = h if _all_parallel(arm, j) else np.zeros(3)
            move, tens[j] = Ten(0.0, first, J), Ten(mass, h - first, np.zeros((3, 3)))
            along = Pose(rotation_z(*sin_cos_of_constant(link.theta)))  # type: ignore[arg-type]
        if j:
            moved = moved_ten(move, (arm.links[j - 1].pose @ along).inverse())
            tens[j - 1] = sum_of_tens(tens[j - 1], moved)
    return tens


def _all_parallel(arm: Arm, j: int) -> bool:
    """Whether the axes of joints 0 … j (counted from 0) are parallel by construction."""
    cosines = [link.pose.R[2, 2] for link in arm.links[:j]]
    return all(is_number(c) and abs(c) == 1 for c in cosines)


def _free_name(ring: Ring, name: str, meaning: Expression) -> str:
    """The name, or one beside it where the arm uses it for something else."""
    while name in ring.names and ring.generator(name) != meaning:
        name += "b"
    return name


def _expression(ring: Ring, x: Any) -> Expression:
    return (x if isinstance(x, Expression) else ring.constant(x)).reduced()


def used(groupings: list[Grouping], arrays: list[Any]) -> list[Grouping]:
    """Those parameters that enter the equations at all."""
    names = {name for array in arrays for x in np.ravel(array) for name in x.names}
    return [g for g in groupings if g.name in names]
