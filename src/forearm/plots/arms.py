"""An arm or a robot as a drawing: links, joints, frames, bodies as ellipsoids, its shadow on the floor.

The view is an orthographic projection, under which an ellipsoid is an ellipse exactly, so everything is drawn
flat, back to front.
"""

from typing import Any

import numpy as np

from forearm import kinematics
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.chain_cuts import owned
from forearm.faults import StateFault, coordinates
from forearm.frames import SAME
from forearm.link import NO_BODY
from forearm.outside.escapes import picture
from forearm.plots.style import COLORS, FAINT, INK, PAPER, figure, styled
from forearm.robot import Robot

AXES = (("x", "#b5482f"), ("y", "#4f8a5b"), ("z", "#2f5d8c"))
GOOD_VIEWS = ("nominal", "ready", "home", "example", "upright", "zero")
"""Names of configurations that show an arm well, best first."""


def good_view(arm: Arm | Robot) -> Vector:
    """A position in which the arm can be seen well; a free base is where it starts."""
    known = dict(arm.configurations)
    for name in GOOD_VIEWS:
        if name in known:
            return np.array(known[name])
    links = arm.state_links
    bent = [0.5 if link.revolute else 0.3 for link in links]
    low = [link.limits[0] if link.limits else -np.inf for link in links]
    high = [link.limits[1] if link.limits else np.inf for link in links]
    joints = np.clip(np.array(bent), low, high)
    return np.concatenate([arm.neutral()[: arm.nq - arm.n], joints]) if isinstance(arm, Robot) else joints


def projection(azimuth: float, elevation: float) -> Matrix:
    """Rows: right and up on the paper, and towards the eye (3, 3)."""
    a, e = np.radians(azimuth), np.radians(elevation)
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    return np.array([right, np.cross(eye, right), eye])


def arm_figure(
    arm: Arm | Robot,
    q: Any,
    *,
    path: Any = None,
    ghosts: Any = (),
    azimuth: float = -60.0,
    elevation: float = 22.0,
    labels: bool = True,
    width: float = 5.2,
) -> Any:
    """The arm or robot at q, with frames and bodies; `ghosts` are further positions (G, n), `path` points (K, 3).

    Bodies are drawn as the solid ellipsoids that have their masses and inertias; where no such body exists, its
    impossible axis is drawn flat.
    """
    values = np.asarray(q, dtype=float)
    numbers = len(coordinates(arm, "q"))
    if values.shape != (numbers,):
        raise StateFault(
            f"arm_figure: q has shape {values.shape}, but arm {arm.name!r} has {numbers} joints; give ({numbers},)."
            if isinstance(arm, Arm)
            else f"arm_figure: q has shape {values.shape}, but a state of robot {arm.name!r} has {numbers} numbers."
        )
    made, ax = figure(width, width)
    view = upright(arm, projection(azimuth, elevation))
    lines = strands(arm, values)
    points = np.concatenate(lines)
    reach = _reach(lines)
    floor = min(0.0, float(points[:, 2].min()))
    with styled():
        if not np.ptp(points[:, 2]) < 1e-9:
            _floor(ax, view, points, floor, reach)
            for line in lines:
                _shadow(ax, view, line, floor)
        for ghost in ghosts:
            for line in strands(arm, np.asarray(ghost)):
                _bones(ax, view, line, FAINT, 3.5, 1)
        if path is not None and len(path):
            flat = np.asarray(path) @ view.T
            ax.plot(flat[:, 0], flat[:, 1], color=COLORS[1], lw=1.3, ls=(0, (4, 1.5)), zorder=2)
        bodies(ax, arm, view, values)
        for line in lines:
            _bones(ax, view, line, INK, 4.0, 5)
        _joints(ax, arm, view, values, reach)
        _frames(ax, arm, view, values, reach, labels)
        finish(made, ax)
    return made


def upright(arm: Arm | Robot, view: Matrix) -> Matrix:
    """The view, turned to the plane for arms that move in one where z points at the reader."""
    rest = arm.neutral() if isinstance(arm, Robot) else np.zeros(arm.n)
    flat = all(abs(axis[2]) > 1 - 1e-9 for axis in _axes(arm, rest))
    return np.eye(3) if flat and abs(float(arm.gravity[2])) < 1e-9 else view


def _axes(arm: Arm | Robot, q: Vector) -> list[Vector]:
    return [np.asarray(z, dtype=float) for z in kinematics.joint_axes(arm, world_frames(arm, q))]


def world_frames(arm: Arm | Robot, q: Vector) -> list[Any]:
    """(R, p) of frames 0 … n in the world, as floats."""
    return [
        (np.asarray(R, dtype=float), np.asarray(p, dtype=float)) for R, p in kinematics.link_poses(arm, q)
    ]


def corners(arm: Arm, q: Vector) -> Matrix:
    """The chain's corners in the world, base first, with the elbows of offsets in between (K, 3)."""
    points = [np.zeros(3), np.asarray(arm.base.p, dtype=float)]
    frames = world_frames(arm, q)
    for i, link in enumerate(arm.links):
        R, p = frames[i]
        along = R[:, 2] * (float(link.d) + (0.0 if link.revolute else float(q[i])))
        points += [p + along, frames[i + 1][1]]
    R, p = frames[-1]
    points.append(p + R @ np.asarray(arm.tool.p, dtype=float))
    return np.array(points)


def strands(arm: Arm | Robot, q: Vector) -> list[Matrix]:
    """Lines of corners in the world: an arm's one chain; of a robot each chain from where it branches off."""
    if isinstance(arm, Arm):
        return [corners(arm, q)]
    frames = world_frames(arm, q)
    starts = kinematics.joint_frames(arm, frames)
    tools = {tool.link: tool.pose for tool in arm.tools}
    found = []
    for own in owned(arm.parents):
        points = [frames[arm.parents[own[0] - 1]][1]]
        for i in own:
            (R, p), link = starts[i - 1], arm.links[i - 1]
            moved = 0.0 if link.revolute else float(arm.joint_positions(q)[i - 1]) * link.z[2]
            points += [p, p + R[:, 2] * (float(link.d) + moved), frames[i][1]]
        R, p = frames[own[-1]]
        found.append(np.array([*points, p + R @ tools.get(own[-1], SAME).p], dtype=float))
    return found or [np.array([frames[0][1]])]


def _reach(lines: list[Matrix]) -> float:
    steps = max(float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()) for line in lines)
    return steps or 1.0


def _bones(ax: Any, view: Matrix, points: Matrix, color: str, width: float, order: int) -> None:
    flat = points @ view.T
    style = {"solid_capstyle": "round", "solid_joinstyle": "round"}
    ax.plot(flat[:, 0], flat[:, 1], color=PAPER, lw=width + 2.4, zorder=order - 0.1, **style)
    ax.plot(flat[:, 0], flat[:, 1], color=color, lw=width, zorder=order, **style)


def _floor(ax: Any, view: Matrix, points: Matrix, floor: float, reach: float) -> None:
    """The floor's grid under the arm."""
    step = 10 ** np.floor(np.log10(reach)) / 4
    low = step * np.floor(points[:, :2].min(axis=0) / step - 0.6)
    high = step * np.ceil(points[:, :2].max(axis=0) / step + 0.6)
    for j in (0, 1):
        for k in np.arange(low[j], high[j] + step / 2, step):
            line = np.full((2, 3), floor)
            line[:, j], line[:, 1 - j] = k, (low[1 - j], high[1 - j])
            flat = line @ view.T
            ax.plot(flat[:, 0], flat[:, 1], color=FAINT, lw=0.6, zorder=0)


def _shadow(ax: Any, view: Matrix, points: Matrix, floor: float) -> None:
    """A chain's shadow straight below it."""
    fallen = points.copy()
    fallen[:, 2] = floor
    flat = fallen @ view.T
    ax.plot(flat[:, 0], flat[:, 1], color=INK, alpha=0.13, lw=8, solid_capstyle="round", zorder=0.5)


def bodies(ax: Any, arm: Arm | Robot, view: Matrix, q: Vector, only: int | None = None) -> None:
    """The links' bodies as ellipses; with `only`, the one of that number (from 1)."""
    from matplotlib.patches import Ellipse

    if not arm.dynamics:
        return
    trunk = (arm.trunk if isinstance(arm, Robot) and arm.free else NO_BODY).as_link
    for i, ((R, p), link) in enumerate(zip(world_frames(arm, q), (trunk, *arm.links), strict=True)):
        mass, center, tensor = link.about_com
        if not float(mass) > 0 or only not in (None, i):
            continue
        moments, turn = np.linalg.eigh(np.asarray(tensor, dtype=float))
        squares = np.clip(2.5 / float(mass) * (moments.sum() - 2 * moments), 0.0, None)
        spread = view[:2] @ R @ turn @ np.diag(squares) @ turn.T @ R.T @ view[:2].T
        sizes, directions = np.linalg.eigh(spread)
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        wide, high = 2 * np.sqrt(np.clip(sizes[::-1], 1e-6, None))
        at = view[:2] @ (p + R @ np.asarray(center, dtype=float))
        shape = {"xy": at, "width": wide, "height": high, "angle": angle}
        ax.add_patch(Ellipse(**shape, facecolor=COLORS[2], alpha=0.32, edgecolor="none", zorder=3))
        ax.add_patch(Ellipse(**shape, facecolor="none", edgecolor="#a8741a", lw=0.9, zorder=3.1))
        ax.plot(*at, marker="o", ms=2.6, color="#7a5210", zorder=6)


def _joints(ax: Any, arm: Arm | Robot, view: Matrix, q: Vector, reach: float) -> None:
    """A joint is a short thick stroke along its axis; a round dot where the axis points at the reader."""
    starts = kinematics.joint_frames(arm, world_frames(arm, q))
    for (_, p), axis, link in zip(starts, _axes(arm, q), arm.links, strict=True):
        half = 0.018 * reach * axis
        ends = np.array([p - half, p + half]) @ view.T
        color = COLORS[0] if link.revolute else COLORS[4]
        for width, shade in ((10.0, PAPER), (8.0, color)):
            ax.plot(ends[:, 0], ends[:, 1], color=shade, lw=width, solid_capstyle="round", zorder=5.5)
            ax.plot(*ends[0, :2], marker="o", ms=width, mec="none", color=shade, zorder=5.5)
        tip = ends[int(ends[1, 2] > ends[0, 2])]
        ax.plot(tip[0], tip[1], marker="o", ms=2.6, color=PAPER, mec="none", zorder=5.6)


def _named_frames(arm: Arm | Robot, q: Vector) -> tuple[list[Any], list[str], list[bool]]:
    """Frames that are drawn, what they are called, and which are ends: base and tools."""
    frames = world_frames(arm, q)
    tools = (
        [("tool", arm.n, arm.tool)] if isinstance(arm, Arm) else [(t.name, t.link, t.pose) for t in arm.tools]
    )
    for _, number, pose in tools:
        R, p = frames[number]
        frames.append((R @ np.asarray(pose.R, dtype=float), p + R @ np.asarray(pose.p, dtype=float)))
    n = len(arm.links)
    names = [*(str(k) for k in range(n + 1)), *(picture(name) for name, _, _ in tools)]
    return frames, names, [k == 0 or k > n for k in range(len(frames))]


def _frames(ax: Any, arm: Arm | Robot, view: Matrix, q: Vector, reach: float, labels: bool) -> None:
    """Axes of frame 0, of every link and of the tools, with their numbers; letters at the ends."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.4, foreground=PAPER)]  # letters stay readable on dark links
    frames, names, are_ends = _named_frames(arm, q)
    hands = [p for (_, p), end in zip(frames[1:], are_ends[1:], strict=True) if end]
    for (R, p), name, ends in zip(frames, names, are_ends, strict=True):
        if not ends and any(np.linalg.norm(p - hand) < 0.11 * reach for hand in hands):
            continue  # they would hide the tool
        length = (0.11 if ends else 0.06) * reach
        for j, (letter, color) in enumerate(AXES):
            a, b = view[:2] @ p, view[:2] @ (p + length * R[:, j])
            ax.annotate(
                "",
                b,
                a,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": color,
                    "lw": 1.4 if ends else 0.8,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=7,
            )
            if ends and labels and np.linalg.norm(b - a) > 0.03 * reach:
                ax.annotate(
                    letter,
                    a + 1.22 * (b - a),
                    color=color,
                    fontsize=8,
                    ha="center",
                    va="center",
                    zorder=8,
                    path_effects=halo,
                )
        if labels:
            at = {"xytext": (5, -7), "textcoords": "offset points", "fontsize": 6.5, "color": INK}
            ax.annotate(name, view[:2] @ p, zorder=8, path_effects=halo, **at)


def finish(made: Any, ax: Any, margin: float = 0.03) -> None:
    """Equal scales, no axes, and a paper as high as the drawing needs."""
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(margin)
    ax.autoscale_view()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    width = made.get_figwidth()
    made.set_figheight(float(np.clip(width * (high - low) / (right - left), 0.45 * width, 1.25 * width)))
