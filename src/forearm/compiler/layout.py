"""How states lie in memory, and the functions that bring a tile of them into columns and back.

A kernel works on tiles of a few dozen states in a scratch area, one column (of `tile` numbers) for each scalar:
`rows` arrays (N, k) are transposed in registers, block by block, on the way in and out; `columns` arrays (k, N) are
copied. Blocks at the end of a row overlap the ones before them, and states past the last one repeat it, so that
nothing outside the arrays is read or written and no mask is needed: a repeated state computes the same bits.

Each array is described to the kernel by three numbers: address, bytes from state to state, bytes from element to
element. A state stride of zero shares one state among all.
"""

from __future__ import annotations

from forearm.compiler.emit_llvm import Lanes, Writer

LAYOUTS = ("rows", "columns")
"""(N, k) in C order, or (k, N) in C order."""


def interleave(w: Writer, lanes: Lanes, a: str, b: str, half: int) -> tuple[str, str]:
    """Exchange blocks of `half` lanes between two values: one step of a transpose."""
    n = lanes.width
    low = [(i if not i & half else n + (i ^ half)) for i in range(n)]
    high = [(i | half if not i & half else n + i) for i in range(n)]
    return tuple(  # type: ignore[return-value]
        w.let(
            f"shufflevector {lanes.type} {a}, {lanes.type} {b}, <{n} x i32> <{', '.join(f'i32 {i}' for i in picks)}>"
        )
        for picks in (low, high)
    )


def transpose(w: Writer, lanes: Lanes, rows: list[str]) -> list[str]:
    """The columns of a square block of values, by log2(width) rounds of shuffles."""
    half = lanes.width // 2
    rows = list(rows)
    while half:
        for i in range(lanes.width):
            if not i & half:
                rows[i], rows[i | half] = interleave(w, lanes, rows[i], rows[i | half], half)
        half //= 2
    return rows


def block_starts(size: int, block: int) -> list[int]:
    """First elements of blocks that cover a row; the last may overlap the one before."""
    starts = list(range(0, size - block + 1, block))
    if starts[-1] + block < size:
        starts.append(size - block)
    return starts


def block_lanes(lanes: Lanes, size: int) -> Lanes:
    """The block of a transpose: as wide as the row, the value and 4 allow."""
    width = 1
    while 2 * width <= min(size, lanes.width, 4):
        width *= 2
    return Lanes(lanes.dtype, width)


def rows_function(name: str, lanes: Lanes, size: int, tile: int, *, inward: bool) -> str:
    """The function `name(array, stride, columns, last, count)` between rows of `size` numbers and tile columns.

    `array` is the first row of the tile, `last` the index of its last row, `count` the number of rows to do (a
    multiple of the width, so it may run past `last`).
    """
    w, block = Writer(), block_lanes(lanes, size)
    with w.loop("%count", block.width) as first:
        rows = []
        for j in range(block.width):
            row = w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'add i64 {first}, {j}')}, i64 %last)")
            rows.append(w.at("%array", w.let(f"mul i64 {row}, %stride")))
        base = w.at("%columns", w.let(f"mul i64 {first}, {lanes.itemsize}"))
        for start in block_starts(size, block.width):
            across = [w.at(base, (start + j) * tile * lanes.itemsize) for j in range(block.width)]
            along = [w.at(row, start * lanes.itemsize) for row in rows]
            source, sink = (along, across) if inward else (across, along)
            for value, place in zip(transpose(w, block, [w.load(block, a) for a in source]), sink, strict=True):
                w.store(block, value, place)
    return w.function(
        f"internal void @{name}(ptr noalias %array, i64 %stride, ptr noalias %columns, i64 %last, i64 %count) nounwind noinline"
    )


def columns_function(name: str, lanes: Lanes, size: int, tile: int, *, inward: bool) -> str:
    """The function `name(array, stride, pitch, columns, last, count)` between columns `pitch` bytes apart and the tile.

    Whole vectors are copied where the states lie side by side and all of them exist; otherwise one by one.
    """
    w, one = Writer(), Lanes(lanes.dtype, 1)
    side_by_side = w.let(f"icmp eq i64 %stride, {lanes.itemsize}")
    whole = w.let("icmp slt i64 %last, %count")
    exact = w.let(f"icmp eq i64 {w.let('add i64 %last, 1')}, %count")
    fast = w.let(f"and i1 {side_by_side}, {w.let(f'and i1 {whole}, {exact}')}")
    for step, condition in ((lanes, fast), (one, w.let(f"xor i1 {fast}, true"))):
        with w.when(condition), w.loop(size) as element:
            outside = w.at("%array", w.let(f"mul i64 {element}, %pitch"))
            inside = w.at("%columns", w.let(f"mul i64 {element}, {tile * lanes.itemsize}"))
            with w.loop("%count", step.width) as index:
                state = w.let(f"call i64 @llvm.smin.i64(i64 {index}, i64 %last)")
                here = w.at(outside, w.let(f"mul i64 {state}, %stride"))
                there = w.at(inside, w.let(f"mul i64 {index}, {lanes.itemsize}"))
                source, sink = (here, there) if inward else (there, here)
                w.store(step, w.load(step, source), sink)
    return w.function(
        f"internal void @{name}(ptr noalias %array, i64 %stride, i64 %pitch, ptr noalias %columns, i64 %last, i64 %count)"
        " nounwind noinline"
    )
