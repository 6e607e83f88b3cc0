"""Outputs that are mostly zeros: written whole, nothing else, and compiled as fast as the rest."""

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm import sections
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.tiles import Plan

N = 25


def sparse(q):
    """Few numbers among 25 x 25: odd and even places, and both ends."""
    found = np.zeros((N, N), dtype=object)
    for k, (i, j) in enumerate([(0, 1), (3, 4), (3, 5), (11, 0), (24, 23), (24, 24)]):
        found[i, j] = q[k % 3] * q[0] * 2.0
    return {"M": found, "p": 2 * q}


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33])
@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("how", [{}, {"width": 1}, {"width": 2}, {"dtype": "float32"}])
def test_rows_of_zeros_are_written_whole_and_nothing_else(count, shift, how):
    kernel = ProcessorKernel(lower(trace(sparse, {"q": (3,)}, name="sparse")), keep=False, **how)
    q = np.random.default_rng(count).normal(size=(count, 3)).astype(kernel.dtype)
    block = np.full(count * N * N + 8, np.nan, kernel.dtype)
    out = block[shift : shift + count * N * N].reshape(count, N, N)
    kernel(q, out=(out, np.empty((count, 3), kernel.dtype)))
    want = np.array([np.array(sparse(x)["M"], dtype=kernel.dtype) for x in q])
    np.testing.assert_allclose(out, want, rtol=4 * np.finfo(kernel.dtype).eps)
    assert np.isnan(block[:shift]).all()
    assert np.isnan(block[shift + count * N * N :]).all()


def test_rows_of_zeros_are_whole_where_the_program_has_sections(monkeypatch):
    for name, value in {"LONG": 4, "LONGEST": 4, "WRITING": 0}.items():
        monkeypatch.setattr(sections, name, value)
    graph = lower(trace(sparse, {"q": (3,)}, name="sparse"))
    assert len(Plan(graph, Lanes("float64", 8), "rows").sections) > 1
    q = np.random.default_rng(0).normal(size=(40, 3))
    out = np.full((40, N, N), np.nan)
    ProcessorKernel(graph, keep=False)(q, out=(out, np.empty((40, 3))))
    want = np.array([np.array(sparse(x)["M"], dtype=float) for x in q])
    np.testing.assert_allclose(out, want, rtol=1e-15)


def star(n):
    """A robot of n branches of one joint each."""
    link = (
        '<link name="l{0}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="j{0}" type="continuous"><parent link="base"/>'
        '<child link="l{0}"/><axis xyz="0 0 1"/></joint>'
    )
    return f'<robot name="star"><link name="base"/>{"".join(link.format(k) for k in range(n))}</robot>'


def test_a_robot_of_many_branches_compiles_its_zeros_at_once(tmp_path):
    """C of forty branches, all zeros, took LLVM five minutes."""
    path = tmp_path / "star.urdf"
    path.write_text(star(40))
    kernel = fa.compile(fa.load(path), "coriolis_matrix")
    assert len(kernel.source("llvm").splitlines()) < 2000
    q, qd = np.random.default_rng(0).normal(size=(2, 9, 40))
    np.testing.assert_array_equal(kernel(q, qd), np.zeros((9, 40, 40)))
