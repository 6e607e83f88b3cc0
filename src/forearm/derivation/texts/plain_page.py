"""Equations as plain text: whole for a file, and shortened for a terminal."""

from typing import TYPE_CHECKING

from forearm.derivation.expressions.formula_text import TEXT, joined
from forearm.derivation.texts.latex_lines import torque_pieces

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations

LONGEST = 40
"""Terms up to which a torque is written out where the page is shortened."""


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
            body = joined(torque_pieces(equations, i, TEXT))
        else:
            body = f"… {terms} terms; to_text() writes them all"
        lines.append(f"tau{i + 1} = {body}")
    if equations.check is not None:
        lines.append(f"check: {equations.check}")
    return "\n".join(lines)
