"""simulate: from an arm, a state and a law to a record."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import States, Vector
from forearm.arm import Arm
from forearm.arm_calls import ask_about_units
from forearm.compiler.call.foreign_arrays import on_host
from forearm.faults import StateFault
from forearm.link import Wrench
from forearm.robot import Robot
from forearm.simulation.engines import Engine, Scheme
from forearm.simulation.interrupts import Interrupt
from forearm.simulation.outcomes import interrupted_late, outcomes_of
from forearm.simulation.plant import Plant, State
from forearm.simulation.records import LATE, Record, RecordRoom
from forearm.simulation.request import (
    Request,
    free_values,
    greatest_torques,
    law_torques,
    make_request,
    one_of,
    refuse_words,
    rows_in_python,
    watched,
    whole_steps,
    wrench_alone,
)
from forearm.simulation.row_blocks import PATIENCE, Progress
from forearm.simulation.schemes import SCHEMES, engine_of, scheme_of, tolerances
from forearm.simulation.traced_laws import on_the_way, refuse_other_torques

BATCH_RECORDS = 100
"""At most about so many records are kept of each motion of a batch, unless record_every says otherwise."""
BATCH_NUMBERS = 2**22
"""And so many numbers in each array of a batch."""
SOME = 4096
"""Motions of a batch that are looked at together."""


@faults.explained
def simulate(
    arm: Arm | Robot,
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
    torque_limits: ArrayLike | Literal["arm"] | None = None,
    limits: str = "note",
    sticking: bool = False,
    record_every: int | None = None,
    trace: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    threads: int = 1,
    target: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Record:
    """The motion of an arm, or of a batch of arms, from q0 and qd0 on.

    Args:
        arm: The arm or robot; payload, drives and base included, as everywhere.
        q0: Positions at the beginning (..., n), or a dict by joint name. Arrays on a GPU are simulated there; the
            record, which is read, drawn and written, is NumPy's in any case.
        qd0: Speeds at the beginning (..., n); at rest by default.
        law: None (no torques), constant torques (n,), torques for each step (or sample) (..., steps, n), or a function
            law(t, q, qd) of one state. A function is traced into the kernel if possible; `record.law` says if not, why.
        duration: How long [s]; a whole number of steps.
        dt: Step [s]; for dop853 where it reports.
        method: 'rk4', 'euler' (semi-implicit), 'symplectic' (implicit midpoint in momenta), 'dop853' (adaptive, one
            motion), 'papers' (section 7 of Turney, Mudge and Lee, in plain Python).
        control_dt: Torques are computed every control_dt seconds and held between; by default at every evaluation.
        gains: What the law takes by name, shared or one for each motion (..., *shape).
        payload: A body at the flange (of a robot with branches at its tool) for each motion, (..., 10), as
            `payload_numbers` makes it.
        free: Other parameters for each motion: {"links[2].mass": (...)}, see `compile`.
        wrench: What the environment exerts on the arm, constant.
        torque_limits: Greatest torques (n,); 'arm' for the arm's own effort limits; None for none.
        limits: Limits of position, speed and effort: 'note' them in the outcome, 'stop' the motion at a position's, or
            'ignore' them.
        sticking: With 'euler': true dry friction, joints may stick, instead of the smooth curve.
        record_every: Record every so many steps, and the last state; every step of one motion, a batch up to a hundred
            times by default. Outcomes tell of limits that are passed between records, too.
        trace: Whether to compile the law; False for laws that keep something between calls.
        rtol: Relative tolerance of dop853; 1e-10 by default. Other schemes have steps of dt, and no tolerance.
        atol: Absolute tolerance of dop853; 1e-12 by default.
        threads: How many threads share a batch.
        target: 'cpu', or 'cuda': all motions of a batch in one launch on the GPU, state in registers (rk4 and euler;
            the law must be one that compiles). By default where q0 lives.
        progress: Called now and then with the share that is done, 0 to 1.

    Returns:
        The record, also when Ctrl-C was pressed (`interrupted`, and so is the outcome of motions that would have gone
        on); a second Ctrl-C is a KeyboardInterrupt.
    """
    faults.needs_dynamics(arm, "motion")
    one_of("method", method, tuple(SCHEMES))
    scheme = scheme_of(arm, method, sticking)
    one_of("limits", limits, ("note", "stop", "ignore"))
    refuse_words(sticking=sticking, trace=trace)
    bounds = tolerances(scheme, rtol, atol)
    wrench_alone(wrench)
    q0, qd0, home = on_host("simulate", {"q0": q0, "qd0": np.zeros(arm.nv).tolist() if qd0 is None else qd0})
    q, qd = faults.state(arm, "q0", q0), faults.state(arm, "qd0", qd0)
    ask_about_units(arm, q=q, qd=qd)
    if isinstance(arm, Robot) and arm.free:
        faults.unit_quaternions(arm, q)
    own = free_values(arm, payload, free)
    plant = Plant(
        arm, tuple(own), wrench, greatest_torques(arm, torque_limits), limits != "ignore", limits == "stop"
    )
    steps, hold = whole_steps(duration, dt, control_dt)
    request = make_request(plant, q, qd, own, gains or {}, law, steps, hold, trace)
    every: Any = _every(request) if record_every is None else record_every
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise StateFault(f"record_every is {record_every!r}; give a whole number of steps, 1 or more.")
    every = min(int(every), steps + 1)  # the same record
    request = replace(request, dt=float(duration) / steps, every=every, progress=Progress(progress))
    request = replace(request, plant=replace(plant, between=every > 1))
    room = RecordRoom(request.batch, arm.nq, 1 - (-steps // request.every))
    request = watched(request, "" if scheme.looks_once else scheme.name)
    engine = engine_of(request, scheme, *bounds, target or home)
    engine.threads = threads
    return _Run(request, engine, scheme, room).record()


def _every(request: Request) -> int:
    """How often to record: every step of one motion; a batch as often as memory allows, a hundred times at most."""
    if not request.batch:
        return 1
    room = BATCH_NUMBERS // max(1, math.prod(request.batch) * request.plant.arm.nq)
    return -(-request.steps // min(max(room, 1), BATCH_RECORDS))


# -- running -----------------------------------------------------------------------------------------------


class _Reached(NamedTuple):
    """How far a run is; changed in one piece, so that an interrupt finds it whole."""

    done: int
    """Steps that are done."""
    state: State
    """The state after them."""
    records: int = 0
    """How many states are recorded."""
    tau: Vector | None = None
    """Torques of the last steps."""


class _Run:
    """The loop over chunks of steps: torques in, states out, records kept."""

    def __init__(self, request: Request, engine: Engine, scheme: Scheme, room: RecordRoom) -> None:
        self.request, self.engine, self.scheme, self.room = request, engine, scheme, room
        self.interrupt, self.interrupted, self.late = Interrupt(), False, False
        self.law = law_torques(request) if request.law is not None and request.hold else None
        torques = request.torques
        self.stepwise = torques is not None and torques.ndim > 1 and not engine.torques_per_step
        in_python = request.law is not None and request.law.graph is None
        self.at_once = engine.in_python or in_python
        self.reached = _Reached(0, engine.start(request.q, request.qd))

    @property
    def done(self) -> int:
        """Steps that are done."""
        return self.reached.done

    @property
    def state(self) -> State:
        """The state after them."""
        return self.reached.state

    def record(self) -> Record:
        """Run to the end, or to Ctrl-C, and give what there is."""
        interrupt = self.interrupt
        try:
            try:
                interrupt.listen()
                record = self._run_and_record()
            finally:
                interrupt.end()
        finally:
            interrupt.end()  # again: for an interrupt within the first
        if interrupt.heard and not self.interrupted and not self.late:
            return replace(record, outcomes=interrupted_late(record.outcomes), interrupted=True)
        return record

    def _run_and_record(self) -> Record:
        try:
            with np.errstate(all="ignore"):
                self._run()
        except KeyboardInterrupt:
            self.interrupted = True
        request, (t, states) = self.request, self._collected()
        after = _Aftermath(self, t, states)
        found: dict[str, Any] = self._derived(after)
        return Record(
            request.plant.arm,
            t,
            states["q"],
            states["qd"],
            found.get("qdd"),  # type: ignore[arg-type]
            found.get("tau"),  # type: ignore[arg-type]
            states["work"],
            states["lost"],
            found.get("outcomes"),
            self.scheme.name,
            request.dt,
            request.label,
            request.own,
            None if found else after.compute,
            self.interrupted or self.late,
        )

    def _derived(self, after: "_Aftermath") -> dict[str, Any]:
        """Torques, accelerations and outcomes; nothing after Ctrl-C, when they wait until somebody asks."""
        if self.interrupted:
            return {}
        try:
            with self.interrupt.answered_at_once(True):
                after.check_law()
                return {name: after.compute(name) for name in LATE}
        except KeyboardInterrupt:
            self.late = True
            return {}

    def _run(self) -> None:
        """Chunks of about PATIENCE seconds each, by the pace of the one before."""
        request = self.request
        most = self.engine.first_count(request.steps, math.prod(request.batch))
        while self.done < request.steps:
            count, began = self._count(most), time.perf_counter()
            self._advance(count)
            if not _any_finite(self.state["qd"]):
                return  # nothing is left to compute
            now = time.perf_counter()
            # the first chunk may have compiled something, and a short one says little: grow step by step
            most = max(1, min(int(PATIENCE * count / max(now - began, 1e-9)), 4 * most))
            request.progress.tell(self.done / request.steps)
            if self.interrupt.heard and self.done < request.steps:
                self.interrupted = True
                return

    def _count(self, most: int) -> int:
        """How many steps to take now: no further than the next sample of the law, in whole records where possible."""
        request, every = self.request, self.request.every
        count = min(most, request.steps - self.done)
        if self.law is not None or self.stepwise:
            hold = max(request.hold, 1)
            count = min(count, hold - self.done % hold)
        past = self.done % every
        if past:
            return min(count, every - past)
        return count - count % every if count > every and count < request.steps - self.done else count

    def _advance(self, count: int) -> None:
        request, first = self.request, self.done
        recorded = first % request.every == 0
        # a chunk that begins between two records has none; steps in Python keep their first state in any case
        stride = request.every if recorded else count if self.engine.in_python else 0

        def pause(share: float) -> None:
            self.interrupt.raise_if_heard()
            done = (first + share * count) / request.steps
            request.progress.tell(min(done, request.progress.share) if done >= 1.0 else done)

        self.engine.pause = pause
        with self.interrupt.answered_at_once(self.at_once):
            tau = self._next_torques(first, count)
            after, rows = self.engine.advance(self.state, first * request.dt, count, request.dt, stride, tau)
        after, rows = request.plant.whole(after), request.plant.whole(rows) if "q" in rows else rows
        records = self.reached.records
        if recorded:
            if self.law is not None and tau is not None:
                rows["tau"] = np.expand_dims(tau, len(request.batch))
            records = self.room.put(records, len(range(first, first + count, stride)), rows, pause)
        self.reached = _Reached(first + count, after, records, tau)

    def _next_torques(self, first: int, count: int) -> Vector | None:
        """Torques of the next steps: sampled from the law, or those known beforehand."""
        request = self.request
        if self.law is not None:
            if first % request.hold and self.reached.tau is not None:
                return self.reached.tau
            return self.law(first * request.dt, self.state["q"], self.state["qd"])
        if request.torques is None:
            return None
        if request.torques.ndim == 1 or request.torques.shape[-2] == 1:
            return request.torques if request.torques.ndim == 1 else request.torques[..., 0, :]
        index = np.arange(first, first + count) // max(request.hold, 1)
        return request.torques[..., index[0] if self.stepwise else index, :]

    def _collected(self) -> tuple[Vector, State]:
        """Times and states that are recorded, the last state among them."""
        request, records = self.request, self.reached.records
        states = self.room.all(records, {k: self.state[k] for k in ("q", "qd", "work", "lost")})
        return np.append(np.arange(records) * request.every, self.done) * request.dt, states


class _Aftermath:
    """What is computed of a motion when it is over."""

    def __init__(self, run: _Run, t: Vector, states: State) -> None:
        self.request, self.engine, self.scheme = run.request, run.engine, run.scheme
        self.reached, self.run = run.reached, run
        self.t, self.states = t, states
        self.found: dict[str, Any] = {}

    def compute(self, name: str) -> Any:
        """Torques 'tau', accelerations 'qdd' or 'outcomes', once."""
        if name not in self.found:
            make = {"tau": self._torques, "qdd": self._accelerations, "outcomes": self._outcomes}
            self.found[name] = make[name]()
        return self.found[name]

    def check_law(self) -> None:
        """Refuse what a traced law did, where it is another in Python."""
        request = self.request
        if request.law is not None:
            gains = {k: request.values[k] for k in request.gains}
            rows = on_the_way(self.t, self.states, gains, request.batch)
            refuse_other_torques(request.plant.arm, request.law, rows)

    def _outcomes(self) -> Any:
        tau, late = self.compute("tau"), self.run.late
        reached, stopped = self.reached, self.run.interrupted
        found = outcomes_of(
            self.request, reached.state, self.states, tau, self.t, reached.done, stopped, self.scheme
        )
        return interrupted_late(found) if late else found

    def _torques(self) -> Vector:
        """Torques at the recorded times (*batch, K, n)."""
        request, axis, states, reached = self.request, len(self.request.batch), self.states, self.reached
        shape = (*request.batch, len(self.t), request.plant.arm.nv)
        if request.torques is not None:
            known = request.torques
            if known.ndim > 1:
                steps = np.append(np.arange(reached.records) * request.every, reached.done)
                index = np.minimum(steps // max(request.hold, 1), known.shape[-2] - 1)
                known = known[..., index, :]
            return np.array(np.broadcast_to(known, shape))
        if "tau" in states:  # what was applied; at the end what is held, or what the law says there
            final = reached.tau
            if final is None:
                q, qd = reached.state["q"], reached.state["qd"]
                final = rows_in_python(request)(reached.done * request.dt, q, qd)
            states["tau"][(slice(None),) * axis + (-1,)] = final
            return states["tau"]
        if request.law is not None and request.law.graph is None:
            law = rows_in_python(request)
            q, qd = (np.moveaxis(states[name], axis, 0) for name in ("q", "qd"))
            return np.stack([law(float(x), q[i], qd[i]) for i, x in enumerate(self.t)], axis=axis)
        return np.array(
            np.broadcast_to(law_torques(request, timed=True)(self.t, states["q"], states["qd"]), shape)
        )

    def _accelerations(self) -> Vector:
        plant, axis, states = self.request.plant, len(self.request.batch), self.states
        own = [np.expand_dims(v, axis) for v in self.request.own.values()]
        tau = self.compute("tau")
        if self.scheme.accelerations is not None:
            with np.errstate(all="ignore"):
                kernel = self.scheme.accelerations(plant)
                return np.asarray(kernel.general(states["q"], states["qd"], tau, *own, self.request.dt))
        if plant.wrench is not None:
            tau = tau + plant.external_rows(states["q"], dict(zip(self.request.own, own, strict=True)))
        with np.errstate(all="ignore"):
            found = plant.kernel("forward_dynamics").general(
                states["q"], states["qd"], tau, *own, threads=self.engine.threads
            )
        return np.asarray(found)


def _any_finite(speeds: Vector) -> bool:
    """Whether a motion is left that has not diverged; a million are not all looked at when the first few go on."""
    rows = speeds.reshape(-1, speeds.shape[-1])
    return any(
        bool(np.any(np.all(np.isfinite(rows[k : k + SOME]), axis=-1))) for k in range(0, len(rows), SOME)
    )
