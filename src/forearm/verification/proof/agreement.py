"""Every formulation against every other, and against the oracle that shares no code with them.

Each quantity is computed by all that give it. A formulation is held against the median of them all, so that the
odd one is named; the median is held against the oracle, so that a common error shows.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.formulations import FORMULATIONS
from forearm.strobing import torques_of
from forearm.verification.proof import oracle
from forearm.verification.proof.magnitudes import Magnitudes

WORDS = {
    "joint_torques": "torques",
    "mass_matrix": "mass matrix",
    "christoffel": "Christoffel symbols",
    "coriolis_matrix": "Coriolis matrix",
    "gravity_torque": "gravity torques",
    "joint_accelerations": "accelerations",
}
"""Quantities that are compared, as a person calls them."""


@dataclass(frozen=True)
class Truth:
    """What the oracle says about one state."""

    tau: Vector
    """Torques by spatial vectors."""
    lagrange: Vector
    """Torques by Lagrange."""
    M: Any
    """Mass matrix by Lagrange."""
    velocity: Vector
    """Velocity torques by Lagrange."""
    weight: Vector
    """Gravity torques by Lagrange."""
    christoffel: Any
    """Christoffel symbols by Lagrange (n, n, n)."""


def plain_numbers(arm: Arm) -> tuple[list[dict[str, Any]], Any, Any]:
    """The arm's fields as plain numbers for the oracle: rows, base (4x4), gravity. No method of a link is used."""
    rows = []
    for link in arm.links:
        com, tensor = np.array(link.com, dtype=float), np.array(link.inertia.tensor, dtype=float)
        mass = float(link.mass)
        if link.inertia.about == "origin":
            tensor = tensor - mass * (com @ com * np.eye(3) - np.outer(com, com))
        fields = {name: getattr(link, name) for name in ("kind", "theta", "d", "flip", "offset")}
        pose = _matrix(link.pose.rotation, link.pose.translation)
        rows.append({**fields, "pose": pose, "mass": mass, "com": com, "inertia": tensor})
    return rows, _matrix(arm.base.rotation, arm.base.translation), np.array(arm.gravity, dtype=float)


def _matrix(rotation: Any, translation: Any) -> Any:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def truth(chain: oracle.Chain, q: Vector, qd: Vector, qdd: Vector) -> Truth:
    """What the oracle says, both ways."""
    M, slopes, weight = oracle.lagrange_slopes(chain, q)
    velocity = oracle.velocity_torques(slopes, qd)
    return Truth(
        oracle.spatial_torques(chain, q, qd, qdd),
        M @ qdd + velocity + weight,
        M,
        velocity,
        weight,
        oracle.christoffel_symbols(slopes),
    )


def values(
    arm: Arm, stems: Iterable[str], quantity: str, q: Vector, qd: Vector, qdd: Vector, tau: Vector
) -> dict[str, Any]:
    """The quantity by every formulation of these that gives it."""
    arguments: dict[str, tuple[Any, ...]] = {
        "joint_torques": (q, qd, qdd),
        "mass_matrix": (q,),
        "christoffel": (q,),
        "coriolis_matrix": (q, qd),
        "gravity_torque": (q,),
        "joint_accelerations": (q, qd, tau),
    }
    found = {}
    for stem in stems:
        row = FORMULATIONS[stem]
        if quantity in row.gives:
            function: Callable[..., Any] = (
                torques_of(stem) if quantity == "joint_torques" else getattr(row, quantity)
            )
            found[stem] = np.asarray(function(arm, *arguments[quantity]), dtype=float)
    return found


def relative(difference: Any, scale: Any) -> float:
    """The largest difference, each by its own scale; zero by zero is zero."""
    size = np.abs(np.asarray(difference, dtype=float))
    by = np.maximum(np.broadcast_to(scale, size.shape), np.finfo(float).tiny)
    return float(np.max(np.where(size == 0, 0.0, size / by), initial=0.0))


def distances(found: dict[str, Any], scale: Any) -> Iterator[tuple[str, float, str]]:
    """For each source: its distance to the median of all, and the one that is farthest from it."""
    center = np.median(np.array(list(found.values())), axis=0)
    for name, value in found.items():
        apart = {other: relative(value - theirs, scale) for other, theirs in found.items() if other != name}
        farthest = max(apart, key=lambda other: apart[other]) if apart else ""
        yield name, relative(value - center, scale), farthest


def oracle_values(quantity: str, said: Truth, qd: Vector, qdd: Vector) -> dict[str, Any]:
    """What the oracle has to say about a quantity, by its two ways."""
    if quantity == "joint_torques":
        return {"oracle, spatial vectors": said.tau, "oracle, Lagrange": said.lagrange}
    if quantity == "mass_matrix":
        return {"oracle, Lagrange": said.M}
    if quantity == "gravity_torque":
        return {"oracle, Lagrange": said.weight}
    if quantity == "joint_accelerations":
        return {"oracle, the accelerations that tau came from": qdd}
    if quantity == "christoffel":
        return {"oracle, Lagrange": said.christoffel}
    return {"oracle, Lagrange": said.christoffel @ qd}  # the Coriolis matrix


def scale_of(quantity: str, sizes: Magnitudes, M: Any, qd: Vector, qdd: Vector) -> Any:
    """The magnitudes that are added up for each element of a quantity, by its name here or in the compiler."""
    if quantity == "mass_matrix":
        return sizes.mass
    if quantity == "christoffel":
        return sizes.christoffel
    if quantity == "coriolis_matrix":
        return sizes.coriolis(qd)
    if quantity in ("joint_accelerations", "forward_dynamics"):
        return sizes.accelerations(M, qd, qdd)
    if quantity == "gravity_torque":
        return sizes.gravity_torques
    return sizes.torques(qd, 0 * qdd if quantity == "bias_torque" else qdd)
