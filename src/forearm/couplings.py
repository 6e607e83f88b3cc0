"""Couplings: joints that follow others, q = B qa + b. Fingers, parallelograms, coupled wrists.

Only the independent joints qa are states; torques and the mass matrix follow by tau_a = Bᵀ tau, M_a = Bᵀ M B.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector, product
from forearm.frames import Part


@dataclass(frozen=True)
class Coupling(Part):
    """One joint that follows others: its q is a sum of theirs, each with a factor, and an offset."""

    joint: str
    """The joint that follows."""
    terms: tuple[tuple[str, float], ...]
    """(joint that leads, factor), in the coordinates of the joints (rad or m)."""
    offset: float = 0.0
    """q of the follower where all leaders are at zero [rad or m]."""

    def __post_init__(self) -> None:
        faults.name(self.joint, "the joint of a coupling")
        where = f"coupling of joint {self.joint!r}"
        object.__setattr__(self, "terms", faults.coupling_terms(self.terms, where))
        object.__setattr__(self, "offset", faults.plain_number(self.offset, f"{where}: offset"))


def couplings_of(given: Any) -> tuple[Coupling, ...]:
    """Couplings from a sequence of them, or from a mapping {"follower": ("leader", factor, offset)}.

    A mapping's value may also be a leader's name alone, or a mapping {"leader": factor, …}.
    """
    if isinstance(given, Mapping):
        return tuple(_from_words(joint, said) for joint, said in given.items())
    for item in (found := faults.listed(given, "a robot", "couplings")):
        faults.part(item, Coupling, "couplings")
    return found


def _from_words(joint: str, said: Any) -> Coupling:
    if isinstance(said, str):
        return Coupling(joint, ((said, 1.0),))
    if isinstance(said, Mapping):
        return Coupling(joint, tuple(said.items()))
    leader, factor, offset = faults.coupling_words(said, joint)
    return Coupling(joint, ((leader, factor),), offset)


def coupling_map(couplings: Sequence[Coupling], names: Sequence[str]) -> tuple[Matrix, Vector]:
    """(B, b) of q = B qa + b: rows for all joints, columns for those that follow nobody, in their order.

    Followers may lead others; a circle is refused.
    """
    followers = {c.joint: c for c in couplings}
    free = [name for name in names if name not in followers]
    rows: dict[str, tuple[Vector, float]] = {
        name: (row, 0.0) for name, row in zip(free, np.eye(len(free)), strict=True)
    }

    def row_of(name: str, seen: tuple[str, ...]) -> tuple[Vector, float]:
        if name in seen:
            faults.coupling_circle((*seen[seen.index(name) :], name))
        if name not in rows:
            coupling = followers[name]
            led = [(factor, row_of(leader, (*seen, name))) for leader, factor in coupling.terms]
            row = sum((factor * r for factor, (r, _) in led), np.zeros(len(free)))
            rows[name] = row, coupling.offset + sum(factor * b for factor, (_, b) in led)
        return rows[name]

    with np.errstate(over="ignore", invalid="ignore"):
        found = [row_of(name, ()) for name in names]
    B = np.array([row for row, _ in found]).reshape(len(names), len(free))
    b = np.array([offset for _, offset in found])
    for name, row, offset in zip(names, B, b, strict=True):
        if not (np.all(np.isfinite(row)) and np.isfinite(offset)):
            raise faults.ArmFault(
                f"joint {name!r} follows others that follow others, by factors that overflow together; give smaller "
                "ones."
            )
    return B, b


def times(matrix: Matrix, vector: Vector) -> Vector:
    """A constant matrix times a vector of any scalars, without its zeros."""
    return product(matrix.astype(object), np.asarray(vector)) if vector.dtype == object else matrix @ vector
