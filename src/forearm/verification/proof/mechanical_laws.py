"""Laws that the dynamics of any arm obeys, whoever computed it: no reference is needed.

Each law takes a `Subject` (somebody's torques and mass matrix, as black boxes), an arm and a state, and returns a
difference that must vanish with the magnitudes that are added up on the way, element by element (`magnitudes`), so
that each joint is judged by its own. Which laws catch which bugs was measured:
the popular ones (symmetric, positive) miss most; kinetic energy, skew symmetry, gravity on a tilted base and
tau = M qdd + bias with everything on are the ones that are needed together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from forearm import drives, energies, kinematics
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import ArmFault, StateFault
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive
from forearm.verification.proof.magnitudes import TOLERANCE, magnitudes

WEIGHTLESS = (0.0, 0.0, 0.0)
STEP = 4e-3
"""Step of the five-point differences, in radians or lengths of the robot: truncation and rounding are below 1e-9."""
ROUNDED = 1e-4
"""Share of what is differenced that joins the scale of its slope: its rounding, by the step and the tolerance."""
TILT = Pose.at((0.3, -0.2, 0.5), (0.7, -0.4, 1.1))
"""A base that is neither upright nor at the origin."""


class State(NamedTuple):
    """One state."""

    q: Vector
    qd: Vector
    qdd: Vector


@dataclass(frozen=True)
class Subject:
    """Somebody's dynamics, as black boxes."""

    name: str
    """Who."""
    torques: Callable[[Arm, Vector, Vector, Vector], Vector]
    """tau of arm, q, qd, qdd."""
    mass: Callable[[Arm, Vector], Matrix]
    """M of arm, q."""
    pushed: Callable[..., Vector] | None = None
    """tau with tip_wrench=, if it takes one."""
    accelerations: Callable[[Arm, Vector, Vector, Vector], Vector] | None = None
    """qdd of arm, q, qd, tau."""
    kept: dict[Any, Any] = field(default_factory=dict, compare=False)
    """Mass matrices that were asked for already."""

    def M(self, arm: Arm, q: Vector) -> Matrix:
        """The mass matrix, kept for the next law that asks."""
        key = (id(arm), q.tobytes())
        if key not in self.kept:
            self.kept[key] = (arm, np.asarray(self.mass(arm, q), dtype=float))
        return self.kept[key][1]  # type: ignore[no-any-return]

    def velocity_torques(self, arm: Arm, q: Vector, qd: Vector) -> Vector:
        """C qd alone."""
        return np.asarray(self.torques(_weightless(arm), q, qd, np.zeros(arm.n)), dtype=float)


Difference = tuple[Any, Any]
"""What must vanish, and the magnitudes to measure it by: of the same shape, or one for all."""


@dataclass(frozen=True)
class MechanicalLaw:
    """One law: what it says, how it is tested, how exact it must hold."""

    says: str
    """The law in words."""
    test: Callable[[Subject, Arm, State], Difference]
    """The difference that must vanish, and its scale."""
    tolerance: float
    """Relative to that scale."""
    shares: str
    """Code that both sides of it have in common."""


def symmetric(who: Subject, arm: Arm, at: State) -> Difference:
    """M = Mᵀ."""
    M = who.M(arm, at.q)
    return M - M.T, magnitudes(arm, at.q).mass


def positive(who: Subject, arm: Arm, at: State) -> Difference:
    """No direction has negative inertia, joints measured each by its own."""
    M, own = who.M(arm, at.q), np.sqrt(np.diag(magnitudes(arm, at.q).mass))
    scaled = (M + M.T) / 2 / np.maximum(np.outer(own, own), np.finfo(float).tiny)
    return min(0.0, float(np.min(np.linalg.eigvalsh(scaled)))), 1.0


def linear(who: Subject, arm: Arm, at: State) -> Difference:
    """tau(qdd) = M qdd + tau(0)."""
    tau, bias = who.torques(arm, *at), who.torques(arm, at.q, at.qd, np.zeros(arm.n))
    return tau - bias - who.M(arm, at.q) @ at.qdd, magnitudes(arm, at.q).torques(at.qd, at.qdd)


def quadratic(who: Subject, arm: Arm, at: State) -> Difference:
    """Twice the speed, four times the velocity torques."""
    once, twice = who.velocity_torques(arm, at.q, at.qd), who.velocity_torques(arm, at.q, 2 * at.qd)
    return twice - 4 * once, 4 * magnitudes(arm, at.q).velocity_torques(at.qd)


def skew(who: Subject, arm: Arm, at: State) -> Difference:
    """Mdot - 2C is skew for the C that velocity torques give by polarisation."""
    sizes = magnitudes(arm, at.q)
    pace = sizes.pace(at.qd)
    one, parts, rounded = who.velocity_torques(arm, at.q, at.qd), [], []
    for e in np.eye(arm.n):
        e = e * (pace / sizes.pace(e))  # as fast as the state, whatever the joint's unit
        both = who.velocity_torques(arm, at.q, at.qd + e)
        parts.append((both - who.velocity_torques(arm, at.q, e) - one) / np.sum(e) / 2)
        rounded.append((sizes.velocity_torques(at.qd) + sizes.velocity_torques(e)) / np.sum(e))
    rate = _slope_along(lambda q: who.M(arm, q), at.q, at.qd, pace)
    N = rate - 2 * np.array(parts).T
    scale = sizes.coriolis(at.qd) + ROUNDED * np.array(rounded).T
    return N + N.T, scale + scale.T + ROUNDED * pace * sizes.mass


def gravity(who: Subject, arm: Arm, at: State) -> Difference:
    """Torques at rest are the slope of the potential energy, which forward kinematics gives."""
    rest, sizes = np.zeros(arm.n), magnitudes(arm, at.q)
    weight = who.torques(arm, at.q, rest, rest)
    paces = np.array([sizes.pace(e) for e in np.eye(arm.n)])
    slope = [
        _slope_along(lambda q: energies.potential_energy(arm, q), at.q, e, pace)
        for e, pace in zip(np.eye(arm.n), paces, strict=True)
    ]
    return weight - np.array(slope), sizes.gravity_torques + ROUNDED * paces * sizes.potential


def gravity_on_a_tilted_base(who: Subject, arm: Arm, at: State) -> Difference:
    """The same when the base is tilted."""
    return gravity(who, tilted(arm), at)


def kinetic(who: Subject, arm: Arm, at: State) -> Difference:
    """½ vᵀ M v is the kinetic energy of the links as they fly."""
    M, sizes = who.M(arm, at.q), magnitudes(arm, at.q)
    speeds = [at.qd, *(at.qd + 2 * e for e in np.eye(arm.n)), *np.eye(arm.n)]
    ours = np.array([v @ M @ v / 2 for v in speeds])
    theirs = np.array([energies.kinetic_energy(arm, at.q, v) for v in speeds])
    return ours - theirs, np.array([sizes.kinetic(v) for v in speeds])


def power(who: Subject, arm: Arm, at: State) -> Difference:
    """The power of the torques is the rate of kinetic and potential energy, and what friction eats."""

    def energy(t: float) -> Any:
        q, qd = at.q + at.qd * t + at.qdd * t * t / 2, at.qd + at.qdd * t
        return energies.kinetic_energy(arm, q, qd) + energies.potential_energy(arm, q)

    sizes, speed = magnitudes(arm, at.q), np.abs(at.qd)
    pace = sizes.pace(at.qd) + np.sqrt(sizes.pace(at.qdd))
    given, taken = who.torques(arm, *at) @ at.qd, drives.dissipated_power(arm, at.qd)
    held = sizes.kinetic(at.qd) + sizes.potential
    scale = sizes.torques(at.qd, at.qdd) @ speed + ROUNDED * pace * held
    return given - taken - _slope(energy, pace), scale


def pushed(who: Subject, arm: Arm, at: State) -> Difference:
    """A wrench at the tip takes Jᵀ f off the torques."""
    wrench = np.array([3.0, -2.0, 5.0, 0.4, 1.0, -0.7])
    if who.pushed is None:
        raise StateFault(f"{who.name} takes no wrench; leave this law out.")
    upright = arm.replace(base=Pose(), gravity=WEIGHTLESS)
    tau = who.pushed(upright, at.q, at.qd, at.qdd, tip_wrench=wrench) - who.torques(upright, *at)
    J = kinematics.frame_jacobian(upright, at.q, "flange")
    sizes = magnitudes(upright, at.q)
    return tau + J.T @ wrench, sizes.pushed(wrench) + sizes.torques(at.qd, at.qdd)


def turned(who: Subject, arm: Arm, at: State) -> Difference:
    """Base and gravity turned together change nothing."""
    both = arm.replace(base=TILT @ arm.base, gravity=tuple(TILT.R @ np.array(arm.gravity)))
    apart = who.torques(both, *at) - who.torques(arm, *at)
    return apart, magnitudes(arm, at.q).torques(at.qd, at.qdd)


def round_trip(who: Subject, arm: Arm, at: State) -> Difference:
    """Forward dynamics undoes inverse dynamics."""
    if who.accelerations is None:
        raise StateFault(f"{who.name} gives no accelerations; leave this law out.")
    tau = who.torques(arm, *at)
    scale = magnitudes(arm, at.q).accelerations(who.M(arm, at.q), at.qd, at.qdd)
    return who.accelerations(arm, at.q, at.qd, tau) - at.qdd, scale


KINEMATICS = "forward kinematics and the links' numbers"
NOTHING = "nothing: one answer against itself"

LAWS = {
    "symmetric": MechanicalLaw("M is symmetric", symmetric, TOLERANCE, NOTHING),
    "positive": MechanicalLaw("M is positive", positive, TOLERANCE, NOTHING),
    "linear": MechanicalLaw("tau = M qdd + bias", linear, TOLERANCE, NOTHING),
    "quadratic": MechanicalLaw("c(2 qd) = 4 c(qd)", quadratic, TOLERANCE, NOTHING),
    "skew": MechanicalLaw("Mdot - 2C is skew", skew, 1e-8, NOTHING),
    "gravity": MechanicalLaw("g is the slope of potential energy", gravity, 1e-8, KINEMATICS),
    "tilted": MechanicalLaw(
        "g is the slope of potential energy, base tilted", gravity_on_a_tilted_base, 1e-8, KINEMATICS
    ),
    "kinetic": MechanicalLaw("½ vᵀMv is the kinetic energy of the links", kinetic, TOLERANCE, KINEMATICS),
    "power": MechanicalLaw("power in = rate of energy + friction", power, 1e-7, KINEMATICS),
    "pushed": MechanicalLaw("a wrench takes Jᵀf off the torques", pushed, TOLERANCE, KINEMATICS),
    "turned": MechanicalLaw("base and gravity turned together change nothing", turned, TOLERANCE, NOTHING),
    "round_trip": MechanicalLaw("forward dynamics undoes inverse dynamics", round_trip, TOLERANCE, NOTHING),
}
"""All laws by a short name."""
RIGID_LAWS = (
    "symmetric",
    "positive",
    "linear",
    "quadratic",
    "skew",
    "gravity",
    "tilted",
    "kinetic",
    "power",
    "pushed",
    "turned",
)
"""Laws of somebody's rigid-body torques."""
MASS_LAWS = ("symmetric", "positive", "kinetic")
"""Laws of a mass matrix alone."""
FULL_LAWS = ("symmetric", "positive", "linear", "kinetic", "power", "round_trip")
"""Laws of the user's functions, every term on."""
USER = "user functions, rotors, friction and payload on"
"""What those are called in a proof."""


@lru_cache(maxsize=32)
def tilted(arm: Arm) -> Arm:
    """The arm on a tilted base, under gravity."""
    pull = arm.gravity if any(arm.gravity) else (0.0, 0.0, -9.81)
    return arm.replace(base=TILT, gravity=pull)


def with_everything_on(arm: Arm) -> Arm:
    """The arm with rotors, friction, a payload and a tilted base, so that no term can hide."""
    links = []
    for i, link in enumerate(arm.links):
        drive = Drive(0.02 + 0.01 * i, 3.0 + i, "motor", 0.3 + 0.1 * i, (0.4, 0.5 + 0.1 * i), smoothing=0.1)
        links.append(link.replace(drive=drive))
    loaded = tilted(arm.replace(links=tuple(links)))
    mass = 0.1 + 0.05 * float(arm.total_mass)
    try:
        hand = getattr(arm, "tips", ("flange",))[0]
        return loaded.with_payload(mass, (0.03, -0.05, 0.1), Inertia.sphere(mass, 0.05), frame=hand)
    except ArmFault:  # a declared defect of the last link can make the sum impossible in a new way
        return loaded


@lru_cache(maxsize=32)
def _weightless(arm: Arm) -> Arm:
    return arm.replace(gravity=WEIGHTLESS)


def _slope(f: Callable[[float], Any], pace: float) -> Any:
    """f'(0) by five points, for what changes at this pace."""
    h = STEP / (pace or 1.0)
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def _slope_along(f: Callable[[Vector], Any], q: Vector, direction: Vector, pace: float) -> Any:
    """The derivative of f at q along a direction."""
    return _slope(lambda t: f(q + t * direction), pace)
