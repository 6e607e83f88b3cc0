r"""All equations of an arm in LaTeX (amsmath), with headings, as a page of its own if asked for."""

import re
from typing import TYPE_CHECKING

from forearm.derivation.expressions.formula_latex import between_joints, letter
from forearm.derivation.expressions.formula_text import letters_like_sines, pieces
from forearm.derivation.texts.latex_arm import arm_latex
from forearm.derivation.texts.latex_lines import (
    SECTIONS,
    aligned,
    broken,
    step_lines,
    style_for,
    torque_lines,
)
from forearm.outside.escapes import latex

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations


def torque_latex(equations: "Equations") -> str:
    """The torques alone, for a notebook."""
    return aligned(torque_lines(equations, style_for(equations)))


def equations_latex(equations: "Equations", document: bool) -> str:
    """All equations, with headings; as a page of its own if asked for."""
    style = style_for(equations)
    how = f"by \\texttt{{{latex(equations.formulation)}}}" if equations.formulation else "from energies"
    parts = [
        f"\\section*{{Equations of motion: {latex(equations.arm.name)}}}",
        f"Derived {how}; {abbreviations(equations)} Rates are dotted, torques are"
        r" $\tau_i = \sum_j M_{ij}\, \ddot{q}_j + \sum_{jk} C^i_{jk}\, \dot{q}_j \dot{q}_k + g_i$.",
        *(f"\\emph{{{latex(note)}.}}" for note in equations.notes),
    ]
    if equations.groupings:
        lines = [
            broken(letter(equations.ring, g.name), pieces(g.meaning, style)) for g in equations.groupings
        ]
        parts += ["\\subsection*{Base parameters}", aligned(lines)]
    if equations.steps:
        lines = step_lines(equations, style)
        parts += ["\\subsection*{Link by link}", aligned(lines)] if lines else []
    for title, lines_of in SECTIONS:
        lines = lines_of(equations, style)
        parts += [f"\\subsection*{{{title}}}", aligned(lines)] if lines else []
    if equations.check is not None:
        parts.append(f"\\noindent Check: {latex(str(equations.check))}.")
    return latex_document([parts[0], *arm_latex(equations), *parts[1:]]) if document else "\n\n".join(parts)


def latex_document(parts: list[str]) -> str:
    """Parts of a page as a page that compiles by itself."""
    head = (
        "\\documentclass[11pt]{article}\n\\usepackage[a4paper,margin=22mm]{geometry}\n\\usepackage{amsmath}\n"
    )
    body = "\n\n".join(parts)
    return head + "\\allowdisplaybreaks\n\\begin{document}\n" + body + "\n\\end{document}\n"


def abbreviations(equations: "Equations") -> str:
    """What s and c with numbers mean, by an example of this arm; nothing where a parameter is called so."""
    if letters_like_sines(equations.ring):
        return ""
    groups = equations.ring.trigonometry.groups
    sums = [g for g in groups if len(g) > 1 and all(re.fullmatch(r"q\d+", n) for n in g)]
    if sums:
        (a, b), plus = sums[0][:2], "-" if any((equations.S < 0).ravel()) else "+"
        label = f"{a[1:]}{between_joints(equations.ring) if plus == '+' else '-'}{b[1:]}"
        first, second = letter(equations.ring, a), letter(equations.ring, b)
        return (
            f"$s_{{{label}}} = \\sin({first} {plus} {second})$, "
            f"$c_{{{label}}} = \\cos({first} {plus} {second})$ and so on."
        )
    lone = any(re.fullmatch(r"q\d+", name) for group in groups for name in group)
    return r"$s_i = \sin q_i$, $c_i = \cos q_i$." if lone else ""
