"""Laws that the dynamics of any arm obeys, whoever computed it: no reference is needed.

Each law takes a `Subject` (somebody's torques and mass matrix, as black boxes), an arm and a state, and returns a
difference that must vanish with the largest magnitude met on the way. Which laws catch which bugs was measured:
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

WEIGHTLESS = (0.0, 0.0, 0.0)
STEP = 2e-3
"""Step of the five-point differences: truncation and rounding are both below 1e-11."""
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


Difference = tuple[Any, float]


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
    return M - M.T, _size(M)


def positive(who: Subject, arm: Arm, at: State) -> Difference:
    """No direction has negative inertia."""
    M = who.M(arm, at.q)
    return min(0.0, float(np.min(np.linalg.eigvalsh((M + M.T) / 2)))), _size(M)


def linear(who: Subject, arm: Arm, at: State) -> Difference:
    """tau(qdd) = M qdd + tau(0)."""
    tau, bias = who.torques(arm, *at), who.torques(arm, at.q, at.qd, np.zeros(arm.n))
    inertial = who.M(arm, at.q) @ at.qdd
    return tau - bias - inertial, _size(tau, bias, inertial)


def quadratic(who: Subject, arm: Arm, at: State) -> Difference:
    """Twice the speed, four times the velocity torques."""
    once, twice = who.velocity_torques(arm, at.q, at.qd), who.velocity_torques(arm, at.q, 2 * at.qd)
    return twice - 4 * once, _size(twice, _size(who.M(arm, at.q)) * _size(at.qd) ** 2)


def skew(who: Subject, arm: Arm, at: State) -> Difference:
    """Mdot - 2C is skew for the C that velocity torques give by polarisation."""
    c = [
        who.velocity_torques(arm, at.q, at.qd + e) - who.velocity_torques(arm, at.q, e) for e in np.eye(arm.n)
    ]
    C = (np.array(c) - who.velocity_torques(arm, at.q, at.qd)).T / 2
    rate = _slope_along(lambda q: who.M(arm, q), at.q, at.qd)
    N = rate - 2 * C
    return N + N.T, _size(rate, C, _size(who.M(arm, at.q)) * _size(at.qd))


def gravity(who: Subject, arm: Arm, at: State) -> Difference:
    """Torques at rest are the slope of the potential energy, which forward kinematics gives."""
    rest = np.zeros(arm.n)
    weight = who.torques(arm, at.q, rest, rest)
    slope = [_slope_along(lambda q: energies.potential_energy(arm, q), at.q, e) for e in np.eye(arm.n)]
    return weight - np.array(slope), _size(weight, slope, _pull(arm))


def gravity_on_a_tilted_base(who: Subject, arm: Arm, at: State) -> Difference:
    """The same when the base is tilted."""
    return gravity(who, tilted(arm), at)


def kinetic(who: Subject, arm: Arm, at: State) -> Difference:
    """½ vᵀ M v is the kinetic energy of the links as they fly."""
    M = who.M(arm, at.q)
    speeds = [at.qd, *(at.qd + 2 * e for e in np.eye(arm.n)), *np.eye(arm.n)]
    ours = np.array([v @ M @ v / 2 for v in speeds])
    theirs = np.array([energies.kinetic_energy(arm, at.q, v) for v in speeds])
    return ours - theirs, _size(ours, theirs)


def power(who: Subject, arm: Arm, at: State) -> Difference:
    """The power of the torques is the rate of kinetic and potential energy, and what friction eats."""

    def energy(t: float) -> Any:
        q, qd = at.q + at.qd * t + at.qdd * t * t / 2, at.qd + at.qdd * t
        return energies.kinetic_energy(arm, q, qd) + energies.potential_energy(arm, q)

    tau = who.torques(arm, *at)
    given, taken = tau @ at.qd, drives.dissipated_power(arm, at.qd)
    return given - taken - _slope(energy), _size(tau) * _size(at.qd) + _size(_pull(arm))


def pushed(who: Subject, arm: Arm, at: State) -> Difference:
    """A wrench at the tip takes Jᵀ f off the torques."""
    wrench = np.array([3.0, -2.0, 5.0, 0.4, 1.0, -0.7])
    if who.pushed is None:
        raise StateFault(f"{who.name} takes no wrench; leave this law out.")
    upright = arm.replace(base=Pose(), gravity=WEIGHTLESS)
    tau = who.pushed(upright, at.q, at.qd, at.qdd, tip_wrench=wrench) - who.torques(upright, *at)
    J = kinematics.frame_jacobian(upright, at.q, "flange")
    return tau + J.T @ wrench, _size(J.T @ wrench, who.torques(upright, *at))


def turned(who: Subject, arm: Arm, at: State) -> Difference:
    """Base and gravity turned together change nothing."""
    both = arm.replace(base=TILT @ arm.base, gravity=tuple(TILT.R @ np.array(arm.gravity)))
    ours = who.torques(arm, *at)
    return who.torques(both, *at) - ours, _size(ours, _pull(arm))


def round_trip(who: Subject, arm: Arm, at: State) -> Difference:
    """Forward dynamics undoes inverse dynamics."""
    if who.accelerations is None:
        raise StateFault(f"{who.name} gives no accelerations; leave this law out.")
    tau = who.torques(arm, *at)
    inverse = float(np.linalg.norm(np.linalg.inv(who.M(arm, at.q)), 2))
    return who.accelerations(arm, at.q, at.qd, tau) - at.qdd, max(_size(at.qdd), inverse * _size(tau))


KINEMATICS = "forward kinematics and the links' numbers"
NOTHING = "nothing: one answer against itself"

LAWS = {
    "symmetric": MechanicalLaw("M is symmetric", symmetric, 1e-11, NOTHING),
    "positive": MechanicalLaw("M is positive", positive, 1e-11, NOTHING),
    "linear": MechanicalLaw("tau = M qdd + bias", linear, 1e-11, NOTHING),
    "quadratic": MechanicalLaw("c(2 qd) = 4 c(qd)", quadratic, 1e-11, NOTHING),
    "skew": MechanicalLaw("Mdot - 2C is skew", skew, 1e-8, NOTHING),
    "gravity": MechanicalLaw("g is the slope of potential energy", gravity, 1e-8, KINEMATICS),
    "tilted": MechanicalLaw(
        "g is the slope of potential energy, base tilted", gravity_on_a_tilted_base, 1e-8, KINEMATICS
    ),
    "kinetic": MechanicalLaw("½ vᵀMv is the kinetic energy of the links", kinetic, 1e-11, KINEMATICS),
    "power": MechanicalLaw("power in = rate of energy + friction", power, 1e-7, KINEMATICS),
    "pushed": MechanicalLaw("a wrench takes Jᵀf off the torques", pushed, 1e-10, KINEMATICS),
    "turned": MechanicalLaw("base and gravity turned together change nothing", turned, 1e-10, NOTHING),
    "round_trip": MechanicalLaw("forward dynamics undoes inverse dynamics", round_trip, 1e-10, NOTHING),
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


def _slope(f: Callable[[float], Any]) -> Any:
    """f'(0) by five points."""
    return (f(-2 * STEP) - 8 * f(-STEP) + 8 * f(STEP) - f(2 * STEP)) / (12 * STEP)


def _slope_along(f: Callable[[Vector], Any], q: Vector, direction: Vector) -> Any:
    """The derivative of f at q along a direction."""
    return _slope(lambda t: f(q + t * direction))


def _size(*values: Any) -> float:
    """The largest magnitude."""
    return max(float(np.max(np.abs(value), initial=0.0)) for value in values)


def _pull(arm: Arm) -> float:
    """A torque that gravity could have on this arm, seen from the world's origin: weight times reach."""
    reach = sum(float(np.linalg.norm(link.pose.p)) + abs(float(link.d)) for link in arm.links)
    reach += max(float(np.linalg.norm(link.com)) for link in arm.links) + float(np.linalg.norm(arm.base.p))
    return float(arm.total_mass) * float(np.linalg.norm(arm.gravity)) * reach
