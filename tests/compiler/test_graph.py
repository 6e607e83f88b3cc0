"""The graph itself: printing, counting, digest, faults, the reference interpreter."""

import dataclasses
import math
import pickle

import mpmath
import numpy as np
import pytest

from close import assert_close
from forearm.compiler.graph.graph import Counts, Graph, Node, Port
from forearm.compiler.graph.interpreter import Semantics, arrays, interpret, plain, scalars
from forearm.compiler.graph.trace import trace
from forearm.faults import TraceFault


def small():
    return trace(
        lambda x, s: np.array([x[0] * x[1] + s, np.sin(x[0]) - np.cos(x[0])]),
        {"x": (2,), "s": ()},
        "small",
        ("y",),
    )


def test_the_listing_names_inputs_outputs_and_constants():
    text = str(trace(lambda x, s: np.array([2.5 * x[0] * x[1] - s]), {"x": (2,), "s": ()}, "listed", ("y",)))
    assert text.splitlines()[0] == "graph listed"
    assert "inputs   x[2], s" in text
    assert "= 2.5 * x[0]" in text
    assert "- s" in text
    assert "y[0] = v" in text
    assert "counts   2 mul, 1 add (3 operations)" in text


def test_every_operation_has_a_line():
    graph = small()
    operations = [node for node in graph.nodes if node.op not in ("const", "input")]
    lines = [line for line in str(graph).splitlines() if line.startswith("  v")]
    assert len(lines) == len(operations)


def test_counts_follow_the_convention_of_the_literature():
    nodes = tuple(Node("input", (), None, (0, k)) for k in range(2)) + (
        Node("mul", (0, 1)),
        Node("add", (2, 0)),
        Node("sub", (3, 1)),
        Node("div", (4, 0)),
        Node("fma", (0, 1, 2)),
        Node("neg", (6,)),
        Node("sin", (0,)),
        Node("cos", (0,)),
        Node("cos", (1,)),
        Node("sqrt", (2,)),
        Node("select", (0, 1, 2)),
    )
    graph = Graph("counted", (Port("x", (2,)),), nodes, (Port("y", ()),), ((12,),))
    assert graph.counts == Counts(mul=1, add=2, div=1, neg=1, fma=1, sqrt=1, sincos=2, select=1)
    assert graph.counts.operations == 1 + 2 + 1 + 2
    assert graph.counts.instructions == 1 + 2 + 1 + 1
    assert str(Counts()) == "nothing (0 operations)"


def test_work_on_parameters_alone_counts_nothing():
    graph = trace(lambda x, p: p[0] * p[1] * x + p[0], {"x": (), "p": (2,)}, outputs=("y",))
    assert graph.counts.operations == 3
    assert graph.counts_given(["p"]).operations == 2


def test_critical_path_is_the_longest_chain():
    graph = trace(lambda x: np.sin(x[0]) * x[1] + x[0] * x[1], {"x": (2,)}, outputs=("y",))
    assert graph.critical_path({"input": 0, "sin": 10, "mul": 3, "add": 2}) == 15


def test_live_values():
    graph = trace(lambda x: (x[0] * x[1]) + (x[1] * x[2]) * (x[0] * x[2]), {"x": (3,)}, outputs=("y",))
    assert graph.max_live == 3  # three products wait, or two and their product


def test_digest_sees_structure_and_constants_but_not_the_name():
    graph = small()
    assert graph.digest == dataclasses.replace(graph, name="other").digest
    assert graph.digest == small().digest
    other = trace(
        lambda x, s: np.array([x[0] * x[1] + 2 * s, np.sin(x[0])]), {"x": (2,), "s": ()}, "small", ("y",)
    )
    assert graph.digest != other.digest
    close = [
        trace(lambda x, c=c: c * x, {"x": ()}, outputs=("y",)).digest for c in (0.1, math.nextafter(0.1, 1))
    ]
    assert close[0] != close[1]


def test_graphs_compare_and_pickle():
    graph = small()
    assert graph == small()
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.digest == graph.digest


@pytest.mark.parametrize(
    ("nodes", "results", "message"),
    [
        ((Node("tan", ()),), ((0,),), "node 0 is 'tan'"),
        ((Node("input", (), None, (0, 0)), Node("add", (0, 1))), ((1,),), r"node 1 is 'add' of \(0, 1\)"),
        ((Node("input", (), None, (0, 0)), Node("add", (0,))), ((1,),), "node 1 is 'add'"),
        ((Node("const", ()),), ((0,),), "const without value"),
        ((Node("input", (), None, (0, 5)),), ((0,),), r"reads input element \(0, 5\)"),
        ((Node("input", (), None, (0, 0)),), ((),), "sizes of"),
        ((Node("input", (), None, (0, 0)),), ((3,),), "a result that is no node"),
    ],
)
def test_malformed_graphs_are_refused(nodes, results, message):
    with pytest.raises(TraceFault, match=message):
        Graph("bad", (Port("x", (1,)),), nodes, (Port("y", ()),), results)


def test_interpreter_is_ieee_at_the_edges():
    graph = trace(lambda x: np.array([x[0] / x[1], np.sqrt(x[0]), np.sin(x[0])]), {"x": (2,)}, outputs=("y",))
    found = interpret(graph, {"x": [-1.0, 0.0]})["y"]
    assert found[0] == -math.inf
    assert math.isnan(found[1])
    assert math.isnan(interpret(graph, {"x": [math.inf, 1.0]})["y"][2])
    assert math.isnan(interpret(graph, {"x": [0.0, 0.0]})["y"][0])
    assert interpret(graph, {"x": [1.0, -0.0]})["y"][0] == -math.inf


def test_select_takes_the_second_where_x_is_not_positive():
    graph = trace(lambda x: x[0].where_positive(x[1], x[2]), {"x": (3,)}, outputs=("y",))
    for first, wanted in ((1.0, 2.0), (0.0, 3.0), (-1.0, 3.0), (math.nan, 3.0)):
        assert interpret(graph, {"x": [first, 2.0, 3.0]})["y"] == wanted
        assert interpret(graph, {"x": np.array([[first, 2.0, 3.0]])}, arrays)["y"] == [wanted]


def test_batches_equal_single_states():
    graph = small()
    rng = np.random.default_rng(0)
    x, s = rng.normal(size=(5, 2)), rng.normal(size=5)
    batch = interpret(graph, {"x": x, "s": s}, arrays)["y"]
    for k in range(5):
        assert_close(batch[k], interpret(graph, {"x": x[k], "s": s[k]})["y"], eps=4)


def test_constant_outputs_have_the_batch_axes_too():
    graph = trace(lambda x: {"c": np.ones(3), "d": 2.0}, {"x": (2,)})
    found = interpret(graph, {"x": np.zeros((4, 5, 2))}, arrays)
    assert found["c"].shape == (4, 5, 3)
    assert found["d"].tolist() == np.full((4, 5), 2.0).tolist()


def test_other_number_systems():
    graph = small()
    with mpmath.workdps(50):
        exact = interpret(graph, {"x": [mpmath.mpf("0.1"), mpmath.mpf("0.2")], "s": mpmath.mpf(1)}, scalars)[
            "y"
        ]
        assert (
            abs(exact[1] - (mpmath.sin(mpmath.mpf("0.1")) - mpmath.cos(mpmath.mpf("0.1"))))
            < mpmath.mpf(10) ** -48
        )
    inside = trace(
        lambda x, s: interpret(graph, {"x": x, "s": s}, scalars)["y"], {"x": (2,), "s": ()}, "small", ("y",)
    )
    assert inside == graph


def test_fma_semantics_can_be_exchanged():
    graph = Graph(
        "f",
        (Port("x", (3,)),),
        (*(Node("input", (), None, (0, k)) for k in range(3)), Node("fma", (0, 1, 2))),
        (Port("y", ()),),
        ((3,),),
    )
    loud = Semantics("loud", lambda a, b, c: 1000.0, plain.sin, plain.cos, plain.sqrt)
    assert interpret(graph, {"x": [2.0, 3.0, 4.0]})["y"] == 10.0
    assert interpret(graph, {"x": [2.0, 3.0, 4.0]}, loud)["y"] == 1000.0


def test_wrong_shapes_are_refused():
    with pytest.raises(TraceFault, match=r"input 'x' has shape \(3,\); graph 'small' takes \(2,\)"):
        interpret(small(), {"x": [1.0, 2.0, 3.0], "s": 1.0})
    with pytest.raises(TraceFault, match="Give one state, or a batch with semantics=arrays"):
        interpret(small(), {"x": np.zeros((4, 2)), "s": np.zeros(4)})
