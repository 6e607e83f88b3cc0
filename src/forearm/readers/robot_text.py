"""A robot as its file has it: a table of links and joints, each with its line. URDF and MJCF both become this."""

from dataclasses import dataclass, field
from typing import NoReturn

from forearm.faults import ReadFault
from forearm.readers.file_content import shortened

MOVING = ("revolute", "continuous", "prismatic")
"""Kinds of joints with one degree of freedom."""

Numbers = tuple[float, float, float]


@dataclass(frozen=True)
class Frame:
    """An <origin> as written."""

    xyz: Numbers = (0.0, 0.0, 0.0)
    """Position [m]."""
    rpy: Numbers = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw [rad]."""
    line: int = 0
    """Where it stands in the file."""


@dataclass(frozen=True)
class BodyText:
    """An <inertial> as written."""

    origin: Frame
    """Centre of mass and the axes of the tensor, in the link's frame."""
    mass: float
    """Mass [kg]."""
    moments: tuple[float, ...]
    """ixx, ixy, ixz, iyy, iyz, izz about the centre of mass [kg m²]."""
    line: int
    """Where it stands in the file."""

    @property
    def tensor(self) -> tuple[Numbers, ...]:
        """The moments as a symmetric matrix."""
        xx, xy, xz, yy, yz, zz = self.moments
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


@dataclass(frozen=True)
class LinkText:
    """A <link> as written; visual and collision are not looked at."""

    name: str
    body: BodyText | None
    line: int


@dataclass(frozen=True)
class Mimic:
    """A <mimic>: position = multiplier times the other joint's plus offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class JointText:
    """A <joint> as written."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Frame
    axis: Numbers
    line: int
    limits: tuple[float, float] | None = None
    speed: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    armature: float = 0.0
    """Rotor inertia at the joint (MJCF only)."""
    offset: float = 0.0
    """Added to q (MJCF only)."""
    unused: tuple[str, ...] = ()
    """Attributes of <dynamics> that this library does not know."""

    @property
    def moving(self) -> bool:
        """Whether the joint has one degree of freedom."""
        return self.kind in MOVING


@dataclass
class RobotText:
    """A file as written: names to links and joints, in the file's order."""

    file: str
    name: str
    links: dict[str, LinkText] = field(default_factory=dict)
    joints: dict[str, JointText] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fault(self, line: int, sentence: str) -> NoReturn:
        """Refuse the file, naming the line."""
        raise ReadFault(f"{self.file}:{line}: {shortened(sentence)}")
