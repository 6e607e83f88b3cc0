"""What every kernel is, wherever it runs: a graph as a function of arrays.

A kernel takes one array for each input, (..., *shape) in rows or (*shape, N) in columns, and gives one for each output;
leading axes broadcast. It knows what it computes and for whom (`name`, `subject`), what it costs (`counts`), why it is
as it is (`why`), its text (`source`), and how exact it is (`accuracy`). `ProcessorKernel`, `ChainKernel` and
`GpuKernel` are the kinds that there are; what they accept is checked in one place, call/arguments.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from forearm.compiler.graph.graph import Counts, Graph, Port
from forearm.faults import KernelFault, StateFault, precision, shown

LAYOUTS = {"rows": "(..., k)", "columns": "(k, N)"}
"""How states lie in an array: one after the other, (N, k) in C order, or side by side, (k, N) in C order."""

PRECISIONS = ("float64", "float32")

SEARCH = "search"
"""Asks for the cheapest of all formulations instead of the one that usually is."""


class Why(NamedTuple):
    """Which candidates were traced for a kernel, and what each costs after the passes."""

    chosen: str
    """The candidate that was taken."""
    candidates: tuple[tuple[str, Counts], ...]
    """Every candidate with its operation counts, cheapest first (those far behind before factoring)."""
    source: str
    """'search' (just now), 'table' (a committed search), 'default', 'asked for', or 'long chain' (loops)."""

    def __str__(self) -> str:
        lines = [f"{self.chosen} ({self.source})"]
        return "\n".join(lines + [f"  {counts.operations:7d}  {label}" for label, counts in self.candidates])


class Accuracy(NamedTuple):
    """How far results are from the same graph in a wider precision."""

    compared_with: str
    """The wider precision."""
    absolute: dict[str, float]
    """Largest difference, for each output."""
    relative: dict[str, float]
    """The same, divided by the largest magnitude of that output over all states."""

    def __str__(self) -> str:
        """One line."""
        parts = [
            f"{name} {self.relative[name]:.2g} (absolute {self.absolute[name]:.2g})" for name in self.relative
        ]
        return f"largest relative error against {self.compared_with}: {', '.join(parts)}"


class KernelSubject(NamedTuple):
    """What a kernel is about, for its messages: whose joints, and whether it divides by their mass matrix."""

    arm: Any = None
    """The arm whose joints the inputs of n numbers belong to; None for a graph of its own."""
    solves: bool = False
    """Whether results that are not finite mean a mass matrix that cannot be inverted."""
    why: Why | None = None
    """What was chosen from what."""


class Kernel(ABC):
    """A graph, compiled: call it with arrays."""

    def __init__(
        self, graph: Graph, dtype: str, layout: str, name: str | None, subject: KernelSubject
    ) -> None:
        self.graph, self.layout, self.name, self.subject = graph, layout, name or graph.name, subject
        self.dtype = precision(dtype, f"{self.name}: dtype", KernelFault)
        if layout not in LAYOUTS:
            kinds = " or ".join(f"{k!r} {v}" for k, v in LAYOUTS.items())
            raise KernelFault(f"{self.name}: layout is {shown(layout)}; give {kinds}.")
        self.results = _results_of(graph.outputs)

    # What it is ------------------------------------------------------------------------------------------

    @property
    def counts(self) -> Counts:
        """Operations for one state."""
        return self.graph.counts

    @property
    def why(self) -> Why | None:
        """Which formulation was chosen from which; None for a graph of its own."""
        return self.subject.why

    @property
    @abstractmethod
    def how(self) -> str:
        """Where and how it runs, in a few words."""

    def __repr__(self) -> str:
        """Name, ports, precision, how it runs, operations."""
        takes, gives = (_listed(ports) for ports in (self.graph.inputs, self.graph.outputs))
        about = f"{self.dtype}, {self.layout}, {self.how}; {self.counts}"
        return f"<Kernel {self.name}: ({takes}) -> {gives}; {about}>"

    # Calling ---------------------------------------------------------------------------------------------

    def __call__(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute the outputs of one state or of many.

        Args:
            *inputs: One array for each input port, (..., *shape); leading axes broadcast against each other.
            out: Where to put the result (several outputs: a tuple of arrays). It may be one of the inputs.
            threads: How many threads share the states; the GIL is released. (A GPU has its own.)

        Returns:
            The output array; a named tuple of arrays where the graph has several outputs. A single state with
            NaN or infinity is a fault; in a batch it stays in its own row.
        """
        return self.general(*inputs, out=out, threads=threads)

    @abstractmethod
    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """The call for arrays of any shape and type, with every check."""

    def packed(self, outs: Sequence[Any], out: Any = None) -> Any:
        """One result as it is, several as a named tuple; where they went into `out`, the very arrays of the caller."""
        outs = outs if out is None else self.given_outputs(out)
        return outs[0] if len(outs) == 1 else self.results(*outs)

    def shapes(self, batch: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Shapes of the outputs of a batch."""
        rows = self.layout == "rows"
        return [batch + p.shape if rows else p.shape + batch for p in self.graph.outputs]

    def given_outputs(self, out: Any) -> tuple[Any, ...]:
        """What the caller gave as `out`, one for each output."""
        ports = self.graph.outputs
        given = (out,) if len(ports) == 1 and not isinstance(out, tuple) else out
        if not isinstance(given, tuple) or len(given) != len(ports):
            names = ", ".join(p.name for p in ports)
            raise StateFault(
                f"{self.name}: out is {type(out).__name__}; give a tuple of {len(ports)} arrays: {names}."
            )
        return given

    # Looking at it ---------------------------------------------------------------------------------------

    @abstractmethod
    def source(self, kind: str = "") -> str:
        """The code that runs, as text of some kind."""

    @abstractmethod
    def accuracy(self, *inputs: Any) -> Accuracy:
        """Compare this kernel on the given states with the same graph in a wider precision."""


def _listed(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{p.name}{list(p.shape)}" for p in ports)


def _results_of(outputs: tuple[Port, ...]) -> Any:
    """The named tuple of several outputs."""
    if len(outputs) == 1:
        return tuple
    from forearm.results import (
        results_of,
    )  # a dozen classes, which the first torque of a process can do without

    return results_of(port.name for port in outputs)
