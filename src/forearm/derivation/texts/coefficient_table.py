"""The table of coefficients: what Horn and Raibert's configuration-space method would store.

M_ij, the Christoffel symbols and g_i depend on some of the coordinates only; a table over those coordinates
gives torques by look-up. Coefficients that are zero, or equal by symmetry, are not listed.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forearm.derivation.expressions.expression import Expression
from forearm.outside.escapes import markdown, markdown_code

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations


@dataclass(frozen=True)
class Coefficient:
    """One entry of the table."""

    name: str
    """M11, C112 (output joint first) or g1."""
    multiplies: str
    """What it stands in front of: qdd1, qd1*qd2 (twice for a mixed product), or 1."""
    value: Expression
    """The closed form."""
    depends_on: tuple[str, ...]
    """The coordinates that occur in it: the dimensions of its table."""

    @property
    def terms(self) -> int:
        """Number of terms."""
        return self.value.size


@dataclass(frozen=True)
class CoefficientTable:
    """All coefficients that are not zero."""

    rows: tuple[Coefficient, ...]
    """M, then Christoffel symbols, then gravity."""
    zeros: int
    """How many others there are that vanish (symmetric ones counted once)."""

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Coordinates that occur anywhere."""
        found = {name for row in self.rows for name in row.depends_on}
        return tuple(sorted(found))

    def to_markdown(self) -> str:
        """As a Markdown table."""
        lines = [
            "| coefficient | multiplies | depends on | terms | closed form |",
            "| --- | --- | --- | --- | --- |",
        ]
        for row in self.rows:
            depends = markdown(", ".join(row.depends_on)) or "nothing"
            value = markdown_code(str(row.value))
            lines.append(f"| {row.name} | {markdown(row.multiplies)} | {depends} | {row.terms} | {value} |")
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [f"{'':8}{'multiplies':14}{'depends on':22}{'terms':>6}  closed form"]
        for row in self.rows:
            depends = " ".join(row.depends_on) or "-"
            lines.append(f"{row.name:8}{row.multiplies:14}{depends:22}{row.terms:6}  {row.value}")
        return "\n".join([*lines, f"and {self.zeros} that are zero"])


def coefficient_table(equations: "Equations") -> CoefficientTable:
    """The table of an arm's equations."""
    n, qd, qdd = equations.n, equations.speeds, equations.accelerations
    mark = "" if n < 10 else ","
    found: list[tuple[str, str, Expression]] = []
    for i in range(n):
        found += [(f"M{i + 1}{mark}{j + 1}", qdd[j], equations.M[i, j]) for j in range(i, n)]
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                product = f"{qd[j]}^2" if j == k else f"2*{qd[j]}*{qd[k]}"
                found.append((f"C{i + 1}{mark}{j + 1}{mark}{k + 1}", product, equations.christoffel[i, j, k]))
    found += [(f"g{i + 1}", "1", equations.g[i]) for i in range(n)]
    rows = [
        Coefficient(name, multiplies, value, tuple(x for x in value.names if x in equations.coordinates))
        for name, multiplies, value in found
        if not value.is_zero
    ]
    return CoefficientTable(tuple(rows), len(found) - len(rows))
