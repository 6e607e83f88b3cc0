"""verify, on a robot with branches: every formulation summed over chains, the oracle likewise, laws, compiled code.

No formulation knows of trees, nor does the oracle: each gives its torques for one chain at a time, and all the sums
must agree, with each other and with the walk along the tree that is compiled.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forearm import energies
from forearm.algebra import Vector
from forearm.compiler.model.chosen_model import Choice, model_by, plain_model
from forearm.compiler.model.quantities import QUANTITIES
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.model.trees.tree_model import TreeModel
from forearm.formulations import FORMULATIONS
from forearm.free_base import gravity_in_base
from forearm.robot import Robot
from forearm.verification.proof import oracle
from forearm.verification.proof.agreement import distances, plain_numbers, relative
from forearm.verification.proof.compiled_targets import COMPILED, kernel_scale, targets
from forearm.verification.proof.examination_report import Row, Verification
from forearm.verification.proof.magnitudes import TOLERANCE, magnitudes
from forearm.verification.proof.mechanical_laws import ROUNDED, USER, State
from forearm.verification.proof.tree_laws import (
    MOST_JOINTS,
    Held,
    held_by_formulation,
    held_by_user_functions,
    law_states,
)

CHAINS = "links and poses, the cutting into chains (chain_cuts.py), couplings"
WALKS = {"along the tree": None, "along the tree, base parameters": Choice()}
"""Ways that take the tree as a whole."""
STEP = 1e-4
"""Radians, or lengths of the robot, by which a law looks ahead and back."""
SLOPE = 1e-7
"""Tolerance of a rate that is a difference: the step's square, and rounding by the step."""


@dataclass
class _TreeWork:
    """What the steps share: the robot, its states, what was said of them, and the rows that pile up."""

    robot: Robot
    states: list[tuple[Vector, Vector, Vector]]
    stems: list[str]
    rows: list[Row] = field(default_factory=list)
    torques: list[Vector] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(
        self,
        group: str,
        check: str,
        subject: str,
        found: list[float],
        shares: str,
        tolerance: float = TOLERANCE,
        why: str = "",
    ) -> None:
        """A row with the worst of the residuals, one for each state."""
        worst = next((i for i, r in enumerate(found) if r != r), None)
        worst = int(np.argmax(found)) if worst is None else worst
        self.rows.append(Row(group, check, subject, float(found[worst]), tolerance, worst, shares, why))


def verify_robot(
    robot: Robot,
    count: int,
    seed: int,
    stems: list[str],
    compiled: bool,
    progress: Callable[[int, int, str], None] | None,
) -> Verification:
    """Prove the code on a robot; arguments as in `verify`."""
    start = time.perf_counter()
    q, qd, qdd = robot.random_state(seed, (count,))
    states = [(q[i], qd[i] / 2, qdd[i] / 2) for i in range(count)]
    work = _TreeWork(robot.without_drives(), states, stems)
    steps = list(_steps(work, robot, law_states(robot, count, seed), compiled))
    for done, (what, step) in enumerate(steps):
        if progress is not None:
            progress(done, len(steps), what)
        step()
    if progress is not None:
        progress(len(steps), len(steps), "done")
    said = tuple({"q": a.tolist(), "qd": b.tolist(), "qdd": c.tolist()} for a, b, c in states)
    return Verification(robot.name, tuple(work.rows), said, tuple(work.skipped), time.perf_counter() - start)


def _steps(
    work: _TreeWork, robot: Robot, states: list[State], compiled: bool
) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "torques, summed over chains", lambda: _torques(work)
    yield "mass matrix, summed over chains", lambda: _masses(work)
    yield "laws", lambda: _laws(work)
    if len(robot.links) + robot.nv - robot.n > MOST_JOINTS:
        work.skipped.append(
            f"laws of each formulation: more than {MOST_JOINTS} joints (a free base is six) take too long; agreement, "
            "and the laws of the walk along the tree and of the user's functions, were asked"
        )
    else:
        for stem in (x for x in work.stems if not FORMULATIONS[x].needs):
            if {"joint_torques", "mass_matrix"} & set(FORMULATIONS[stem].gives):
                yield (
                    f"laws of {stem}",
                    lambda stem=stem: _hold(work, held_by_formulation(work.robot, stem, states)),  # type: ignore[misc]
                )
    yield USER, lambda: _hold(work, held_by_user_functions(robot, states))
    for quantity in COMPILED if compiled else ():
        yield f"compiled {quantity}", lambda quantity=quantity: _compiled(work, robot, quantity)  # type: ignore[misc]


def _agree(work: _TreeWork, what: str, ways: dict[str, list[Any]], scales: list[Any]) -> None:
    """Each way against the median of all."""
    apart: dict[str, list[float]] = {}
    for k, scale in enumerate(scales):
        found = {name: np.asarray(values[k], dtype=float) for name, values in ways.items()}
        for name, distance, _ in distances(found, scale):
            apart.setdefault(name, []).append(distance)
    for name, residuals in apart.items():
        group = "oracle" if name.startswith("oracle") else "agreement"
        work.add(group, f"all agree on {what}", name, residuals, CHAINS)


def _torques(work: _TreeWork) -> None:
    ways: dict[str, list[Any]] = {name: [] for name in ("oracle, spatial vectors", "oracle, Lagrange")}
    for stem in work.stems:
        if "joint_torques" in FORMULATIONS[stem].gives and not FORMULATIONS[stem].needs:
            model = TreeModel(work.robot, None, torques_by=stem)
            ways[stem] = [model.torques(*at) for at in work.states]
    for name, choice in WALKS.items():
        walked = plain_model(work.robot) if choice is None else model_by(work.robot, choice)
        ways[name] = [walked.torques(*at) for at in work.states]
    for at in work.states:
        both = _of_the_oracle(work.robot, *at)
        ways["oracle, spatial vectors"].append(both[0])
        ways["oracle, Lagrange"].append(both[1])
    work.torques = ways["along the tree"]
    scales = [magnitudes(work.robot, q).torques(qd, qdd) for q, qd, qdd in work.states]
    _agree(work, "torques", ways, scales)


def _of_the_oracle(robot: Robot, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector]:
    """Torques by the oracle's two ways, chain by chain."""
    if robot.free:
        robot = robot.replace(gravity=tuple(gravity_in_base(robot.base_pose(q)[0], robot.gravity)))
    model = TreeModel(robot, None)
    joints = model.all_joints(q, qd, qdd)
    totals = np.zeros((2, len(joints[0])))
    for arm, numbers in model.chain_arms():
        own = [x[list(numbers)] for x in joints]
        chain = oracle.chain_from_numbers(*plain_numbers(arm))
        M, velocity, weight = oracle.lagrange_terms(chain, own[0], own[1])
        totals[0, list(numbers)] += oracle.spatial_torques(chain, *own)
        totals[1, list(numbers)] += M @ own[2] + velocity + weight
    return model.independent(totals[0]), model.independent(totals[1])


def _masses(work: _TreeWork) -> None:
    ways: dict[str, list[Any]] = {}
    for stem in work.stems:
        if "mass_matrix" in FORMULATIONS[stem].gives:
            model = TreeModel(work.robot, None, mass_by=stem, torques_by="")
            ways[stem] = [model.rigid_mass_matrix(q) for q, _, _ in work.states]
    for name, choice in WALKS.items():
        walked = plain_model(work.robot) if choice is None else model_by(work.robot, choice)
        ways[name] = [walked.rigid_mass_matrix(q) for q, _, _ in work.states]
    _agree(work, "the mass matrix", ways, [magnitudes(work.robot, q).mass for q, _, _ in work.states])


def _laws(work: _TreeWork) -> None:
    """Kinetic energy, power and the skew rate, from kinematics that no formulation uses."""
    model, robot = plain_model(work.robot), work.robot
    kinetic, power, skew, there = [], [], [], []
    for q, qd, qdd in work.states:
        sizes, speed = magnitudes(robot, q), np.abs(qd)
        M = np.asarray(model.rigid_mass_matrix(q), dtype=float)
        energy = float(energies.kinetic_energy(robot, q, qd))
        kinetic.append(relative(qd @ M @ qd / 2 - energy, sizes.kinetic(qd)))
        gravity = np.asarray(evaluated(model, "gravity_torque", q), dtype=float)
        rise, pace = _rise(robot, q, qd), sizes.pace(qd)
        scale = sizes.gravity_torques @ speed + ROUNDED * pace * sizes.potential
        power.append(relative(gravity @ qd - rise, scale))
        C = np.asarray(evaluated(model, "coriolis_matrix", q, qd), dtype=float)
        rate = np.asarray(evaluated(model, "mass_matrix_rate", q, qd), dtype=float)
        skew.append(relative(rate - C - C.T, sizes.coriolis(qd) + sizes.coriolis(qd).T))
        tau = np.asarray(model.torques(q, qd, qdd), dtype=float)
        back_again = np.asarray(evaluated(model, "forward_dynamics", q, qd, tau), dtype=float)
        there.append(relative(back_again - qdd, sizes.accelerations(M, qd, qdd)))
    shares = "links and poses; no formulation"
    work.add("law", "½ qdᵀ M qd is the kinetic energy", "along the tree", kinetic, shares)
    work.add("law", "g · qd is the rate of potential energy", "along the tree", power, shares, SLOPE)
    work.add("law", "dM/dt = C + Cᵀ", "along the tree", skew, shares)
    work.add("law", "accelerations of torques of accelerations", "along the tree", there, shares)


def _rise(robot: Robot, q: Vector, qd: Vector) -> float:
    """The rate of the potential energy, by differences."""
    h = STEP / (magnitudes(robot, q).pace(qd) or 1.0)
    ahead, back = (
        energies.potential_energy(robot, q + sign * h * robot.position_rates(q, qd)) for sign in (1, -1)
    )
    return float((ahead - back) / (2 * h))


def _hold(work: _TreeWork, held: Iterator[Held]) -> None:
    for says, who, found, tolerance, shares, why in held:
        work.add("law", says, who, found, shares, tolerance, why)


def _compiled(work: _TreeWork, robot: Robot, quantity: str) -> None:
    """The quantity on every target, against the same quantity interpreted."""
    names = QUANTITIES[quantity].inputs
    rows = [
        dict(zip(("q", "qd", "qdd", "tau"), (*at, tau), strict=True))
        for at, tau in zip(work.states, work.torques, strict=True)
    ]
    inputs = [[np.asarray(row[name], dtype=float) for name in names] for row in rows]
    want = [np.asarray(evaluated(plain_model(robot), quantity, *mine), dtype=float) for mine in inputs]
    scales = [
        kernel_scale(magnitudes(robot, at[0]), plain_model(robot), quantity, at, w)
        for at, w in zip(work.states, want, strict=True)
    ]
    for target, tolerance, run in targets(robot, quantity):
        got = run([np.array(column) for column in zip(*inputs, strict=True)])
        found = [relative(g - w, scale) for g, w, scale in zip(got, want, scales, strict=True)]
        shares = "the walk along the tree; not the graph, its passes or the emitter"
        work.add("compiled", f"compiled {quantity} = interpreted", target, found, shares, tolerance)
