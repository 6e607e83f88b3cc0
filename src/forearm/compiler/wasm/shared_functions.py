"""What functions of a module have in common, each written when it is first asked for: sines, multiply-adds."""

from forearm.compiler.wasm.bytecode import Module
from forearm.compiler.wasm.dialects import DIALECTS
from forearm.compiler.wasm.module_products import add_fma
from forearm.compiler.wasm.module_sines import add_sincos


class SharedFunctions:
    """A module, its dialect, and the functions that others call."""

    def __init__(self, lanes: int) -> None:
        """An empty module for so many states at once."""
        self.module = Module()
        self.dialect = DIALECTS[lanes](self.module)
        self._numbers: dict[str, int] = {}

    def fma(self) -> int:
        """(a, b, c) -> a*b + c, rounded once."""
        if "fma" not in self._numbers:
            self._numbers["fma"] = add_fma(self.module, self.dialect)
        return self._numbers["fma"]

    def sincos(self, fused: bool) -> int:
        """X -> (sin x, cos x); fused: the bits of the CPU kernel."""
        name = "fused sincos" if fused else "sincos"
        if name not in self._numbers:
            self._numbers[name] = add_sincos(self.module, self.dialect, self.fma() if fused else None)
        return self._numbers[name]
