"""Every way to compute a quantity of an arm: the registry's formulations, strobing, other libraries.

A source is a name and a function of an arm and a `State`. `values` runs all of them on one arm, once.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from agreement import libraries
from arms import golden_arm, random_arm, seed_of
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.readers import known_arms, load
from forearm.strobing import strobe, torques_of

WITH_WRENCH = "joint_torques with a wrench on the hand"
QUANTITIES = {
    "joint_torques": ("q", "qd", "qdd"),
    WITH_WRENCH: ("q", "qd", "qdd"),
    "reactions": ("q", "qd", "qdd"),
    "mass_matrix": ("q",),
    "christoffel": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "gravity_torque": ("q",),
    "joint_accelerations": ("q", "qd", "tau"),
}
"""What can be compared, and what it is a function of. Each is compared where two sources give it."""

WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])


@dataclass(frozen=True)
class State:
    """One state, and a torque to accelerate the arm with."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray

    def of(self, quantity):
        """The arguments of a quantity, after the arm."""
        return [getattr(self, name) for name in QUANTITIES[quantity]]


def gives(stem, quantity):
    """Whether a formulation gives the quantity (torques with a wrench: whoever gives torques)."""
    return ("joint_torques" if quantity == WITH_WRENCH else quantity) in FORMULATIONS[stem].gives


def formulation(stem, quantity):
    """The quantity of a formulation as a function of an arm and the arguments."""
    if quantity == "joint_torques":
        return torques_of(stem)
    if quantity == WITH_WRENCH:
        return lambda arm, *state: torques_of(stem)(arm, *state, tip_wrench=WRENCH)
    if quantity == "reactions":
        return lambda arm, *state: np.array(FORMULATIONS[stem].reactions(arm, *state, tip_wrench=WRENCH))
    return getattr(FORMULATIONS[stem], quantity)


def strobed(quantity):
    """What strobing makes of the default formulation, or None."""
    return {
        "mass_matrix": lambda arm, q: strobe(arm, q).M,
        "christoffel": lambda arm, q: strobe(arm, q).C,
        "coriolis_matrix": lambda arm, q, qd: strobe(arm, q).C @ qd,
        "gravity_torque": lambda arm, q: strobe(arm, q).g,
        "joint_accelerations": lambda arm, q, qd, tau: np.linalg.solve(
            strobe(arm, q).M, tau - torques_of("luh_walker_paul_1980")(arm, q, qd, 0 * q)
        ),
    }.get(quantity)


def sources(arm, quantity):
    """Name and function of everything that gives the quantity for this arm."""
    found = {
        stem: formulation(stem, quantity)
        for stem, row in FORMULATIONS.items()
        if gives(stem, quantity) and row.accepts(arm)
    }
    if strobed(quantity):
        found["strobing"] = strobed(quantity)
    return found | libraries.sources(arm, quantity)


# -- arms ------------------------------------------------------------------------------------------------

# joints, kinds, general poses, flipped joints, payload
RANDOM = (
    (1, "R", False, False, False),
    (1, "P", True, True, False),
    (2, "RP", False, False, True),
    (3, "PRR", True, False, False),
    (4, "RRRP", False, True, False),
    (4, "PPPP", True, False, False),
    (5, "RP", True, True, True),
    (6, "R", False, False, False),
    (6, "R", True, True, True),
    (7, "RP", False, True, False),
    (8, "R", True, False, False),
    (10, "RP", True, True, True),
)


def swept(seed):
    """Row `seed` of the long sweep: every number of joints, every option, again and again."""
    kinds = ("R", "RP", "PR", "RRP", "P" + "R" * 9, "R" * 9 + "P")[seed % 6]
    n = 1 + seed % 10 if len(kinds) < 10 else 10
    return n, kinds, seed % 2 == 0, seed % 3 == 0, seed % 4 == 0


def random_name(row, seed):
    """A name that says what the arm is, and how to make it again."""
    n, kinds, general, flips, payload = row
    words = (
        ("general" if general else "dh"),
        *(("flips",) if flips else ()),
        *(("payload",) if payload else ()),
    )
    return " ".join((f"random {n} {kinds}", *words, f"seed {seed}"))


ROWS = {random_name(row, seed): (row, seed) for seed, row in enumerate(RANDOM)}
LONG = {random_name(swept(seed), seed): (swept(seed), seed) for seed in range(100, 200)}
BUILT_IN = tuple(name for name in known_arms() if load(name).dynamics)


@cache
def arm_named(name):
    """The arm behind a name: golden, built in, or random."""
    if name in ("G6R", "STAN"):
        return golden_arm(name)
    if name in BUILT_IN:
        return load(name).without_drives()
    (n, kinds, general, flips, payload), seed = (ROWS | LONG)[name]
    arm = random_arm(n, seed, kinds, general=general, flips=flips)
    if not payload:
        return arm
    return arm.with_payload(1.7, (0.1, -0.2, 0.15), Inertia.box(1.7, 0.2, 0.1, 0.3), frame="tool")


@cache
def state_named(name):
    """The state in which an arm is compared; every third one is fast, every fourth at the ends of a turn."""
    arm, seed = arm_named(name), seed_of(name)
    q, qd, qdd = arm.random_state(seed)
    if seed % 3 == 0:
        qd = 1e3 * qd
    if seed % 4 == 0:
        q = np.sign(q) * np.pi
    return State(q, qd, qdd, torques_of("luh_walker_paul_1980")(arm, q, qd, qdd))


@cache
def values(name, quantity):
    """The quantity of a named arm, from every source."""
    arm, state = arm_named(name), state_named(name)
    return {
        who: np.asarray(function(arm, *state.of(quantity)), dtype=float)
        for who, function in sources(arm, quantity).items()
    }
