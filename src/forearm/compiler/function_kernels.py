"""Kernels of the user's own functions: a NumPy function of one state, traced and compiled for many."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from forearm.compiler.graph.disagreement import disagreement
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.memories import memory_of
from forearm.compiler.graph.passes import FEW, simplify
from forearm.compiler.graph.trace import named_results, trace
from forearm.compiler.graph.traced_array import choosing
from forearm.compiler.kernel import Kernel
from forearm.compiler.pipeline import TARGETS, graph_kernel
from forearm.faults import Fault, KernelFault, TraceFault, explained, names_of, shown
from forearm.outside.signal_errors import pass_on_signals


@explained
def compile_function(
    function: Callable[..., Any],
    inputs: Mapping[str, int | Sequence[int]],
    outputs: Sequence[str] = ("result",),
    *,
    dtype: str = "float64",
    target: str = "cpu",
    layout: str | None = None,
) -> Kernel:
    """A kernel of a function of your own: written for one state in NumPy, compiled for one or a million.

    The function is called with arrays of traced values, as control laws are: arithmetic, matrix products, `np.sin`,
    `np.tanh`, `np.clip`, `np.where`'s cousin `fa.where`, and forearm's own functions of states (their derivatives
    too) all become one straight piece of machine code. What asks for a value (an `if`, `np.linalg`) is refused, and
    what gives something else of numbers, because it asks for their type.

    Numbers are those of the plain function but for roundoff, which may be less: sums and products are taken in another
    order, and what cancels is left out (x + 1 - x is 1). Divisions and roots stay, so 0 / 0 is NaN as it is there. An
    input that a result does not depend on, such as x in 0 * x, may be NaN or infinite without being seen in it. The
    sign of a zero is not kept.

    Args:
        function: Takes one array for each input, by name; returns an array, a tuple of as many arrays as `outputs`
            names, or a dict of name to array.
        inputs: Name and shape of each input, in calling order: {"q": 7, "K": (7, 14), "step": ()}.
        outputs: Names of the results (a dict brings its own).
        dtype: "float64" or "float32".
        target: "cpu", "cuda" or "wasm", as for `compile`.
        layout: "rows" or "columns", as for `compile`.

    Returns:
        The kernel: call it with arrays (..., *shape), with `out=` and `threads=` like any other.
    """
    if not callable(function):
        raise TraceFault(f"compile_function: function is {shown(function)}; give a function of arrays.")
    if target not in TARGETS:
        raise KernelFault(
            f"compile_function: target is {shown(target)}; give {' or '.join(map(repr, TARGETS))}."
        )
    name = getattr(function, "__name__", type(function).__name__)
    _check_names(name, inputs, outputs)
    shapes = {key: _shape(name, key, shape) for key, shape in inputs.items()}
    graph = _traced(function, shapes, tuple(outputs), name)
    memory = memory_of(function)
    if (
        _traced(function, shapes, tuple(outputs), name).digest != graph.digest
        or memory_of(function) != memory
    ):
        raise TraceFault(
            f"compile_function: {name} did something else, or changed what it keeps, when it was traced a second time, "
            "so it keeps something between calls (a counter, a list that grows, a random number); a kernel cannot do "
            "that. Make it an input."
        )
    _check_values(function, graph, name)
    how = {"layout": layout} if layout else {}
    # looking for common factors takes half a minute where there are ten thousand operations
    simple = simplify(graph, 1 if graph.counts.operations <= FEW else 0)
    return graph_kernel(simple, target=target, dtype=dtype, name=name, **how)


def _traced(
    function: Callable[..., Any], shapes: dict[str, tuple[int, ...]], outputs: tuple[str, ...], name: str
) -> Graph:
    def handed(**values: Any) -> Any:
        return function(**{key: choosing(value) for key, value in values.items()})

    try:
        return trace(handed, shapes, name=name, outputs=outputs, careful=True)
    except Fault:
        raise
    except Exception as error:  # whatever a function does with traced values
        pass_on_signals()
        raise TraceFault(
            f"compile_function: {name} cannot be traced: {type(error).__name__}: {error}. It gets one state, an array "
            "of traced values for each input, and may do arithmetic with them and call forearm's functions."
        ) from error


TRIED = 3
"""States at which a function is asked in Python, too."""


def _check_values(function: Callable[..., Any], graph: Graph, name: str) -> None:
    """Refuse a function that gives something else of numbers; of some it may give nothing, and is believed."""
    outputs = tuple(port.name for port in graph.outputs)

    def plain(**values: Any) -> dict[str, Any]:
        return named_results(function(**values), outputs, name)

    chance = np.random.default_rng(0)
    for _ in range(TRIED):
        try:
            told = disagreement(
                graph, plain, {port.name: chance.normal(size=port.shape) for port in graph.inputs}
            )
        except Exception:  # numbers that it was not made for: no rotation, nothing to divide by
            pass_on_signals()
            continue
        if told:
            raise TraceFault(
                f"compile_function: of some numbers {name} gives something else: {told}. Traced values are no floats; "
                "a function that asks what kind of numbers it is given cannot be compiled. Leave the question out."
            )


MOST_OUTPUTS = 1000
"""Results of one function that have names."""


def _check_names(function: str, inputs: Any, outputs: Any) -> None:
    """Refuse inputs without shapes, and results without names of their own: of two of one name one would be lost."""
    if not isinstance(inputs, Mapping):
        raise TraceFault(
            f"compile_function: inputs of {function} are {shown(inputs)}; give shapes by name: {{'q': 7}}."
        )
    names = names_of(outputs, f"compile_function: outputs of {function}", MOST_OUTPUTS, TraceFault)
    if len(set(names)) < len(names):
        raise TraceFault(
            f"compile_function: outputs of {function} are {shown(outputs)}; give a tuple of names, each once."
        )


def _shape(function: str, name: str, shape: Any) -> tuple[int, ...]:
    """A shape as a tuple; a number is that of a vector."""
    axes = (shape,) if isinstance(shape, int | np.integer) else shape
    if isinstance(axes, tuple | list) and all(isinstance(k, int | np.integer) and k > 0 for k in axes):
        return tuple(map(int, axes))
    raise TraceFault(
        f"compile_function: {function}'s input {name!r} has the shape {shown(shape)}; give a whole number (a "
        "vector), a tuple of them, or () for one number."
    )
