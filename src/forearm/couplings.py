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


TRIES = 500
"""How often states are drawn anew, then moved, until every joint that follows several others is within its limits."""

STRAYS = 30
"""How often states that were moved are moved again, at random."""


def narrowed(limits: Matrix, led: Matrix, shift: Vector, within: Matrix) -> Matrix:
    """Limits (n, 2) of leaders that keep followers of one joint within theirs, as far as the two can be kept at once.

    Followers are led (m, n) times the leaders, plus a shift, and their limits are within (m, 2).
    """
    found = limits.astype(float)
    for row, b, ends in zip(led, shift, within, strict=True):
        leaders = np.flatnonzero(row)
        if len(leaders) == 1:
            j = leaders[0]
            least, most = sorted((ends - b) / row[j] + 0.0)  # -0.0 would be below 0.0 to a generator
            if max(found[j, 0], least) <= min(found[j, 1], most):
                found[j] = max(found[j, 0], least), min(found[j, 1], most)
    return found


def drawn(
    rng: np.random.Generator, bounds: Matrix, led: Matrix, shift: Vector, within: Matrix, batch: Any
) -> Any:
    """Random numbers (*batch, n) in bounds (n, 2) with which followers of several joints are within theirs, too."""
    low, high = bounds.T
    q = rng.uniform(low, high, (*batch, len(low)))
    several = np.count_nonzero(led, axis=1) > 1
    if not several.any():
        return q
    for _ in range(TRIES):
        values = q @ led[several].T + shift[several]
        out = np.any((values < within[several, 0]) | (values > within[several, 1]), axis=-1)
        if not out.any():
            return q
        q[out] = rng.uniform(low, high, (int(out.sum()), len(low)))
    q[out] = _brought_within(rng, q[out], bounds, led[several], shift[several], within[several])
    return q


def _brought_within(
    rng: np.random.Generator, q: Any, bounds: Matrix, led: Matrix, shift: Vector, within: Matrix
) -> Any:
    """States (k, n) moved until each follower is within its limits, then strewn over what room there is.

    Where limits leave little room, chance does not meet it. Projections on one limit after the other do (von Neumann's
    way to a point that several convex sets share), where there is room at all.
    """
    rim = np.clip(0.01 * (within[:, 1] - within[:, 0]), 0.0, 1e-3)
    for _ in range(TRIES):
        for row, b, (least, most), edge in zip(led, shift, within, rim, strict=True):
            value = q @ row + b
            aim = np.clip(value, least + edge, most - edge)
            q = np.clip(q + np.outer((aim - value) / (row @ row), row), *bounds.T)
        values = q @ led.T + shift
        fits = np.all((values >= within[:, 0]) & (values <= within[:, 1]), axis=-1)
        if fits.all():
            break
    q[fits] = _strewn(
        rng, q[fits], np.vstack([np.eye(len(bounds)), led]), np.vstack([bounds, within - shift[:, None]])
    )
    return q


def _strewn(rng: np.random.Generator, q: Any, sides: Matrix, ends: Matrix) -> Any:
    """States (k, n) with sides @ q between ends, moved at random within them: hit and run."""
    for _ in range(STRAYS):
        along = rng.normal(size=q.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = (ends.T[:, None] - q @ sides.T) / (along @ sides.T)
        back, forth = (
            np.nan_to_num(ways.min(axis=0), nan=-np.inf),
            np.nan_to_num(ways.max(axis=0), nan=np.inf),
        )
        least, most = back.max(axis=-1), forth.min(axis=-1)
        share = rng.uniform(0.001, 0.999, len(q))
        step = np.where(most > least, least + share * (most - least), 0.0)
        q = q + step[:, None] * along
    return q


def times(matrix: Matrix, vector: Vector) -> Vector:
    """A constant matrix times a vector of any scalars, without its zeros."""
    return product(matrix.astype(object), np.asarray(vector)) if vector.dtype == object else matrix @ vector
