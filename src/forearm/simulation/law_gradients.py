"""How a number that depends on a motion under a control law depends on the law's gains."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import States
from forearm.arm import Arm
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.builder import rebuild
from forearm.compiler.graph.derivatives import pulled
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.step_rules import RK4
from forearm.compiler.graph.trace import trace
from forearm.results import GainGradient
from forearm.robot import Robot
from forearm.rollout_gradients import by_step, check_step, refuse_no_numbers, refuse_other_motion
from forearm.simulation.plant import Plant, kept, law_in_graph
from forearm.simulation.traced_laws import TracedLaw, make_law, on_the_way, refuse_other_torques


@faults.explained
def rollout_gain_gradient(
    arm: Arm | Robot,
    q: States,
    qd: States,
    law: Callable[..., Any],
    gains: Mapping[str, ArrayLike],
    weights_q: ArrayLike,
    weights_qd: ArrayLike,
    *,
    dt: float,
    threads: int = 1,
) -> GainGradient:
    """The gradient of a number by the gains of the law that made a motion, and by the motion's start.

    The steps are those of `simulate(…, law=law, gains=gains, dt=dt, method="rk4", record_every=1)` from t = 0 on, the
    law asked at every stage of a step, torques without limits; they are gone through backwards, as by
    `rollout_gradient`. The law is differentiated as it was traced, so it has to be one that can be.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        law: law(t, q, qd, **gains), of one state.
        gains: What the law takes by name, one value for all motions.
        weights_q: The number's own derivatives by the positions (..., steps + 1, n).
        weights_qd: And by the speeds.
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        Gradients (by_q0, by_qd0, by_gains): (..., n), (..., n), and a dict of (..., *shape) by the names of the gains.
    """
    name = f"rollout_gain_gradient of {arm.name}"
    faults.needs_dynamics(arm, "rollout_gain_gradient")
    if isinstance(arm, Robot) and arm.free:
        raise faults.KernelFault(
            f"{name}: the seven numbers of a free base have no gradient of their own; fix the base (robot.fixed())."
        )
    check_step("rollout_gain_gradient", arm, dt)
    if not isinstance(gains, Mapping):
        raise faults.StateFault(f"{name}: gains is {faults.shown(gains)}; give a mapping: {{'kp': 30.0}}.")
    values = {key: faults.floats(f"gain {key!r}", value) for key, value in gains.items()}
    states = {"q": q, "qd": qd, "weights_q": weights_q, "weights_qd": weights_qd}
    along = {key: by_step("rollout_gain_gradient", arm, key, value) for key, value in states.items()}
    for key, value in along.items():
        if value.shape != along["q"].shape:
            raise faults.StateFault(
                f"{name}: {key} has shape {value.shape} (steps first), and q {along['q'].shape}; give both alike."
            )
    if len(along["q"]) < 2:
        raise faults.StateFault(f"{name}: q has {len(along['q'])} states; give those of one step or more.")
    refuse_no_numbers(name, along)
    made = _traced(arm, law, {key: value.shape for key, value in values.items()})
    rows = {key: value.reshape(len(value), -1, arm.nv) for key, value in along.items()}
    times = np.arange(len(rows["q"])) * float(dt)
    refuse_other_torques(arm, made, on_the_way(times, {k: rows[k][:, 0] for k in ("q", "qd")}, values, ()))
    kernel = _pullback(arm, made, {key: value.shape for key, value in values.items()})
    by_q, by_qd, by_gains = _backwards(name, kernel, rows, values, float(dt), threads)
    batch = along["q"].shape[1:-1]
    each = {key: total.reshape((*batch, *values[key].shape)) for key, total in by_gains.items()}
    return GainGradient(by_q.reshape(*batch, arm.nv), by_qd.reshape(*batch, arm.nv), each)


def _backwards(
    name: str, kernel: Any, rows: dict[str, Any], gains: dict[str, Any], dt: float, threads: int
) -> tuple[Any, Any, dict[str, Any]]:
    """Gradients by the start and, summed over all steps, by the gains."""
    by_q, by_qd = rows["weights_q"][-1].copy(), rows["weights_qd"][-1].copy()
    count = len(by_q)
    shared = [np.broadcast_to(value, (count, *value.shape)) for value in gains.values()]
    totals = {key: np.zeros((count, *value.shape)) for key, value in gains.items()}
    for k in reversed(range(len(rows["q"]) - 1)):
        time, step = np.full(count, k * dt), np.full(count, dt)
        found = kernel(time, rows["q"][k], rows["qd"][k], step, by_q, by_qd, *shared, threads=threads)
        some = {key: rows[key][k : k + 2] for key in ("q", "qd")}
        after = {key: value[np.newaxis] for key, value in zip(some, found, strict=False)}
        refuse_other_motion(name, some, after, k, dt, " under the law with these gains")
        by_q, by_qd = found[2] + rows["weights_q"][k], found[3] + rows["weights_qd"][k]
        for total, share in zip(totals.values(), found[4:], strict=True):
            total += share
    return by_q, by_qd, totals


def _traced(arm: Arm | Robot, law: Callable[..., Any], gains: dict[str, tuple[int, ...]]) -> TracedLaw:
    traced = make_law(arm, law, gains, True)
    if traced.graph is None:
        raise faults.TraceFault(f"rollout_gain_gradient of {arm.name}: the law {traced.why}.")
    return traced


def _pullback(arm: Arm | Robot, traced: TracedLaw, gains: dict[str, tuple[int, ...]]) -> ProcessorKernel:
    """The kernel of a step backwards: from t, q, qd, dt, weights, gains the next state, slopes by q, qd, gains."""
    assert traced.graph is not None
    plant, graph = Plant(arm), traced.graph
    key = ("gain pullback", graph.digest, tuple(gains.items()))
    return kept(plant, key, lambda: ProcessorKernel(lower(_slopes(plant, graph, gains), 0)))  # type: ignore[no-any-return]


def _slopes(plant: Plant, law: Graph, gains: dict[str, tuple[int, ...]]) -> Graph:
    """The state q', qd' after a step, and weights_q · q' + weights_qd · qd' differentiated by one sweep backwards."""
    n = plant.arm.nv
    ports = {"t": (), "q": (n,), "qd": (n,), "dt": (), "weights_q": (n,), "weights_qd": (n,), **gains}

    def number(t: Any, q: Any, qd: Any, dt: Any, weights_q: Any, weights_qd: Any, **held: Any) -> Any:
        rates: list[tuple[Any, Any]] = []
        for i in range(RK4.stages):
            at_q, at_qd = q, qd
            for reach, (rate, push) in zip(RK4.reaches[i - 1] if i else (), rates, strict=True):
                if reach:
                    at_q, at_qd = at_q + rate * (dt * reach), at_qd + push * (dt * reach)
            tau = law_in_graph(plant, law, {"t": t + dt * RK4.times[i], "q": at_q, "qd": at_qd, **held})
            rates.append((at_qd, plant.quantity("forward_dynamics", q=at_q, qd=at_qd, tau=tau)))
        after, faster = q, qd
        for weight, (rate, push) in zip(RK4.weights, rates, strict=True):
            after, faster = after + rate * (dt * weight), faster + push * (dt * weight)
        return weights_q @ after + weights_qd @ faster, after, faster

    title, outputs = f"gains of {plant.arm.name} in motion", ("s", "q_next", "qd_next")
    graph = trace(number, ports, name=title, outputs=outputs, careful=law.careful)
    builder, new = rebuild(graph)
    found = pulled(builder, [(new[graph.results[0][0]], builder.const(1.0))])
    zero, given = builder.const(0.0), list(graph.outputs[1:])
    results = [[new[i] for i in numbers] for numbers in graph.results[1:]]
    for which, port in enumerate(graph.inputs):
        if port.name in ("q", "qd", *gains):
            given.append(Port(f"by_{port.name}", port.shape))
            results.append([found.get(builder.input(which, k), zero) for k in range(port.size)])
    return builder.finish(graph.name, given, results)
