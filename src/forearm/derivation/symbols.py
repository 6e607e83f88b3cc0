"""Arms with letters: the textbook's symbols instead of numbers, numbers instead of symbols, and reading both.

`symbolic` replaces chosen numbers by SymPy symbols; `with_values` puts numbers in; `read_arm` turns every
scalar into an expression of one ring, in which parallel joints share a group of angles.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Scalar, is_number, product, rotation_z, sin_cos_of_constant
from forearm.arm import Arm, Defect
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.expressions.sympy_formulas import sympy
from forearm.derivation.expressions.sympy_reader import read
from forearm.faults import needs_chain
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link

KINDS = ("lengths", "masses", "centers", "inertias", "gravity")
"""What `symbolic` turns into letters."""
ANGLES = "angles"
"""What it turns into letters only when told: fixed angles that are no right angles."""
RIGID = "rotor inertia and friction are left out: these are the equations of the rigid arm"
"""What is said of equations of an arm that has drives."""


# -- letters for numbers ---------------------------------------------------------------------------------


@faults.explained
def symbolic(
    arm: Arm, what: Iterable[str] = KINDS, *, style: str = "textbook", about: str | None = None
) -> Arm:
    """The arm with letters in place of its numbers.

    Args:
        arm: Any arm; its drives are left out, because closed forms are those of the rigid arm.
        what: Which numbers become letters: any of 'lengths', 'masses', 'centers', 'inertias', 'gravity', and
            'angles' (twists and joint offsets other than right angles, of Denavit-Hartenberg links). The rest
            stay numbers.
        style: 'textbook' names what is not zero as the lecture notes do (m1, l1, lc1, I1z, g); 'full' names
            all ten inertial parameters of each link, zero or not (m1, x1, y1, z1, Ixx1, Ixy1 …), and a1, d1.
        about: Where the letters of the inertias are about: 'com' or 'origin' (as the arm has them by
            default). About the other point other products of inertia are zero.

    Returns:
        A new arm, with SymPy symbols.
    """
    needs_chain(arm, "symbolic")
    faults.choice(style, ("textbook", "full"), "symbolic style")
    chosen = [
        faults.choice(kind, (*KINDS, ANGLES), "symbolic what")
        for kind in faults.names_of(what, "symbolic: what")
    ]
    letters = _Letters(style == "full", tuple(chosen), about)
    links, gravity = letters.links_and_gravity(arm)
    _refuse_two_meanings(arm, letters)
    dynamics = arm.dynamics or (style == "full" and {"masses", "centers", "inertias"} <= set(chosen))
    remarks = (*arm.remarks, *([RIGID] if arm.has_drives and RIGID not in arm.remarks else []))
    return arm.replace(
        links=links, gravity=gravity, defects=(), configurations=(), dynamics=dynamics, remarks=remarks
    )


MARK = "new "
"""Before the name of a letter that is told apart from the arm's own."""


def _refuse_two_meanings(arm: Arm, letters: "_Letters") -> None:
    """Refuse a new letter that is also called as one that the arm keeps, and is not the same."""
    marked = _Letters(letters.full, letters.what, letters.about, MARK)
    links, gravity = marked.links_and_gravity(arm)
    kept = parameter_names(arm.replace(links=links, gravity=gravity, defects=excuses(arm.n)))
    twice = [name for name in kept if name in letters.new]
    if twice:
        raise faults.StateFault(
            f"symbolic: arm {arm.name!r} keeps a letter {twice[0]} of its own, and another number would be called "
            f"{twice[0]} too; give the arm other letters, or make all of its numbers letters (leave what out)."
        )


class _Letters:
    """Names for the numbers of a link."""

    def __init__(self, full: bool, what: tuple[str, ...], about: str | None, mark: str = "") -> None:
        self.full, self.what, self.about, self.mark = full, what, about, mark
        self.new: set[str] = set()

    def links_and_gravity(self, arm: Arm) -> tuple[tuple[Link, ...], Any]:
        """Those of the rigid arm, with letters."""
        links = tuple(self.link(i, link) for i, link in enumerate(arm.without_drives().links, 1))
        return links, self.gravity(arm.gravity) if "gravity" in self.what else arm.gravity

    def symbol(self, name: str, value: Scalar = 0.0) -> Scalar:
        """The letter of this name for what was `value`; it is new unless it was that letter."""
        letter = sympy().Symbol(self.mark + name)
        if is_number(value) or value != letter:
            self.new.add(name)
        return letter

    def letter(self, name: str, value: Scalar, zeros: bool = False) -> Scalar:
        """A symbol for a number that is not zero (or for any, with zeros)."""
        return self.symbol(name, value) if zeros or not (is_number(value) and value == 0) else value

    def link(self, i: int, link: Link) -> Link:
        changes: dict[str, Any] = {}
        if "masses" in self.what:
            changes["mass"] = self.letter(f"m{i}", link.mass, self.full)
        if "centers" in self.what:
            changes["com"] = self.center(i, link)
        if "inertias" in self.what:
            changes["inertia"] = self.inertia(i, link)
        if "lengths" in self.what:
            changes["d"] = self.letter(f"d{i}", link.d)
            changes["pose"] = Pose(link.pose.rotation, self.step(i, link))
        if ANGLES in self.what:
            changes.update(self.angles(i, link, changes.get("pose", link.pose)))
        return replace(link, **changes)

    def angles(self, i: int, link: Link, pose: Pose) -> dict[str, Any]:
        rotation = link.pose.rotation
        found: dict[str, Any] = {}
        if rotation[0] == (1.0, 0.0, 0.0) and is_number(rotation[2][2]) and rotation[2][2] not in (0, 1, -1):
            found["pose"] = Pose(Pose.dh(0.0, self.symbol(f"alpha{i}")).rotation, pose.translation)
        if is_number(link.theta) and not _right_angle(link.theta):
            found["theta"] = self.symbol(f"theta{i}")
        return found

    def step(self, i: int, link: Link) -> Any:
        x, y, z = link.pose.translation
        if is_number(y) and is_number(z) and y == z == 0:
            return self.letter(f"{'a' if self.full else 'l'}{i}", x), y, z
        return tuple(self.letter(f"p{i}{axis}", v) for axis, v in zip("xyz", (x, y, z), strict=True))

    def center(self, i: int, link: Link) -> Any:
        if self.full:
            return tuple(self.symbol(f"{axis}{i}") for axis in "xyz")
        x, y, z = link.com
        a = link.pose.translation
        on_x = all(is_number(v) and v == 0 for v in (y, z, a[1], a[2]))
        if on_x and link.revolute and not (is_number(a[0]) and a[0] == 0):
            length = self.step(i, link)[0] if "lengths" in self.what else a[0]
            return self.symbol(f"lc{i}") - length, 0.0, 0.0
        return tuple(self.letter(f"{axis}{i}", v) for axis, v in zip("xyz", (x, y, z), strict=True))

    def inertia(self, i: int, link: Link) -> Inertia:
        about = self.about or link.inertia.about
        faults.choice(about, ("com", "origin"), "symbolic about")
        rows = _tensor(link, about)
        kind = "L" if about == "origin" else "I"
        entries = {}
        for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            axes = "xyz"[r] + "xyz"[c]
            name = f"{kind}{axes}{i}" if self.full else f"{kind}{i}{axes if r != c else axes[0]}"
            entries[r, c] = self.letter(name, rows[r][c], self.full)
        tensor = [[entries[min(r, c), max(r, c)] for c in range(3)] for r in range(3)]
        return Inertia(tensor, about)  # type: ignore[arg-type]

    def gravity(self, vector: Any) -> Any:
        used = [v for v in vector if not (is_number(v) and v == 0)]
        if len(used) == 1 and is_number(used[0]):
            g = self.symbol("g")
            return tuple(v if v == 0 else g if v > 0 else -g for v in vector)
        return tuple(self.letter(f"g{axis}", v) for axis, v in zip("xyz", vector, strict=True))


ROUNDING = 1e-14
"""Share of the largest entry of a tensor that is left of a zero where it was moved to another point."""


def _tensor(link: Link, about: str) -> Any:
    """A link's inertia about a point: products of inertia that are zero about one are there about another."""
    if about == link.inertia.about:
        return link.inertia.tensor
    moved = link.about_com.inertia if about == "com" else link.ten.inertia
    largest = max((abs(x) for x in moved.ravel() if is_number(x)), default=0.0)
    return [[0.0 if is_number(x) and abs(x) < ROUNDING * largest else x for x in row] for row in moved]


# -- numbers for letters ---------------------------------------------------------------------------------


def mapped_arm(arm: Arm, scalar: Callable[[Scalar], Scalar], **rest: Any) -> Arm:
    """The rigid arm with every scalar replaced by `scalar(it)`."""

    def pose(old: Pose) -> Pose:
        rows = tuple(tuple(scalar(x) for x in row) for row in old.rotation)
        return Pose(rows, tuple(scalar(x) for x in old.translation))  # type: ignore[arg-type]

    links = []
    for link in arm.without_drives().links:
        tensor = tuple(tuple(scalar(x) for x in row) for row in link.inertia.tensor)
        links.append(
            replace(
                link,
                pose=pose(link.pose),
                theta=scalar(link.theta),
                d=scalar(link.d),
                mass=scalar(link.mass),
                com=tuple(scalar(x) for x in link.com),
                inertia=Inertia(tensor, link.inertia.about),  # type: ignore[arg-type]
                offset=scalar(link.offset),
            )
        )
    gravity = tuple(scalar(x) for x in arm.gravity)
    return arm.replace(links=tuple(links), base=pose(arm.base), tool=pose(arm.tool), gravity=gravity, **rest)


def with_values(arm: Arm, values: Mapping[Any, float], **rest: Any) -> Arm:
    """The arm with numbers in place of its symbols, given by name or by symbol; `rest` are fields of Arm."""
    by_name = {str(key): float(value) for key, value in values.items()}
    missing = [name for name in parameter_names(arm) if name not in by_name]
    if missing:
        raise faults.StateFault(
            f"arm {arm.name!r} has symbols without a value: {', '.join(missing)}; give a number for each."
        )

    def scalar(x: Scalar) -> Scalar:
        if is_number(x):
            return x
        return float(x.subs({s: by_name[s.name] for s in x.free_symbols}))

    return mapped_arm(arm, scalar, **rest)


def excuses(n: int) -> tuple[Defect, ...]:
    """What lets any numbers stand for letters: they make no rigid bodies, and the equations hold nevertheless."""
    kinds = [kind for kind in faults.DEFECTS if kind != "mass"]
    return tuple(Defect(i, kind, "numbers in place of letters") for i in range(1, n + 1) for kind in kinds)


def parameter_names(arm: Arm) -> tuple[str, ...]:
    """Names of the symbols of an arm, in the order in which they are met."""
    found: dict[str, None] = {}

    def scalar(x: Scalar) -> Scalar:
        if not is_number(x):
            if not hasattr(x, "free_symbols"):
                raise faults.ArmFault(
                    f"derive: arm {arm.name!r} has {faults.shown(x)}, {faults.a_or_an(type(x).__name__)}; give floats "
                    "and SymPy's symbols and numbers."
                )
            found.update(dict.fromkeys(sorted(s.name for s in x.free_symbols)))
        return x

    mapped_arm(arm, scalar)
    return tuple(found)


# -- reading an arm --------------------------------------------------------------------------------------


def read_arm(arm: Arm, coordinates: tuple[str, ...], S: Matrix) -> tuple[Arm, list[Expression]]:
    """The arm over one ring of expressions, and its joint variables q = S x there.

    `coordinates` names x; exact arithmetic is used where the arm's fixed angles are right angles.
    """
    ring = Ring(_angle_groups(arm, coordinates, S), _is_exact(arm))
    _order_generators(ring, arm, coordinates)

    def scalar(x: Scalar) -> Scalar:
        if not is_number(x):
            return read(ring, x)
        return float(x) if x in (0, 1, -1) else ring.constant(x)

    q = []
    for row in S:
        q_i = ring.constant(0)
        for k, name in zip(row, coordinates, strict=True):
            q_i = q_i + ring.generator(name) * (int(k) if k == int(k) else Fraction(repr(float(k))))
        q.append(q_i)
    return mapped_arm(arm, scalar, defects=arm.defects), q


def _order_generators(ring: Ring, arm: Arm, coordinates: tuple[str, ...]) -> None:
    """Name generators in the order in which a textbook writes factors: masses, gravity, lengths, the rest."""
    bodies, lengths, rest = [], [], []
    for link in arm.links:
        bodies.append(link.mass)
        lengths += [link.d, *link.pose.translation, *link.com]
        rest += [*(x for row in link.inertia.tensor for x in row), link.theta, link.offset]
    for x in (*bodies, *arm.gravity, *lengths, *rest):
        if not is_number(x):
            for symbol in sorted(x.free_symbols, key=lambda s: s.name):
                ring.meanings.setdefault(symbol.name, symbol)
                ring.place(symbol.name)
    for name in coordinates:
        ring.place(name)


def _angle_groups(arm: Arm, coordinates: tuple[str, ...], S: Matrix) -> list[list[str]]:
    """Angles that are added somewhere, or whose joints are parallel, in one group; order of the chain."""
    groups: list[list[str]] = []
    before: list[str] = []
    turned: Matrix | None = None
    for link, row in zip(arm.links, S, strict=True):
        if link.prismatic:
            if turned is not None:
                turn = rotation_z(*sin_cos_of_constant(link.theta))
                turned = product(product(turned, turn), link.pose.R)
            continue
        names = [name for k, name in zip(row, coordinates, strict=True) if k]
        names += sorted(s.name for x in (link.theta, link.offset) if not is_number(x) for s in x.free_symbols)
        parallel = turned is not None and is_number(turned[2, 2]) and abs(abs(turned[2, 2]) - 1) < 1e-12
        before = [*before, *names] if parallel else names
        groups = _merged(groups, before)
        turned = link.pose.R
    order = {name: i for i, name in enumerate(coordinates)}
    return [sorted(dict.fromkeys(g), key=lambda n: order.get(n, len(order))) for g in groups]


def _merged(groups: list[list[str]], names: list[str]) -> list[list[str]]:
    """Groups with all names of a list in one of them."""
    touched = [g for g in groups if set(g) & set(names)]
    apart = [g for g in groups if not set(g) & set(names)]
    return [*apart, [*(n for g in touched for n in g), *names]]


def _is_exact(arm: Arm) -> bool:
    """Whether fixed angles are right angles, and fixed rotations orthonormal as they are printed."""
    for link in arm.links:
        fixed = (link.theta, link.offset) if link.revolute else (link.theta,)
        if not all(_right_angle(float(x)) for x in fixed if is_number(x) or not x.free_symbols):
            return False
    for pose in (arm.base, *(link.pose for link in arm.links)):
        rows = pose.rotation
        if all(is_number(x) for row in rows for x in row):
            exact = np.array([[Fraction(repr(float(x))) for x in row] for row in rows], dtype=object)
            if not np.array_equal(exact @ exact.T, np.eye(3)):
                return False
    return True


def _right_angle(x: float) -> bool:
    return bool(abs(np.sin(2 * x)) < 1e-12)
