"""How one step of a simulation is made from evaluations of a graph: the description that all emitters read.

A rule says nothing about arms: states have rates (outputs of the graph, or other states), and a rule combines them.
The processor's loop, the GPU's and the steps in NumPy are all written from these few numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from forearm.faults import KernelFault


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta scheme: the state after a step is y + dt Σ weights[i] k[i]."""

    name: str
    """What messages call it."""
    times: tuple[float, ...]
    """When each stage is, in steps (s,); the first at 0."""
    reaches: tuple[tuple[float, ...], ...]
    """Row i - 1: stage i is taken at y + dt Σ_j reaches[i - 1][j] k[j], j < i; s - 1 rows of 1, 2, … numbers."""
    weights: tuple[float, ...]
    """Share of each stage's rate in the step (s,)."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no scheme."""
        s = len(self.weights)
        sizes = [len(row) for row in self.reaches]
        if len(self.times) != s or sizes != list(range(1, s)) or self.times[:1] != (0.0,):
            raise KernelFault(
                f"tableau {self.name!r}: {len(self.times)} times, reaches of {sizes} numbers, {s} weights; give s "
                "times from 0 on, s - 1 rows of 1, 2, … numbers, s weights."
            )
        uneven = [i for i, row in enumerate(self.reaches, 1) if abs(sum(row) - self.times[i]) > 1e-12]
        if uneven or abs(sum(self.weights) - 1) > 1e-12:
            raise KernelFault(
                f"tableau {self.name!r}: weights must add up to 1 and each row of reaches to its time"
                f"{f' (not so: stage {uneven[0]})' if uneven else ''}; look for a misprint."
            )

    @property
    def stages(self) -> int:
        """How often a step evaluates the graph."""
        return len(self.weights)

    @property
    def kept(self) -> tuple[int, ...]:
        """Stages whose rates are read again after the stage that follows them; none in the classical schemes."""
        return tuple(j for j in range(self.stages) if any(row[j] for row in self.reaches[j + 1 :]))


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v += dt a, then x += dt v: first states whose rate is an output, then those that follow another state."""

    name: str = "semi_implicit_euler"
    """What messages call it."""


@dataclass(frozen=True)
class Map:
    """next = graph(state): other schemes, sampled control laws, whatever a graph can say."""

    name: str = "map"
    """What messages call it."""


StepRule = Tableau | SemiImplicitEuler | Map

RK4 = Tableau(
    "rk4",
    times=(0.0, 0.5, 0.5, 1.0),
    reaches=((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)
"""The classical scheme of fourth order; each stage needs the one before it only."""

RULES: dict[str, StepRule] = {rule.name: rule for rule in (RK4, SemiImplicitEuler(), Map())}
"""Rules that have a name of their own; any other Tableau is given as it is."""


def rule_of(where: str, method: str | StepRule) -> StepRule:
    """A rule, by name or as it is."""
    if not isinstance(method, str):
        return method
    if method not in RULES:
        raise KernelFault(f"{where}: method is {method!r}; give one of {', '.join(RULES)}, or a Tableau.")
    return RULES[method]
