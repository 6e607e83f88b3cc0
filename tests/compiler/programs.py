"""Graphs for tests: random programs of every operation, and the torques of arms."""

import numpy as np

from arms import random_arm
from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.graph.interpreter import interpret, plain
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.base_parameters import regrouped
from forearm.formulations import FORMULATIONS

STATE = ("q", "qd", "qdd")


def random_graph(seed, size=60, fma=False):
    """Nodes put together blindly, nothing folded: zeros, ones, repeated and dead expressions, signs everywhere.

    Divisors and radicands stay away from zero and angles small, so that roundoff is not magnified.
    """
    rng = np.random.default_rng(seed)
    nodes = [Node("input", (), None, (0, k)) for k in range(3)] + [Node("input", (), None, (1, 0))]
    nodes += [Node("const", (), float(v)) for v in (0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 0.7, np.pi / 2)]
    depth = [0] * len(nodes)

    def put(op, *args):
        nodes.append(Node(op, tuple(int(a) for a in args)))
        depth.append(1 + max(depth[a] for a in args))
        return len(nodes) - 1

    angles = [put("add", 0, 11), put("sub", 4, 1), put("neg", 2), put("add", 6, 3), put("sub", 11, 2)]
    circular = [put(op, a) for a in angles for op in ("sin", "cos")]
    safe = put("add", put("mul", circular[0], circular[0]), 7)
    kinds = ["add", "sub", "mul", "mul", "neg", "div", "sqrt", "select"] + (["fma"] if fma else [])
    for _ in range(size):
        op = rng.choice(kinds)
        shallow = [k for k, d in enumerate(depth) if d < 9]
        a, b, c = rng.choice(shallow, 3)
        if op == "div":
            put("div", a, safe)
        elif op == "sqrt":
            put("sqrt", safe)
        elif op == "neg":
            put("neg", a)
        elif op in ("fma", "select"):
            put(op, 0 if op == "select" else a, b, c)
        else:
            put(op, a, b)
    outputs = tuple(int(k) for k in rng.choice(range(len(nodes) - size, len(nodes)), 6))
    ports = (Port("x", (3,)), Port("s", ())), (Port("y", (2, 3)),)
    return Graph(f"random {seed}", ports[0], tuple(nodes), ports[1], (outputs,))


def random_inputs(graph, seed=0, spread=1.0):
    """A state for a graph."""
    rng = np.random.default_rng(seed)
    return {port.name: rng.uniform(-spread, spread, port.shape) for port in graph.inputs}


def largest(graph, inputs):
    """The largest value met on the way."""
    every = Graph(
        graph.name,
        graph.inputs,
        graph.nodes,
        (Port("all", (len(graph.nodes),)),),
        (tuple(range(len(graph.nodes))),),
    )
    return float(np.max(np.abs(interpret(every, inputs, plain)["all"]), initial=1.0))


def torques(arm, formulation="khalil_kleinfinger_1987", base_parameters=False, **options):
    """The traced torques of an arm."""
    chain = regrouped(arm) if base_parameters else arm
    n = arm.n

    def function(q, qd, qdd):
        return FORMULATIONS[formulation].joint_torques(chain, q, qd, qdd)

    return trace(function, {k: (n,) for k in STATE}, f"torques of {arm.name}", **options)


def small_arms():
    """A few arms of different kinds, quick to trace."""
    return [random_arm(2, 1), random_arm(3, 2, "RP"), random_arm(4, 3, "R", general=True)]
