"""DOP853, the adaptive scheme of Dormand and Prince (order 8) through SciPy: one motion, to many digits."""

from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.graph.step_rules import RK4
from forearm.simulation.engines import Engine, Scheme, Setting, Stages
from forearm.simulation.plant import State
from forearm.simulation.request import law_torques


class Adaptive(Engine):
    """Steps of dt are where it reports; its own steps go on from call to call, so that no number depends on those."""

    torques_per_step = False

    def __init__(self, setting: Setting) -> None:
        """Prepare: the rates come from the steps in NumPy."""
        law = law_torques(setting.request) if setting.within else None
        self.plant, self.stages = setting.plant, Stages(setting.plant, RK4, law, {})
        self.rtol, self.atol = setting.rtol, setting.atol
        request = setting.request
        changing = (
            request.hold if request.law is not None else max(request.hold, 1) if setting.per_step else 0
        )
        self.steps, self.changing = request.steps, changing
        self.solver: Any = None
        self.piece: Any = None
        self.after: State | None = None

    def first_count(self, steps: int, rows: int) -> int:
        """An eighth of the motion."""
        return max(1, steps // 8)

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return {"q": q, "qd": qd, "work": np.zeros(()), "lost": np.zeros(())}

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        first = round(t / dt)
        if state is not self.after or (self.changing and first % self.changing == 0):
            # torques are held to the next change at most
            last = (
                min(self.steps, first - first % self.changing + self.changing)
                if self.changing
                else self.steps
            )
            self._begin(state, t, last * dt, tau)
        times = t + dt * np.append(np.arange(0, count, every), count)
        with np.errstate(over="ignore", invalid="ignore"):
            path = np.array([self._at(when) for when in times[1:]])
        self.after = self._unpacked(path[-1])
        before = [state, *(self._unpacked(y) for y in path[:-1])]
        return self.after, {name: np.array([row[name] for row in before]) for name in state}

    def _unpacked(self, y: Vector) -> State:
        n = self.plant.arm.n
        return {"q": y[:n], "qd": y[n : 2 * n], "work": y[2 * n], "lost": y[2 * n + 1]}

    def _begin(self, state: State, t: float, until: float, tau: Vector | None) -> None:
        """Start anew: at the beginning, and wherever torques from outside change."""
        from scipy.integrate import DOP853

        full = {name: np.zeros(()) for name in self.plant.scalars}

        def slope(now: float, y: Vector) -> Vector:
            place = full | self._unpacked(y)
            k = self.stages.rates(place, self.stages.torques(now, place, tau))
            return np.concatenate([k["q"], k["qd"], [k["work"], k["lost"]]])

        y = np.concatenate([state["q"], state["qd"], [state["work"], state["lost"]]])
        with np.errstate(over="ignore", invalid="ignore"):
            self.solver = DOP853(slope, t, y, until, rtol=self.rtol, atol=self.atol)
        self.piece = None

    def _at(self, when: float) -> Vector:
        """The state at a time (2 n + 2,): between the solver's own steps by its interpolant; NaN where it gave up."""
        solver = self.solver
        while solver.t < when and solver.status == "running":
            solver.step()
            self.piece = None
        if solver.status == "failed":
            return np.full_like(solver.y, np.nan)
        if self.piece is None:
            self.piece = solver.dense_output()
        return np.asarray(self.piece(min(when, solver.t)))


SCHEME = Scheme(
    "dop853",
    order=8,
    make=Adaptive,
    told="adaptive, error bounds rtol and atol, one motion",
    adaptive=True,
    in_kernel=False,
    gpu=False,
    batches=False,
    own_parameters=False,
)
