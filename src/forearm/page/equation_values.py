"""The tagged equations of a formulation with the values that its file computes, as a graph.

The file itself is run once on traced scalars; after each tagged statement the value of its left side is noted. The
graph of all those values, compiled, gives them for any state: what stands beside an equation is what that line made.
"""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.counting.meter.line_tags import tags
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia, moved_ten, ten_from

LARGEST = 6000
"""Operations beyond which a formulation is not put into a page."""


@dataclass(frozen=True)
class EquationValue:
    """One run of a tagged line."""

    tag: str
    """The equation's number in its paper."""
    name: str
    """The left side, as written: `w[i]`."""
    line: str
    """The statement, as written, on one line."""
    link: int
    """Which link the loop was at; 0 outside of loops over links."""
    first: int
    """Where its numbers begin among all values."""
    shape: tuple[int, ...]
    """Shape of the value."""


def equation_values(arm: Arm, stem: str) -> tuple[Graph, list[EquationValue]] | None:
    """The graph q, qd, qdd, payload, gravity -> values, and what each of them is; None where it is too large."""
    row = FORMULATIONS[stem]
    if not row.accepts(arm) or "joint_torques" not in row.gives or row.needs:
        return None
    noted: list[tuple[str, str, str, int, Any]] = []

    def values(q: Any, qd: Any, qdd: Any, payload: Any, gravity: Any) -> Any:
        loaded = _loaded(arm.without_drives(), payload).replace(gravity=tuple(gravity))
        with _watching(str(Path(row.module.__file__ or "").resolve()), noted):
            row.joint_torques(loaded, q, qd, qdd)
        flat = [x for *_, value in noted for x in np.asarray(value, dtype=object).ravel()]
        return np.array(flat, dtype=object)

    n = arm.n
    ports = {"q": (n,), "qd": (n,), "qdd": (n,), "payload": (10,), "gravity": (3,)}
    graph = trace(values, ports, name=f"equations of {stem}", outputs=("values",))
    if graph.counts.operations > LARGEST:
        return None
    found, first = [], 0
    for tag, name, line, link, value in noted:
        shape = np.shape(value)
        found.append(EquationValue(tag, name, line, link, first, shape))
        first += int(np.prod(shape, dtype=int))
    return lower(graph, 0), found


def _loaded(arm: Arm, payload: Any) -> Arm:
    """The arm with a body in its tool, in traced numbers; without it where the last link has no mass to add to."""
    link = arm.links[-1]
    mass, h, J = link.ten
    if not float(mass) > 0:
        return arm
    number, pose = arm.place_of("tool")
    if number != arm.n:
        return arm
    more, more_h, more_J = moved_ten(ten_from(payload), pose.inverse())
    total = mass + more
    held = link.replace(mass=total, com=tuple((h + more_h) / total), inertia=Inertia.about_origin(J + more_J))
    return arm.replace(links=(*arm.links[:-1], held))


@contextmanager
def _watching(file: str, noted: list[Any]) -> Iterator[None]:
    """Note the left side of every tagged statement of a file, after it ran."""
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: _Watch(file, noted) if _is_written(frame, file) else None)
    try:
        yield
    finally:
        sys.settrace(before)


def _is_written(frame: FrameType, file: str) -> bool:
    """Whether a call is one of a function that is written in a file (not of a comprehension in it)."""
    return frame.f_code.co_filename == file and not frame.f_code.co_name.startswith("<")


class _Watch:
    """Follows the lines of one call."""

    def __init__(self, file: str, noted: list[Any]) -> None:
        self.file, self.noted = file, noted
        self.last: int | None = None

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event in ("line", "return"):
            statement = None if self.last is None else _statements(self.file).get(self.last)
            ended = statement is None or not statement.first <= frame.f_lineno <= statement.last
            if statement is not None and (ended or event == "return"):
                self._note(statement, frame)
                self.last = None
            if event == "line" and (ended or self.last is None):
                self.last = frame.f_lineno
        return self

    def _note(self, statement: "_Statement", frame: FrameType) -> None:
        link = frame.f_locals.get("i", 0)
        for name, code in statement.targets:
            value = eval(
                code, frame.f_globals, frame.f_locals
            )  # a name of our own file, as it is written there
            if statement.appends:
                link, value = len(value), value[-1]
            if isinstance(value, (list, tuple, dict)) or callable(value):
                continue
            number = int(link) if isinstance(link, (int, np.integer)) else 0
            self.noted.append((statement.tag, name, statement.text, number, value))


@dataclass(frozen=True)
class _Statement:
    tag: str
    text: str
    first: int
    last: int
    targets: tuple[tuple[str, CodeType], ...]
    appends: bool


@cache
def _statements(file: str) -> dict[int, _Statement]:
    """Tagged assignments and appends of a file, by each of their lines."""
    text = Path(file).read_text(encoding="utf-8")
    tagged, found = tags(file), {}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Assign, ast.Expr)) or node.lineno not in tagged:
            continue
        targets = [ast.unparse(t) for t in _targets(node)]
        if not targets:
            continue
        statement = _Statement(
            tagged[node.lineno],
            ast.unparse(node),
            node.lineno,
            node.end_lineno or node.lineno,
            tuple((name, compile(name, file, "eval")) for name in targets),
            isinstance(node, ast.Expr),
        )
        for line in range(statement.first, statement.last + 1):
            found[line] = statement
    return found


def _targets(node: ast.Assign | ast.Expr) -> list[ast.expr]:
    """Left sides of an assignment; the list that something is appended to."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return list(target.elts) if isinstance(target, ast.Tuple) else [target]
    call = node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        return [call.func.value]
    return []
