"""Arm: a serial chain of links on a base, with a tool, under gravity. All that a formulation sees."""

import hashlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Scalar, Vector, is_number, is_zero, product
from forearm.frames import SAME, NamedFrame, Part, Pose, Triple
from forearm.inertia import Inertia
from forearm.link import Drive, Link, body_in_frame, combined, link_of_ten, moved_frame
from forearm.random_states import joints_within


@dataclass(frozen=True)
class Defect(Part):
    """A physical fault of published data, declared with its reason: the arm loads with a note."""

    link: int
    """Which link, 1 to n."""
    kind: str
    """What is wrong: 'mass', 'inertia_sign', 'triangle' or 'massless_inertia'."""
    reason: str
    """Why the numbers are kept as they are."""

    __repr__ = Part._shown

    def __post_init__(self) -> None:
        faults.whole(self.link, "the link of a defect")
        faults.name(self.kind, f"the kind of the defect of link {self.link}")
        faults.text(self.reason, f"the reason of the defect of link {self.link}")


@dataclass(frozen=True)
class Arm(Part):
    """A serial arm. Frozen: every change gives a new arm."""

    name: str
    """What the arm is called in messages, files and generated code."""
    links: tuple[Link, ...]
    """Links in chain order, base to tip."""
    base: Pose = SAME
    """Frame 0 seen from the world."""
    tool: Pose = SAME
    """The tool seen from frame n (the flange)."""
    gravity: Triple = (0.0, 0.0, -9.81)
    """Acceleration of free fall, world axes [m/s²]."""
    defects: tuple[Defect, ...] = ()
    """Declared physical faults of the data."""
    remarks: tuple[str, ...] = ()
    """What a reader found worth saying (folded links, conversions); part of `notes`."""
    provenance: tuple[tuple[str, str], ...] = ()
    """Where the numbers come from: (which numbers, source)."""
    configurations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Named joint positions."""
    dynamics: bool = True
    """Whether masses are known; without them (or when all are zero) the arm has kinematics only."""
    frames: tuple[NamedFrame, ...] = ()
    """Frames that can be asked for by name: the links of the file that the arm was read from."""

    def __post_init__(self) -> None:
        where = f"arm {faults.name(self.name, 'the name of an arm')!r}"
        for name in ("links", "defects", "remarks", "provenance", "frames"):
            object.__setattr__(self, name, faults.several(getattr(self, name), f"{where}: {name}"))
        faults.texts(self, where)
        if not self.links:
            faults.no_links(where)
        for i, link in enumerate(self.links):
            faults.part(link, Link, f"{where}: links[{i}]")
        faults.part(self.base, Pose, f"{where}: base")
        faults.part(self.tool, Pose, f"{where}: tool")
        faults.frame_links(self.frames, len(self.links), where)
        named = (
            link if link.name else link.replace(name=f"joint{i}") for i, link in enumerate(self.links, 1)
        )
        object.__setattr__(self, "links", tuple(named))
        object.__setattr__(self, "gravity", faults.gravity(self.gravity, where))
        object.__setattr__(self, "dynamics", faults.yes_or_no(self.dynamics, f"{where}: dynamics"))
        object.__setattr__(self, "configurations", faults.configurations(self.configurations, where))
        if self._has_no_bodies:
            object.__setattr__(self, "dynamics", False)
        found, declared = faults.arm_faults(self)
        if found:
            faults.raise_arm_faults(where, found)
        self.__dict__["_declared"] = tuple(declared)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: remarks, declared defects, the mount, what is unchecked, what looks odd."""
        declared: tuple[str, ...] = self.__dict__["_declared"]
        asked = (*faults.unit_notes(self), *(faults.idle_joint_notes(self) if self.dynamics else ()))
        return (*self.remarks, *declared, *faults.mount_notes(self.gravity), *self._unchecked(), *asked)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__post_init__()

    @property
    def _has_no_bodies(self) -> bool:
        """Whether no link has mass, inertia or rotor: then zeros would be no torques, but missing data."""
        return all(faults.has_no_body(x) and is_zero(x.drive.rotor_inertia) for x in self.links)

    @faults.explained
    def replace(self, **changes: Any) -> "Arm":
        """A copy with some fields changed, checked like a new one."""
        if "links" in changes and self._has_no_bodies:
            changes.setdefault("dynamics", True)
        return super().replace(**changes)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self.__getstate__().values()))

    def _unchecked(self) -> list[str]:
        symbols = sum(not is_number(x) for link in self.links for x in _numbers(link))
        return [f"{symbols} parameters are symbols and were not checked"] if symbols else []

    @classmethod
    @faults.explained
    def from_dh(cls, name: str, rows: Any, *, convention: str | None = None, **rest: Any) -> "Arm":
        """From Denavit-Hartenberg rows (mappings of Link.dh's arguments); `convention` has no default.

        Rows in the modified convention (frame i at joint i, A = Rx(alpha) Tx(a) Rz(theta) Tz(d), with alpha and a
        of the *previous* link) are converted, centre of mass and inertia with them.
        """
        standard = faults.convention(convention) == "standard"
        known = ("a", "alpha", *(field.name for field in fields(Link) if field.name != "pose"))
        named, links = [], []
        for number, row in enumerate(faults.several(rows, "from_dh: rows"), 1):
            with faults.InRow(number):
                named.append(faults.dh_row(row, known))
                links.append(Link.dh(**named[-1]))
        return cls(name, tuple(links), **rest) if standard else _from_modified(cls, name, named, rest)

    # -- sizes and names ---------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.links)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in chain order."""
        return tuple(link.name for link in self.links)

    @cached_property
    def gravity_in_base(self) -> Vector:
        """Gravity in the axes of frame 0 (3,) [m/s²]."""
        g = product(self.base.R.T, np.array(self.gravity))
        g.flags.writeable = False
        return g

    @property
    def nv(self) -> int:
        """Numbers in a state's qd, qdd and tau: the joints."""
        return len(self.links)

    @property
    def nq(self) -> int:
        """Numbers in a state's q: the joints."""
        return len(self.links)

    @property
    def state_links(self) -> tuple[Link, ...]:
        """The links whose joints the last numbers of a state are: all of them."""
        return self.links

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The link that each hangs on, as a robot has it: the one before."""
        return tuple(range(len(self.links)))

    @property
    def bodies(self) -> tuple[Link, ...]:
        """All bodies that have parameters, as a robot has them: the links."""
        return self.links

    @property
    def root(self) -> Pose:
        """The constant pose before the first joint, seen from frame 0 (none: an arm's frame 0 is at joint 1)."""
        return Pose()

    @property
    def total_mass(self) -> Scalar:
        """Mass of all links together [kg]."""
        faults.needs_dynamics(self, "mass")
        total = self.links[0].mass
        for link in self.links[1:]:
            total = total + link.mass
        return total

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that influences a number."""
        named = (self.frames,) if self.frames else ()
        content = repr((self.links, self.base, self.tool, self.gravity, self.dynamics, *named))
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def calls(self) -> dict[Any, Any]:
        """What the user's functions enter, by quantity (arm_calls.py); not part of the arm's value."""
        return {}

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Kernels compiled for this arm, kept here so that looking one up costs nothing."""
        return {}

    @faults.explained
    def configuration(self, name: str) -> Vector:
        """A named joint position (n,)."""
        known = dict(self.configurations)
        if name not in known:
            faults.no_configuration(self, name)
        return np.array(known[name])

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Frames that can be asked for by name, beside the numbers 0 to n."""
        named = (*self.joint_names, *(frame.name for frame in self.frames))
        return tuple(dict.fromkeys(("base", *named, "flange", "tool")))

    @faults.explained
    def place_of(self, frame: str | int) -> tuple[int, Pose]:
        """Which frame, 0 to n, carries a frame, and where it is seen from that one.

        The arm's own frames are 0 to n (also '#0' to '#n') and 'tool'. Other names are the file's links, then joints
        (the far end of their link); 'base' and 'flange' mean frames 0 and n where the file has no link of that name.
        """
        if isinstance(frame, (int, np.integer)) and not isinstance(frame, bool) and 0 <= frame <= self.n:
            return int(frame), SAME
        if isinstance(frame, str) and frame == "tool":
            return self.n, self.tool
        places = {"base": (0, SAME), "flange": (self.n, SAME)}
        places.update((name, (i, SAME)) for i, name in enumerate(self.joint_names, 1))
        places.update((named.name, (named.link, named.pose)) for named in self.frames)
        places.update((f"#{i}", (i, SAME)) for i in range(self.n + 1))
        places["#n"] = self.n, SAME
        if not isinstance(frame, str) or frame not in places:
            faults.unknown_frame(frame, self.frame_names, self.name)
        return places[frame]

    # -- new arms from this one --------------------------------------------------------------------------

    @faults.explained
    def with_base(self, base: Pose) -> "Arm":
        """The arm on another base."""
        return self.replace(base=base)

    @faults.explained
    def with_tool(self, tool: Pose) -> "Arm":
        """The arm with another tool frame (no mass; see `with_payload`)."""
        return self.replace(tool=tool)

    @faults.explained
    def with_payload(
        self,
        mass: Scalar,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Inertia | None = None,
        *,
        frame: str | int | None = None,
    ) -> "Arm":
        """The arm holding a body: mass [kg], centre [m] and inertia in the axes of `frame`, see `place_of`.

        The inertia may be about the payload's centre of mass or about the origin of `frame`. Payloads combine
        with what is there. A payload of zero is the arm itself; minus a payload takes it off again. `frame` has
        no default: 'flange' and 'tool' differ by the tool.
        """
        faults.payload_frame(frame)
        faults.needs_dynamics(self, "payload")
        number, pose = self.place_of(frame)  # type: ignore[arg-type]
        body = body_in_frame(mass, com, inertia, pose)
        if body is None:
            return self
        if not number:
            faults.payload_on_base(frame, self.name)
        held = combined(self.links[number - 1], *body)
        asked = faults.payload_doubts(self, *body_in_frame(mass, com, inertia, SAME) or body)
        links = (*self.links[: number - 1], held, *self.links[number:])
        return self.replace(links=links, remarks=(*self.remarks, *asked))

    @faults.explained
    def with_drives(self, given: Any) -> "Arm":
        """The arm with these drives: one Drive for every joint, a sequence of n, or a mapping by joint name.

        A mapping changes the joints that it names and leaves the others as they are.
        """
        drives = faults.drives(given, Drive, self)
        return self.replace(links=tuple(x.replace(drive=d) for x, d in zip(self.links, drives, strict=True)))

    @faults.explained
    def with_parameters(self, theta: Any, *, defects: str | None = None) -> "Arm":
        """The arm with other bodies: ten numbers for each link (10 n,), in the order of `parameter_names`.

        Numbers of no rigid body are refused; `defects` is a reason to keep them all the same, as declared defects.
        """
        rows = faults.parameter_rows(self, theta)
        links = tuple(link_of_ten(link, row) for link, row in zip(self.links, rows, strict=True))
        found = faults.physical_faults(links) if defects is not None else []
        declared = tuple(Defect(number, kind, str(defects)) for number, kind in found)
        return self.replace(links=links, defects=declared, dynamics=True)

    def without_drives(self) -> "Arm":
        """The rigid arm: no rotor inertia, no friction."""
        return self.replace(links=tuple(link.replace(drive=Drive()) for link in self.links))

    @property
    def has_drives(self) -> bool:
        """Whether any joint has rotor inertia or friction."""
        return any(link.drive != Drive(smoothing=link.drive.smoothing) for link in self.links)

    @property
    def has_symbols(self) -> bool:
        """Whether a parameter is a symbol instead of a number, so that only closed forms can be had of it."""
        fixed = (*self.gravity, *self.base.translation, *self.tool.translation)
        numbers = (*fixed, *(x for link in self.links for x in _numbers(link)))
        return any(hasattr(x, "free_symbols") for x in numbers)

    # -- looking at it -----------------------------------------------------------------------------------

    @faults.explained
    def random_state(self, seed: Any = None, batch: tuple[int, ...] = ()) -> tuple[Vector, Vector, Vector]:
        """Random (q, qd, qdd), each (*batch, n): q within the limits, or within ±pi (±1 m) where there are none."""
        rng, batch = faults.random_numbers(seed), faults.batch_shape_of(batch)
        q = joints_within(rng, self.links, batch)
        return q, rng.uniform(-2, 2, (*batch, self.n)), rng.uniform(-5, 5, (*batch, self.n))

    @faults.explained
    def center_of_mass(self, q: Any) -> Vector:
        """Centre of mass of the whole arm at q, world axes (3,) [m]."""
        faults.needs_dynamics(self, "centre of mass")
        values = faults.state(self, "q", q)
        faults.one_state(self, "q", values)
        R, p = self.base.R, self.base.p
        moment, total = 0.0 * p, 0.0
        for link, qi in zip(self.links, values, strict=True):
            p = p + product(R, link.p_before(qi))
            R = product(R, link.rotation(qi))
            moment = moment + link.mass * (p + product(R, np.array(link.com)))
            total = total + link.mass
        return moment / total  # type: ignore[no-any-return]

    def dh_table(self) -> Matrix:
        """Rows (a, alpha, d, theta) of the standard Denavit-Hartenberg table, shape (n, 4).

        Raises ArmFault for a link whose pose after the joint is not of that form (up to Rz and Tz, which join
        theta and d). `flip` and `offset` of joints are not in it, as in `Link.dh`; where some have them it is said.
        """
        from forearm.denavit_hartenberg import dh_rows, not_in_the_table

        not_in_the_table(self)
        return np.array(dh_rows(self))

    __repr__ = Part._shown

    def __str__(self) -> str:
        from forearm.description import arm_text
        from forearm.outside.escapes import terminal

        return terminal(arm_text(self))  # titles and remarks may hold letters that show nothing

    def _repr_html_(self) -> str:
        from forearm.description import arm_html

        return arm_html(self)


# -- walking along the chain -----------------------------------------------------------------------------


class Walk(Protocol):
    """Somebody who wants to know which link a formulation is at (the tracer, the counter)."""

    def at_link(self, direction: str, i: int) -> None:
        """Called before the body of the loop for link i; i = 0 when the walk is over."""


WALK: ContextVar[Walk | None] = ContextVar("forearm_walk", default=None)


def outward(arm: Any) -> Iterator[int]:
    """Link numbers from base to tip: 1 … n."""
    return _walk("outward", range(1, len(arm.links) + 1))


def inward(arm: Any) -> Iterator[int]:
    """Link numbers from tip to base: n … 1."""
    return _walk("inward", range(len(arm.links), 0, -1))


def _walk(direction: str, numbers: range) -> Iterator[int]:
    walker = WALK.get()
    if walker is None:
        yield from numbers
        return
    for i in numbers:
        walker.at_link(direction, i)
        yield i
    walker.at_link(direction, 0)


# -- helpers ---------------------------------------------------------------------------------------------


def _numbers(link: Link) -> Iterator[Scalar]:
    yield from (link.theta, link.d, link.mass, link.offset, *link.com, *link.pose.translation)
    for row in (*link.pose.rotation, *link.inertia.tensor):
        yield from row


def _from_modified(cls: type[Arm], name: str, rows: list[dict[str, Any]], rest: dict[str, Any]) -> Arm:
    """Frames move from joint i to the far end: link i takes the next row's Rx(alpha) Tx(a) after its joint.

    The body's numbers were given in the axes of the frame at joint i; X is the new frame seen from there.
    """
    steps = [Pose.dh(row.pop("a", 0.0), row.pop("alpha", 0.0)) for row in rows]
    base = rest.pop("base", Pose()) @ steps[0]
    links = []
    for row, step in zip(rows, [*steps[1:], Pose()], strict=True):
        d = row.pop("d", 0.0)
        link = Link(row.pop("kind"), theta=row.pop("theta", 0.0), d=d, **row)
        links.append(moved_frame(link, step))
    return cls(name, tuple(links), base=base, **rest)
