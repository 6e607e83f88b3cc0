"""Schemes and their engines: a Scheme is a row that says what a scheme can do; an Engine carries states over steps.

    KernelLoop   the kernel's own loop: any rule on the plant's rates, any map
    Stages       the same rules written out in NumPy, for laws that cannot be compiled

A state is a dict of arrays (*batch, *shape): q, qd and the scalars of the plant. `advance` gives the state after
`count` steps and, for every `every`-th step from the first on, what the state was when it began.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.cuda.host_rollout import HostRollout
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.step_rules import Map, StepRule, Tableau
from forearm.simulation.plant import Plant, State, kept, rates_graph, rates_kernel, rates_of
from forearm.simulation.request import Request, Torques
from forearm.simulation.row_blocks import Block, RowBlocks


@dataclass(frozen=True, eq=False)
class Setting:
    """What an engine is made for."""

    request: Request
    """What is simulated, from where, under which law."""
    law: Graph | None = None
    """The law that is evaluated inside the step, compiled."""
    calls: Torques | None = None
    """The law that is evaluated inside the step, in Python."""
    target: str = "cpu"
    """'cpu', or 'cuda' for all rows in one launch on the GPU."""
    rtol: float = 1e-10
    """Relative tolerance, for adaptive schemes."""
    atol: float = 1e-12
    """Absolute tolerance, for adaptive schemes."""

    @property
    def plant(self) -> Plant:
        """What is simulated."""
        return self.request.plant

    @property
    def values(self) -> State:
        """Gains and free parameters, (*batch, *shape) each, by port."""
        return self.request.values

    @property
    def within(self) -> bool:
        """Whether a law is evaluated inside the step, instead of torques held during it."""
        return self.request.law is not None and not self.request.hold

    @property
    def per_step(self) -> bool:
        """Whether torques come as one for each step instead of one for all."""
        tau = self.request.torques
        return tau is not None and tau.ndim > 1 and tau.shape[-2] > 1


def _go_on(share: float) -> None:
    """What nobody listens to."""


class Engine(ABC):
    """What carries states over a number of steps."""

    plant: Plant
    """What is simulated."""
    threads: int = 1
    """How many threads share a batch."""
    torques_per_step = True
    """Whether `advance` takes a torque for each of its steps; otherwise it is called for each torque."""
    in_python = True
    """Whether steps are made in Python, where Ctrl-C can be heard at any moment."""

    pause: Callable[[float], None] = staticmethod(_go_on)
    """Called now and then within `advance`, with the share of its work that is done; may raise."""

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return {"q": q, "qd": qd} | {name: np.zeros(q.shape[:-1]) for name in self.plant.scalars}

    def first_count(self, steps: int, rows: int) -> int:
        """How many steps to try first, before it is known how long one takes.

        In Python one: a law there may take seconds, and Ctrl-C gives up all that are made together.
        """
        return 1 if self.in_python else min(64, max(1, 4096 // max(rows, 1)))

    @abstractmethod
    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""


@dataclass(frozen=True)
class Scheme:
    """One row of SCHEMES: what a scheme is, what it can do, what makes its engine."""

    name: str
    """What `method=` calls it."""
    order: int
    """Order of convergence."""
    make: Callable[[Setting], Engine]
    """Makes the engine."""
    told: str
    """One sentence for the pages: what it is good for."""
    stable: float = math.inf
    """Greatest step times rate that it follows without blowing up (symplectic: that its sweeps converge for)."""
    adaptive: bool = False
    """Whether it chooses its steps itself, within dt."""
    in_kernel: bool = True
    """Whether many steps are one call of a kernel."""
    gpu: bool = True
    """Whether it runs with target='cuda'."""
    calls_python: bool = True
    """Whether a law in Python can be evaluated inside its steps; otherwise such a law is sampled between them."""
    batches: bool = True
    """Whether it takes many motions at once."""
    own_parameters: bool = True
    """Whether motions can have parameters of their own, and can stop at limits."""
    robots: bool = True
    """Whether it takes robots with branches and free bases."""
    looks_once: bool = False
    """Whether it looks at an arm once in a step: it then sees a limit one step after the motion passed it."""
    sticking: "Scheme | None" = None
    """The same with true dry friction, where there is one."""
    accelerations: Callable[[Any], Any] | None = None
    """Makes what gives a record its accelerations, where they are not those of `forward_dynamics`."""


# -- inside the kernel -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One step for a kernel: a graph, what follows each state, and the rule that makes the step of it."""

    graph: Graph
    """Rates, or next values."""
    states: dict[str, str]
    """Which output (or state) is the rate of which state; with a map its next value."""
    rule: StepRule
    """How the step is made."""


def map_step(graph: Graph) -> Step:
    """A graph whose outputs <state>_next are the state after the step."""
    return Step(graph, {p.name.removesuffix("_next"): p.name for p in graph.outputs}, Map())


def all_outputs(kernel: Any, inputs: list[Any], single: bool) -> list[Vector]:
    """All outputs of a kernel; one state goes as a batch of one, where NaN is allowed: a motion may have diverged."""
    if single:
        inputs = [np.asarray(value)[None] for value in inputs]
    found = kernel.general(*inputs)
    found = list(found) if len(kernel.graph.outputs) > 1 else [found]
    return [value[0] for value in found] if single else found


class KernelLoop(Engine):
    """Many steps in one call of a kernel, or in a few where a step of all rows takes long."""

    in_python = False

    def __init__(
        self, setting: Setting, name: str, step: Callable[[Plant, Graph | None], Step], *, parts: int = 1
    ) -> None:
        """Compile the loop.

        Args:
            setting: What it is made for.
            name: The scheme's, which tells its loops from those of others.
            step: Makes one step of a plant under a law (None for torques as an input).
            parts: How many steps of the kernel make one of the scheme, such as sweeps.
        """
        self.plant, self.values, self.parts, law = setting.plant, setting.values, parts, setting.law
        self.per_step, self.split = setting.per_step, setting.target == "cpu"
        self.blocks = RowBlocks()
        make: Any = HostRollout if setting.target == "cuda" else Rollout
        timed = "t" if law is not None and any(p.name == "t" for p in law.inputs) else None

        def rollout() -> Any:
            made = step(setting.plant, law)
            steps = ("tau",) if self.per_step else ()
            return make(made.graph, made.states, method=made.rule, per_step=steps, time=timed)

        key = (name, self.per_step, None if law is None else law.digest, setting.target)
        self.rollout: Any = kept(setting.plant, key, rollout)

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        k, given = self.parts, {**self.values, **state, "h": np.asarray(dt)}
        if tau is not None:
            given["tau"] = np.repeat(tau, k, axis=-2) if self.per_step and k > 1 else tau
        ports = self.rollout.roles.given
        inputs = [np.asarray(given[port.name]) for port in ports]
        inner = [len(p.shape) + (p.name in self.rollout.roles.per_step) for p in ports]

        def call(some: list[Any]) -> Block:
            rolled = self.rollout(
                *some, dt=dt / k, steps=count * k, every=every * k, start=t, threads=self.threads
            )
            return list(rolled.end), list(rolled.record or ())

        batch = state["q"].shape[:-1]
        if self.split:
            last, recorded = self.blocks.run(call, inputs, inner, batch, count * k, self.pause)
        else:
            last, recorded = call(inputs)
        names = [port.name for port in self.rollout.roles.state_ports]
        rows, axis = -(-count // max(every, 1)), len(batch)
        record = {
            name: np.moveaxis(np.moveaxis(array, axis, 0)[:rows], 0, axis)
            for name, array in zip(names, recorded, strict=False)
        }
        return dict(zip(names, last, strict=True)), record


def by_rule(rule: StepRule) -> Callable[[Setting], Engine]:
    """What makes the engine of a rule: the kernel's loop, or NumPy where the law is in Python."""

    def step(plant: Plant, law: Graph | None) -> Step:
        return Step(rates_graph(plant, law), rates_of(plant), rule)

    def make(setting: Setting) -> Engine:
        if setting.calls is not None:
            return Stages(setting.plant, rule, setting.calls, setting.values)
        return KernelLoop(setting, rule.name, step)

    return make


# -- the same in NumPy -------------------------------------------------------------------------------------


def rows_of_steps(
    step: Callable[[State, float, float, Vector | None], tuple[State, Vector]],
    state: State,
    t: float,
    count: int,
    dt: float,
    every: int,
    tau: Vector | None,
    per_step: bool,
    pause: Callable[[float], None],
) -> tuple[State, State]:
    """Steps in Python, one after the other: (state after them, recorded states and torques)."""
    rows: list[State] = []
    first = round(t / dt)  # a time is that of its step, wherever the steps are cut into chunks
    for k in range(count):
        row = {**state}
        held = tau[..., k, :] if tau is not None and per_step else tau
        state, row["tau"] = step(state, (first + k) * dt, dt, held)
        if k % every == 0:
            row["tau"] = np.broadcast_to(row["tau"], row["qd"].shape)
            rows.append(row)
        pause((k + 1) / count)
    axis = state["q"].ndim - 1
    return state, {name: np.stack([row[name] for row in rows], axis=axis) for name in rows[0]}


class Stages(Engine):
    """Steps in NumPy, stage by stage, with a law called in Python."""

    def __init__(self, plant: Plant, rule: StepRule, law: Torques | None, values: State) -> None:
        """Prepare.

        Args:
            plant: What is simulated.
            rule: How a step is made; not a map.
            law: Torques at each stage; None where they are held from outside.
            values: Free parameters by port.
        """
        self.plant, self.rule, self.law, self.values = plant, rule, law, values

    def rates(self, state: State, tau: Vector) -> State:
        """Rates of all states under torques."""
        kernel = rates_kernel(self.plant, None)
        given = {**self.values, **state, "tau": tau}
        inputs = [given[port.name] for port in kernel.graph.inputs]
        found = all_outputs(kernel, inputs, state["q"].ndim == 1)
        named = dict(zip((port.name for port in kernel.graph.outputs), found, strict=True))
        return {
            name: state[rate] if rate in state else named[rate] for name, rate in rates_of(self.plant).items()
        }

    def torques(self, t: float, state: State, tau: Vector | None) -> Vector:
        """Torques held from outside, or those of the law."""
        if tau is not None:
            return tau
        assert self.law is not None
        return self.law(t, state["q"], state["qd"])

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states and torques)."""
        step = self._runge_kutta if isinstance(self.rule, Tableau) else self._euler
        return rows_of_steps(step, state, t, count, dt, every, tau, False, self.pause)

    def _euler(self, state: State, t: float, dt: float, tau: Vector | None) -> tuple[State, Vector]:
        first = self.torques(t, state, tau)
        k = self.rates(state, first)
        after = {name: x + dt * k[name] for name, x in state.items() if name != "q"}
        if self.plant.floats:
            q, qd = (x.reshape(-1, x.shape[-1]) for x in (state["q"], after["qd"]))
            rows = [self.plant.position_rates(*row) for row in zip(q, qd, strict=True)]
            moved = dt * np.array(rows).reshape(state["q"].shape)
            # as the kernel has it: the step that sees the trespass is still made
            moved = moved if not self.plant.stops else moved * (state["first"] <= 0)[..., None]
        else:
            moved = dt * after["qd"] if not self.plant.stops else dt * (k["q"] + (after["qd"] - state["qd"]))
        return {"q": state["q"] + moved, **after}, first

    def _runge_kutta(self, state: State, t: float, dt: float, tau: Vector | None) -> tuple[State, Vector]:
        tableau = self.rule
        assert isinstance(tableau, Tableau)
        first = self.torques(t, state, tau)
        place, total, k = state, {**state}, []
        for stage, (when, weight) in enumerate(zip(tableau.times, tableau.weights, strict=True)):
            now = first if stage == 0 else self.torques(t + when * dt, place, tau)
            k.append(self.rates(place, now))
            total = {name: x + weight * dt * k[stage][name] for name, x in total.items()}
            place = {**state}
            for j, reach in enumerate(tableau.reaches[stage] if stage + 1 < tableau.stages else ()):
                if reach:
                    place = {name: x + reach * dt * k[j][name] for name, x in place.items()}
        return total, first
