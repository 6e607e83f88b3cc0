"""What a sweep varies: values on a grid, and random numbers.

Random numbers are counted, not carried along: Philox 4x64 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as
easy as 1, 2, 3, SC 2011, doi:10.1145/2063384.2063405) with the seed and the axis' name as its key and the number of the
sample as its counter. So sample 123,456,789 has the same numbers on any worker, in any chunk, alone or among others,
and another axis beside it changes nothing.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault, explained_parts, floats, not_labelled, not_masked
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.sweeps.fingerprints import fingerprint

WORDS = 4
"""Words that one count of Philox gives."""


def random_words(seed: int, name: str, first: int, count: int, width: int) -> Vector:
    """Random 64-bit words (count, width) of samples first, first + 1, …, the first of all side by side in memory."""
    each = -(-width // WORDS)
    source = np.random.Philox(key=_key(seed, name), counter=first * each)
    words = source.random_raw(count * each * WORDS).reshape(count, each * WORDS)
    return np.ascontiguousarray(words[:, :width].T).T


@lru_cache(maxsize=64)
def _key(seed: int, name: str) -> Vector:
    """Philox's key: the seed and the axis' name."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return np.array([seed, int.from_bytes(digest, "little")], dtype=np.uint64)


class SweepAxis(ABC):
    """Something that is varied."""

    shape: tuple[int, ...]
    """Of one value."""
    length: int
    """How many values a grid has; 1 for random numbers, which are drawn anew for every sample."""

    def __init_subclass__(cls) -> None:
        explained_parts(cls, at_border=True)

    @abstractmethod
    def at(self, places: Vector, seed: int, name: str, first: int) -> Any:
        """The values (samples, *shape) of samples first, first + 1, …, which are at these places of a grid."""

    @abstractmethod
    def told(self) -> bytes:
        """All that decides about its values, for a digest."""


class RandomAxis(SweepAxis):
    """Numbers drawn for every sample anew."""

    length = 1

    def at(self, places: Vector, seed: int, name: str, first: int) -> Vector:
        """Uniform words, put where they belong."""
        width = math.prod(self.shape)
        words = random_words(seed, name, first, len(places), width)
        return self.spread(words).reshape(len(places), *self.shape)

    @abstractmethod
    def spread(self, words: Vector) -> Vector:
        """Numbers from words (samples, size)."""


def _unit(words: Vector) -> Vector:
    """Numbers between 0 and 1, neither of them reached: 53 bits of each word."""
    found = (words >> np.uint64(11)).view(np.int64).astype(float)
    found += 0.5
    found *= 2.0**-53
    return found


def _scaled(start: Vector, factor: Vector, numbers: Vector) -> Vector:
    """start + factor numbers, in place, column by column: they are side by side in memory."""
    for column, a, b in zip(numbers.T, start.ravel(), factor.ravel(), strict=True):
        column *= b
        column += a
    return numbers


@dataclass(frozen=True)
class Uniform(RandomAxis):
    """Numbers evenly between two bounds; bounds of any shape that broadcast, and so is a value's shape."""

    low: Any
    """Least value, or values."""
    high: Any
    """Greatest."""

    def __post_init__(self) -> None:
        low, high = (floats(f"Uniform {name}", getattr(self, name)) for name in ("low", "high"))
        try:
            low, high = np.broadcast_arrays(low, high)
        except ValueError:
            raise StateFault(
                f"Uniform: low has shape {low.shape}, high {high.shape}; give one shape, or a number for one of them."
            ) from None
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
            raise StateFault(
                f"Uniform({self.low!r}, {self.high!r}): give finite bounds, the lower one first."
            )
        self.__dict__.update(low=low.copy(), high=high.copy())

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Of one value."""
        return self.low.shape  # type: ignore[no-any-return]

    def spread(self, words: Vector) -> Vector:
        """Between the bounds."""
        return _scaled(self.low, self.high - self.low, _unit(words))

    def told(self) -> bytes:
        """The bounds."""
        return b"uniform" + repr(self.shape).encode() + self.low.tobytes() + self.high.tobytes()


@dataclass(frozen=True)
class Normal(RandomAxis):
    """Normally distributed numbers, each by itself; mean and deviation of any shape that broadcast."""

    mean: Any
    """Mean value, or values."""
    deviation: Any
    """Standard deviation."""

    def __post_init__(self) -> None:
        mean, deviation = (floats(f"Normal {name}", getattr(self, name)) for name in ("mean", "deviation"))
        try:
            mean, deviation = np.broadcast_arrays(mean, deviation)
        except ValueError:
            raise StateFault(
                f"Normal: mean has shape {mean.shape}, deviation {deviation.shape}; give one shape, or a number for "
                "one of them."
            ) from None
        if not (np.isfinite(mean).all() and np.isfinite(deviation).all() and (deviation >= 0).all()):
            raise StateFault(
                f"Normal({self.mean!r}, {self.deviation!r}): give finite numbers, a deviation of 0 or more."
            )
        self.__dict__.update(mean=mean.copy(), deviation=deviation.copy())

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Of one value."""
        return self.mean.shape  # type: ignore[no-any-return]

    def spread(self, words: Vector) -> Vector:
        """By the inverse of the normal distribution: one word, one number."""
        special = scipy_part("special")
        return _scaled(self.mean, self.deviation, special.ndtri(_unit(words)))

    def told(self) -> bytes:
        """Mean and deviation."""
        return b"normal" + repr(self.shape).encode() + self.mean.tobytes() + self.deviation.tobytes()


@dataclass(frozen=True, eq=False)
class GridAxis(SweepAxis):
    """Values that are all visited, with every value of the other grids."""

    values: Any
    """An array (length, *shape), or a list of anything where no array can be made of it."""

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many values there are."""
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Of one value; () for things that are no numbers."""
        return self.values.shape[1:] if isinstance(self.values, np.ndarray) else ()

    def at(self, places: Vector, seed: int, name: str, first: int) -> Any:
        """The values at these places."""
        if isinstance(self.values, np.ndarray):
            return self.values[places]
        found = np.empty(len(places), dtype=object)
        found[:] = [self.values[int(k)] for k in places]
        return found

    def told(self) -> bytes:
        """The values."""
        if isinstance(self.values, np.ndarray):
            return b"grid" + repr(self.values.shape).encode() + np.ascontiguousarray(self.values).tobytes()
        return b"list" + fingerprint(self.values)


def axis_of(name: str, given: Any) -> SweepAxis:
    """What a caller gave for an axis: Uniform, Normal, or a sequence of values."""
    if isinstance(given, SweepAxis):
        return given
    listed = given.ndim > 0 if isinstance(given, np.ndarray) else isinstance(given, Sequence)
    if isinstance(given, (str, bytes)) or not listed:
        raise StateFault(
            f"sweep: over[{name!r}] is {type(given).__name__}; give fa.Uniform(low, high), fa.Normal(mean, deviation), "
            "or a list of values to visit ([x] for one)."
        )
    not_masked(given, f"sweep: over[{name!r}]")
    not_labelled(given, f"sweep: over[{name!r}]")
    if not len(given):
        raise StateFault(f"sweep: over[{name!r}] is empty; give values to visit.")
    try:
        values = np.array(given)
    except ValueError:
        values = np.empty(0, dtype=object)
    if values.dtype.kind in "fiu":
        return GridAxis(values.astype(float))
    return GridAxis(list(given))
