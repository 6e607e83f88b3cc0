"""A graph as a NumPy function: readable source, batched over leading axes, no compiler needed.

It is the fallback where LLVM is missing, and `kernel.source("numpy")`. Fused multiply-adds are written out,
in two roundings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.sources.identifiers import identifier, words
from forearm.outside.escapes import docstring

FORM = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "fma": "{} * {} + {}",
    "sqrt": "np.sqrt({})",
    "sin": "np.sin({})",
    "cos": "np.cos({})",
    "select": "np.where({} > 0, {}, {})",
}
"""How NumPy spells an operation."""


def numpy_source(graph: Graph, name: str = "") -> str:
    """Source of a module with a function of the graph's inputs, (..., *shape); it returns its output, or a tuple."""
    inputs = words(port.name for port in graph.inputs)
    lines = ["import numpy as np", "", ""]
    lines += [f"def {identifier(name or graph.name)}({', '.join(inputs)}):", f'    """{_title(graph)}."""']
    kinds = ", ".join([*inputs, "np.float32"]) if inputs else "np.float64"
    lines.extend(f"    {key} = np.asarray({key})" for key in inputs)
    lines.append(f"    kind = np.result_type({kinds})")
    lines.extend(f"    {key} = {key}.astype(kind, copy=False)" for key in inputs)
    rest = [f"{key}.shape[:{-len(p.shape) or None}]" for key, p in zip(inputs, graph.inputs, strict=True)]
    lines.append(f"    lead = np.broadcast_shapes({', '.join(rest)})")
    names: list[str] = []
    for index, node in enumerate(graph.nodes):
        if node.value is not None:
            names.append(f"({node.value!r})" if node.value < 0 else repr(node.value))
        elif node.at is not None:
            names.append(_element(inputs[node.at[0]], graph.inputs[node.at[0]], node.at[1]))
        else:
            names.append(f"v{index}")
            lines.append(f"    v{index} = {FORM[node.op].format(*(names[a] for a in node.args))}")
    return "\n".join([*lines, *_outputs(graph, names, inputs)]) + "\n"


def _outputs(graph: Graph, names: list[str], inputs: list[str]) -> list[str]:
    """Lines that gather the outputs and return them; an input may be read until the last of them."""
    lines = []
    keys = words((f"out_{identifier(port.name)}" for port in graph.outputs), inputs)
    for key, port, row in zip(keys, graph.outputs, graph.results, strict=True):
        lines.append(f"    {key} = np.empty((*lead, {', '.join(str(s) for s in port.shape)}), dtype=kind)")
        for k, r in enumerate(row):
            place = _element(key, port, k) if port.shape else f"{key}[...]"
            lines.append(f"    {place} = {names[r]}")
    return [*lines, f"    return {', '.join(keys)}"]


def to_numpy(graph: Graph) -> Callable[..., Any]:
    """The function itself: arrays (..., *shape) for each input; its output, or a tuple of them.

    `function.source` is the text. Rows with NaN or infinities stay what they are, without warnings.
    """
    space: dict[str, Any] = {}
    name, source = identifier(graph.name), numpy_source(graph)
    exec(compile(source, f"<NumPy source of {name}>", "exec"), space)
    inner = space[name]

    @wraps(inner)
    def function(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return inner(*arrays)

    function.source = source  # type: ignore[attr-defined]
    return function


def _title(graph: Graph) -> str:
    return f"{docstring(graph.name)}: {graph.counts}"


def _element(name: str, port: Port, k: int) -> str:
    """Element k of a port, over all states."""
    if not port.shape:
        return name
    return f"{name}[..., {', '.join(str(int(i)) for i in np.unravel_index(k, port.shape))}]"
