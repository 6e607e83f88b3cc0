"""Limits of joints as they are given to a motion, or as the arm has them."""

from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector, is_number
from forearm.arm import Arm
from forearm.arm_calls import hint_sizes
from forearm.faults import StateFault
from forearm.outside.option_names import option

KINDS = {"speeds": "qd", "accelerations": "qdd", "torques": "tau"}
"""What kind of numbers limits are."""
OWN = {"speeds": "speed_limit", "torques": "effort_limit"}
"""Limits that an arm may have itself: argument -> field of its links."""


def joint_limit(arm: Arm, what: str, name: str, given: Any) -> Vector:
    """Limits (n,), infinite where there is none.

    Args:
        arm: Whose joints they are.
        what: The function that was called, for messages.
        name: 'speeds', 'accelerations', 'jerks' or 'torques'.
        given: A number for all joints, (n,), a dict by joint name, or None: the arm's own, where it has them.
    """
    if given is None:
        field = OWN.get(name)
        own = [getattr(link, field) if field else None for link in arm.state_links]
        return np.array([np.inf if value is None else float(value) for value in own])
    if is_number(given):
        found = np.full(arm.n, float(given))
    else:
        found = np.array(faults.joint_values(arm, f"{what}: {name}", given), dtype=float)
        if found.ndim != 1:
            raise StateFault(f"{what}: {name} have shape {found.shape}; give a number, or ({arm.n},).")
    for j, value in enumerate(found):
        if not value > 0:
            raise StateFault(
                f"{what}: the limit in {name} of joint {arm.joint_names[j]!r} is {value:g}; give a positive number "
                "(numpy.inf for none): within a limit of zero nothing moves."
            )
    if name in KINDS:
        hint_sizes(arm, f"{what}: {name}", np.where(np.isfinite(found), found, 0.0), KINDS[name])
    return found


def needed(arm: Arm, what: str, name: str, limits: Vector, moving: Any) -> None:
    """Refuse joints that move and have no limit."""
    bare = [arm.joint_names[j] for j in range(arm.n) if moving[j] and not np.isfinite(limits[j])]
    if bare:
        own = f" (arm {arm.name!r} has none of its own)" if name in OWN else ""
        raise StateFault(
            f"{what}: no limit in {name} for joint{'s' if len(bare) > 1 else ''} {', '.join(map(repr, bare))}"
            f"{own}; give {option(name)}, a number or one for each joint."
        )


def within_positions(arm: Arm, what: str, q: Vector, *, point: str = "point", rows: int = 0) -> None:
    """Refuse positions (K, n) outside the limits of the joints, naming the first.

    Args:
        arm: Whose limits they are.
        what: The function that was called.
        q: The positions.
        point: What a row is called; `{k}` in it is its number, from 0,
        rows: which begins anew after so many.
    """
    bounds = np.array([link.limits or (-np.inf, np.inf) for link in arm.links]).T
    slack = 1e-9 * np.maximum(1.0, np.max(np.abs(np.where(np.isfinite(bounds), bounds, 0.0)), axis=0))
    low, high = bounds[0] - slack, bounds[1] + slack
    if np.all(np.min(q, axis=0) >= low) and np.all(np.max(q, axis=0) <= high):
        return
    k, j = np.argwhere((q < low) | (q > high))[0]
    link = arm.links[j]
    raise StateFault(
        f"{what}: {point.format(k=k % rows if rows else k)} has joint {link.name!r} at {q[k, j]:.6g} "
        f"{'rad' if link.revolute else 'm'}, outside its limits of {bounds[0, j]:g} to {bounds[1, j]:g}; keep it "
        "inside."
    )


def configurations(arm: Arm, what: str, name: str, value: Any) -> Vector:
    """Joint positions (..., n), finite."""
    faults.needs_own_joints(arm, what)
    found = np.array(faults.joint_values(arm, f"{what}: {name}", value), dtype=float)
    if not np.all(np.isfinite(found)):
        raise StateFault(f"{what}: {name} has entries that are not finite; give finite numbers.")
    return found
