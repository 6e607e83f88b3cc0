"""An outside description becomes an Arm; every conversion of units, signs and frames happens here."""

import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from forearm.algebra import Scalar
from forearm.arm import Arm
from forearm.faults import ReadFault, did_you_mean
from forearm.readers.toml import from_toml, parameter_values, read_text, read_toml

__all__ = ["from_toml", "known_arms", "load", "parameters_of", "read_toml"]

FORMATS = {".toml": "toml", ".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}
"""File suffix -> module of this package, whose function read_<module>(path) gives the arm."""


ARMS = Path(__file__).parent.parent / "arms"
"""Where the built-in arms lie."""


def known_arms() -> tuple[str, ...]:
    """Names of the built-in arms."""
    return tuple(sorted(f.stem for f in ARMS.iterdir() if f.suffix == ".toml"))


def load(source: str | Path, *, parameters: Mapping[str, Scalar] | None = None, **options: Any) -> Arm:
    """An arm by name ("puma560") or from a file: .toml, .urdf, .xml (MJCF).

    `parameters` replaces values of a TOML file's [parameters] table, by numbers or symbols: with
    `{"m1": sympy.Symbol("m1")}` the arm "rr" carries a symbol. `options` go to the reader of the format.
    """
    text = str(source)
    if isinstance(source, str) and text in known_arms():
        return from_toml(_built_in(text), f"{text}.toml", parameters)
    module = FORMATS.get(Path(text).suffix.lower())
    if module is None and isinstance(source, str) and not re.search(r"[/\\.]", text):
        known = known_arms()
        raise ReadFault(
            f"there is no built-in arm {text!r}{did_you_mean(text, known)}; give one of {', '.join(known)}, "
            f"or the path of a file ({', '.join(_formats())})."
        )
    if module is None or find_spec(f"forearm.readers.{module}") is None:
        suffix = Path(text).suffix or "no suffix"
        raise ReadFault(f"{text}: files with {suffix} are not read; give {', '.join(_formats())}.")
    if module == "toml":
        return read_toml(source, parameters)
    if parameters:
        raise ReadFault(f"{text}: parameters= belongs to TOML files with a [parameters] table; leave it out.")
    return import_module(f"forearm.readers.{module}").__dict__[f"read_{module}"](source, **options)  # type: ignore[no-any-return]


def parameters_of(source: str | Path) -> dict[str, float]:
    """Names and values of the [parameters] of a built-in arm or of a TOML file.

    `load("rr", parameters={p: sympy.Symbol(p) for p in parameters_of("rr")})` is the arm in symbols.
    """
    if isinstance(source, str) and source in known_arms():
        return parameter_values(_built_in(source), f"{source}.toml")
    return parameter_values(read_text(source), str(source))


def _built_in(name: str) -> str:
    return (ARMS / f"{name}.toml").read_text(encoding="utf-8")


def _formats() -> list[str]:
    return [suffix for suffix, module in FORMATS.items() if find_spec(f"forearm.readers.{module}")]
