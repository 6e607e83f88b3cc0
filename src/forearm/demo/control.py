"""Computed-torque control of the task at 1 kHz, by a controller that believes what it is told about the load."""

from dataclasses import dataclass

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.demo.task import Phase, loaded
from forearm.simulation import ComputedTorque, Record, simulate

STEP = 1e-3
"""Period of the controller, and step of the integration [s]."""
STIFFNESS, DAMPING = 225.0, 30.0
"""Gains of the computed torque: natural frequency 15 rad/s, critically damped."""


@dataclass(frozen=True)
class TaskRun:
    """One run of the task."""

    t: Vector
    """Times (K,) [s]."""
    error: Vector
    """Wanted less actual positions (K, n)."""
    tau: Vector
    """Torques of the drives (K, n)."""
    kinetic: Vector
    """Kinetic energy (K,) [J]."""
    potential: Vector
    """Potential energy (K,), the body's own not counted when it is taken or put down [J]."""
    work: Vector
    """Work of the drives (K,) [J]."""
    dissipated: Vector
    """Lost in friction (K,) [J]."""


def run(arm: Arm, parts: list[Phase], believes_in_load: bool) -> TaskRun:
    """Follow the task: the arm really carries the body; the controller knows of it, or does not."""
    q, qd = parts[0](parts[0].start)[0], np.zeros(arm.n)
    pieces: list[TaskRun] = []
    for part in parts:
        real = loaded(arm) if part.carrying else arm
        record = _followed(real, real if believes_in_load else arm, part, q, qd)
        q, qd = record.end
        pieces.append(_joined(part, record, pieces[-1] if pieces else None))
    return TaskRun(
        *(np.concatenate([getattr(piece, name) for piece in pieces]) for name in TaskRun.__dataclass_fields__)
    )


def _followed(real: Arm, believed: Arm, part: Phase, q: Vector, qd: Vector) -> Record:
    law = ComputedTorque(believed, lambda t: part(part.start + t), STIFFNESS, DAMPING)
    span = part.end - part.start
    return simulate(
        real, q, qd, law=law, duration=span, dt=STEP, control_dt=STEP, record_every=1, trace=False
    )


def _joined(part: Phase, record: Record, before: TaskRun | None) -> TaskRun:
    """The record, its sums going on where the last ones ended.

    The body's energy comes and goes with the body, not through the drives: the potential goes on as well.
    """
    t = part.start + record.t
    work, lost, height = (
        (0.0, 0.0, 0.0)
        if before is None
        else (
            before.work[-1],
            before.dissipated[-1],
            _total(before) - record.kinetic[0] - record.potential[0],
        )
    )
    return TaskRun(
        t,
        part(t)[0] - record.q,
        record.tau,
        record.kinetic,
        record.potential + height,
        record.work + work,
        record.dissipated + lost,
    )


def _total(run: TaskRun) -> float:
    return float(run.kinetic[-1] + run.potential[-1])
