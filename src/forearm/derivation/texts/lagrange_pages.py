r"""The steps from the Lagrangian to the torques as text, LaTeX and Markdown: one list of lines, three spellings."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from forearm.derivation.expressions.expression import Expression
from forearm.derivation.expressions.formula_latex import letter
from forearm.derivation.expressions.formula_text import TEXT, Style, joined, pieces
from forearm.derivation.texts.latex_arm import arm_latex
from forearm.derivation.texts.latex_lines import aligned, broken, style_for, torque_lines, vector_pieces
from forearm.derivation.texts.latex_page import abbreviations, latex_document
from forearm.derivation.texts.plain_page import torque_text
from forearm.derivation.texts.written_digits import digit_notes
from forearm.outside.escapes import latex, markdown, one_line

if TYPE_CHECKING:
    from forearm.algebra import Vector
    from forearm.derivation.lagrange_steps import LagrangeSteps


TITLE = "From the Lagrangian to the torques: "


class Line(NamedTuple):
    """One equation."""

    plain: str
    """The left side for the terminal."""
    latex: str
    """The left side in LaTeX."""
    right: "Expression | Vector"
    """The right side: a formula, or a vector of three."""
    less: Expression | None = None
    """What is taken from an energy of motion, which is written as half a sum; None where it is no such energy."""


def _sections(steps: "LagrangeSteps") -> Iterator[tuple[str, list[Line]]]:
    zero = steps.equations.ring.constant(0)
    for i, x in enumerate(steps.links, 1):
        yield (
            f"Link {i}",
            [
                Line(f"p_c{i}", f"p_{{c{i}}}", x.center),
                Line(f"v_c{i}", f"v_{{c{i}}}", x.velocity),
                Line(f"v_c{i}^2", f"v_{{c{i}}}^2", x.speed_squared),
                Line(f"w{i}", rf"\omega_{{{i}}}", x.angular_velocity),
                Line(f"T{i}", f"T_{{{i}}}", x.T, zero),
                Line(f"V{i}", f"V_{{{i}}}", x.V),
            ],
        )
    yield (
        "Energies",
        [
            Line("T", "T", steps.T, zero),
            Line("V", "V", steps.V),
            Line("L = T - V", "L = T - V", steps.T, steps.V),
        ],
    )
    equations = steps.equations
    dotted = style_for(equations)
    for i, (q, qd) in enumerate(zip(equations.coordinates, equations.speeds, strict=True)):
        by_speed = rf"\frac{{\partial L}}{{\partial {dotted.name(equations.ring, qd)}}}"
        by_place = rf"\frac{{\partial L}}{{\partial {letter(equations.ring, q)}}}"
        yield (
            f"Joint {i + 1}",
            [
                Line(f"dL/d{qd}", by_speed, steps.dL_dqd[i]),
                Line(f"d/dt dL/d{qd}", rf"\frac{{d}}{{dt}} {by_speed}", steps.rates[i]),
                Line(f"dL/d{q}", by_place, steps.dL_dq[i]),
            ],
        )


def _torque_left(steps: "LagrangeSteps", i: int) -> str:
    qd, q = steps.equations.speeds[i], steps.equations.coordinates[i]
    return f"tau{i + 1} = d/dt dL/d{qd} - dL/d{q}"


def notes_of(steps: "LagrangeSteps") -> tuple[str, ...]:
    """What a reader should know: of the equations, and of the numbers on the way to them."""
    equations = steps.equations
    rounded = digit_notes(equations, *(row.right for _, rows in _sections(steps) for row in rows))
    return tuple(dict.fromkeys((*equations.notes, *rounded)))


def _verdict(steps: "LagrangeSteps") -> str:
    found = "are" if steps.equal else "are NOT"
    return f"The torques {found} those of the closed form, term by term."


def lagrange_text(steps: "LagrangeSteps") -> str:
    """Every step on a line of its own."""
    lines = [TITLE + f"arm {one_line(steps.equations.arm.name)!r}", *(f"  {x}" for x in notes_of(steps))]
    for title, rows in _sections(steps):
        lines += ["", title.lower()]
        for row in rows:
            lines.append(f"  {row.plain} = {_plain(row)}")
    lines += ["", "torques"]
    for i in range(steps.equations.n):
        lines.append(f"  {_torque_left(steps, i)} = {torque_text(steps.collected, i)}")
    if steps.equations.check is not None:
        lines += ["", f"{_verdict(steps)} Check: {steps.equations.check}."]
    return "\n".join(lines)


def _plain(row: Line) -> str:
    if isinstance(row.right, Expression):
        return joined(_pieces(row, TEXT)) or "0"
    return f"[{', '.join(map(str, row.right))}]"


def _pieces(row: Line, style: Style) -> Iterator[tuple[bool, str]]:
    """The terms of a right side."""
    if not isinstance(row.right, Expression):
        yield from vector_pieces(row.right, style)
    elif row.less is None:
        yield from pieces(row.right, style)
    else:
        half = style.number(Fraction(1, 2)) + style.times
        words = list(pieces(row.right * 2, style))
        for k, (negative, word) in enumerate(words):
            first, last = f"{half}(" if k == 0 else "", ")" if k == len(words) - 1 else ""
            sign = "-" if negative and k == 0 else ""  # inside the bracket
            yield negative and k > 0, first + sign + word + last
        yield from pieces(-row.less, style)


def _latex_rows(steps: "LagrangeSteps", rows: list[Line]) -> list[str]:
    style = style_for(steps.equations)
    return [broken(row.latex, _pieces(row, style)) for row in rows]


def lagrange_latex(steps: "LagrangeSteps", document: bool) -> str:
    """Every step, with headings; as a page of its own if asked for."""
    equations = steps.equations
    parts = [
        f"\\section*{{{TITLE}{latex(equations.arm.name)}}}",
        f"Rates are dotted; {abbreviations(equations)} Vectors are in world axes, angular velocities in those of "
        r"their link; $\tau_i = \frac{d}{dt} \frac{\partial L}{\partial \dot{q}_i} - \frac{\partial L}{\partial q_i}$.",
        *(f"\\emph{{{latex(note)}.}}" for note in notes_of(steps)),
    ]
    for title, rows in _sections(steps):
        parts += [f"\\subsection*{{{title}}}", aligned(_latex_rows(steps, rows))]
    parts += ["\\subsection*{Torques}", aligned(torque_lines(steps.collected, style_for(equations)))]
    parts.append(f"\\noindent {_verdict(steps)} Check: {latex(str(equations.check))}.")
    return latex_document([parts[0], *arm_latex(equations), *parts[1:]]) if document else "\n\n".join(parts)


def lagrange_markdown(steps: "LagrangeSteps") -> str:
    """Every step as a report that renders where Markdown with formulas does."""
    equations = steps.equations
    parts = [
        f"# {TITLE}{markdown(equations.arm.name)}",
        f"Rates are dotted; {abbreviations(equations)}",
        *(f"*{markdown(note)}.*" for note in notes_of(steps)),
    ]
    sections = [(title, _latex_rows(steps, rows)) for title, rows in _sections(steps)]
    sections.append(("Torques", torque_lines(steps.collected, style_for(equations))))
    for title, lines in sections:
        body = " \\\\\n".join(lines)
        parts += [f"## {title}", f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"]
    parts.append(f"{_verdict(steps)} Check: {markdown(str(equations.check))}.")
    return "\n\n".join(parts) + "\n"
