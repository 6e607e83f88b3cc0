"""Sine and cosine as the kernels compute them, and the same in Python to the last bit.

    t = fma(x, 2/π, magic)          magic = 1.5·2^52 rounds the sum to an integer, in the low bits of t
    k = t - magic
    r = x - k·π/2                   π/2 in three parts, three fused multiply-adds; the first difference is exact
    sin r = r + r z S(z)            z = r²; S and C are the minimax polynomials below, for |r| <= π/4:
    cos r = 1 + z (z C(z) - 1/2)    relative error 2^-57.9 and 2^-63.9 (float32: 2^-27.9 and 2^-33.0)

The two low bits of t say which of ±sin r, ±cos r the sine and the cosine of x are. Nothing branches, so every
lane of a vector does the same. That holds for |x| <= LIMIT. Lanes beyond it find r and the quadrant from the
product of x with a window of the binary digits of 2/π (Payne and Hanek, 1983), in integers, and go on alike. The
error is at most 2 units in the last place everywhere. NaN and infinities give NaN.

The coefficients come from a Remez exchange in 60 digits, rounded one after the other from the lowest, each time
fitting the rest anew.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from forearm.compiler.graph.interpreter import Semantics, plain
from forearm.outside.signal_errors import pass_on_signals

LIMIT = 1e5
"""Largest argument (radians) of the branch-free path."""


@dataclass(frozen=True)
class Recipe:
    """The numbers of the branch-free path in one precision."""

    two_over_pi: float
    """2/π, rounded."""
    magic: float
    """Adding it rounds to an integer."""
    half_pi: tuple[float, float, float]
    """π/2 as a sum of three numbers, each the rest rounded."""
    sine: tuple[float, ...]
    """S(z), lowest power first."""
    cosine: tuple[float, ...]
    """C(z), lowest power first."""


def _hex(*numbers: str) -> tuple[float, ...]:
    return tuple(float.fromhex(n) for n in numbers)


FLOAT64 = Recipe(
    two_over_pi=float.fromhex("0x1.45f306dc9c883p-1"),
    magic=1.5 * 2.0**52,
    half_pi=_hex("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),  # type: ignore[arg-type]
    sine=_hex(
        "-0x1.5555555555548p-3", "0x1.111111110f730p-7", "-0x1.a01a019be921ep-13",
        "0x1.71de35552c423p-19", "-0x1.ae5e4b851470cp-26", "0x1.5d8b560bfcc1dp-33",
    ),
    cosine=_hex(
        "0x1.555555555554bp-5", "-0x1.6c16c16c15014p-10", "0x1.a01a019c8ef72p-16",
        "-0x1.27e4f7f163097p-22", "0x1.1ee9dba8044d2p-29", "-0x1.8fa66cf577a4bp-37",
    ),
)  # fmt: skip
"""Double precision."""

FLOAT32 = Recipe(
    two_over_pi=float.fromhex("0x1.45f306p-1"),
    magic=1.5 * 2.0**23,
    half_pi=_hex("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"),  # type: ignore[arg-type]
    sine=_hex("-0x1.555546p-3", "0x1.110778p-7", "-0x1.9953fep-13"),
    cosine=_hex("0x1.55554ap-5", "-0x1.6c0c28p-10", "0x1.99e80cp-16"),
)
"""Single precision."""

TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
"""The first 1280 binary digits of 2/π after the point."""

WORDS = tuple((TWO_OVER_PI >> (1280 - 64 * i)) & (2**64 - 1) for i in range(21))
"""The same in words of 64 bits, after one word of zeros (so that small exponents find their window too)."""

RECIPES = {"float64": FLOAT64, "float32": FLOAT32}
"""By dtype name."""


def fma_by_fractions(a: float, b: float, c: float) -> float:
    """a*b + c rounded once, through exact rationals; slow, and right everywhere."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c  # nothing was rounded, and a zero has its sign
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


PROBES = (
    (1.0 + 2.0**-52, 1.0 - 2.0**-52, -1.0),
    (1.0 + 2.0**-30, 1.0 + 2.0**-30, -1.0 - 2.0**-29),
    (2.0**-600, 2.0**-600, 1.0),
    (0.1, 10.0, -1.0),
    (1e308, 10.0, -math.inf),
    (3.0, 2.0**-1074, 2.0**-1022),
    (2.0**600, 2.0**500, -1e308),
)
"""Products that two roundings get wrong, and the edges of the range."""


@cache
def exact_fma() -> Callable[[float, float, float], float]:
    """The C library's fma if it passes the probes, otherwise `fma_by_fractions`."""
    from ctypes.util import find_library

    for name in (None, find_library("m"), "ucrtbase"):
        try:
            found = ctypes.CDLL(name).fma
        except (OSError, AttributeError, TypeError):
            pass_on_signals()
            continue
        found.restype = ctypes.c_double
        found.argtypes = [ctypes.c_double] * 3
        if all(found(*p) == fma_by_fractions(*p) for p in PROBES):
            return found  # type: ignore[no-any-return]
    return fma_by_fractions


def fma32(a: Any, b: Any, c: Any) -> np.float32:
    """a*b + c in float32, rounded once: the double sum is rounded to odd, so rounding it again cannot err."""
    product, addend = float(a) * float(b), float(c)  # exact: 24 + 24 bits
    total = product + addend
    if math.isfinite(total):
        back = total - product
        rest = (product - (total - back)) + (addend - back)
        if rest and not struct.unpack("<q", struct.pack("<d", total))[0] & 1:
            total = math.nextafter(total, math.copysign(math.inf, rest))
    with np.errstate(over="ignore"):
        return np.float32(total)


def large_reduction(x: float) -> tuple[float, int]:
    """(r, quadrant) of a finite x with |x| > LIMIT, operation by operation as in large_angles.py."""
    bits = struct.unpack("<Q", struct.pack("<d", abs(x)))[0]
    mantissa, exponent = (bits & (2**52 - 1)) | 2**52, (bits >> 52) - 1075  # |x| = mantissa · 2^exponent
    word, shift = divmod(exponent + 62, 64)
    window = 0
    for i in range(4):
        window = window << 64 | WORDS[word + i]
    window = (window >> (64 - shift)) & (2**192 - 1)
    product = mantissa * window % 2**192  # two bits of quadrant, 190 bits of fraction
    fraction = (product << 2) % 2**192  # as a signed number: less than half a quadrant either way
    negative = fraction >> 191
    quadrant = (product >> 190) + negative
    size = (2**192 - fraction if negative else fraction) >> 64
    high, low = float(size >> 64), size & (2**64 - 1)
    rest = float((size >> 64) - int(high)) * 2.0**-64 + float(low) * 2.0**-128
    high *= 2.0**-64
    fma, (first, second, _) = exact_fma(), FLOAT64.half_pi
    r = fma(high, first, fma(high, second, rest * first))
    turned = bool(negative) != (x < 0)
    return (-r if turned else r), (-quadrant if x < 0 else quadrant) & 3


def sincos64(x: float) -> tuple[float, float]:
    """(sin x, cos x) exactly as a float64 kernel computes them."""
    x, fma = float(x), exact_fma()
    if not math.isfinite(x):
        return x - x, x - x
    if abs(x) > LIMIT:
        return _evaluate(FLOAT64, *large_reduction(x), fma)
    t, r = _reduce(FLOAT64, x, fma)
    return _evaluate(FLOAT64, r, struct.unpack("<q", struct.pack("<d", t))[0], fma)


def sincos32(x: Any) -> tuple[np.float32, np.float32]:
    """(sin x, cos x) exactly as a float32 kernel computes them."""
    x = np.float32(x)
    if not math.isfinite(x):
        return np.float32(math.nan), np.float32(math.nan)
    if abs(x) > LIMIT:
        wide, quadrant = large_reduction(float(x))
        return _evaluate(FLOAT32, np.float32(wide), quadrant, fma32)
    t, r = _reduce(FLOAT32, x, fma32)
    return _evaluate(FLOAT32, r, struct.unpack("<i", struct.pack("<f", t))[0], fma32)


def _reduce(recipe: Recipe, x: Any, fma: Callable[[Any, Any, Any], Any]) -> tuple[Any, Any]:
    """(t, r) of a finite x with |x| <= LIMIT."""
    scalar = type(x)
    t = fma(x, scalar(recipe.two_over_pi), scalar(recipe.magic))
    k = t - scalar(recipe.magic)
    r = x
    for part in recipe.half_pi:
        r = fma(k, scalar(-part), r)
    return t, r


def _evaluate(recipe: Recipe, r: Any, quadrant: int, fma: Callable[[Any, Any, Any], Any]) -> tuple[Any, Any]:
    """Sine and cosine from the reduced argument and the two low bits of the quadrant."""
    scalar = type(r)
    z = r * r
    sine, cosine = scalar(recipe.sine[-1]), scalar(recipe.cosine[-1])
    for c in recipe.sine[-2::-1]:
        sine = fma(sine, z, scalar(c))
    for c in recipe.cosine[-2::-1]:
        cosine = fma(cosine, z, scalar(c))
    s = fma(r * z, sine, r)
    c = fma(z, fma(z, cosine, scalar(-0.5)), scalar(1.0))
    if quadrant & 1:
        s, c = c, s
    return (-s if quadrant & 2 else s), (-c if (quadrant + 1) & 2 else c)


exact = Semantics(
    "exact",
    fma=lambda a, b, c: exact_fma()(a, b, c),
    sin=lambda x: sincos64(x)[0],
    cos=lambda x: sincos64(x)[1],
    sqrt=plain.sqrt,
    div=plain.div,
)
"""What a float64 kernel computes, to the bit."""

exact32 = Semantics(
    "exact float32",
    fma=fma32,
    sin=lambda x: sincos32(x)[0],
    cos=lambda x: sincos32(x)[1],
    sqrt=lambda x: np.sqrt(x) if x >= 0 else np.float32(math.nan),
    const=np.float32,
)
"""What a float32 kernel computes, to the bit, when the inputs are np.float32 scalars."""
