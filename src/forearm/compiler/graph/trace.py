"""Tracing: run a plain NumPy function once on traced scalars and keep the graph of what it did."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from forearm.compiler.graph.builder import Builder
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.traced_scalar import Traced, source_line
from forearm.faults import TraceFault, not_masked


class _OriginBuilder(Builder):
    """A builder that notes the source line of every new node."""

    __slots__ = ()

    def _append(self, op: str, args: tuple[int, ...], value: float | None, at: tuple[int, int] | None) -> int:
        self.origin = source_line(2) if op not in ("const", "input") else None
        return Builder._append(self, op, args, value, at)


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, Sequence[int]],
    name: str = "",
    outputs: Sequence[str] = ("tau",),
    origins: bool = False,
    careful: bool = False,
) -> Graph:
    """The graph of a function of arrays.

    Args:
        function: Called once, with a keyword for each input: an object array of traced scalars, or one traced
            scalar where the shape is (). It returns an array, a tuple of arrays, or a dict of name to array;
            plain numbers in them become constants.
        inputs: Name and shape of each input, in calling order: {"q": (6,), "qd": (6,), "mass": ()}.
        name: What the graph computes; the function's name by default.
        outputs: Names of the results (a dict brings its own).
        origins: Whether to keep, in `graph.origins`, the source line that made each node.
        careful: Whether quotients and roots stay, also where nothing depends on their values (see the builder).

    Returns:
        The graph, folded and without what the results do not need.
    """
    name = name or getattr(function, "__name__", "graph")
    ports = tuple(Port(key, tuple(int(k) for k in shape)) for key, shape in inputs.items())
    builder = (_OriginBuilder if origins else Builder)(ports, careful)
    values = {port.name: _input(builder, k) for k, port in enumerate(ports)}
    found = named_results(function(**values), tuple(outputs), name)
    if builder.refused:  # somebody caught it and went another way than numbers would
        raise TraceFault(builder.refused)
    shapes, results = [], []
    for key, value in found.items():
        not_masked(value, f"trace: {name!r} returned {key!r}, which", TraceFault)
        array = np.asarray(value, dtype=object)
        shapes.append(Port(key, array.shape))
        results.append([_node(builder, element, name, key) for element in array.ravel()])
    return builder.finish(name, shapes, results)


def _input(builder: Builder, which: int) -> Any:
    """Input number `which` as an object array of traced scalars, or as one of them."""
    shape = builder.inputs[which].shape
    array = np.empty(math.prod(shape), dtype=object)
    array[:] = [Traced(builder, builder.input(which, k)) for k in range(array.size)]
    return array.reshape(shape) if shape else array[0]


def named_results(value: Any, outputs: tuple[str, ...], name: str) -> dict[str, Any]:
    """What the function returned, as name and value in order."""
    if isinstance(value, Mapping):
        return dict(value)
    values = value if isinstance(value, tuple) and len(outputs) > 1 else (value,)
    if len(values) != len(outputs):
        raise TraceFault(
            f"trace: {name!r} returned {len(values)} result(s), but outputs={outputs} names {len(outputs)};"
            " return a tuple of as many arrays, or a dict of name to array."
        )
    return dict(zip(outputs, values, strict=True))


def _node(builder: Builder, element: Any, name: str, output: str) -> int:
    """Node of one element of a result."""
    if isinstance(element, Traced):
        if element.builder is builder:
            return element.index
        raise TraceFault(
            f"trace: {name!r} returned, in {output!r}, a value of another trace; trace them together."
        )
    if isinstance(element, (int, float, np.floating, np.integer)):
        return builder.const(float(element))
    raise TraceFault(
        f"trace: {name!r} returned, in {output!r}, a {type(element).__name__};"
        " numbers and traced scalars were expected."
    )
