"""Equations as a page of plain text, and as a Markdown report."""

from typing import TYPE_CHECKING

from forearm.derivation import latex
from forearm.derivation.writing import TEXT, joined, text_of

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

LONGEST = 40
"""Terms up to which an entry is written out in the terminal."""


def equations_text(equations: "Equations") -> str:
    """Torques, and what there is to know about them; entries of many terms are only counted."""
    how = equations.formulation or "energies"
    exact = "exact" if equations.ring.exact else "floats"
    lines = [f"equations of motion of arm {equations.arm.name!r}, by {how}, {exact}, {equations.size} terms"]
    lines += [f"  {note}" for note in equations.notes]
    lines += [f"  {grouping}" for grouping in equations.groupings]
    for i in range(equations.n):
        terms = equations.g[i].size + sum(
            x.size for x in (*equations.M[i], *equations.christoffel[i].ravel())
        )
        body = joined(latex.torque_pieces(equations, i, TEXT)) if terms <= LONGEST else f"… {terms} terms"
        lines.append(f"tau{i + 1} = {body}")
    if equations.check is not None:
        lines.append(f"check: {equations.check}")
    return "\n".join(lines)


def equations_markdown(equations: "Equations") -> str:
    """A report that renders where Markdown with formulas does."""
    style = latex.style_for(equations)
    how = f"by `{equations.formulation}`" if equations.formulation else "from energies"
    parts = [
        f"# Equations of motion: {equations.arm.name}",
        f"Derived {how} in {equations.seconds:.2g} s, {equations.size} terms. "
        + latex.abbreviations(equations),
        *(f"*{note}.*" for note in equations.notes),
    ]
    if equations.groupings:
        parts += ["## Base parameters", "\n".join(f"- `{grouping}`" for grouping in equations.groupings)]
    sections = [
        ("Link by link", latex.step_lines(equations, style)),
        *((title, lines_of(equations, style)) for title, lines_of in latex.SECTIONS),
    ]
    for title, lines in sections:
        if lines:
            body = " \\\\\n".join(lines)
            parts += [f"## {title}", f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"]
    parts += ["## Table of coefficients", equations.coefficient_table().to_markdown()]
    if equations.check is not None:
        parts += ["## Check", str(equations.check)]
    return "\n\n".join(parts) + "\n"


__all__ = ["equations_markdown", "equations_text", "text_of"]
