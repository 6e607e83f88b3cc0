"""Control laws as graphs: a law written for NumPy arrays is run once on traced scalars, and says why if it cannot.

What was traced must give what Python gives, where a motion begins and along it.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.disagreement import disagreement
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.memories import memory_of
from forearm.compiler.graph.trace import trace
from forearm.compiler.graph.traced_array import choosing
from forearm.faults import KernelFault, StateFault, TraceFault, a_or_an, not_labelled, not_masked
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot

RESERVED = (
    "t",
    "q",
    "qd",
    "tau",
    "h",
    "p",
    "q_mid",
    "p_mid",
    "phase",
    "work",
    "lost",
    "alive",
    "clear",
    "first",
    "which",
)
"""Names that the step itself uses; gains are called otherwise."""

MOTIONS = 3
"""Motions of a batch that are looked at."""
TIMES = 5
"""States of each, along it."""

State = Mapping[str, Any]
"""Numbers by name: t, q, qd and the gains."""


@dataclass(frozen=True, eq=False)
class TracedLaw:
    """A control law, ready for a simulation."""

    function: Callable[..., Any]
    """law(t, q, qd, **gains) of one state."""
    graph: Graph | None
    """What tracing made of it; None when it runs in Python."""
    why: str
    """'traced', or why it is not."""


def make_law(
    arm: Arm | Robot, function: Callable[..., Any], gains: Mapping[str, tuple[int, ...]], wanted: bool
) -> TracedLaw:
    """Trace a law, if that is wanted and possible.

    Args:
        arm: The arm; its number of joints is what the law must return.
        function: law(t, q, qd, **gains).
        gains: Name and shape of each gain.
        wanted: Whether to try.
    """
    _check_names(function, gains)
    if not wanted:
        return TracedLaw(function, None, "trace=False was given")
    graph, why = _graph_or_why(arm, function, gains)
    memory = memory_of(function)  # what is made at the first call, and kept, is there by now
    again, _ = _graph_or_why(arm, function, gains)
    digests = [None if one is None else one.digest for one in (graph, again)]
    if digests[0] != digests[1] or memory_of(function) != memory:
        raise StateFault(
            "law: it gave something else, or changed what it keeps, when it was traced a second time, so it keeps "
            "something between calls (an integral, a counter, a list that grows, a random number); a kernel cannot do "
            "that. Start it afresh and give trace=False, and control_dt= to have it asked once a sample."
        )
    if graph is None:
        return TracedLaw(function, None, why)
    return TracedLaw(function, graph, "traced")


def _graph_or_why(
    arm: Arm | Robot, function: Callable[..., Any], gains: Mapping[str, tuple[int, ...]]
) -> tuple[Graph | None, str]:
    """The graph of a law; or None, and why it has none."""
    try:
        return _traced(arm, function, gains), ""
    except (StateFault, KernelFault):
        raise
    except Exception as error:  # whatever a law does with traced values
        pass_on_signals()
        return None, _reason(error)


def _traced(arm: Arm | Robot, function: Callable[..., Any], gains: Mapping[str, tuple[int, ...]]) -> Graph:
    ports = {"t": (), "q": (arm.nq,), "qd": (arm.nv,), **gains}

    def torques(t: Any, q: Any, qd: Any, **rest: Any) -> Any:
        handed = {name: choosing(value) for name, value in rest.items()}
        return checked_torques(arm, function(t, choosing(q), choosing(qd), **handed))

    return trace(torques, ports, name=f"law {law_name(function)}", careful=True)


def checked_torques(arm: Arm | Robot, tau: Any) -> Any:
    """What a law returned, as (n,); a fault that tells the shape otherwise."""
    if tau is None:
        raise StateFault(
            f"law returned None; return the {arm.nv} torques of arm {arm.name!r}. (A forgotten return?)"
        )
    not_masked(tau, "what law returned")
    not_labelled(tau, "what law returned")
    array = np.asarray(tau)
    if array.dtype.kind in "cbUSM":
        raise StateFault(f"law returned numbers of type {array.dtype}; return {arm.nv} real torques.")
    if array.shape != (arm.nv,):
        raise StateFault(
            f"law returned shape {array.shape}; it gets one state and must return ({arm.nv},) torques, one for each "
            f"joint of arm {arm.name!r}."
        )
    return array


def law_name(function: Any) -> str:
    """What to call a law."""
    return getattr(function, "__name__", type(function).__name__)


def _reason(error: Exception) -> str:
    kind = "" if isinstance(error, TraceFault) else f"{type(error).__name__}: "
    return f"runs in Python, because it cannot be traced: {kind}{error}"


def _check_names(function: Any, gains: Mapping[str, tuple[int, ...]]) -> None:
    if not callable(function):
        raise StateFault(
            f"law is {a_or_an(type(function).__name__)}; give torques (n,) or (..., steps, n), or a function "
            "law(t, q, qd)."
        )
    for name in gains:
        if name in RESERVED or re.fullmatch(r"(held|over)_\d+", name):
            raise StateFault(
                f"gains: {name!r} is a name that the simulation uses itself; give it another one."
            )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(0.0, 0.0, 0.0, **dict.fromkeys(gains, 0.0))
    except TypeError as error:
        raise StateFault(
            f"law {law_name(function)}{signature} cannot be called with (t, q, qd"
            f"{''.join(', ' + g for g in gains)}): {error}; give law(t, q, qd, gains by name)."
        ) from None


# -- held against Python -----------------------------------------------------------------------------------


def at_the_start(values: State, batch: tuple[int, ...]) -> Iterator[State]:
    """Where a few motions of a batch begin, each for itself."""
    return ({"t": 0.0, **row} for row in _some_rows(values, batch))


def on_the_way(t: Any, states: State, values: State, batch: tuple[int, ...]) -> Iterator[State]:
    """A few states of a few motions, from q and qd (*batch, K, n) at the times t (K,)."""
    for row in _some_rows({"q": states["q"], "qd": states["qd"], **values}, batch):
        for k in _some(len(t), TIMES):
            yield {**row, "t": float(t[k]), "q": row["q"][k], "qd": row["qd"][k]}


def _some_rows(values: State, batch: tuple[int, ...]) -> Iterator[State]:
    for number in _some(math.prod(batch), MOTIONS):
        row = np.unravel_index(number, batch)
        yield {name: value[row] for name, value in values.items()}


def _some(count: int, most: int) -> Any:
    """So many of `count` indices at most, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def along(arm: Arm | Robot, law: TracedLaw, states: Iterable[State]) -> tuple[float, str]:
    """When a traced law first differs from Python's, and how; nothing where it does not, or runs in Python anyway.

    Args:
        arm: Whose law it is.
        law: The law.
        states: Each t, q, qd and the gains, one motion's; those that are no numbers are left out.
    """
    if law.graph is None:
        return 0.0, ""

    def plain(**state: Any) -> dict[str, Any]:
        return {"tau": checked_torques(arm, law.function(**state))}

    for state in states:
        if all(np.all(np.isfinite(value)) for value in state.values()):
            found = _told(law, plain, state)
            if found:
                return float(state["t"]), found
    return 0.0, ""


def _told(law: TracedLaw, plain: Any, state: Mapping[str, Any]) -> str:
    try:
        assert law.graph is not None
        return disagreement(law.graph, plain, state)
    except Exception as error:  # the law's own: it is told where the law runs in Python
        pass_on_signals()
        return f"it raises {type(error).__name__} in Python, and gives torques as traced"


def believed(arm: Arm | Robot, law: TracedLaw, states: Iterable[State]) -> TracedLaw:
    """The law as it was traced, or in Python where that gives something else."""
    _, told = along(arm, law, states)
    return replace(law, graph=None, why=f"runs in Python, because {told}") if told else law


def refuse_other_torques(arm: Arm | Robot, law: TracedLaw, states: Iterable[State]) -> None:
    """Refuse a motion, along which a traced law was not what it is in Python."""
    t, told = along(arm, law, states)
    if told:
        raise StateFault(
            f"law {law_name(law.function)}: at t = {t:g} s {told}; does it ask what kind of numbers it is given? It "
            "cannot be compiled; simulate(..., trace=False) runs it in Python."
        )
