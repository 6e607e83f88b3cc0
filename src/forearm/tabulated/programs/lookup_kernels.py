"""A table's look-up compiled: arrays in, torques out, on one thread or several."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.call import arguments, threads
from forearm.compiler.call.threads import Job
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.compiler.llvm.lanes import Lanes
from forearm.faults import KernelFault
from forearm.tabulated.grids import Axis
from forearm.tabulated.methods import INPUTS
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.programs.batch_programs import lookup_program
from forearm.tabulated.programs.scratch_areas import TILE, ScratchArea
from forearm.tabulated.stencils import MARGIN

SMALLEST_SHARE = 256
"""States below which another thread costs more than it brings."""


def have_llvm() -> bool:
    """Whether there is a compiler; look-ups are NumPy's otherwise."""
    try:
        import forearm.compiler.llvm.jit  # noqa: F401
    except KernelFault:
        return False
    return True


class LookupKernel:
    """The look-up of one table: call it with states."""

    def __init__(self, plan: TablePlan, numbers: Sequence[Any], width: int | None = None) -> None:
        """Describe the look-up; it compiles when first called.

        Args:
            plan: What is stored, over what.
            numbers: What is stored, for each grid.
            width: Lanes of a vector; by default what the machine's registers hold.
        """
        filled = [(grid, x) for grid, x in zip(plan.grids, numbers, strict=True) if grid.entries]
        self.plan = replace(plan, grids=tuple(grid for grid, _ in filled))
        self.numbers = [np.ascontiguousarray(x, plan.dtype) for _, x in filled]
        self._width, self._lock = width, fork_safe_lock()

    @cached_property
    def area(self) -> ScratchArea:
        """The scratch area of the program."""
        from forearm.compiler.llvm.jit import host

        return ScratchArea(self.plan, Lanes("float64", self._width or host().width("float64")))

    def text(self, triple: str) -> str:
        """The program, as LLVM takes it."""
        return lookup_program(self.area, triple)

    def __call__(self, state: dict[str, Vector], tau: Vector, wanted: int = 1) -> bool:
        """Fill the torques (B, n) of states (B, n) in C order; False where one is outside, and none counts then."""
        return self._run(self._address, self._words, state, tau, wanted)

    def _run(
        self, program: int, words: list[int], state: dict[str, Vector], tau: Vector, wanted: int
    ) -> bool:
        outside = ctypes.c_int64(0)
        arrays = [arguments.address(x) for x in (*(state[name] for name in INPUTS), tau)]
        told = [*arrays, ctypes.addressof(outside), *words]
        block = (ctypes.c_int64 * len(told))(*told)
        job = Job(program, ctypes.addressof(block), len(tau), TILE, SMALLEST_SHARE, *self._room_and_piece)
        threads.run(job, wanted)
        return not outside.value

    @cached_property
    def _room_and_piece(self) -> tuple[int, int]:
        """Bytes of scratch area, and states at a stretch, by what is read around each."""
        read = sum(self.area.order ** len(grid.axes) * len(grid.entries) for grid in self.plan.grids)
        return self.area.scratch, threads.piece(read, 4 * self.area.n, TILE)

    @cached_property
    def _words(self) -> list[int]:
        """All that the program is told but for the arrays of a call."""
        told = [word for axis in self.area.axes for word in about_axis(axis, self.area.order)]
        for grid, stored in zip(self.plan.grids, self.numbers, strict=True):
            size = len(grid.entries) * stored.itemsize
            told += [arguments.address(stored), *(stride * size for stride in grid.strides)]
        return told

    @cached_property
    def _address(self) -> int:
        """Where the compiled program starts."""
        from forearm.compiler.llvm.jit import host, load_program

        with self._lock:
            name = f"look-up, {self.plan.method} {self.plan.interpolation} of {self.plan.arm.name}"
            self._loaded = load_program(name, self.text(host().triple), self._probe)
            return self._loaded.address("look_up")

    def _probe(self, code: Any) -> bytes:
        """What it makes of a table with one cell, which every place of every axis is."""
        n, told, kept = self.area.n, [], []
        for axis in self.area.axes:
            told += about_axis(Axis(axis.what, axis.joint, -1.0, 1.0, 8, axis.circular), self.area.order)
        for grid in self.plan.grids:
            kept.append(np.arange(1.0, 1.0 + len(grid.entries)).astype(self.plan.dtype))
            told += [arguments.address(kept[-1]), *(0 for _ in grid.axes)]
        q = np.arange(5.0 * n).reshape(5, n) % 7 / 8 - 0.5
        tau = np.full((5, n), np.nan)
        inside = self._run(code.address("look_up"), told, {"q": q, "qd": q / 2, "qdd": q / 4}, tau, 1)
        return tau.tobytes() + bytes([inside])


def about_axis(axis: Axis, order: int) -> list[int]:
    """`PER_AXIS` of one axis, as words: its low end and step, the greatest value and the last first point in steps."""
    top, last = axis.points - 1 + MARGIN, axis.points - order
    if axis.circular:
        top, last = axis.points, axis.points
    return [*struct.unpack("<4q", struct.pack("<4d", axis.low, axis.step, top, last)), axis.points]
