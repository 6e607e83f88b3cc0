"""The implicit midpoint rule in positions and momenta: symplectic, so that energy wanders but does not drift."""

from typing import Any

import numpy as np

from forearm.algebra import Vector, where
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.simulation.engines import Engine, KernelLoop, Scheme, Setting, all_outputs, map_step
from forearm.simulation.plant import Plant, State, drivers, law_in_graph, scalar_rates

SWEEPS = 8
"""Fixed-point sweeps of a step; each gains the digits of dt times the fastest rate."""


def midpoint_graph(plant: Plant, law: Graph | None) -> Graph:
    """One sweep of the implicit midpoint rule in positions and momenta; every SWEEPS-th sweep ends a step.

    The rule is symplectic for any mass matrix: q and p = M qd at the middle of the step solve
    q_m = q + h/2 M⁻¹ p_m and p_m = p + h/2 (tau - friction - g + Cᵀ qd), found by repeated substitution, from the
    last step's increments. `phase` counts the sweeps, `t` advances by h / SWEEPS each.
    """
    n = plant.arm.n
    ports = {
        "q": (n,),
        "p": (n,),
        "q_mid": (n,),
        "p_mid": (n,),
        "phase": (),
        **{k: () for k in plant.scalars},
    }
    ports |= drivers(plant, law) | plant.free_ports | {"h": ()}

    def sweep(**v: Any) -> dict[str, Any]:
        h, last = v["h"], v["phase"] - (SWEEPS - 1.5)
        qd = plant.quantity("solve_mass", **{**v, "q": v["q_mid"], "b": v["p_mid"]})
        now = {**v, "q": v["q_mid"], "qd": qd}
        if "t" in ports:
            now["t"] = v["t"] - v["phase"] * h / SWEEPS + h / 2
        tau, push = plant.clipped(law_in_graph(plant, law, now)), plant.external(now)
        g = plant.quantity("gravity_torque", **now)
        pd = tau + push - plant.friction(qd, v) - g + plant.pull(now)
        q_mid, p_mid = v["q"] + h / 2 * qd, v["p"] + h / 2 * pd
        rates = scalar_rates(plant, now, tau, push)
        if plant.stops:
            q_mid = _either(v["first"], v["q"], q_mid)
            p_mid = _either(v["first"], v["p"], p_mid)
            going = where(v["first"], 0.0, 1.0)
            rates |= {name: rates[name] * going for name in ("work_rate", "lost_rate")}
        # the end of a step: twice the way to its middle; the next one begins with the same increments
        q_end, p_end = 2 * q_mid - v["q"], 2 * p_mid - v["p"]
        return {
            "q_next": _either(last, q_end, v["q"]),
            "p_next": _either(last, p_end, v["p"]),
            "q_mid_next": _either(last, q_end + (q_mid - v["q"]), q_mid),
            "p_mid_next": _either(last, p_end + (p_mid - v["p"]), p_mid),
            "phase_next": where(last, 0.0, v["phase"] + 1.0),
            **{f"{k}_next": v[k] + where(last, h * rates[f"{k}_rate"], 0.0) for k in plant.scalars},
        }

    name = f"{plant.arm.name}, midpoint sweep"
    return lower(trace(sweep, ports, name=name, careful=law is not None and law.careful), 0)


def _either(x: Any, a: Vector, b: Vector) -> Vector:
    """where() for each element."""
    return np.array([where(x, p, r) for p, r in zip(a, b, strict=True)])


class Midpoint(Engine):
    """The kernel's loop over sweeps; momenta inside, speeds outside."""

    def __init__(self, setting: Setting) -> None:
        """Compile the loop."""
        self.plant, self.values = setting.plant, setting.values
        self.loop = KernelLoop(
            setting, SCHEME.name, lambda plant, law: map_step(midpoint_graph(plant, law)), parts=SWEEPS
        )

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning, momenta among it."""
        M = self.plant.kernel("mass_matrix").general(q, *(v for v, _ in self._free()))
        p = np.einsum("...ij,...j->...i", M, qd)
        return self.loop.start(q, qd) | {"p": p, "q_mid": q, "p_mid": p, "phase": np.zeros(q.shape[:-1])}

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        self.loop.threads = self.threads
        end, record = self.loop.advance(state, t, count, dt, every, tau)
        return self._with_speeds(end), self._with_speeds(record, timed=True)

    def _with_speeds(self, state: State, *, timed: bool = False) -> State:
        """Speeds out of momenta."""
        free = [np.expand_dims(v, -1 - r) if timed else v for v, r in self._free()]
        kernel, inputs = self.plant.kernel("solve_mass"), [state["q"], state["p"], *free]
        return state | {"qd": all_outputs(kernel, inputs, state["q"].ndim == 1)[0]}

    def _free(self) -> list[tuple[Vector, int]]:
        """Free parameters, and how many axes one motion's value has."""
        return [(self.values[name], len(shape)) for name, shape in self.plant.free_ports.items()]


SCHEME = Scheme(
    "symplectic",
    order=2,
    make=Midpoint,
    told="implicit midpoint in momenta: energy wanders, but does not drift",
    stable=2.0,
    looks_once=True,
    calls_python=False,
    gpu=False,
    robots=False,
)
