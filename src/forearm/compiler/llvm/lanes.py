"""What one value is made of: how many states, in which precision."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from forearm.faults import KernelFault

ITEMSIZE = {"float64": 8, "float32": 4}
"""Bytes of one number."""
FLT_MAX = 3.4028234663852886e38
"""The largest number of float32."""


@dataclass(frozen=True)
class Lanes:
    """The type that one operation works on."""

    dtype: str
    """float64 or float32."""
    width: int
    """States in one value; a power of two, 1 for scalars."""

    @property
    def scalar(self) -> str:
        """LLVM's name of one number."""
        return "double" if self.dtype == "float64" else "float"

    @property
    def type(self) -> str:
        """LLVM's name of one value."""
        return self.of(self.scalar)

    @property
    def bits(self) -> str:
        """The integer type of the same size."""
        return self.of(f"i{8 * self.itemsize}")

    @property
    def truth(self) -> str:
        """The type of a comparison."""
        return self.of("i1")

    @property
    def itemsize(self) -> int:
        """Bytes of one number."""
        return ITEMSIZE[self.dtype]

    @property
    def size(self) -> int:
        """Bytes of one value."""
        return self.itemsize * self.width

    @property
    def suffix(self) -> str:
        """Of intrinsics: f64, v4f64, f32."""
        plain = f"f{8 * self.itemsize}"
        return plain if self.width == 1 else f"v{self.width}{plain}"

    def of(self, element: str) -> str:
        """A value of other elements, equally wide."""
        return element if self.width == 1 else f"<{self.width} x {element}>"

    def number(self, value: float) -> str:
        """A constant in every lane, rounded to the precision at hand."""
        if self.dtype == "float32":
            if FLT_MAX < abs(value) < math.inf:
                raise KernelFault(
                    f"float32 has no number as large as {float(value):g}; give dtype='float64', or look for masses and "
                    "lengths out of range with fa.check(arm)."
                )
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.width == 1 else f"splat ({self.scalar} {text})"

    def integer(self, value: int) -> str:
        """An integer constant in every lane."""
        return str(value) if self.width == 1 else f"splat (i{8 * self.itemsize} {value})"
