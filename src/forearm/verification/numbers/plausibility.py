"""check: questions the numbers of an arm. Wrong numbers obey every law, so only their plausibility can tell.

Errors are impossible (no body has such numbers), warnings hardly so, notes worth knowing. Each finding names the
link, the value, what it was held against, and the likely slip, which has been tried where that is possible.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from forearm import drives
from forearm.algebra import is_number
from forearm.arm import Arm
from forearm.chain_cuts import paths
from forearm.compiler.model.chosen_model import plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.faults import ArmFault, Seed, explained, unit_doubts
from forearm.outside.option_names import option
from forearm.robot import Robot
from forearm.verification.numbers.doubts import Sizes, base_doubts, body_doubts, finding
from forearm.verification.numbers.findings import LEVELS, Finding, Report
from forearm.verification.numbers.misread_bodies import misread
from forearm.verification.numbers.sampled_motion import weights_and_matrices

FAMILY = 100.0
"""How many times the median a mass may be."""
LONG, RAIL = 50.0, 20.0
"""Reach of an arm beyond which metres are doubted, and travel of a slide that counts as its length [m]."""
EXACT, NEARLY = 1e-14, 2e-3
"""Sines between these are those of right angles written with two to a dozen digits."""
ILL, SINGULAR = 1e8, 1e13
"""Condition of M (scaled to a unit diagonal) for a warning and for an error."""
SAMPLES, FEWEST, FEW_JOINTS = 40, 4, 50
"""Positions that are looked at: of arms with more joints fewer, M grows with their square."""


@explained
def check(arm: Arm | Robot, *, seed: Seed = 0) -> Report:
    """Question the numbers of an arm: a report of findings, errors first.

    Args:
        arm: The arm or robot, numbers only; without masses only its lengths and limits are looked at.
        seed: Which positions are sampled for M and gravity.
    """
    if not all(
        is_number(x) for link in arm.links for x in (link.mass, *link.com, *link.pose.translation, link.d)
    ):
        raise ArmFault(f"arm {arm.name!r} has symbols; check questions numbers. Put values in first.")
    sizes = _sizes(arm)
    found = [*_lengths(arm, sizes), *_units(arm), *_right_angles(arm), *_gravity(arm)]
    facts = [("reach", f"{sizes.reach:.3g} m")]
    if arm.dynamics:
        if isinstance(arm, Robot) and arm.free:
            found += base_doubts(arm)
        for i, link in enumerate(arm.links):
            found += body_doubts(arm, i, link, sizes)
        found += [*misread(arm), *_masses(arm), *_repeated(arm), *_motion(arm, seed, facts)]
        facts.insert(0, ("total mass", f"{float(arm.total_mass):.4g} kg"))
    found.sort(key=lambda doubt: LEVELS.index(doubt.level))
    return Report(arm.name, tuple(found), tuple(facts))


def _sizes(arm: Arm | Robot) -> Sizes:
    lengths = []
    for link in arm.links:
        low, high = link.limits or (0.0, 0.0)
        travel = max(abs(low), abs(high)) if link.prismatic and high - low <= RAIL else 0.0
        lengths.append(
            float(np.linalg.norm(np.array(link.pose.translation, dtype=float) + [0, 0, link.d])) + travel
        )
    if isinstance(arm, Robot):
        lengths = [
            own + float(np.linalg.norm(x.translation)) for own, x in zip(lengths, arm.mounts, strict=True)
        ]
        reach = max((sum(lengths[i - 1] for i in path) for path in paths(arm.parents)), default=0.0)
    else:
        reach = sum(lengths) + float(np.linalg.norm(np.array(arm.tool.translation, dtype=float)))
    if not lengths:
        return Sizes((), 1.0)
    far = [float(np.linalg.norm(np.array(link.com, dtype=float))) for link in arm.links]
    lengths[-1] = max(lengths[-1], far[-1])  # the last link may carry a hand of any size
    return Sizes(tuple(lengths), reach if reach > 0 else max(far))


# -- lengths, angles, gravity --------------------------------------------------------------------------------


def _lengths(arm: Arm | Robot, sizes: Sizes) -> Iterator[Finding]:
    if sizes.reach > LONG:
        worst = int(np.argmax(sizes.lengths))
        fix = f"Millimetres? Divided by 1000 the arm reaches {sizes.reach / 1000:.3g} m."
        yield finding(
            "warning",
            "units",
            arm,
            worst,
            f"the arm reaches {sizes.reach:.4g} m",
            f"arms reach less than {LONG:g} m",
            fix,
        )


def _units(arm: Arm | Robot) -> Iterator[Finding]:
    """What an arm's notes ask about its units."""
    for doubt in unit_doubts(arm):
        place = None if doubt.link is None else doubt.link - 1
        yield finding("warning", "units", arm, place, doubt.given, "units are SI and radians", doubt.ask)


def _right_angles(arm: Arm | Robot) -> Iterator[Finding]:
    """Directions that are nearly, but not exactly, at right angles: their small numbers cost operations."""
    for i, link in enumerate(arm.links):
        small = [abs(float(x)) for row in link.pose.rotation for x in row if is_number(x)]
        near = [x for x in small if EXACT < x < NEARLY]
        if near:
            yield finding(
                "note",
                "right_angle",
                arm,
                i,
                f"its axes are {max(near):.2g} rad from right angles",
                "a right angle has exact zeros",
                f"Written with few digits? {option('right_angles', '1e-3')} snaps them in URDF and MJCF, in TOML "
                "pi/2 in quotes is exact; kernels need up to 40 % fewer operations then. Measured so? Then leave it.",
            )


def _gravity(arm: Arm | Robot) -> Iterator[Finding]:
    size = math.sqrt(sum(float(x) ** 2 for x in arm.gravity))
    if size == 0:
        yield finding(
            "note",
            "gravity",
            arm,
            None,
            "gravity is zero",
            "on Earth it is 9.81 m/s²",
            "Meant so? Give gravity=(0, 0, -9.81).",
        )
    elif not 9.7 < size < 9.9:
        yield finding(
            "note",
            "gravity",
            arm,
            None,
            f"gravity is {size:g} m/s²",
            "on Earth it is 9.81",
            "Another planet, or another unit?",
        )
    x, y, z = (float(c) for c in arm.gravity)
    if z > 0 and x == 0 and y == 0:
        yield finding(
            "warning",
            "gravity",
            arm,
            None,
            f"gravity (0, 0, {z:g}) points up",
            "things fall down, (0, 0, -9.81)",
            "Is the arm hanging from the ceiling? Then turn the base (with_base). Otherwise mind the sign.",
        )


# -- masses ------------------------------------------------------------------------------------------------


def _masses(arm: Arm | Robot) -> Iterator[Finding]:
    masses = np.array([float(link.mass) for link in arm.links])
    real = masses[masses > 0]
    if len(real) < 2:
        return
    median = float(np.median(real))
    for i, mass in enumerate(masses):
        if mass > FAMILY * median:
            fix = f"Grams? Divided by 1000 it is {mass / 1000:.3g} kg."
            yield finding(
                "warning",
                "mass",
                arm,
                i,
                f"mass is {mass:g} kg",
                f"the median of the links is {median:.3g} kg",
                fix,
            )
        elif 0 < mass < median / (10 * FAMILY):
            yield finding(
                "note",
                "mass",
                arm,
                i,
                f"mass is {mass:g} kg",
                f"the median of the links is {median:.3g} kg",
                "A frame with a dummy mass?",
            )


def _repeated(arm: Arm | Robot) -> Iterator[Finding]:
    """Links one after the other with the same mass and tensor: placeholders of an exporter. Legs may be alike."""
    ways = paths(arm.parents)
    seen: dict[Any, list[int]] = {}
    for i, link in enumerate(arm.links):
        mass, _, tensor = link.about_com
        if mass > 0:
            key = (round(float(mass), 12), *np.round(np.linalg.eigvalsh(np.array(tensor, dtype=float)), 12))
            seen.setdefault(key, []).append(i)
    for (mass, *moments), links in seen.items():
        if any(len({i + 1 for i in links}.intersection(way)) > 2 for way in ways):
            names = ", ".join(arm.links[i].name for i in links)
            value = f"{names} have the same mass {mass:g} kg and principal moments {tuple(float(m) for m in moments)}"
            yield finding(
                "warning",
                "placeholder",
                arm,
                links[0],
                value,
                "links differ",
                "Numbers of an exporter that knew none?",
            )


# -- the arm in motion ---------------------------------------------------------------------------------------


def _motion(arm: Arm | Robot, seed: Seed, facts: list[tuple[str, str]]) -> Iterator[Finding]:
    """M and gravity over the workspace."""
    if isinstance(arm, Robot):
        yield from _tree_motion(arm, seed, facts)
        return
    count = _positions(arm)
    q, _, _ = arm.random_state(seed, (count,))
    q = np.where(np.abs(q) > 2 * math.pi, np.fmod(q, 2 * math.pi), q)
    weights, matrices = weights_and_matrices(arm, q)
    matrices = matrices + np.diag(drives.rotor_inertias(arm).astype(float))
    worst = np.max(np.abs(weights), axis=0)
    shown = ", ".join("0" if w < 1e-12 * np.max(worst) else f"{w:.3g}" for w in worst)
    facts.append((f"gravity torques at {count} random positions, at most", shown))
    yield from _condition(arm, matrices, facts)
    for i, link in enumerate(arm.links):
        if link.effort_limit and worst[i] > link.effort_limit:
            fix = "Is the limit of the motor, not of the joint? Is the mass too large?"
            unit = "N m" if link.revolute else "N"
            yield finding(
                "warning",
                "effort",
                arm,
                i,
                f"gravity alone needs {worst[i]:.3g} {unit}",
                f"the limit is {link.effort_limit:g} {unit}",
                fix,
            )


def _positions(arm: Arm | Robot) -> int:
    """How many positions of an arm are looked at."""
    return min(SAMPLES, max(FEWEST, SAMPLES * FEW_JOINTS // max(len(arm.links), 1)))


def _tree_motion(robot: Robot, seed: Seed, facts: list[tuple[str, str]]) -> Iterator[Finding]:
    """Gravity at the joints of a robot, and M where each joint has its own row of it."""
    count = _positions(robot)
    q, _, _ = robot.random_state(seed, (count,))
    model, before = plain_model(robot), robot.nv - robot.n
    weights = np.array([evaluated(model, "gravity_torque", x) for x in q], dtype=float)[:, before:]
    worst = np.max(np.abs(weights), axis=0, initial=0.0)
    facts.append((f"largest gravity torque at {count} random positions", f"{np.max(worst, initial=0.0):.3g}"))
    if not robot.couplings and not robot.free:
        yield from _condition(
            robot, np.array([evaluated(model, "mass_matrix", x) for x in q], dtype=float), facts
        )  # type: ignore[arg-type]
    for link, weight in zip(robot.state_links, worst, strict=True):
        if link.effort_limit and weight > link.effort_limit:
            unit, i = "N m" if link.revolute else "N", robot.links.index(link)
            value, limit = (
                f"gravity alone needs {weight:.3g} {unit}",
                f"the limit is {link.effort_limit:g} {unit}",
            )
            fix = "Is the limit of the motor, not of the joint? Is the mass too large?"
            yield finding("warning", "effort", robot, i, value, limit, fix)  # type: ignore[arg-type]


def _condition(arm: Arm | Robot, matrices: Any, facts: list[tuple[str, str]]) -> Iterator[Finding]:
    diagonals = np.array([np.diag(M) for M in matrices])
    for i in np.flatnonzero(np.max(np.abs(diagonals), axis=0) <= 1e-14 * np.max(np.abs(diagonals))):
        fix = (
            "Give the link beyond it a mass, or the joint a rotor inertia: forward dynamics divides by this."
        )
        yield finding(
            "error", "singular", arm, int(i), "the joint moves no inertia at all", "M has to be positive", fix
        )
    if np.any(diagonals <= 0):
        return
    roots = np.sqrt(diagonals)  # one after the other: the product of two next to nothing would be nothing
    scaled = [M / r[:, None] / r for M, r in zip(matrices, roots, strict=True)]
    spectra = [np.linalg.eigvalsh(M) for M in scaled]
    conditions = [float(np.max(np.abs(w)) / max(np.min(np.abs(w)), 1e-300)) for w in spectra]
    worst = max(conditions)
    facts.append(("worst condition of M, scaled", f"{worst:.3g}"))
    if worst > ILL:
        level = "error" if worst > SINGULAR else "warning"
        M = scaled[conditions.index(worst)]
        blind = int(np.argmax(np.abs(np.linalg.eigh(M)[1][:, 0])))
        fix = (
            f"Joint {arm.links[blind].name!r} moves next to no inertia: a massless link, or a missing rotor?"
        )
        yield finding(
            level,
            "condition",
            arm,
            blind,
            f"the condition of M reaches {worst:.2g}",
            f"{ILL:g} loses half the digits",
            fix,
        )
