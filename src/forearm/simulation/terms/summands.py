"""The summands of a recursion: the equation and link of each, what it does to the torques, and life without it."""

from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import WALK, Arm
from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.derivatives import node_slopes
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import arrays, interpret, node_values
from forearm.compiler.graph.trace import trace
from forearm.counting.meter.line_tags import tags
from forearm.formulations import FORMULATIONS

UNTAGGED = "-"


class _Walker:
    """Notes how many nodes there were when a walk came to each link."""

    def __init__(self) -> None:
        self.builder: Any = None
        self.visits: list[tuple[int, int]] = [(0, 0)]

    def at_link(self, direction: str, i: int) -> None:
        """Called before the body of the loop for link i."""
        if self.builder is not None:
            self.visits.append((len(self.builder.op), i))


def located_graph(arm: Arm, formulation: str) -> tuple[Graph, list[str], list[int]]:
    """A formulation's torques as a graph, with the equation's tag and the link of every node.

    Every node's origin is its source line; the link is found by putting the node's place among the visits of the walk.
    """
    walker, n = _Walker(), arm.n
    rigid = arm.without_drives()

    def torques(q: Vector, qd: Vector, qdd: Vector) -> Vector:
        walker.builder = q[0].builder
        return FORMULATIONS[formulation].joint_torques(rigid, q, qd, qdd)  # type: ignore[no-any-return]

    token = WALK.set(walker)
    try:
        graph = trace(torques, {"q": (n,), "qd": (n,), "qdd": (n,)}, name=formulation, origins=True)
    finally:
        WALK.reset(token)
    links = _links(graph, walker)
    found = [tag_of(*origin) if origin else UNTAGGED for origin in graph.origins]
    return graph, found, links


def _links(graph: Graph, walker: _Walker) -> list[int]:
    """The link of every node; `finish` drops dead nodes but keeps the order, so nodes are matched by their content."""
    builder = walker.builder
    starts = np.array([count for count, _ in walker.visits])
    numbers = [i for _, i in walker.visits]
    old: dict[Any, int] = {}
    for index in range(len(builder.op)):
        old.setdefault(
            _content(builder.op[index], builder.args[index], builder.value[index], builder.at[index]), index
        )
    back: list[int] = []
    for node in graph.nodes:
        key = _content(node.op, tuple(back[a] for a in node.args), node.value, node.at)
        back.append(old[key])
    return [numbers[int(np.searchsorted(starts, index, "right")) - 1] for index in back]


def _content(
    op: str, args: tuple[int, ...], value: float | None, at: tuple[int, int] | None
) -> tuple[Any, ...]:
    return op, args, value, at


def tag_of(file: str, line: int) -> str:
    """The equation that a line of a formulation carries: the tag in the margin of its statement."""
    return tags(file).get(line, UNTAGGED)


# -- numbers -----------------------------------------------------------------------------------------------


def measured(graph: Graph, states: tuple[Vector, ...]) -> tuple[list[Any], Vector]:
    """Values of every node, (K,) or one for all, and of the torques (K, n), for states (K, n)."""
    values = node_values(graph, [np.moveaxis(x, -1, 0) for x in states], arrays)
    count = len(states[0])
    return values, np.stack([np.broadcast_to(values[k], (count,)) for k in graph.results[0]], axis=1)


def adjoints(graph: Graph, states: tuple[Vector, ...]) -> Vector:
    """d torque_i / d node (n, nodes, K), for states (K, n)."""
    slopes = node_slopes(graph, graph.outputs[0].name)
    given = dict(zip((port.name for port in graph.inputs), states, strict=True))
    return np.moveaxis(interpret(slopes, given, arrays)["slopes"], 0, -1)


def edges(graph: Graph) -> list[tuple[int, int]]:
    """Every summand: (sum, which operand), constants apart."""
    return [
        (index, k)
        for index, node in enumerate(graph.nodes)
        if node.op in ("add", "sub")
        for k in (0, 1)
        if graph.nodes[node.args[k]].op != "const"
    ]


def without(graph: Graph, deleted: set[tuple[int, int]]) -> Graph:
    """The graph with some summands left out, folded."""
    builder = Builder(graph.inputs)
    made: list[int] = []
    for index, node in enumerate(graph.nodes):
        a = [made[k] for k in node.args]
        for k in range(len(a)):
            if (index, k) in deleted:
                a[k] = builder.const(0.0)
        if node.op == "const":
            assert node.value is not None
            made.append(builder.const(node.value))
        elif node.op == "input":
            assert node.at is not None
            made.append(builder.input(*node.at))
        else:
            made.append(getattr(builder, node.op)(*a))
    results = [[made[k] for k in row] for row in graph.results]
    return builder.finish(f"{graph.name}, pruned", graph.outputs, results)
