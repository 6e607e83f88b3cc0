"""Gains and torques whose shape may mean two things, where there are as many motions as joints, or as steps."""

from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.faults import StateFault
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot
from forearm.simulation.traced_laws import checked_torques, make_law


def gain_shape(value: Vector, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of one motion's gain: what follows the batch's axes, if the value has those."""
    k = len(batch)
    if k and value.ndim >= k and all(a in (b, 1) for a, b in zip(value.shape[:k], batch, strict=True)):
        return value.shape[k:]
    return value.shape


def refuse_gains_of_two_meanings(
    arm: Arm | Robot, law: Any, gains: dict[str, Vector], batch: tuple[int, ...], wanted: bool
) -> None:
    """As many motions as joints: (n,) may be a number for each motion or for each joint, (n, m) a row or a matrix.

    Of a grid of (n, m) motions, (n, m) may be a number for each motion, or a matrix.
    """
    n = arm.nv
    if n == 1:
        return
    for name, value in gains.items():
        if value.shape == batch == (n,):
            raise StateFault(
                f"simulate: gain {name!r} has shape ({n},), and there are {n} motions of {n} joints; give ({n}, 1) for "
                f"a number for each motion, or (1, {n}) for one for each joint."
            )
    matrices = {name: value.shape for name, value in gains.items() if _is_matrix(value, n, batch)}
    for some in ({name: shape} for name, shape in matrices.items()):
        others = {name: gain_shape(value, batch) for name, value in gains.items()}
        if any(_takes(arm, law, others | shapes, wanted) for shapes in (some, matrices)):
            ((name, (_, m)),) = some.items()
            each, all_have = (
                f"for {m} numbers for each motion, ({n}, 1, {m}) beside q0 ({n}, 1, {arm.nq})",
                "1",
            )
            if len(batch) == 2:
                each, all_have = f"for a number for each motion, ({n}, {m}, 1)", "1, 1"
            raise StateFault(
                f"simulate: gain {name!r} has shape ({n}, {m}), and there are {' x '.join(map(str, batch))} motions of "
                f"{n} joints; give ({all_have}, {n}, {m}) for a matrix that all have, or, {each}."
            )


def _is_matrix(value: Vector, n: int, batch: tuple[int, ...]) -> bool:
    """Whether a gain that begins with the axes of the batch may be a matrix that makes n numbers of others."""
    begins = bool(batch) and value.shape[: len(batch)] == batch
    return begins and value.ndim == 2 and len(value) == n and value.shape[1] > 1


def _takes(arm: Arm | Robot, law: Any, gains: dict[str, tuple[int, ...]], wanted: bool) -> bool:
    """Whether a law makes torques of gains of these shapes; one that must not be asked, as far as is known."""
    if not wanted or not callable(law):
        return True
    try:
        return make_law(arm, law, gains, wanted).graph is not None or _gives_torques(arm, law, gains)
    except faults.Fault:
        return False


def _gives_torques(arm: Arm | Robot, law: Any, gains: dict[str, tuple[int, ...]]) -> bool:
    """The same of a law that cannot be traced: it is asked once, at rest."""
    q = arm.neutral() if isinstance(arm, Robot) else np.zeros(arm.nq)
    try:
        checked_torques(
            arm, law(0.0, q, np.zeros(arm.nv), **{k: np.ones(shape) for k, shape in gains.items()})
        )
    except Exception:  # whatever a law does with what it was not made for
        pass_on_signals()
        return False
    return True


def refuse_torques_of_two_meanings(torques: Vector | None, batch: tuple[int, ...]) -> None:
    """As many motions as steps: (steps, n) may be the torques of each step, or constant ones of each motion."""
    if torques is None or torques.ndim != 2 or len(torques) == 1 or batch != torques.shape[:1]:
        return
    count, n = torques.shape
    raise StateFault(
        f"law: torques have shape ({count}, {n}), and there are {count} motions of {count} steps; give (1, {count}, "
        f"{n}) for torques of each step, the same in all motions, or ({count}, 1, {n}) for constant ones of each."
    )
