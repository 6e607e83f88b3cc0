"""One table of a TOML file, read key by key; every complaint carries file and line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from forearm.algebra import Scalar
from forearm.faults import ReadFault, did_you_mean, physical_faults
from forearm.readers.file_content import shortened
from forearm.readers.toml_format.toml_text import Path, key_lines, line_of
from forearm.readers.toml_format.toml_values import UNITS, NotAQuantity, quantity

REQUIRED: Any = object()
"""Stands for 'there is no default'."""

SUFFIXES = {"_deg": "90 deg", "_mm": "433 mm", "_cm": "43.3 cm", "_in": "26.45 in", "_g": "820 g"}
"""Units that people put into keys; here they go with the value."""


@dataclass
class Source:
    """A file that is being read."""

    file: str
    """Its name, for messages."""
    text: str
    """What is in it."""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    """Values of the named parameters."""

    def fault(self, path: Path, message: str) -> NoReturn:
        """Refuse, with file and line."""
        raise ReadFault(f"{self.place(path)}: {shortened(message)}")

    def place(self, path: Path) -> str:
        """File and line of a path."""
        return f"{self.file}:{line_of(key_lines(self.text), path)}"

    def place_of_bodies(self, links: Any, declared: Any) -> str:
        """File and line of the first body that cannot be and is not declared; the file alone where there is none."""
        known = {(defect.link, defect.kind) for defect in declared}
        impossible = next(
            (number for number, kind in physical_faults(links) if (number, kind) not in known), None
        )
        return self.file if impossible is None else self.place(("link", impossible - 1, "inertia"))


@dataclass
class TomlTable:
    """One table: what it holds, how to name it in a message, which keys were asked for."""

    source: Source
    path: Path
    content: Mapping[str, Any]
    title: str
    """How a message names the table: "link 2 'shoulder'"."""
    known: dict[str, None] = field(default_factory=dict)
    """Keys that were asked for, in their order: a table may have thousands."""

    def fault(self, key: str | None, message: str) -> NoReturn:
        """Refuse something about a key, or about the whole table."""
        path = self.path if key is None else (*self.path, key)
        self.source.fault(path, f"{self.title}: {message}" if self.title else message)

    def has(self, key: str) -> bool:
        """Whether the key is there; asking makes it a known key."""
        self.known.setdefault(key)
        return key in self.content

    def raw(self, key: str, default: Any, expected: str) -> Any:
        """The value as TOML has it."""
        if self.has(key):
            return self.content[key]
        if default is REQUIRED:
            self._misspelt(key)
            self.fault(None, f"{key!r} is missing; give {key} = {expected}.")
        return default

    def scalar(self, key: str, dimension: str, default: Any = REQUIRED) -> Any:
        """A quantity of the given dimension, in SI."""
        expected = f".. in {next(iter(UNITS[dimension]))}" if UNITS[dimension] else ".., a number"
        value = self.raw(key, default, expected)
        return value if not self.has(key) else self._quantity(key, key, value, dimension)

    def vector(self, key: str, dimension: str, n: int = 3, default: Any = REQUIRED) -> Any:
        """Several quantities of one dimension, as a tuple."""
        return self.quantities(key, [dimension] * n, default)

    def quantities(self, key: str, dimensions: Sequence[str], default: Any = REQUIRED) -> Any:
        """One quantity for each dimension, as a tuple."""
        n = len(dimensions)
        value = self.raw(
            key, default, f"[{', '.join(['..'] * min(n, 3))}{', ..' if n > 3 else ''}], {n} numbers"
        )
        if not self.has(key):
            return value
        if not isinstance(value, list) or len(value) != n:
            given = f"{len(value)} values" if isinstance(value, list) else repr(value)
            self.fault(key, f"{key} has {given}; give a list of {n} numbers, [..].")
        items = enumerate(zip(value, dimensions, strict=True))
        return tuple(self._quantity(key, f"{key}[{i}]", v, dimension) for i, (v, dimension) in items)

    def matrix(self, key: str, dimension: str) -> Any:
        """A 3x3 matrix as a tuple of rows."""
        rows = self.raw(key, REQUIRED, "[[..], [..], [..]]")
        if not (
            isinstance(rows, list)
            and len(rows) == 3
            and all(isinstance(r, list) and len(r) == 3 for r in rows)
        ):
            self.fault(key, f"{key} is {rows!r}; give three rows of three numbers.")
        return tuple(tuple(self._quantity(key, key, x, dimension) for x in row) for row in rows)

    def text(self, key: str, default: Any = REQUIRED) -> Any:
        """A string."""
        value = self.raw(key, default, '".."')
        if self.has(key) and not isinstance(value, str):
            self.fault(key, f'{key} is {value!r}; give text in quotes, {key} = "..".')
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.raw(key, default, "true or false")
        if not isinstance(value, bool):
            self.fault(key, f"{key} is {value!r}; give true or false, without quotes.")
        return value

    def word(self, key: str, allowed: Sequence[str], default: Any = REQUIRED) -> Any:
        """One of a few words."""
        choices = ", ".join(f'"{a}"' for a in allowed)
        value = self.raw(key, default, f"one of {choices}")
        if self.has(key) and value not in allowed:
            hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
            self.fault(key, f"{key} is {value!r}{hint}; give one of {choices}.")
        return value

    def table(self, key: str, title: str) -> "TomlTable | None":
        """A table inside this one, or None."""
        value = self.raw(key, None, "")
        if value is not None and not isinstance(value, dict):
            self.fault(key, f"{key} is {value!r}; give a table, {key} = {{ .. }} or [{key}].")
        return None if value is None else TomlTable(self.source, (*self.path, key), value, title)

    def tables(self, key: str) -> list[dict[str, Any]]:
        """An array of tables, [[key]]."""
        value = self.raw(key, [], f"tables headed [[{key}]]")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fault(key, f"{key} is {value!r}; give tables headed [[{key}]], two brackets each side.")
        return value

    def done(self, because: str = "") -> None:
        """Refuse the first key that nobody asked for."""
        for key in self.content:
            if key not in self.known:
                self._unit_in_key(key)
                known = ", ".join(self.known)
                self.fault(
                    key, f"unknown key {key!r}{did_you_mean(key, self.known)}; keys here: {known}.{because}"
                )

    def _misspelt(self, key: str) -> None:
        """A missing key may be there under a name that is nearly right."""
        for other in self.content:
            if other in self.known:
                continue
            if other.startswith(f"{key}_"):
                self._unit_in_key(other)
            if did_you_mean(other, [key]):
                self.fault(other, f"unknown key {other!r}, and {key!r} is missing; did you mean {key!r}?")

    def _unit_in_key(self, key: str) -> None:
        suffix = next((s for s in SUFFIXES if key.endswith(s)), "")
        if suffix:
            plain = key.removesuffix(suffix)
            self.fault(key, f'unknown key {key!r}; units go with the value: {plain} = "{SUFFIXES[suffix]}".')

    def _quantity(self, key: str, shown: str, value: Any, dimension: str) -> Any:
        try:
            return quantity(value, dimension, self.source.parameters)
        except NotAQuantity as error:
            self.fault(key, f"{shown} {error}.")
