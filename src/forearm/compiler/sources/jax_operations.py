"""A graph as a function of JAX arrays: jax.numpy operations and nothing else, so that JAX can do with it what it likes.

Written out one operation after the other, a graph of a few hundred nodes keeps XLA busy for minutes once it is
differentiated twice. So it is laid out as the program of a small vector machine: in each step some operations of every
kind are done at once, each on numbers fetched from the results so far, and `lax.scan` walks over the steps. What XLA
compiles is one step, however large the graph, and the same is true of every derivative.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.compiler.graph.graph import Graph, Node
from forearm.faults import KernelFault
from forearm.outside.libraries.optional_libraries import optional
from forearm.results import results_of

UNIT = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "fma"), "fma"),
    **{"sin": "sincos", "cos": "sincos", "div": "div", "sqrt": "sqrt", "select": "select"},
}
"""Which unit of the machine does an operation: everything plain is a product and a sum."""

OPERANDS = {"fma": 3, "sincos": 1, "div": 2, "sqrt": 1, "select": 3}
IDLE = {
    "fma": (0.0, 0.0, 0.0),
    "sincos": (0.0,),
    "div": (0.0, 1.0),
    "sqrt": (1.0,),
    "select": (0.0, 0.0, 0.0),
}
"""What a unit computes when there is nothing to do: something harmless, with harmless derivatives."""

WIDTHS = {"sincos": 8, "div": 2, "sqrt": 2, "select": 2}
"""How many of each there are, at most; for products and sums see `_widths`."""


@dataclass(frozen=True)
class StepProgram:
    """A graph as steps of a vector machine whose memory holds constants, inputs and the results of every step."""

    constants: tuple[float, ...]
    """What the memory begins with; the inputs follow."""
    operands: dict[str, Any]
    """For each unit the addresses that it reads, (steps, operands, width)."""
    first: int
    """Where the results of the first step go."""
    stride: int
    """Results of a step."""
    steps: int
    """How many there are."""
    results: tuple[Any, ...]
    """Addresses of each output."""


def to_jax(graph: Graph) -> Callable[..., Any]:
    """The graph as a function of JAX arrays (..., *shape), one for each input, whose leading axes broadcast.

    It gives its output, or a named tuple of them, in the precision of the arrays; it can be jitted, mapped and
    differentiated to any order, on every device that JAX knows.
    """
    try:
        jnp, lax = optional("jax.numpy"), optional("jax.lax")
    except ImportError:
        raise KernelFault(
            f"to_jax of {graph.name!r}: JAX is not installed. Install it with: pip install 'forearm[jax]'"
        ) from None
    program = step_program(graph)
    compute: dict[str, Callable[..., list[Any]]] = {
        "fma": lambda a, b, c: [a * b + c],
        "sincos": lambda a: [jnp.sin(a), jnp.cos(a)],
        "div": lambda a, b: [a / b],
        "sqrt": lambda a: [jnp.sqrt(a)],
        "select": lambda x, a, b: [jnp.where(x > 0, a, b)],
    }

    def fetched(memory: Any, places: Any) -> Any:
        return memory.at[..., places].get(mode="promise_in_bounds")

    def step(memory: Any, at: Any) -> tuple[Any, None]:
        number, operands = at
        made: list[Any] = []
        for unit in program.operands:  # in this order: JAX sorts the keys of what it is given
            places = operands[unit]
            made += compute[unit](*(fetched(memory, places[k]) for k in range(OPERANDS[unit])))
        start = program.first + number * program.stride
        new = jnp.concatenate(made, axis=-1)
        return lax.dynamic_update_slice_in_dim(memory, new, start, memory.ndim - 1), None

    def function(*values: Any) -> Any:
        dtype = jnp.result_type(float, *values)
        arrays = [jnp.asarray(v, dtype) for v in values]
        ranks = [a.ndim - len(p.shape) for a, p in zip(arrays, graph.inputs, strict=True)]
        lead = jnp.broadcast_shapes(*(a.shape[:r] for a, r in zip(arrays, ranks, strict=True)))
        rows = [jnp.asarray(program.constants, dtype)]
        rows += [a.reshape(*a.shape[:r], p.size) for a, r, p in zip(arrays, ranks, graph.inputs, strict=True)]
        rows.append(jnp.zeros(program.steps * program.stride, dtype))
        memory = jnp.concatenate([jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in rows], axis=-1)
        if program.steps:
            memory, _ = lax.scan(step, memory, (jnp.arange(program.steps), program.operands))
        outs = [
            fetched(memory, places).reshape((*lead, *port.shape))
            for port, places in zip(graph.outputs, program.results, strict=True)
        ]
        return outs[0] if len(outs) == 1 else results_of(p.name for p in graph.outputs)(*outs)

    return function


def step_program(graph: Graph) -> StepProgram:
    """The graph laid out for the vector machine."""
    widths = _widths(graph)
    steps = _schedule(graph, widths)
    constants = tuple(sorted({n.value for n in graph.nodes if n.value is not None} | {0.0, 1.0, -1.0}))
    address = {value: k for k, value in enumerate(constants)}
    starts = len(constants) + np.cumsum([0, *(port.size for port in graph.inputs)])
    where: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        if node.value is not None:
            where[index] = address[node.value]
        elif node.at is not None:
            where[index] = int(starts[node.at[0]]) + node.at[1]
    first, stride = int(starts[-1]), sum(w * (1 + (unit == "sincos")) for unit, w in widths.items())
    idle = {unit: [address[x] for x in IDLE[unit]] for unit in widths}
    operands = {
        unit: np.tile(np.array(idle[unit], np.int32)[None, :, None], (len(steps), 1, width))
        for unit, width in widths.items()
    }
    for number, step in enumerate(steps):
        place, made = first + number * stride, {}
        for unit, width in widths.items():
            for lane, group in enumerate(step.get(unit, ())):
                node = graph.nodes[group[0]]
                read = [where[a] for a in node.args]
                operands[unit][number, :, lane] = _as_unit(node, read, address)
                for index in group:
                    made[index] = place + lane + width * (graph.nodes[index].op == "cos")
            place += width * (1 + (unit == "sincos"))
        where.update(made)
    results = tuple(np.array([where[r] for r in row], np.int32) for row in graph.results)
    return StepProgram(constants, operands, first, stride, len(steps), results)


def _as_unit(node: Node, read: list[int], address: dict[float, int]) -> list[int]:
    """Operands of a node's unit: sums, differences, products and signs as a product and a sum."""
    zero, one, minus = address[0.0], address[1.0], address[-1.0]
    match node.op:
        case "add":
            return [read[0], one, read[1]]
        case "sub":
            return [read[1], minus, read[0]]
        case "mul":
            return [read[0], read[1], zero]
        case "neg":
            return [read[0], minus, zero]
    return read


def _widths(graph: Graph) -> dict[str, int]:
    """How many units of each kind: enough products and sums at once that the longest chain is what takes time."""
    groups = _groups(graph)
    count = dict.fromkeys(OPERANDS, 0)
    for group in groups:
        count[UNIT[graph.nodes[group[0]].op]] += 1
    depth = max(_heights(graph), default=0) or 1
    found = {unit: min(WIDTHS.get(unit, n), n) for unit, n in count.items() if n}
    if "fma" in found:
        found["fma"] = max(1, -(-3 * count["fma"] // (2 * depth)))
    return found


def _groups(graph: Graph) -> list[tuple[int, ...]]:
    """Nodes that are done together: sine and cosine of one angle, all others alone."""
    angles: dict[int, list[int]] = {}
    found: list[list[int]] = []
    for index, node in enumerate(graph.nodes):
        if node.op in ("sin", "cos"):
            group = angles.setdefault(node.args[0], [])
            group.append(index)
            if len(group) == 1:
                found.append(group)
        elif node.op not in ("const", "input"):
            found.append([index])
    return [tuple(group) for group in found]


def _heights(graph: Graph) -> list[int]:
    """For each node the longest chain of operations that waits for it."""
    heights = [0] * len(graph.nodes)
    for index in range(len(graph.nodes) - 1, -1, -1):
        for a in graph.nodes[index].args:
            heights[a] = max(heights[a], heights[index] + 1)
    return heights


def _schedule(graph: Graph, widths: dict[str, int]) -> list[dict[str, list[tuple[int, ...]]]]:
    """Which groups are done in which step: those that most others wait for first."""
    heights, groups = _heights(graph), _groups(graph)
    owner = {index: group for group in groups for index in group}
    readers: dict[tuple[int, ...], set[tuple[int, ...]]] = {group: set() for group in groups}
    missing: dict[tuple[int, ...], int] = {}
    for group in groups:
        needed = {owner[a] for index in group for a in graph.nodes[index].args if a in owner}
        missing[group] = len(needed)
        for other in needed:
            readers[other].add(group)
    ready: dict[str, list[Any]] = {unit: [] for unit in widths}

    def enter(group: tuple[int, ...]) -> None:
        height = max(heights[index] for index in group)
        heapq.heappush(ready[UNIT[graph.nodes[group[0]].op]], (-height, group))

    for group in groups:
        if not missing[group]:
            enter(group)
    steps = []
    while any(ready.values()):
        step = {
            unit: [heapq.heappop(heap)[1] for _ in range(min(widths[unit], len(heap)))]
            for unit, heap in ready.items()
        }
        steps.append(step)
        for done in (group for chosen in step.values() for group in chosen):
            for reader in readers[done]:
                missing[reader] -= 1
                if not missing[reader]:
                    enter(reader)
    return steps
