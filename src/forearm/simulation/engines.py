"""Engines: what carries states over a number of steps. All have `start`, `advance` and `speeds`.

    Loop        the kernel's own loop: rk4, euler, symplectic, and euler with sticking
    Stages      the same schemes written out in NumPy, for laws that cannot be compiled, and the papers' scheme
    Adaptive    DOP853 of SciPy, one motion

A state is a dict of arrays (*batch, *shape): q, qd and the scalars of `steps`. `advance` gives the state after
`count` steps and, for every `every`-th step from the first on, what the state was when it began.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.cuda.host_rollout import HostRollout
from forearm.compiler.graph.graph import Graph
from forearm.simulation.steps import (
    SWEEPS,
    Plant,
    euler_graph,
    midpoint_graph,
    rates_graph,
    rates_of,
    sticking_graph,
)

State = dict[str, Vector]


def kept(plant: Plant, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Something compiled for a plant, kept on its arm."""
    key = ("simulation", *plant.key, *key)
    found = plant.arm.kernels.get(key)
    if found is None:
        found = plant.arm.kernels[key] = make()
    return found


def general(kernel: Any, inputs: list[Any], single: bool) -> list[Vector]:
    """All outputs of a kernel; one state goes as a batch of one, where NaN is allowed: a motion may have diverged."""
    if single:
        inputs = [np.asarray(value)[None] for value in inputs]
    found = kernel.general(*inputs)
    found = list(found) if len(kernel.graph.outputs) > 1 else [found]
    return [value[0] for value in found] if single else found


class Loop:
    """Many steps in one call of a kernel."""

    def __init__(
        self,
        plant: Plant,
        law: Graph | None,
        method: str,
        *,
        per_step: bool,
        values: State,
        target: str = "cpu",
    ) -> None:
        """Compile the loop.

        Args:
            plant: What is simulated.
            law: The law's graph; None for torques as an input.
            method: 'rk4', 'euler', 'sticking' or 'symplectic'.
            per_step: Whether torques come as one for each step instead of one for all.
            values: Gains and free parameters, (*batch, *shape) each, by port.
            target: 'cpu', or 'cuda' for all rows in one launch on the GPU.
        """
        self.plant, self.method, self.values = plant, method, values
        self.sweeps = SWEEPS if method == "symplectic" else 1
        key = (method, per_step, None if law is None else law.digest, target)
        make: Any = HostRollout if target == "cuda" else Rollout
        self.rollout: Any = kept(plant, key, lambda: _rollout(plant, law, method, per_step, make))
        self.threads = 1

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        state = {"q": q, "qd": qd} | {name: np.zeros(q.shape[:-1]) for name in self.plant.scalars}
        if self.method == "symplectic":
            M = self.plant.kernel("mass_matrix").general(q, *self._free())
            p = np.einsum("...ij,...j->...i", M, qd)
            state |= {"p": p, "q_mid": q, "p_mid": p, "phase": np.zeros(q.shape[:-1])}
        return state

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        given = {**self.values, **state, "h": np.asarray(dt)}
        if tau is not None:
            given["tau"] = tau
        inputs = [given[port.name] for port in self.rollout.roles.given]
        k = self.sweeps
        rolled = self.rollout(
            *inputs, dt=dt / k, steps=count * k, every=every * k, start=t, threads=self.threads
        )
        rows = -(-count // every)
        end = dict(zip(rolled.end._fields, rolled.end, strict=True))
        axis = state["q"].ndim - 1
        record = {
            name: np.moveaxis(np.moveaxis(array, axis, 0)[:rows], 0, axis)
            for name, array in zip(rolled.record._fields, rolled.record, strict=False)
            if name in end
        }
        return self._with_speeds(end), self._with_speeds(record, timed=True)

    def _with_speeds(self, state: State, *, timed: bool = False) -> State:
        """Speeds out of momenta, where the scheme has those."""
        if self.method == "symplectic":
            free = [np.expand_dims(v, -1 - r) if timed else v for v, r in self._free_ranks()]
            kernel, inputs = self.plant.kernel("solve_mass"), [state["q"], state["p"], *free]
            state["qd"] = general(kernel, inputs, state["q"].ndim == 1)[0]
        return state

    def _free(self) -> list[Vector]:
        return [v for v, _ in self._free_ranks()]

    def _free_ranks(self) -> list[tuple[Vector, int]]:
        return [(self.values[name], len(shape)) for name, shape in self.plant.free_ports.items()]


def _rollout(plant: Plant, law: Graph | None, method: str, per_step: bool, make_rollout: Any) -> Any:
    timed = "t" if law is not None and any(p.name == "t" for p in law.inputs) else None
    steps = ("tau",) if per_step else ()
    if method == "rk4" or (method == "euler" and not plant.stops):
        scheme = {"rk4": "rk4", "euler": "semi_implicit_euler"}[method]
        return make_rollout(
            rates_graph(plant, law), rates_of(plant), method=scheme, per_step=steps, time=timed
        )
    make = {"symplectic": midpoint_graph, "sticking": sticking_graph, "euler": euler_graph}[method]
    graph = make(plant, law)
    follows = {p.name.removesuffix("_next"): p.name for p in graph.outputs}
    return make_rollout(graph, follows, method="map", per_step=steps, time=timed)


# -- the same in NumPy -------------------------------------------------------------------------------------

Torques = Callable[[float, Vector, Vector], Vector]
"""Torques (*batch, n) of a law in Python at a time, for states (*batch, n)."""

RK4 = (0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
"""When each stage is, in steps; its weight."""


class Stages:
    """Steps in NumPy, stage by stage, with a law called in Python; `accelerations` may be the papers' own."""

    sweeps = 1

    def __init__(
        self, plant: Plant, method: str, law: Torques | None, values: State, rates: Any = None
    ) -> None:
        """Prepare.

        Args:
            plant: What is simulated.
            method: 'rk4' or 'euler'.
            law: Torques at each stage; None where they are held from outside.
            values: Free parameters by port.
            rates: A function of (state, tau) giving the rates of all states; by default a kernel.
        """
        self.plant, self.method, self.law, self.values = plant, method, law, values
        self.rates = rates or self._kernel_rates
        self.threads = 1

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return {"q": q, "qd": qd} | {name: np.zeros(q.shape[:-1]) for name in self.plant.scalars}

    def _kernel_rates(self, state: State, tau: Vector) -> State:
        kernel = kept(self.plant, ("rates",), lambda: ProcessorKernel(rates_graph(self.plant, None)))
        given = {**self.values, **state, "tau": tau}
        found = general(kernel, [given[port.name] for port in kernel.graph.inputs], state["q"].ndim == 1)
        named = dict(zip((port.name for port in kernel.graph.outputs), found, strict=True))
        return {
            name: state[rate] if rate in state else named[rate] for name, rate in rates_of(self.plant).items()
        }

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states and torques)."""
        rows: list[State] = []
        for step in range(count):
            row = {**state}
            held = tau[..., step, :] if tau is not None and tau.ndim > state["q"].ndim else tau
            state, row["tau"] = self._step(state, t + step * dt, dt, held)
            if step % every == 0:
                rows.append(row)
        axis = state["q"].ndim - 1
        return state, {name: np.stack([row[name] for row in rows], axis=axis) for name in rows[0]}

    def _step(self, state: State, t: float, dt: float, tau: Vector | None) -> tuple[State, Vector]:
        first = self._torques(t, state, tau)
        if self.method == "euler":
            k = self.rates(state, first)
            after = {name: x + dt * k[name] for name, x in state.items() if name != "q"}
            moved = dt * after["qd"] if not self.plant.stops else dt * (k["q"] + (after["qd"] - state["qd"]))
            return {"q": state["q"] + moved, **after}, first
        place, total = state, {**state}
        for stage, (when, weight) in enumerate(zip(*RK4, strict=True)):
            now = first if stage == 0 else self._torques(t + when * dt, place, tau)
            k = self.rates(place, now)
            total = {name: x + weight * dt * k[name] for name, x in total.items()}
            if stage < 3:
                reach = RK4[0][stage + 1] * dt
                place = {name: x + reach * k[name] for name, x in state.items()}
        return total, first

    def _torques(self, t: float, state: State, tau: Vector | None) -> Vector:
        if tau is not None:
            return tau
        assert self.law is not None
        return self.law(t, state["q"], state["qd"])


# -- adaptive ----------------------------------------------------------------------------------------------


class Adaptive:
    """DOP853 through SciPy for one motion; steps of dt are where it reports."""

    sweeps = 1

    def __init__(self, stages: Stages, rtol: float, atol: float) -> None:
        """Prepare: the rates come from `stages`."""
        self.stages, self.rtol, self.atol = stages, rtol, atol
        self.threads = 1
        self._first: float | None = None

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return {"q": q, "qd": qd, "work": np.zeros(()), "lost": np.zeros(())}

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        from scipy.integrate import solve_ivp

        n, stages = self.stages.plant.arm.n, self.stages
        full = {name: np.zeros(()) for name in stages.plant.scalars}

        def unpack(y: Vector) -> State:
            return {"q": y[:n], "qd": y[n : 2 * n], "work": y[2 * n], "lost": y[2 * n + 1]}

        def slope(now: float, y: Vector) -> Vector:
            place = full | unpack(y)
            k = stages.rates(place, stages._torques(now, place, tau))
            return np.concatenate([k["q"], k["qd"], [k["work"], k["lost"]]])

        y = np.concatenate([state["q"], state["qd"], [state["work"], state["lost"]]])
        times = t + dt * np.append(np.arange(0, count, every), count)
        with np.errstate(over="ignore", invalid="ignore"):
            found = solve_ivp(
                slope,
                (t, times[-1]),
                y,
                "DOP853",
                times,
                rtol=self.rtol,
                atol=self.atol,
                first_step=self._first,
            )
        path = np.full((2 * n + 2, len(times)), np.nan)
        path[:, : found.y.shape[1]] = found.y
        return unpack(path[:, -1]), {
            name: np.array([unpack(column)[name] for column in path.T[:-1]]) for name in state
        }
