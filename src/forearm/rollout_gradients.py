"""Gradients through time: how a number that depends on a whole motion depends on what made the motion.

Arrays decide where the steps are gone through backwards, as everywhere: NumPy's and those of other libraries on the
processor, in double precision; on a GPU where they lie, in their own.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm import faults
from forearm.algebra import Matrix, States, is_number
from forearm.arm import Arm
from forearm.arm_calls import arm_call
from forearm.compiler.call.foreign_arrays import on_natives
from forearm.inertia import TEN
from forearm.results import RolloutGradient, RolloutSensitivity
from forearm.robot import Robot


@faults.explained
def rollout_gradient(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights_q: ArrayLike,
    weights_qd: ArrayLike,
    *,
    dt: float,
    threads: int = 1,
) -> RolloutGradient:
    """The gradient of a number by the initial state and the torques of a motion that `simulate` has made.

    The steps are those of `simulate(…, law=tau, dt=dt, method="rk4", record_every=1)`, gone through backwards from one
    recorded state to the one before: the exact gradient of the discrete motion, not of the differential equation. A
    motion that these steps do not lead along (another scheme, limits of torque, another arm) is refused.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        tau: Torques of each step (..., steps, n).
        weights_q: The number's own derivatives by the positions (..., steps + 1, n).
        weights_qd: And by the speeds.
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        Gradients (by_q0, by_qd0, by_tau): (..., n), (..., n), (..., steps, n). What the number itself says of the
        torques is to be added.
    """

    def gradient(xp: Any, *arrays: Any) -> RolloutGradient:
        rows, batch = _rows("rollout_gradient", arm, xp, dict(zip(_ALONG, arrays, strict=True)), dt)
        call, by_tau = arm_call(arm, "rk4_pullback"), xp.empty_like(rows["tau"])
        along = Along("rollout_gradient", arm, rows, float(dt), xp)
        by_q, by_qd = _backwards(call, along, threads, lambda k: by_tau[k])
        n = by_q.shape[-1]
        back = xp.moveaxis(by_tau.reshape(len(by_tau), *batch, n), 0, -2)
        return RolloutGradient(by_q.reshape(*batch, n), by_qd.reshape(*batch, n), xp.ascontiguousarray(back))

    given = dict(zip(_ALONG, (q, qd, tau, weights_q, weights_qd), strict=True))
    return on_natives("rollout_gradient", given, gradient)  # type: ignore[no-any-return]


@faults.explained
def rollout_parameter_gradient(
    arm: Arm | Robot,
    q: States,
    qd: States,
    tau: States,
    weights_q: ArrayLike,
    weights_qd: ArrayLike,
    *,
    dt: float,
    threads: int = 1,
) -> Matrix:
    """The gradient of a number by the inertial parameters of the arm that made a motion.

    As `rollout_gradient`, with the same arguments: the start and the torques stay, the bodies change. What an arm
    holds adds its ten numbers to those of the link that holds it, so this is the gradient by a payload as well.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        tau: Torques of each step (..., steps, n).
        weights_q: The number's own derivatives by the positions (..., steps + 1, n).
        weights_qd: And by the speeds.
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        The gradient (..., bodies, 10), in the order of `parameters(arm)`: mass, first moment, inertia about the origin
        of the link's frame.
    """

    def gradient(xp: Any, *arrays: Any) -> Any:
        rows, batch = _rows("rollout_parameter_gradient", arm, xp, dict(zip(_ALONG, arrays, strict=True)), dt)
        call = arm_call(arm, "rk4_parameter_pullback")
        share = xp.empty((rows["q"].shape[1], len(arm.bodies), len(TEN)), rows["q"].dtype)
        total = xp.zeros_like(share)
        along = Along("rollout_parameter_gradient", arm, rows, float(dt), xp)
        _backwards(call, along, threads, lambda k: share, lambda: xp.add(total, share, out=total))
        return total.reshape((*batch, *share.shape[1:]))

    given = dict(zip(_ALONG, (q, qd, tau, weights_q, weights_qd), strict=True))
    return on_natives("rollout_parameter_gradient", given, gradient)  # type: ignore[no-any-return]


@faults.explained
def rollout_sensitivity(
    arm: Arm | Robot, q: States, qd: States, tau: States, *, dt: float, threads: int = 1
) -> RolloutSensitivity:
    """How the end of a motion that `simulate` has made depends on its start and on each of its torques.

    The exact derivatives of the discrete motion, as `rollout_gradient` has them for one number: here they are whole.
    Of the state at another time, give the motion up to there.

    Args:
        arm: The arm, or robot with a fixed base.
        q: Positions along the motion (..., steps + 1, n), as recorded.
        qd: Speeds along it, the same.
        tau: Torques of each step (..., steps, n).
        dt: The step [s].
        threads: How many threads share a batch.

    Returns:
        Derivatives of [q; qd] at the end, (by_q0, by_qd0, by_tau): (..., 2n, n), (..., 2n, n), (..., steps, 2n, n).
    """

    def sensitivity(xp: Any, *arrays: Any) -> RolloutSensitivity:
        rows, batch = _rows("rollout_sensitivity", arm, xp, dict(zip(_ALONG, arrays, strict=False)), dt)
        (steps, count, n), kind = rows["tau"].shape, rows["tau"].dtype
        call, step = arm_call(arm, "rk4_step_slopes"), xp.full(count, float(dt), kind)
        slopes, by_tau = xp.empty((count, 2 * n, 3 * n), kind), xp.empty((count, steps, 2 * n, n), kind)
        total = xp.broadcast_to(xp.eye(2 * n, dtype=kind), (count, 2 * n, 2 * n))
        along = Along("rollout_sensitivity", arm, rows, float(dt), xp)
        for k, state in along.backwards():
            call.enter(*state, step, out=(slopes, *along.after(k)), threads=threads)
            by_tau[:, k] = total @ slopes[..., 2 * n :]
            total = total @ slopes[..., : 2 * n]
        start = total.reshape(*batch, 2 * n, 2 * n)
        ends = (xp.ascontiguousarray(start[..., :n]), xp.ascontiguousarray(start[..., n:]))
        return RolloutSensitivity(*ends, by_tau.reshape(*batch, steps, 2 * n, n))

    return on_natives("rollout_sensitivity", {"q": q, "qd": qd, "tau": tau}, sensitivity)  # type: ignore[no-any-return]


_ALONG = ("q", "qd", "tau", "weights_q", "weights_qd")
"""What is given along a motion."""


def _rows(
    name: str, arm: Arm | Robot, xp: Any, given: dict[str, Any], dt: float
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Arrays (steps, rows, n) by name, and the shape of the batch whose rows they are."""
    faults.needs_dynamics(arm, name)
    if isinstance(arm, Robot) and arm.free:
        raise faults.KernelFault(
            f"{name} of {arm.name}: the seven numbers of a free base have no gradient of their own; fix the "
            "base (robot.fixed())."
        )
    check_step(name, arm, dt)
    along = {key: by_step(name, arm, key, value, xp) for key, value in given.items()}
    pushes = along["tau"]
    steps, n = len(pushes), pushes.shape[-1]
    if not steps:
        raise faults.StateFault(f"{name} of {arm.name}: tau has no step; give a motion of one step or more.")
    for key, value in along.items():
        if key != "tau" and value.shape != (steps + 1, *pushes.shape[1:]):
            raise faults.StateFault(
                f"{name} of {arm.name}: {key} has {value.shape[0]} states of shape {value.shape[1:]}, and "
                f"tau {steps} steps of {pushes.shape[1:]}; give one state more than steps, all of one batch."
            )
    refuse_no_numbers(f"{name} of {arm.name}", along)
    _refuse_other_steps(name, arm, along["q"], along["qd"], dt)
    return {key: value.reshape(len(value), -1, n) for key, value in along.items()}, pushes.shape[1:-1]


def refuse_no_numbers(name: str, along: dict[str, Any]) -> None:
    """Refuse a single motion (steps, n) that holds NaN or infinities; in batches they stay in their own motion."""
    for key, value in along.items():
        size = abs(value).max() if value.ndim == 2 and value.size else 0.0
        if not size < math.inf:
            step = int((~(abs(value) < math.inf)).any(axis=1).argmax())
            raise faults.StateFault(
                f"{name}: {key} of step {step} is not finite, so there is no gradient; a motion that diverged needs a "
                "smaller dt."
            )


def check_step(name: str, arm: Any, dt: Any) -> None:
    """Refuse what is no step of time."""
    if not is_number(dt) or not 0 < dt < math.inf:
        raise faults.StateFault(
            f"{name} of {arm.name}: dt is {dt!r}; give the step of the motion in seconds, a number above zero."
        )


def _refuse_other_steps(name: str, arm: Any, q: Any, qd: Any, dt: float) -> None:
    """Refuse a motion whose states are clearly not dt apart: recorded now and then only, or made with another step."""
    moved, gone = q[1:] - q[:-1], 0.5 * (qd[1:] + qd[:-1])
    apart = float((moved * gone).sum()) / max(float((gone * gone).sum()), 1e-300)
    smooth = float(((moved - apart * gone) ** 2).sum()) < 0.01 * float((moved**2).sum())
    if smooth and not 0.7 * dt < apart < 1.5 * dt:
        raise faults.StateFault(
            f"{name} of {arm.name}: states are about {apart:.3g} s apart by their speeds, and dt is {dt:.3g} s; give "
            "every state of the motion (record_every=1), and the dt that it was made with."
        )


NEAR = {"float32": (1e-3, 3e-7), "float64": (1e-5, 1e-9)}
"""How far a motion's next state may be from where a step leads, as shares of the step and of the state.

Numbers that were float32 once were made so, too, and the condition of M is in them; others have ten digits or more.
"""

TOGETHER = 1 << 21
"""How many numbers of states are held beside each other before they are looked at."""


def refuse_other_motion(
    name: str, given: dict[str, Any], found: dict[str, Any], first: int, dt: float, cause: str, xp: Any = np
) -> None:
    """Refuse states (steps + 1, rows, n) that are not where steps (steps, rows, n) from the ones before lead."""
    for key, after in found.items():
        here, there = given[key][:-1], given[key][1:]
        if not after.size or xp.abs(after - there).max() < 1e-12:
            continue
        with np.errstate(over="ignore"):
            single = bool((given[key].astype(np.float32) == given[key]).all())
        sizes = (xp.abs(x).max(-1, keepdims=True) for x in (after - here, xp.maximum(abs(here), abs(there))))
        near = zip(NEAR["float32" if single else "float64"], sizes, strict=True)
        off = xp.nan_to_num(xp.abs(after - there) - sum(share * size for share, size in near), nan=-1.0)
        if (off > 1e-12).any():
            k, row, j = (int(x) for x in np.unravel_index(int(off.argmax()), off.shape))
            which = f" (motion {row})" if off.shape[1] > 1 else ""
            raise faults.StateFault(
                f"{name}: a step of {dt:g} s{cause} from state {k + first} leads to {key} = "
                f"{float(after[k, row, j]):.9g} of joint {j + 1}{which}, and the motion has "
                f"{float(there[k, row, j]):.9g}; give every state of a motion that this arm has made so "
                '(method="rk4", record_every=1, its own dt), without limits of torque.'
            )


class Along:
    """A motion gone through backwards, each step held against the state that it leads to."""

    def __init__(self, name: str, arm: Arm | Robot, rows: dict[str, Any], dt: float, xp: Any) -> None:
        """Take arrays (steps, rows, n) by name."""
        self.name, self.rows, self.dt, self.xp = f"{name} of {arm.name}", rows, dt, xp
        steps, count, n = rows["tau"].shape
        self._room = min(steps, max(1, TOGETHER // max(1, count * n)))
        self._after = {key: xp.empty((self._room, count, n), rows[key].dtype) for key in ("q", "qd")}

    def backwards(self) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
        """Each step with its state and torques, the last first; the states after it are looked at, many at once."""
        rows, room = self.rows, self._room
        for k in reversed(range(len(rows["tau"]))):
            yield k, (rows["q"][k], rows["qd"][k], rows["tau"][k])
            if k % room == 0:
                some = {key: rows[key][k : k + room + 1] for key in self._after}
                found = {key: x[: len(some[key]) - 1] for key, x in self._after.items()}
                refuse_other_motion(self.name, some, found, k, self.dt, " under tau", self.xp)

    def after(self, k: int) -> tuple[Any, Any]:
        """Where the kernel writes the state after step k."""
        return self._after["q"][k % self._room], self._after["qd"][k % self._room]


def _backwards(
    call: Any,
    along: Along,
    threads: int,
    into: Callable[[int], Any],
    after: Callable[[], Any] = lambda: None,
) -> tuple[Any, Any]:
    """Gradients by the state at the beginning; what a step says beside goes `into` an array, `after` each."""
    rows, xp = along.rows, along.xp
    by_q, by_qd = rows["weights_q"][-1].copy(), rows["weights_qd"][-1].copy()
    before, step = (xp.empty_like(by_q), xp.empty_like(by_qd)), xp.full(len(by_q), along.dt, by_q.dtype)
    for k, state in along.backwards():
        call.enter(*state, step, by_q, by_qd, out=(*before, into(k), *along.after(k)), threads=threads)
        after()
        xp.add(before[0], rows["weights_q"][k], out=by_q)
        xp.add(before[1], rows["weights_qd"][k], out=by_qd)
    return by_q, by_qd


def by_step(function: str, arm: Any, name: str, value: Any, xp: Any = np) -> Any:
    """(..., steps, n) as (steps, ..., n): what one step needs lies together."""
    array = faults.state(arm, name, value) if xp is np else xp.asarray(value)
    if array.ndim < 2 or array.shape[-1] != arm.nv:
        raise faults.StateFault(
            f"{function} of {arm.name}: {name} has shape {array.shape}; give (..., steps, n), along the motion."
        )
    return xp.ascontiguousarray(xp.moveaxis(array, -2, 0))
