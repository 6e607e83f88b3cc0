"""Traced scalars: numbers that write down what is done to them.

A `Traced` is an index into a `Builder`. Arithmetic with numbers and other traced scalars makes nodes; NumPy's
object arrays carry it through matrix products. What needs the number itself (`bool`, `float`, comparisons,
`abs`) raises a TraceFault that names the source line, because a graph must hold for every state.
"""

from __future__ import annotations

import math
import os
import sys
from typing import Any, NoReturn

import numpy as np

from forearm.compiler.graph.builder import Builder
from forearm.faults import TraceFault

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = (
    _HERE,
    os.path.dirname(os.path.abspath(np.__file__)),
    os.path.join(os.path.dirname(_HERE), "algebra.py"),
)
_LARGEST_POWER = 16


def source_line(depth: int = 1) -> tuple[str, int]:
    """File and line of the nearest caller outside the compiler, NumPy and `algebra`."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Traced:
    """A scalar under tracing: the node `index` of `builder`."""

    __slots__ = ("builder", "index")
    __array_priority__ = 1000.0  # NumPy scalars and arrays leave the arithmetic to us

    def __init__(self, builder: Builder, index: int) -> None:
        """Stand for a node."""
        self.builder = builder
        self.index = index

    @property
    def is_zero(self) -> bool:
        """Whether this is the constant 0, by structure."""
        return self.builder.value[self.index] == 0.0

    def _other(self, other: Any) -> int | None:
        """Node of the other operand; None when it is nothing that we can take."""
        if type(other) is Traced:
            if other.builder is not self.builder:
                self._refuse(
                    "mixed values of two traces", "values of one trace; trace the functions together"
                )
            return other.index
        if isinstance(other, (int, float, np.floating, np.integer)):
            return self.builder.const(float(other))
        return None

    def _array(self, other: Any, operation: Any, reflected: bool) -> Any:
        """The operation with an array, element by element."""
        if not isinstance(other, np.ndarray):
            return NotImplemented
        box = np.empty((), dtype=object)
        box[()] = self
        other = other.astype(object)
        return operation(other, box) if reflected else operation(box, other)

    def __add__(self, other: Any) -> Any:
        """Sum."""
        b = self.builder
        j = other.index if type(other) is Traced and other.builder is b else self._other(other)
        return self._array(other, np.add, False) if j is None else Traced(b, b.add(self.index, j))

    def __radd__(self, other: Any) -> Any:
        """Sum."""
        j = self._other(other)
        b = self.builder
        return self._array(other, np.add, True) if j is None else Traced(b, b.add(j, self.index))

    def __sub__(self, other: Any) -> Any:
        """Difference."""
        b = self.builder
        j = other.index if type(other) is Traced and other.builder is b else self._other(other)
        return self._array(other, np.subtract, False) if j is None else Traced(b, b.sub(self.index, j))

    def __rsub__(self, other: Any) -> Any:
        """Difference."""
        j = self._other(other)
        b = self.builder
        return self._array(other, np.subtract, True) if j is None else Traced(b, b.sub(j, self.index))

    def __mul__(self, other: Any) -> Any:
        """Product."""
        b = self.builder
        j = other.index if type(other) is Traced and other.builder is b else self._other(other)
        return self._array(other, np.multiply, False) if j is None else Traced(b, b.mul(self.index, j))

    def __rmul__(self, other: Any) -> Any:
        """Product."""
        j = self._other(other)
        b = self.builder
        return self._array(other, np.multiply, True) if j is None else Traced(b, b.mul(j, self.index))

    def __truediv__(self, other: Any) -> Any:
        """Quotient."""
        j = self._other(other)
        b = self.builder
        return self._array(other, np.true_divide, False) if j is None else Traced(b, b.div(self.index, j))

    def __rtruediv__(self, other: Any) -> Any:
        """Quotient."""
        j = self._other(other)
        b = self.builder
        return self._array(other, np.true_divide, True) if j is None else Traced(b, b.div(j, self.index))

    def __neg__(self) -> Traced:
        """The opposite."""
        return Traced(self.builder, self.builder.neg(self.index))

    def __pos__(self) -> Traced:
        """Itself."""
        return self

    def __pow__(self, power: Any) -> Traced:
        """Small whole powers by repeated multiplication, and the square root."""
        if isinstance(power, (float, np.floating)) and power == 0.5:
            return self.sqrt()
        whole = int(power) if isinstance(power, (int, float, np.floating, np.integer)) else None
        if whole is None or whole != power:
            self._refuse(f"raised a traced value to the power {power!r}", "a whole number, or 0.5")
        if abs(whole) > _LARGEST_POWER:
            self._refuse(f"raised a traced value to the power {power!r}", f"at most {_LARGEST_POWER}")
        result: Traced | None = None
        square, left = self, abs(whole)
        while left:
            if left % 2:
                result = square if result is None else result * square
            left //= 2
            square = square * square if left else square
        if result is None:
            return Traced(self.builder, self.builder.const(1.0))
        return result if whole > 0 else result.__rtruediv__(1.0)

    def sin(self) -> Traced:
        """Sine."""
        return Traced(self.builder, self.builder.sin(self.index))

    def cos(self) -> Traced:
        """Cosine."""
        return Traced(self.builder, self.builder.cos(self.index))

    def sqrt(self) -> Traced:
        """Square root."""
        return Traced(self.builder, self.builder.sqrt(self.index))

    def tanh(self) -> Traced:
        """Hyperbolic tangent, from multiplications and divisions: within a few roundings of the true one.

        Lambert's continued fraction at x / 32, and from there tanh 4y and tanh 2y by tanh y, which lose nothing.
        """
        y = where(self - FLAT, FLAT, where(-FLAT - self, -FLAT, self)) * (1 / 32)
        z = y * y
        t = y * _polynomial(TANH_OVER, z) / _polynomial(TANH_UNDER, z)
        for _ in range(2):
            z = t * t
            t = 4.0 * t * (1.0 + z) / (1.0 + z * (6.0 + z))
        t = 2.0 * t / (1.0 + t * t)
        return where(self - FLAT, 1.0, where(-FLAT - self, -1.0, t))  # type: ignore[no-any-return]

    def conjugate(self) -> Traced:
        """Itself: traced values are real (NumPy asks in `vdot` and `.conj()`)."""
        return self

    def where_positive(self, a: Any, b: Any) -> Traced:
        """`a` where this is positive, `b` elsewhere."""
        i, j = self._other(a), self._other(b)
        if i is None or j is None:
            self._refuse(f"chose between {type(a).__name__} and {type(b).__name__}", "two scalars")
        return Traced(self.builder, self.builder.select(self.index, i, j))

    # What a traced value cannot answer ------------------------------------------------------------

    def _refuse(self, deed: str, expected: str) -> NoReturn:
        file, line = source_line(2)
        self.builder.refused = f"{os.path.basename(file)}:{line} {deed}; expected {expected}."
        raise TraceFault(self.builder.refused)

    def _no_number(self, deed: str) -> NoReturn:
        file, line = source_line(2)
        self.builder.refused = (
            f"{os.path.basename(file)}:{line} {deed}. The path may depend on the arm, not on q, qd or qdd;"
            " test the joint's kind, or use where(x, a, b)."
        )
        raise TraceFault(self.builder.refused)

    def __bool__(self) -> bool:
        """Refused."""
        self._no_number("asked whether a traced value is true")

    def __float__(self) -> float:
        """Refused."""
        self._no_number("asked a traced value for its number (float)")

    def __int__(self) -> int:
        """Refused."""
        self._no_number("asked a traced value for its number (int)")

    def __index__(self) -> int:
        """Refused."""
        self._no_number("used a traced value as an index")

    def __complex__(self) -> complex:
        """Refused."""
        self._no_number("asked a traced value for its number (complex)")

    def __abs__(self) -> Traced:
        """Refused."""
        self._no_number("took the absolute value of a traced value; write where(x, x, -x)")

    def __lt__(self, other: Any) -> bool:
        """Refused."""
        self._no_number("compared a traced value")

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        """Refused."""
        self._no_number("compared a traced value")

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """What it is, one level deep."""
        b, i = self.builder, self.index
        if b.op[i] == "const":
            return f"<traced {b.value[i]!r}>"
        at = b.at[i]
        if at is not None:
            return f"<traced {b.inputs[at[0]].element(at[1])}>"
        return f"<traced v{i}: {b.op[i]} of {', '.join(f'v{a}' for a in b.args[i])}>"


FLAT = 19.1
"""From where on tanh is one in floats."""
TANH_OVER = [c / 2027025 for c in (2027025, 270270, 6930, 36)]
TANH_UNDER = [c / 2027025 for c in (2027025, 945945, 51975, 630, 1)]
"""Lambert's continued fraction z/(1 + z²/(3 + z²/(5 + …))) to 15, as polynomials in z²; wrong by 5e-18 at 0.6."""


def _polynomial(coefficients: list[float], z: Traced) -> Any:
    total: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * z + c
    return total


def where(x: Any, a: Any, b: Any) -> Any:
    """`a` where x > 0, else `b` (also where x is NaN), for traced scalars and numbers."""
    if isinstance(x, Traced):
        return x.where_positive(a, b)
    return a if x > 0 and not math.isnan(x) else b
