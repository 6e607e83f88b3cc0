"""How states lie in memory, and the code that brings them into columns and back.

A kernel works on tiles of some states, with a scratch area of columns, one (of `tile` numbers) for each scalar. Rows,
arrays (N, k), are transposed in registers, block by block, on the way in; narrow results come back the same way, wide
ones straight from the registers (`WideRows`). Columns, arrays (k, N), are read and written where they lie (tiles.py);
only tiles that are not full, and shared inputs, are copied. Blocks at the end of a row overlap the ones before them,
and states past the last one repeat it, so that nothing outside the arrays is read or written and no mask is needed: a
repeated state computes the same bits.

Each array is described to the kernel by three numbers: address, bytes from state to state, bytes from element
to element. A state stride of zero shares one state among all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer

LINE = 64
"""Bytes of a line of the cache."""
TILE = f"nounwind noinline alignstack({LINE})"
"""Of functions over a tile. What does not fit into registers lies in the stack, whole vectors of it: half of them would
cross a line of the cache where it begins anywhere, which costs a fifth of the time (measured)."""


def shuffle(w: Writer, element: str, width: int, a: str, b: str, picks: list[int]) -> str:
    """Lanes of two equally wide values, picked by number (the second value's follow the first's)."""
    t = f"<{width} x {element}>"
    return w.let(
        f"shufflevector {t} {a}, {t} {b}, <{len(picks)} x i32> <{', '.join(f'i32 {i}' for i in picks)}>"
    )


def transpose(w: Writer, lanes: Lanes, values: list[str]) -> list[str]:
    """Transpose every group of len(values) neighbouring lanes, by rounds of exchanges between two values.

    With as many values as lanes this is the transpose of a square block. With fewer, values that hold a piece
    of row i in group 0, of row i + len(values) in group 1, ... become columns; and back.
    """
    values, n, half = list(values), lanes.width, len(values) // 2
    while half:
        low = [(i if not i & half else n + (i ^ half)) for i in range(n)]
        high = [(i | half if not i & half else n + i) for i in range(n)]
        for i in range(len(values)):
            if not i & half:
                a, b = values[i], values[i | half]
                values[i], values[i | half] = (shuffle(w, lanes.scalar, n, a, b, p) for p in (low, high))
        half //= 2
    return values


def block_starts(size: int, block: int) -> list[int]:
    """First elements of blocks that cover a row; the last may overlap the one before."""
    starts = list(range(0, size - block + 1, block))
    if starts[-1] + block < size:
        starts.append(size - block)
    return starts


def piece_width(lanes: Lanes, size: int, inward: bool) -> int:
    """Numbers of a row moved at once, at most the row and the value (measured).

    Reading takes 16 bytes, which are put together without crossing the halves of a register; writing takes 32,
    because stores are scarcer than shuffles.
    """
    width, most = 1, (16 if inward else 32) // lanes.itemsize
    while 2 * width <= min(size, lanes.width, most):
        width *= 2
    return width


def _join(w: Writer, piece: Lanes, parts: list[str]) -> str:
    """Several values as one."""
    if piece.width == 1 and len(parts) > 1:  # scalars
        whole = "poison"
        for i, part in enumerate(parts):
            whole = w.let(
                f"insertelement <{len(parts)} x {piece.scalar}> {whole}, {piece.type} {part}, i64 {i}"
            )
        return whole
    width = piece.width
    while len(parts) > 1:
        picks = list(range(2 * width))
        parts = [
            shuffle(w, piece.scalar, width, a, b, picks) for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        width *= 2
    return parts[0]


def part_of(w: Writer, lanes: Lanes, piece: Lanes, value: str, group: int) -> str:
    """One group of lanes of a value."""
    if piece.width == lanes.width:
        return value
    if piece.width == 1:
        return w.let(f"extractelement {lanes.type} {value}, i64 {group}")
    picks = list(range(group * piece.width, (group + 1) * piece.width))
    return shuffle(w, lanes.scalar, lanes.width, value, "poison", picks)


def rows_function(name: str, lanes: Lanes, size: int, tile: int, *, inward: bool) -> str:
    """The function `name(array, stride, columns, last, count)` from rows to tile columns or back.

    `array` is the first row of the tile, `last` the index of its last row, `count` the number of rows to do (a
    multiple of the width, so it may run past `last`). Whole vectors of rows go through registers; rows past the
    last whole vector one number at a time.
    """
    w, width, item = Writer(), lanes.width, lanes.itemsize
    whole = w.let(f"and i64 {w.let('add i64 %last, 1')}, {-width}")
    with w.when(w.let(f"icmp sgt i64 {whole}, 0")), w.loop(whole, width) as first:
        array = w.at("%array", w.let(f"mul i64 {first}, %stride"))
        rows = [array]
        for _ in range(width - 1):
            rows.append(w.at(rows[-1], "%stride"))
        _move_rows(w, lanes, size, tile, rows, w.at("%columns", w.let(f"mul i64 {first}, {item}")), inward)
    one = Lanes(lanes.dtype, 1)
    with w.when(w.let(f"icmp slt i64 {whole}, %count")), w.loop("%count", 1, whole) as index:
        row = w.let(f"call i64 @llvm.smin.i64(i64 {index}, i64 %last)")
        array = w.at("%array", w.let(f"mul i64 {row}, %stride"))
        columns = w.at("%columns", w.let(f"mul i64 {index}, {item}"))
        with w.loop(size) as element:
            outside = w.at(array, w.let(f"mul i64 {element}, {item}"))
            inside = w.at(columns, w.let(f"mul i64 {element}, {tile * item}"))
            source, sink = (outside, inside) if inward else (inside, outside)
            w.store(one, w.load(one, source), sink)
    return w.function(
        f"internal void @{name}(ptr noalias %array, i64 %stride, ptr noalias %columns, i64 %last, i64 %count)"
        " nounwind noinline"
    )


UNROLLED = 512
"""Numbers in a row up to which moving it is written out: more would make the program long, not fast."""
CHUNK = 64
"""Numbers of a longer row that are moved in one turn of a loop."""


def _move_rows(
    w: Writer, lanes: Lanes, size: int, tile: int, rows: list[str], base: str, inward: bool
) -> None:
    """A vector's worth of whole rows, from or to the columns at `base`."""
    if size <= UNROLLED:
        _move_block(w, lanes, size, tile, rows, base, inward)
        return
    apart, item = CHUNK * tile * lanes.itemsize, lanes.itemsize
    with w.loop(size // CHUNK) as turn:
        along = w.let(f"mul i64 {turn}, {CHUNK * item}")
        there = w.at(base, w.let(f"mul i64 {turn}, {apart}"))
        _move_block(w, lanes, CHUNK, tile, [w.at(row, along) for row in rows], there, inward)
    if size % CHUNK:  # the last chunk overlaps the one before
        start = size - CHUNK
        ends = [w.at(row, start * item) for row in rows]
        _move_block(w, lanes, CHUNK, tile, ends, w.at(base, start * tile * item), inward)


def _move_block(
    w: Writer, lanes: Lanes, size: int, tile: int, rows: list[str], base: str, inward: bool
) -> None:
    """A vector's worth of whole rows, from or to the columns at `base`, piece by piece."""
    piece = Lanes(lanes.dtype, piece_width(lanes, size, inward))
    c, groups, item = piece.width, lanes.width // piece.width, lanes.itemsize
    for start in block_starts(size, c):
        places = [[w.at(rows[i + g * c], start * item) for g in range(groups)] for i in range(c)]
        columns = [w.at(base, (start + i) * tile * item) for i in range(c)]
        if inward:
            pieces = [_join(w, piece, [w.load(piece, p) for p in row]) for row in places]
            for value, column in zip(transpose(w, lanes, pieces), columns, strict=True):
                w.store(lanes, value, column)
        else:
            pieces = transpose(w, lanes, [w.load(lanes, a) for a in columns])
            for value, line in zip(pieces, places, strict=True):
                for g, place in enumerate(line):
                    w.store(piece, part_of(w, lanes, piece, value, g), place)


def row_pieces(lanes: Lanes, size: int) -> tuple[bool, list[tuple[int, ...]]]:
    """Whether the rows of a wide output are staggered, and the elements that are written together."""
    piece = min(16 // lanes.itemsize, lanes.width)
    if piece == 2 and size % 2 == 1:
        return True, [*((e, e + 1) for e in range(size - 1)), (size - 1, 0)]
    return False, [tuple(range(e, e + piece)) for e in block_starts(size, piece)]


class Sink(Protocol):
    """Where the elements of an output go."""

    def put(self, element: int, value: str, /) -> None:
        """An element is known for a vector of states."""


class WideRows:
    """A vector's worth of rows of a wide output, written as its elements become known.

    Sixteen bytes of a row go at once. Where rows have an odd number of 8-byte elements, every second row starts in
    the middle of sixteen bytes: even rows take the pairs (0, 1), (2, 3), ..., odd ones (1, 2), (3, 4), ..., and the
    last element of an even row goes with the first one of the next. No store then crosses a line of the cache, and
    the shuffles are as many.
    """

    def __init__(self, w: Writer, lanes: Lanes, size: int, base: str) -> None:
        """Rows of `size` elements side by side from `base` on."""
        self.w, self.lanes, self.size, self.base = w, lanes, size, base
        self.known: dict[int, str] = {}
        self.staggered, self.waiting = row_pieces(lanes, size)
        self.elsewhere: dict[int, Callable[[], str]] = {}

    def clear(self) -> None:
        """Zeros everywhere, before anything is put."""
        with self.w.loop(self.size) as vector:
            place = self.w.at(self.base, self.w.let(f"mul i64 {vector}, {self.lanes.size}"))
            self.w.store(self.lanes, self.lanes.number(0.0), place)

    @cached_property
    def _pieces(self) -> dict[int, list[tuple[int, ...]]]:
        """Pieces that wait for each element."""
        found: dict[int, list[tuple[int, ...]]] = {}
        for piece in self.waiting:
            for e in piece:
                found.setdefault(e, []).append(piece)
        return found

    def put(self, element: int, value: str) -> None:
        """An element of every row is known: write the pieces that are now whole."""
        self.known[element] = value
        for piece in tuple(self._pieces.get(element, ())):
            if all(e in self.known or e in self.elsewhere for e in piece):
                for e in piece:
                    if e not in self.known:
                        self.known[e] = self.elsewhere[e]()
                    self._pieces[e].remove(piece)
                self._write(piece)

    def _write(self, piece: tuple[int, ...]) -> None:
        values, n = [self.known[e] for e in piece], self.lanes.width
        part = Lanes(self.lanes.dtype, len(piece))
        if self.staggered and piece[1] == 0:  # the end of an even row and the start of the next
            picks = [i if i % 2 == 0 else n + i for i in range(n)]
            a, b = values
            self._store(part, shuffle(self.w, self.lanes.scalar, n, a, b, picks), 0, piece[0])
            return
        for row, value in enumerate(transpose(self.w, self.lanes, values)):
            if not self.staggered or row == piece[0] % 2:
                self._store(part, value, row, piece[0])

    def _store(self, part: Lanes, value: str, row: int, element: int) -> None:
        """Groups of lanes, each a piece of a row: `row` and every len(piece)-th after it."""
        for group in range(self.lanes.width // part.width):
            place = ((row + group * part.width) * self.size + element) * self.lanes.itemsize
            self.w.store(part, part_of(self.w, self.lanes, part, value, group), self.w.at(self.base, place))


LINE = 64
"""Bytes of a line of the cache."""


def copy_function(lanes: Lanes) -> str:
    """The function `@copy(to, source, bytes, streams)`: numbers one at a time or, where it streams, whole lines.

    A line that is written whole past the caches is not read before. Lines at both ends, which other tiles share, are
    written as they always are.
    """
    w, one = Writer(), Lanes(lanes.dtype, 1)

    def numbers(first: str, end: str) -> None:
        with w.when(w.let(f"icmp slt i64 {first}, {end}")), w.loop(end, lanes.itemsize, first) as offset:
            w.store(one, w.load(one, w.at("%source", offset)), w.at("%to", offset))

    place = w.let("ptrtoint ptr %to to i64")
    before = w.let(f"and i64 {w.let(f'sub i64 0, {place}')}, {LINE - 1}")
    lines = w.let(f"and i64 {w.let(f'sub i64 %bytes, {before}')}, {-LINE}")
    whole = w.let(f"and i1 %streams, {w.let(f'icmp sgt i64 {lines}, 0')}")
    start = w.let(f"select i1 {whole}, i64 {before}, i64 %bytes")
    end = w.let(f"select i1 {whole}, i64 {w.let(f'add i64 {before}, {lines}')}, i64 %bytes")
    numbers("0", start)
    with w.when(whole), w.loop(end, LINE, start) as line:
        step = lanes.width * lanes.itemsize
        for offset in range(0, LINE, step):
            here = w.let(f"add i64 {line}, {offset}")
            w.stream(lanes, w.load(lanes, w.at("%source", here)), w.at("%to", here))
    numbers(end, "%bytes")
    return w.function(
        "internal void @copy(ptr noalias %to, ptr noalias %source, i64 %bytes, i1 %streams) nounwind noinline"
    )


def columns_function(name: str, lanes: Lanes, size: int, tile: int, *, inward: bool) -> str:
    """The function `name(array, stride, pitch, columns, last, count)` from outer columns to a tile's or back.

    The outer columns lie `pitch` bytes apart. A whole tile whose states lie side by side is copied in vectors;
    anything else one number at a time.
    """
    w, one, item = Writer(), Lanes(lanes.dtype, 1), lanes.itemsize

    def copy(step: Lanes, outside: str, inside: str) -> None:
        source, sink = (outside, inside) if inward else (inside, outside)
        w.store(step, w.load(step, source), sink)

    side_by_side = w.let(f"icmp eq i64 %stride, {item}")
    whole = w.let(f"and i1 {side_by_side}, {w.let(f'icmp eq i64 %last, {tile - 1}')}")
    for step, condition in ((lanes, whole), (one, w.let(f"xor i1 {whole}, true"))):
        with w.when(condition), w.loop(size) as element:
            outside = w.at("%array", w.let(f"mul i64 {element}, %pitch"))
            inside = w.at("%columns", w.let(f"mul i64 {element}, {tile * item}"))
            if step is lanes:
                for offset in range(0, tile * item, lanes.width * item):
                    copy(lanes, w.at(outside, offset), w.at(inside, offset))
            else:
                with w.loop("%count") as index:
                    state = w.let(f"call i64 @llvm.smin.i64(i64 {index}, i64 %last)")
                    here = w.at(outside, w.let(f"mul i64 {state}, %stride"))
                    copy(one, here, w.at(inside, w.let(f"mul i64 {index}, {item}")))
    return w.function(
        f"internal void @{name}(ptr noalias %array, i64 %stride, i64 %pitch, ptr noalias %columns, i64 %last,"
        " i64 %count) nounwind noinline"
    )
