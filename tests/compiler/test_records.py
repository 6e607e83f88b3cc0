"""Operation counts after the passes: exact, so tests hold them. Lower is better; a change that raises one fails.

Multiplications, additions, subtractions, divisions count one each, a fused multiply-add two, negations and work
on parameters alone nothing, sines and cosines apart; drives off.
"""

import numpy as np
import pytest

from arms import random_body
from forearm.compiler.graph.passes import simplify
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.base_parameters import pattern, reframed
from forearm.compiler.model.choice import best_graph
from forearm.factorisation import factor, solve_factored
from forearm.formulations import FORMULATIONS
from forearm.readers import load

NUMERIC = {
    # arm, quantity: (ours, the best figure known before)
    ("puma560", "inverse_dynamics"): (291, 320),
    ("puma560", "mass_matrix"): (126, 267),
    ("puma560", "forward_dynamics"): (478, 574),
    ("stanford", "inverse_dynamics"): (191, 220),
    ("panda", "inverse_dynamics"): (557, 605),
    ("panda", "mass_matrix"): (286, 349),
    ("panda", "forward_dynamics"): (1057, 1158),
    ("iiwa14", "inverse_dynamics"): (366, 407),
    ("iiwa14", "mass_matrix"): (180, 304),
    ("iiwa14", "forward_dynamics"): (745, 1090),
}


@pytest.mark.parametrize("case", NUMERIC, ids=" ".join)
def test_a_real_arm(case):
    name, quantity = case
    ours, before = NUMERIC[case]
    counts = best_graph(load(name).without_drives(), quantity)[0].counts
    assert counts.operations <= ours < before, str(counts)


def generic(name):
    """The arm's geometry with generic numbers for all ten parameters of each link: what is zero then is zero always."""
    rng = np.random.default_rng(0)
    arm = load(name).without_drives()
    bodies = [random_body(rng) for _ in arm.links]
    links = [link.replace(**body) for link, body in zip(arm.links, bodies, strict=True)]
    return arm.replace(links=tuple(links), defects=())


@pytest.mark.parametrize(
    ("name", "quantity", "ours", "before"),
    [
        ("puma560", "inverse_dynamics", 471, 499),
        ("puma560", "forward_dynamics", 796, 889),
        ("panda", "inverse_dynamics", 557, 605),
        ("panda", "mass_matrix", 286, 349),
        ("panda", "forward_dynamics", 1057, 1158),
    ],
)
def test_generic_inertias_as_constants(name, quantity, ours, before):
    counts = best_graph(generic(name), quantity)[0].counts
    assert counts.operations <= ours < before, str(counts)


def arbitrary(name, origins=None):
    """The arm's geometry with every base parameter an input."""
    arm = load(name).without_drives()
    chain, rows = reframed(arm, origins), pattern(arm, origins)
    size = sum(map(sum, rows))

    def build(values):
        it = iter(values)
        return chain.with_numbers([[next(it) if used else 0.0 for used in row] for row in rows])

    return arm.n, size, build


def torques(build, q, qd, qdd, pi):
    return FORMULATIONS["khalil_kleinfinger_1987"].joint_torques(build(pi), q, qd, qdd)


def accelerations(build, q, qd, tau, pi):
    chain = build(pi)
    rows, inverse = factor(FORMULATIONS["walker_orin_1982"].mass_matrix(chain, q))
    bias = FORMULATIONS["khalil_kleinfinger_1987"].joint_torques(chain, q, qd, 0.0 * qd)
    return solve_factored(rows, inverse, tau - bias)


@pytest.mark.parametrize(
    ("name", "quantity", "ours", "before"),
    [
        ("puma560", "torques", 496, 499),
        ("panda", "torques", 591, 605),
        ("panda", "mass", 304, 349),
        ("panda", "accelerations", 1093, 1158),
    ],
)
def test_arbitrary_inertias(name, quantity, ours, before):
    n, size, build = arbitrary(name)
    pi, v = {"pi": (size,)}, (n,)
    graph = {
        "torques": lambda: trace(lambda **k: torques(build, **k), {"q": v, "qd": v, "qdd": v, **pi}),
        "mass": lambda: trace(
            lambda q, pi: FORMULATIONS["walker_orin_1982"].mass_matrix(build(pi), q), {"q": v, **pi}
        ),
        "accelerations": lambda: trace(
            lambda **k: accelerations(build, **k), {"q": v, "qd": v, "tau": v, **pi}
        ),
    }[quantity]()
    counts = simplify(graph).counts_given(["pi"])
    assert counts.operations <= ours <= before, str(counts)
