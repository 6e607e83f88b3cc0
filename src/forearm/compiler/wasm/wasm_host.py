"""Modules run in Python, by wasmtime where it is installed: arrays into their memory and out of it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.compiler.wasm.bytecode import PAGE
from forearm.faults import KernelFault
from forearm.outside.libraries.optional_libraries import optional


class WasmHost:
    """One instance of a module."""

    def __init__(self, name: str, module: bytes) -> None:
        """Load a module; `name` is for messages."""
        try:
            wasmtime = optional("wasmtime")
        except ImportError:
            raise KernelFault(
                f"{name}: running WebAssembly in Python needs wasmtime: pip install 'forearm[wasm]'. The module, "
                "kernel.bytes, needs nothing; kernel.source('js') calls it in a browser."
            ) from None
        self.store = wasmtime.Store()
        self.exports = wasmtime.Instance(self.store, wasmtime.Module(self.store.engine, module), []).exports(
            self.store
        )
        self.memory: Any = self.exports["memory"]
        self.heap = self.exports["heap"].value(self.store)  # type: ignore[union-attr]

    def run(
        self,
        function: str,
        numbers: Sequence[Any],
        inputs: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
    ) -> list[Any]:
        """Call a function with numbers, then the addresses of inputs and outputs; gives the outputs."""
        at, places = self.heap, []
        for size in (*(a.size for a in inputs), *(math.prod(s) for s in shapes)):
            places.append(at)
            at += 8 * size
        missing = at - self.memory.data_len(self.store)
        if missing > 0:
            self.memory.grow(self.store, -(-missing // PAGE))
        for array, place in zip(inputs, places, strict=False):
            self.memory.write(self.store, array.tobytes(), place)
        poison = np.full(sum(math.prod(s) for s in shapes), np.nan).tobytes()
        self.memory.write(self.store, poison, places[len(inputs)] if shapes else at)
        self.exports[function](self.store, *numbers, *places)  # type: ignore[operator]
        outs = []
        for shape, place in zip(shapes, places[len(inputs) :], strict=True):
            content = self.memory.read(self.store, place, place + 8 * math.prod(shape))
            outs.append(np.frombuffer(bytes(content)).reshape(shape).copy())
        return outs
