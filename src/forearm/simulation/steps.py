"""What happens within a step, as graphs: the arm, the law, limits and energies composed, ready for a loop.

The state of a simulation is q and qd and a few scalars that are integrated with them, at the accuracy of the scheme:

    work        what torques and wrench have done [J]       lost     what friction has taken [J]
    alive       how long speeds have been finite [s]         clear    how long all joints have been within limits [s]
    first       a little time, from the first trespass on    which    `first` times the number of the joint

so that an outcome can be told afterwards without looking at every step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import arm_calls, drives
from forearm.algebra import Vector, where
from forearm.arm import Arm
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.free_parameters import freed, port_name, port_shape
from forearm.factorisation import factor, solve_factored
from forearm.link import Wrench

RUNAWAY = 1e6
"""Speeds beyond this mean that the simulation has diverged [rad/s or m/s]."""
SWEEPS = 8
"""Fixed-point sweeps of the implicit midpoint rule; each gains the digits of dt times the fastest rate."""
STICKING_SWEEPS = 12
"""Sweeps over the joints to find which of them stick."""
NONE: dict[str, Any] = {}
SCALARS = ("work", "lost", "alive", "clear", "first", "which")


@dataclass(frozen=True, eq=False)
class Plant:
    """The arm that is simulated, and what acts on it besides the law."""

    arm: Arm
    """The arm."""
    free: tuple[str, ...] = ()
    """Parameters that each row has for itself (see `compiler.freeing`)."""
    wrench: Wrench | None = None
    """What the environment exerts."""
    torque_limits: Any = None
    """Greatest torques (n,), or None."""
    watch_limits: bool = True
    """Whether joint limits are watched."""
    stop: bool = False
    """Whether a row stops at its joint limits."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells two plants of the same arm apart."""
        limits = None if self.torque_limits is None else tuple(self.torque_limits)
        return self.free, self.wrench, limits, self.watch_limits, self.stop

    @property
    def free_ports(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each free parameter's input."""
        return {port_name(path): port_shape(self.arm, path) for path in self.free}

    @property
    def scalars(self) -> tuple[str, ...]:
        """Which scalars are integrated beside q and qd."""
        return SCALARS if self.bounds else SCALARS[:3]

    @property
    def bounds(self) -> list[tuple[int, float, float]]:
        """(joint, low, high) of the joints whose limits are watched."""
        if not self.watch_limits:
            return []
        found = [(j, *link.limits) for j, link in enumerate(self.arm.links) if link.limits]
        return [(j, low, high) for j, low, high in found if np.isfinite(low) or np.isfinite(high)]

    @property
    def stops(self) -> bool:
        """Whether rows can stop."""
        return self.stop and bool(self.bounds)

    def clipped(self, tau: Vector) -> Vector:
        """Torques within their limits."""
        if self.torque_limits is None:
            return tau
        return np.array(
            [where(x - m, m, where(-m - x, -m, x)) for x, m in zip(tau, self.torque_limits, strict=True)]
        )

    def external(self, v: Mapping[str, Any]) -> Vector:
        """What the wrench does at the joints."""
        if self.wrench is None:
            return np.zeros(self.arm.n)
        place, point = self.wrench.at if isinstance(self.wrench.at, tuple) else (self.wrench.at, np.zeros(3))
        numbers = np.array([*self.wrench.force, *self.wrench.moment], dtype=float)
        options = {"at": place, "local": self.wrench.frame == "local"}
        return self.quantity("wrench_torque", options, **{**v, "wrench": numbers, "point": np.array(point)})  # type: ignore[no-any-return]

    def friction(self, qd: Vector, values: Mapping[str, Any]) -> Vector:
        """Friction torques, of the row's own drives where those are free."""
        paths = {path: values[port_name(path)] for path in self.free if ".drive." in path}
        return drives.friction_torque(freed(self.arm, paths), qd)

    def kernel(self, name: str, **options: Any) -> Any:
        """The kernel of a quantity, with the free parameters as inputs after the state."""
        return arm_calls.kernel_of(self.arm, name, **options, **({"free": self.free} if self.free else {}))

    def quantity(self, name: str, options: Mapping[str, Any] = NONE, /, **inputs: Any) -> Any:
        """A quantity of the plant on traced scalars, with free parameters among the inputs."""
        graph = self.kernel(name, **options).graph
        found = apply(graph, **{port.name: inputs[port.name] for port in graph.inputs})
        return next(iter(found.values()))

    def pull(self, v: Mapping[str, Any]) -> Vector:
        """Cᵀ qd, which is what kinetic energy does to momenta: d(½ qdᵀ M qd)/dq."""
        if not self.free:
            return self.quantity("coriolis_transpose_times", **{**v, "v": v["qd"]})  # type: ignore[no-any-return]
        n = self.arm.n

        def weighted(**inner: Any) -> Any:
            return inner["v"] @ self.quantity("velocity_torque", **inner) * 0.5

        graph = trace(weighted, {"q": (n,), "qd": (n,), "v": (n,), **self.free_ports}, outputs=("s",))
        slope = jacobian(graph, "s", ("qd",), keep=False, effort=0)
        given = {port.name: {**v, "v": v["qd"]}[port.name] for port in slope.inputs}
        return apply(slope, **given)["ds_dqd"]  # type: ignore[no-any-return]


def trespass(plant: Plant, q: Vector) -> Any:
    """Number of the first joint beyond its limits (from 1), or 0."""
    code: Any = 0.0
    for j, low, high in reversed(plant.bounds):
        if np.isfinite(low):
            code = where(q[j] - low, code, float(j + 1))
        if np.isfinite(high):
            code = where(high - q[j], code, float(j + 1))
    return code


def scalar_rates(plant: Plant, v: Mapping[str, Any], tau: Vector, push: Vector) -> dict[str, Any]:
    """Rates of the scalars that are integrated beside the state."""
    qd = v["qd"]
    rates = {
        "work_rate": (tau + push) @ qd,
        "lost_rate": plant.friction(qd, v) @ qd,
        "alive_rate": where(RUNAWAY**2 - qd @ qd, 1.0, 0.0),
    }
    if plant.bounds:
        code = trespass(plant, v["q"])
        rates["clear_rate"] = where(v["first"], 0.0, where(code, 0.0, 1.0))
        rates["first_rate"] = where(v["first"], 0.0, where(code, 1.0, 0.0))
        rates["which_rate"] = where(v["first"], 0.0, code)
    return rates


def state_ports(plant: Plant) -> dict[str, tuple[int, ...]]:
    """Inputs that are integrated: q, qd and the scalars."""
    n = plant.arm.n
    return {"q": (n,), "qd": (n,), **{name: () for name in plant.scalars}}


def rates_graph(plant: Plant, law: Graph | None) -> Graph:
    """Rates of the state under a law's torques, or under torques that are an input."""
    ports = state_ports(plant) | _drivers(plant, law) | plant.free_ports

    def rates(**v: Any) -> dict[str, Any]:
        tau, push = plant.clipped(_torques(law, v)), plant.external(v)
        qdd = plant.quantity("forward_dynamics", **{**v, "tau": tau + push})
        found = {"qd_rate": qdd, **scalar_rates(plant, v, tau, push)}
        if plant.stops:
            going = where(v["first"], 0.0, 1.0)
            frozen = {name: found[name] * going for name in ("qd_rate", "work_rate", "lost_rate")}
            found |= {**frozen, "q_rate": v["qd"] * going}
        return found

    return lower(trace(rates, ports, name=f"{plant.arm.name} in motion"), 0)


def rates_of(plant: Plant) -> dict[str, str]:
    """Which output (or state) is the rate of which state."""
    position = "q_rate" if plant.stops else "qd"
    return {"q": position, "qd": "qd_rate", **{name: f"{name}_rate" for name in plant.scalars}}


def _drivers(plant: Plant, law: Graph | None) -> dict[str, tuple[int, ...]]:
    """Inputs that drive the arm: torques, or the law's own (time and gains)."""
    if law is None:
        return {"tau": (plant.arm.n,)}
    return {port.name: port.shape for port in law.inputs if port.name not in ("q", "qd")}


def _torques(law: Graph | None, v: Mapping[str, Any]) -> Vector:
    if law is None:
        return v["tau"]  # type: ignore[no-any-return]
    return apply(law, **{port.name: v[port.name] for port in law.inputs})["tau"]  # type: ignore[no-any-return]


# -- schemes that are maps ---------------------------------------------------------------------------------


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
    ports |= _drivers(plant, law) | plant.free_ports | {"h": ()}

    def sweep(**v: Any) -> dict[str, Any]:
        h, last = v["h"], v["phase"] - (SWEEPS - 1.5)
        qd = plant.quantity("solve_mass", **{**v, "q": v["q_mid"], "b": v["p_mid"]})
        now = {**v, "q": v["q_mid"], "qd": qd}
        if "t" in ports:
            now["t"] = v["t"] - v["phase"] * h / SWEEPS + h / 2
        tau, push = plant.clipped(_torques(law, now)), plant.external(now)
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

    return lower(trace(sweep, ports, name=f"{plant.arm.name}, midpoint sweep"), 0)


def euler_graph(plant: Plant, law: Graph | None) -> Graph:
    """One step of the semi-implicit scheme as a map, for rows that stop: there positions follow no state."""
    rates = rates_graph(plant, law)
    ports = {port.name: port.shape for port in rates.inputs} | {"h": ()}

    def step(**v: Any) -> dict[str, Any]:
        k, h = apply(rates, **{port.name: v[port.name] for port in rates.inputs}), v["h"]
        after = {f"{name}_next": v[name] + h * k[f"{name}_rate"] for name in ("qd", *plant.scalars)}
        return {"q_next": v["q"] + h * (k["q_rate"] + (after["qd_next"] - v["qd"])), **after}

    return lower(trace(step, ports, name=f"{plant.arm.name}, a step"), 0)


def sticking_graph(plant: Plant, law: Graph | None) -> Graph:
    """One step of the semi-implicit scheme with true dry friction: joints may stick.

    Speeds after the step are v - h M⁻¹ f, where each friction torque f is within its bounds and stops its joint if
    it can. STICKING_SWEEPS sweeps over the joints, each torque clipped to its bounds: a fixed number, so that the
    step costs the same always; where they have not converged, the torques are within bounds all the same.
    """
    ports = state_ports(plant) | _drivers(plant, law) | plant.free_ports | {"h": ()}
    arm = plant.arm
    smooth = Plant(arm.replace(links=tuple(_slippery(link) for link in arm.links)), plant.free, plant.wrench)

    def step(**v: Any) -> dict[str, Any]:
        h, q, qd, n = v["h"], v["q"], v["qd"], arm.n
        tau, push = plant.clipped(_torques(law, v)), plant.external(v)
        bias = smooth.quantity("bias_torque", **v)
        M = plant.quantity("mass_matrix", **v)
        rows, inverse = factor(M, arm=arm)
        free = qd + h * solve_factored(rows, inverse, tau + push - bias)
        columns = np.array([solve_factored(rows, inverse, e) for e in np.eye(n)])
        dry, speed = _dry_torques(arm, columns, free, M @ free, h)
        going = where(v["first"], 0.0, 1.0) if plant.stops else 1.0
        viscous = smooth.friction(qd, v)
        rates = scalar_rates(plant, v, tau, push)
        rates["work_rate"], rates["lost_rate"] = (tau + push) @ speed, (viscous + dry) @ speed
        found = {"q_next": q + going * h * speed, "qd_next": qd + going * (speed - qd)}
        rates["work_rate"], rates["lost_rate"] = going * rates["work_rate"], going * rates["lost_rate"]
        return found | {f"{k}_next": v[k] + h * rates[f"{k}_rate"] for k in plant.scalars}

    return lower(trace(step, ports, name=f"{arm.name}, a step with sticking"), 0)


def _dry_torques(arm: Arm, inverse: Any, free: Vector, momentum: Vector, h: Any) -> tuple[Vector, Vector]:
    """Dry friction torques (n,) and the speeds that they leave; a joint whose torque is within its bounds is still."""
    bounds = {i: link.drive.coulomb for i, link in enumerate(arm.links) if any(link.drive.coulomb)}
    # begin with what would stop every joint at once
    dry = [_bounded(momentum[i] / h, *bounds[i]) if i in bounds else 0.0 for i in range(arm.n)]
    speed = free - h * (np.array(dry) @ inverse)
    for _ in range(STICKING_SWEEPS):
        for i, (forth, back) in bounds.items():
            better = _bounded(dry[i] + speed[i] / (h * inverse[i][i]), forth, back)
            speed = speed - h * inverse[i] * (better - dry[i])
            dry[i] = better
    still = {
        i: where(forth - dry[i], where(back + dry[i], 0.0, 1.0), 1.0) for i, (forth, back) in bounds.items()
    }
    return np.array(dry), np.array([speed[i] * still[i] if i in still else speed[i] for i in range(arm.n)])


def _bounded(x: Any, forth: float, back: float) -> Any:
    return where(x - forth, forth, where(-back - x, -back, x))


def _slippery(link: Any) -> Any:
    return link.replace(drive=link.drive.replace(coulomb=(0.0, 0.0)))


def _either(x: Any, a: Vector, b: Vector) -> Vector:
    """where() for each element."""
    return np.array([where(x, p, r) for p, r in zip(a, b, strict=True)])
