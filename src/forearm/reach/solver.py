"""`inverse_kinematics`: from poses to joint values.

Arms whose geometry allows it are solved in closed form, all branches at once; what is left, and every other arm, by a
search that runs inside its kernel. Whatever finds an answer, the arm's own pose there decides whether it is one.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import AnyArray, States, Vector
from forearm.arm import Arm
from forearm.arm_calls import hint_sizes
from forearm.compiler.call.arguments import check_threads
from forearm.compiler.call.foreign_arrays import on_host
from forearm.frames import Pose
from forearm.outside.option_names import option
from forearm.reach.answers import (
    HASTY,
    NEAREST,
    NOT_FINITE,
    OUT_OF_LIMITS,
    OUT_OF_REACH,
    PATIENT,
    SOLVED,
    WORD,
    Reached,
    Rows,
    longest_reach,
    measured,
    turned_nearest,
)
from forearm.reach.branch_choice import chosen_branches, every_branch
from forearm.reach.distinct import every_distinct
from forearm.reach.goals import WHERE, Goals, goals_of
from forearm.reach.programs import STARTS, Programs, programs_of

ATTEMPTS = 64
"""Starts that are tried for a pose, where nobody says how many."""


@faults.explained
def inverse_kinematics(
    arm: Arm,
    pose: AnyArray | Pose | Any,
    *,
    frame: str | int = "tool",
    only: str | None = None,
    q0: States | None = None,
    posture: States | None = None,
    every: bool = False,
    attempts: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Reached:
    """Joint values within the limits that bring a frame to a pose, batched over the leading axes of `pose`.

    Args:
        arm: The arm. Its masses are not needed.
        pose: 4x4 poses in the world (..., 4, 4), as `pose` gives them; a Pose; positions alone (..., 3).
        frame: Which frame shall be there: what `pose` takes.
        only: Ask for less: 'position', 'orientation', 'pointing' (the direction of the frame's z alone, poses or
            vectors (..., 3)), or 'position and pointing' (a tool that may turn about its own axis).
        q0: Where to begin (..., n); of several solutions the nearest is taken, where all are known.
        posture: Where the joints would rather be (..., n): what the pose leaves free goes there.
        every: All distinct solutions instead of one: q (..., K, n), solved (..., K), error (..., K, 2), K the largest
            number that any pose has; rows beyond a pose's own number are NaN. (Where it has none, the first row is the
            nearest pose.) Solutions that differ by whole turns count as one. A closed form gives all of them; of other
            arms they are what searches from 256 starts find, which may leave one out that few starts lead to.
        attempts: How many starts are tried for a pose before it counts as not found, 256 at most; 64 by default. Not
            with `every`, which searches from all.
        seed: Which starts; the same seed gives the same answers in any batch and on any number of threads.
        threads: How many threads share the poses.

    Returns:
        q, solved, error [m, rad] and status, as a named tuple. What is solved is right to 1e-9 m and rad; what is not
        has the nearest pose that was found, and says why.

    >>> import forearm as fa
    >>> arm = fa.load("puma560")
    >>> goal = fa.pose(arm, [0.3, -0.8, 0.5, 0.1, 1.0, -0.2])
    >>> found = fa.inverse_kinematics(arm, goal, q0=[0.0] * 6)
    >>> found.solved, found.q.round(6)
    (True, array([ 0.3, -0.8,  0.5,  0.1,  1. , -0.2]))
    """
    faults.needs_arm(arm)
    faults.needs_own_joints(arm, WHERE, faults.LET_GO)
    pose, q0, posture, _ = on_host(WHERE, {"pose": pose, "q0": q0, "posture": posture})
    goals = goals_of(pose, only)
    programs = programs_of(arm, frame, goals.asked)
    if every and attempts is not None:
        raise faults.StateFault(
            f"{WHERE}: {option('every', 'True')} searches from all {STARTS} starts; leave {option('attempts')} out."
        )
    wishes = Wishes(programs, goals, q0, posture, attempts, seed, check_threads(WHERE, threads))
    for given in (q0, posture):
        if given is not None:
            hint_sizes(arm, "q", given)
    return _every(wishes) if every else _one(wishes)


class Wishes:
    """What a caller asks for, checked: one row for each goal."""

    def __init__(
        self, programs: Programs, goals: Goals, q0: Any, posture: Any, attempts: Any, seed: Any, threads: int
    ) -> None:
        self.programs, self.goals, self.threads = programs, goals, threads
        self.q0 = self._joints("q0", q0)
        self.posture = self._joints("posture", posture)
        self.attempts = ATTEMPTS if attempts is None else faults.whole(attempts, f"{WHERE}: attempts", 1)
        if (
            self.attempts > STARTS
        ):  # there are no more; and what tries longer at one goal does not hear Ctrl-C
            raise faults.StateFault(
                f"{WHERE}: attempts is {attempts}; there are {STARTS} starts, give up to so many."
            )
        self.seed = faults.seed_number(seed, f"{WHERE}: seed")
        self.finite = goals.finite

    def _joints(self, name: str, value: Any) -> Vector | None:
        """Joint values within the limits, (n,) for all goals or (N, n)."""
        if value is None:
            return None
        arm, batch = self.programs.arm, self.goals.batch
        array = faults.state(arm, name, value)
        if array.dtype == object or not np.isfinite(array).all():
            raise faults.StateFault(
                f"{WHERE}: {name} is not finite; give finite numbers, one for each joint of {arm.name!r}."
            )
        array = np.clip(array, *self.programs.bounds)
        if array.ndim == 1:
            return array
        try:
            return np.ascontiguousarray(np.broadcast_to(array, (*batch, arm.n))).reshape(-1, arm.n)
        except ValueError:
            raise faults.StateFault(
                f"{WHERE}: {name} has shape {array.shape} beside a pose for each of {batch}; give ({arm.n},) for all, "
                f"or {(*batch, arm.n)}."
            ) from None

    @property
    def reference(self) -> Vector:
        """What solutions are near to, if there is a choice: q0, the posture, the middle of the limits."""
        return next(x for x in (self.q0, self.posture, self.programs.middle) if x is not None)

    @property
    def begin(self) -> Vector | None:
        """Where the first attempt begins."""
        return self.q0 if self.q0 is not None else self.posture

    @property
    def relaxes(self) -> bool:
        """Whether the posture has something to decide: more joints than the goal needs."""
        return self.posture is not None and self.programs.moving > self.programs.rows


def rows_of(values: Vector | None, rows: Vector) -> Vector | None:
    """Values for some rows: as they are where they are for all."""
    return values if values is None or values.ndim == 1 else values[rows]


def _one(wishes: Wishes) -> Reached:
    programs, goals = wishes.programs, wishes.goals
    count, n = len(goals.numbers), programs.arm.n
    rows = Rows.empty(count, n)
    rows.status[~wishes.finite] = NOT_FINITE
    if programs.closed:
        chosen_branches(programs, goals.numbers, wishes.reference, rows, wishes.threads)
    left = np.flatnonzero(wishes.finite & ~rows.solved)
    if len(left):
        _searched(wishes, rows, left)
    _settle(wishes, rows.q)
    batch = goals.batch
    error = np.where(np.isfinite(rows.error), rows.error, np.nan).reshape(*batch, 2)
    solved, status = rows.solved.reshape(batch), rows.status.reshape(batch)
    words = (solved, status) if batch else (bool(solved), str(status))
    return Reached(rows.q.reshape(*batch, n), words[0], error, words[1])


def _searched(wishes: Wishes, rows: Rows, left: Vector) -> None:
    """Search for rows that no closed form answered; then look closer at what was not found."""
    hopeless = _hopeless(wishes, rows, left)
    hasty = replace(HASTY, most=wishes.attempts)
    _search(wishes, rows, left[~hopeless], hasty, begin=wishes.begin)
    unsolved = left[~hopeless & ~rows.solved[left]]
    _search(wishes, rows, unsolved, replace(PATIENT, most=wishes.attempts), begin=None, part=1)
    unsolved = left[~rows.solved[left]]
    if len(unsolved):
        few = replace(HASTY, most=min(wishes.attempts, 16))
        _search(wishes, rows, left[hopeless], few, begin=wishes.begin)
        _search(wishes, rows, unsolved, NEAREST, begin=rows.q)


def _hopeless(wishes: Wishes, rows: Rows, left: Vector) -> Vector:
    """Rows that certainly cannot be reached: a closed form says so, or the arm is too short."""
    if "position" not in wishes.goals.asked and wishes.goals.asked != "pose":
        return np.zeros(len(left), bool)
    origin, longest = longest_reach(wishes.programs)
    far = np.linalg.norm(wishes.goals.numbers[left, 9:] - origin, axis=-1) > longest * (1 + 1e-12) + 1e-9
    rows.status[left[far]] = OUT_OF_REACH
    known: Vector = np.isin(rows.status[left], (OUT_OF_REACH, OUT_OF_LIMITS))
    return known


def _search(
    wishes: Wishes, rows: Rows, left: Vector, rules: Any, *, begin: Vector | None, part: int = 0
) -> None:
    """Enter what a search finds for some rows, from one part or another of all starts."""
    if not len(left):
        return
    programs, goals = wishes.programs, wishes.goals.numbers[left]
    table, begin = programs.table(wishes.seed, part), rows_of(begin, left)
    if begin is not None and begin.ndim > 1:
        begin = np.where(np.isfinite(begin), begin, programs.middle)
    if wishes.relaxes:
        posture = rows_of(wishes.posture, left)
        q, _, _ = programs.relaxing(goals, table, rules, first=begin, posture=posture, wanted=wishes.threads)
    else:
        q, _, _ = programs.search(goals, table, rules, first=begin, wanted=wishes.threads)
    if begin is not None or programs.endless.any():
        reference = rows_of(wishes.reference, left)
        assert reference is not None
        q = turned_nearest(programs, q, reference)
    rows.enter(left, q, measured(programs, q, goals, wishes.threads))


def _every(wishes: Wishes) -> Reached:
    """All solutions; where there is none, the nearest pose alone."""
    programs, goals = wishes.programs, wishes.goals
    if programs.closed:
        found = every_branch(programs, goals.numbers, wishes.reference, wishes.threads)
    else:
        found = every_distinct(programs, goals.numbers, wishes.reference, wishes.seed, wishes.threads)
    q, error, solved = found
    status = np.full(len(q), SOLVED, WORD)
    none = np.flatnonzero(~solved.any(axis=-1))
    if len(none):
        alone = _one(_only(wishes, none))
        q[none, 0], solved[none, 0], error[none, 0], status[none] = alone
    _settle(wishes, q)
    batch, shape = goals.batch, (*goals.batch, q.shape[1])
    status = status.reshape(batch)
    return Reached(
        q.reshape(*shape, programs.arm.n),
        solved.reshape(shape),
        error.reshape(*shape, 2),
        status if batch else str(status),
    )


def _settle(wishes: Wishes, q: Vector) -> None:
    """Joints beyond the frame, which do not move it, go where they would rather be, or stay where they begin.

    A search that begins anew has them elsewhere. Answers are (N, n) or (N, K, n), NaN where there is none.
    """
    first = wishes.programs.moving
    wish = next(x for x in (wishes.posture, wishes.q0, wishes.programs.middle) if x is not None)[..., first:]
    beside = wish if wish.ndim == 1 or q.ndim == 2 else wish[:, None]
    q[..., first:] = np.where(np.isnan(q[..., first:]), np.nan, beside)


def _only(wishes: Wishes, rows: Vector) -> Wishes:
    """The same wishes for some of the goals."""
    goals = Goals(wishes.goals.numbers[rows], (len(rows),), wishes.goals.asked)
    q0, posture = rows_of(wishes.q0, rows), rows_of(wishes.posture, rows)
    return Wishes(wishes.programs, goals, q0, posture, wishes.attempts, wishes.seed, wishes.threads)
