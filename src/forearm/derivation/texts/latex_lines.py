r"""Equations in LaTeX, line by line: dots for rates, sums broken where a line is full."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from forearm.derivation.expressions.expression import Expression
from forearm.derivation.expressions.formula_latex import LatexStyle, latex_name, letter
from forearm.derivation.expressions.formula_text import Style, joined, pieces

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

WIDTH = 80
"""Characters of printed formula on one line, roughly."""


def style_for(equations: "Equations") -> LatexStyle:
    """The style with dots over the rates."""
    spell = {}
    for q, qd, qdd in zip(equations.coordinates, equations.speeds, equations.accelerations, strict=True):
        head, tail = re.fullmatch(r"(.*?)(_\{\w*\})?", letter(equations.ring, q)).groups("")  # type: ignore[union-attr]
        spell[qd], spell[qdd] = rf"\dot{{{head}}}{tail}", rf"\ddot{{{head}}}{tail}"
    return LatexStyle(r" ", spell)


# -- lines -----------------------------------------------------------------------------------------------


def printed_width(latex: str) -> int:
    """How many characters a formula prints, roughly: commands and braces do not count."""
    plain = re.sub(r"\\(d?dot|tfrac|vec)\b", "", latex)
    plain = re.sub(r"\\[a-zA-Z]+", "x", plain)
    return len(re.sub(r"[{}_^ ]", "", plain)) + plain.count(" + ") + plain.count(" - ")


def broken(left: str, parts: Iterator[tuple[bool, str]]) -> str:
    """`left &= sum`, the sum broken into lines that fit."""
    lines, line, width = [], "", 0
    for negative, word in parts:
        more = printed_width(word) + 3
        if line and width + more > WIDTH:
            lines.append(line)
            line, width = "", 0
        sign = "-" if negative else "+"
        start = not line and not lines
        line += (sign if negative else "") + word if start else f" {sign} {word}"
        width += more
    lines.append(line or "0")
    return f"{left} &= " + " \\\\\n &\\quad ".join(lines)


def torque_pieces(equations: "Equations", i: int, style: Style) -> Iterator[tuple[bool, str]]:
    """tau_i by accelerations, then products of speeds, then gravity."""
    n, ring = equations.n, equations.ring
    qd, qdd = ([style.name(ring, x) for x in names] for names in (equations.speeds, equations.accelerations))
    for j in range(n):
        yield from _times(equations.M[i, j], qdd[j], style)
    for j in range(n):
        for k in range(j, n):
            product = style.power(qd[j], 2) if j == k else f"{qd[j]}{style.times}{qd[k]}"
            yield from _times(equations.christoffel[i, j, k] * (1 if j == k else 2), product, style)
    yield from pieces(equations.g[i], style)


def _times(x: Expression, factor: str, style: Style) -> Iterator[tuple[bool, str]]:
    found = list(pieces(x, style))
    if len(found) == 1:
        negative, word = found[0]
        yield negative, factor if word == "1" else f"{word}{style.times}{factor}"
    elif found:
        whole = all(word.count("(") == word.count(")") for _, word in found)
        negative = whole and all(sign for sign, _ in found)  # a common minus stands in front
        found = [(sign != negative, word) for sign, word in found]
        if sum(printed_width(word) + 3 for _, word in found) < WIDTH:
            yield negative, f"({joined(iter(found))}){style.times}{factor}"
            return
        (first_sign, first), *middle, (last_sign, last) = found  # too long: the bracket spans several lines
        yield negative, f"({'-' if first_sign else ''}{first}"
        yield from middle
        yield last_sign, f"{last}){style.times}{factor}"


# -- whole sets of equations -----------------------------------------------------------------------------


def aligned(lines: list[str]) -> str:
    """Lines below each other, aligned where they say &."""
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _index(*numbers: int) -> str:
    return ("" if max(numbers) < 10 else ",").join(map(str, numbers))


def mass_lines(equations: "Equations", style: Style) -> list[str]:
    """M_ij, upper triangle."""
    n, lines = equations.n, []
    for i in range(n):
        for j in range(i, n):
            names = [f"M_{{{_index(i + 1, j + 1)}}}"] + ([f"M_{{{_index(j + 1, i + 1)}}}"] if i != j else [])
            lines.append(broken(" = ".join(names), pieces(equations.M[i, j], style)))
    return lines


def christoffel_lines(equations: "Equations", style: Style) -> list[str]:
    """Christoffel symbols that are not zero, j <= k."""
    n, lines = equations.n, []
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                x = equations.christoffel[i, j, k]
                if not x.is_zero:
                    names = [f"C^{{{i + 1}}}_{{{_index(j + 1, k + 1)}}}"]
                    names += [f"C^{{{i + 1}}}_{{{_index(k + 1, j + 1)}}}"] if j != k else []
                    lines.append(broken(" = ".join(names), pieces(x, style)))
    return lines


def coriolis_lines(equations: "Equations", style: Style) -> list[str]:
    """The matrix C, for arms small enough that it says more than the symbols."""
    if equations.n > 3:
        return []
    rows = enumerate(equations.C, 1)
    return [
        broken(f"C_{{{_index(i, j)}}}", pieces(x, style)) for i, row in rows for j, x in enumerate(row, 1)
    ]


def gravity_lines(equations: "Equations", style: Style) -> list[str]:
    """g_i."""
    return [broken(f"g_{{{i + 1}}}", pieces(x, style)) for i, x in enumerate(equations.g)]


def torque_lines(equations: "Equations", style: Style) -> list[str]:
    """tau_i, collected."""
    return [broken(rf"\tau_{{{i + 1}}}", torque_pieces(equations, i, style)) for i in range(equations.n)]


def step_lines(equations: "Equations", style: Style) -> list[str]:
    """What the formulation held for each link: vectors by their components along x, y, z."""
    spelled = {
        "w": r"\omega",
        "wd": r"\dot{\omega}",
        "a_c": "a_{c",
        "a_e": "a_{e",
        "tau": r"\tau",
        "pdd": r"\ddot{p}",
    }
    lines = []
    for name, values in equations.steps.items():
        for i, value in enumerate(values, 1):
            if value.ndim == 1 and value.size == 3:
                left = spelled.get(name) or latex_name(name)
                left = f"{left},{i}}}" if "{" in left and not left.endswith("}") else _subscripted(left, i)
                lines.append(broken(left, vector_pieces(value, style)))
    return lines


def _subscripted(left: str, i: int) -> str:
    return f"{left[:-1]},{i}}}" if re.search(r"_\{[^}]*\}$", left) else f"{left}_{{{i}}}"


def vector_pieces(value: Any, style: Style) -> Iterator[tuple[bool, str]]:
    """A vector by its components along x, y, z."""
    for x, unit in zip(value, (r"\vec{\imath}", r"\vec{\jmath}", r"\vec{k}"), strict=True):
        yield from _times(x, unit, style)


SECTIONS = (
    ("Mass matrix", mass_lines),
    ("Christoffel symbols", christoffel_lines),
    ("Coriolis matrix", coriolis_lines),
    ("Gravity", gravity_lines),
    ("Torques", torque_lines),
)
"""What a page shows, in this order; what is empty is left out."""
