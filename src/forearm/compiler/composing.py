"""Graphs inside graphs: run a graph on any scalars, traced ones included, so that quantities build on derivatives."""

from typing import Any

import numpy as np

from forearm.algebra import cos, sin, sqrt, where
from forearm.compiler.graph import Graph


def apply(graph: Graph, **inputs: Any) -> dict[str, Any]:
    """The outputs of a graph for inputs of any scalar kind, by name."""
    flat = [np.asarray(inputs[port.name], dtype=object).ravel() for port in graph.inputs]
    values: list[Any] = []
    for node in graph.nodes:
        a = [values[k] for k in node.args]
        match node.op:
            case "const":
                values.append(node.value)
            case "input":
                assert node.at is not None
                values.append(flat[node.at[0]][node.at[1]])
            case "add":
                values.append(a[0] + a[1])
            case "sub":
                values.append(a[0] - a[1])
            case "mul":
                values.append(a[0] * a[1])
            case "div":
                values.append(a[0] / a[1])
            case "neg":
                values.append(-a[0])
            case "fma":
                values.append(a[0] * a[1] + a[2])
            case "sqrt":
                values.append(sqrt(a[0]))
            case "sin":
                values.append(sin(a[0]))
            case "cos":
                values.append(cos(a[0]))
            case "select":
                values.append(where(a[0], a[1], a[2]))
    found = zip(graph.outputs, graph.results, strict=True)
    return {port.name: _shaped([values[k] for k in row], port.shape) for port, row in found}


def _shaped(values: list[Any], shape: tuple[int, ...]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape) if shape else array[0]
