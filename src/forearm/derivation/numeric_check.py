"""Closed form against numbers: the torques of a formulation on floats, and of a compiled kernel."""

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm.derivation.symbols import excuses, parameter_names, with_values
from forearm.formulations import FORMULATIONS

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

STATES = 4
"""How many random states are compared."""
REFERENCE = "luh_walker_paul_1980"
"""The formulation to compare with."""


@dataclass(frozen=True)
class Check:
    """How far the closed form is from other ways to the torques, at random states and parameters."""

    residual: float
    """Largest difference, divided by the largest torque."""
    against: tuple[str, ...]
    """What it was compared with."""
    states: int
    """How many random states."""
    residuals: tuple[float, ...]
    """The residual against each of them."""

    @property
    def passed(self) -> bool:
        """Whether the difference is round-off."""
        return self.residual < 1e-12

    def __str__(self) -> str:
        each = ", ".join(f"{name} {r:.1e}" for name, r in zip(self.against, self.residuals, strict=True))
        verdict = "agrees to round-off" if self.passed else "DISAGREES"
        return f"{verdict}: largest relative difference at {self.states} random states: {each}"


def random_values(equations: "Equations") -> dict[str, float]:
    """Numbers for the arm's symbols, the same every time."""
    rng = np.random.default_rng(zlib.crc32(equations.arm.name.encode()))
    return {name: float(rng.uniform(0.5, 1.5)) for name in parameter_names(equations.arm)}


def closed_form_torques(equations: "Equations", values: dict[str, float], state: list[Any]) -> Any:
    """Torques of the closed form for numbers in place of the arm's symbols."""
    known = dict(values)
    for grouping in equations.groupings:
        known[grouping.name] = grouping.meaning.evaluate(values.__getitem__)
    return equations.lambdify("tau")(*state, **known)


def numeric_check(equations: "Equations") -> Check:
    """Compare with the formulation that was used, with the reference, and with the compiler's graph."""
    values = random_values(equations)
    arm = with_values(equations.arm, values, defects=excuses(equations.n))
    S = equations.S
    rng = np.random.default_rng(1)
    state = [rng.uniform(-2, 2, (STATES, equations.n)) for _ in range(3)]
    got = closed_form_torques(equations, values, state)
    q, qd, qdd = (x @ S.T for x in state)
    found: dict[str, float] = {}
    for stem in dict.fromkeys((equations.formulation or REFERENCE, REFERENCE)):
        want = (
            np.array([FORMULATIONS[stem].joint_torques(arm, *row) for row in zip(q, qd, qdd, strict=True)])
            @ S
        )
        found[stem] = _residual(got, want)
    want = np.array(_kernel(arm)(q, qd, qdd)) @ S
    found["compiled kernel"] = _residual(got, want)
    return Check(max(found.values()), tuple(found), STATES, tuple(found.values()))


def _kernel(arm: Any) -> Any:
    """The kernel of the arm's inverse dynamics, not kept on disk (its numbers are random)."""
    from forearm.compiler.call.processor import ProcessorKernel
    from forearm.compiler.graph.passes import lower
    from forearm.compiler.graph.trace import trace

    torques = FORMULATIONS["khalil_kleinfinger_1987"].joint_torques
    shapes = {name: (arm.n,) for name in ("q", "qd", "qdd")}
    graph = trace(lambda q, qd, qdd: torques(arm, q, qd, qdd), shapes)
    return ProcessorKernel(lower(graph, effort=0), keep=False)


def _residual(got: Any, want: Any) -> float:
    scale = float(np.max(np.abs(want), initial=0.0))
    return float(np.max(np.abs(got - want))) / (scale or 1.0)
