"""A momentum observer: what pushes the arm, from torques and motion, without accelerations.

    r = gain (p - p₀ - ∫ (tau + C(q, qd)ᵀ qd - g(q) - friction(qd) + r) dt)        p = M(q) qd

follows the external torque like a filter of first order with the cut-off gain / 2π (De Luca, Mattone, Sensorless robot
collision detection and hybrid force/motion control, ICRA 2005, 999-1004, doi:10.1109/ROBOT.2005.1570247). The integral
is summed by trapezoids, and r of the same instant enters it, so that any step is stable. Because dM/dt = C + Cᵀ, the
sum of Cᵀ qd, -g and -friction is dM/dt qd less the bias.

A row that holds NaN or an infinity is skipped: nothing of it is kept but that it took dt, and the next trapezoid
reaches over it. A step says so by a fault, a run by NaN in that row, C by returning 0.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.compiler.sources.c99 import file_names
from forearm.compiler.sources.controller import emit_c_with
from forearm.dynamics import bias_torque, mass_matrix_rate, momentum
from forearm.faults import StateFault, shown


class MomentumObserver:
    """Estimates external torques, instant by instant."""

    def __init__(self, arm: Arm, gain: Any, dt: float, offset: Any = 0.0) -> None:
        self.arm, self.dt = arm, dt
        self.gain = np.full(
            arm.n, np.asarray(gain, dtype=float)
        )  # copies: whoever gave them may fill them anew
        self.offset = np.full(arm.n, faults.for_joints(arm, "offset", offset))
        self.reset()

    def reset(self) -> None:
        """Begin anew: the next state is the first."""
        self.start: Vector | None = None
        self.sum = np.zeros(self.arm.n)
        self.last = np.zeros(self.arm.n)
        self.external = np.zeros(self.arm.n)
        self.skipped = 0

    def step(self, q: Any, qd: Any, tau: Any) -> Vector:
        """The external torque (n,) after a state and the torque of the drives; dt after the one before.

        A row that is no number is a fault, and skipped: the next one goes on from the one before.
        """
        given = {k: faults.joint_floats(self.arm, k, v) for k, v in (("q", q), ("qd", qd), ("tau", tau))}
        _refuse_shapes(given, (self.arm.n,), f"({self.arm.n},)")
        for name, values in given.items():
            wrong = np.flatnonzero(~np.isfinite(values))
            if wrong.size:
                self.skipped += 1
                raise StateFault(
                    f"observer: {name} of joint {self.arm.joint_names[wrong[0]]!r} is {values[wrong[0]]}; give finite "
                    "numbers. This row was skipped: go on with the next."
                )
        q, qd, tau = given.values()
        return self._step(*_model(self.arm, q, qd), tau - self.offset).copy()  # the next step needs its own

    def _step(self, p: Vector, model: Vector, tau: Vector) -> Vector:
        rate = tau + model
        if not (np.all(np.isfinite(rate)) and np.all(np.isfinite(p))):
            self.skipped += 1
            return np.full(self.arm.n, np.nan)
        steps, self.skipped = 1 + self.skipped, 0
        if self.start is None:
            self.start, self.last = p, rate
            return self.external
        half = 0.5 * self.dt * steps
        self.sum = self.sum + half * (rate + self.last + self.external)
        # r = gain (p - p0 - sum - half r), solved for r
        self.external = self.gain * (p - self.start - self.sum) / (1.0 + self.gain * half)
        self.sum = self.sum + half * self.external
        self.last = rate
        return self.external

    @faults.explained
    def run(self, q: Any, qd: Any, tau: Any) -> Matrix:
        """External torques (K, n) along a log of even steps dt; NaN in rows that hold one, which are skipped."""
        given = faults.states(self.arm, "observer", q=q, qd=qd, tau=tau)
        _refuse_shapes(given, (len(given["q"]), self.arm.n), f"(K, {self.arm.n})")
        q, qd, tau = given.values()
        p, model = _model(self.arm, q, qd)
        self.reset()
        found = [self._step(*row) for row in zip(p, model, tau - self.offset, strict=True)]
        return np.array(found).reshape(len(found), self.arm.n)

    @faults.explained
    def emit_c(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the observer as C99: the arm's functions, and `<arm>_observer.h` with a struct and a step."""
        name, n = Path(file_names(self.arm.name)[0]).stem, self.arm.n
        lists = {
            k: ", ".join(repr(float(x)) for x in v) for k, v in (("gain", self.gain), ("offset", self.offset))
        }
        header = HEADER.format(name=name, guard=name.upper(), n=n, nn=n * n, dt=repr(self.dt), **lists)
        own, functions = f"{name}_observer.h", ("momentum", "mass_matrix_rate", "bias_torque")
        return (*emit_c_with({own: header}, self.arm, folder, functions), Path(folder) / own)


@faults.explained
def observer(
    arm: Arm, *, gain: ArrayLike = 50.0, dt: float = 1e-3, offset: ArrayLike = 0.0
) -> MomentumObserver:
    """A momentum observer of an arm: `step(q, qd, tau)` gives the external torque.

    Args:
        arm: The arm, friction and all, as `identify` gives it.
        gain: How fast it follows, one number or one for each joint [1/s]; its cut-off is gain / 2π.
        dt: Time between steps [s].
        offset: What torques show beside the arm's own (n,).
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "observer")
    faults.needs_dynamics(arm, "observer")
    given = faults.for_joints(arm, "gain", gain)
    if given.shape not in ((), (arm.n,)) or not np.all(np.isfinite(given)) or np.any(given <= 0):
        raise StateFault(
            f"observer: gain is {shown(gain)}; give a positive number, or one for each of {arm.n} joints."
        )
    beside = faults.for_joints(arm, "offset", offset)
    if beside.shape not in ((), (arm.n,)) or not np.all(np.isfinite(beside)):
        raise StateFault(
            f"observer: offset is {shown(offset)}; give a finite number, or one for each of {arm.n} joints."
        )
    step = faults.number_of(dt)
    if step is None or not 0 < step < np.inf:
        raise StateFault(f"observer: dt is {shown(dt)}; give a positive time in seconds.")
    return MomentumObserver(arm, given, step, beside)


def _refuse_shapes(given: dict[str, Vector], shape: tuple[int, ...], wanted: str) -> None:
    if any(x.shape != shape for x in given.values()):
        told = ", ".join(f"{name} {x.shape}" for name, x in given.items())
        raise StateFault(f"observer: {told}; give {wanted} of each.")


def _model(arm: Arm, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """Momentum, and what changes it beside the drives: Cᵀ qd - g - friction = dM/dt qd - bias."""
    turned = np.einsum("...ij,...j->...i", mass_matrix_rate(arm, q, qd), qd)
    return momentum(arm, q, qd), turned - bias_torque(arm, q, qd)


HEADER = """/* Momentum observer of {name}: r follows the external torque. Generated by forearm; see {name}.h. */
#ifndef {guard}_OBSERVER_H
#define {guard}_OBSERVER_H

#include <math.h>

#include "{name}.h"

/* Begin with all zeros. */
typedef struct {{
    int started, skipped;
    double start[{n}], sum[{n}], last[{n}], external[{n}];
}} {name}_observer;

/* One step, {dt} s after the one before: positions, speeds and torques of the drives in, o->external out. Gives 1; or 0
   where a number is NaN or infinite: o->external stays, and the next step reaches over the time of this one. */
static int {name}_observer_step({name}_observer *o, const double q[{n}], const double qd[{n}], const double tau[{n}])
{{
    static const double gain[{n}] = {{{gain}}};
    static const double offset[{n}] = {{{offset}}};
    const double half = 0.5 * {dt} * (1 + o->skipped);
    double p[{n}], turned[{nn}], bias[{n}], rate[{n}];
    {name}_momentum(q, qd, p);
    {name}_mass_matrix_rate(q, qd, turned);
    {name}_bias_torque(q, qd, bias);
    for (int i = 0; i < {n}; i++) {{
        double model = 0.0;
        for (int j = 0; j < {n}; j++)
            model += turned[{n} * i + j] * qd[j];
        rate[i] = (tau[i] - offset[i]) + (model - bias[i]);
        if (!isfinite(rate[i]) || !isfinite(p[i])) {{
            o->skipped++;
            return 0;
        }}
    }}
    for (int i = 0; i < {n}; i++) {{
        if (!o->started) {{
            o->start[i] = p[i];
        }} else {{
            o->sum[i] += half * (rate[i] + o->last[i] + o->external[i]);
            o->external[i] = gain[i] * (p[i] - o->start[i] - o->sum[i]) / (1.0 + gain[i] * half);
            o->sum[i] += half * o->external[i];
        }}
        o->last[i] = rate[i];
    }}
    o->skipped = 0;
    o->started = 1;
    return 1;
}}

#endif
"""
