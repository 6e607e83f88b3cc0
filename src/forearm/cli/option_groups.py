"""Options that several verbs share: how a robot's file is read, units of a motion's file, what a log holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from forearm.cli.hyphens import Hyphen
from forearm.cli.measures import NumberIfAny, PlainNumbers, plain_number

Flag = Annotated[bool, Parameter(negative=())]
"""A word that says yes; nothing says no."""
Source = Annotated[str, Hyphen.STDIN]
"""What is read: a name, a file, or - for stdin."""
Target = Annotated[str, Hyphen.STDOUT]
"""What is written: a file, or - for stdout."""
Out = Annotated[Target, Parameter(name=["--out", "-o"])]
"""A file to write to, or - for stdout."""

READING = Group("Reading a file", sort_key=8)


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Reading:
    """How a robot's file becomes an arm; options of the readers."""

    tip: str | None = None
    """Last link of the chain (URDF, MJCF)."""
    root: str | None = None
    """First link of the chain, fixed to the world."""
    lock: Annotated[tuple[str, ...], Parameter(consume_multiple=1, negative=())] = ()
    """Joints to hold, with their positions: --lock finger=0.02 thumb=0."""
    snap_right_angles: NumberIfAny = None
    """Make angles exact that are this near to a right angle [rad]: 1e-3."""
    keep_defects: Flag = False
    """Load impossible inertias as they are, as declared defects."""
    allow_massless: Flag = False
    """Take moving links without <inertial> as massless (URDF)."""
    any_units: Flag = False
    """Do not ask whether large numbers are degrees, millimetres or grams (URDF)."""
    base: str | None = None
    """'free' for a robot whose base moves freely (URDF)."""
    allow_files: Flag = False
    """Let MuJoCo open the files that a model names (MJCF), if you trust it."""

    def options(self) -> dict[str, Any]:
        """What was asked for, as arguments of `load`."""
        asked: dict[str, Any] = {
            "tip": self.tip,
            "root": self.root,
            "lock": _positions(self.lock),
            "base": self.base,
            "right_angles": self.snap_right_angles,
            "keep_defects": self.keep_defects,
            "allow_massless": self.allow_massless,
            "allow_files": self.allow_files,
        }
        given = {name: value for name, value in asked.items() if value not in (None, False, {})}
        return given | ({"check_units": False} if self.any_units else {})


AS_WRITTEN = Reading()


def _positions(words: Sequence[str]) -> dict[str, float]:
    from forearm.faults import StateFault

    positions = {}
    for word in words:
        name, _, value = word.rpartition("=")
        try:
            position = plain_number(value)
        except ValueError:
            name = ""
        if not name:
            raise StateFault(f"--lock has {word!r}; give a joint and its position, like finger=0.02.")
        if name in positions:
            raise StateFault(f"--lock has {name!r} twice; give each joint one position.")
        positions[name] = position
    return positions


@Parameter(name="*", group=Group("Reading a motion", sort_key=6))
@dataclass(frozen=True)
class FileUnits:
    """Units of a motion's or a log's file, where its header does not say."""

    degrees: Flag = False
    """Angles of the file are in degrees, where its header does not say."""
    radians: Flag = False
    """They are in radians, however large."""
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    """Unit of the file's time, where its header does not say: s, ms, us, ns (s)."""

    def given(self) -> dict[str, Any]:
        """What was said, by the names of the shell."""
        return {"--degrees": self.degrees, "--radians": self.radians, "--time-unit": self.time_unit}

    def options(self) -> dict[str, Any]:
        """What was said, as arguments of the readers; None where nothing was."""
        from forearm.faults import StateFault

        if self.degrees and self.radians:
            raise StateFault("--degrees and --radians were given; give one or the other.")
        return {
            "degrees": self.degrees if self.degrees or self.radians else None,
            "time_unit": self.time_unit,
        }


AS_SAID = FileUnits()


@Parameter(name="*", group=Group("Reading a log", sort_key=5))
@dataclass(frozen=True)
class LogReading:
    """From what a log holds to joints and torques."""

    gains: PlainNumbers = ()
    """Torque of each joint for one ampere, where the log has currents; nan for those to be found."""
    coupling: PlainNumbers = ()
    """For a log of motors: their reductions, or B of q_joint = B q_motor row by row."""
    zero: PlainNumbers = ()
    """Where the joints are when the log reads zero [rad, m], if the description has its zero elsewhere."""
    cutoff: NumberIfAny = None
    """Cut-off of the filters [Hz]; from the data otherwise."""

    def options(self, n: int) -> dict[str, Any]:
        """Arguments of `identify` and `watch` for an arm of n joints."""
        rows = [self.coupling[n * i : n * i + n] for i in range(n)]
        coupling = rows if n > 1 and len(self.coupling) == n * n else list(self.coupling)
        return {
            "gains": self.gains or None,
            "coupling": coupling or None,
            "zero": self.zero or None,
            "cutoff": self.cutoff,
        }


AS_LOGGED = LogReading()
