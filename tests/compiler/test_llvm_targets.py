"""The text is for any processor: it compiles for others than this one and asks nothing of a library."""

import re

import numpy as np
import pytest

from forearm.compiler.call.entries.batch_entry_text import batch_entry
from forearm.compiler.call.entries.entry_text import single_entry
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm import jit
from forearm.compiler.llvm.batches import batch_program
from forearm.compiler.llvm.jit import Host
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.one_state import single_program
from forearm.compiler.llvm.rollout_steps import Roles, rollout_program
from forearm.compiler.llvm.tiles import Plan
from forearm.faults import KernelFault


def mixture(q, v):
    """A little of everything, a wide output among it."""
    return {"rate": v / (np.cos(q) * np.cos(q) + 1.0), "M": np.outer(np.sin(q), [*v, *q])}


GRAPH = lower(trace(mixture, {"q": (4,), "v": (4,)}, name="mixture"))
TARGETS = [
    ("x86_64-unknown-linux-gnu", "znver4", 8, "zmm"),
    ("x86_64-unknown-linux-gnu", "haswell", 4, "ymm"),
    ("x86_64-pc-windows-msvc-elf", "haswell", 4, "ymm"),
    ("aarch64-apple-darwin", "apple-m1", 2, r"fmla\.2d"),
    ("aarch64-unknown-linux-gnu", "neoverse-n1", 2, r"fmla\s+v\d+\.2d"),
]


@pytest.mark.parametrize(("triple", "cpu", "width", "sign"), TARGETS)
def test_other_processors(triple, cpu, width, sign):
    machine = jit.other_machine(triple, cpu)
    plan, rows, columns = (
        Plan(GRAPH, Lanes("float64", width), layout=how) for how in ("", "rows", "columns")
    )
    texts = [
        batch_program(GRAPH, rows, "rows", triple, batch_entry(GRAPH, "float64", "rows", rows.size, 10**6)),
        batch_program(
            GRAPH, columns, "columns", triple, batch_entry(GRAPH, "float64", "columns", columns.size, 10**6)
        ),
        batch_program(GRAPH, plan, "columns", triple),
        single_program(GRAPH, "float64", width, triple, single_entry(GRAPH, "float64")),
        rollout_program(Roles(GRAPH, {"q": "v", "v": "rate"}), plan, triple),
    ]
    code = [jit.assembly(text, "mixture", machine=machine) for text in texts]
    assert re.search(sign, code[0])
    for text in code:
        called = set(re.findall(r"^\s+(?:callq?|bl)\s+_?(\w+)", text, re.MULTILINE))
        defined = set(re.findall(r"^_?(\w+):", text, re.MULTILINE))
        assert called <= defined


@pytest.mark.parametrize(
    ("features", "double", "single"),
    [
        ("+avx512f,+avx,+sse2", 8, 16),
        ("-avx512f,+avx,+fma", 4, 8),
        ("+sse2,-avx", 2, 4),
        ("+neon,+fp-armv8", 2, 4),
    ],
)
def test_width_follows_the_features(features, double, single):
    host = Host("x86_64", "some", features)
    assert (host.width("float64"), host.width("float32")) == (double, single)


def test_code_that_llvm_refuses_is_a_fault():
    with pytest.raises(
        KernelFault, match=r"(?s)broken: LLVM refused the code that forearm wrote: .*Please report it"
    ):
        jit.object_code("define void @f() { nonsense }", "broken")


def test_no_fast_math_and_no_hidden_contraction():
    text = ProcessorKernel(GRAPH, keep=False).source("llvm")
    assert not re.search(r"\bf(add|sub|mul|div|neg) (fast|contract|reassoc|nnan|nsz|arcp|afn)\b", text)
    plain = trace(
        lambda a: {"y": a[0] * a[1] + a[2]}, {"a": (3,)}, name="plain"
    )  # not lowered: no fma in the graph
    a = np.array([[1 + 2.0**-30, 1 - 2.0**-30, -1.0]])
    assert ProcessorKernel(plain, keep=False)(a)[0] == 0.0  # the product is rounded to 1 first
    assert ProcessorKernel(lower(plain), keep=False)(a)[0] == -(2.0**-60)
