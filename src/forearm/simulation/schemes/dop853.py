"""DOP853, the adaptive scheme of Dormand and Prince (order 8) through SciPy: one motion, to many digits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.graph.step_rules import RK4
from forearm.motion.limit_excesses import SLACK
from forearm.outside.libraries.scipy_parts import scipy_part
from forearm.simulation.engines import Engine, Scheme, Setting, Stages
from forearm.simulation.plant import Plant, State
from forearm.simulation.request import law_torques

PARTS = 8
"""How often it begins anew in a motion, with a careful first step."""
RECORDED = ("q", "qd", "work", "lost")
"""What it follows in time."""
LOOKS = 8
"""How often a step of its own is looked at for limits: it may be longer than the way from record to record."""
HALVINGS = 40
"""Until the instant of a trespass is known to the last digits of a step."""

PACE = 2000
"""Steps of its own after which it is asked how far they led."""
MOST_OWN_STEPS = 10**10
"""For a whole motion, at that pace: months."""


class _Lookout:
    """Limits that joints pass and torques are held at, within the scheme's own steps."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.n = plant, plant.arm.n
        self.when, self.which = np.inf, 0
        self.held = {j: 0.0 for j in plant.holding}
        self.over = dict.fromkeys(plant.overruns, 0.0)

    @property
    def watches(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.plant.bounds or self.held or self.over)

    def look(
        self, start: float, end: float, between: Any, torques: Callable[[float, Vector], Vector]
    ) -> None:
        """Take in one step, whose states `between` has."""
        if self.which == 0 and self.plant.bounds:
            times = np.linspace(start, end, LOOKS + 1)
            for before, now in zip(np.append(start, times), times, strict=False):
                if self._beyond(between(now)):
                    self._note(before, now, between)
                    break
        middles = start + (end - start) * (np.arange(LOOKS) + 0.5) / LOOKS
        for now in middles if self.held or self.over else ():
            state = between(now)
            tau = torques(float(now), state)
            for name, overrun in self.plant.overruns.items():
                if overrun.passed(state[self.n : 2 * self.n], tau) > 0:
                    self.over[name] += (end - start) / LOOKS
            for j in self.held:
                if abs(tau[j]) >= (1 - SLACK) * self.plant.torque_limits[j]:
                    self.held[j] += (end - start) / LOOKS

    def scalars(self, until: float) -> State:
        """What the other schemes integrate beside the state: the first trespass, and how long torques were held."""
        found = {f"held_{j + 1}": np.asarray(time) for j, time in self.held.items()}
        found |= {name: np.asarray(time) for name, time in self.over.items()}
        if self.plant.bounds:
            passed = self.which > 0 and self.when <= until
            found |= {
                "first": np.asarray(float(passed)),
                "which": np.asarray(3.0 ** (self.which - 1) if passed else 0.0),
                "clear": np.asarray(self.when if passed else until),
            }
        return found

    def _beyond(self, y: Vector) -> int:
        """Which of the watched bounds is passed first in their order, from 1; 0 for none."""
        q = self.plant.watched(y[: self.n])
        passed = (k for k, (j, low, high) in enumerate(self.plant.bounds, 1) if not low < q[j] < high)
        return next(passed, 0)

    def _note(self, clear: float, beyond: float, between: Any) -> None:
        for _ in range(HALVINGS if clear < beyond else 0):
            middle = (clear + beyond) / 2
            clear, beyond = (clear, middle) if self._beyond(between(middle)) else (middle, beyond)
        self.when, self.which = beyond, self._beyond(between(beyond))


class Adaptive(Engine):
    """Steps of dt are where it reports; its own go on from call to call, so that calls may be short."""

    torques_per_step = False

    def __init__(self, setting: Setting) -> None:
        """Prepare: the rates come from the steps in NumPy."""
        law = law_torques(setting.request) if setting.within else None
        self.request, self.stages = setting.request, Stages(setting.plant, RK4, law, {})
        self.rtol, self.atol = setting.rtol, setting.atol
        self.jumps = setting.per_step or (setting.request.law is not None and not setting.within)
        self.solver: Any = None
        self.between: Any = None
        self.left: State | None = None
        self.lookout = _Lookout(setting.plant)
        self.own_steps, self.passed, self.crawls = 0, 0.0, False

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return dict(zip(RECORDED, (q, qd, np.zeros(()), np.zeros(())), strict=True))

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        # counted from the beginning: the same times to the bit, wherever calls are cut
        times = dt * (round(t / dt) + np.append(np.arange(0, count, every or count), count))
        path = np.full((len(times), 2 * self.stages.plant.arm.n + 2), np.nan)
        path[0] = np.concatenate([state["q"], state["qd"], [state["work"], state["lost"]]])
        if self.left is not state:
            self.solver, self.between = self._solver(path[0], t, dt, tau), None
        self.left = None  # until all is done: an interrupt leaves a solver that is further than the state
        with np.errstate(over="ignore", invalid="ignore"):
            self._follow(times, path, dt, tau)
        after = self._unpack(path[-1]) | self.lookout.scalars(float(times[-1]))
        if self.crawls:
            after["crawls"] = np.asarray(self.own_steps)
        if self.solver.status == "running" or self.solver.t > times[-1]:
            self.left = after
        return after, {name: np.array([self._unpack(row)[name] for row in path[:-1]]) for name in RECORDED}

    def _solver(self, y: Vector, t: float, dt: float, tau: Vector | None) -> Any:
        """SciPy's, from a state to the end of its part of the motion, or to where torques jump."""
        integrate = scipy_part("integrate")
        request, stages, done = self.request, self.stages, round(t / dt)
        full = {name: np.zeros(()) for name in stages.plant.scalars}
        part = max(1, request.hold if self.jumps else request.steps // PARTS)
        end = min(request.steps, (done // part + 1) * part)

        def slope(now: float, y: Vector) -> Vector:
            place = full | self._unpack(y)
            k = stages.rates(place, stages.torques(now, place, tau))
            return np.concatenate([k["q"], k["qd"], [k["work"], k["lost"]]])

        return integrate.DOP853(slope, t, y, end * dt, rtol=self.rtol, atol=self.atol)

    def _follow(self, times: Vector, path: Vector, dt: float, tau: Vector | None) -> None:
        """Fill the states at the times behind the first; those that it does not reach stay NaN."""
        k = 1
        while k < len(times):
            solver = self.solver
            if solver.t_old is not None and solver.t >= times[k]:
                if self.between is None:
                    self.between = solver.dense_output()
                path[k] = self.between(times[k])
                k += 1
                continue
            if solver.status == "failed":
                return
            if solver.status == "finished":
                self.solver = solver = self._solver(solver.y, solver.t, dt, tau)
            if self.crawls or not np.isfinite(solver.h_abs):
                return  # of a slope that is no number SciPy tries steps that are none, for ever
            solver.step()
            self._look_at_pace(solver.t)
            self.between = None
            if solver.status != "failed" and self.lookout.watches:
                self.between = solver.dense_output()
                self.lookout.look(solver.t_old, solver.t, self.between, self._torques(tau))
            self.pause(float(np.clip((solver.t - times[0]) / (times[-1] - times[0]), 0.0, 1.0)))

    def _look_at_pace(self, now: float) -> None:
        """Note where it would not come to an end: behind t = 0 there are steps of 1e-300 s."""
        self.own_steps += 1
        if self.own_steps % PACE == 0:
            whole = self.request.steps * self.request.dt
            self.crawls = (now - self.passed) * MOST_OWN_STEPS < whole * PACE
            self.passed = now

    def _torques(self, tau: Vector | None) -> Callable[[float, Vector], Vector]:
        return lambda now, y: self.stages.torques(now, self._unpack(y), tau)

    def _unpack(self, y: Vector) -> State:
        n = self.stages.plant.arm.n
        return {"q": y[:n], "qd": y[n : 2 * n], "work": y[2 * n], "lost": y[2 * n + 1]}


SCHEME = Scheme(
    "dop853",
    order=8,
    make=Adaptive,
    told="adaptive, error bounds rtol and atol, one motion",
    adaptive=True,
    in_kernel=False,
    gpu=False,
    batches=False,
    robots=False,
    own_parameters=False,
)
