"""Graphs inside graphs: a graph runs on traced scalars too, so that quantities build on derivatives of others."""

from typing import Any

from forearm.compiler.graph import Graph, interpret, scalars


def apply(graph: Graph, **inputs: Any) -> dict[str, Any]:
    """The outputs of a graph, by name, for inputs of any scalar kind."""
    return interpret(graph, inputs, scalars)
