"""Drawings for a blackboard: a planar arm with its letters, and one link cut free with what acts on it."""

from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.faults import StateFault, needs_chain
from forearm.plots.arms import bodies, corners, finish, projection, upright, world_frames
from forearm.plots.style import COLORS, FAINT, INK, PAPER, figure, styled

FORCE, WEIGHT, MOMENT = COLORS[1], COLORS[3], COLORS[0]


# -- a planar arm with its letters -----------------------------------------------------------------------


def lettered_figure(arm: Arm, q: Any, *, width: float = 5.2) -> Any:
    """A planar arm with the letters of the textbooks: q_i, l_i, l_ci, centres of mass, the axes x0, y0 and gravity.

    For arms whose joints all turn about the world's z, like `rr`, `planar_3r` and `double_pendulum`.
    """
    values = _position(arm, q, "lettered_figure")
    axes = [float(R[2, 2]) for R, _ in world_frames(arm, values)]
    if not all(link.revolute for link in arm.links) or min(axes) < 1 - 1e-9:
        raise StateFault(
            f"lettered_figure: arm {arm.name!r} does not move in the plane of x and y; give an arm whose joints all "
            "turn about z, such as rr or planar_3r, or take arm_figure."
        )
    made, ax = figure(width, width)
    points = np.array([p[:2] for _, p in world_frames(arm, values)])
    reach = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) or 1.0
    with styled():
        _arrow(ax, points[0], points[0] + (0.32 * reach, 0), INK, "$x_0$", 0.8)
        _arrow(ax, points[0], points[0] + (0, 0.32 * reach), INK, "$y_0$", 0.8)
        for i in range(arm.n):
            _link(ax, arm, i, values, points, reach)
        for point in points[:-1]:
            ax.plot(*point, marker="o", ms=9, mfc=PAPER, mec=INK, mew=1.4, zorder=6)
        down = np.array(arm.gravity, dtype=float)[:2]
        if np.linalg.norm(down) > 0:
            start = np.array([points[:, 0].max() + 0.2 * reach, points[:, 1].max() + 0.05 * reach])
            _arrow(ax, start, start + 0.2 * reach * down / np.linalg.norm(down), WEIGHT, "$g$", 1.6)
        finish(made, ax, 0.08)
    return made


def _link(ax: Any, arm: Arm, i: int, q: Vector, points: Matrix, reach: float) -> None:
    """One link: its line, its length and its centre of mass measured beside it, its angle as an arc."""
    a, b = points[i], points[i + 1]
    R, p = world_frames(arm, q)[i + 1]
    center = (p + R @ np.asarray(arm.links[i].about_com.center, dtype=float))[:2]
    along = (b - a) / np.linalg.norm(b - a)
    left = np.array([-along[1], along[0]])
    ax.plot(*np.array([a, b]).T, color=INK, lw=5, alpha=0.85, zorder=4)
    ax.plot(*center, marker="o", ms=8, color=COLORS[2], mec=INK, mew=0.8, zorder=7)
    ax.annotate(
        f"$m_{i + 1}$",
        center + 0.045 * reach * along - 0.055 * reach * left,
        ha="center",
        va="center",
        zorder=8,
    )
    _measure(ax, a, center, 0.07 * reach * left, rf"$l_{{c{i + 1}}}$", reach)
    _measure(ax, a, b, 0.16 * reach * left, rf"$l_{i + 1}$", reach)
    start = float(np.sum(q[:i]))  # the angle that q is measured from
    ahead = np.array([np.cos(start), np.sin(start)])
    if i:
        ax.plot(*np.array([a, a + 0.24 * reach * ahead]).T, color=INK, lw=0.8, ls=(0, (4, 2)), zorder=3)
    turn = np.linspace(start, start + q[i], 60)
    arc = a + 0.17 * reach * np.array([np.cos(turn), np.sin(turn)]).T
    ax.plot(*arc.T, color=COLORS[1], lw=1.3, zorder=5)
    if abs(q[i]) > 0.15:
        _head(ax, arc[-4], arc[-1], COLORS[1])
    middle = a + 0.235 * reach * np.array([np.cos(turn[20]), np.sin(turn[20])])
    ax.annotate(f"$q_{i + 1}$", middle, color=COLORS[1], ha="center", va="center", zorder=8)


def _measure(ax: Any, a: Vector, b: Vector, aside: Vector, text: str, reach: float) -> None:
    """A dimension beside a line."""
    for end in (a, b):
        ax.plot(*np.array([end + 0.2 * aside, end + 1.15 * aside]).T, color=FAINT, lw=0.8, zorder=1)
    style = {"arrowstyle": "<|-|>", "color": INK, "lw": 0.7, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
    ax.annotate("", b + aside, a + aside, arrowprops=style, zorder=3)
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0}
    ax.annotate(text, (a + b) / 2 + aside, ha="center", va="center", bbox=box, zorder=4)


# -- a link cut free -------------------------------------------------------------------------------------


def free_body_figure(
    arm: Any,
    q: Any,
    reactions: tuple[Any, Any],
    link: int,
    *,
    azimuth: float = -60.0,
    elevation: float = 22.0,
    width: float = 5.2,
) -> Any:
    """One link cut free: f_i and n_i from the link before, -f_{i+1} and -n_{i+1} from the one after, and its weight.

    `reactions` is what `fa.reactions` gives for the state; moments are double arrows, or arcs where they point at
    the reader. The dashed arrow is the sum of the forces, mass times acceleration.
    """
    needs_chain(arm, "free_body_figure")
    values = _position(arm, q, "free_body_figure")
    force, moment = (np.asarray(x, dtype=float) for x in tuple(reactions))
    if force.shape != (arm.n, 3) or moment.shape != (arm.n, 3):
        raise StateFault(
            f"free_body_figure: reactions have shapes {force.shape} and {moment.shape}; give those of one state of arm "
            f"{arm.name!r}, ({arm.n}, 3) each."
        )
    if not 1 <= link <= arm.n:
        raise StateFault(f"free_body_figure: link is {link}; give a number from 1 to {arm.n}.")
    made, ax = figure(width, width)
    view = upright(arm, projection(azimuth, elevation))
    with styled():
        _free_body(ax, arm, values, force, moment, link, view)
        finish(made, ax, 0.1)
    return made


def _free_body(ax: Any, arm: Arm, q: Vector, force: Matrix, moment: Matrix, link: int, view: Matrix) -> None:
    frames = world_frames(arm, q)
    R, end = frames[link]
    start = frames[link - 1][1]
    mass, r, _ = arm.links[link - 1].about_com
    center = end + R @ np.asarray(r, dtype=float)
    f, n = R @ force[link - 1], R @ moment[link - 1]
    loads = [
        (start, f, f"$f_{link}$"),
        (center, float(mass) * np.array(arm.gravity, dtype=float), f"$m_{link} g$"),
    ]
    turns = [(start, n, f"$n_{link}$")]
    if link < arm.n:
        after = frames[link + 1][0]
        loads.append((end, -after @ force[link], f"$-f_{link + 1}$"))
        turns.append((end, -after @ moment[link], f"$-n_{link + 1}$"))
    sum_of_forces = np.sum([load for _, load, _ in loads], axis=0)
    chain = corners(arm, q) @ view.T
    size = max(
        float(
            np.linalg.norm((np.array([start, end, center]) @ view.T)[:, None] - view @ center, axis=-1).max()
        ),
        0.12 * float(np.ptp(chain[:, :2], axis=0).max()),
    )
    largest = max(*(float(np.linalg.norm(load)) for _, load, _ in loads), 1e-12)
    bodies(ax, arm, view, q, only=link)
    body = np.array([start, end]) @ view.T
    ax.plot(body[:, 0], body[:, 1], color=INK, lw=4, alpha=0.85, solid_capstyle="round", zorder=5)
    ax.plot(*(view[:2] @ center), marker="o", ms=6, color=COLORS[2], mec=INK, mew=0.8, zorder=7)
    for at, load, name in loads:
        color = WEIGHT if "g" in name else FORCE
        _load(ax, view, at, load, f"{name}  {np.linalg.norm(load):.3g} N", 1.1 * size / largest, color, "-")
    total, name = float(np.linalg.norm(sum_of_forces)), rf"$m_{link} \ddot{{p}}_{{c{link}}}$"
    if total > 0.15 * largest:  # shorter than its own head otherwise
        _load(ax, view, center, sum_of_forces, name, 1.1 * size / largest, INK, (0, (3, 2)))
    ax.set_title(f"Link {link}, cut free; forces add up to {name} = {total:.3g} N", fontweight="normal")
    for (at, turn, name), load in zip(turns, (loads[0][1], loads[-1][1]), strict=False):
        above = bool((view @ load)[1] < 0)
        _turn(ax, view, at, turn, f"{name}  {np.linalg.norm(turn):.3g} N m", size, above)


def _load(
    ax: Any, view: Matrix, at: Vector, load: Vector, text: str, scale: float, color: str, dashes: Any
) -> None:
    a, b = view[:2] @ at, view[:2] @ (at + load * scale)
    if np.linalg.norm(b - a) < 1e-9 * (1 + np.linalg.norm(a)):
        return  # nothing, or straight at the reader
    _arrow(ax, a, b, color, text, 1.8, dashes)


def _turn(ax: Any, view: Matrix, at: Vector, turn: Vector, text: str, size: float, above: bool) -> None:
    """A moment: an arc where it points at the reader, else a double arrow along it."""
    total = float(np.linalg.norm(turn))
    if total < 1e-9:
        return
    a, towards = view[:2] @ at, view @ (turn / total)
    if abs(towards[2]) > 0.9:
        angles = np.linspace(-0.7, 3.4, 60) if towards[2] > 0 else np.linspace(3.84, -0.26, 60)
        arc = a + 0.3 * size * np.array([np.cos(angles), np.sin(angles)]).T
        ax.plot(*arc.T, color=MOMENT, lw=1.8, zorder=8)
        _head(ax, arc[-4], arc[-1], MOMENT)
        aside = a + (0, 0.38 * size if above else -0.38 * size)
        ax.plot(*(a + (0, 0.6 * size if above else -0.6 * size)), alpha=0.0)  # room for the words
        ax.annotate(text, aside, color=MOMENT, ha="center", va="bottom" if above else "top", zorder=9)
        return
    b = a + 0.9 * size * towards[:2]
    _arrow(ax, a, b, MOMENT, text, 1.8)
    _head(ax, a, a + 0.88 * (b - a), MOMENT)


# -- strokes ---------------------------------------------------------------------------------------------


def _position(arm: Arm, q: Any, where: str) -> Vector:
    values = np.asarray(q, dtype=float)
    if values.shape != (arm.n,):
        raise StateFault(
            f"{where}: q has shape {values.shape}, but arm {arm.name!r} has {arm.n} joints; give ({arm.n},)."
        )
    return values


def _arrow(ax: Any, a: Any, b: Any, color: str, text: str, width: float, dashes: Any = "-") -> None:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    ax.plot(*np.array([a, a + 0.96 * (b - a)]).T, color=color, lw=width, linestyle=dashes, zorder=8)
    _head(ax, a, b, color)
    sideways = abs(b[0] - a[0]) > abs(b[1] - a[1])
    place = (
        ("left" if b[0] > a[0] else "right", "center")
        if sideways
        else ("center", "bottom" if b[1] > a[1] else "top")
    )
    far = b + (b - a) / max(float(np.linalg.norm(b - a)), 1e-12) * 0.03 * float(np.linalg.norm(b - a))
    ax.annotate(f" {text} ", far, color=color, ha=place[0], va=place[1], zorder=9)


def _head(ax: Any, a: Vector, b: Vector, color: str) -> None:
    style = {"arrowstyle": "-|>", "color": color, "lw": 0, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
    ax.annotate("", b, a + 0.9 * (np.asarray(b) - a), arrowprops=style, zorder=8)
    ax.plot(*np.array([b]).T, alpha=0.0)  # arrows alone do not widen the axes
