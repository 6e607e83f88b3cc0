"""Where a graph gives something else than the function that it was traced from gives of numbers.

Traced scalars are no floats: a function that asks what it is given (`isinstance(t, float)`, `q.dtype`) may go another
way with them than with numbers, and nothing in the graph tells. So both are asked at a few states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import arrays, node_values

ROUNDING = 1e-12
"""What sums in another order may change, of the largest number met on the way."""
DIGITS = 1e-6
"""What may differ, of the largest number of a result."""
NEAR = 1e-9
"""How near other states lie, at which a choice may fall otherwise for a rounding."""


def disagreement(graph: Graph, function: Callable[..., Mapping[str, Any]], state: Mapping[str, Any]) -> str:
    """'tau[0] is 1.0 in Python, and 2.0 as traced', or nothing where they agree.

    Args:
        graph: What tracing made of it.
        function: Gives arrays by the names of the graph's outputs, of numbers by the names of its inputs.
        state: The numbers, finite.
    """
    try:
        with np.errstate(all="ignore"):
            found = function(**{name: _own(value) for name, value in state.items()})
    except ArithmeticError:  # 1 / 0 of plain floats, where arrays and graphs go on
        return ""
    with np.errstate(all="ignore"):
        values = node_values(graph, _nearby(graph, state), arrays)
    sizes = [np.max(np.abs(np.where(np.isfinite(v), v, 0.0))) for v in values]
    for port, places in zip(graph.outputs, graph.results, strict=True):
        plain = np.asarray(found[port.name], dtype=float)
        if plain.shape != port.shape:
            return f"{port.name} has shape {plain.shape} in Python, and {port.shape} as traced"
        plain = plain.ravel()
        greatest = np.max(np.abs(plain[np.isfinite(plain)]), initial=0.0)
        for k, (number, place) in enumerate(zip(plain, places, strict=True)):
            traced = np.broadcast_to(values[place], SAMPLES)
            if not _among(number, traced, DIGITS * greatest + ROUNDING * max(sizes)):
                return f"{port.element(k)} is {number:.6g} in Python, and {traced[0]:.6g} as traced"
    return ""


def _own(value: Any) -> Any:
    """Numbers that a function may write into; one alone as Python's."""
    array = np.array(value, dtype=float)
    return array if array.shape else float(array)


SIGNS = np.concatenate([np.zeros((1, 64)), np.random.default_rng(0).choice([-1.0, 1.0], (8, 64))])
"""Which way the numbers of a state are moved: not at all, and eight times at random."""
SAMPLES = len(SIGNS)


def _nearby(graph: Graph, state: Mapping[str, Any]) -> list[Any]:
    """The numbers of each input (size, samples): those given, and others beside them."""
    flat, k = [], 0
    for port in graph.inputs:
        values = np.asarray(state[port.name], dtype=float).reshape(-1, 1)
        signs = SIGNS[:, np.arange(k, k + port.size) % SIGNS.shape[1]].T
        flat.append(values + NEAR * signs * (1.0 + np.abs(values)))
        k += port.size
    return flat


def _among(number: float, traced: Any, slack: float) -> bool:
    """Whether a number is among those of the states around, as nearly as they can be computed."""
    if not np.isfinite(number):
        return not np.all(np.isfinite(traced))
    finite = traced[np.isfinite(traced)]
    if not finite.size:
        return False
    least, most = np.min(finite), np.max(finite)
    spread = most - least
    return bool(least - spread - slack <= number <= most + spread + slack)
