r"""The arm itself in LaTeX: its Denavit-Hartenberg table and a drawing, for the head of a page of equations.

The drawing is LaTeX's own `picture`, in which a `\qbezier` is a line of any direction: a page needs no package that
a small TeX lacks. Letters have no lengths, so an arm of letters is drawn with lengths that show it, and that is said.
"""

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from forearm.algebra import Matrix, Vector, is_number
from forearm.denavit_hartenberg import dh_row
from forearm.derivation.expressions.expression import Expression
from forearm.derivation.expressions.formula_latex import LatexStyle, latex_name, latex_of
from forearm.derivation.expressions.formula_text import text_of
from forearm.derivation.expressions.sympy_reader import read
from forearm.derivation.symbols import excuses, parameter_names, with_values
from forearm.outside.escapes import latex
from forearm.plots.arms import corners, good_view, projection, upright, world_frames

if TYPE_CHECKING:
    from forearm.arm import Arm
    from forearm.derivation.equations import Equations

SIZE = 60.0
"""Width and height that the drawing fits into [mm]."""
STYLE = LatexStyle(" ", {})


# -- the table -------------------------------------------------------------------------------------------


def table_latex(equations: "Equations") -> str:
    """The Denavit-Hartenberg table; a sentence where a link has no such row."""
    found = [dh_row(link) for link in equations.arm.links]
    rows = [row for row in found if row is not None]
    if len(rows) < len(found):
        missing = ", ".join(str(i) for i, row in enumerate(found, 1) if row is None)
        return f"There is no Denavit-Hartenberg table: the pose after joint {missing} is of another form."
    lines = []
    for i, (link, row, q) in enumerate(zip(equations.arm.links, rows, equations.q, strict=True), 1):
        a, alpha, d, theta = row
        moved = q + _expression(equations, link.offset)
        variable = -moved if link.flip else moved
        turn, slide = (variable, None) if link.revolute else (None, variable)
        cells = [
            str(i),
            latex(link.name) or "",
            link.kind,
            _math(equations, a),
            _angle(equations, alpha, None),
            _math(equations, d, slide),
            _angle(equations, theta, turn),
        ]
        lines.append(" & ".join(cells) + r" \\")
    head = r"$i$ & name & joint & $a_i$ & $\alpha_i$ & $d_i$ & $\theta_i$ \\ \hline"
    return "\n".join(
        [r"\begin{center}", r"\begin{tabular}{rllrrrr}", head, *lines, r"\end{tabular}", r"\end{center}"]
    )


def _expression(equations: "Equations", x: Any) -> Expression:
    return equations.ring.constant(x) if is_number(x) else read(equations.ring, x)


def _math(equations: "Equations", x: Any, variable: Expression | None = None) -> str:
    if is_number(x) and variable is None:
        return f"${float(x):.6g}$"  # a table has decimals, not fractions
    value = _expression(equations, x)
    return f"${latex_of(value if variable is None else variable + value, STYLE)}$"


def _angle(equations: "Equations", x: Any, variable: Expression | None) -> str:
    """An angle, multiples of a right one by π."""
    if not is_number(x):
        return _math(equations, x, variable)
    quarter = round(float(x) / (math.pi / 2))
    if abs(float(x) - quarter * math.pi / 2) > 1e-12:
        return _math(equations, x, variable)
    whole = {0: "0", 1: r"\pi/2", 2: r"\pi"}.get(abs(quarter), rf"{abs(quarter)}\pi/2")
    sign = "-" if quarter < 0 else "+"
    if variable is None:
        return f"${'-' if quarter < 0 else ''}{whole}$"
    return f"${text_of(variable, STYLE)}{f' {sign} {whole}' if quarter else ''}$"


# -- the drawing -----------------------------------------------------------------------------------------


def figure_latex(equations: "Equations") -> str:
    """The arm in a picture: links, joints with their variables, centres of mass, base and tool axes, gravity."""
    arm, letters = _drawn(equations.arm)
    q = good_view(arm)
    view = upright(arm, projection(-60.0, 22.0))[:2]
    picture = _Picture(corners(arm, q) @ view.T)
    picture.arm(arm, q, view, equations)
    said = " Lengths are letters: the drawing is not to scale." if letters else ""
    return "\n".join(
        [
            r"\begin{center}",
            r"\setlength{\unitlength}{1mm}",
            rf"\begin{{picture}}({picture.width:.1f},{picture.height:.1f})",
            *picture.lines,
            r"\end{picture}",
            r"\end{center}",
            rf"\noindent Rings are joints, dots centres of mass; $g$ is gravity.{said}",
        ]
    )


def _drawn(arm: "Arm") -> tuple["Arm", bool]:
    """The arm with numbers to draw it by, and whether they stand for letters."""
    names = parameter_names(arm)
    if not names:
        return arm, False
    values = {name: 0.5 if name.startswith("lc") else 0.25 if name[0] in "dxyz" else 1.0 for name in names}
    return with_values(arm, values, defects=excuses(arm.n)), True


class _Picture:
    """Commands of a `picture`, from points in metres on the paper."""

    def __init__(self, points: Matrix) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        self.scale = SIZE / max(float(np.max(high - low)), 1e-9)
        self.low = low - 14.0 / self.scale
        self.width, self.height = (float(x) for x in (high - low) * self.scale + 28.0)
        self.lines: list[str] = []
        self.taken: list[Vector] = []

    def at(self, point: Vector) -> str:
        """Coordinates in millimetres."""
        x, y = (point - self.low) * self.scale
        return f"({x:.2f},{y:.2f})"

    def line(self, a: Vector, b: Vector, thickness: str) -> None:
        """A straight line of any direction."""
        if np.linalg.norm(b - a) * self.scale > 0.2:
            self.lines.append(
                rf"\linethickness{{{thickness}}}\qbezier{self.at(a)}{self.at((a + b) / 2)}{self.at(b)}"
            )

    def arrow(self, a: Vector, b: Vector) -> None:
        """A line with a head."""
        length = float(np.linalg.norm(b - a))
        if length * self.scale < 1.0:
            return  # it points at the reader
        self.line(a, b, "0.25mm")
        back = (a - b) / length * 1.8 / self.scale
        for turn in (0.4, -0.4):
            c, s = math.cos(turn), math.sin(turn)
            self.line(b, b + np.array([c * back[0] - s * back[1], s * back[0] + c * back[1]]), "0.25mm")

    def put(self, point: Vector, what: str) -> None:
        """Something at a point."""
        self.lines.append(rf"\put{self.at(point)}{{{what}}}")

    def label(self, point: Vector, text: str) -> None:
        """A formula, centred."""
        self.taken.append(point)
        self.put(point, rf"\makebox(0,0){{${text}$}}")

    def axes(self, frame: tuple[Matrix, Vector], view: Matrix, names: str) -> None:
        """The axes of a frame."""
        R, p = frame
        for k, letter in enumerate("xyz"):
            a, b = view @ p, view @ (p + R[:, k] * 9.0 / self.scale)
            self.arrow(a, b)
            if np.linalg.norm(b - a) * self.scale > 2.5:
                self.label(a + (b - a) * 1.3, f"{letter}_{{{names}}}")

    def joints(self, places: list[Vector], names: list[str], points: Matrix) -> None:
        """A ring for each joint, its variable beside it; joints in one place share a label."""
        together: list[tuple[Vector, list[str]]] = []
        for at, name in zip(places, names, strict=True):
            near = [named for place, named in together if np.linalg.norm(place - at) * self.scale < 3.0]
            if near:
                near[0].append(name)
            else:
                together.append((at, [name]))
        for at, named in together:
            self.put(at, r"\circle{3}")
            far = (3.0 + 2.5 * len(named)) / self.scale
            around = [
                at + far * np.array([math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)]) for k in range(8)
            ]
            self.label(max(around, key=lambda x: self.room(x, points)), ", ".join(named))

    def room(self, x: Vector, points: Matrix) -> float:
        """How far a place is from the links and from what is written already."""
        along = [a + t * (b - a) for a, b in pairwise(points) for t in np.linspace(0.0, 1.0, 21)]
        return min(float(np.linalg.norm(x - taken)) for taken in (*along, *self.taken))

    def arm(self, arm: "Arm", q: Vector, view: Matrix, equations: "Equations") -> None:
        """All of it."""
        points, frames = corners(arm, q) @ view.T, world_frames(arm, q)
        for a, b in pairwise(points):
            self.line(a, b, "0.5mm")
        self.axes(frames[0], view, "0")
        self.axes(frames[-1], view, str(arm.n))
        self.joints([view @ p for _, p in frames[:-1]], [text_of(x, STYLE) for x in equations.q], points)
        for (R, p), link in zip(frames[1:], arm.links, strict=True):
            if arm.dynamics and float(link.mass) > 0:
                self.put(view @ (p + R @ np.array(link.about_com.center, dtype=float)), r"\circle*{2}")
        down = view @ np.array(arm.gravity, dtype=float)
        if np.linalg.norm(down) > 1e-9:
            start = np.array([points[:, 0].min(), points[:, 1].max()]) + np.array([-6.0, 8.0]) / self.scale
            end = start + down / np.linalg.norm(down) * 10.0 / self.scale
            self.arrow(start, end)
            self.label(end + np.array([3.0, 0.0]) / self.scale, latex_name("g"))


def arm_latex(equations: "Equations") -> list[str]:
    """Table and drawing as parts of a page."""
    return [r"\subsection*{The arm}", table_latex(equations), figure_latex(equations)]
