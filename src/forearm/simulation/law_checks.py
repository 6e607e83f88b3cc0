"""Laws held against themselves: what was traced must give what Python gives, where a motion begins and along it."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.disagreement import disagreement
from forearm.faults import StateFault
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot
from forearm.simulation.traced_laws import TracedLaw, checked_torques, law_name

MOTIONS = 3
"""Motions of a batch that are looked at."""
TIMES = 5
"""States of each, along it."""

State = Mapping[str, Any]
"""Numbers by name: t, q, qd and the gains."""


def at_the_start(values: State, batch: tuple[int, ...]) -> Iterator[State]:
    """Where a few motions of a batch begin, each for itself."""
    return ({"t": 0.0, **row} for row in _some_rows(values, batch))


def on_the_way(t: Any, states: State, values: State, batch: tuple[int, ...]) -> Iterator[State]:
    """A few states of a few motions, from states (*batch, K, n) at the times t (K,)."""
    for row in _some_rows({**states, **values}, batch):
        for k in _some(len(t), TIMES):
            yield {**row, "t": float(t[k]), **{name: row[name][k] for name in states}}


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
