"""Sines and cosines in memory, and those of very large angles.

`@sincos` does columns of numbers by the branch-free path, two vectors at a time; where a lane is beyond the limit of
that path, `@large` does it again: it multiplies the mantissa with that window of the digits of 2/π that matters, in
integers of 64 and 128 bits (Payne and Hanek, 1983), and evaluates the same polynomials. sines.py has the same in
Python. The same text serves processors and GPUs.
"""

from __future__ import annotations

from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer, emit_sincos, evaluate_sincos, fma, is_large
from forearm.compiler.llvm.sines import FLOAT64, WORDS


def large_function(dtype: str) -> str:
    """The function `@large(x)`: {sin, cos} of one number beyond the limit (infinity gives NaN)."""
    w, one = Writer(), Lanes(dtype, 1)
    x = "%x" if dtype == "float64" else w.let("fpext float %x to double")
    r, quadrant = _reduction(w, x)
    if dtype == "float32":
        r, quadrant = w.let(f"fptrunc double {r} to float"), w.let(f"trunc i64 {quadrant} to i32")
    nothing = w.let(f"fsub {one.type} %x, %x")  # 0, or NaN for an infinity
    sine, cosine = evaluate_sincos(w, one, w.let(f"fadd {one.type} {r}, {nothing}"), quadrant)
    pair = f"{{ {one.type}, {one.type} }}"
    both = w.let(f"insertvalue {pair} poison, {one.type} {sine}, 0")
    both = w.let(f"insertvalue {pair} {both}, {one.type} {cosine}, 1")
    words = ", ".join(f"i64 {_signed_word(word)}" for word in WORDS)
    table = f"@digits = internal constant [{len(WORDS)} x i64] [{words}], align 8\n"
    return table + w.function(
        f"internal {pair} @large({one.type} %x) nounwind noinline cold", f"{pair} {both}"
    )


def _signed_word(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


def _reduction(w: Writer, x: str) -> tuple[str, str]:
    """(r, quadrant) of a double, as `large_reduction` of sines.py has it."""
    let = w.let
    bits = let(f"bitcast double {x} to i64")
    minus = let(f"icmp slt i64 {bits}, 0")
    mantissa = let(f"or i64 {let(f'and i64 {bits}, {2**52 - 1}')}, {2**52}")
    exponent = let(f"and i64 {let(f'lshr i64 {bits}, 52')}, 2047")
    offset = let(f"add i64 {exponent}, {62 - 1075}")
    word, shift = let(f"lshr i64 {offset}, 6"), let(f"and i64 {offset}, 63")
    base = w.at("@digits", let(f"shl i64 {word}, 3"))
    raw = [let(f"load i64, ptr {w.at(base, 8 * i)}, align 8") for i in range(4)]
    window = [let(f"call i64 @llvm.fshl.i64(i64 {raw[i]}, i64 {raw[i + 1]}, i64 {shift})") for i in range(3)]
    low, carry = _times(w, mantissa, window[2], "0")
    middle, carry = _times(w, mantissa, window[1], carry)
    top, _ = _times(w, mantissa, window[0], carry)
    fraction = [
        let(f"call i64 @llvm.fshl.i64(i64 {a}, i64 {b}, i64 2)") for a, b in ((top, middle), (middle, low))
    ]
    tail = let(f"shl i64 {low}, 2")
    sign = let(f"ashr i64 {fraction[0]}, 63")
    quadrant = let(f"sub i64 {let(f'lshr i64 {top}, 62')}, {sign}")
    r = _as_double(w, fraction, tail, sign)
    turned = let(f"xor i1 {let(f'icmp ne i64 {sign}, 0')}, {minus}")
    r = let(f"select i1 {turned}, double {let(f'fneg double {r}')}, double {r}")
    return r, let(f"select i1 {minus}, i64 {let(f'sub i64 0, {quadrant}')}, i64 {quadrant}")


def _times(w: Writer, a: str, b: str, carry: str) -> tuple[str, str]:
    """Low and high word of a*b + carry."""
    wide = [w.let(f"zext i64 {v} to i128") if v != "0" else "0" for v in (a, b, carry)]
    total = w.let(f"add i128 {w.let(f'mul i128 {wide[0]}, {wide[1]}')}, {wide[2]}")
    return w.let(f"trunc i128 {total} to i64"), w.let(f"trunc i128 {w.let(f'lshr i128 {total}, 64')} to i64")


def _as_double(w: Writer, fraction: list[str], tail: str, sign: str) -> str:
    """|fraction| of a quadrant in radians: the 192-bit fraction made positive, its two upper words rounded once."""
    let, number = w.let, Lanes("float64", 1).number
    # minus a number is its complement plus one; the one carries up where the words below are zero
    clear = [let(f"icmp eq i64 {tail}, 0"), let(f"icmp eq i64 {fraction[1]}, 0")]
    bit = let(f"and i64 {sign}, 1")
    into_low = let(f"select i1 {clear[0]}, i64 {bit}, i64 0")
    into_high = let(f"select i1 {let(f'and i1 {clear[0]}, {clear[1]}')}, i64 {bit}, i64 0")
    low = let(f"add i64 {let(f'xor i64 {fraction[1]}, {sign}')}, {into_low}")
    high = let(f"add i64 {let(f'xor i64 {fraction[0]}, {sign}')}, {into_high}")
    rounded = let(f"uitofp i64 {high} to double")
    error = let(f"sub i64 {high}, {let(f'fptoui double {rounded} to i64')}")
    rest = let(f"fmul double {let(f'sitofp i64 {error} to double')}, {number(2.0**-64)}")
    below = let(f"fmul double {let(f'uitofp i64 {low} to double')}, {number(2.0**-128)}")
    rest = let(f"fadd double {rest}, {below}")
    main = let(f"fmul double {rounded}, {number(2.0**-64)}")
    first, second, _ = FLOAT64.half_pi
    one = Lanes("float64", 1)
    inner = let(fma(one, main, number(second), let(f"fmul double {rest}, {number(first)}")))
    return let(fma(one, main, number(first), inner))


def call_large(w: Writer, one: Lanes, x: str) -> tuple[str, str]:
    """(sin, cos) of one number beyond the limit."""
    pair = f"{{ {one.type}, {one.type} }}"
    both = w.let(f"call {pair} @large({one.type} {x})")
    return w.let(f"extractvalue {pair} {both}, 0"), w.let(f"extractvalue {pair} {both}, 1")


def sincos_lanes_function(lanes: Lanes) -> str:
    """The function `@sincos_lanes(x, s, c)`: the lanes of one value in memory that are beyond the limit."""
    w, one = Writer(), Lanes(lanes.dtype, 1)
    with w.loop(lanes.width) as lane:
        offset = w.let(f"mul i64 {lane}, {lanes.itemsize}")
        x = w.load(one, w.at("%x", offset))
        with w.when(is_large(w, one, x)):
            for value, place in zip(call_large(w, one, x), ("%s", "%c"), strict=True):
                w.store(one, value, w.at(place, offset))
    head = "internal void @sincos_lanes(ptr %x, ptr %s, ptr %c) nounwind noinline cold"
    return large_function(lanes.dtype) + w.function(head)


def sincos_function(lanes: Lanes) -> str:
    """The function `@sincos(x, s, c, columns, apart, pitch, count)`: sines and cosines of columns in memory.

    Columns lie `apart` bytes apart in x, which is only read, `pitch` bytes in s and c; the first `count` numbers of
    each are done, a multiple of the width.
    """
    w = Writer()
    with w.loop("%columns") as column:
        starts = [w.let(f"mul i64 {column}, {step}") for step in ("%apart", "%pitch", "%pitch")]
        columns = [w.at(p, start) for p, start in zip(("%x", "%s", "%c"), starts, strict=True)]
        with w.loop("%count", lanes.width) as index:
            offset = w.let(f"mul i64 {index}, {lanes.itemsize}")
            places = [w.at(p, offset) for p in columns]
            stored_sincos(w, lanes, w.load(lanes, places[0]), places, there=True)
    head = "internal void @sincos(ptr %x, ptr %s, ptr %c, i64 %columns, i64 %apart, i64 %pitch, i64 %count)"
    return w.function(f"{head} nounwind noinline")


def stored_sincos(w: Writer, lanes: Lanes, x: str, places: list[str], *, there: bool = False) -> None:
    """Sines and cosines of one value, into the second and third place; the first is for the value, if not yet there."""
    sine, cosine = emit_sincos(w, lanes, x)
    w.store(lanes, sine, places[1])
    w.store(lanes, cosine, places[2])
    with w.when(is_large(w, lanes, x), rare=True):
        if not there:
            w.store(lanes, x, places[0])
        w.put(f"call void @sincos_lanes({', '.join(f'ptr {p}' for p in places)})")
