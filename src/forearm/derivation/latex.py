r"""Equations in LaTeX: names with subscripts, dots for rates, s and c for sine and cosine."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from forearm.derivation.polynomial import Expression, Ring
from forearm.derivation.trigonometry import Number
from forearm.derivation.writing import SMALL, Style, joined, pieces, plain_number, text_of

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
).split()
WIDTH = 80
"""Characters of printed formula on one line, roughly."""


@dataclass(frozen=True)
class LatexStyle(Style):
    """How LaTeX spells names, numbers and sines."""

    def name(self, ring: Ring, name: str) -> str:
        """One generator: letters, then subscript."""
        if name in ring.inverses:
            return rf"\frac{{1}}{{{text_of(ring.inverses[name], self)}}}"
        if name in self.spell:
            return self.spell[name]
        return latex_name(name) if name.isidentifier() else _foreign(ring, name)

    def power(self, base: str, power: int) -> str:
        """A power; s²₂ stands beside its subscript."""
        return base if power == 1 else f"{base}^{{{power}}}"

    def number(self, c: Number) -> str:
        """Whole, a small fraction, or six digits."""
        if isinstance(c, Fraction) and 1 < c.denominator <= SMALL:
            return rf"\tfrac{{{c.numerator}}}{{{c.denominator}}}"
        mantissa, _, exponent = plain_number(c).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def function(self, ring: Ring, sine: bool, angles: list[tuple[str, int]]) -> str:
        """s_{12}, c_{1-2}; sin θ where an angle has a name of its own."""
        letter = "s" if sine else "c"
        if all(re.fullmatch(r"q\d+", name) for name, _ in angles):
            comma = "," if any(len(name) > 2 for name, _ in angles) else ""
            words = [("-" if k < 0 else "+", name[1:]) for name, k in angles for _ in range(abs(k))]
            signed = any(sign == "-" for sign, _ in words)
            label = "".join(
                f"{sign if signed and (i or sign == '-') else (comma if i else '')}{n}"
                for i, (sign, n) in enumerate(words)
            )
            return f"{letter}_{{{label}}}"
        return rf"\{'sin' if sine else 'cos'} {self._sum(angles)}"

    def _sum(self, angles: list[tuple[str, int]]) -> str:
        if len(angles) == 1 and angles[0][1] == 1:
            return self.name_of_angle(angles[0][0])
        parts = ((k < 0, f"{abs(k) if abs(k) > 1 else ''}{self.name_of_angle(n)}") for n, k in angles)
        return f"({joined(iter(parts))})"

    def name_of_angle(self, name: str) -> str:
        """An angle's own name."""
        return self.spell.get(name) or latex_name(name)


def latex_name(name: str) -> str:
    r"""m1 -> m_{1}, lc1 -> l_{c1}, I1z -> I_{1z}, theta1 -> \theta_{1}."""
    greek = next((g for g in sorted(GREEK, key=len, reverse=True) if name.startswith(g)), None)
    head, rest = (f"\\{greek}", name[len(greek) :]) if greek else (name[0], name[1:])
    rest = rest.replace("_", "")
    return f"{head}_{{{rest}}}" if rest else head


def _foreign(ring: Ring, name: str) -> str:
    from forearm.derivation.sympy_side import sympy

    return str(sympy().latex(ring.meanings[name]))


def style_for(equations: "Equations") -> LatexStyle:
    """The style with dots over the rates."""
    spell = {}
    for q, qd, qdd in zip(equations.coordinates, equations.speeds, equations.accelerations, strict=True):
        head, _, sub = latex_name(q).partition("_")
        tail = f"_{sub}" if sub else ""
        spell[qd], spell[qdd] = rf"\dot{{{head}}}{tail}", rf"\ddot{{{head}}}{tail}"
    return LatexStyle(r" ", spell)


def latex_of(expression: Expression, style: Style | None = None) -> str:
    """One expression in LaTeX."""
    return text_of(expression, style or LatexStyle(" ", {}))


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


def _aligned(lines: list[str]) -> str:
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
                lines.append(broken(left, _vector_pieces(value, style)))
    return lines


def _subscripted(left: str, i: int) -> str:
    return f"{left[:-1]},{i}}}" if re.search(r"_\{[^}]*\}$", left) else f"{left}_{{{i}}}"


def _vector_pieces(value: Any, style: Style) -> Iterator[tuple[bool, str]]:
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


def torque_latex(equations: "Equations") -> str:
    """The torques alone, for a notebook."""
    return _aligned(torque_lines(equations, style_for(equations)))


def equations_latex(equations: "Equations", document: bool) -> str:
    """All equations, with headings; as a page of its own if asked for."""
    style = style_for(equations)
    how = f"by \\texttt{{{_plain(equations.formulation)}}}" if equations.formulation else "from energies"
    parts = [
        f"\\section*{{Equations of motion: {_plain(equations.arm.name)}}}",
        f"Derived {how}; {abbreviations(equations)} Rates are dotted, torques are"
        r" $\tau_i = \sum_j M_{ij}\, \ddot{q}_j + \sum_{jk} C^i_{jk}\, \dot{q}_j \dot{q}_k + g_i$.",
    ]
    if equations.groupings:
        lines = [broken(latex_name(g.name), pieces(g.meaning, style)) for g in equations.groupings]
        parts += ["\\subsection*{Base parameters}", _aligned(lines)]
    if equations.steps:
        lines = step_lines(equations, style)
        parts += ["\\subsection*{Link by link}", _aligned(lines)] if lines else []
    for title, lines_of in SECTIONS:
        lines = lines_of(equations, style)
        parts += [f"\\subsection*{{{title}}}", _aligned(lines)] if lines else []
    if equations.check is not None:
        parts.append(f"\\noindent Check: {_plain(str(equations.check))}.")
    body = "\n\n".join(parts)
    if not document:
        return body
    head = (
        "\\documentclass[11pt]{article}\n\\usepackage[a4paper,margin=22mm]{geometry}\n\\usepackage{amsmath}\n"
    )
    return head + "\\allowdisplaybreaks\n\\begin{document}\n" + body + "\n\\end{document}\n"


def abbreviations(equations: "Equations") -> str:
    """What s and c with numbers mean, by an example of this arm."""
    groups = equations.ring.trigonometry.groups
    sums = [g for g in groups if len(g) > 1 and all(re.fullmatch(r"q\d", n) for n in g)]
    if sums:
        (a, b), plus = sums[0][:2], "-" if any((equations.S < 0).ravel()) else "+"
        label = f"{a[1:]}{b[1:]}" if plus == "+" else f"{a[1:]}-{b[1:]}"
        return (
            f"$s_{{{label}}} = \\sin({latex_name(a)} {plus} {latex_name(b)})$, "
            f"$c_{{{label}}} = \\cos({latex_name(a)} {plus} {latex_name(b)})$ and so on."
        )
    lone = any(re.fullmatch(r"q\d+", name) for group in groups for name in group)
    return r"$s_i = \sin q_i$, $c_i = \cos q_i$." if lone else ""


def _plain(text: Any) -> str:
    return str(text).replace("\\", "").replace("_", r"\_").replace("%", r"\%").replace("&", r"\&")
