"""Laws on a robot with branches: each formulation's sums over chains as a black box, and the user's functions.

A free base stands on its six joints here, at any position, so that every law of a fixed robot can be asked of it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.chain_cuts import on_six_joints
from forearm.compiler.model.chosen_model import plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.model.trees.tree_model import TreeModel
from forearm.formulations import FORMULATIONS
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot
from forearm.verification.proof.agreement import relative
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

MOST_JOINTS = 10
"""Joints, a free base counted as six, up to which each formulation is held to laws: some cost the fourth power."""

Held = tuple[str, str, list[float], float, str, str]
"""What a law says, of whom, the residuals, the tolerance, what both sides share, and why it could not be asked."""


def law_states(robot: Robot, count: int, seed: int) -> list[State]:
    """Random states of moderate speed, the six joints of a free base included."""
    q, qd, qdd = on_six_joints(robot).random_state(seed, (count,))
    return [State(q[i], qd[i] / 2, qdd[i] / 2) for i in range(count)]


def held_by_formulation(robot: Robot, stem: str, states: Sequence[State]) -> Iterator[Held]:
    """The laws on one formulation, summed over chains."""
    names = tuple(name for name in RIGID_LAWS if name != "pushed")  # a chain's tip is no frame of the tree
    if "joint_torques" not in FORMULATIONS[stem].gives:
        names = MASS_LAWS
    yield from _held(_summed(stem), on_six_joints(robot), states, names)


def held_by_user_functions(robot: Robot, states: Sequence[State]) -> Iterator[Held]:
    """The laws on the quantities as users get them, drives included, with every term at work."""
    subject = Subject(
        USER,
        lambda robot, q, qd, qdd: _numbers(robot, "inverse_dynamics", q, qd, qdd),
        lambda robot, q: _numbers(robot, "mass_matrix", q),
        accelerations=lambda robot, q, qd, tau: _numbers(robot, "forward_dynamics", q, qd, tau),
    )
    yield from _held(subject, with_everything_on(on_six_joints(robot)), states, FULL_LAWS)  # type: ignore[arg-type]


def _numbers(robot: Any, quantity: str, *inputs: Vector) -> Any:
    return np.asarray(evaluated(plain_model(robot), quantity, *inputs), dtype=float)


def _summed(stem: str) -> Subject:
    """A formulation's torques and mass matrix, summed over the chains of whatever robot a law takes."""
    row, cut = FORMULATIONS[stem], dict[int, tuple[Any, TreeModel, Any]]()

    def parts(robot: Any) -> tuple[Any, TreeModel, Any]:
        if id(robot) not in cut:
            model = TreeModel(robot, None)
            cut[id(robot)] = robot, model, [(arm, list(at)) for arm, at in model.chain_arms()]
        return cut[id(robot)]

    def torques(robot: Any, q: Vector, qd: Vector, qdd: Vector) -> Vector:
        _, model, chains = parts(robot)
        joints = model.all_joints(q, qd, qdd)
        total = np.zeros(len(joints[0]))
        for arm, at in chains:
            total[at] += np.asarray(row.joint_torques(arm, *(x[at] for x in joints)), dtype=float)
        return model.independent(total)

    def mass(robot: Any, q: Vector) -> Matrix:
        if "mass_matrix" not in row.gives:
            still, rest = _weightless(robot), np.zeros(robot.n)
            return np.array([torques(still, q, rest, unit) for unit in np.eye(robot.n)]).T
        B, joints = robot.coupling_map[0], robot.joint_positions(q)
        total = np.zeros((len(joints), len(joints)))
        for arm, at in parts(robot)[2]:
            total[np.ix_(at, at)] += np.asarray(row.mass_matrix(arm, joints[at]), dtype=float)
        return np.asarray(B.T @ total @ B)

    return Subject(stem, torques, mass)


@lru_cache(maxsize=32)
def _weightless(robot: Any) -> Any:
    return robot.replace(gravity=(0.0, 0.0, 0.0))


def _held(subject: Subject, robot: Any, states: Sequence[State], names: Sequence[str]) -> Iterator[Held]:
    for name in names:
        law, found, why = LAWS[name], [], ""
        try:
            for at in states:
                found.append(relative(*law.test(subject, robot, at)))
        except Exception as error:
            pass_on_signals()
            found, why = [np.nan], f"{type(error).__name__}: {error}"
        yield law.says, subject.name, found, law.tolerance, law.shares, why
