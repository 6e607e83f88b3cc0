"""Computed-torque control of the task at 1 kHz, by an arm that believes what it is told about its load."""

from dataclasses import dataclass

import numpy as np

from forearm import drives, dynamics
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.demo.task import Phase, loaded

STEP = 1e-3
"""Period of the controller, and step of the integration [s]."""
STIFFNESS, DAMPING = 225.0, 30.0
"""Gains of the computed torque: natural frequency 15 rad/s, critically damped."""


@dataclass(frozen=True)
class Run:
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


def run(arm: Arm, parts: list[Phase], believes_in_load: bool) -> Run:
    """Follow the task: the arm really carries the body; the controller knows of it, or does not."""
    q = parts[0](parts[0].start)[0]
    state = np.concatenate([q, np.zeros(arm.n), [0.0, 0.0]])
    rows: list[tuple[Vector, ...]] = []
    handed, before = 0.0, arm
    for part in parts:
        real = loaded(arm) if part.carrying else arm
        believed = real if believes_in_load else arm
        handed += _energy(real, state).sum() - _energy(before, state).sum()
        before = real
        steps = round((part.end - part.start) / STEP)
        times = part.start + STEP * np.arange(steps)
        wanted = np.stack(part(times))
        for k in range(steps):
            q, qd = state[: arm.n], state[arm.n : -2]
            aim, rate, push = wanted[:, k]
            tau = dynamics.inverse_dynamics(
                believed, q, qd, push + DAMPING * (rate - qd) + STIFFNESS * (aim - q)
            )
            rows.append((times[k : k + 1], aim - q, tau, _energy(real, state) - [0.0, handed], state[-2:]))
            state = _step(real, state, tau)
    t, error, torque, energies, sums = (np.array(column) for column in zip(*rows, strict=True))
    return Run(t[:, 0], error, torque, energies[:, 0], energies[:, 1], sums[:, 0], sums[:, 1])


def _energy(arm: Arm, state: Vector) -> Vector:
    """Kinetic and potential energy."""
    return np.array(dynamics.energy(arm, state[: arm.n], state[arm.n : -2]))


def _step(arm: Arm, state: Vector, tau: Vector) -> Vector:
    """One step of Runge and Kutta with the torque held; work and friction loss are integrated along."""
    n = arm.n

    def rate(y: Vector) -> Vector:
        qd = y[n : 2 * n]
        qdd = dynamics.forward_dynamics(arm, y[:n], qd, tau)
        return np.concatenate([qd, qdd, [tau @ qd, float(drives.dissipated_power(arm, qd))]])

    k1 = rate(state)
    k2 = rate(state + STEP / 2 * k1)
    k3 = rate(state + STEP / 2 * k2)
    k4 = rate(state + STEP * k3)
    return state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
