"""The same graph for NVIDIA GPUs: one state for each thread, PTX text out. No CUDA toolkit, no GPU needed to write it.

The nodes, the sines and the arithmetic are those of the processor's kernels with one lane, so results agree to the bit
(products and sums are not contracted: LLVM writes `mul.rn`, `add.rn`, `fma.rn`). All arrays lie in global memory, and
each is described by an address and strides in bytes, so that columns (k, N), rows (N, k) and shared values are the same
kernel; threads next to each other should find states next to each other, which is the columns layout.

Parameters of `batch`, in order, all of 8 bytes:

    for each input, then each output:  address, bytes from state to state (0: shared), bytes from element to element
    count                              states; threads beyond it do nothing
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes.order import branch_by_branch
from forearm.compiler.llvm.batches import PROFILE
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.large_angles import call_large, large_function
from forearm.compiler.llvm.nodes import (
    FETCHED,
    Writer,
    declarations,
    emit_nodes,
    emit_sincos,
    is_large,
    needed,
)
from forearm.outside.escapes import line_comment

TRIPLE = "nvptx64-nvidia-cuda"
DEFAULT_GPU = "sm_90"
"""The GPU that text is written for unless another is named; newer ones run it too."""

REGISTERS = ("tid.x", "ntid.x", "ctaid.x")


@dataclass
class Global:
    """An array in global memory, seen from one thread."""

    name: str
    """Stem of its parameters."""
    port: Port
    """What it holds."""
    stepped: bool = False
    """Whether it has a fourth parameter: bytes from step to step, or from row to row of a record."""

    @property
    def parameters(self) -> list[str]:
        """As the kernel's signature has them."""
        rest = ["state", "element"] + ["step"] * self.stepped
        return [f"ptr addrspace(1) noalias %{self.name}", *(f"i64 %{self.name}.{r}" for r in rest)]

    def places(self, w: Writer, step: str | None = None) -> list[str]:
        """Addresses of the elements of this thread's state."""
        offset = self._offset(w, step)
        return [self._place(w, offset, k) for k in range(self.port.size)]

    def _offset(self, w: Writer, step: str | None = None) -> str:
        """Bytes from the array's begin to this thread's state."""
        offset = w.let(f"mul i64 %index, %{self.name}.state")
        if step is None:
            return offset
        return w.let(f"add i64 {offset}, {w.let(f'mul i64 {step}, %{self.name}.step')}")

    def _place(self, w: Writer, offset: str, element: int) -> str:
        further = w.let(f"add i64 {offset}, {w.let(f'mul i64 %{self.name}.element, {element}')}")
        return w.let(f"getelementptr inbounds i8, ptr addrspace(1) %{self.name}, i64 {further}")

    def load(self, w: Writer, lanes: Lanes, step: str | None = None) -> list[str]:
        """Its numbers."""
        return [loaded(w, lanes, place) for place in self.places(w, step)]

    def store(self, w: Writer, lanes: Lanes, values: list[str], step: str | None = None) -> None:
        """Put numbers there."""
        for value, place in zip(values, self.places(w, step), strict=True):
            _store(w, lanes, value, place)

    def store_element(self, w: Writer, lanes: Lanes, element: int, value: str) -> None:
        """Put one number there; its address is worked out here, so that it waits in no register."""
        _store(w, lanes, value, self._place(w, self._offset(w), element))


def loaded(w: Writer, lanes: Lanes, place: str) -> str:
    """The number at an address of global memory."""
    return w.let(f"load {lanes.type}, ptr addrspace(1) {place}, align {lanes.itemsize}")


def _store(w: Writer, lanes: Lanes, value: str, place: str) -> None:
    w.put(f"store {lanes.type} {value}, ptr addrspace(1) {place}, align {lanes.itemsize}")


def ptx_batch(graph: Graph, dtype: str = "float64", gpu: str = DEFAULT_GPU) -> str:
    """The PTX text of `batch`: outputs of many states.

    Inputs are asked for at the beginning, all at once, because memory is far away; outputs leave as soon as they are
    made, because a result that waits for the others takes a register that the next branch wants (32 joints on a
    fixed base: no spills instead of 336 bytes, 5.6 instead of 4.3 billion torques a second on an H200).
    """
    graph = branch_by_branch(graph)
    w, lanes = Writer(), Lanes(dtype, 1)
    inputs = [Global(f"in{i}", p) for i, p in enumerate(graph.inputs)]
    outputs = [Global(f"out{i}", p) for i, p in enumerate(graph.outputs)]
    start_thread(w)
    places = [array.places(w) for array in inputs]
    given = [[""] * port.size for port in graph.inputs]
    for i, k in by_first_use(graph):
        given[i][k] = loaded(w, lanes, places[i][k])
    stored: dict[int, list[tuple[Global, int]]] = {}
    for array, row in zip(outputs, graph.results, strict=True):
        for element, node in enumerate(row):
            stored.setdefault(node, []).append((array, element))

    def leave(index: int, value: str) -> None:
        for array, element in stored.get(index, ()):
            array.store_element(w, lanes, element, value)

    evaluate(w, lanes, graph, given, leave)
    parameters = [p for a in (*inputs, *outputs) for p in a.parameters]
    return ptx_text(graph, lanes, gpu, kernel_function(w, "batch", [*parameters, "i64 %count"]))


def evaluate(
    w: Writer,
    lanes: Lanes,
    graph: Graph,
    given: list[list[str]],
    made: Callable[[int, str], None] = lambda index, value: None,
) -> list[list[str]]:
    """All outputs from the values of all inputs, in registers; `made` is told each node's value as it is written."""

    def fetch(index: int) -> str | None:
        at = graph.nodes[index].at
        return None if at is None else given[at[0]][at[1]]

    values = emit_nodes(
        w, lanes, graph, needed(graph, result_nodes(graph)), fetch, lambda x: _sincos(w, lanes, x), made
    )
    return [[values[r] for r in row] for row in graph.results]


def by_first_use(graph: Graph) -> list[tuple[int, int]]:
    """(input, element) of what is needed, in the order of its first use: what is used first is asked for first."""
    nodes, results = graph.nodes, result_nodes(graph)
    readers = [i for i in needed(graph, results) if nodes[i].op not in FETCHED]
    found: dict[tuple[int, int], None] = {}
    for a in [*(a for i in readers for a in nodes[i].args), *results]:
        while nodes[a].op in ("sin", "cos"):  # taken where their value is first used
            a = nodes[a].args[0]
        if (at := nodes[a].at) is not None:
            found[at] = None
    return list(found)


def result_nodes(graph: Graph) -> list[int]:
    """The nodes of all outputs, one after the other."""
    return [r for row in graph.results for r in row]


def _sincos(w: Writer, lanes: Lanes, x: str) -> tuple[str, str]:
    """(sin, cos) in registers; a branch that is hardly ever taken does the very large angles."""
    near = emit_sincos(w, lanes, x)
    test, before, far, after = is_large(w, lanes, x), w.block, w.fresh("far"), w.fresh("near")
    w.put(f"br i1 {test}, label %{far}, label %{after}, !prof !0")
    w.label(far)
    large = call_large(w, lanes, x)
    w.put(f"br label %{after}")
    w.label(after)
    pair = zip(near, large, strict=True)
    return tuple(w.let(f"phi {lanes.type} [ {a}, %{before} ], [ {b}, %{far} ]") for a, b in pair)  # type: ignore[return-value]


def start_thread(w: Writer) -> None:
    """`%index`, the number of this thread; threads beyond the last state leave."""
    tid, size, block = (
        w.let(f"zext i32 {w.let(f'call i32 @llvm.nvvm.read.ptx.sreg.{r}()')} to i64") for r in REGISTERS
    )
    w.put(f"%index = add i64 {tid}, {w.let(f'mul i64 {block}, {size}')}")
    w.put(f"br i1 {w.let('icmp slt i64 %index, %count')}, label %work, label %idle")
    w.label("idle")
    w.put("ret void")
    w.label("work")


def kernel_function(w: Writer, name: str, parameters: list[str]) -> str:
    """What was written, as a kernel that a GPU can launch."""
    return w.function(f"ptx_kernel void @{name}({', '.join(parameters)}) nounwind")


def ptx_text(graph: Graph, lanes: Lanes, gpu: str, kernel: str) -> str:
    """The text that LLVM makes of a kernel."""
    from forearm.compiler.llvm.jit import assembly

    machine = gpu_machine(gpu)
    registers = "".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{r}()\n" for r in REGISTERS)
    parts = [
        f'target triple = "{TRIPLE}"',
        f'target datalayout = "{machine.target_data}"\n',
        declarations(lanes) + registers,
        large_function(lanes.dtype),
        kernel,
        PROFILE,
    ]
    header = f"// forearm: {line_comment(graph.name)}; {lanes.dtype}; {graph.counts}\n"
    return header + assembly("\n".join(parts), graph.name, machine=machine)


@cache
def gpu_machine(gpu: str) -> Any:
    """LLVM's code generator for a GPU."""
    from forearm.compiler.llvm.jit import other_machine

    return other_machine(TRIPLE, gpu)
