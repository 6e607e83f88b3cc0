"""Sine and cosine in a module, and the same in Python to the last bit.

WebAssembly has no fused multiply-add. Where products and sums are rounded apart, π/2 is taken in four parts of 37, 37,
37 and 53 bits: for |x| <= LIMIT the first three products with the quadrant are exact, and the error stays below two
units in the last place. With the module's own multiply-add (module_products) sines are those of the CPU kernel to the
bit. Beyond LIMIT the result is NaN: never a wrong number. Polynomials are those of the other targets (llvm/sines.py).
"""

import math
import struct
from dataclasses import replace

from forearm.compiler.graph.interpreter import Semantics, plain
from forearm.compiler.llvm.sines import FLOAT64, LIMIT, exact, sincos64
from forearm.compiler.wasm.bytecode import Module, call, get, put, tee
from forearm.compiler.wasm.dialects import Dialect

HALF_PI = tuple(
    float.fromhex(part)
    for part in (
        "0x1.921fb54440000p+0",
        "0x1.68c234c4c0000p-39",
        "0x1.98a2e03700000p-77",
        "0x1.cd129024e088ap-115",
    )
)
"""π/2 as a sum of numbers of 37, 37, 37 and 53 bits."""


def add_sincos(module: Module, dialect: Dialect, fma: int | None = None) -> int:
    """The function x -> (sin x, cos x) of a module; gives its number.

    `fma` is the module's function for a*b + c rounded once: with it, the sines are those of the CPU kernel to the bit.
    """
    d, x, t, k, s = dialect, 0, 1, 2, 3
    parts = HALF_PI if fma is None else FLOAT64.half_pi

    def multiplied(a: bytes, b: bytes, c: bytes) -> bytes:
        """a*b + c, rounded twice or once."""
        if fma is None:
            return a + b + d.operations["mul"] + c + d.operations["add"]
        return a + b + c + call(fma)

    def polynomial(coefficients: tuple[float, ...]) -> bytes:
        code = d.constant(coefficients[-1])
        for c in coefficients[-2::-1]:
            code = multiplied(code, get(k), d.constant(c))
        return code

    magic = d.constant(FLOAT64.magic)
    angle = d.within(get(x), LIMIT, math.nan) + tee(x)
    body = multiplied(angle, d.constant(FLOAT64.two_over_pi), magic) + tee(t)
    body += magic + d.operations["sub"] + put(k)
    rest = get(x)
    for part in parts:
        rest = multiplied(get(k), d.constant(-part), rest)
    body += rest + put(x) + d.binary("mul", get(x), get(x)) + put(k)
    sine = multiplied(d.binary("mul", get(x), get(k)), polynomial(FLOAT64.sine), get(x))
    inner = multiplied(get(k), polynomial(FLOAT64.cosine), d.constant(-0.5))
    body += sine + put(s) + multiplied(get(k), inner, d.constant(1.0)) + put(k)
    body += d.signed_by(d.choose(get(t), get(k), get(s)), get(t), both=False)
    body += d.signed_by(d.choose(get(t), get(s), get(k)), get(t), both=True)
    return module.add([d.kind], [d.kind, d.kind], [d.kind] * 3, body)


def sincos(x: float) -> tuple[float, float]:
    """(sin x, cos x) exactly as a module computes them."""
    x = float(x)
    if not abs(x) <= LIMIT:
        return math.nan, math.nan
    t = x * FLOAT64.two_over_pi + FLOAT64.magic
    k, r = t - FLOAT64.magic, x
    for part in HALF_PI:
        r = r - k * part
    z = r * r
    sine, cosine = FLOAT64.sine[-1], FLOAT64.cosine[-1]
    for c in FLOAT64.sine[-2::-1]:
        sine = sine * z + c
    for c in FLOAT64.cosine[-2::-1]:
        cosine = cosine * z + c
    s, c = r * z * sine + r, z * (z * cosine + -0.5) + 1.0
    quadrant = struct.unpack("<q", struct.pack("<d", t))[0]
    if quadrant & 1:
        s, c = c, s
    return (-s if quadrant & 2 else s), (-c if (quadrant + 1) & 2 else c)


apart = Semantics(
    "products and sums rounded apart",
    fma=plain.fma,
    sin=lambda x: sincos(x)[0],
    cos=lambda x: sincos(x)[1],
    sqrt=plain.sqrt,
    div=plain.div,
)
"""What a module computes, to the bit, where nothing divides."""

fused = replace(
    exact,
    name="products and sums rounded once",
    sin=lambda x: sincos64(x)[0] if abs(x) <= LIMIT else math.nan,
    cos=lambda x: sincos64(x)[1] if abs(x) <= LIMIT else math.nan,
)
"""What a module that divides computes, to the bit: the CPU kernel's numbers, except for angles beyond the limit."""
