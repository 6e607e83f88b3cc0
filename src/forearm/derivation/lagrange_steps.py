"""From the Lagrangian to the torques, step by step: what a person writes who does it by hand.

For each link the place and velocity of its centre of mass, its angular velocity, T and V; then T, V and L of the
arm; then for each joint ∂L/∂qd, its rate, ∂L/∂q and their difference, the torque. M is not used: velocities are
derivatives of places, so the torques found here are a second way to those of `derive`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm import faults
from forearm.algebra import Vector, product
from forearm.derivation.closed_form import expressions, from_torques
from forearm.derivation.expressions.expression import Expression
from forearm.derivation.texts.lagrange_pages import lagrange_latex, lagrange_markdown, lagrange_text
from forearm.kinematics import link_poses

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

MOST_TERMS = 200
"""Terms of M, Christoffel symbols and g up to which the steps can be followed by a reader."""


@dataclass(frozen=True)
class LinkEnergy:
    """What one link contributes, in world axes but for the angular velocity."""

    center: Vector
    """Place of the centre of mass (3,)."""
    velocity: Vector
    """Velocity of the centre of mass (3,)."""
    speed_squared: Expression
    """Its square."""
    angular_velocity: Vector
    """Angular velocity (3,), axes of the link."""
    T: Expression
    """Kinetic energy ½ m v² + ½ ω·I ω."""
    V: Expression
    """Potential energy -m g·p, zero at the world's origin."""


@dataclass(frozen=True)
class LagrangeSteps:
    """tau_i = d/dt ∂L/∂qd_i - ∂L/∂q_i with everything on the way. Made by `Equations.lagrange_steps`."""

    equations: "Equations"
    """The closed form that these steps lead to."""
    links: tuple[LinkEnergy, ...]
    """Link by link."""
    T: Expression
    """Kinetic energy of the arm."""
    V: Expression
    """Potential energy of the arm."""
    L: Expression
    """The Lagrangian T - V."""
    dL_dqd: Vector
    """∂L/∂qd_i (n,): generalised momenta."""
    rates: Vector
    """d/dt ∂L/∂qd_i (n,)."""
    dL_dq: Vector
    """∂L/∂q_i (n,)."""
    tau: Vector
    """rates - dL_dq (n,): the torques."""

    @cached_property
    def equal(self) -> bool:
        """Whether the torques are those of the closed form, term by term (to round-off where numbers are floats)."""
        scale = max(x.largest for x in self.tau)
        differences = (a - b for a, b in zip(self.tau, self.equations.tau, strict=True))
        return all(d.without_roundoff(scale, 1e-12).is_zero for d in differences)

    @cached_property
    def collected(self) -> "Equations":
        """The torques taken apart: what multiplies each acceleration and each product of speeds, and the rest."""
        old = self.equations
        d = from_torques(self.tau, old.ring, old.speeds, old.accelerations)
        return replace(old, M=d.M, christoffel=d.christoffel, g=d.g)

    def to_text(self) -> str:
        """Every step as plain text."""
        return lagrange_text(self)

    def to_latex(self, document: bool = False) -> str:
        """Every step in LaTeX (amsmath); with `document`, a page that compiles by itself."""
        return lagrange_latex(self, document)

    def to_markdown(self) -> str:
        """Every step as a report for places that show formulas."""
        return lagrange_markdown(self)

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__


def lagrange_steps(equations: "Equations") -> LagrangeSteps:
    """Take the steps for an arm that `derive` has read; refused where nobody could read them."""
    _refuse(equations)
    links = _links(equations)
    T, V = (_clean(sum((getattr(x, name) for x in links[1:]), getattr(links[0], name))) for name in "TV")
    L = _clean(T - V)
    dL_dqd = _array([L.derivative(qd) for qd in equations.speeds])
    rates = _array([_clean(_rate(equations, x)) for x in dL_dqd])
    dL_dq = _array([L.derivative(q) for q in equations.coordinates])
    tau = _array([_clean(x) for x in rates - dL_dq])
    return LagrangeSteps(equations, links, T, V, L, dL_dqd, rates, dL_dq, tau)


def _refuse(equations: "Equations") -> None:
    name = equations.arm.name
    if equations.groupings:
        raise faults.StateFault(
            f"derive: steps with group=True for arm {name!r}; base parameters belong to no body whose energies "
            "could be written. Leave group out."
        )
    if equations.size > MOST_TERMS:
        raise faults.StateFault(
            f"derive: the equations of arm {name!r} have {equations.size} terms, and steps are written for up to "
            f"{MOST_TERMS}: what L and its derivatives would fill, nobody could follow. Take fewer joints, or numbers "
            "in place of letters; without steps, derive gives the equations themselves."
        )


def _links(equations: "Equations") -> tuple[LinkEnergy, ...]:
    arm, ring, half = equations.read_arm, equations.ring, equations.ring.trigonometry.half
    poses = link_poses(arm, np.array(equations.q, dtype=object))[1:]
    found = []
    for link, (R, p), (_, J_w) in zip(arm.links, poses, equations.jacobians, strict=True):
        m, r, tensor = link.about_com
        center = expressions(ring, p + product(R, r))
        velocity = expressions(ring, [_speed(equations, x) for x in center])
        turning = product(J_w, _array([ring.generator(name) for name in equations.speeds]))
        w = expressions(ring, product(R.T.astype(object), turning))
        squared = _clean(expressions(ring, [velocity @ velocity])[0])
        spin = expressions(ring, [w @ product(tensor.astype(object), w)])[0]
        T = expressions(ring, [(squared * m + spin) * half])[0]
        V = expressions(ring, [-(np.array(arm.gravity, dtype=object) @ center) * m])[0]
        found.append(LinkEnergy(center, velocity, squared, w, _clean(T), _clean(V)))
    return tuple(found)


def _speed(equations: "Equations", x: Expression) -> Any:
    """The rate of a function of the coordinates alone."""
    total: Any = 0
    for q, qd in zip(equations.coordinates, equations.speeds, strict=True):
        total = x.derivative(q) * equations.ring.generator(qd) + total
    return total


def _rate(equations: "Equations", x: Expression) -> Expression:
    """The rate of a function of coordinates and speeds, by the chain rule."""
    total: Expression = _speed(equations, x)
    for qd, qdd in zip(equations.speeds, equations.accelerations, strict=True):
        total = total + x.derivative(qd) * equations.ring.generator(qdd)
    return total


def _clean(x: Expression) -> Expression:
    """Without terms at the level of round-off (floats only), quotients cancelled."""
    return x.reduced().without_roundoff(x.largest)


def _array(items: list[Expression]) -> Vector:
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out
