"""How fast arm and law can change: the largest eigenvalue, which bounds the step of every scheme."""

import math
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.free_parameters import is_drive, port_name
from forearm.outside.signal_errors import pass_on_signals
from forearm.simulation.plant import Plant, kept, rates_kernel
from forearm.simulation.request import Request

AT_ONCE = 4096
"""Motions of a batch whose friction is looked at together."""


def fastest_rate(
    request: Request, row: tuple[int, ...], q: Any = None, qd: Any = None, *, sampled: bool = False
) -> float:
    """Magnitude of the largest eigenvalue of arm and law, linearised at a state of a motion [1/s].

    A law that is held between samples is not part of that, unless `sampled` asks what it would be like if it were not.
    """
    n, plant = request.plant.arm.nv, request.plant
    if plant.floats:
        return float("nan")  # positions of a free base are no vector to linearise about
    q = request.q[row] if q is None else q
    qd = request.qd[row] if qd is None else qd
    acting = request.law if sampled or not request.hold else None
    law = None if acting is None else acting.graph
    kernel = rates_kernel(plant, law)
    y, steps = np.concatenate([q, qd]), 1e-6 * np.eye(2 * n)
    states = np.concatenate([y + steps, y - steps])
    given = {name: value[row] for name, value in request.values.items()} | {"t": np.zeros(())}
    given |= {name: np.zeros(()) for name in plant.scalars}
    tau = request.torques if request.torques is not None and request.torques.ndim == 1 else np.zeros(n)
    if acting is not None and law is None:
        tau = _called(acting.function, states, {name: request.values[name][row] for name in request.gains})
    given |= {"q": states[:, :n], "qd": states[:, n:], "tau": tau}
    found = kernel.general(*[given[port.name] for port in kernel.graph.inputs])
    names = [port.name for port in kernel.graph.outputs]
    qdd = np.asarray(found[names.index("qd_rate")])
    slope = ((qdd[: 2 * n] - qdd[2 * n :]) / 2e-6).T
    if not np.all(np.isfinite(slope)):
        return float("inf")
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [slope]])
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def rate_beneath_limits(request: Request, row: tuple[int, ...], q: Vector, qd: Vector) -> float:
    """The same of a law whose torques are held at their limits, as if there were none; 0 where nothing is known.

    Limits keep an unstable motion bounded, and a law that stands at one has no slope to see. Speeds are taken to be
    small: M and the law's own slopes are what is fast.
    """
    plant, law = request.plant, request.law
    if plant.floats or law is None or request.hold:
        return 0.0
    n = plant.arm.nv
    y, steps = np.concatenate([q, qd]), 1e-6 * np.eye(2 * n)
    gains = {name: request.values[name][row] for name in request.gains}
    tau = _called(law.function, np.concatenate([y + steps, y - steps]), gains)
    slope = ((tau[: 2 * n] - tau[2 * n :]) / 2e-6).T
    own = [np.asarray(value)[row][None] for value in request.own.values()]
    pushes = np.concatenate([np.zeros((1, n)), np.eye(n)])
    at = np.broadcast_to(q, pushes.shape)
    qdd = plant.kernel("forward_dynamics").general(at, np.zeros_like(pushes), pushes, *own)
    slope = (qdd[1:] - qdd[0]).T @ slope
    if not np.all(np.isfinite(slope)):
        return 0.0
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [slope]])
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def friction_rates(request: Request) -> Vector:
    """How fast dry friction turns over as each joint of each motion begins to move from q0 (*batch, n) [1/s]."""
    plant, arm = request.plant, request.plant.arm
    motions = math.prod(request.batch)
    slopes = np.broadcast_to(_friction_slopes(request), (*request.batch, arm.n)).reshape(motions, arm.n)
    found = np.zeros(slopes.shape)
    joints = np.flatnonzero(np.any(slopes > 0, axis=0))
    if not joints.size:
        return found.reshape(*request.batch, arm.n)
    pushes = np.concatenate([np.zeros((1, arm.nv)), np.eye(arm.nv)[joints - arm.n]])
    q = request.q.reshape(motions, 1, arm.nq)
    own = [
        np.asarray(value).reshape(motions, 1, *np.shape(value)[len(request.batch) :])
        for value in request.own.values()
    ]
    kernel = plant.kernel("forward_dynamics")
    for k in range(0, len(q), AT_ONCE):
        some = slice(k, k + AT_ONCE)
        with np.errstate(all="ignore"):
            qdd = kernel.general(q[some], np.zeros_like(pushes), pushes, *(value[some] for value in own))
        softness = qdd[:, np.arange(1, len(pushes)), joints - arm.n] - qdd[:, 0, joints - arm.n]
        found[some, joints] = slopes[some, joints] * softness
    return found.reshape(*request.batch, arm.n)


def _friction_slopes(request: Request) -> Vector:
    """Slope of each joint's dry friction over its speed at rest, (n,) or (*batch, n) where motions have their own."""
    plant: Plant = request.plant
    ports = {port_name(path): plant.free_ports[port_name(path)] for path in plant.free if is_drive(path)}

    def slopes(**v: Any) -> dict[str, Any]:
        drives = [link.drive for link in plant.with_own_drives(v).state_links]
        return {"slopes": np.array([(d.coulomb[0] + d.coulomb[1]) / 2 / d.smoothing for d in drives])}

    if not ports:
        return np.asarray(slopes()["slopes"], dtype=float)
    kernel = kept(
        plant, ("friction slopes",), lambda: ProcessorKernel(lower(trace(slopes, ports, name="slopes"), 0))
    )
    given = [request.values[port.name] for port in kernel.graph.inputs]
    return np.asarray(kernel.general(*given))


def _called(law: Any, states: Vector, gains: dict[str, Any]) -> Vector:
    """Torques of a law in Python at some states; none where it fails."""
    n = states.shape[1] // 2
    try:
        return np.array([law(0.0, y[:n].copy(), y[n:].copy(), **gains) for y in states], dtype=float)
    except Exception:  # whatever a law does at states that it was not made for
        pass_on_signals()
        return np.zeros((len(states), n))
