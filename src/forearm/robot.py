"""Robot: a tree of links on a fixed or free base, with tools and couplings, under gravity.

A Robot is to a tree what an Arm is to a chain: frozen, checked, hashable, and every function that takes an Arm takes
it. Its states are the independent joints (q = B qa + b gives the others); those of a free base begin with its pose and
its velocity (`free_base`).
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Scalar, Vector, is_zero
from forearm.arm import Arm, Defect
from forearm.chain_cuts import arm_to, chain_arms, paths
from forearm.couplings import Coupling, coupling_map, couplings_of, times
from forearm.frames import SAME, NamedFrame, Part, Pose, Triple
from forearm.free_base import PLACE, SPEED, gravity_in_base, place_rates, rotation_of
from forearm.inertia import Inertia
from forearm.link import NO_BODY, Body, Drive, Link, body_in_frame, combined
from forearm.random_states import joints_within


@dataclass(frozen=True)
class Robot(Part):
    """A robot with branches. Frozen: every change gives a new robot."""

    name: str
    """What the robot is called in messages, files and generated code."""
    links: tuple[Link, ...]
    """Every link that a joint moves, parents before children."""
    parents: tuple[int, ...]
    """The link (1 to n) that each link hangs on, or 0 for the base."""
    mounts: tuple[Pose, ...] = ()
    """Where each joint acts, along z of this pose, seen from the parent's frame; all the same frame if left out."""
    base: Pose = SAME
    """Frame 0 seen from the world; where a free base starts."""
    free: bool = False
    """Whether the base moves freely."""
    trunk: Body = NO_BODY
    """The body of the base, in frame 0; that of a fixed base counts nowhere."""
    couplings: tuple[Coupling, ...] = ()
    """Joints that follow others."""
    tools: tuple[NamedFrame, ...] = ()
    """Frames at the ends of arms, by name."""
    gravity: Triple = (0.0, 0.0, -9.81)
    """Acceleration of free fall, world axes [m/s²]."""
    defects: tuple[Defect, ...] = ()
    """Declared physical faults of the data."""
    remarks: tuple[str, ...] = ()
    """What a reader found worth saying; part of `notes`."""
    provenance: tuple[tuple[str, str], ...] = ()
    """Where the numbers come from: (which numbers, source)."""
    configurations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Named states q."""
    dynamics: bool = True
    """Whether masses are known; without them (or when all are zero) the robot has kinematics only."""
    frames: tuple[NamedFrame, ...] = ()
    """Frames that can be asked for by name: the links of the file that the robot was read from."""

    def __post_init__(self) -> None:
        where = f"robot {faults.name(self.name, 'the name of a robot')!r}"
        for name in ("links", "parents", "mounts", "tools", "defects", "remarks", "provenance", "frames"):
            object.__setattr__(self, name, faults.listed(getattr(self, name), where, name))
        for name in ("free", "dynamics"):
            object.__setattr__(self, name, faults.yes_or_no(getattr(self, name), f"{where}: {name}"))
        if not self.links and not self.free:
            faults.empty_robot(where)
        for i, link in enumerate(self.links):
            faults.part(link, Link, f"{where}: links[{i}]")
        named = (x if x.name else x.replace(name=f"joint{i}") for i, x in enumerate(self.links, 1))
        object.__setattr__(self, "links", tuple(named))
        n = len(self.links)
        object.__setattr__(self, "parents", faults.parents(self.parents, n, where))
        object.__setattr__(self, "mounts", self.mounts or (SAME,) * n)
        faults.mounts(self.mounts, n, Pose, where)
        for kind, name in ((Pose, "base"), (Body, "trunk")):
            faults.part(getattr(self, name), kind, f"{where}: {name}")
        for frames in (self.frames, self.tools):  # a tool may have the name of the file's link that it is
            for frame in frames:
                faults.part(frame, NamedFrame, f"{where}: a frame")
            faults.frame_links(frames, n, where)
        object.__setattr__(self, "couplings", couplings_of(self.couplings))
        object.__setattr__(self, "gravity", faults.gravity(self.gravity, where))
        self._check_whole(where)

    def _check_whole(self, where: str) -> None:
        faults.texts(self, where)
        found = faults.coupled_joints(self.couplings, self.all_joint_names, where)
        if found:
            faults.raise_arm_faults(where, found)
        self.coupling_map  # noqa: B018  (refuses a circle)
        object.__setattr__(self, "configurations", faults.configurations(self.configurations, where))
        if self._has_no_bodies:
            object.__setattr__(self, "dynamics", False)
        found, declared = faults.arm_faults(self)
        if self.free and self.dynamics:
            of_base, told = faults.base_faults(self)
            found, declared = [*found, *of_base], [*told, *declared]
        if found:
            faults.raise_arm_faults(where, found)
        self.__dict__["_declared"] = tuple(declared)

    @property
    def _has_no_bodies(self) -> bool:
        return all(faults.has_no_body(x) and is_zero(x.drive.rotor_inertia) for x in self.bodies)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: remarks, declared defects, the mount, what looks odd."""
        declared: tuple[str, ...] = self.__dict__["_declared"]
        return (*self.remarks, *declared, *faults.mount_notes(self.gravity), *faults.unit_notes(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__post_init__()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self.__getstate__().values()))

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that influences a number."""
        content = repr(
            ("robot", self.links, self.parents, self.mounts, self.base, self.free, self.trunk, self.couplings)
            + (self.tools, self.gravity, self.dynamics, self.frames)
        )
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def calls(self) -> dict[Any, Any]:
        """What the user's functions enter, by quantity (arm_calls.py); not part of the robot's value."""
        return {}

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Kernels compiled for this robot, kept here so that looking one up costs nothing."""
        return {}

    # -- sizes and names ---------------------------------------------------------------------------------

    @cached_property
    def all_joint_names(self) -> tuple[str, ...]:
        """Names of all joints, those that follow others too."""
        return tuple(link.name for link in self.links)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints: one number of a state each."""
        followers = {c.joint for c in self.couplings}
        return tuple(name for name in self.all_joint_names if name not in followers)

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return len(self.joint_names)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """All bodies that have parameters: the links, after the base where it is free."""
        return (self.trunk.as_link, *self.links) if self.free else self.links

    @property
    def nv(self) -> int:
        """Numbers in qd, qdd and tau: the independent joints, and six for a free base."""
        return self.n + (len(SPEED) if self.free else 0)

    @property
    def nq(self) -> int:
        """Numbers in q: the independent joints, and seven for a free base."""
        return self.n + (len(PLACE) if self.free else 0)

    @cached_property
    def state_links(self) -> tuple[Link, ...]:
        """The links of the independent joints, which the last numbers of a state are."""
        return tuple(self.links[self.all_joint_names.index(name)] for name in self.joint_names)

    def coordinates(self, name: str) -> tuple[str, ...]:
        """What the numbers of a state are called, of q (or q0) or of its rates and torques."""
        before = (PLACE if name in ("q", "q0") else SPEED) if self.free else ()
        return (*before, *self.joint_names)

    @cached_property
    def coupling_map(self) -> tuple[Matrix, Vector]:
        """(B, b) of q = B qa + b: all joints from the independent ones."""
        return coupling_map(self.couplings, self.all_joint_names)

    @cached_property
    def gravity_in_base(self) -> Vector:
        """Gravity in the axes of frame 0 of a fixed base (3,) [m/s²]."""
        return gravity_in_base(self.base.R, self.gravity)

    @property
    def total_mass(self) -> Scalar:
        """Mass of all that moves together [kg]."""
        faults.needs_dynamics(self, "mass")
        total: Scalar = self.trunk.mass if self.free else 0.0
        for link in self.links:
            total = total + link.mass
        return total

    @property
    def has_drives(self) -> bool:
        """Whether any joint has rotor inertia or friction."""
        return any(link.drive != Drive(smoothing=link.drive.smoothing) for link in self.links)

    has_symbols = False
    """Robots have numbers; closed forms are for arms."""

    def configuration(self, name: str) -> Vector:
        """A named state q (nq,)."""
        known = dict(self.configurations)
        if name not in known:
            faults.no_configuration(self, name)
        return np.array(known[name])

    # -- from states to joints ---------------------------------------------------------------------------

    def joint_positions(self, q: Vector) -> Vector:
        """Positions of all joints from a state q (nq,), on any scalar."""
        B, b = self.coupling_map
        return times(B, q[len(q) - self.n :]) + b if self.couplings else q[len(q) - self.n :]

    def joint_rates(self, qd: Vector) -> Vector:
        """Rates (or accelerations) of all joints from those of a state (nv,)."""
        own = qd[len(qd) - self.n :]
        return times(self.coupling_map[0], own) if self.couplings else own

    def independent(self, tau: Vector) -> Vector:
        """Bᵀ tau: torques of all joints as those of the independent ones feel them."""
        return times(self.coupling_map[0].T, tau) if self.couplings else tau

    def base_pose(self, q: Vector) -> tuple[Matrix, Vector]:
        """R and p of frame 0 in the world at a state q (nq,)."""
        return (rotation_of(q[3:7]), q[:3]) if self.free else (self.base.R, self.base.p)

    def position_rates(self, q: Vector, qd: Vector) -> Vector:
        """Rates (nq,) of the numbers of q at a velocity qd: of a free base its place and its quaternion."""
        return np.concatenate([place_rates(q, qd), qd[len(SPEED) :]]) if self.free else qd

    # -- frames ------------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> dict[str, tuple[int, Pose]]:
        """Every frame's name with the link that carries it and where it is there; the file's names go first."""
        found: dict[str, tuple[int, Pose]] = {"base": (0, SAME)}
        found.update((name, (i, SAME)) for i, name in enumerate(self.all_joint_names, 1))
        found.update((frame.name, (frame.link, frame.pose)) for frame in (*self.frames, *self.tools))
        found.update((f"#{i}", (i, SAME)) for i in range(len(self.links) + 1))
        return found

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """Names of the ends of arms: tools, then joints of leaves without one."""
        held = {tool.link for tool in self.tools}
        ends = sorted((path[-1] for path in paths(self.parents)), key=lambda end: end not in held)
        return tuple(dict.fromkeys(self.end_name(end) for end in ends))

    def end_name(self, number: int) -> str:
        """What the end at a link is called."""
        if not number:
            return "base"
        return next((t.name for t in self.tools if t.link == number), self.links[number - 1].name)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Frames that can be asked for by name, ends of arms first."""
        return tuple(dict.fromkeys((*self.tips, *(x for x in self.places if not x.startswith("#")))))

    @faults.explained
    def place_of(self, frame: str | int) -> tuple[int, Pose]:
        """Which link (1 to n, 0 the base) carries a frame, and where it is seen from that link's."""
        if (
            isinstance(frame, (int, np.integer))
            and not isinstance(frame, bool)
            and 0 <= frame <= len(self.links)
        ):
            return int(frame), SAME
        if not isinstance(frame, str):
            faults.unknown_frame(frame, self.frame_names, self.name)
        if frame == "tool" and "tool" not in self.places:
            if len(self.tips) == 1:
                return self.places[self.tips[0]]
            faults.default_frame(self)
        if frame not in self.places:
            faults.unknown_frame(frame, self.frame_names, self.name)
        return self.places[frame]

    # -- chains ------------------------------------------------------------------------------------------

    def chains(self) -> tuple[Arm, ...]:
        """The arms from the base to each leaf whose sum the robot is: each body on one of them, massless on others.

        Rigid bodies alone: drives are no part of them. A free base is six joints before each.
        """
        return chain_arms(self)

    @faults.explained
    def arm(self, tip: str | int) -> Arm:
        """One chain to a frame, which is its tool; other branches are held at zero, a free base is fixed."""
        return arm_to(self, tip)

    # -- new robots from this one ------------------------------------------------------------------------

    def freed(self) -> "Robot":
        """The robot with a free base, which is where it starts in the named states."""
        if self.free:
            return self
        freed = self.replace(free=True, configurations=())
        start = tuple(freed.neutral()[: len(PLACE)])
        return freed.replace(configurations=tuple((name, (*start, *q)) for name, q in self.configurations))

    def fixed(self) -> "Robot":
        """The robot with its base fixed where it starts; of the named states the joints are kept."""
        if not self.free:
            return self
        named = tuple((name, q[len(PLACE) :]) for name, q in self.configurations)
        defects = tuple(d for d in self.defects if d.link)  # the body of a fixed base counts nowhere
        return self.replace(free=False, configurations=named, defects=defects)

    @faults.explained
    def with_couplings(self, couplings: Any) -> "Robot":
        """The robot with these couplings instead of its own."""
        return self.replace(couplings=couplings_of(couplings), configurations=())

    @faults.explained
    def with_drives(self, given: Any) -> "Robot":
        """The robot with these drives: one for every joint, a sequence of them, or a mapping by joint name."""
        drives = faults.drives(given, Drive, self)
        return self.replace(links=tuple(x.replace(drive=d) for x, d in zip(self.links, drives, strict=True)))

    def without_drives(self) -> "Robot":
        """The rigid robot: no rotor inertia, no friction."""
        return self.replace(links=tuple(link.replace(drive=Drive()) for link in self.links))

    @faults.explained
    def with_payload(
        self, mass: Scalar, com: Any = (0.0, 0.0, 0.0), inertia: Inertia | None = None, *, frame: Any = None
    ) -> "Robot":
        """The robot holding a body in any hand: mass [kg], centre [m] and inertia in the axes of `frame`."""
        faults.payload_frame(frame)
        faults.needs_dynamics(self, "payload")
        number, pose = self.place_of(frame)
        held = body_in_frame(mass, com, inertia, pose)
        if held is None:
            return self
        asked = faults.payload_doubts(self, *body_in_frame(mass, com, inertia, SAME) or held)
        if number:
            links = list(self.links)
            links[number - 1] = combined(links[number - 1], *held)
            return self.replace(links=tuple(links), remarks=(*self.remarks, *asked))
        if not self.free:
            faults.payload_on_base(frame, self.name)
        both = combined(self.trunk.as_link, *held)
        return self.replace(trunk=Body(both.mass, both.com, both.inertia), remarks=(*self.remarks, *asked))

    # -- looking at it -----------------------------------------------------------------------------------

    def neutral(self) -> Vector:
        """The state q (nq,) with all joints at zero and a free base where it starts."""
        from forearm.angles import quaternion_of

        joints = np.zeros(self.n)
        return np.concatenate([self.base.p, quaternion_of(self.base.R), joints]) if self.free else joints

    @faults.explained
    def random_state(self, seed: Any = None, batch: tuple[int, ...] = ()) -> tuple[Vector, Vector, Vector]:
        """Random (q, qd, qdd): joints within their limits, or within ±pi (±1 m) where there are none.

        Joints that follow others are within theirs, too, where all of them can be.
        """
        rng, batch = faults.random_numbers(seed), faults.batch_shape_of(batch)
        led = [i for i, link in enumerate(self.links) if link.name not in self.joint_names and link.limits]
        followers, (B, b) = [self.links[i] for i in led], self.coupling_map
        q = joints_within(rng, self.state_links, batch, followers, (B[led], b[led]))
        if self.free:
            turn = rng.normal(size=(*batch, 4))
            turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
            q = np.concatenate([rng.uniform(-1, 1, (*batch, 3)), turn, q], axis=-1)
        return q, rng.uniform(-2, 2, (*batch, self.nv)), rng.uniform(-5, 5, (*batch, self.nv))

    __repr__ = Part._shown

    def __str__(self) -> str:
        from forearm.description import arm_text
        from forearm.outside.escapes import terminal

        return terminal(arm_text(self))

    def _repr_html_(self) -> str:
        from forearm.description import arm_html

        return arm_html(self)
