"""The plant: what is simulated, and its rates as graphs: arm, law, limits and energies composed, ready for a loop.

The state of a simulation is q and qd and a few scalars that are integrated with them, at the accuracy of the scheme:

    work        what torques and wrench have done [J]       lost     what friction has taken [J]
    alive       how long speeds have been finite [s]         clear    how long all joints have been within limits [s]
    first       a little time, from the first trespass on    which    `first` times the joint's power of three
    held_1 …    how long each torque has been at its limit [s], where torques are limited
    over_1 …    how long each limit of speed or effort has been passed [s], where not every step is recorded

so that an outcome can be told afterwards without looking at every step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from forearm import arm_calls, drives
from forearm.algebra import Vector, where
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.free_parameters import freed, is_drive, port_name, port_shape
from forearm.compiler.pipeline import ready_graph
from forearm.free_base import unit, unit_rows
from forearm.link import Link, Wrench
from forearm.motion.limit_excesses import SLACK, TOLERANCE, Place, column_of, followers, limits_of, room
from forearm.robot import Robot

RUNAWAY = 1e6
"""Speeds beyond this mean that the simulation has diverged [rad/s or m/s]."""
NONE: dict[str, Any] = {}
SIMULATION, MOST_KEPT = "simulation", 64
"""What keys of a simulation begin with on an arm; how many loops an arm keeps, one for each wrench, limit and law."""
SCALARS = ("work", "lost", "alive", "clear", "first", "which")
State = dict[str, Vector]
"""Arrays (*batch, *shape) by name: q, qd, the scalars, and what a scheme has besides."""


class Overrun(NamedTuple):
    """A limit of speed or effort that steps are held against."""

    link: Link
    """Whose."""
    what: str
    """'speed' or 'torque'."""
    place: Place
    """Where its values are in a state."""
    most: float
    """The limit."""

    def passed(self, qd: Vector, tau: Vector) -> Any:
        """What is positive where it is passed, for scalars of any kind."""
        value = column_of(qd if self.what == "speed" else tau, self.place, self.what)
        return value * value - ((1 + TOLERANCE) * self.most) ** 2


@dataclass(frozen=True, eq=False)
class Plant:
    """The arm that is simulated, and what acts on it besides the law."""

    arm: Any
    """The arm, or robot."""
    free: tuple[str, ...] = ()
    """Parameters that each row has for itself (see `compiler.model.free_parameters`)."""
    wrench: Wrench | None = None
    """What the environment exerts."""
    torque_limits: Any = None
    """Greatest torques (n,), or None."""
    watch_limits: bool = True
    """Whether joint limits are watched."""
    stop: bool = False
    """Whether a row stops at its joint limits."""
    between: bool = False
    """Whether speeds and torques are held against their limits in the steps, too, because records leave some out."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells two plants of the same arm apart."""
        limits = None if self.torque_limits is None else tuple(self.torque_limits)
        return self.free, self.wrench, limits, self.watch_limits, self.stop, self.between

    @property
    def free_ports(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each free parameter's input."""
        return {port_name(path): port_shape(self.arm, path) for path in self.free}

    @property
    def scalars(self) -> tuple[str, ...]:
        """Which scalars are integrated beside q and qd."""
        held = [f"held_{j + 1}" for j in self.holding]
        return (*(SCALARS if self.bounds else SCALARS[:3]), *held, *self.overruns)

    @property
    def holding(self) -> list[int]:
        """The joints whose torques can be held at a limit."""
        limits = () if self.torque_limits is None else self.torque_limits
        return [j for j, most in enumerate(limits) if 0 < most < np.inf]

    @cached_property
    def overruns(self) -> dict[str, Overrun]:
        """Limits that steps are held against between records, by the scalar that has their time."""
        if not (self.between and self.watch_limits):
            return {}
        kinds = ("speed", "torque") if self.torque_limits is None else ("speed",)
        found = [
            (link, what, at, high) for what in kinds for link, at, (_, high) in limits_of(self.arm, what)
        ]
        return {f"over_{k}": Overrun(*one) for k, one in enumerate(found, 1)}

    @property
    def bounds(self) -> list[tuple[int, float, float]]:
        """(place in `watched`, low, high) of joints whose limits are watched; what rests at a limit is within."""
        if not self.watch_limits:
            return []
        found = [(j, link.limits) for j, link in enumerate(self.watched_links) if link.limits]
        rooms = [
            (j, limits, max(room(limits), np.finfo(float).tiny))
            for j, limits in found
            if np.isfinite(limits).any()
        ]
        return [(j, low - slack, high + slack) for j, (low, high), slack in rooms]

    @property
    def watched_links(self) -> list[Link]:
        """The links of `watched`."""
        return [*self.arm.state_links, *(link for link, *_ in followers(self.arm))]

    def watched(self, q: Vector) -> Vector:
        """Positions of the joints from a state q: first the independent ones, then those that follow them."""
        own = q[len(q) - self.arm.n :]
        return np.array([*own, *(row @ own + shift for _, row, shift in followers(self.arm))])

    @property
    def stops(self) -> bool:
        """Whether rows can stop."""
        return self.stop and bool(self.bounds)

    def clipped(self, tau: Vector) -> Vector:
        """Torques within their limits; one that is infinite limits nothing."""
        if self.torque_limits is None:
            return tau
        pairs = zip(tau, self.torque_limits, strict=True)
        return np.array([x if m == np.inf else where(x - m, m, where(-m - x, -m, x)) for x, m in pairs])

    def external(self, v: Mapping[str, Any]) -> Vector:
        """What the wrench does at the joints."""
        if self.wrench is None:
            return np.zeros(self.arm.nv)
        options, given = self._pushing(self.wrench)
        return self.quantity("wrench_torque", options, **{**v, **given})  # type: ignore[no-any-return]

    def external_rows(self, q: Vector, own: Mapping[str, Vector]) -> Vector:
        """The same for states (..., n), with free parameters by path that go with them."""
        assert self.wrench is not None
        options, given = self._pushing(self.wrench)
        given |= {"q": q, **{port_name(path): value for path, value in own.items()}}
        kernel = self.kernel("wrench_torque", **options)
        return kernel.general(*[given[port.name] for port in kernel.graph.inputs])  # type: ignore[no-any-return]

    @staticmethod
    def _pushing(wrench: Wrench) -> tuple[dict[str, Any], dict[str, Any]]:
        """Options and inputs of the torques that a wrench makes."""
        place, point = wrench.at if isinstance(wrench.at, tuple) else (wrench.at, np.zeros(3))
        numbers = np.array([*wrench.force, *wrench.moment], dtype=float)
        options = {"frame": place, "local": wrench.frame == "local"}
        return options, {"wrench": numbers, "point": np.array(point)}

    def with_own_drives(self, values: Mapping[str, Any]) -> Any:
        """The arm with the drives that a row has for itself."""
        return freed(self.arm, {path: values[port_name(path)] for path in self.free if is_drive(path)})

    def friction(self, qd: Vector, values: Mapping[str, Any]) -> Vector:
        """Friction torques, of the row's own drives where those are free."""
        arm = self.with_own_drives(values)
        if not isinstance(arm, Robot):
            return drives.friction_torque(arm, qd)
        tau = arm.independent(drives.friction_torque(arm, arm.joint_rates(qd)))
        return np.concatenate([np.zeros(arm.nv - arm.n), tau])

    @property
    def floats(self) -> bool:
        """Whether the base is free, so that positions do not simply follow speeds."""
        return isinstance(self.arm, Robot) and self.arm.free

    def position_rates(self, q: Vector, qd: Vector) -> Vector:
        """Rates of the numbers of q."""
        return self.arm.position_rates(q, qd) if isinstance(self.arm, Robot) else qd

    def whole(self, states: State) -> State:
        """States as they are recorded, and as laws are given them: quaternions at unit length.

        Nothing else depends on the length inside a step, and a step carries it along as a factor; so this is the same
        as doing it after every step.
        """
        return {**states, "q": unit_rows(states["q"])} if self.floats else states

    def kernel(self, name: str, **options: Any) -> Any:
        """The kernel of a quantity, with the free parameters as inputs after the state."""
        return arm_calls.kernel_of(self.arm, name, **options, **({"free": self.free} if self.free else {}))

    def quantity(self, name: str, options: Mapping[str, Any] = NONE, /, **inputs: Any) -> Any:
        """A quantity of the plant on traced scalars, with free parameters among the inputs."""
        graph = self.kernel(name, **options).graph
        if not isinstance(graph, Graph):  # a long chain's, which is compiled as loops
            graph = ready_graph(self.arm, name, self.free, **options)
        if self.floats and "q" in inputs:
            inputs = {**inputs, "q": unit(inputs["q"])}
        found = apply(graph, **{port.name: inputs[port.name] for port in graph.inputs})
        return next(iter(found.values()))

    def pull(self, v: Mapping[str, Any]) -> Vector:
        """Cᵀ qd, which is what kinetic energy does to momenta: d(½ qdᵀ M qd)/dq."""
        if not self.free:
            return self.quantity("coriolis_transpose_times", **{**v, "v": v["qd"]})  # type: ignore[no-any-return]
        n = self.arm.nv

        def weighted(**inner: Any) -> Any:
            return inner["v"] @ self.quantity("velocity_torque", **inner) * 0.5

        graph = trace(weighted, {"q": (n,), "qd": (n,), "v": (n,), **self.free_ports}, outputs=("s",))
        slope = jacobian(graph, "s", ("qd",), keep=False, effort=0)
        given = {port.name: {**v, "v": v["qd"]}[port.name] for port in slope.inputs}
        return apply(slope, **given)["ds_dqd"]  # type: ignore[no-any-return]


def kept(plant: Plant, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Something compiled for a plant, kept on its arm: the newest MOST_KEPT of them, for keys hold numbers."""
    kernels, key = plant.arm.kernels, (SIMULATION, *plant.key, *key)
    found = kernels.get(key)
    if found is None:
        found = make()
        mine = [other for other in list(kernels) if other[0] == SIMULATION]
        for old in mine[: len(mine) - MOST_KEPT + 1] if len(mine) >= MOST_KEPT else ():
            kernels.pop(old, None)
        kernels[key] = found
    return found


def trespass(plant: Plant, q: Vector) -> Any:
    """Three to the power of which joint of `bounds` is the first beyond its limits, or 0."""
    code: Any = 0.0
    q = plant.watched(q)
    for k, (j, low, high) in reversed(list(enumerate(plant.bounds))):
        if np.isfinite(low):
            code = where(q[j] - low, code, 3.0**k)
        if np.isfinite(high):
            code = where(high - q[j], code, 3.0**k)
    return code


def trespasser(plant: Plant, first: Vector, which: Vector) -> Vector:
    """Place in `watched` of the joint that left its limits first, from 1; 0 where none did.

    Stages of a step are weighted: one joint may be beyond its limits at a stage, and another before it in the chain at
    the next. `which / first` is a power of three where there is one, or (2 · 3^a + 3^b) / 3, which tells the larger.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        power = np.ceil(np.log(which / first) / np.log(3.0) - 1e-4)
    found = np.where((first > 0) & np.isfinite(power), power, -1).astype(int)
    return np.array([0, *(j + 1 for j, _, _ in plant.bounds)])[np.clip(found + 1, 0, len(plant.bounds))]


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
    going = where(v["first"], 0.0, 1.0) if plant.stops else 1.0
    for name, overrun in plant.overruns.items():
        rates[f"{name}_rate"] = where(overrun.passed(qd, tau), going, 0.0)
    for j in plant.holding:
        least = (1 - SLACK) * float(plant.torque_limits[j])
        rates[f"held_{j + 1}_rate"] = where(tau[j] * tau[j] - least**2, going, 0.0)
    return rates


def state_ports(plant: Plant) -> dict[str, tuple[int, ...]]:
    """Inputs that are integrated: q, qd and the scalars."""
    return {"q": (plant.arm.nq,), "qd": (plant.arm.nv,), **{name: () for name in plant.scalars}}


def rates_graph(plant: Plant, law: Graph | None) -> Graph:
    """Rates of the state under a law's torques, or under torques that are an input."""
    ports = state_ports(plant) | drivers(plant, law) | plant.free_ports

    def rates(**v: Any) -> dict[str, Any]:
        tau, push = plant.clipped(law_in_graph(plant, law, v)), plant.external(v)
        qdd = plant.quantity("forward_dynamics", **{**v, "tau": tau + push})
        found = {"qd_rate": qdd, **scalar_rates(plant, v, tau, push)}
        if plant.floats:
            found["q_rate"] = plant.position_rates(v["q"], v["qd"])
        if plant.stops:
            going = where(v["first"], 0.0, 1.0)
            frozen = {name: found[name] * going for name in ("qd_rate", "work_rate", "lost_rate")}
            found |= {**frozen, "q_rate": found.get("q_rate", v["qd"]) * going}
        return found

    return lower(
        trace(rates, ports, name=f"{plant.arm.name} in motion", careful=law is not None and law.careful), 0
    )


def rates_kernel(plant: Plant, law: Graph | None) -> Any:
    """The rates compiled, for schemes in Python and for looking at a motion from outside."""
    key = ("rates", None if law is None else law.digest)
    return kept(plant, key, lambda: ProcessorKernel(rates_graph(plant, law)))


def rates_of(plant: Plant) -> dict[str, str]:
    """Which output (or state) is the rate of which state."""
    position = "q_rate" if plant.stops or plant.floats else "qd"
    return {"q": position, "qd": "qd_rate", **{name: f"{name}_rate" for name in plant.scalars}}


def drivers(plant: Plant, law: Graph | None) -> dict[str, tuple[int, ...]]:
    """Inputs that drive the arm: torques, or the law's own (time and gains)."""
    if law is None:
        return {"tau": (plant.arm.nv,)}
    return {port.name: port.shape for port in law.inputs if port.name not in ("q", "qd")}


def law_in_graph(plant: Plant, law: Graph | None, v: Mapping[str, Any]) -> Vector:
    """Torques of a law put into a graph, or those that are an input of it; a law is given unit quaternions."""
    if law is None:
        return v["tau"]  # type: ignore[no-any-return]
    given = {**v, "q": unit(v["q"])} if plant.floats else v
    return apply(law, **{port.name: given[port.name] for port in law.inputs})["tau"]  # type: ignore[no-any-return]
