"""compare: how two torque functions differ, term by term, and why.

The cause is never guessed: each hypothesis of `hypotheses` is tested on the same states, first alone, then in
pairs, and is named only if it takes the whole difference away with the fewest unknowns. If none does, or if two
different ones do equally well, the answer is "cannot tell", with the evidence.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector, is_number
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.bounds import least
from forearm.verification.difference.causes.cause_search import (
    Explained,
    Explanation,
    alone_until,
    cause_in_noise,
    single_cause,
    two_causes,
    unsure,
)
from forearm.verification.difference.causes.cause_texts import key_of, text_of
from forearm.verification.difference.causes.coincidences import Odds
from forearm.verification.difference.causes.hypotheses import Bench, Cause, Fit, fit
from forearm.verification.difference.causes.remainders import ENOUGH, can_be, is_noise
from forearm.verification.difference.causes.row_causes import late_rows, other_widths
from forearm.verification.difference.causes.suspects import causes
from forearm.verification.difference.counterparts import COARSE, Other, on_fixed_bases, other_of
from forearm.verification.difference.term_differences import terms_apart
from forearm.verification.difference.torque_tables import largest_parts
from forearm.verification.difference.torqueless_parts import torqueless_parts
from forearm.verification.difference.verdict import TOLERANCE, Comparison, Evidence

MOST_STATES = 100_000
"""Random states that are looked at, at most."""
COARSEST = 0.05
"""However few digits a file has, torques that are farther apart are not the same."""
SPARE = 1e-13
"""Rounding of any program, relative to the largest sum that makes a torque."""
SINGLE = 16 * 2.0**-24
"""What numbers of single precision tell of the largest torque, after some sums."""
MOST, WORST = 1000, 16
"""Rows of a long log on which causes are tried, and how many of them are those that differ most."""
MOST_JOINTS = 64
"""Joints of a robot for which causes are looked for: what is known of them grows with their square, and more."""
ALONE = 30.0
"""Processor seconds for causes by themselves, at least: a robot of fifty joints has thousands."""
CHUNK = 512
"""Rows at a time where all are looked at."""
HARDLY = 0.7
"""Share of a difference that is left by all numbers together where it hardly has to do with them."""
RARE = 0.02
"""Share of the rows that are said to differ alone."""


@faults.explained
def compare(
    arm: Arm | Robot,
    other: Any,
    *,
    states: int = 48,
    seed: faults.Seed = 0,
    tolerance: float | None = None,
    name: str | None = None,
    patience: float = 20.0,
) -> Comparison:
    """Compare the torques of an arm with somebody else's, and name the cause of a difference.

    What else differs of two descriptions (limits, names, where the tool is) changes no torque: it is told as `beside`,
    and is no part of `same`.

    Args:
        arm: The arm or robot, with its drives (leave them out with `without_drives()` if the other has none).
        other: An Arm or Robot, a Pinocchio or MuJoCo model, a Robotics Toolbox robot, a function of q, qd, qdd for one
            state, or the path of a CSV file with columns q1 …, qd1 …, qdd1 …, tau1 ….
        states: How many random states.
        seed: Which ones.
        tolerance: Relative difference that counts as none; by default 1e-7, or what the digits of a file allow.
        name: What to call the other.
        patience: Processor seconds after which no more pairs of causes are tried, and after half a minute or more no
            more causes; the notes say so.

    Returns:
        The comparison: `same`, `causes`, `terms`, `evidence`; print it.
    """
    if not arm.dynamics:
        faults.no_dynamics(arm, "torques to compare")
    if not 1 <= states <= MOST_STATES:
        raise faults.StateFault(f"compare: states is {states}; give a whole number from 1 to {MOST_STATES}.")
    if tolerance is not None and not (is_number(tolerance) and 0 < tolerance < 1):
        raise faults.StateFault(
            f"compare: tolerance is {tolerance!r}; give a share of the largest torque, above 0 and below 1,"
            " or leave it out."
        )
    beside = torqueless_parts(arm, other) if isinstance(other, (Arm, Robot)) else ()
    arm, other = on_fixed_bases(arm, other)
    that = other_of(arm, other, name)
    bench = _bench(arm, that, states, seed)
    ours = _own(arm, bench)
    bench = replace(bench, room=_room(bench, that, ours, tolerance))
    found = _judged(that, bench, ours, tolerance, patience)
    notes = (*that.notes, *found.notes, *_notes(found, bench, ours))
    return replace(found, notes=notes, beside=beside)


def _bench(arm: Arm | Robot, other: Other, states: int, seed: faults.Seed) -> Bench:
    """States and the other's torques: those of a file, or random ones, every fourth of them slow."""
    if other.rows is not None:
        q, qd, qdd, tau = other.rows
        return Bench(arm, q, qd, qdd, tau, np.ones(tau.shape))
    rng = faults.random_numbers(seed, "compare: seed")
    q = rng.uniform(-np.pi, np.pi, (states, arm.n))
    for i, link in enumerate(arm.state_links):
        if link.prismatic:
            q[:, i] = rng.uniform(-0.5, 0.5, states)
    qd = rng.uniform(0.3, 2, (states, arm.n)) * rng.choice([-1.0, 1.0], (states, arm.n))
    qdd = rng.uniform(-4, 4, (states, arm.n))
    qd[3::4] *= 10 ** rng.uniform(-6, 0, qd[3::4].shape)  # where laws of dry friction differ
    far, slides = _size(arm), np.array([link.prismatic for link in arm.state_links])
    q *= np.where(
        slides, far, 1.0
    )  # as a pendulum of that length would: quicker, so that weight does not hide the rest
    qd *= np.where(slides, far, 1.0) / np.sqrt(far)
    qdd *= np.where(slides, far, 1.0) / far
    assert other.torques is not None
    return Bench(arm, q, qd, qdd, other.torques(q, qd, qdd), np.ones(q.shape))


def _size(arm: Arm | Robot) -> float:
    """How far the arm goes, a metre at most [m]: what small arms do in states of large ones is slide and hang."""
    steps = [np.array(link.pose.translation, dtype=float) + [0.0, 0.0, link.d] for link in arm.links]
    mounts = [np.array(x.translation, dtype=float) for x in arm.mounts] if isinstance(arm, Robot) else []
    bodies = [np.array(link.com, dtype=float) for link in arm.links]
    size = sum(float(np.linalg.norm(x)) for x in (*steps, *mounts))
    size += max(float(np.linalg.norm(x)) for x in bodies)
    return min(size, 1.0) or 1.0


def _own(arm: Arm | Robot, bench: Bench) -> Matrix:
    """The arm's own torques at every state (S, n)."""
    torques = other_of(arm, arm).torques
    assert torques is not None
    parts = [slice(i, i + CHUNK) for i in range(0, len(bench.q), CHUNK)]
    return np.concatenate([torques(bench.q[p], bench.qd[p], bench.qdd[p]) for p in parts])


def _room(bench: Bench, other: Other, ours: Matrix, tolerance: float | None) -> Matrix:
    """Differences of torques that count as none (S, n): a tolerance, or rounding and digits."""
    room = _joint_room(bench, other, ours, tolerance)
    turning = 0.0 if tolerance is not None else other.turning
    return np.broadcast_to(room, ours.shape) + turning


def _joint_room(bench: Bench, other: Other, ours: Matrix, tolerance: float | None) -> Vector:
    """What counts as none in each joint (n,), whatever the row."""
    tops = np.max(np.maximum(np.abs(bench.tau), np.abs(ours)), axis=0)
    top, few = float(np.max(tops)), bench.few
    sums = SPARE * max(top, _largest_sum(few))
    if tolerance is not None:
        return np.full(bench.arm.n, max(tolerance * top, 1e-300))
    room = np.maximum(TOLERANCE * tops, max(sums, 1e-300))
    if other.rows is None:
        return np.maximum(room, SINGLE * top) if _is_single(bench.tau) else room
    return np.maximum(room, np.minimum(4 * other.rounded, COARSEST * top))


def _largest_sum(bench: Bench) -> float:
    """The largest sum of sizes that makes a torque, of which each part may be rounded."""
    return float(np.max(largest_parts(bench.arm, bench.q, bench.qd, bench.qdd), initial=0.0))


def _is_single(tau: Matrix) -> bool:
    """Whether all torques are numbers of single precision, and not so by chance."""
    with np.errstate(over="ignore"):
        single, half = tau.astype(np.float32), tau.astype(np.float16)
    return bool(np.all(tau == single) and not np.all(tau == half))


def _notes(found: Comparison, bench: Bench, ours: Matrix) -> tuple[str, ...]:
    """What is to be said of the rows: joints that digits hide, rows that differ alone, too few rows for causes."""
    told, names = [], bench.arm.joint_names
    tops = np.max(np.maximum(np.abs(bench.tau), np.abs(ours)), axis=0)
    room = np.median(bench.room, axis=0)
    hidden = [names[i] for i in np.flatnonzero((room > tops / 2) & (tops > 1e-12 * np.max(tops)))]
    if hidden and found.same:
        said = "tolerance" if found.tolerance else "digits"
        told.append(
            f"torques of {', '.join(hidden)} are smaller than what the {said} let pass: nothing is told of them"
        )
    top = float(np.max(tops))
    if found.same and found.written and np.max(bench.room) > 2 * found.written * top:
        most = float(np.max(bench.room)) / top
        told.append(
            "where a joint turns round, the digits of its speed leave dry friction open: "
            f"up to {most:.1g} of the largest torque"
        )
    if found.same:
        return tuple(told)
    apart = np.any(np.abs(bench.tau - ours) > bench.room, axis=1)
    count, rows = int(np.sum(apart)), len(apart)
    if count <= max(1, RARE * rows) and rows >= 10:
        told.append(
            f"only {count} of {rows} rows differ, from row {int(np.argmax(apart)) + 1} on; the rest are the same"
        )
    if rows > MOST:
        told.append(f"all {rows} rows were compared, causes were looked for in {MOST} of them")
    return tuple(told)


def _judged(that: Other, bench: Bench, ours: Matrix, tolerance: float | None, patience: float) -> Comparison:
    """Whether torques differ, and why."""
    arm, left = bench.arm, bench.tau - ours
    residual = float(np.max(np.abs(left))) / max(float(np.max(np.abs(bench.tau))), 1e-300)
    over = float(np.max(np.abs(left) / bench.room))
    result = Comparison(
        arm.name, that.name, over <= 1, (), terms_apart(arm, that, bench, ours), residual=residual
    )
    if over <= 1:
        if tolerance is not None:
            return replace(result, tolerance=float(tolerance))
        return _as_written(result, bench, left)
    if len(arm.links) > MOST_JOINTS:
        return replace(result, notes=(_too_many(arm),))
    if not np.any(bench.tau):
        return replace(result, notes=("all torques of the other are zero: no cause is looked for",))
    looked = _spread(bench, left)
    plain = fit(looked, looked.plain)
    odds = Odds(looked, plain)
    alone, whole = alone_until(looked, [*causes(arm)], time.process_time() + max(ALONE, patience))
    alone += other_widths(looked)
    alone += late_rows(bench, ours) if that.rows is not None else []
    every = [group[0] for group, _, _ in alone]
    alone = [e for e in alone if can_be(e[1], arm)]
    tested = [e for e in alone if odds.spare(e[1], e[2]) > 0]
    evidence = [Evidence(cs[0].text, 1 - f.residual / plain.residual, f.residual) for cs, f, _ in tested]
    result = replace(result, evidence=tuple(sorted(evidence, key=lambda e: e.residual)))
    answer, noise, nearest = _answer(odds, alone, every, patience if whole else 0.0, that, bench)
    if not whole:
        answer = unsure(answer, arm)
    few = () if len(tested) == len(alone) else (_too_few(bench, ours),)
    result = replace(result, notes=(*_unsaid(answer, patience, looked, plain, that, whole), *few, *nearest))
    if answer.found is None:
        return replace(result, either=answer.either)
    group, left_over, _ = answer.found
    texts = tuple(text_of(cause, left_over, arm) + noise for cause in group)
    keys = tuple(key_of(cause, left_over, arm) for cause in group)
    return replace(result, causes=texts, keys=keys, residual=left_over.residual)


def _too_many(arm: Arm | Robot) -> str:
    return (
        f"causes are looked for in robots of up to {MOST_JOINTS} joints, and {arm.name!r} has {len(arm.links)}: "
        "compare its chains one by one"
    )


def _too_few(bench: Bench, ours: Matrix) -> str:
    """What is to be said where some causes have more unknowns than numbers differ."""
    rows, few = len(ours), len(np.unique(np.round(ours / (10 * bench.room)), axis=0))
    some = "states of different torques" if rows > few else "rows"
    few_are = f"{few} {some} are" if few > 1 else "one row is" if rows == 1 else "one state is"
    return f"{few_are} too few to look for causes with unknowns (friction, offsets, a body): give more states"


def _answer(
    odds: Odds, alone: list[Explained], every: list[Cause], patience: float, that: Other, log: Bench
) -> tuple[Explanation, str, tuple[str, ...]]:
    """One cause, two, or one that leaves noise, with the words for that; or a note of what comes near."""
    bench, plain = odds.bench, odds.plain
    told = [e for e in alone if odds.told(e[1], e[2], len(every))]
    if any(e[1].over <= 1 and not any(e is one for one in told) for e in alone):
        every = [
            cause for cause in every if not cause.parameters
        ]  # one that may be it is simpler than two that fit
    answer = single_cause(bench, plain, told)
    if answer.found or answer.either:
        return answer, "", ()
    until = time.process_time() + patience
    pair = two_causes(bench, odds, every, until)
    if pair.found or pair.either or that.rows is None:
        return pair, "", ()
    near = cause_in_noise(bench, plain, alone, [e for e in told if odds.clear(e[1])])
    if near.found is None:
        texts = "; or ".join(near.either[:3])
        return pair, "", (f"several come near, and none takes all of it away: {texts}",) if texts else ()
    (cause,), rest, _ = near.found
    share = f"{rest.rms:.2g} N m or N rms, {100 * rest.rms / plain.rms:.2g} % of the difference,"
    if len(bench.q) < ENOUGH:
        words = f"; {share} are unexplained: {len(bench.q)} rows do not tell noise from a second cause"
        return replace(pair, found=near.found), words, ()
    if is_noise(log if rest.rows != slice(None) else bench, cause, rest):
        return replace(pair, found=near.found), f"; {share} are left: noise, or a second cause as small", ()
    text = f"nearest is: {text_of(cause, rest, bench.arm)}; but {share} are unexplained, and they go with the motion"
    return pair, "", (text,)


def _unsaid(
    answer: Explanation, patience: float, bench: Bench, plain: Fit, that: Other, whole: bool
) -> tuple[str, ...]:
    """What is to be said of a search that found nothing, or that was not finished: of pairs, or before that."""
    told = []
    if not answer.whole:
        what, seconds = ("pairs of causes", patience) if whole else ("causes", max(ALONE, patience))
        told.append(
            f"not all {what} were tried in {seconds:g} s of processor time; fa.compare(patience=) takes more"
        )
    if answer.found is not None or answer.either or that.rows is None:
        return tuple(told)
    apart = np.abs(plain.left.reshape(bench.tau.shape))
    if that.coarse is not None and np.all(apart <= 4 * that.coarse + bench.room):
        told.append(
            f"positions, speeds or accelerations are written in steps of {COARSE:g} or more: if they were rounded so, "
            "that alone can make this difference"
        )
    elif least(bench, bench.plain) > HARDLY * np.sqrt(np.mean((apart / bench.room) ** 2)):
        told.append(
            "bodies, gravity, rotors and friction of whatever numbers hardly take any of the difference away: noise, "
            "or joints that are seen in another way"
        )
    return tuple(told)


def _as_written(result: Comparison, bench: Bench, left: Matrix) -> Comparison:
    """The same: within rounding, or within the digits that are written."""
    top = max(float(np.max(np.abs(bench.tau))), 1e-300)
    rounding = np.maximum(
        TOLERANCE * np.max(np.abs(bench.tau), axis=0), SPARE * max(top, _largest_sum(bench.few))
    )
    if np.all(np.abs(left) <= rounding):
        return result
    terms = tuple((name, size, "within the digits written") for name, size, _ in result.terms)
    return replace(result, terms=terms, written=float(np.max(np.median(bench.room, axis=0))) / top)


def _spread(bench: Bench, left: Matrix) -> Bench:
    """Rows for the search: all, or so many evenly spread and those that differ most."""
    if len(left) <= MOST:
        return bench
    worst = np.argsort(np.max(np.abs(left) / bench.room, axis=1))[-WORST:]
    evenly = np.linspace(0, len(left) - 1, MOST - WORST).astype(int)
    return bench.of_rows(np.unique(np.concatenate([evenly, worst])))
