"""The whole question of a sweep, as it travels to workers: any block of its samples can be computed anywhere.

A sample is one choice of everything that is varied; with a motion it has many states, one for each instant. Samples are
numbered; grids count like the digits of a number, the last axis fastest. Blocks have the same samples whoever computes
them, so that sums are added in the same order and every worker gives the same bits.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import forearm
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.compiler.call.grouped_states import GroupedStates, groups_of
from forearm.compiler.model.free_parameters import is_payload, port_name, possible_payload
from forearm.compiler.store.machine_locks import one_at_a_time
from forearm.faults import StateFault, possible_sizes
from forearm.robot import Robot
from forearm.sweeps.axes import SweepAxis
from forearm.sweeps.fingerprints import fingerprint
from forearm.sweeps.parameters import MOTION, MotionAxis, Parameter
from forearm.sweeps.reductions import NUMBER, Piece, Reduction, Room
from forearm.sweeps.summaries import Summary, first_finite, joined, summary_of

BLOCK_STATES, BLOCK_SAMPLES = 1 << 20, 1 << 14
"""States and samples of a block at most: enough that Python's part is small, few enough for a cache and a journal."""
FUNCTION_BLOCKS = 1 << 10
"""Blocks of a function's sweep, if it has so many samples: a simulation may take a second for each of them."""
MOST_PROBED = 256
"""Numbers of a sample that a journal holds."""
INNER = 1 << 14
"""States whose results are summed up while they are in the cache."""


@dataclass
class Problem:
    """What is asked."""

    what: str | Callable[..., Any]
    """A quantity's name, or a function of a block: a mapping from names to arrays (samples, *shape)."""
    arm: Arm | Robot | None
    """Whose quantity it is; None for a function."""
    axes: dict[str, SweepAxis]
    """What is varied."""
    states: tuple[str, ...]
    """Names of axes that are inputs of the quantity; the others set parameters."""
    parameters: dict[str, Parameter]
    """Axes that set parameters."""
    samples: int
    """How many samples there are."""
    seed: int
    """Of the random numbers."""
    keep: tuple[Reduction, ...]
    """What is kept."""
    output: tuple[str, tuple[int, ...]] = field(default=("", ()))
    """Name and shape of a result."""
    block: int = field(init=False)
    """Samples of a block; it travels with the problem, so that all workers have the same."""

    # -- what does not depend on who computes ---------------------------------------------------------------

    @property
    def instants(self) -> int:
        """States of a sample."""
        motion = self.axes.get(MOTION)
        return motion.times.shape[1] if isinstance(motion, MotionAxis) else 1

    def __post_init__(self) -> None:
        self.block = max(1, min(BLOCK_SAMPLES, BLOCK_STATES // self.instants))
        if not isinstance(self.what, str):
            self.block = min(self.block, -(-self.samples // FUNCTION_BLOCKS))

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.samples // self.block)

    @property
    def may_be_slow(self) -> bool:
        """Whether a block may take long: a function's, and few samples, which says that it is no quick one."""
        return not isinstance(self.what, str) and self.samples <= FUNCTION_BLOCKS * BLOCK_SAMPLES

    @property
    def size(self) -> int:
        """Numbers in a result."""
        return math.prod(self.output[1])

    @property
    def needs_sums(self) -> bool:
        """Whether something of what is kept is made of sums."""
        return any(reduction.needs_sums for reduction in self.keep)

    def digest(self) -> str:
        """A fingerprint of the question: another question, another journal."""
        told = hashlib.sha256()
        arm = "" if self.arm is None else self.arm.digest
        for part in (forearm.__version__, arm, self.samples, self.seed, self.block, self.keep, self.output):
            told.update(repr(part).encode() + b"\0")
        told.update(fingerprint(self.what))
        for name, axis in self.axes.items():
            told.update(name.encode() + b"\0" + axis.told() + b"\0")
        return told.hexdigest()

    def choices(self, first: int, count: int) -> dict[str, Any]:
        """What samples first, first + 1, … are made of: values (count, *shape) by axis."""
        left = np.arange(first, first + count, dtype=np.int64)
        places: dict[str, Vector] = {}
        for name, axis in reversed(self.axes.items()):
            places[name] = np.zeros_like(left)
            if axis.length > 1:
                left, places[name] = np.divmod(left, axis.length)
        return {name: axis.at(places[name], self.seed, name, first) for name, axis in self.axes.items()}

    def probes(self) -> Vector:
        """Some results (K, P) of the first sample, of one in the middle and of the last, as they come out now."""
        found = [
            self.values(self.choices(place, 1)).reshape(-1)
            for place in sorted({0, self.samples // 2, self.samples - 1})
        ]
        return np.array([values[:: -(-len(values) // MOST_PROBED)] for values in found])

    # -- what a worker does -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile what will be needed, one process of a machine at a time: the others find it in the cache."""
        if isinstance(self.what, str):
            with one_at_a_time("sweep"):
                first = self.choices(0, 1)
                if self._sums_alone:
                    self._summed(first, np.zeros(self.size))
                else:
                    self.values(first)

    @cached_property
    def kernel(self) -> Any:
        """The quantity's kernel, what is varied left free."""
        from forearm.compiler.pipeline import compile

        free = tuple(row.path for row in self.parameters.values())
        return compile(self.arm, self.what, free=free)  # type: ignore[arg-type]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "kernel"}

    def values(self, choices: dict[str, Any]) -> Vector:
        """Results (S, T, m) of samples."""
        return np.concatenate([part.copy() for part in self.parts(choices)])

    def parts(self, choices: dict[str, Any]) -> Iterator[Vector]:
        """The same, some samples after the other, as many as stay in the cache; what is given is used up at once."""
        count = len(next(iter(choices.values())))
        if not isinstance(self.what, str):
            yield self._by_function(choices, count)
            return
        given = self._given(choices)
        found = self._in_groups(choices, given) if self.grouped else self._in_rows(choices, given, count)
        for out in found:
            yield out.reshape(*out.shape[:2], self.size)

    @property
    def grouped(self) -> bool:
        """Whether a sample's instants are a group of states, which share its parameters."""
        return MOTION in self.axes and bool(self.parameters) and self.kernel.compiled

    @property
    def _sums_alone(self) -> bool:
        """Whether groups are summed up in machine code, because nobody asks for every value."""
        wanted = any(reduction.needs_values for reduction in self.keep)
        return isinstance(self.what, str) and self.grouped and not wanted

    def _given(self, choices: dict[str, Any]) -> dict[str, Vector]:
        """The kernel's parameters (S, ...), by port."""
        return {
            port_name(row.path): np.ascontiguousarray(self._numbers(name, choices[name]), dtype=float)
            for name, row in self.parameters.items()
        }

    def _numbers(self, name: str, values: Vector) -> Vector:
        """The kernel's numbers of an axis, once its values are found possible."""
        possible_sizes(f"sweep: over[{name!r}]", self.arm, name, values)
        if values.shape[1:] == (10,) and is_payload(name) and self.arm is not None:
            possible_payload(f"sweep: over[{name!r}]", self.arm, name, values)
        return self.parameters[name].numbers(self.arm, values)

    def asked(self, choices: dict[str, Any]) -> Vector:
        """What the function gives of samples; what a mask hides has no value, and is left out as NaN is."""
        found: Any = self.what(choices)  # type: ignore[operator]
        if hasattr(found, "mask") and isinstance(found, np.ma.MaskedArray) and found.dtype.kind in "fiub":
            return np.ma.filled(found.astype(float), np.nan)
        return np.asarray(found)

    def _by_function(self, choices: dict[str, Any], count: int) -> Vector:
        found = self.asked(choices)
        if found.dtype.kind not in "fiub" or found.shape != (count, *self.output[1]):
            kind = "an array" if found.dtype.kind in "fiub" else str(found.dtype)
            raise StateFault(
                f"sweep: the function gave {kind} of shape {found.shape} for {count} samples; give one row of numbers "
                f"for each sample: {(count, *self.output[1])}."
            )
        return found.astype(float, copy=False).reshape(count, 1, self.size)

    def _group_inputs(
        self, given: dict[str, Vector], count: int
    ) -> tuple[GroupedStates, dict[str, Vector], Vector]:
        groups = groups_of(self.kernel, frozenset(given))
        states = {name: self.axes[MOTION].states[name] for name in self.states}  # type: ignore[attr-defined]
        return groups, states, groups.shared_values(given, count)

    def _in_groups(self, choices: dict[str, Any], given: dict[str, Vector]) -> Iterator[Vector]:
        picked, step = choices[MOTION], max(1, INNER // self.instants)
        groups, states, shared = self._group_inputs(given, len(picked))
        out = np.empty((step, self.instants, *self.output[1]))
        for at in range(0, len(picked), step):
            here = out[: min(step, len(picked) - at)]
            groups.run(states, shared[at : at + step], [here], 1, picked[at : at + step])
            yield here

    def _summed(self, choices: dict[str, Any], about: Vector) -> Summary:
        """Groups summed up in machine code; those with results that are not finite are looked at again."""
        picked, T = choices[MOTION], self.instants
        groups, states, shared = self._group_inputs(self._given(choices), len(picked))
        found = np.empty((4 if self.needs_sums else 2, len(picked), self.size))
        groups.summed(states, shared, T, picked, about=about, out=found)
        told = found[2:] if self.needs_sums else found[:1]
        total, squares = told if self.needs_sums else (None, None)
        result = Summary(found[0], found[1], total, squares, np.broadcast_to(np.int64(T), found[0].shape))
        if np.isfinite(told.sum()):
            return result
        result = result._replace(finite=result.finite.copy())
        odd = np.flatnonzero(~np.isfinite(told).all(axis=(0, 2)))
        some = summary_of(self.values({name: v[odd] for name, v in choices.items()}), about)
        for whole, part in zip(result, some, strict=True):
            if whole is not None:
                whole[odd] = part
        return result

    def _in_rows(self, choices: dict[str, Any], given: dict[str, Vector], count: int) -> Iterator[Vector]:
        """A row for each state, everything in it."""
        motion, step = self.axes.get(MOTION), max(1, INNER // self.instants)
        for at in range(0, count, step):
            here = slice(at, min(at + step, count))
            inputs = [
                motion.states[p.name][choices[MOTION][here]]
                if isinstance(motion, MotionAxis) and p.name in self.states
                else (choices if p.name in self.states else given)[p.name][here, None]
                for p in self.kernel.graph.inputs
            ]
            yield np.asarray(self.kernel.general(*inputs))

    def piece(self, block: int) -> Piece:
        """The results of a block, as reductions take them."""
        first = block * self.block
        choices, kept = self.choices(first, min(self.block, self.samples - first)), []
        if self._sums_alone:
            about = np.zeros(self.size)
            if self.needs_sums:
                about = first_finite(self.values({name: v[:1] for name, v in choices.items()}))
            found = self._summed(choices, about)
        else:
            parts, about = list[Summary](), np.zeros(self.size)
            for values in self.parts(choices):
                about = about if parts else first_finite(values)
                parts.append(summary_of(values, about))
                kept.append(values.copy())
            found = joined(parts)
        few, spoiled = found.finite < self.instants, None
        count = np.full(self.size, len(few) * self.instants)
        if few.any():
            count, spoiled = found.finite.sum(axis=0), first + int(np.flatnonzero(few.any(axis=1))[0])
        return Piece(
            first,
            found.least,
            found.greatest,
            about,
            found.total.sum(axis=0) if self.needs_sums else None,
            found.squares.sum(axis=0) if self.needs_sums else None,
            count,
            spoiled,
            np.concatenate(kept) if kept else None,
        )

    def empty(self) -> dict[str, Any]:
        """What is known before the first block."""
        states = [r.empty(self.size) for r in self.keep]
        return {"states": states, "not_finite": [0] * self.size, "spoiled": None}

    def room(self) -> Room:
        """How much of it there may be at most, written down."""
        rooms = [r.room(self.size) for r in self.keep]
        lists = sum(r.lists for r in rooms) + 8 * len(rooms) + 8
        return Room(sum(r.letters for r in rooms) + NUMBER * (self.size + 2) + 200 * len(rooms), lists)

    def take(self, total: dict[str, Any], block: int) -> None:
        """Compute a block and add it to what is known."""
        piece = self.piece(block)
        for reduction, state in zip(self.keep, total["states"], strict=True):
            reduction.take(state, piece)
        all_of_them = len(piece.least) * self.instants
        missing = [all_of_them - int(c) for c in piece.finite]
        if any(missing):
            total["not_finite"] = [a + b for a, b in zip(total["not_finite"], missing, strict=True)]
            firsts = [x for x in (total["spoiled"], piece.spoiled) if x is not None]
            total["spoiled"] = min(firsts)

    def merge(self, total: dict[str, Any], other: dict[str, Any]) -> None:
        """Add what another worker found."""
        for reduction, state, more in zip(self.keep, total["states"], other["states"], strict=True):
            reduction.merge(state, more)
        pairs = zip(total["not_finite"], other["not_finite"], strict=True)
        total["not_finite"] = [a + int(b) for a, b in pairs]
        firsts = [x for x in (total["spoiled"], other["spoiled"]) if x is not None]
        total["spoiled"] = min(firsts, default=None)

    def possible(self, total: dict[str, Any]) -> bool:
        """Whether samples of this question may have given this, as far as counts can tell."""
        values = self.samples * self.instants
        kept = zip(self.keep, total["states"], strict=True)
        spoiled = total["spoiled"]
        return (
            all(reduction.possible(state, self.samples, values) for reduction, state in kept)
            and all(0 <= count <= values for count in total["not_finite"])
            and (
                isinstance(spoiled, int) and 0 <= spoiled < self.samples
                if any(total["not_finite"])
                else not spoiled
            )
        )
