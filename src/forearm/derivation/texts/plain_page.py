"""Equations as plain text: whole for a file, and shortened for a terminal."""

from typing import TYPE_CHECKING

from forearm.derivation.expressions.formula_text import TEXT, joined
from forearm.derivation.texts.latex_lines import torque_pieces

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

LONGEST = 40
"""Terms up to which a torque is written out where the page is shortened."""


def torque_text(equations: "Equations", i: int) -> str:
    """tau_i collected: accelerations, products of speeds, gravity."""
    return joined(torque_pieces(equations, i, TEXT))


def recursion_text(equations: "Equations") -> str:
    """Vectors of each link by the paper's names, x, y, z in that paper's axes; then the equations."""
    lines = []
    for i in range(equations.n):
        lines.append(f"link {i + 1}")
        for name, values in equations.steps.items():
            if values[i].shape == (3,):
                lines.append(f"  {name}{i + 1} = [{', '.join(map(str, values[i]))}]")
        lines.append("")
    return "\n".join([*lines, equations_text(equations)])


def equations_text(equations: "Equations", longest: int | None = None) -> str:
    """Torques, and what there is to know about them; those of more terms than `longest` are only counted."""
    how = equations.formulation or "energies"
    exact = "exact" if equations.ring.exact else "floats"
    lines = [f"equations of motion of arm {equations.arm.name!r}, by {how}, {exact}, {equations.size} terms"]
    lines += [f"  {note}" for note in equations.notes]
    lines += [f"  {grouping}" for grouping in equations.groupings]
    for i in range(equations.n):
        terms = equations.g[i].size + sum(
            x.size for x in (*equations.M[i], *equations.christoffel[i].ravel())
        )
        if longest is None or terms <= longest:
            body = torque_text(equations, i)
        else:
            body = f"… {terms} terms; to_text() writes them all"
        lines.append(f"tau{i + 1} = {body}")
    if equations.check is not None:
        lines.append(f"check: {equations.check}")
    return "\n".join(lines)
