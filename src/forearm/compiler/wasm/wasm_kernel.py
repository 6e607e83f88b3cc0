"""Kernels for browsers and other hosts of WebAssembly: the target "wasm".

`kernel.bytes` is the module: an export `run(states, inputs…, outputs…)` on the addresses of rows in the export
`memory`, from the address `heap` on. It needs nothing from its host. In Python the kernel can be called where the
package wasmtime is installed (the extra `wasm`).

WebAssembly has no fused multiply-add. Where nothing is divided, products and sums are rounded apart, and results differ
from the CPU kernel's by at most 8 units in the last place of the largest intermediate value. What divides by M would
lose what the condition of M costs; there multiply-adds are rounded once, by a function of the module's own, and results
are the CPU kernel's to the bit (module_products). Angles beyond 1e5 rad give NaN.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.compiler.kernel import Accuracy, Kernel, KernelSubject
from forearm.compiler.wasm.dialects import DIALECTS
from forearm.compiler.wasm.graph_functions import graphs_module
from forearm.compiler.wasm.module_products import divides
from forearm.compiler.wasm.wasm_host import WasmHost
from forearm.faults import KernelFault


@final
class WasmKernel(Kernel):
    """A graph as a WebAssembly module."""

    def __init__(
        self,
        graph: Graph,
        *,
        dtype: str = "float64",
        layout: str = "rows",
        name: str | None = None,
        subject: KernelSubject = KernelSubject(),  # noqa: B008
        lanes: int = 2,
        apart: bool = False,
    ) -> None:
        """Describe the kernel; it is written when first asked for.

        Args:
            graph: What to compute, as `passes.lower` leaves it.
            dtype: float64; browsers have no use for less.
            layout: `rows`: arrays (..., *shape) in C order.
            name: What messages call it; the graph's name by default.
            subject: Whose joints the inputs belong to, and why this graph.
            lanes: States at once: 2 (SIMD, which every browser has since 2023), or 1.
            apart: Round products and sums apart in a graph that divides, too: quicker, with other last digits.
        """
        super().__init__(graph, dtype, layout, name, subject)
        if self.dtype.name != "float64" or layout != "rows":
            raise KernelFault(
                f"{self.name}: dtype is {dtype!r}, layout {layout!r}; WebAssembly kernels compute in 'float64', "
                "in 'rows'."
            )
        if lanes not in DIALECTS:
            raise KernelFault(f"{self.name}: lanes is {lanes!r}; give 1 or 2 states at once.")
        self.lanes, self.apart = lanes, apart

    @property
    def how(self) -> str:
        """States at once, and the rounding of products."""
        once = not self.apart and divides(self.graph)
        states = f"{self.lanes} state{'s' if self.lanes > 1 else ''} at once"
        return f"WebAssembly, {states}, multiply-adds rounded {'once' if once else 'twice'}"

    @cached_property
    def bytes(self) -> bytes:
        """The module."""
        return graphs_module({"run": self.graph}, self.lanes, self.apart).module.binary()

    @cached_property
    def _host(self) -> WasmHost:
        return WasmHost(self.name, self.bytes)

    def __getstate__(self) -> dict[str, Any]:
        """Without the module in memory, which another process loads for itself."""
        return {name: x for name, x in self.__dict__.items() if name != "_host"}

    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute the outputs through wasmtime; `threads` is not a module's business."""
        taken, batch = arguments.taken(self, inputs)
        count = math.prod(batch)
        full = [
            np.ascontiguousarray(np.broadcast_to(a, batch + p.shape), dtype=float)
            for a, p in zip(taken, self.graph.inputs, strict=True)
        ]
        outs = self._host.run("run", [count], full, self.shapes(batch))
        if out is not None:
            for target, value in zip(arguments.check_outs(self, out, batch), outs, strict=True):
                target[...] = value
        return self.packed(outs, out)

    def source(self, kind: str = "js") -> str:
        """What calls the module: `js`, a loader with the module inside, or `ts`, its types."""
        from forearm.compiler.wasm.module_files import loader_text, types_text

        texts = {"js": loader_text, "ts": types_text}
        if kind not in texts:
            raise KernelFault(
                f"{self.name}: no source of kind {kind!r}; give {' or '.join(map(repr, texts))}."
            )
        return texts[kind](self.name, self.bytes, {"run": self.graph}, {})

    def accuracy(self, *inputs: Any) -> Accuracy:
        """Compare this kernel on the given states with NumPy's long double, where that is wider."""
        got = self.general(*inputs)
        results = [got] if len(self.graph.outputs) == 1 else list(got)
        named = {
            p.name: np.asarray(v, dtype=np.longdouble) for p, v in zip(self.graph.inputs, inputs, strict=True)
        }
        want = interpret(self.graph, named, arrays)
        absolute, relative = {}, {}
        for port, value in zip(self.graph.outputs, results, strict=True):
            right = want[port.name]
            error, size = np.max(np.abs(value - right), initial=0.0), np.max(np.abs(right), initial=0.0)
            absolute[port.name] = float(error)
            relative[port.name] = float(error / size) if size else 0.0
        return Accuracy("long double", absolute, relative)


def make_kernel(graph: Graph, **how: Any) -> WasmKernel:
    """The target 'wasm': a module with one function, `run`."""
    return WasmKernel(graph, **how)
