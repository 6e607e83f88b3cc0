"""How long a step may be: from the greatest speed and the stiffness of the law, checked by halving (section 7)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector
from forearm.faults import StateFault
from forearm.simulation.request import request_of
from forearm.simulation.run import simulate
from forearm.simulation.schemes import SCHEMES
from forearm.simulation.stability import fastest_rate

TURN = 0.05
"""Greatest change of an angle within a step that counts as not excessive [rad]."""
LEAST_TOLERANCE = 1e-13
"""Below this the ends of two runs differ by rounding, however short the steps are [rad or m]."""
STALLED, MOST_TRIES = 3, 16
"""So many steps that are no better than those before end the search; so many are tried in all."""
MOST_STEPS = 10**8
"""Steps of a motion that is tried: minutes."""
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


@faults.explained
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
    0.05 rad in it); it is then halved until halving it once more changes the end by less than `tolerance`. Where no
    step does, as for a chaotic motion that is long, that is said.

    Args:
        arm: The arm.
        q0: Positions at the beginning (n,).
        qd0: Speeds at the beginning (n,).
        duration: How long [s].
        tolerance: Largest error of any joint's position at the end [rad or m].
        method: A scheme of fixed steps in the kernel: 'rk4', 'euler' or 'symplectic'.
        **options: As for `simulate`, but dt: `law`, `payload`, `wrench`, …
    """
    faults.needs_arm(arm)
    q0 = faults.state(arm, "q0", q0)
    qd0 = None if qd0 is None else faults.state(arm, "qd0", qd0)
    if np.ndim(q0) > 1 or np.ndim(qd0 if qd0 is not None else 0.0) > 1:
        raise StateFault(
            f"advise_step: q0 has shape {np.shape(q0)}; give one motion, the fastest of a batch."
        )
    able = [name for name, scheme in SCHEMES.items() if scheme.in_kernel]
    if method not in able:
        raise StateFault(
            f"advise_step: method is {method!r}; give {', '.join(map(repr, able[:-1]))} or {able[-1]!r}."
        )
    allowed = faults.number_of(tolerance)
    if allowed is None or not allowed >= LEAST_TOLERANCE:
        raise StateFault(
            f"advise_step: tolerance is {faults.shown(tolerance)}; give a positive number [rad or m], "
            f"{LEAST_TOLERANCE:g} or more: what is smaller is rounding."
        )
    order = SCHEMES[method].order
    rate, speed = _along(arm, q0, qd0, duration, options)
    first = min(EASY / max(rate, 1e-9), TURN / max(speed, 1e-9), duration / 4)
    steps, ends = int(np.ceil(duration / first)), {}
    tried: list[tuple[float, float]] = []

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
            if run.interrupted:
                raise KeyboardInterrupt  # half a motion says nothing about a step
            ends[count] = run.end[0]
        return ends[count]  # type: ignore[no-any-return]

    while _worth_another(tried, steps):
        difference = float(np.max(np.abs(end(steps) - end(2 * steps))))
        error = difference * 2**order / (2**order - 1)
        tried.append((duration / steps, error))
        if error <= tolerance:
            return StepAdvice(duration / steps, error, rate, speed, tuple(tried))
        jump = (error / tolerance) ** (1 / order) if np.isfinite(error) else 4.0
        steps = int(np.ceil(steps * min(max(1.3, 1.1 * jump), 16)))
    dt, error = min(tried, key=lambda pair: pair[1] if np.isfinite(pair[1]) else np.inf)
    raise StateFault(
        f"advise_step: no step ends within {tolerance:g} of where the motion should: of {len(tried)} that were tried, "
        f"down to {tried[-1][0]:.2g} s, the best is {dt:.3g} s with an error of {error:.2g} by halving. The motion may "
        "be chaotic, run away, or have a law that jumps; give a shorter duration, or a larger tolerance."
    )


def _worth_another(tried: list[tuple[float, float]], steps: int) -> bool:
    """Whether another step is tried: not where the last few were no better than those before, nor for ever."""
    if not tried:
        return True
    errors = [error if np.isfinite(error) else np.inf for _, error in tried]
    better = len(errors) <= STALLED or min(errors[-STALLED:]) < min(errors[:-STALLED])
    return (better or not np.isfinite(min(errors))) and len(errors) < MOST_TRIES and steps <= MOST_STEPS


def _along(arm: Any, q0: Any, qd0: Any, duration: float, options: dict[str, Any]) -> tuple[float, float]:
    """Fastest rate and greatest speed along the motion, from a rough run."""
    rest = {k: v for k, v in options.items() if k not in ("progress", "threads", "record_every")}
    q, qd = faults.state(arm, "q0", q0), faults.state(arm, "qd0", np.zeros(arm.n) if qd0 is None else qd0)
    request = request_of(arm, q, qd, rest)
    rate = fastest_rate(request, ())
    steps = int(np.clip(np.ceil(duration * min(rate, 1e5) / 0.5), 64, 20000))
    rough = simulate(
        arm, q0, qd0, duration=duration, dt=duration / steps, **{**rest, "record_every": max(1, steps // 16)}
    )
    if rough.interrupted:
        raise KeyboardInterrupt
    speeds = np.abs(rough.qd[np.all(np.isfinite(rough.qd), axis=-1)])
    good = np.all(np.isfinite(rough.q) & np.isfinite(rough.qd), axis=-1)
    rates = [fastest_rate(request, (), a, b) for a, b in zip(rough.q[good], rough.qd[good], strict=True)]
    return float(max([rate, *rates])), float(speeds.max(initial=0.0))
