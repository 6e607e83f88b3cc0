"""Kernels of long chains: loops over links instead of straight-line code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

from forearm.compiler.call.arguments import Array
from forearm.compiler.call.entries.batch_entry_text import batch_entry
from forearm.compiler.call.entries.builtin_functions import Entry
from forearm.compiler.call.machine import MachineKernel
from forearm.compiler.kernel import Accuracy
from forearm.compiler.llvm.loops.chain_loops import ChainPlan
from forearm.faults import KernelFault


@final
class ChainKernel(MachineKernel):
    """A quantity of a long chain, as loops over links."""

    @cached_property
    def plan(self) -> ChainPlan:
        """The scratch area of the batch."""
        return ChainPlan(self.graph, self.lanes, "rows" if self.layout == "rows" else "")

    def _run_one(self, taken: list[Array], outs: list[Array]) -> None:
        self._run_alone(taken, outs)

    def entry(self, program: str, rest: Callable[..., Any]) -> Entry | None:
        """There is no entry of its own for one state."""
        return None if program == "single" else super().entry(program, rest)

    def text(self, program: str) -> str:
        """The program for batches, as LLVM takes it."""
        from forearm.compiler.llvm import jit
        from forearm.compiler.llvm.batches import batch_program

        entry = batch_entry(self.graph, self.dtype.name, self.layout, self.plan.size, self.piece)
        return batch_program(self.graph, self.plan, self.layout, jit.host().triple, entry)

    def source(self, kind: str = "llvm") -> str:
        """The code that runs, as text: `llvm` or `asm`."""
        if kind not in ("llvm", "asm"):
            raise KernelFault(
                f"{self.name}: source({kind!r}) writes one operation after the other, and a long chain is compiled as "
                "loops; ask for llvm or asm."
            )
        return super().source(kind)

    def accuracy(self, *inputs: Any) -> Accuracy:
        """Loops are compared with nothing wider."""
        raise KernelFault(
            f"{self.name}: a long chain is compiled as loops, and those run in no wider precision here; compare with "
            "FORMULATIONS on mpmath numbers."
        )
