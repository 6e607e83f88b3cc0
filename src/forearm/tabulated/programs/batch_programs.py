"""The program of a look-up, as LLVM takes it: a tile of states at a time.

Places and weights on the axes are worked out for a vector of states at once; then each state walks over the points
around it, with a vector of entries; then the entries act on the torques, again for a vector of states. Products and
sums are those of `lookup_tables`, in the same order and never fused, so both give the same bits.

How fine a table is, is not in the program: ends, steps, strides and addresses are told, so that tables of any size
share one.
"""

from __future__ import annotations

from forearm.compiler.llvm.movers import rows_function
from forearm.tabulated.methods import INPUTS
from forearm.tabulated.programs.axis_points import Stencils
from forearm.tabulated.programs.grid_walks import GridWalk
from forearm.tabulated.programs.scratch_areas import TILE, ProgramPart, ScratchArea
from forearm.tabulated.programs.torque_actions import Actions


def lookup_program(area: ScratchArea, triple: str) -> str:
    """The module with `@look_up(table, first, end, scratch)`; `words` says what is in the table."""
    sizes = dict.fromkeys((area.n, *(len(grid.entries) for _, grid in area.walked)))
    wide = area.lanes
    functions = {
        f"floor.{wide.suffix}": (wide.type, wide.type),
        f"rint.{wide.suffix}": (wide.type, wide.type),
        f"sqrt.{wide.suffix}": (wide.type, wide.type),
        "smin.i64": ("i64", "i64, i64"),
    }
    if wide.width > 1:
        functions[f"vector.reduce.or.v{wide.width}i1"] = ("i1", wide.truth)
    return "\n".join(
        [
            f'target triple = "{triple}"\n',
            *(f"declare {gives} @llvm.{name}({takes})" for name, (gives, takes) in functions.items()),
            *(rows_function(f"take{size}", wide, size, TILE, inward=True) for size in sizes),
            rows_function(f"give{area.n}", wide, area.n, TILE, inward=False),
            Stencils(area).function(),
            *(GridWalk(area, k).function() for k, _ in area.walked),
            Actions(area).function(),
            _batch(area),
        ]
    )


def _batch(area: ScratchArea) -> str:
    """Tile after tile."""
    part = ProgramPart(area)
    w, width = part.w, area.lanes.width
    arrays = {name: part.told((name,), "ptr") for name in (*INPUTS, "tau")}
    with w.loop("%end", TILE, "%first") as start:
        here = w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'sub i64 %end, {start}')}, i64 {TILE})")
        last = w.let(f"sub i64 {here}, 1")
        count = w.let(f"and i64 {w.let(f'add i64 {here}, {width - 1}')}, {-width}")
        skip = w.let(f"mul i64 {start}, {8 * area.n}")

        def move(verb: str, size: int, array: str, column: int) -> None:
            inside = w.at("%scratch", column * area.pitch)
            w.put(
                f"call void @{verb}{size}(ptr {array}, i64 {8 * size}, ptr {inside}, i64 {last}, i64 {count})"
            )

        for name in INPUTS:
            move("take", area.n, w.at(arrays[name], skip), area.state(name, 0))
        w.put(f"call void @stencils(ptr %table, ptr %scratch, i64 {count})")
        for k, grid in area.walked:
            w.put(f"call void @grid{k}(ptr %table, ptr %scratch, i64 {here})")
            move("take", len(grid.entries), w.at("%scratch", area.rows), area.entry(k, 0))
        w.put(f"call void @actions(ptr %table, ptr %scratch, i64 {count})")
        move("give", area.n, w.at(arrays["tau"], skip), area.torque)
    return w.function("void @look_up(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")
