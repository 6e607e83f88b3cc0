"""Tables of plain decimal numbers at the speed of memory: a parser in machine code, right to the last bit.

A number is w 10^q with w below 10^19. The product of w and the first 64 bits of 5^q, both shifted up to their highest
bit, has the bits of the number; what was cut off 5^q makes it too small by less than two units of its upper half. Where
that cannot change how the number rounds to 53 bits, it is done; the rest (one in 500 of long numbers, more than 19
digits, very large and very small ones) is left to float(). Anything that is not plain (blank lines, other characters,
rows of another length) is left to the readers that can say what it is.
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.faults import KernelFault

LOWEST, HIGHEST = -340, 308
"""Powers of ten in the table."""
SPACE, NEWLINE = 32, 10

DIGITS = """LOOP:
  %pK = phi ptr [ P, BEFORE ], [ %pK.next, %LOOP.digit ]
  %wK = phi i64 [ W, BEFORE ], [ %wK.next, %LOOP.digit ]
  %nK = phi i64 [ N, BEFORE ], [ %nK.next, %LOOP.digit ]
  %cK = load i8, ptr %pK
  %dK = sub i8 %cK, 48
  %is.dK = icmp ult i8 %dK, 10
  br i1 %is.dK, label %LOOP.digit, label %LOOP.end
LOOP.digit:
  %pK.next = getelementptr i8, ptr %pK, i64 1
  %dK.wide = zext i8 %dK to i64
  %wK.ten = mul i64 %wK, 10
  %wK.next = add i64 %wK.ten, %dK.wide
  %begunK = or i64 %wK.next, %nK
  %sK = icmp ne i64 %begunK, 0
  %sK.wide = zext i1 %sK to i64
  %nK.next = add i64 %nK, %sK.wide
  br label %LOOP
"""
"""Digits one after the other, at P: their number K goes on from W, and how many there are of it from N."""


def _digits(loop: str, number: int, before: str, start: tuple[str, str, str]) -> str:
    """The loop over digits under a name, its values numbered, entered from a block with these values."""
    words = {
        "LOOP": loop,
        "BEFORE": before,
        "[ P": "[ " + start[0],
        "[ W": "[ " + start[1],
        "[ N": "[ " + start[2],
    }
    text = DIGITS
    for word, into in words.items():
        text = text.replace(word, into)
    return text.replace("K", str(number))


TEXT = """
define i64 @plain_numbers(ptr %text, ptr %out, i64 %rows, i64 %columns, i64 %separator, i64 %decimal,
                          ptr %fives, ptr %scales, ptr %left, i64 %room) {
entry:
  %cells = mul i64 %rows, %columns
  %last = sub i64 %columns, 1
  %spaced = icmp eq i64 %separator, 32
  %mark = trunc i64 %separator to i8
  %point = trunc i64 %decimal to i8
  %none = icmp eq i64 %cells, 0
  br i1 %none, label %done, label %cell

cell:
  %start = phi ptr [ %text, %entry ], [ %onward, %next ]
  %index = phi i64 [ 0, %entry ], [ %index.next, %next ]
  %column = phi i64 [ 0, %entry ], [ %column.next, %next ]
  %count = phi i64 [ 0, %entry ], [ %count.next, %next ]
  br label %indent
indent:
  %p0 = phi ptr [ %start, %cell ], [ %p0.next, %indent ]
  %c0 = load i8, ptr %p0
  %p0.next = getelementptr i8, ptr %p0, i64 1
  %is.space = icmp eq i8 %c0, 32
  br i1 %is.space, label %indent, label %sign
sign:
  %minus = icmp eq i8 %c0, 45
  %plus = icmp eq i8 %c0, 43
  %signed = or i1 %minus, %plus
  %p1 = select i1 %signed, ptr %p0.next, ptr %p0
  br label %whole

WHOLE_DIGITSwhole.end:
  %is.point = icmp eq i8 %c2, %point
  %p2.after = getelementptr i8, ptr %p2, i64 1
  br i1 %is.point, label %fraction, label %digits.end

FRACTION_DIGITSfraction.end:
  %from3 = ptrtoint ptr %p2.after to i64
  %to3 = ptrtoint ptr %p3 to i64
  %places = sub i64 %from3, %to3
  br label %digits.end

digits.end:
  %p4 = phi ptr [ %p2, %whole.end ], [ %p3, %fraction.end ]
  %w = phi i64 [ %w2, %whole.end ], [ %w3, %fraction.end ]
  %n = phi i64 [ %n2, %whole.end ], [ %n3, %fraction.end ]
  %q4 = phi i64 [ 0, %whole.end ], [ %places, %fraction.end ]
  %c4 = phi i8 [ %c2, %whole.end ], [ %c3, %fraction.end ]
  %from = ptrtoint ptr %p1 to i64
  %whole.to = ptrtoint ptr %p2 to i64
  %digits.whole = sub i64 %whole.to, %from
  %digits = sub i64 %digits.whole, %q4
  %no.digits = icmp eq i64 %digits, 0
  br i1 %no.digits, label %bad, label %maybe.exponent

maybe.exponent:
  %lower = or i8 %c4, 32
  %is.e = icmp eq i8 %lower, 101
  br i1 %is.e, label %exponent, label %number
exponent:
  %p5 = getelementptr i8, ptr %p4, i64 1
  %c5 = load i8, ptr %p5
  %e.minus = icmp eq i8 %c5, 45
  %e.plus = icmp eq i8 %c5, 43
  %e.signed = or i1 %e.minus, %e.plus
  %p5.after = getelementptr i8, ptr %p5, i64 1
  %p6.first = select i1 %e.signed, ptr %p5.after, ptr %p5
  br label %power
power:
  %p6 = phi ptr [ %p6.first, %exponent ], [ %p6.next, %power.digit ]
  %e6 = phi i64 [ 0, %exponent ], [ %e6.next, %power.digit ]
  %c6 = load i8, ptr %p6
  %d6 = sub i8 %c6, 48
  %is.d6 = icmp ult i8 %d6, 10
  br i1 %is.d6, label %power.digit, label %power.end
power.digit:
  %p6.next = getelementptr i8, ptr %p6, i64 1
  %d6.wide = zext i8 %d6 to i64
  %e6.ten = mul i64 %e6, 10
  %e6.next = add i64 %e6.ten, %d6.wide
  %e6.long = icmp ugt i64 %e6.next, 9999
  br i1 %e6.long, label %bad, label %power
power.end:
  %e6.empty = icmp eq ptr %p6, %p6.first
  %e6.negative = sub i64 0, %e6
  %e6.signed = select i1 %e.minus, i64 %e6.negative, i64 %e6
  %q6 = add i64 %q4, %e6.signed
  br i1 %e6.empty, label %bad, label %number

number:
  %p7 = phi ptr [ %p4, %maybe.exponent ], [ %p6, %power.end ]
  %q = phi i64 [ %q4, %maybe.exponent ], [ %q6, %power.end ]
  %long = icmp ugt i64 %n, 19
  br i1 %long, label %undecided, label %short
short:
  %zero = icmp eq i64 %w, 0
  br i1 %zero, label %store, label %nonzero
nonzero:
  %q.row = add i64 %q, LOWEST
  %outside = icmp ugt i64 %q.row, HIGHEST
  br i1 %outside, label %undecided, label %product
product:
  %five.at = getelementptr i64, ptr %fives, i64 %q.row
  %scale.at = getelementptr i64, ptr %scales, i64 %q.row
  %five = load i64, ptr %five.at
  %scale = load i64, ptr %scale.at
  %zeros = call i64 @llvm.ctlz.i64(i64 %w, i1 true)
  %w.high = shl i64 %w, %zeros
  %w.wide = zext i64 %w.high to i128
  %five.wide = zext i64 %five to i128
  %both = mul i128 %w.wide, %five.wide
  %upper.wide = lshr i128 %both, 64
  %upper = trunc i128 %upper.wide to i64
  %top = lshr i64 %upper, 63
  %shift = add i64 %top, 10
  %unit = shl i64 1, %shift
  %mask = sub i64 %unit, 1
  %rest = and i64 %upper, %mask
  %half = lshr i64 %unit, 1
  %near = sub i64 %half, %rest
  %tie = icmp ult i64 %near, 2
  br i1 %tie, label %undecided, label %rounded
rounded:
  %up = icmp ugt i64 %rest, %half
  %up.wide = zext i1 %up to i64
  %m.down = lshr i64 %upper, %shift
  %m = add i64 %m.down, %up.wide
  %e.shift = sub i64 %shift, %zeros
  %biased = add i64 %scale, %e.shift
  %e.row = sub i64 %biased, 1
  %not.normal = icmp ugt i64 %e.row, 2044
  br i1 %not.normal, label %undecided, label %bits
bits:
  %e.bits = shl i64 %biased, 52
  %m.rest = sub i64 %m, 4503599627370496
  %magnitude = add i64 %e.bits, %m.rest
  br label %store
store:
  %found = phi i64 [ 0, %short ], [ %magnitude, %bits ]
  %sign.bit = select i1 %minus, i64 -9223372036854775808, i64 0
  %value = or i64 %found, %sign.bit
  %out.at = getelementptr i64, ptr %out, i64 %index
  store i64 %value, ptr %out.at
  br label %gap
undecided:
  %full = icmp uge i64 %count, %room
  br i1 %full, label %bad, label %leave
leave:
  %row3 = mul i64 %count, 3
  %left0 = getelementptr i64, ptr %left, i64 %row3
  %left1 = getelementptr i64, ptr %left0, i64 1
  %left2 = getelementptr i64, ptr %left0, i64 2
  %text.at = ptrtoint ptr %text to i64
  %begin.at = ptrtoint ptr %p0 to i64
  %end.at = ptrtoint ptr %p7 to i64
  %begin = sub i64 %begin.at, %text.at
  %end = sub i64 %end.at, %text.at
  store i64 %index, ptr %left0
  store i64 %begin, ptr %left1
  store i64 %end, ptr %left2
  %count.more = add i64 %count, 1
  br label %gap

gap:
  %count.next = phi i64 [ %count, %store ], [ %count.more, %leave ]
  br label %blank
blank:
  %p8 = phi ptr [ %p7, %gap ], [ %p8.next, %blank ]
  %c8 = load i8, ptr %p8
  %p8.next = getelementptr i8, ptr %p8, i64 1
  %is.blank = icmp eq i8 %c8, 32
  br i1 %is.blank, label %blank, label %after
after:
  %at.last = icmp eq i64 %column, %last
  br i1 %at.last, label %row.end, label %between
row.end:
  %newline = icmp eq i8 %c8, 10
  br i1 %newline, label %next, label %bad
between:
  br i1 %spaced, label %apart, label %separated
apart:
  %moved = icmp ne ptr %p8, %p7
  br i1 %moved, label %next, label %bad
separated:
  %is.mark = icmp eq i8 %c8, %mark
  br i1 %is.mark, label %next, label %bad
next:
  %onward = phi ptr [ %p8.next, %row.end ], [ %p8, %apart ], [ %p8.next, %separated ]
  %column.more = add i64 %column, 1
  %column.next = select i1 %at.last, i64 0, i64 %column.more
  %index.next = add i64 %index, 1
  %more = icmp ult i64 %index.next, %cells
  br i1 %more, label %cell, label %done
done:
  %result = phi i64 [ 0, %entry ], [ %count.next, %next ]
  ret i64 %result
bad:
  ret i64 -1
}
declare i64 @llvm.ctlz.i64(i64, i1)
"""
"""Reads rows x columns cells; gives how many are left to float(), or -1 where the text is not plain."""


def plain_numbers(text: bytes, separator: str | None, decimal: str, rows: int, columns: int) -> Vector | None:
    """The numbers (rows, columns) of a text, each what float() gives; None where it is not plain or LLVM is missing.

    Args:
        text: Rows, each ended by a newline.
        separator: One of ',', ';' and tab; None for spaces.
        decimal: The decimal point or comma.
        rows: How many newlines there are.
        columns: Cells in each row.
    """
    program = _program()
    if program is None or text[-1:] != b"\n":
        return None
    return _run(program[1], text, separator, decimal, rows, columns)


def _run(
    call: Any, text: bytes, separator: str | None, decimal: str, rows: int, columns: int
) -> Vector | None:
    fives, scales = _tables()
    found = np.full((rows, columns), np.nan)
    left = np.empty((rows * columns // 8 + 16, 3), dtype=np.int64)
    count = call(
        text,
        found.ctypes.data,
        rows,
        columns,
        ord(separator or " "),
        ord(decimal),
        fives.ctypes.data,
        scales.ctypes.data,
        left.ctypes.data,
        len(left),
    )
    if count < 0:
        return None
    flat = found.reshape(-1)
    for index, begin, end in left[:count].tolist():
        flat[index] = float(text[begin:end].replace(decimal.encode(), b"."))
    return found


@cache
def _tables() -> tuple[Any, Any]:
    """The first 64 bits of 5^q, and the exponent of a double that belongs to them, for each q."""
    fives, scales = [], []
    for q in range(LOWEST, HIGHEST + 1):
        five = 5 ** abs(q)
        size = five.bit_length()
        if q >= 0:
            bits = five << 64 >> size
            place = size - 1
        else:
            bits = (1 << (size + 63)) // five  # 1 / five lies between 2^-size and 2^(1 - size)
            place = -size
        fives.append(bits)
        scales.append(1023 + 52 + 1 + place + q)
    return np.array(fives, dtype=np.uint64), np.array(scales, dtype=np.int64)


def _text() -> str:
    words = {
        "LOWEST": str(-LOWEST),
        "HIGHEST": str(HIGHEST - LOWEST),
        "WHOLE_DIGITS": _digits("whole", 2, "%sign", ("%p1", "0", "0")),
        "FRACTION_DIGITS": _digits("fraction", 3, "%whole.end", ("%p2.after", "%w2", "%n2")),
    }
    text = TEXT
    for word, into in words.items():
        text = text.replace(word, into)
    return text


@cache
def _program() -> tuple[Any, Any] | None:
    """The loaded program, and the function in it; None without llvmlite."""
    try:
        from forearm.compiler.llvm.jit import load_program
    except KernelFault:
        return None
    loaded = load_program("plain numbers", _text(), _probe)
    return loaded, _function(loaded)


def _function(loaded: Any) -> Any:
    kinds = [ctypes.c_char_p, ctypes.c_void_p, *[ctypes.c_int64] * 4, *[ctypes.c_void_p] * 3, ctypes.c_int64]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(loaded.address("plain_numbers"))


def _probe(loaded: Any) -> bytes:
    text = b"1.5,-0.1,3e7\n 2.718281828459045,1e-300 ,+.5\n"
    found = _run(_function(loaded), text, ",", ".", 2, 3)
    return b"" if found is None else found.tobytes()
