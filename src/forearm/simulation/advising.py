"""How long a step may be: from the greatest speed and the stiffness of the law, checked by halving (section 7)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector
from forearm.compiler.call.processor import ProcessorKernel
from forearm.faults import StateFault
from forearm.simulation.engines import kept
from forearm.simulation.jobs import Job, job_of
from forearm.simulation.steps import rates_graph

STABLE = {"rk4": 2.6, "papers": 2.6, "euler": 2.0, "euler with sticking": 2.0, "symplectic": 2.0}
"""Greatest step times rate that a scheme follows without blowing up (symplectic: that its sweeps converge for)."""
TURN = 0.05
"""Greatest change of an angle within a step that counts as not excessive [rad]."""
EASY = 0.2
"""Step times fastest rate that is a good beginning."""


@dataclass(frozen=True)
class StepAdvice:
    """A step for a simulation, and why this one."""

    dt: float
    """The step that is advised [s]."""
    error: float
    """Largest error of q at the end with that step, estimated by halving it [rad or m]."""
    fastest_rate: float
    """Magnitude of the largest eigenvalue of arm and law, along the motion [1/s]."""
    greatest_speed: float
    """Largest |qd| met [rad/s or m/s]."""
    tried: tuple[tuple[float, float], ...]
    """Steps that were tried and the error of each, by halving."""

    def __str__(self) -> str:
        return (
            f"dt = {self.dt:.3g} s: error {self.error:.2g} by halving; rates up to {self.fastest_rate:.3g} 1/s, speeds "
            f"up to {self.greatest_speed:.3g}"
        )


def fastest_rate(
    job: Job, row: tuple[int, ...], q: Any = None, qd: Any = None, *, sampled: bool = False
) -> float:
    """Magnitude of the largest eigenvalue of arm and law, linearised at a state of a motion [1/s].

    A law that is held between samples is not part of that, unless `sampled` asks what it would be like if it were not.
    """
    n, plant = job.plant.arm.n, job.plant
    q = job.q[row] if q is None else q
    qd = job.qd[row] if qd is None else qd
    acting = job.law if sampled or not job.hold else None
    law = None if acting is None else acting.graph
    kernel = kept(
        plant,
        ("rates", None if law is None else law.digest),
        lambda: ProcessorKernel(rates_graph(plant, law)),
    )
    y, steps = np.concatenate([q, qd]), 1e-6 * np.eye(2 * n)
    states = np.concatenate([y + steps, y - steps])
    given = {name: value[row] for name, value in job.values.items()} | {"t": np.zeros(())}
    given |= {name: np.zeros(()) for name in plant.scalars}
    tau = job.torques if job.torques is not None and job.torques.ndim == 1 else np.zeros(n)
    if acting is not None and law is None:
        tau = _called(acting.function, states, {name: job.values[name][row] for name in job.gains})
    given |= {"q": states[:, :n], "qd": states[:, n:], "tau": tau}
    found = kernel.general(*[given[port.name] for port in kernel.graph.inputs])
    names = [port.name for port in kernel.graph.outputs]
    qdd = np.asarray(found[names.index("qd_rate")])
    slope = ((qdd[: 2 * n] - qdd[2 * n :]) / 2e-6).T
    if not np.all(np.isfinite(slope)):
        return float("inf")
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [slope]])
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _called(law: Any, states: Vector, gains: dict[str, Any]) -> Vector:
    """Torques of a law in Python at some states; none where it fails."""
    n = states.shape[1] // 2
    try:
        return np.array([law(0.0, y[:n].copy(), y[n:].copy(), **gains) for y in states], dtype=float)
    except Exception:  # whatever a law does at states that it was not made for
        return np.zeros((len(states), n))


def advise_step(
    arm: Any,
    q0: Any,
    qd0: Any = None,
    *,
    duration: float,
    tolerance: float = 1e-6,
    method: str = "rk4",
    **options: Any,
) -> StepAdvice:
    """A step with which one motion ends within `tolerance` of where it should.

    A first step comes from the fastest rate of arm and law and from the greatest speed (no joint turns more than
    0.05 rad in it); it is then halved until halving it once more changes the end by less than `tolerance`.

    Args:
        arm: The arm.
        q0: Positions at the beginning (n,).
        qd0: Speeds at the beginning (n,).
        duration: How long [s].
        tolerance: Largest error of any joint's position at the end [rad or m].
        method: 'rk4', 'euler' or 'symplectic'.
        **options: As for `simulate`, but dt: `law`, `payload`, `wrench`, …
    """
    from forearm.simulation.running import simulate

    if np.ndim(q0) > 1 or np.ndim(qd0 if qd0 is not None else 0.0) > 1:
        raise StateFault(
            f"advise_step: q0 has shape {np.shape(q0)}; give one motion, the fastest of a batch."
        )
    if method not in ("rk4", "euler", "symplectic"):
        raise StateFault(f"advise_step: method is {method!r}; give 'rk4', 'euler' or 'symplectic'.")
    if not tolerance > 0:
        raise StateFault(f"advise_step: tolerance is {tolerance!r}; give a positive number [rad or m].")
    order = {"rk4": 4, "euler": 1, "symplectic": 2}[method]
    rate, speed = _along(arm, q0, qd0, duration, options)
    first = min(EASY / max(rate, 1e-9), TURN / max(speed, 1e-9), duration / 4)
    steps, tried, ends = int(np.ceil(duration / first)), [], {}

    def end(count: int) -> Vector:
        if count not in ends:
            run = simulate(
                arm,
                q0,
                qd0,
                duration=duration,
                dt=duration / count,
                method=method,
                record_every=count,
                **options,
            )
            ends[count] = run.end[0]
        return ends[count]  # type: ignore[no-any-return]

    error = np.inf
    for _ in range(16):
        difference = float(np.max(np.abs(end(steps) - end(2 * steps))))
        error = difference * 2**order / (2**order - 1)
        tried.append((duration / steps, error))
        if error <= tolerance:
            break
        jump = (error / tolerance) ** (1 / order) if np.isfinite(error) else 4.0
        steps = int(np.ceil(steps * min(max(1.3, 1.1 * jump), 16)))
    return StepAdvice(duration / steps, error, rate, speed, tuple(tried))


def _along(arm: Any, q0: Any, qd0: Any, duration: float, options: dict[str, Any]) -> tuple[float, float]:
    """Fastest rate and greatest speed along the motion, from a rough run."""
    from forearm.simulation.running import simulate

    rest = {k: v for k, v in options.items() if k not in ("progress", "threads", "record_every")}
    q, qd = faults.state(arm, "q0", q0), faults.state(arm, "qd0", np.zeros(arm.n) if qd0 is None else qd0)
    job = job_of(arm, q, qd, rest)
    rate = fastest_rate(job, ())
    steps = int(np.clip(np.ceil(duration * min(rate, 1e5) / 0.5), 64, 20000))
    rough = simulate(
        arm, q0, qd0, duration=duration, dt=duration / steps, **{**rest, "record_every": max(1, steps // 16)}
    )
    speeds = np.abs(rough.qd[np.all(np.isfinite(rough.qd), axis=-1)])
    good = np.all(np.isfinite(rough.q) & np.isfinite(rough.qd), axis=-1)
    rates = [fastest_rate(job, (), a, b) for a, b in zip(rough.q[good], rough.qd[good], strict=True)]
    return float(max([rate, *rates])), float(speeds.max(initial=0.0))
