"""An outside description becomes an Arm; every conversion of units, signs and frames happens here.

    toml  toml_format/                          our own format: links, keys, lines, numbers with units
    urdf  urdf_elements  urdf_tags              URDF
    mjcf  mjcf_vocabulary  mjcf_leftovers       MJCF, by MuJoCo's compiler, which sees the words that an arm needs
    toolbox                                     a DHRobot of the Robotics Toolbox, which is an object, not a file
    robot_text  serial_chain  serial_arm        what URDF and MJCF share: the table as written, the chain, the arm
    trees/                                      the same for robots with branches: the tree, the robot, which of both
    peer_texts                                  what MuJoCo and Pinocchio are given of a file, to compare with
    xml  file_content                           XML and files from anywhere, read safely

A reader is a module and a row in FORMATS.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from forearm.algebra import Scalar
from forearm.arm import Arm
from forearm.faults import ReadFault, chain_advice, did_you_mean, explained, sound_ends
from forearm.outside.option_names import option
from forearm.readers.toml import from_toml, parameter_values, read_text, read_toml

if TYPE_CHECKING:
    from forearm.readers.toolbox import ToolboxRobot
    from forearm.robot import Robot

__all__ = ["choose_chain", "from_toml", "known_arms", "load", "parameters_of", "read_toml"]

FORMATS = {".toml": "toml", ".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}
"""File suffix -> module of this package, whose function read_<module>(path, **options) gives the arm."""

OF_ONE_FORMAT = ("allow_files", "allow_massless", "check_units")
"""Options that MJCF has and URDF has not, or the other way round."""
FIELDS = (
    "base",
    "configurations",
    "couplings",
    "frames",
    "free",
    "gravity",
    "name",
    "provenance",
    "remarks",
    "tool",
)
"""Fields of an Arm or a Robot that may be said beside a file."""

ARMS = Path(__file__).parent.parent / "arms"
"""Where the built-in arms lie."""


def known_arms() -> tuple[str, ...]:
    """Names of the built-in arms."""
    return tuple(sorted(f.stem for f in ARMS.iterdir() if f.suffix == ".toml"))


@explained
def load(
    source: str | PathLike[str] | ToolboxRobot,
    *,
    parameters: Mapping[str, Scalar] | None = None,
    **options: Any,
) -> Arm | Any:
    """An arm by name ("puma560"), from a file (.toml, .urdf, .xml: MJCF), or from a DHRobot of the Robotics Toolbox.

    A file that is one chain on a fixed base gives an `Arm`; one that branches, whose joints follow others, or whose
    base is free (`base="free"`, or the file says so) gives a `Robot`. `tip="hand"` chooses one chain of it.

    `parameters` replaces values of a TOML file's [parameters] table, by numbers or symbols: with
    `{"m1": sympy.Symbol("m1")}` the arm "rr" carries a symbol. `options` go to the reader of the format.
    """
    asked = {name: value for name, value in options.items() if value is not None}
    if not isinstance(source, (str, PathLike)):
        return _of_an_object(source, asked | ({"parameters": parameters} if parameters else {}))
    text = str(source)
    if isinstance(source, str) and text in known_arms():
        return _checked(text, read_toml, asked)(
            ARMS / f"{text}.toml", parameters=parameters, file=f"{text}.toml", **asked
        )
    module = FORMATS.get(Path(text).suffix.lower())
    if module is None and isinstance(source, str) and not re.search(r"[/\\.]", text):
        known = known_arms()
        raise ReadFault(
            f"there is no built-in arm {text!r}{did_you_mean(text, known)}; give one of {', '.join(known)}, "
            f"or the path of a file ({', '.join(FORMATS)})."
        )
    if module is None:
        suffix = Path(text).suffix or "no suffix"
        raise ReadFault(f"{text}: files with {suffix} are not read; give {', '.join(FORMATS)}.")
    reader = getattr(import_module(f"forearm.readers.{module}"), f"read_{module}")
    if parameters:
        asked["parameters"] = parameters
    return _checked(text, reader, asked)(source, **asked)


def _of_an_object(source: Any, asked: dict[str, Any]) -> Arm:
    """The arm of something that is no file: a robot of the Toolbox."""
    from forearm.readers.toolbox import is_toolbox_robot, read_toolbox

    if not is_toolbox_robot(source):
        kind = f"{type(source).__module__}.{type(source).__name__}"
        raise ReadFault(
            f"load: source is a {kind}; give a name, the path of a file ({', '.join(FORMATS)}), or a DHRobot of the "
            "Robotics Toolbox."
        )
    arm: Arm = _checked(f"robot {getattr(source, 'name', source)!r}", read_toolbox, asked)(source, **asked)
    return arm


def choose_chain(where: str, robot: Robot) -> NoReturn:
    """Refuse a robot where one chain is needed, and name the ends of its arms first."""
    from forearm.chain_cuts import paths

    inner = [link.name for link in robot.frames if link.link and link.name not in robot.tips]
    some = list(dict.fromkeys((*sound_ends(robot), *robot.tips, *inner)))
    listed = ", ".join(map(repr, some[:8])) + (f" and {len(some) - 8} more" if len(some) > 8 else "")
    why = (
        "its base is free"
        if robot.free
        else "some of its joints follow others"
        if robot.couplings
        else "it branches"
    )
    if len(paths(robot.parents)) > 1:
        why = f"it has {len(paths(robot.parents))} branches"
    said = f"{where}: robot {robot.name!r} is no single chain ({why}), and this takes one."
    if not takes_options(where):  # a TOML file has no option that would choose
        raise ReadFault(f"{said} In Python, {chain_advice(robot)}" if robot.tips else said)
    raise ReadFault(
        f"{said} Choose where it ends, {option('tip', repr(some[0]))}: {listed} (what hangs beside the chain is then "
        "held at zero)."
    )


def takes_options(source: str) -> bool:
    """Whether a source is a file whose reader chooses a chain: URDF, MJCF."""
    return FORMATS.get(Path(source).suffix.lower(), "toml") != "toml"


def _checked(text: str, reader: Callable[..., Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """The reader, if it has these options: nothing that was asked for is ignored."""
    known = inspect.signature(reader).parameters
    if "parameters" in options and "parameters" not in known:
        raise ReadFault(f"{text}: parameters= belongs to TOML files with a [parameters] table; leave it out.")
    takes_fields = any(p.kind is p.VAR_KEYWORD for p in known.values())  # of an arm, which are many
    for name in options:
        if name not in known and (not takes_fields or name in OF_ONE_FORMAT):
            raise ReadFault(
                f"{text}: {option(name)} does nothing in this format, which says it itself; leave it out."
            )
        if name not in known and name not in FIELDS:
            options_there = [x for x in known if known[x].kind is known[x].KEYWORD_ONLY]
            raise ReadFault(
                f"{text}: there is no option {name}={did_you_mean(name, (*options_there, *FIELDS))}; give "
                f"{', '.join((*options_there, *FIELDS))}."
            )
    return reader


@explained
def parameters_of(source: str | Path) -> dict[str, float]:
    """Names and values of the [parameters] of a built-in arm or of a TOML file.

    `load("rr", parameters={p: sympy.Symbol(p) for p in parameters_of("rr")})` is the arm in symbols.
    """
    if isinstance(source, str) and source in known_arms():
        return parameter_values(read_text(ARMS / f"{source}.toml"), f"{source}.toml")
    return parameter_values(read_text(source), str(source))
