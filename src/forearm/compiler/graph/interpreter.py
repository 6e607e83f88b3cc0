"""What a graph means: one operation after the other, on floats, arrays, symbols, traced scalars, fifty digits.

`interpret` is the reference that every pass and every emitter is held against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forearm import algebra
from forearm.compiler.graph.graph import Graph
from forearm.faults import TraceFault


@dataclass(frozen=True)
class Semantics:
    """What fma, sin, cos, sqrt, division and selection mean; the other operations are Python's own."""

    name: str
    """For messages."""
    fma: Callable[[Any, Any, Any], Any]
    """a*b + c."""
    sin: Callable[[Any], Any]
    """Sine of radians."""
    cos: Callable[[Any], Any]
    """Cosine of radians."""
    sqrt: Callable[[Any], Any]
    """Square root."""
    div: Callable[[Any, Any], Any] = lambda a, b: a / b
    """Quotient."""
    select: Callable[[Any, Any, Any], Any] = lambda x, a, b: a if x > 0 else b
    """a where x > 0, else b."""
    const: Callable[[float], Any] = float
    """A constant of the graph as a scalar."""


def _quotient(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


plain = Semantics(
    "plain",
    fma=lambda a, b, c: a * b + c,
    sin=lambda x: math.sin(x) if math.isfinite(x) else math.nan,
    cos=lambda x: math.cos(x) if math.isfinite(x) else math.nan,
    sqrt=lambda x: math.sqrt(x) if x >= 0 else math.nan,
    div=_quotient,
)
"""IEEE doubles: fma in two roundings, the sine and cosine of the C library."""

arrays = Semantics(
    "arrays",
    lambda a, b, c: a * b + c,
    np.sin,
    np.cos,
    np.sqrt,
    np.divide,
    lambda x, a, b: np.where(x > 0, a, b),
)
"""NumPy arrays, one element for each state; fma in two roundings."""

scalars = Semantics(
    "scalars", lambda a, b, c: a * b + c, algebra.sin, algebra.cos, algebra.sqrt, select=algebra.where
)
"""Any scalars: traced ones (which puts one graph into another), symbols, mpmath numbers."""


def interpret(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike], semantics: Semantics = plain
) -> dict[str, npt.NDArray[Any]]:
    """Run the graph one operation at a time: the reference for every pass and emitter.

    Args:
        graph: What to run.
        inputs: An array for each input port; with `arrays` also a batch (..., *shape) each.
        semantics: What the operations mean: `plain`, `arrays`, or another number system (mpmath, exact fma).

    Returns:
        An array for each output port.
    """
    flat, batch = [], ()
    for port in graph.inputs:
        value = np.asarray(inputs[port.name], dtype=object if semantics is not arrays else None)
        lead = value.shape[: value.ndim - len(port.shape)]
        batch = np.broadcast_shapes(batch, lead)
        if value.shape[len(lead) :] != port.shape or (lead and semantics is not arrays):
            raise TraceFault(
                f"interpret: input {port.name!r} has shape {value.shape};"
                f" graph {graph.name!r} takes {port.shape}. Give one state, or a batch with semantics=arrays."
            )
        flat.append(np.moveaxis(value.reshape(*lead, port.size), -1, 0))
    v = node_values(graph, flat, semantics)
    found = zip(graph.outputs, graph.results, strict=True)
    return {port.name: _stack([v[r] for r in row], batch, port.shape) for port, row in found}


def node_values(graph: Graph, flat: Sequence[Any], semantics: Semantics = plain) -> list[Any]:
    """The value of every node, from the flat elements of each input."""
    v: list[Any] = []
    named = {name: getattr(semantics, name) for name in ("fma", "sin", "cos", "sqrt", "div", "select")}
    for node in graph.nodes:
        a = [v[i] for i in node.args]
        match node.op:
            case "const":
                v.append(semantics.const(node.value))  # type: ignore[arg-type]
            case "input":
                v.append(flat[node.at[0]][node.at[1]])  # type: ignore[index]
            case "add":
                v.append(a[0] + a[1])
            case "sub":
                v.append(a[0] - a[1])
            case "mul":
                v.append(a[0] * a[1])
            case "neg":
                v.append(-a[0])
            case op:
                v.append(named[op](*a))
    return v


def _stack(values: list[Any], lead: tuple[int, ...], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """One array (*lead, *shape) from its flat elements; floats stay float64, other scalars objects."""
    if lead:
        return np.stack([np.broadcast_to(v, lead) for v in values], -1).reshape((*lead, *shape))
    kind = float if all(isinstance(v, (int, float)) for v in values) else object
    stacked = np.empty(len(values), dtype=kind)
    stacked[:] = values
    return stacked.reshape(shape)


def apply(graph: Graph, **inputs: Any) -> dict[str, Any]:
    """A graph inside another: its outputs, by name, for inputs of any scalar kind (traced ones among them)."""
    return interpret(graph, inputs, scalars)
