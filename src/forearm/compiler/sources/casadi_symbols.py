"""A graph as a CasADi function, for optimal control (the extra `casadi`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import Semantics, interpret
from forearm.compiler.model.choice import best_graph
from forearm.compiler.sources.identifiers import identifier, words
from forearm.faults import KernelFault, explained, names_of
from forearm.outside.libraries.optional_libraries import optional


class CasadiFunction(Protocol):
    """A `casadi.Function`, as far as types can be said of a library that has none."""

    def __call__(self, *values: Any) -> Any:
        """Numbers for numbers, expressions for symbols."""

    def name(self) -> str:
        """The quantity."""

    def jacobian(self) -> CasadiFunction:
        """Its exact derivatives."""

    def __getattr__(self, name: str) -> Any:
        """Whatever else CasADi's functions have."""


@explained
def casadi_function(
    arm: Arm, quantity: str = "inverse_dynamics", *, free: Sequence[str] = (), **options: Any
) -> CasadiFunction:
    """A quantity of an arm as a `casadi.Function` of SX symbols, for optimal control: CasADi differentiates it.

    Args:
        arm: The arm; its numbers become constants.
        quantity: What to compute: "inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", ...
        free: Parameters that stay inputs, after the state: "inertial", "payload", "links[2].mass", ...
        **options: Of the quantity: `frame=` for pose and jacobian.

    Returns:
        A function of columns (q, qd, qdd, ...) under their names, its name that of the quantity.

    >>> import forearm as fa
    >>> torque = fa.casadi_function(fa.load("rr"))
    >>> torque
    Function(inverse_dynamics:(q[2],qd[2],qdd[2])->(tau[2]) SXFunction)
    """
    graph, _ = best_graph(arm, quantity, names_of(free, "casadi_function: free"), None, options)
    function: CasadiFunction = to_casadi(graph, quantity)
    return function


def to_casadi(graph: Graph, name: str = "") -> Any:
    """The graph as a `casadi.Function` of SX symbols.

    Args:
        graph: What to turn into a function; fused multiply-adds become a product and a sum.
        name: Name of the function; the graph's own by default.

    Returns:
        A function with the graph's input and output names. Vectors are columns, matrices are matrices; arrays
        with more axes are refused.
    """
    try:
        casadi = optional("casadi")
    except ImportError:
        raise KernelFault(
            f"to_casadi of {graph.name!r}: CasADi is not installed. Install it with: pip install 'forearm[casadi]'"
        ) from None
    for port in (*graph.inputs, *graph.outputs):
        if len(port.shape) > 2:
            raise KernelFault(
                f"to_casadi of {graph.name!r}: {port.name!r} has shape {port.shape};"
                " CasADi has scalars, vectors and matrices only. Take slices of it as separate outputs."
            )
    called = words(_accepted(port.name) for port in (*graph.inputs, *graph.outputs))
    symbols = {
        port.name: casadi.SX.sym(word, *(port.shape or (1,)))
        for word, port in zip(called, graph.inputs, strict=False)
    }
    semantics = Semantics(
        "casadi",
        fma=lambda a, b, c: a * b + c,
        sin=casadi.sin,
        cos=casadi.cos,
        sqrt=casadi.sqrt,
        select=lambda x, a, b: casadi.if_else(x > 0, a, b),
    )
    inputs = {port.name: _elements(symbols[port.name], port.shape) for port in graph.inputs}
    found = interpret(graph, inputs, semantics)
    outputs = [_stacked(casadi, found[port.name]) for port in graph.outputs]
    names = called[: len(graph.inputs)], called[len(graph.inputs) :]
    title = _accepted(name or graph.name)
    return casadi.Function(title, list(symbols.values()), outputs, *names)


def _accepted(name: str) -> str:
    """A word that begins with a letter, as CasADi's names do."""
    word = identifier(name)
    return f"x{word}" if word.startswith("_") else word


def _elements(symbol: Any, shape: tuple[int, ...]) -> Any:
    """A symbolic matrix as an object array of scalars."""
    array = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        array[place] = symbol[place if len(shape) == 2 else (*place, 0)[:2]] if shape else symbol
    return array


def _stacked(casadi: Any, array: Any) -> Any:
    """An object array of scalars as a symbolic matrix."""
    rows = np.atleast_2d(array) if array.ndim != 1 else array[:, None]
    return casadi.vertcat(*(casadi.horzcat(*(casadi.SX(x) for x in row)) for row in rows))
