"""Equations as a Markdown report, for places that show formulas."""

from typing import TYPE_CHECKING

from forearm.derivation.texts.coefficient_table import coefficient_table
from forearm.derivation.texts.latex_lines import SECTIONS, step_lines, style_for
from forearm.derivation.texts.latex_page import abbreviations
from forearm.outside.escapes import markdown, markdown_code

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations


def equations_markdown(equations: "Equations") -> str:
    """A report that renders where Markdown with formulas does."""
    style = style_for(equations)
    how = f"by {markdown_code(equations.formulation)}" if equations.formulation else "from energies"
    parts = [
        f"# Equations of motion: {markdown(equations.arm.name)}",
        f"Derived {how} in {equations.seconds:.2g} s, {equations.size} terms. " + abbreviations(equations),
        *(f"*{markdown(note)}.*" for note in equations.notes),
    ]
    if equations.groupings:
        parts += [
            "## Base parameters",
            "\n".join(f"- {markdown_code(str(grouping))}" for grouping in equations.groupings),
        ]
    sections = [
        ("Link by link", step_lines(equations, style)),
        *((title, lines_of(equations, style)) for title, lines_of in SECTIONS),
    ]
    for title, lines in sections:
        if lines:
            body = " \\\\\n".join(lines)
            parts += [f"## {title}", f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"]
    parts += ["## Table of coefficients", coefficient_table(equations).to_markdown()]
    if equations.check is not None:
        parts += ["## Check", markdown(str(equations.check))]
    return "\n\n".join(parts) + "\n"
