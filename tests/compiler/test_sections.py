"""Programs in sections: the same bits as in one piece, whatever the cut, and nothing overwritten that is still read."""

import numpy as np
import pytest

from arms import random_arm
from compiler.programs import random_graph
from compiler.test_llvm_emitter import GRAPHS, states
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm import sections
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.tiles import Plan
from forearm.compiler.model.base_parameters import regrouped
from forearm.formulations import FORMULATIONS


@pytest.fixture
def short(monkeypatch):
    """Sections of a few operations."""
    monkeypatch.setattr(sections, "LONG", 0)
    monkeypatch.setattr(sections, "WRITING", 0)
    monkeypatch.setattr(sections, "LONGEST", 9)


def mass_matrix(n):
    """M of an arm: many results, in rows that are written straight."""
    chain = regrouped(random_arm(n, 5))
    function = FORMULATIONS["walker_orin_1982"].mass_matrix
    return lower(trace(lambda q: function(chain, q), {"q": (n,)}, name="M"))


def angles_in_angles(a):
    """Sines of sines, signs and inputs among the results, in a row of odd length."""
    x = (a[0].sin() * 2.0 + a[1]).sin()
    y = (x * a[2]).cos() + a[0].sin() * a[1].cos()
    return np.array([-x, y * y - x, a[1], 3.0, -(x * y), -(x * x + a[1] * y), a[2].cos()])


CUT = {
    "everything": GRAPHS["everything"],
    "STAN": GRAPHS["STAN"],
    "M": mass_matrix(4),
    "angles": lower(trace(angles_in_angles, {"a": (3,)}, name="angles")),
    "random": random_graph(1, fma=True),
}


def cut_program_gives_the_same_bits(graph, longest, monkeypatch, **how):
    """A program in one piece and in sections of so many operations."""
    batch = [np.clip(v, -1e3, 1e3).astype(how.get("dtype", "float64")) for v in states(graph, 41).values()]
    given = [np.moveaxis(v, 0, -1) if how.get("layout") == "columns" else v for v in batch]
    found = []
    for long in (10**6, 0):
        monkeypatch.setattr(sections, "LONG", long)
        monkeypatch.setattr(sections, "WRITING", 0)
        monkeypatch.setattr(sections, "LONGEST", longest)
        kernel = ProcessorKernel(graph, keep=False, **how)
        assert (len(kernel.plan.sections) > 1) == (long == 0)
        found.append(_several(kernel(*given)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("name", "layout"),
    [("everything", "columns"), ("M", "rows"), ("angles", "rows"), ("angles", "columns"), ("random", "rows")],
)
def test_cut_programs_give_the_same_bits(name, layout, monkeypatch):
    cut_program_gives_the_same_bits(CUT[name], 9, monkeypatch, layout=layout)


@pytest.mark.more
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize(("width", "dtype"), [(2, "float64"), (8, "float64"), (8, "float32")])
def test_cut_programs_give_the_same_bits_in_every_width(name, layout, width, dtype, monkeypatch):
    cut_program_gives_the_same_bits(CUT[name], 7, monkeypatch, layout=layout, width=width, dtype=dtype)


def _several(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", CUT)
@pytest.mark.usefixtures("short")
def test_a_column_is_given_away_only_when_it_was_read_for_the_last_time(name):
    graph = CUT[name]
    plan = Plan(graph, Lanes("float64", 4), layout="rows")
    held = {column: node for node, column in plan.staged.items()}
    for index, node in enumerate(graph.nodes):
        if node.at is not None:
            held[plan.inputs[node.at[0]] + node.at[1]] = index
    program = plan.program
    for section in plan.sections:
        for node, column in section.taken.items():
            assert held[column] == node
        for node in section.nodes:
            for a in graph.nodes[node].args:
                while graph.nodes[a].op == "neg":
                    a = graph.nodes[a].args[0]
                lies = plan.staged.get(a)
                if graph.nodes[a].at is not None:
                    lies = plan.inputs[graph.nodes[a].at[0]] + graph.nodes[a].at[1]
                assert lies is None or held[lies] == a
                assert a not in program.place or a in section.nodes or a in section.taken
        held |= {column: node for node, column in section.kept.items()}
    assert [n for s in plan.sections for n in s.nodes if n in program.place] == program.made


def test_a_program_with_many_results_stays_whole(monkeypatch):
    monkeypatch.setattr(sections, "LONG", 50)
    monkeypatch.setattr(sections, "LONGEST", 40)
    plan = Plan(CUT["M"], Lanes("float64", 4), layout="rows")
    assert len(plan.sections) > 1
    monkeypatch.setattr(sections, "WRITING", len(plan.program.made) / 8)
    assert len(Plan(plan.graph, plan.lanes, layout="rows").sections) == 1


def test_a_long_program_is_cut_where_few_values_are_alive():
    def bundles(a):
        """Many values from one, and one from many, again and again."""
        x = a[0]
        for _ in range(40):
            many = [x * (a[1] + 0.1 * k) for k in range(1, 11)]
            for y in many:
                x = x * y + a[2]
        return x

    plan = Plan(lower(trace(bundles, {"a": (3,)}, name="bundles"), 0), Lanes("float64", 4))
    assert len(plan.sections) > 1
    assert all(len(section.nodes) <= 1.5 * sections.LONGEST for section in plan.sections)
    assert max(len(section.taken) for section in plan.sections) <= 11  # the sums with a[1] are shared by all
