"""Modules run in Python, by wasmtime where it is installed: arrays into their memory and out of it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.compiler.wasm.bytecode import PAGE
from forearm.faults import KernelFault
from forearm.outside.libraries.optional_libraries import optional


class WasmHost:
    """A module, and instances of it: calls at the same time take different ones, whose memories are their own."""

    def __init__(self, name: str, module: bytes) -> None:
        """Load a module; `name` is for messages."""
        try:
            self._wasmtime = optional("wasmtime")
        except ImportError:
            raise KernelFault(
                f"{name}: running WebAssembly in Python needs wasmtime: pip install 'forearm[wasm]'. The module, "
                "kernel.bytes, needs nothing; kernel.source('js') calls it in a browser."
            ) from None
        self._engine = self._wasmtime.Engine()
        self._module = self._wasmtime.Module(self._engine, module)
        self._idle: list[WasmInstance] = []

    def run(
        self,
        function: str,
        numbers: Sequence[Any],
        inputs: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
    ) -> list[Any]:
        """Call a function with numbers, then the addresses of inputs and outputs; gives the outputs."""
        try:
            instance = self._idle.pop()
        except IndexError:
            store = self._wasmtime.Store(self._engine)
            instance = WasmInstance(store, self._wasmtime.Instance(store, self._module, []).exports(store))
        outs = instance.run(function, numbers, inputs, shapes)
        self._idle.append(instance)  # one that was interrupted does not come back
        return outs


class WasmInstance:
    """One instance of a module: for one call at a time."""

    def __init__(self, store: Any, exports: Any) -> None:
        """An instance by what it exports."""
        self._store, self._exports = store, exports
        self._memory, self._heap = exports["memory"], exports["heap"].value(store)

    def run(
        self,
        function: str,
        numbers: Sequence[Any],
        inputs: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
    ) -> list[Any]:
        """As `WasmHost.run`."""
        at, places = self._heap, []
        for size in (*(a.size for a in inputs), *(math.prod(s) for s in shapes)):
            places.append(at)
            at += 8 * size
        missing = at - self._memory.data_len(self._store)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // PAGE))
        for array, place in zip(inputs, places, strict=False):
            self._memory.write(self._store, array.tobytes(), place)
        poison = np.full(sum(math.prod(s) for s in shapes), np.nan).tobytes()
        self._memory.write(self._store, poison, places[len(inputs)] if shapes else at)
        self._exports[function](self._store, *numbers, *places)
        outs = []
        for shape, place in zip(shapes, places[len(inputs) :], strict=True):
            content = self._memory.read(self._store, place, place + 8 * math.prod(shape))
            outs.append(np.frombuffer(bytes(content)).reshape(shape).copy())
        return outs
