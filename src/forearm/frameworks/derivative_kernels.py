"""A graph, its derivatives, theirs in turn: each is a graph like any other, made and compiled when it is asked for.

Every graph here has inputs x0, x1, … and one flat output y. `pulled` is its derivative backwards (weights of y in, one
slope for each input that is wanted out), `pushed` the one forwards (rates of inputs in, the rate of y out); both are
again such graphs, so that any order of derivatives is exact and nothing ends in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forearm.compiler.graph.derivatives import jvp, vjp
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes import fold
from forearm.compiler.kernel import Kernel
from forearm.compiler.pipeline import graph_kernel


@dataclass(eq=False)
class DerivativeKernels:
    """A function of several inputs with one flat output, its kernels, and its derivatives."""

    name: str
    """What messages call it."""
    made: Callable[[], Graph]
    """Makes the graph, when it is first needed."""
    first: Callable[..., Kernel] | None = None
    """Makes the kernel of a target and precision where there is a better one than the graph's own."""
    known: dict[Any, Any] = field(default_factory=dict)
    """What was made before: the graph, kernels, derivatives."""

    @property
    def graph(self) -> Graph:
        """Inputs x0, x1, …, output y."""
        found: Graph = self._kept("graph", self.made)
        return found

    def kernel(self, target: str, dtype: str) -> Kernel:
        """The function on a target, in a precision, for rows of states."""
        how = {"target": target, "dtype": dtype, "layout": "rows"}
        make = self.first or (lambda **how: graph_kernel(self.graph, name=self.name, **how))
        found: Kernel = self._kept((target, dtype), lambda: make(**how))
        return found

    def pulled(self, wrt: tuple[int, ...]) -> DerivativeKernels:
        """Of the inputs and weights of y, after them: the slopes by the inputs `wrt`, one after the other."""
        return self._derived("pulled", wrt, lambda names: vjp(self.graph, "y", names))

    def pushed(self, wrt: tuple[int, ...]) -> DerivativeKernels:
        """Of the inputs and rates of the inputs `wrt`, after them: the rate of y."""
        return self._derived("pushed", wrt, lambda names: jvp(self.graph, names))

    def _derived(
        self, way: str, wrt: tuple[int, ...], sweep: Callable[[Sequence[str]], Graph]
    ) -> DerivativeKernels:
        def made() -> Graph:
            return flat(sweep([f"x{k}" for k in wrt]), after=1)

        found: DerivativeKernels = self._kept(
            (way, wrt), lambda: DerivativeKernels(f"derivative of {self.name}", made)
        )
        return found

    def _kept(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]


def flat(graph: Graph, after: int = 0) -> Graph:
    """The graph with inputs x0, x1, … and all its outputs, from number `after` on, as one, y."""
    rows = tuple(r for row in graph.results[after:] for r in row)
    inputs = tuple(Port(f"x{k}", port.shape) for k, port in enumerate(graph.inputs))
    one = replace(graph, inputs=inputs, outputs=(Port("y", (len(rows),)),), results=(rows,), effort=-1)
    return fold(one)
