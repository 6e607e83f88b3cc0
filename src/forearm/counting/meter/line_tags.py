"""Where an operation was written: the equation's tag and the kind of expression, from the calling frame.

A formulation tags the lines that carry an equation (`# (12)` at the right margin). An operation on a counted
scalar belongs to the innermost tagged line of the formulation on the stack: NumPy's products call the scalar
from C, so the frame is the formulation's own; `cross` of `algebra` is walked over; a helper without a
tag hands over to the line that called it; an untagged line of a quantity's own function (`joint_torques`, ...)
is bookkeeping (building A_i and the like), which the papers leave out.
"""

from __future__ import annotations

import ast
import dis
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FrameType

import forearm.algebra
import forearm.formulations

_ALGEBRA = str(Path(forearm.algebra.__file__).resolve())
_SOURCES = (
    str(Path(forearm.formulations.__file__).resolve().parent),
    str(Path(__file__).resolve().parents[1] / "as_counted"),
)
_TAG = re.compile(r"#\s*((?:\([^()\s]+\)[,;]?\s*)+)")

MATRIX, SCALING, SUM, OTHER = "matrix", "scaling", "sum", "other"
"""Kinds of expression: inside a product of matrices or vectors, `*` or `/` written out, `+` or `-` written out."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One instruction of some Python code."""

    inside: bool
    """Whether the code is a formulation (or a variant in `as_counted`)."""
    tag: str
    """The equation, without parentheses; empty where the line has none."""
    outermost: bool
    """Whether the function is that of a quantity, so that no line further up matters."""
    kind: str
    """MATRIX, SCALING, SUM or OTHER."""
    opens_sum: bool
    """Whether this is the first addition of a written sum a + b + c."""
    line: int
    """Line in the file."""


_SPOTS: dict[int, dict[int, Spot]] = {}
"""Spots by the identity of the code and the place of the instruction: hashing a code object reads all of it."""
_KEPT: list[CodeType] = []
"""Code objects that were seen, kept alive so that their identities stay theirs."""
MOST_KEPT = 10_000
"""Then all are forgotten: a program may make code for ever."""


def site(depth: int) -> tuple[Spot, Spot]:
    """The spot that an operation is attributed to, and the innermost one (whose kind of expression counts)."""
    frame: FrameType | None = sys._getframe(depth)
    first: Spot | None = None
    found: Spot | None = None
    while frame is not None:
        known = _SPOTS.get(id(frame.f_code))
        spot = known.get(frame.f_lasti) if known is not None else None
        if spot is None:
            spot = _remember(frame.f_code, frame.f_lasti, frame.f_lineno)
        if first is None:
            first = spot
        if spot.inside:
            if found is None or spot.tag:
                found = spot
            if spot.tag or spot.outermost:
                break
        elif found is not None:
            break
        frame = frame.f_back
    assert first is not None
    return (first if found is None else found), first


def _remember(code: CodeType, offset: int, line: int) -> Spot:
    if id(code) not in _SPOTS:
        if len(_KEPT) >= MOST_KEPT:
            _SPOTS.clear()
            _KEPT.clear()
        _SPOTS[id(code)] = {}
        _KEPT.append(code)
    spot = _SPOTS[id(code)][offset] = _spot(code, offset, line)
    return spot


def _spot(code: CodeType, offset: int, line: int) -> Spot:
    file = code.co_filename
    inside = file.startswith(_SOURCES)
    tag = tags(file).get(line, "") if inside else ""
    outermost = code.co_qualname in forearm.formulations.QUANTITIES
    kind = MATRIX if file == _ALGEBRA else _kind(code, offset)
    return Spot(inside, tag, outermost, kind, inside and kind == SUM and _opens_sum(code, offset), line)


@lru_cache(1000)
def _instructions(code: CodeType) -> dict[int, dis.Instruction]:
    return {instruction.offset: instruction for instruction in dis.get_instructions(code)}


def _kind(code: CodeType, offset: int) -> str:
    instruction = _instructions(code).get(offset)
    if instruction is None:
        return OTHER
    if instruction.opname == "BINARY_OP":
        sign = instruction.argrepr.rstrip("=")
        return {"@": MATRIX, "+": SUM, "-": SUM, "*": SCALING, "/": SCALING, "**": SCALING}.get(sign, OTHER)
    return MATRIX if instruction.opname.startswith("CALL") else OTHER


def _opens_sum(code: CodeType, offset: int) -> bool:
    position = list(code.co_positions())[offset // 2]
    node = _sums(code.co_filename).get(position)
    return node is not None and not (
        isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add | ast.Sub)
    )


@cache
def _sums(file: str) -> dict[tuple[int | None, ...], ast.BinOp]:
    """Every written addition of a file by its position."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {
        (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset): node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    }


@cache
def tags(file: str) -> dict[int, str]:
    """The tag of each line of a formulation; a tag on any line of a statement holds for all of it."""
    text = Path(file).read_text(encoding="utf-8")
    marked = _marked_lines(text)
    result: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else (node.end_lineno or node.lineno)
        lines = range(node.lineno, max(last, node.lineno) + 1)
        tag = next((marked[k] for k in reversed(lines) if k in marked), "")
        if tag:
            result.update(dict.fromkeys(lines, tag))
    return result


def _marked_lines(text: str) -> dict[int, str]:
    """Tag of each line that ends in a comment `# (…)` after code."""
    marked = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
            match = _TAG.match(token.string)
            if match:
                marked[token.start[0]] = ", ".join(re.findall(r"\(([^()\s]+)\)", match.group(1)))
    return marked


def equation_tags(file: str) -> tuple[str, ...]:
    """All tags of a formulation's file, in order of appearance."""
    return tuple(dict.fromkeys(tag for _, tag in sorted(tags(file).items())))
