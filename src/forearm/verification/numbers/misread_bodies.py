"""Bodies that are possible, but would fit their links better if they had been read another way.

Three slips leave numbers that some body has: a tensor about the link's origin taken for one about the centre of mass,
axes in another order, a centre of mass with the other sign. Each is held against where the link's joints are, and
doubted only where the other way fits and this one does not. On 98 robots of public collections (1255 bodies) none of
the three doubts a number; of arms cut out of them only Romeo's left one is doubted, all five tensors of which fit about
their joints. Of the same slips, made on purpose, they see those that bodies far from a ball show.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, is_number, parallel_axis
from forearm.faults import gyration
from forearm.verification.numbers.body_shapes import possible
from forearm.verification.numbers.doubts import finding
from forearm.verification.numbers.findings import Finding

HEAVY = 0.3
"""Share of a tensor that the parallel axis must make up before it can tell anything."""
AGREEING = 3
"""So many different bodies must all be possible about the other point: one or two are by chance."""
LONG, LARGE, SMALL = 4.0, 0.9, 1.5
"""A body is long where its moments differ by the first; a large one and a small one are so by the other two."""
BESIDE, ON = 1.5, 0.5
"""Radii of gyration from the link beyond which a centre of mass is beside it, and up to which it is on it."""


class _Placed:
    """A body and the points of its link: its joint, its frame, the joints that it carries; in the link's axes."""

    def __init__(self, arm: Any, i: int) -> None:
        link = arm.links[i]
        mass, com, tensor = link.about_com
        self.number, self.name, self.mass = i, link.name, float(mass)
        self.com, self.tensor = np.array(com, dtype=float), np.array(tensor, dtype=float)
        self.joint = -np.array(link.p_star(0.0), dtype=float)
        mounts = getattr(arm, "mounts", ())
        carried = [x for x, parent in zip(mounts, arm.parents, strict=False) if parent == i + 1]
        self.ends = [np.zeros(3), *(np.array(x.translation, dtype=float) for x in carried)]

    @property
    def far(self) -> Vector:
        """From the joint to the farthest of the ends."""
        return max((end - self.joint for end in self.ends), key=lambda x: float(np.linalg.norm(x)))

    def beside(self, point: Vector) -> float:
        """Distance of a point from the straight lines between the joint and the ends."""
        return min(_to_segment(point, self.joint, end) for end in self.ends)


def misread(arm: Any) -> Iterator[Finding]:
    """All doubts of this kind about the bodies of an arm or robot."""
    bodies = [
        _Placed(arm, i)
        for i, link in enumerate(arm.links)
        if link.mass > 0 and all(is_number(x) for x in np.ravel(link.about_com.inertia))
    ]
    bodies = [body for body in bodies if possible(body.tensor) and np.any(body.tensor)]
    yield from _about_another_point(arm, bodies)
    for body in bodies:
        yield from _swapped_axes(arm, body)
        yield from _other_side(arm, body)


def _about_another_point(arm: Any, bodies: list[_Placed]) -> Iterator[Finding]:
    """Tensors of which all would be possible with the parallel axis taken off: of right ones few are, and by chance."""
    for point in ("link's origin", "joint"):
        found: dict[Any, tuple[_Placed, bool]] = {}
        for body in bodies:
            lever = body.com - (body.joint if point == "joint" else 0.0)
            moments = np.linalg.eigvalsh(body.tensor)
            if body.mass * float(lever @ lever) > HEAVY * moments[-1]:
                # legs are alike: one witness
                alike = tuple(f"{x:.6g}" for x in (body.mass, *moments))
                fits = possible(body.tensor - parallel_axis(body.mass, lever))
                found[alike] = body, fits and found.get(alike, (body, True))[1]
        if len(found) >= AGREEING and all(fits for _, fits in found.values()):
            names = ", ".join(body.name for body, _ in found.values())
            value = f"the inertias of {names} all have room for m c² about the {point} and a body besides"
            fix = f"Given about the {point} instead of the centre of mass? Every one of them would be possible then."
            first = next(iter(found.values()))[0].number
            yield finding("warning", "about_origin", arm, first, value, "one in eight sound bodies has", fix)
            return


def _swapped_axes(arm: Any, body: _Placed) -> Iterator[Finding]:
    """A long body that lies across its link, and along it with two axes exchanged."""
    length, moments = float(np.linalg.norm(body.far)), np.linalg.eigvalsh(body.tensor)
    if length < BESIDE * gyration(body.mass, body.tensor) or moments[-1] < LONG * moments[0]:
        return
    along = body.far / length
    if along @ body.tensor @ along < LARGE * moments[-1]:
        return
    for first, second in ((0, 1), (0, 2), (1, 2)):
        if along @ _exchanged(body.tensor, first, second) @ along < SMALL * moments[0]:
            value = f"the body is long, and lies across its link (moment about it {moments[-1]:.3g} kg m²)"
            names = f"{'xyz'[first]} and {'xyz'[second]}"
            fix = f"Axes in another order? With {names} of the link's frame exchanged it lies along the link."
            yield finding("warning", "axes", arm, body.number, value, f"the link is {length:.3g} m long", fix)
            return


def _other_side(arm: Any, body: _Placed) -> Iterator[Finding]:
    """A centre of mass beside its link, that is on it with the other sign."""
    radius, away = gyration(body.mass, body.tensor), body.beside(body.com)
    if not np.any(body.far) or away < BESIDE * radius:
        return
    for point, other in (("joint", 2 * body.joint - body.com), ("link's origin", -body.com)):
        if body.beside(other) < ON * radius:
            value = f"the centre of mass is {away:.3g} m beside the link, on the other side of the {point}"
            limit = f"the body's radius of gyration is {radius:.3g} m"
            fix = f"Its sign? Seen from the {point} with the other one it lies on the link."
            yield finding("warning", "com_side", arm, body.number, value, limit, fix)
            return


def _exchanged(tensor: Matrix, first: int, second: int) -> Matrix:
    order = [0, 1, 2]
    order[first], order[second] = second, first
    return tensor[np.ix_(order, order)]


def _to_segment(point: Vector, start: Vector, end: Vector) -> float:
    """Distance of a point to a straight line from start to end."""
    way = end - start
    square = float(way @ way)
    share = min(1.0, max(0.0, float((point - start) @ way) / square)) if square > 0 else 0.0
    return float(np.linalg.norm(point - start - share * way))
