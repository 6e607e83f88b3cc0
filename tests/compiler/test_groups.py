"""Groups of states that share parameters: the same bits as row by row; graphs cut in two; lengths left free."""

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.call import grouped_states
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.shared_work import cut
from forearm.compiler.llvm import sections
from forearm.compiler.model.free_parameters import current

LUH = fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques


@pytest.fixture(scope="module")
def kernel():
    return fa.compile(fa.load("iiwa14"), "inverse_dynamics", free=("payload@tool", "gravity", "friction"))


def test_a_cut_graph_gives_the_same_values(kernel):
    once, each = cut(kernel.graph, ("payload", "gravity", "friction"))
    assert each.counts.operations < kernel.counts.operations
    assert [p.name for p in each.inputs] == ["q", "qd", "qdd", "shared"]
    rng = np.random.default_rng(0)
    given = {p.name: rng.uniform(0.1, 1.0, p.shape) for p in kernel.graph.inputs}
    shared = apply(once, **{p.name: given[p.name] for p in once.inputs})["shared"]
    found = apply(each, **{p.name: given[p.name] for p in each.inputs[:-1]}, shared=shared)["tau"]
    want = apply(kernel.graph, **given)["tau"]
    assert [float(x) for x in found] == [float(x) for x in want]


@pytest.mark.parametrize("states", [4, 33])
def test_groups_give_the_bits_of_rows(kernel, states, monkeypatch):
    rng = np.random.default_rng(1)
    q, qd, qdd = fa.load("iiwa14").random_state(0, (states,))
    parameters = [rng.uniform(0.1, 1.0, (5, 1, *shape)) for shape in ((10,), (3,), (7, 3))]
    rows = kernel(q, qd, qdd, *parameters)
    monkeypatch.setattr(grouped_states, "WORTHWHILE", 1)
    for threads in (1, 2):
        assert np.array_equal(kernel.general(q, qd, qdd, *parameters, threads=threads), rows)
    assert kernel.grouped


def test_a_length_left_free_along_an_axis_keeps_the_step_after_it():
    """iiwa 14's third link has a step along its own axis after the joint; with d free it was dropped."""
    arm = fa.load("iiwa14")
    kernel = fa.compile(arm, "inverse_dynamics", free=("links[2].d",))
    q, qd, qdd = arm.random_state(2)
    links = list(arm.links)
    links[2] = links[2].replace(d=0.1)
    want = LUH(arm.replace(links=tuple(links)), q, qd, qdd)
    np.testing.assert_allclose(kernel(q, qd, qdd, 0.1), want, rtol=1e-12, atol=1e-12)


def test_groups_of_parameters_are_the_arms_own():
    arm = fa.load("iiwa14")
    assert current(arm, "inertial").shape == (7, 10)
    assert current(arm, "friction").shape == (7, 3)
    with pytest.raises(fa.KernelFault, match="'inertial', 'geometry', 'friction'"):
        fa.compile(arm, "inverse_dynamics", free=("inertia",))


@pytest.mark.parametrize("whole", [sections.LONG, 40])
def test_groups_summed_up_are_what_their_rows_give(whole, monkeypatch):
    """To the last bit, whatever the vectors' width, the groups' length, and the sections of the code."""
    monkeypatch.setattr(sections, "LONG", whole)
    monkeypatch.setattr(sections, "WRITING", 0)
    monkeypatch.setattr(sections, "LONGEST", 20)
    arm = fa.load("rr")
    kernel = fa.compile(arm, "inverse_dynamics", free=("payload@tool", "friction"))
    groups = grouped_states.GroupedStates(kernel, frozenset(("payload", "friction")))
    assert len(groups._sums[0][0].sections) > 1 or whole > 40
    rng = np.random.default_rng(2)
    shared = groups.shared_values(
        {p.name: rng.uniform(0.1, 1, (6, *p.shape)) for p in groups._once.inputs}, 6
    )
    about = np.array([0.7, -3.2])
    for states in (1, 7, 16, 101):
        given = dict(zip(("q", "qd", "qdd"), arm.random_state(3, (4, states)), strict=True))
        picked = np.array([0, 3, 1, 1, 2, 0])
        rows = np.full((6, states, 2), np.nan)
        groups.run(given, shared, [rows], 1, picked)
        total, squares = np.zeros((2, 8, 6, 2))
        for t in range(states):
            total[t % 8] += rows[:, t] - about
            squares[t % 8] += (rows[:, t] - about) ** 2
        want = [rows.min(axis=1), rows.max(axis=1), *(_one_after_the_other(x) for x in (total, squares))]
        for kinds in (2, 4):
            out = np.full((kinds, 6, 2), np.nan)
            groups.summed(given, shared, states, picked, about=about, out=out)
            assert np.array_equal(out, want[:kinds])
        given["qdd"][1, states // 2, 0] = np.inf
        groups.summed(given, shared, states, picked, about=about, out=out)
        assert np.isfinite(out[2:]).all(axis=(0, 2)).tolist() == [True, True, False, False, True, True]
        few = out[:2].copy()
        groups.summed(given, shared, states, picked, about=about, out=few)
        assert np.isnan(few[0]).all(axis=1).tolist() == [False, False, True, True, False, False]


def _one_after_the_other(parts):
    total = np.zeros_like(parts[0])
    for part in parts:
        total = total + part
    return total
