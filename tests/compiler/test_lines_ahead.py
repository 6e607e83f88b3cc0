"""What a kernel asks for ahead: lines of later tiles, each once, and none outside the arrays."""

import ctypes
import re
from itertools import pairwise

import numpy as np
import pytest

from compiler.test_sections import CUT
from forearm.compiler.call import arguments, threads
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm import batches, jit, lines_ahead, sections, tiles
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.lines_ahead import LINE, tiles_ahead
from forearm.compiler.llvm.tiles import Plan

ROOM = 20_000
ASK = f"""
@asked = global [{ROOM} x i64] zeroinitializer
@many = global i64 0
define void @ask(ptr %place) {{
  %at = load i64, ptr @many
  %slot = getelementptr i64, ptr @asked, i64 %at
  %address = ptrtoint ptr %place to i64
  store i64 %address, ptr %slot
  %next = add i64 %at, 1
  store i64 %next, ptr @many
  ret void
}}
"""
"""Stands for the processor's own instruction, and writes down what it is asked for."""


def asked_by(kernel, given, outs):
    """Addresses that a batch asks for, in order, and the first and last of its scratch area."""
    text = kernel.text("batch")
    text = re.sub(r"call void @llvm.prefetch.p0\(ptr (\S+), [^)]*\)", r"call void @ask(ptr \1)", text) + ASK
    code = jit.Loaded(jit.object_code(text, "asking"), "asking")
    count = len(given[0])
    numbers, _alive = arguments.table_numbers(kernel.graph, given, outs, (count,), "rows")
    area = ctypes.create_string_buffer(kernel.plan.size + LINE)
    scratch = -(-ctypes.addressof(area) // LINE) * LINE
    threads._FUNCTION(code.address("batch"))(ctypes.addressof(numbers), 0, count, scratch)
    many = ctypes.c_int64.from_address(code.variable("many")).value
    assert 0 < many <= ROOM
    found = (ctypes.c_int64 * many).from_address(code.variable("asked"))[:]
    return found, (scratch, scratch + kernel.plan.size)


def kernel_of(graph, monkeypatch, longest, width):
    """A kernel in sections of so many operations."""
    monkeypatch.setattr(sections, "LONG", 0 if longest else 10**6)
    monkeypatch.setattr(sections, "WRITING", 0)
    monkeypatch.setattr(sections, "LONGEST", longest)
    kernel = ProcessorKernel(graph, keep=False, width=width)
    assert (len(kernel.plan.sections) > 1) == (longest > 0)
    return kernel


@pytest.mark.parametrize("longest", [0, 9])
@pytest.mark.parametrize(("states", "width"), [(16, 4), (95, 4), (96, 4), (131, 2), (203, 8)])
def test_every_line_of_a_later_tile_is_asked_for_and_nothing_outside(states, width, longest, monkeypatch):
    graph = CUT["M"]
    kernel = kernel_of(graph, monkeypatch, longest, width)
    q, out = np.zeros((states, 4)), np.empty((states, 4, 4))
    found, (low, high) = asked_by(kernel, [q], [out])
    plan, seen = kernel.plan, {}
    whole = states // plan.tile * plan.tile
    first = tiles_ahead(plan) * plan.tile
    for name, array in (("q", q), ("M", out)):
        start, row = array.ctypes.data, array[0].nbytes
        inside = [a for a in found if start <= a < start + array.nbytes]
        # what lies ahead of the first tile, and is whole
        wanted = range(start + first * row, start + whole * row, plan.lanes.width * row)
        lines = {v + k for v in wanted for k in range(0, plan.lanes.width * row, LINE)}
        assert lines <= set(inside), name
        seen[name] = inside
    outside = [a for a in found if not low <= a < high]
    assert sorted(outside) == sorted(seen["q"] + seen["M"])


def test_rows_that_lie_apart_or_are_shared_are_not_asked_for(monkeypatch):
    graph = lower(trace(lambda a, b: a * b + a[0].sin(), {"a": (4,), "b": (4,)}, name="two"))
    kernel = kernel_of(graph, monkeypatch, 0, 4)
    wide, shared, out = np.ones((200, 9)), np.ones((1, 4)), np.empty((200, 4))
    found, (low, high) = asked_by(kernel, [wide[:, 2:6], shared], [out])
    start, end = out.ctypes.data, out.ctypes.data + out.nbytes
    assert all(low <= a < high or start <= a < end for a in found)
    assert any(start <= a < end for a in found)


def test_results_that_stream_past_the_caches_are_not_asked_for(monkeypatch):
    monkeypatch.setattr(batches, "STREAMED", 1 << 10)
    monkeypatch.setattr(batches, "HIDDEN", 10**6)
    kernel = kernel_of(CUT["M"], monkeypatch, 0, 4)
    q, out = np.zeros((96, 4)), np.empty((96, 4, 4))
    found, _ = asked_by(kernel, [q], [out])
    assert not any(out.ctypes.data <= a < out.ctypes.data + out.nbytes for a in found)


def test_asking_is_spread_over_the_operations():
    plan = Plan(CUT["M"], Lanes("float64", 4), layout="rows")
    body = plan.text().split("@tile")[1].split("\n")
    asks = [i for i, line in enumerate(body) if "prefetch" in line]
    arithmetic = [i for i, line in enumerate(body) if " fmul " in line or "llvm.fma" in line]
    between = [sum(a < i < b for i in arithmetic) for a, b in pairwise(asks)]
    assert len(asks) == 4 * 20 * 8 // LINE
    assert sum(n > 0 for n in between) > 0.9 * len(between)


def test_short_programs_look_further_ahead():
    short, long = (Plan(CUT[name], Lanes("float64", 8), layout="rows") for name in ("angles", "STAN"))
    assert tiles_ahead(short) > tiles_ahead(long) >= 1
    for plan in (short, long):
        vectors = tiles_ahead(plan) * plan.tile // plan.lanes.width
        written = sum(plan.graph.outputs[i].size for i in plan.wide)
        cost = len(plan.program.made) + 2 * written
        assert vectors * cost >= lines_ahead.FORESIGHT or tiles_ahead(plan) == lines_ahead.FARTHEST


@pytest.mark.parametrize(
    ("dtype", "width"), [("float64", 2), ("float64", 4), ("float64", 8), ("float32", 16)]
)
def test_a_tile_of_a_long_program_fits_the_first_level_with_the_rows_it_writes(dtype, width, monkeypatch):
    monkeypatch.setattr(sections, "LONG", 0)
    monkeypatch.setattr(sections, "WRITING", 0)
    monkeypatch.setattr(sections, "LONGEST", 9)
    fewest, most = tiles.TILE_BYTES
    for graph in CUT.values():
        plan = Plan(graph, Lanes(dtype, width), layout="rows")
        assert plan.size <= tiles.FIRST_LEVEL or plan.pitch == max(most, plan.lanes.size)
        assert plan.pitch % plan.lanes.size == 0
        assert min(fewest, plan.lanes.size) <= plan.pitch <= max(most, plan.lanes.size)
