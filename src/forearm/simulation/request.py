"""What a simulation is asked for: arguments read and checked, brought to one batch; and its law as a call."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.memories import memory_of
from forearm.compiler.graph.passes import lower
from forearm.compiler.model.free_parameters import (
    PAYLOAD,
    is_payload,
    port_name,
    port_shape,
    possible_payload,
)
from forearm.faults import StateFault
from forearm.link import Wrench
from forearm.outside.running_log import LOG
from forearm.robot import Robot
from forearm.simulation.double_meanings import (
    gain_shape,
    refuse_gains_of_two_meanings,
    refuse_torques_of_two_meanings,
)
from forearm.simulation.plant import Plant, State, kept
from forearm.simulation.row_blocks import Progress
from forearm.simulation.traced_laws import (
    TracedLaw,
    at_the_start,
    believed,
    checked_torques,
    law_name,
    make_law,
)

Torques = Callable[[float, Vector, Vector], Vector]
"""Torques (*batch, n) of a law in Python at a time, for states (*batch, n)."""

MOST_STEPS = 10**12
"""Steps of a simulation: hours at the fastest, for one motion."""
MANY = 64
"""Calls of a law in Python between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Request:
    """Everything about a simulation but its engine."""

    plant: Plant
    """What is simulated."""
    batch: tuple[int, ...]
    """Shape of the batch; () for one motion."""
    q: Vector
    """Positions at the beginning (*batch, n)."""
    qd: Vector
    """Speeds at the beginning (*batch, n)."""
    values: State
    """Gains and free parameters by port, (*batch, *shape)."""
    own: dict[str, Vector]
    """Free parameters by path, (*batch, *shape)."""
    gains: tuple[str, ...]
    """Names of the law's gains."""
    law: TracedLaw | None
    """The law; None for open-loop torques."""
    torques: Vector | None
    """Open-loop torques (*, n) constant or (..., samples, n), within limits."""
    steps: int
    """How many steps."""
    hold: int
    """Steps between two samples of the law; 0 for a law at every evaluation."""
    label: str
    """What the record says about the law."""
    dt: float = 0.0
    """Step [s]."""
    every: int = 1
    """Record every so many steps."""
    progress: Progress = field(default_factory=Progress)
    """Told the share that is done."""


# -- reading the arguments ---------------------------------------------------------------------------------


def one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a word that is not among the known ones."""
    if not isinstance(value, str) or value not in known:
        raise StateFault(
            f"simulate: {name} is {faults.shown(value)}; give one of {', '.join(map(repr, known))}."
        )


def whole_steps(duration: Any, dt: Any, control_dt: Any) -> tuple[int, int]:
    """Number of steps, and steps for each sample of the law (0: not sampled)."""
    for name, value in (("duration", duration), ("dt", dt), ("control_dt", control_dt)):
        if name == "control_dt" and value is None:
            continue
        if not is_number(value) or not (math.isfinite(value) and value > 0):
            raise StateFault(f"simulate: {name} is {faults.shown(value)}; give a positive time in seconds.")
    if duration / dt > MOST_STEPS:
        raise StateFault(
            f"simulate: duration {duration:g} s in steps of {dt:g} s is {duration / dt:.3g} steps; no machine comes to "
            f"the end of more than {MOST_STEPS:.0e}. Give a shorter duration, or a longer step."
        )
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * dt:
        nearest = duration / max(1, math.ceil(duration / dt - 1e-9))
        raise StateFault(
            f"simulate: duration {duration:g} s is not a whole number of steps of {dt:g} s; give dt={nearest:.17g}, or "
            "another duration."
        )
    if control_dt is None:
        return steps, 0
    hold = round(control_dt / dt)
    if hold < 1 or abs(hold * dt - control_dt) > 1e-6 * dt:
        raise StateFault(
            f"simulate: control_dt {control_dt:g} s is not a whole number of steps of {dt:g} s; give a multiple of dt."
        )
    return steps, hold


def free_values(arm: Arm | Robot, payload: Any, free: Mapping[str, Any] | None) -> dict[str, Vector]:
    """Parameters that motions have for themselves, by path."""
    given = dict(free or {})
    if payload is not None:
        if PAYLOAD in given:
            raise StateFault("simulate: payload= is given, and free= has a payload, too; give one of them.")
        given[PAYLOAD] = payload
    values = {}
    for path, value in given.items():
        array, shape = faults.floats(path, value), port_shape(arm, path)
        if is_payload(path) and array.shape[-1:] != shape:
            raise StateFault(
                f"{path} has shape {array.shape}; give (..., 10): M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ at the "
                "flange, as payload_numbers makes them."
            )
        if array.shape[array.ndim - len(shape) :] != shape:
            inner = ", ".join(map(str, shape))
            raise StateFault(
                f"simulate: free parameter {path!r} has shape {array.shape}; give ({inner}{',' * (len(shape) == 1)}) "
                f"for all motions, or (..., {inner}) for each."
            )
        faults.possible_sizes(f"simulate: {path}", arm, path, array)
        for doubt in faults.loads_doubts(arm, path, array):
            LOG.warning("%s: %s", arm.name, doubt)
        if is_payload(path):
            possible_payload(f"simulate: {path}", arm, path, array)
        values[path] = array.copy()  # a record keeps it, and whoever gave it may fill it anew
    return values


def refuse_words(**options: Any) -> None:
    """Refuse what only looks like yes or no."""
    for name, value in options.items():
        faults.yes_or_no(value, f"simulate: {name}", StateFault)


def wrench_alone(wrench: Any) -> None:
    """Refuse several wrenches, and what is none."""
    if wrench is not None and not isinstance(wrench, Wrench):
        raise StateFault(
            f"simulate: wrench is {faults.a_or_an(type(wrench).__name__)}; give one Wrench(force=, moment=, at=, "
            "frame=), or None."
        )


def greatest_torques(arm: Arm | Robot, given: Any) -> Any:
    """Torque limits (n,), or None."""
    if given is None:
        return None
    if isinstance(given, str) and given == "arm":
        missing = [link.name for link in arm.state_links if link.effort_limit is None]
        missing += ["the base"] if arm.nv > arm.n else []
        if missing:
            raise StateFault(
                f"torque_limits='arm': arm {arm.name!r} has no effort limit for {', '.join(missing)}; give ({arm.nv},) "
                "numbers."
            )
        return np.array([link.effort_limit for link in arm.state_links])
    array = faults.state(
        arm, "torque_limits", _for_each_joint(arm, faults.for_joints(arm, "torque_limits", given))
    )
    if array.ndim != 1:
        raise StateFault(
            f"torque_limits has shape {array.shape}; give ({arm.nv},), the same for all motions."
        )
    if np.any(array < 0) or np.any(np.isnan(array)):
        raise StateFault(f"torque_limits are {array}; give sizes, zero or positive.")
    return array


def _for_each_joint(arm: Arm | Robot, values: Vector) -> Vector:
    """One number for each joint, from (n,) or one for all; another size is refused by whoever looks at it next."""
    return np.full(arm.nv, values) if values.size == 1 else values


def make_request(
    plant: Plant,
    q: Vector,
    qd: Vector,
    own: dict[str, Vector],
    gains: Mapping[str, Any],
    law: Any,
    steps: int,
    hold: int,
    wanted: bool,
) -> Request:
    """Find the batch, and bring everything to it."""
    arm = plant.arm
    ports = plant.free_ports
    tails = [value.shape[: value.ndim - len(ports[port_name(path)])] for path, value in own.items()]
    torques = _open_loop(arm, law, steps, hold)
    shapes = [q.shape[:-1], qd.shape[:-1], *tails]
    if torques is not None and torques.ndim > 1:
        shapes.append(torques.shape[:-2])
    held = {k: faults.floats(f"gain {k!r}", v) for k, v in gains.items()}
    try:
        batch = np.broadcast_shapes(*shapes)
        refuse_torques_of_two_meanings(torques, batch)
        refuse_gains_of_two_meanings(arm, law, held, batch, wanted)
        inner = {k: gain_shape(v, batch) for k, v in held.items()}
        batch = np.broadcast_shapes(batch, *[v.shape[: v.ndim - len(inner[k])] for k, v in held.items()])
        values = {k: np.broadcast_to(v, batch + inner[k]) for k, v in held.items()}
        mine = {path: np.broadcast_to(v, batch + ports[port_name(path)]) for path, v in own.items()}
        q, qd = (np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1]))) for x in (q, qd))
    except StateFault:
        raise
    except ValueError:
        raise StateFault(
            f"simulate: the batches of q0 {q.shape}, qd0 {qd.shape}, law, gains and payload do not broadcast; give "
            "leading axes that are equal or 1."
        ) from None
    if gains and torques is not None:
        raise StateFault(
            f"simulate: gains are given ({', '.join(gains)}), and there is no law that takes them; give law= as a "
            "function law(t, q, qd, ...)."
        )
    if not batch:
        faults.finite_state(arm, "q0", q)
        faults.finite_state(arm, "qd0", qd)
        for name, value in (*held.items(), *own.items()):
            if not np.all(np.isfinite(value)):
                raise StateFault(f"simulate: {name!r} is {value}; give finite numbers.")
    made, label = None, "none"
    values |= {port_name(path): v for path, v in mine.items()}
    if torques is not None:
        torques = (
            torques
            if plant.torque_limits is None
            else np.clip(torques, -plant.torque_limits, plant.torque_limits)
        )
        label = "open loop" if law is not None else "none (no torques)"
    else:
        made = make_law(arm, law, inner, wanted)
        held = {name: values[name] for name in inner}
        made = believed(arm, made, at_the_start({"q": q, "qd": qd, **held}, batch))
        label = f"{law_name(law)}: {made.why}" + (", sampled and held" if hold else "")
    return Request(plant, batch, q, qd, values, mine, tuple(inner), made, torques, steps, hold, label)


def _open_loop(arm: Arm | Robot, law: Any, steps: int, hold: int) -> Vector | None:
    """Torques (n,) or (..., samples, n) that are known beforehand; None for a law."""
    if law is None:
        return np.zeros(arm.nv)
    if callable(law):
        return None
    if not isinstance(law, (np.ndarray, list, tuple, dict)) and not is_number(law):
        make_law(arm, law, {}, False)
    tau = faults.state(arm, "law (torques)", law)
    samples = -(-steps // hold) if hold else steps
    if tau.ndim > 1 and tau.shape[-2] not in (1, samples):
        what = "samples" if hold else "steps"
        raise StateFault(
            f"law: torques have shape {tau.shape}; this simulation has {samples} {what}: give ({arm.nv},), "
            f"({samples}, {arm.nv}) or (..., {samples}, {arm.nv}); (..., 1, {arm.nv}) for constant ones in each row."
        )
    if tau.ndim == 1:
        faults.finite_state(arm, "law (torques)", tau)
    return tau


def request_of(arm: Arm | Robot, q: Vector, qd: Vector, options: Mapping[str, Any]) -> Request:
    """One motion as `simulate` would read it, without time: for linearising it."""
    own = free_values(arm, options.get("payload"), options.get("free"))
    limits = greatest_torques(arm, options.get("torque_limits"))
    plant = Plant(arm, tuple(own), options.get("wrench"), limits, False, False)
    law: Any = options.get("law")
    law = law if callable(law) or np.ndim(law) == 1 else None
    hold = 0 if options.get("control_dt") is None else 1
    return make_request(
        plant, q, qd, own, options.get("gains") or {}, law, 1, hold, options.get("trace", True)
    )


# -- the law as a call ------------------------------------------------------------------------------------


def rows_in_python(request: Request) -> Callable[[float, Vector, Vector], Vector]:
    """The law as a function of (t, q, qd) of the whole batch, called in Python row by row."""
    plant, law, batch = request.plant, request.law, request.batch
    arm = plant.arm
    assert law is not None

    def torques(t: float, q: Vector, qd: Vector) -> Vector:
        tau, q = np.empty((*batch, arm.nv)), plant.whole({"q": q})["q"]
        for number, row in enumerate(np.ndindex(batch)):
            if number % MANY == MANY - 1:
                request.progress.still()
            if not (np.all(np.isfinite(q[row])) and np.all(np.isfinite(qd[row]))):
                tau[row] = np.nan  # a motion that has diverged; its law is left in peace
                continue
            extra = {name: request.values[name][row] for name in request.gains}
            tau[row] = checked_torques(arm, law.function(t, q[row].copy(), qd[row].copy(), **extra))
        return _clip(request, tau)

    return torques


def watched(request: Request, several: str) -> Request:
    """The request with a law in Python that is watched, where motions ask it in turn, or a step several times.

    An integral takes each call for the next moment; asked otherwise it sums up something else, and no number shows it.

    Args:
        request: The request.
        several: The scheme that asks several times in a step; nothing for one that asks once.
    """
    law, motions = request.law, math.prod(request.batch)
    if law is None or law.graph is not None:
        return request
    doubts = []
    if several and not request.hold:
        doubts.append(f"{several} asks it several times in a step (give control_dt= to have it asked once)")
    if motions > 1:
        doubts.append(f"{motions} motions ask it in turn and share that (simulate them one at a time)")
    if not doubts:
        return request
    return replace(request, law=replace(law, function=_WatchedLaw(law.function, " and ".join(doubts))))


class _WatchedLaw:
    """A law whose first two calls are compared: what the first one makes and keeps is no doubt yet."""

    def __init__(self, function: Callable[..., Any], doubt: str) -> None:
        self.function, self.doubt, self.memories = function, doubt, list[tuple[Any, ...]]()

    def __call__(self, *given: Any, **named: Any) -> Any:
        found = self.function(*given, **named)
        if len(self.memories) < 2:
            self.memories.append(memory_of(self.function, chance=False))
            if self.memories[0] != self.memories[-1]:
                LOG.warning(
                    "simulate: law %s keeps something between calls, and %s.",
                    law_name(self.function),
                    self.doubt,
                )
        return found


def _clip(request: Request, tau: Vector) -> Vector:
    bound = request.plant.torque_limits
    return tau if bound is None else np.clip(tau, -bound, bound)


def law_torques(request: Request, *, timed: bool = False) -> Callable[[Any, Vector, Vector], Vector]:
    """The law for the whole batch, compiled where it was traced; `timed`: states have an axis of times."""
    law = request.law
    assert law is not None
    if law.graph is None:
        return rows_in_python(request)
    graph = law.graph
    kernel = kept(request.plant, ("law", graph.digest), lambda: ProcessorKernel(lower(graph, 0)))
    axis = len(request.batch)
    extra = {k: np.expand_dims(v, axis) if timed else v for k, v in request.values.items()}

    def torques(t: Any, q: Vector, qd: Vector) -> Vector:
        if q.ndim == 1 and not (np.all(np.isfinite(q)) and np.all(np.isfinite(qd))):
            return np.full(qd.shape, np.nan)
        given = {**extra, "t": np.asarray(t, dtype=float), "q": q, "qd": qd}
        return _clip(request, kernel.general(*[given[port.name] for port in kernel.graph.inputs]))

    return torques
