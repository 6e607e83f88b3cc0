"""The laws of passes: the same values, never more operations; and what each pass is for."""

import mpmath
import numpy as np
import pytest

import forearm as fa
from close import assert_close
from compiler.programs import largest, random_graph, random_inputs, small_arms, torques
from forearm.compiler.graph import passes
from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.graph.interpreter import interpret, scalars
from forearm.compiler.graph.passes.dead_code import reorder
from forearm.compiler.graph.passes.factors import SEQUENCES, extract
from forearm.compiler.graph.passes.order import depth_first, pulled_down, pushed_up
from forearm.compiler.graph.trace import trace

PASSES = {name: getattr(passes, name) for name in passes.__all__}
ROUNDOFF = "sums and products are reassociated, in graphs of up to a hundred random operations"


def same_values(before, after, seeds=range(3), spread=1.0):
    assert after.inputs == before.inputs
    assert after.outputs == before.outputs
    for seed in seeds:
        state = random_inputs(before, seed, spread)
        scale = largest(before, state)
        for name, want in interpret(before, state).items():
            assert_close(interpret(after, state)[name], want, eps=512, scale=scale, because=ROUNDOFF)


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("seed", range(12))
def test_law_on_random_graphs(name, seed):
    graph = random_graph(seed, fma=seed % 3 == 2)
    after = PASSES[name](graph)
    same_values(graph, after)
    assert after.counts.operations <= graph.counts.operations


@pytest.mark.parametrize("name", PASSES)
def test_law_on_arms(name):
    for arm in small_arms():
        for graph in (torques(arm, "luh_walker_paul_1980"), torques(arm, base_parameters=True)):
            after = PASSES[name](graph)
            same_values(graph, after, spread=2.0)
            assert after.counts.operations <= graph.counts.operations


@pytest.mark.more
@pytest.mark.parametrize("seed", range(12, 400))
def test_law_on_many_random_graphs(seed):
    graph = random_graph(seed, size=120, fma=seed % 5 == 0)
    for run in PASSES.values():
        after = run(graph)
        same_values(graph, after)
        assert after.counts.operations <= graph.counts.operations
    thorough = passes.simplify(graph, effort=2)
    same_values(graph, thorough)


def function(f, **shapes):
    return trace(f, shapes, outputs=("y",))


def operations(graph):
    return graph.counts.operations


# folding ------------------------------------------------------------------------------------------------


def test_fold_makes_equal_nodes_one():
    nodes = (
        *(Node("input", (), None, (0, k)) for k in range(2)),
        Node("mul", (0, 1)),
        Node("mul", (1, 0)),
        Node("sub", (2, 3)),
        Node("const", (), 3.0),
        Node("add", (4, 5)),
    )
    graph = Graph("twice", (Port("x", (2,)),), nodes, (Port("y", ()),), ((6,),))
    assert passes.fold(graph).nodes == (Node("const", (), 3.0),)


def test_dead_code_leaves_the_rest_as_it_is():
    nodes = (
        Node("input", (), None, (0, 0)),
        Node("sin", (0,)),
        Node("const", (), 1.0),
        Node("mul", (0, 2)),
    )
    graph = Graph("dead", (Port("x", (1,)),), nodes, (Port("y", ()),), ((3,),))
    assert [node.op for node in passes.dead_code(graph).nodes] == ["input", "const", "mul"]


def test_folding_twice_changes_nothing():
    for seed in range(5):
        once = passes.fold(random_graph(seed))
        assert passes.fold(once) == once


# common factors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "fewest"),
    [
        (lambda x: x[0] * x[1] + x[0] * x[2], 2),
        (lambda x: x[0] * x[1] - x[0] * x[2], 2),
        (lambda x: x[2] - x[0] * x[1] - x[0] * x[3], 3),
        (lambda x: x[0] * x[1] + x[0] * x[2] + x[0] * x[3], 3),
        (lambda x: x[0] * x[1] + x[2] + x[0] * x[3], 3),
        (lambda x: x[0] * (x[1] * x[2]) + x[1] * (x[0] * x[3]), 3),
        (lambda x: 2.5 * x[0] + 2.5 * x[1], 2),
        (lambda x: 2.5 * (x[0] * x[1]) + 3.5 * (x[1] * x[0]), 2),
        (lambda x: np.array([x[0] + x[1] + x[2], x[2] + x[0] - x[3]]), 3),
        (lambda x: np.array([x[0] * x[1] * x[2], x[2] * x[0] * x[3]]), 3),
        (lambda x: x[0] * x[2] + x[1] * x[2] + x[0] * x[3] + x[1] * x[3], 3),
        (lambda x: x[0] + x[0] * x[1], 2),
    ],
)
def test_factors_are_found(f, fewest):
    graph = function(f, x=(4,))
    found = passes.common_factors(graph)
    assert operations(found) == fewest
    same_values(graph, found)


def test_a_shared_product_is_not_taken_apart_for_nothing():
    graph = function(lambda x: np.array([x[0] * x[1] + x[0] * x[2], x[0] * x[1], x[0] * x[2]]), x=(3,))
    assert operations(passes.common_factors(graph)) == 3


def test_constants_that_differ_by_roundoff_are_one():
    third, same = 1.0 / 3.0, 1.0 - 2.0 / 3.0
    assert third != same
    graph = function(lambda x: third * x[0] + same * x[1], x=(2,))
    assert operations(passes.common_factors(graph)) == 2
    apart = function(lambda x: 0.3 * x[0] + 0.3000000001 * x[1], x=(2,))
    assert operations(passes.common_factors(apart)) == 3


def test_fused_graphs_are_left_alone():
    graph = passes.form_fma(function(lambda x: x[0] * x[1] + x[0] * x[2], x=(3,)))
    for name in ("common_factors", "choose_units", "trig_identities"):
        assert PASSES[name](graph) is graph


@pytest.mark.parametrize("opening", sorted({way for sequence in SEQUENCES for way in sequence}))
def test_every_way_to_take_a_graph_apart_keeps_its_values(opening):
    for seed in range(4):
        graph = passes.fold(random_graph(seed))
        same_values(graph, extract(graph, opening))


def test_terms_cancel_through_a_name():
    def f(x):
        total = x[0] + x[1] - x[2]
        return np.array([total * x[3], total + x[2]])

    assert operations(function(f, x=(4,))) == 4
    assert operations(passes.common_factors(function(f, x=(4,)))) == 3


def test_squares_of_sine_and_cosine_meet_inside_sums():
    def f(x):
        s, c = np.sin(x[0]), np.cos(x[0])
        return s * (s * x[1] + x[2]) + c * (c * x[1] + x[3])

    found = passes.simplify(function(f, x=(4,)))
    same_values(function(f, x=(4,)), found)
    assert operations(found) == 4


# units --------------------------------------------------------------------------------------------------


def test_one_unit_serves_many_constants():
    def f(x):
        length, mass = 0.4, 3.0
        place = length * np.sin(x[0]) + length * np.cos(x[1])
        other = length * np.cos(x[0])
        return mass * (place * place + other * other)

    graph = function(f, x=(2,))
    found = passes.choose_units(graph)
    same_values(graph, found)
    assert graph.counts.mul - found.counts.mul == 3  # the length is one; its square goes into the mass


def test_units_cannot_change_an_output_or_an_angle():
    graph = function(lambda x: np.array([0.4 * x[0], np.sin(0.4 * x[1])]), x=(2,))
    assert operations(passes.choose_units(graph)) == 2


def test_extreme_constants_are_no_units():
    graph = function(lambda x: 1e-9 * x[0] * (1e9 * (x[1] + 2.0 * x[2])), x=(3,))
    found = passes.choose_units(graph)
    same_values(graph, found)
    assert all(abs(node.value) < 1e10 for node in found.nodes if node.op == "const")


# trigonometry -------------------------------------------------------------------------------------------


def test_sine_squared_and_cosine_squared_are_one():
    graph = function(lambda x: x[1] * (np.sin(x[0]) ** 2 + np.cos(x[0]) ** 2), x=(2,))
    assert operations(passes.trig_identities(graph)) == 0
    other = function(lambda x: np.sin(x[0]) ** 2 + np.cos(x[1]) ** 2, x=(2,))
    assert operations(passes.trig_identities(other)) == 3
    minus = function(lambda x: np.cos(x[0]) ** 2 - np.sin(x[0]) ** 2, x=(2,))
    assert operations(passes.trig_identities(minus)) == 3


@pytest.mark.parametrize("sign", [1, -1])
def test_lengths_are_taken_before_the_rotation(sign):
    def f(x):
        s, c = np.sin(x[0]), np.cos(x[0])
        u, v = c * x[1] + sign * s * x[2], c * x[2] - sign * s * x[1]
        return u * u + v * v

    graph = function(f, x=(3,))
    found = passes.trig_identities(graph)
    same_values(graph, found)
    assert operations(found) == 3
    assert found.counts.sincos == 0


def test_scalar_products_are_taken_before_the_rotation():
    def f(x):
        s, c = np.sin(x[0]), np.cos(x[0])
        first = c * x[1] - s * x[2], s * x[1] + c * x[2]
        second = c * x[3] - s * x[4], s * x[3] + c * x[4]
        return first[0] * second[0] + first[1] * second[1]

    graph = function(f, x=(5,))
    found = passes.trig_identities(graph)
    same_values(graph, found)
    assert operations(found) == 3


# fused multiply-adds and order --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "fma", "mul", "add"),
    [
        (lambda x: x[0] * x[1] + x[2], 1, 0, 0),
        (lambda x: x[0] * x[1] - x[2], 1, 0, 0),
        (lambda x: x[2] - x[0] * x[1], 1, 0, 0),
        (lambda x: x[0] * x[1] + x[2] * x[3], 1, 1, 0),
        (lambda x: np.array([x[0] * x[1] + x[2], x[0] * x[1] + x[3]]), 0, 1, 2),
        (lambda x: 2.5 - 1.5 * x[0], 1, 0, 0),
    ],
)
def test_products_are_fused_where_they_are_used_once(f, fma, mul, add):
    graph = function(f, x=(4,))
    found = passes.form_fma(graph)
    assert (found.counts.fma, found.counts.mul, found.counts.add) == (fma, mul, add)
    assert operations(found) == operations(graph)
    same_values(graph, found)


def test_of_two_products_the_later_one_is_fused():
    graph = function(lambda x: np.sin(x[0]) * x[1] + x[2] * x[3], x=(4,))
    found = passes.form_fma(graph)
    fused = next(node for node in found.nodes if node.op == "fma")
    assert "sin" in {found.nodes[a].op for a in fused.args}
    assert found.critical_path() < graph.critical_path()


def test_sums_in_chains_fuse_every_product():
    def f(x):
        return (x[0] * x[1] - x[2] * x[3]) - ((x[4] - x[5] * x[6]) + (x[7] - x[8]))

    graph = function(f, x=(9,))
    chained = passes.form_fma(passes.chain_sums(graph)).counts
    assert (chained.mul, chained.add, chained.fma) == (0, 2, 3)
    assert passes.form_fma(graph).counts.fma < 3


def test_scheduling_keeps_fewer_values_alive_and_all_bits():
    def f(x):
        products = [x[k] * x[(k + 1) % 12] for k in range(12)]
        total = products[0]
        for p in products[1:]:
            total = total + p
        return total

    graph = function(f, x=(12,))
    found = passes.schedule(graph)
    assert graph.max_live == 12
    assert found.max_live == 2
    state = random_inputs(graph)
    assert interpret(found, state)["y"] == interpret(graph, state)["y"]


def test_orders_are_topological_and_complete():
    for seed in range(6):
        graph = passes.fold(random_graph(seed, size=100))
        for order in (pulled_down(graph), pushed_up(graph), depth_first(graph)):
            assert sorted(order) == list(range(len(graph.nodes)))
            place = {index: k for k, index in enumerate(order)}
            assert all(place[a] < place[i] for i, node in enumerate(graph.nodes) for a in node.args)


def test_branches_one_after_the_other_keep_few_values_alive():
    """Four equal arms on one base need little more room than one."""
    links = [fa.load("ur5e").links] * 4
    alone = fa.Robot("one", links[0], parents=range(6))
    parents = [0 if k == 0 else 6 * arm + k for arm in range(4) for k in range(6)]
    named = [x.replace(name=f"{x.name}_{arm}") for arm, row in enumerate(links) for x in row]
    four = fa.compile(fa.Robot("four", named, parents=parents), "inverse_dynamics").graph
    one = fa.compile(alone, "inverse_dynamics").graph
    most = one.max_live + 4 * 6 + 12
    assert four.max_live < most  # the walk along the tree takes one branch after the other
    steps = []
    for node in four.nodes:
        steps.append(1 + max((steps[a] for a in node.args), default=0))
    mixed = reorder(four, sorted(range(len(steps)), key=lambda i: steps[i]))
    ordered = passes.branch_by_branch(mixed)
    assert ordered.counts == four.counts
    assert ordered.max_live < most < mixed.max_live
    state = random_inputs(four, 0, 1.0)
    assert all(np.array_equal(interpret(ordered, state)[k], v) for k, v in interpret(four, state).items())


# accuracy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", small_arms(), ids=lambda arm: arm.name)
def test_simplified_torques_stay_within_64_eps_of_fifty_digits(arm):
    raw = torques(arm, base_parameters=True)
    with mpmath.workdps(50):
        for effort in (0, 1, 2):
            graph = passes.lower(raw, effort)
            for seed, spread in ((1, 3.0), (2, 1e-6), (3, 50.0)):
                state = random_inputs(graph, seed, spread)
                exact = {k: np.vectorize(mpmath.mpf, otypes=[object])(v) for k, v in state.items()}
                want = interpret(raw, exact, scalars)["tau"].astype(float)
                assert_close(interpret(graph, state)["tau"], want, eps=64, scale=largest(graph, state))


# pipelines ----------------------------------------------------------------------------------------------


def test_simplifying_again_is_free_and_changes_nothing():
    graph = torques(small_arms()[0])
    once = passes.simplify(graph)
    assert passes.simplify(once) is once
    assert passes.simplify(graph, effort=0).counts.operations >= once.counts.operations


def test_long_sums_and_products_need_no_deep_stack():
    def f(x):
        total = x[0]
        for k in range(1200):
            total = total * np.cos(x[1]) + x[k % 3] if k % 2 else total + x[2] * x[k % 3]
        return total

    graph = function(f, x=(3,))
    found = passes.simplify(graph)
    state = {"x": np.array([0.1, 0.2, 0.3])}
    assert_close(
        interpret(found, state)["y"],
        interpret(graph, state)["y"],
        eps=4096,
        because="1200 chained operations",
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (5.0 + 5.0 * x) / 3.0 * 7.0,
        lambda x, y: (7.0 * x + 8.0 + y / 6.0 * 15.0) * 3.0,
    ],
)
def test_a_constant_that_is_the_number_of_a_product_was_taken_for_its_unit(function):
    graph, at = trace(function, {"x": (), "y": ()}, outputs=("z",)), {"x": 1.7, "y": 2.3}
    assert_close(interpret(passes.simplify(graph), at)["z"], function(**at))  # 3 is 3.0 to a dict
