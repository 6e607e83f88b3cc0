"""Doubts about one body: its centre, its tensor, its density, held against the size of its link."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import is_number, parallel_axis
from forearm.faults import box_edges, density, gyration, link_faults
from forearm.link import Link
from forearm.verification.numbers.body_shapes import corrections, possible
from forearm.verification.numbers.findings import Finding

DENSEST = 23_000.0
"""kg/m³; osmium has 22 590."""
LIGHTEST = 20.0
"""kg/m³; polystyrene foam."""
GYRATION = 1.0, 0.02
"""Radius of gyration as a multiple of the link's size: above and below this is strange."""


@dataclass(frozen=True)
class Sizes:
    """Lengths that other numbers are held against."""

    lengths: tuple[float, ...]
    """Of each link, origin to origin [m]."""
    reach: float
    """All of them, and the tool [m]."""

    def of(self, i: int) -> float:
        """How large link i may be: as long as itself or its neighbours, and a tenth of the arm at least."""
        near = self.lengths[max(0, i - 1) : i + 2]
        return max(*near, 0.1 * self.reach, 0.02)


def finding(level: str, kind: str, arm: Any, i: int | None, value: str, threshold: str, fix: str) -> Finding:
    """A finding about link i of an arm (from 0), or about the arm."""
    name = arm.links[i].name if i is not None else arm.name
    return Finding(level, kind, None if i is None else i + 1, name, value, threshold, fix)


def base_doubts(robot: Any) -> Iterator[Finding]:
    """What is impossible in the body of a free base, which is link 0."""
    declared = {d.kind: d.reason for d in robot.defects if d.link == 0}
    for kind, sentence in link_faults(robot.trunk.as_link):
        told = sentence.split(";")[0] + (f" (declared: {declared[kind]})" if kind in declared else "")
        ask = "Ask where the numbers come from."
        yield Finding("error", kind, 0, "base", told, "no rigid body has that", ask)


def body_doubts(arm: Any, i: int, link: Link, sizes: Sizes) -> Iterator[Finding]:
    """All doubts about the body of link i (from 0)."""
    mass, com, tensor = link.about_com
    if not all(is_number(x) for x in np.ravel(tensor)):
        return
    declared = {d.kind: d.reason for d in arm.defects if d.link == i + 1}
    faulty = list(link_faults(link))
    for kind, sentence in faulty:
        slips = list(corrections(float(mass), com, np.array(tensor), sizes.of(i)))
        fix = ("Could be " + "; or ".join(slips) + ".") if slips else "Ask where the numbers come from."
        told = f" (declared: {declared[kind]})" if kind in declared else ""
        yield finding("error", kind, arm, i, sentence.split(";")[0] + told, "no rigid body has that", fix)
    if mass == 0:
        if not faulty:
            yield finding(
                "note",
                "massless",
                arm,
                i,
                "mass and inertia are zero",
                "real links have mass",
                "Left out in the source?",
            )
        return
    yield from _extent(arm, i, link, sizes)
    if not faulty:
        yield from _plausible_tensor(arm, i, link, sizes)


def _extent(arm: Any, i: int, link: Link, sizes: Sizes) -> Iterator[Finding]:
    """The centre of mass lies on the link, more or less."""
    com = np.array(link.com, dtype=float)
    joint = -np.array(link.p_star(0.0), dtype=float)
    away = _distance_to_segment(com, joint)
    if away > 1.5 * sizes.of(i):
        fix = (
            f"Millimetres (then it is {away / 1000:.3g} m)? The first moment m c instead of c? Another frame?"
        )
        yield finding(
            "warning",
            "com",
            arm,
            i,
            f"the centre of mass is {away:.3g} m away from the link",
            f"the link measures {sizes.of(i):.3g} m",
            fix,
        )


def _distance_to_segment(point: Any, end: Any) -> float:
    """Distance of a point to the straight line between the link's origin and its joint."""
    length = float(end @ end)
    t = min(1.0, max(0.0, float(point @ end) / length)) if length > 0 else 0.0
    return float(np.linalg.norm(point - t * end))


def _plausible_tensor(arm: Any, i: int, link: Link, sizes: Sizes) -> Iterator[Finding]:
    mass, com, tensor = link.about_com
    mass, size, radius = float(mass), sizes.of(i), gyration(float(mass), tensor)
    high, low = GYRATION
    if radius == 0:
        yield finding(
            "note",
            "point_mass",
            arm,
            i,
            f"{mass:g} kg without rotational inertia",
            "real links have some",
            "A point mass on purpose?",
        )
        return
    edges = " x ".join(f"{1000 * e:.0f}" for e in box_edges(mass, tensor))
    if radius > high * size:
        fix = _too_large(mass, com, tensor, size)
        yield finding(
            "warning",
            "inertia_size",
            arm,
            i,
            f"radius of gyration is {radius:.3g} m (a box of {edges} mm)",
            f"the link measures {size:.3g} m",
            fix,
        )
    elif radius < low * size:
        fix = "g m², or kg mm² divided twice? Inertia of a motor alone? Placeholder numbers?"
        yield finding(
            "warning",
            "inertia_size",
            arm,
            i,
            f"radius of gyration is {1000 * radius:.3g} mm (a box of {edges} mm)",
            f"the link measures {size:.3g} m",
            fix,
        )
    rho = density(mass, tensor)
    if rho is not None and rho > DENSEST:
        yield finding(
            "warning",
            "density",
            arm,
            i,
            f"{mass:g} kg in a box of {edges} mm: {rho:.3g} kg/m³",
            f"nothing is above {DENSEST:g}",
            "Mass in grams, or inertia too small?",
        )
    elif rho is not None and rho < LIGHTEST:
        yield finding(
            "warning",
            "density",
            arm,
            i,
            f"{mass:g} kg in a box of {edges} mm: {rho:.3g} kg/m³",
            f"foam has {LIGHTEST:g}",
            "Inertia too large, or about another point?",
        )
    yield from _slip(arm, i, np.array(tensor, dtype=float))


def _too_large(mass: float, com: Any, tensor: Any, size: float) -> str:
    """The likely cause of a tensor that is too large: about the origin, or in other units."""
    shifted = np.array(tensor, dtype=float) - parallel_axis(mass, np.array(com, dtype=float))
    if possible(shifted) and gyration(mass, shifted) < 0.7 * gyration(mass, tensor):
        return "Given about the origin instead of the centre of mass? Then it would fit."
    for factor, unit in ((1e-3, "g m²"), (1e-6, "kg mm²"), (1e-9, "g mm²")):
        if 0.05 * size < math.sqrt(factor) * gyration(mass, tensor) < size:
            return f"Numbers in {unit}? Times {factor:g} they would fit."
    return "Given about another point, or placeholder numbers?"


def _slip(arm: Any, i: int, tensor: Any) -> Iterator[Finding]:
    """Off-diagonal entries that repeat a diagonal one: numbers in another order."""
    diagonal, off = np.diag(tensor), (tensor[0, 1], tensor[0, 2], tensor[1, 2])
    repeated = [x for x in off if x != 0 and any(x == d for d in diagonal)]
    if repeated:
        fix = "Numbers row by row, or diagonal first, read in another order?"
        yield finding(
            "warning",
            "order",
            arm,
            i,
            f"a product of inertia, {repeated[0]:g}, equals a moment",
            "they are unrelated numbers",
            fix,
        )
