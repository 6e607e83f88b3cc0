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
from forearm.formulations import FORMULATIONS, Formulation
from forearm.inertia import Inertia, center_of, moved_ten, sum_of_tens, ten_from
from forearm.outside.syntax_trees import syntax_tree
from forearm.strobing import DEFAULT, torques_of

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
    if not row.accepts(arm):
        return None
    noted: list[tuple[str, str, str, int, Any]] = []

    def values(q: Any, qd: Any, qdd: Any, payload: Any, gravity: Any) -> Any:
        loaded = _loaded(arm.without_drives(), payload).replace(gravity=tuple(gravity))
        with _watching(str(Path(row.module.__file__ or "").resolve()), noted):
            _run(row, loaded, q, qd, qdd)
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
        number = link if link <= n else 0  # an index that runs over more than links
        found.append(EquationValue(tag, name, line, number, first, shape))
        first += int(np.prod(shape, dtype=int))
    return lower(graph, 0), found


def _run(row: Formulation, arm: Arm, q: Any, qd: Any, qdd: Any) -> None:
    """Let a formulation compute what it is for: torques, else the accelerations that they cause, else M."""
    if "joint_torques" in row.gives:
        torques_of(row.stem)(arm, q, qd, qdd)
    elif "joint_accelerations" in row.gives:
        row.joint_accelerations(arm, q, qd, torques_of(DEFAULT)(arm, q, qd, qdd))
    else:
        row.mass_matrix(arm, q)


def _loaded(arm: Arm, payload: Any) -> Arm:
    """The arm with a body in its tool, in traced numbers."""
    link, (_, pose) = arm.links[-1], arm.place_of("tool")
    mass, moment, inertia = sum_of_tens(link.ten, moved_ten(ten_from(payload), pose.inverse()))
    held = link.replace(mass=mass, com=tuple(center_of(mass, moment)), inertia=Inertia.about_origin(inertia))
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
        if event == "exception":  # Ctrl-C, a time limit: a statement that did not end has nothing on its left
            self.last = None
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
        at, least = statement.index
        given = frame.f_locals.get(at)
        for name, code in statement.targets:
            value = eval(
                code, frame.f_globals, frame.f_locals
            )  # a name of our own file, as it is written there
            link = int(given) + 1 - least if isinstance(given, (int, np.integer)) else 0
            if statement.adds is not None:
                link, value = link or len(value), value[statement.adds]
            if isinstance(value, (list, tuple, dict)) or callable(value):
                continue
            self.noted.append((statement.tag, name, statement.text, link, value))


@dataclass(frozen=True)
class _Statement:
    tag: str
    text: str
    first: int
    last: int
    targets: tuple[tuple[str, CodeType], ...]
    adds: int | None
    index: tuple[str, int]


@cache
def _statements(file: str) -> dict[int, _Statement]:
    """Tagged assignments and appends of a file, by each of their lines."""
    text = Path(file).read_text(encoding="utf-8")
    tagged, found = tags(file), {}
    for node, loops in _within_loops(syntax_tree(text), ()):
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
            _added(node),
            _index(loops),
        )
        for line in range(statement.first, statement.last + 1):
            found[line] = statement
    return found


def _within_loops(node: ast.AST, loops: tuple[ast.For, ...]) -> Iterator[tuple[ast.AST, tuple[ast.For, ...]]]:
    """Every node with the loops of its function around it, the outermost first."""
    inner = (
        () if isinstance(node, ast.FunctionDef) else (*loops, node) if isinstance(node, ast.For) else loops
    )
    for child in ast.iter_child_nodes(node):
        yield child, inner
        yield from _within_loops(child, inner)


def _index(loops: tuple[ast.For, ...]) -> tuple[str, int]:
    """What a statement calls its link, which is the index of its outermost loop, and the number of the first link."""
    for loop in loops[:1]:
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
        counts = (
            isinstance(loop.iter, ast.Call)
            and ast.unparse(loop.iter.func) == "range"
            and len(loop.iter.args) == 1
        )
        return ast.unparse(target), 0 if counts else 1
    return "i", 1


def _targets(node: ast.Assign | ast.Expr) -> list[ast.expr]:
    """Left sides of an assignment; the list that something is put into."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return list(target.elts) if isinstance(target, ast.Tuple) else [target]
    call = node.value
    return [call.func.value] if _added(node) is not None else []  # type: ignore[attr-defined]


def _added(node: ast.Assign | ast.Expr) -> int | None:
    """Where a list has what `append` or `insert(0, …)` put into it; None for other statements."""
    call = node.value
    if isinstance(node, ast.Expr) and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return {"append": -1, "insert": 0}.get(call.func.attr)
    return None
