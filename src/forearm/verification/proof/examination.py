"""verify: proves the code on this arm.

Every formulation against every other, all of them against the oracle, the laws of mechanics on each, the user's
functions with everything switched on, and compiled against interpreted. It does not question the numbers of
the arm: wrong data obey every law (that is `check`).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import is_number
from forearm.arm import Arm
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.quantities import QUANTITIES
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.formulations import FORMULATIONS
from forearm.outside.escapes import one_line
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot
from forearm.strobing import strobed_mass_matrix
from forearm.verification.proof import oracle
from forearm.verification.proof.agreement import (
    WORDS,
    distances,
    oracle_values,
    plain_numbers,
    relative,
    scale_of,
    truth,
    values,
)
from forearm.verification.proof.compiled_targets import COMPILED, kernel_scale, targets
from forearm.verification.proof.examination_report import Row, Verification
from forearm.verification.proof.magnitudes import TOLERANCE, joint_sizes, magnitudes
from forearm.verification.proof.mechanical_laws import (
    FULL_LAWS,
    LAWS,
    MASS_LAWS,
    RIGID_LAWS,
    USER,
    State,
    Subject,
    with_everything_on,
)
from forearm.verification.proof.tree_examination import verify_robot

Progress = Callable[[int, int, str], None]

SHARED_LINKS = "links and poses (link.py, frames.py), gravity in the base"
COMPILER = "the formulations; not the graph, its passes or the emitter"
MOST_STATES = 100_000
"""Random states that are looked at, at most."""
SINGULAR = 1e12
"""Condition of M, scaled to a unit diagonal, above which accelerations mean nothing."""

LONGEST_SOURCE = 16 * 2**20
"""Bytes that the oracle reads of a file."""


@faults.explained
def verify(
    arm: Arm | Robot,
    *,
    states: int = 2,
    seed: faults.Seed = 0,
    source: str | Path | None = None,
    formulations: Sequence[str] | None = None,
    compiled: bool = True,
    progress: Progress | None = None,
) -> Verification:
    """Prove the code on this arm.

    Args:
        arm: The arm or robot, with masses, numbers only. A robot's chains are summed by every formulation.
        states: How many random states.
        seed: Which ones.
        source: The URDF file that the arm was read from (whole, nothing held): the oracle then reads it itself.
        formulations: Which of them to look at, by stem; all of them otherwise.
        compiled: Whether kernels are compiled and compared too.
        progress: Called with (done, total, what) before each step.

    Returns:
        A proof with one row for each check of each piece of code; `passed`, `failures`, `to_json()`.
    """
    _refuse(arm)
    if not 1 <= states <= MOST_STATES:
        raise faults.StateFault(f"verify: states is {states}; give a whole number from 1 to {MOST_STATES}.")
    if isinstance(arm, Robot):
        if source is not None:
            raise faults.StateFault(
                f"verify: source= is for one chain, and robot {arm.name!r} is a tree; leave it out."
            )
        return verify_robot(arm, states, seed, _stems(arm, formulations), compiled, progress)  # type: ignore[arg-type]
    start = time.perf_counter()
    rigid = arm.without_drives()
    at = _states(arm, states, seed)
    work = _Work(rigid, at, _chain(rigid, source), _stems(rigid, formulations), source is not None)
    steps = list(_steps(work, arm, compiled))
    for done, (what, step) in enumerate(steps):
        if progress is not None:
            progress(done, len(steps), what)
        step()
    if progress is not None:
        progress(len(steps), len(steps), "done")
    said = tuple({"q": s.q.tolist(), "qd": s.qd.tolist(), "qdd": s.qdd.tolist()} for s in at)
    return Verification(arm.name, tuple(work.rows), said, tuple(work.skipped), time.perf_counter() - start)


@dataclass
class _Work:
    """What the steps of a proof share: inputs, and the rows that pile up."""

    arm: Arm
    states: list[State]
    chain: oracle.Chain
    stems: list[str]
    from_file: bool
    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)
    singular: bool = False

    def add(
        self,
        group: str,
        check: str,
        subject: str,
        found: list[float],
        tolerance: float,
        shares: str,
        why: str = "",
    ) -> None:
        """A row with the worst of the residuals, one for each state."""
        worst = next((i for i, r in enumerate(found) if r != r), None)
        worst = int(np.argmax(found)) if worst is None else worst
        self.rows.append(Row(group, check, subject, float(found[worst]), tolerance, worst, shares, why))


def _refuse(arm: Arm | Robot) -> None:
    if not arm.dynamics:
        faults.no_dynamics(arm, "torques to verify")
    numbers = (
        x for link in arm.links for x in (link.theta, link.d, link.mass, *link.com, *link.pose.translation)
    )
    if not all(is_number(x) for x in numbers):
        raise faults.ArmFault(f"arm {arm.name!r} has symbols; verify compares numbers. Put values in first.")


def _stems(arm: Arm, wanted: Sequence[str] | None) -> list[str]:
    """Formulations that take this arm, all or those that are wanted."""
    for stem in wanted or ():
        if stem not in FORMULATIONS:
            faults.no_formulation(stem, FORMULATIONS, where="verify: ")
    return [
        stem for stem, row in FORMULATIONS.items() if row.accepts(arm) and (wanted is None or stem in wanted)
    ]


def _states(arm: Arm, count: int, seed: faults.Seed) -> list[State]:
    """Random states of moderate speed, within limits and within two turns or two metres."""
    q, qd, qdd = arm.random_state(seed, (count,))
    q = np.where(np.abs(q) > 2 * np.pi, np.fmod(q, 2 * np.pi), q)
    return [State(q[i], qd[i] / 2, qdd[i] / 2) for i in range(count)]


def _chain(arm: Arm, source: str | Path | None) -> oracle.Chain:
    if source is None:
        return oracle.chain_from_numbers(*plain_numbers(arm))
    try:
        with Path(source).open("rb") as file:
            text = file.read(LONGEST_SOURCE).decode("utf-8-sig")
        chain = oracle.chain_from_urdf(text, arm.joint_names, gravity=arm.gravity)
        if sum(part.kind != "welded" for part in chain.moving) == arm.n:
            return chain
        reason = "it has other joints"
    except OSError as error:
        pass_on_signals()
        reason = error.strerror or type(error).__name__
    # whatever a text that is no robot does to a reader that checks nothing
    except (SyntaxError, ValueError, LookupError, AttributeError, TypeError, StopIteration) as error:
        reason = one_line(str(error) or type(error).__name__)[:200]
    raise faults.StateFault(
        f"verify: source {one_line(str(source))[:200]!r} cannot be read ({reason}); give the URDF file that arm "
        f"{arm.name!r} was read from, or leave it out."
    )


def _steps(work: _Work, arm: Arm, compiled: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "oracle", lambda: _ask_oracle(work)
    for quantity in WORDS:
        yield WORDS[quantity], lambda quantity=quantity: _agreement(work, quantity)  # type: ignore[misc]
    for stem in work.stems:
        row = FORMULATIONS[stem]
        if not row.needs and {"joint_torques", "mass_matrix"} & set(row.gives):
            yield f"laws of {stem}", lambda stem=stem: _laws_of_formulation(work, stem)  # type: ignore[misc]
    yield USER, lambda: _laws_of_user_functions(work, arm)
    for quantity in COMPILED if compiled else ():
        yield f"compiled {quantity}", lambda quantity=quantity: _compiled(work, arm, quantity)  # type: ignore[misc]


# -- agreement and oracle ------------------------------------------------------------------------------------


def _ask_oracle(work: _Work) -> None:
    work.said = [truth(work.chain, *at) for at in work.states]
    ways = [
        relative(said.tau - said.lagrange, magnitudes(work.arm, at.q).torques(at.qd, at.qdd))
        for said, at in zip(work.said, work.states, strict=True)
    ]
    work.add("oracle", "spatial vectors = Lagrange", "oracle", ways, TOLERANCE, "the oracle's 4x4 poses")
    worst = max(_condition(said.M) for said in work.said)
    if not worst < SINGULAR:
        work.singular = True
        work.skipped.append(f"accelerations: M is singular (condition {worst:.1e}), see check")


def _condition(M: Any) -> float:
    """The condition of M, each joint in units of its own: a light one beside heavy ones is no fault of it."""
    own = joint_sizes(M)
    return float(np.linalg.cond(M / own[:, None] / own))


def _agreement(work: _Work, quantity: str) -> None:
    if quantity == "joint_accelerations" and work.singular:
        return
    apart: dict[str, list[float]] = {}
    from_oracle: dict[str, list[float]] = {}
    farthest: dict[str, str] = {}
    for said, at in zip(work.said, work.states, strict=True):
        try:
            found = values(work.arm, work.stems, quantity, *at, said.tau)
        except Exception as error:
            pass_on_signals()
            work.add(
                "agreement",
                f"all agree on {WORDS[quantity]}",
                "all",
                [np.nan],
                TOLERANCE,
                SHARED_LINKS,
                repr(error),
            )
            return
        if not found:
            return
        scale = scale_of(quantity, magnitudes(work.arm, at.q), said.M, at.qd, at.qdd)
        theirs = oracle_values(quantity, said, at.qd, at.qdd)
        for stem, distance, other in distances({**found, **theirs}, scale):
            apart.setdefault(stem, []).append(distance)
            farthest[stem] = f"farthest from {other}"
        center = np.median(np.array(list(found.values())), axis=0)
        for way, value in theirs.items():
            from_oracle.setdefault(way, []).append(relative(center - value, scale))
    for stem, residuals in apart.items():
        if stem in FORMULATIONS:
            work.add(
                "agreement",
                f"all agree on {WORDS[quantity]}",
                stem,
                residuals,
                TOLERANCE,
                SHARED_LINKS,
                farthest[stem],
            )
    shares = "nothing: it read the file itself" if work.from_file else "nothing but the arm's numbers"
    for way, residuals in from_oracle.items():
        work.add(
            "oracle",
            f"the oracle's {WORDS[quantity]}",
            way,
            residuals,
            TOLERANCE,
            shares,
        )


# -- laws ----------------------------------------------------------------------------------------------------


def _laws_of_formulation(work: _Work, stem: str) -> None:
    row = FORMULATIONS[stem]
    if "joint_torques" not in row.gives:
        _hold(work, Subject(stem, _no_torques, row.mass_matrix), work.arm, MASS_LAWS)
        return
    own = "mass_matrix" in row.gives
    mass = row.mass_matrix if own else lambda arm, q: strobed_mass_matrix(arm, q, stem)
    names: tuple[str, ...] = RIGID_LAWS
    accelerations = row.joint_accelerations if "joint_accelerations" in row.gives else None
    if accelerations is not None and not work.singular:
        names = (*names, "round_trip")
    _hold(work, Subject(stem, row.joint_torques, mass, row.joint_torques, accelerations), work.arm, names)


def _no_torques(arm: Arm, q: Any, qd: Any, qdd: Any) -> Any:
    raise faults.StateFault(
        "a law of torques was asked of a formulation that gives none; ask MASS_LAWS alone."
    )


def _laws_of_user_functions(work: _Work, arm: Arm) -> None:
    """The quantities as users get them, drives included, on an arm on which every term is at work."""
    full = with_everything_on(arm)
    run = {
        name: QUANTITIES[name].function for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics")
    }
    subject = Subject(
        USER,
        lambda arm, q, qd, qdd: run["inverse_dynamics"](Model(arm, arm), q, qd, qdd),
        lambda arm, q: run["mass_matrix"](Model(arm, arm), q),
        accelerations=lambda arm, q, qd, tau: run["forward_dynamics"](Model(arm, arm), q, qd, tau),
    )
    _hold(work, subject, full, FULL_LAWS)


def _hold(work: _Work, subject: Subject, arm: Arm, names: tuple[str, ...]) -> None:
    for name in names:
        law, found, why = LAWS[name], [], ""
        for at in work.states:
            try:
                difference, scale = law.test(subject, arm, at)
                found.append(relative(difference, scale))
            except Exception as error:
                pass_on_signals()
                found, why = [np.nan], f"{type(error).__name__}: {error}"
                break
        work.add("law", law.says, subject.name, found, law.tolerance, law.shares, why)


# -- compiled ------------------------------------------------------------------------------------------------


def _compiled(work: _Work, arm: Arm, quantity: str) -> None:
    """The quantity on every target, against the same quantity interpreted."""
    if quantity == "forward_dynamics" and work.singular:
        return
    what = QUANTITIES[quantity]
    rows = [
        dict(zip(("q", "qd", "qdd", "tau"), (*at, s.tau), strict=True))
        for s, at in zip(work.said, work.states, strict=True)
    ]
    inputs = [[row[name] for name in what.inputs] for row in rows]
    want = [np.asarray(evaluated(Model(arm, arm), quantity, *mine), dtype=float) for mine in inputs]
    scales = [
        kernel_scale(magnitudes(arm, at.q), Model(arm, arm), quantity, at, w)
        for at, w in zip(work.states, want, strict=True)
    ]
    for target, tolerance, run in targets(arm, quantity):
        found, why = [np.nan], ""
        try:
            got = run([np.array(column) for column in zip(*inputs, strict=True)])
            found = [relative(g - w, scale) for g, w, scale in zip(got, want, scales, strict=True)]
        except Exception as error:
            pass_on_signals()
            why = f"{type(error).__name__}: {error}"
        work.add("compiled", f"compiled {quantity} = interpreted", target, found, tolerance, COMPILER, why)
