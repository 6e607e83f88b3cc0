"""simulate: from an arm, a state and a law to a record."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import States, Vector
from forearm.arm import Arm
from forearm.dynamics import external_torque, hint_degrees
from forearm.faults import StateFault
from forearm.link import Wrench
from forearm.simulation.engines import Adaptive, Loop, Stages, State
from forearm.simulation.jobs import (
    Job,
    free_values,
    greatest_torques,
    law_torques,
    make_job,
    one_of,
    rows_in_python,
    whole_steps,
)
from forearm.simulation.outcomes import outcomes_of
from forearm.simulation.papers import PapersScheme
from forearm.simulation.records import Record
from forearm.simulation.steps import Plant

METHODS = ("rk4", "euler", "symplectic", "dop853", "papers")
PATIENCE = 0.1
"""Seconds between two calls of `progress`, and until Ctrl-C is heard."""
BATCH_RECORDS = 100
"""At most about so many records are kept of each motion of a batch, unless record_every says otherwise."""
BATCH_NUMBERS = 2**22
"""And so many numbers in each array of a batch."""


def simulate(
    arm: Arm,
    q0: States,
    qd0: States | None = None,
    *,
    law: Callable[..., Any] | ArrayLike | None = None,
    duration: float,
    dt: float = 1e-3,
    method: str = "rk4",
    control_dt: float | None = None,
    gains: Mapping[str, Any] | None = None,
    payload: Any = None,
    free: Mapping[str, Any] | None = None,
    wrench: Wrench | None = None,
    torque_limits: ArrayLike | None = None,
    limits: str = "note",
    sticking: bool = False,
    record_every: int | None = None,
    trace: bool = True,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    threads: int = 1,
    target: str = "cpu",
    progress: Callable[[float], None] | None = None,
) -> Record:
    """The motion of an arm, or of a batch of arms, from q0 and qd0 on.

    Args:
        arm: The arm; payload, drives and base included, as everywhere.
        q0: Positions at the beginning (..., n), or a dict by joint name.
        qd0: Speeds at the beginning (..., n); at rest by default.
        law: None (no torques), constant torques (n,), torques for each step (or sample) (..., steps, n), or a function
            law(t, q, qd) of one state. A function is traced into the kernel if possible; `record.law` says if not, why.
        duration: How long [s]; a whole number of steps.
        dt: Step [s]; for dop853 where it reports.
        method: 'rk4', 'euler' (semi-implicit), 'symplectic' (implicit midpoint in momenta), 'dop853' (adaptive, one
            motion), 'papers' (section 7 of Turney, Mudge and Lee, in plain Python).
        control_dt: Torques are computed every control_dt seconds and held between; by default at every evaluation.
        gains: What the law takes by name, shared or one for each motion (..., *shape).
        payload: A body at the flange for each motion, (..., 10), as `payload_numbers` makes it.
        free: Other parameters for each motion: {"links[2].mass": (...)}, see `compile`.
        wrench: What the environment exerts on the arm, constant.
        torque_limits: Greatest torques (n,); 'arm' for the arm's own effort limits; None for none.
        limits: Joint limits: 'note' them in the outcome, 'stop' the motion there, or 'ignore' them.
        sticking: With 'euler': true dry friction, joints may stick, instead of the smooth curve.
        record_every: Record every so many steps; every step of one motion, a batch up to a hundred times by default.
        trace: Whether to compile the law; False for laws that keep something between calls.
        rtol: Relative tolerance of dop853.
        atol: Absolute tolerance of dop853.
        threads: How many threads share a batch.
        target: 'cpu', or 'cuda': all motions of a batch in one launch on the GPU, state in registers (rk4 and euler;
            the law must be one that compiles).
        progress: Called now and then with the share that is done, 0 to 1.

    Returns:
        The record, also when Ctrl-C was pressed: what was computed until then, with the outcome 'interrupted'.
    """
    faults.needs_dynamics(arm, "motion")
    one_of("method", method, METHODS)
    one_of("limits", limits, ("note", "stop", "ignore"))
    q, qd = faults.state(arm, "q0", q0), faults.state(arm, "qd0", np.zeros(arm.n) if qd0 is None else qd0)
    hint_degrees(arm, q)
    own = free_values(arm, payload, free)
    plant = Plant(
        arm, tuple(own), wrench, greatest_torques(arm, torque_limits), limits != "ignore", limits == "stop"
    )
    steps, hold = whole_steps(duration, dt, control_dt)
    job = make_job(plant, q, qd, own, gains or {}, law, steps, hold, trace)
    every: Any = _every(job) if record_every is None else record_every
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise StateFault(f"record_every is {record_every!r}; give a whole number of steps, 1 or more.")
    job = replace(job, dt=float(duration) / steps, every=int(every), progress=progress)
    engine = _engine(job, method, sticking, rtol, atol, target)
    engine.threads = threads
    return _Run(job, engine).record("euler with sticking" if sticking else method)


def _every(job: Job) -> int:
    """How often to record: every step of one motion; a batch as often as memory allows, a hundred times at most."""
    if not job.batch:
        return 1
    room = BATCH_NUMBERS // max(1, math.prod(job.batch) * job.plant.arm.n)
    return -(-job.steps // min(max(room, 1), BATCH_RECORDS))


# -- engines -----------------------------------------------------------------------------------------------


def _engine(job: Job, method: str, sticking: bool, rtol: float, atol: float, target: str) -> Any:
    plant, law = job.plant, job.law
    one_of("target", target, ("cpu", "cuda"))
    if sticking and method != "euler":
        raise StateFault(
            f"simulate: sticking=True with method={method!r}; joints can stick with method='euler' only."
        )
    within = law is not None and not job.hold  # the law is evaluated inside the step
    graph = law.graph if law is not None and within else None
    calls = rows_in_python(job) if within and graph is None else None
    if target == "cuda" and (method not in ("rk4", "euler") or (within and graph is None)):
        what = (
            f"this law {law.why}" if law is not None and within and graph is None else f"method is {method!r}"
        )
        raise StateFault(
            f"simulate: target='cuda' runs rk4 and euler with compiled laws, and {what}; leave target out, or give "
            "control_dt= to sample the law on the CPU between steps."
        )
    if method == "papers":
        _one_motion_or_no_extras(job, method)
        return PapersScheme(plant, rows_in_python(job) if within else None)
    if method == "dop853":
        _one_motion_or_no_extras(job, method)
        if job.batch:
            raise StateFault("simulate: dop853 takes one motion; give q0 (n,), or method='rk4' for a batch.")
        return Adaptive(Stages(plant, "rk4", law_torques(job) if within else None, {}), rtol, atol)
    if within and graph is None:
        if method == "symplectic" or sticking:
            why = law.why if law is not None else ""
            raise StateFault(
                f"simulate: {method}{' with sticking' if sticking else ''} runs in the kernel, and this law {why}; "
                "give control_dt= to sample it between steps, or method='rk4'."
            )
        return Stages(plant, method, calls, job.values)
    many = job.torques is not None and job.torques.ndim > 1 and job.torques.shape[-2] > 1
    scheme = "sticking" if sticking else method
    return Loop(plant, graph, scheme, per_step=many, values=job.values, target=target)


def _one_motion_or_no_extras(job: Job, method: str) -> None:
    if job.own or job.plant.stop:
        what = f"{', '.join(job.own)} for each row" if job.own else "limits='stop'"
        raise StateFault(
            f"simulate: {method} does not take {what}; change the arm (arm.with_payload, arm.replace), or give "
            "method='rk4'."
        )


# -- running -----------------------------------------------------------------------------------------------


class _Run:
    """The loop over chunks of steps: torques in, states out, records kept."""

    def __init__(self, job: Job, engine: Any) -> None:
        self.job, self.engine = job, engine
        self.rows: list[tuple[Vector, State]] = []
        self.state: State = engine.start(job.q, job.qd)
        self.done, self.interrupted = 0, False
        self.tau: Vector | None = None
        sampled = job.law is not None and job.hold
        self.law = law_torques(job) if sampled else None
        self.stepwise = isinstance(engine, Adaptive) and job.torques is not None and job.torques.ndim > 1
        self.grows = not sampled and not self.stepwise

    def record(self, method: str) -> Record:
        """Run to the end, or to Ctrl-C, and give what there is."""
        job = self.job
        try:
            with np.errstate(all="ignore"):
                self._run()
        except KeyboardInterrupt:
            self.interrupted = True
        steps, states = self._collected()
        t = steps * job.dt
        tau = self._torques(steps, t, states)
        accelerations = self._accelerations(states, tau)
        outcomes = outcomes_of(job, self.state, states, t, self.done, self.interrupted, method)
        return Record(
            job.plant.arm,
            t,
            states["q"],
            states["qd"],
            accelerations,
            tau,
            states["work"],
            states["lost"],
            outcomes,
            method,
            job.dt,
            job.label,
            job.own,
        )

    def _run(self) -> None:
        job, chunk = self.job, self._chunk()
        told = time.perf_counter()
        while self.done < job.steps:
            count = min(chunk, job.steps - self.done)
            began = time.perf_counter()
            self._advance(count)
            if not np.any(np.all(np.isfinite(self.state["qd"]), axis=-1)):
                return  # nothing is left to compute
            now = time.perf_counter()
            if self.grows and now - began < PATIENCE / 4:
                chunk = 2 * chunk
            elif self.grows and now - began > PATIENCE and chunk > job.every:
                chunk = job.every * -(-chunk // (2 * job.every))
            if job.progress is not None and (now - told > PATIENCE or self.done == job.steps):
                job.progress(self.done / job.steps)
                told = now

    def _chunk(self) -> int:
        """How many steps to begin with: one sample of a sampled law, otherwise a few records."""
        job = self.job
        if not self.grows:
            return max(job.hold, 1)
        few = max(1, job.steps // 8) if isinstance(self.engine, Adaptive) else 64
        return job.every * -(-few // job.every)

    def _advance(self, count: int) -> None:
        job, first = self.job, self.done
        every = math.gcd(job.every, first) if first % job.every else job.every
        tau = self._next_torques(first, count)
        after, record = self.engine.advance(self.state, first * job.dt, count, job.dt, every, tau)
        steps = np.arange(first, first + count, every)
        keep = steps % job.every == 0
        if np.any(keep):
            axis = len(job.batch)
            rows = {name: np.compress(keep, array, axis=axis) for name, array in record.items()}
            if self.law is not None and tau is not None:
                shape = (*job.batch, int(keep.sum()), job.plant.arm.n)
                rows["tau"] = np.broadcast_to(np.expand_dims(tau, axis), shape)
            self.rows.append((steps[keep], rows))
        self.state, self.done, self.tau = after, first + count, tau

    def _next_torques(self, first: int, count: int) -> Vector | None:
        """Torques of the next steps: sampled from the law, or those known beforehand."""
        job = self.job
        if self.law is not None:
            return self.law(first * job.dt, self.state["q"], self.state["qd"])
        if job.torques is None:
            return None
        if job.torques.ndim == 1 or job.torques.shape[-2] == 1:
            return job.torques if job.torques.ndim == 1 else job.torques[..., 0, :]
        index = np.arange(first, first + count) // max(job.hold, 1)
        if self.stepwise:
            return job.torques[..., index[0], :]
        tau = job.torques[..., index, :]
        return tau if isinstance(self.engine, Loop) else np.broadcast_to(tau, (*job.batch, *tau.shape[-2:]))

    def _collected(self) -> tuple[Vector, State]:
        """Recorded steps and states, the last state among them."""
        axis, end = len(self.job.batch), {k: self.state[k] for k in ("q", "qd", "work", "lost")}
        last = {name: np.expand_dims(np.asarray(value), axis) for name, value in end.items()}
        parts = [rows for _, rows in self.rows]
        states = {
            name: np.concatenate([*(np.asarray(rows[name]) for rows in parts), value], axis=axis)
            for name, value in last.items()
        }
        if parts and "tau" in parts[0]:
            states["tau"] = np.concatenate([rows["tau"] for rows in parts], axis=axis)
        return np.concatenate([*(steps for steps, _ in self.rows), [self.done]]).astype(int), states

    def _torques(self, steps: Vector, t: Vector, states: State) -> Vector:
        """Torques at the recorded times (*batch, K, n)."""
        job, axis = self.job, len(self.job.batch)
        shape = (*job.batch, len(t), job.plant.arm.n)
        if job.torques is not None:
            known = job.torques
            if known.ndim > 1:
                index = np.minimum(steps // max(job.hold, 1), known.shape[-2] - 1)
                known = known[..., index, :]
            return np.array(np.broadcast_to(known, shape))
        if "tau" in states:  # what was applied; at the end what is held, or what the law says there
            final = self.tau
            if final is None:
                q, qd = self.state["q"], self.state["qd"]
                final = rows_in_python(job)(self.done * job.dt, q, qd)
            return np.concatenate([states["tau"], np.expand_dims(final, axis)], axis=axis)
        if job.law is not None and job.law.graph is None:
            law = rows_in_python(job)
            every = [law(float(x), states["q"][i], states["qd"][i]) for i, x in enumerate(t)]
            return np.array(every)
        return np.array(np.broadcast_to(law_torques(job, timed=True)(t, states["q"], states["qd"]), shape))

    def _accelerations(self, states: State, tau: Vector) -> Vector:
        plant, axis = self.job.plant, len(self.job.batch)
        own = [np.expand_dims(v, axis) for v in self.job.own.values()]
        if plant.wrench is not None:
            tau = tau + external_torque(plant.arm, states["q"], plant.wrench)
        with np.errstate(all="ignore"):
            found = plant.kernel("forward_dynamics").general(states["q"], states["qd"], tau, *own)
        return np.asarray(found)
