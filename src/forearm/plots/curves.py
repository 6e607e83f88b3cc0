"""Curves over time, and bars. Neighbours differ in pattern and in lightness, not in hue alone."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.outside.escapes import picture
from forearm.plots.style import COLORS, DASHES, FAINT, INK, figure, styled
from forearm.robot import Robot

TERMS = {
    "gravity": ("#b9c6d2", "", ""),
    "inertial": (COLORS[0], "", ""),
    "rotor": ("#7fae9d", "", ""),
    "centrifugal": (COLORS[2], "....", "#8a5f16"),
    "coriolis": (COLORS[1], "", ""),
    "friction": ("#f3e2dc", "/////", COLORS[4]),
    "external": (COLORS[6], "", ""),
}
"""Colour of each term, its pattern and the pattern's colour: told apart without colours too."""
STRETCHES = 400
"""Of a panel from left to right, each no wider than a point that one sees."""
MOST_ROWS = 2000
"""Rows of which an area has every one."""


def joint_grid(arm: Arm | Robot, height: float = 1.45, columns: int = 2) -> tuple[Any, list[Any]]:
    """A figure with one panel for each joint of a state, in reading order."""
    rows = math.ceil(arm.n / columns)
    made, grid = figure(5.2, 0.5 + height * rows, nrows=rows, ncols=columns, sharex=True, squeeze=False)
    panels = list(grid.ravel())
    for spare in panels[arm.n :]:
        spare.set_axis_off()
    for panel, link in zip(panels, arm.state_links, strict=False):
        unit = "N m" if link.revolute else "N"
        panel.set_title(f"{picture(link.name.replace('_', ' '))} [{unit}]")
    return made, panels[: arm.n]


def _of_joints(arm: Arm | Robot, values: Any) -> Any:
    """The columns of the joints (K, n), which are the last of a state; a free base has six before them."""
    found = np.asarray(values)
    return found[:, found.shape[1] - arm.n :]


def torque_figure(
    arm: Arm | Robot, t: Any, tau: Any, *, others: Mapping[str, Any] | None = None, label: str = "t [s]"
) -> Any:
    """Torques (K, n) over time, one panel for each joint; `others` are drawn beside them, by name."""
    tau, others = _of_joints(arm, tau), {name: _of_joints(arm, x) for name, x in (others or {}).items()}
    with styled():
        made, panels = joint_grid(arm)
        for i, panel in enumerate(panels):
            panel.axhline(0, color=INK, lw=0.5)
            for k, (name, values) in enumerate(others.items(), 1):
                panel.plot(t, values[:, i], color=COLORS[k], ls=DASHES[k], lw=1.2, label=picture(name))
            panel.plot(t, tau[:, i], color=COLORS[0], label="torque", marker="o" if len(t) == 1 else None)
            _limit(panel, arm.state_links[i], float(np.max(np.abs(tau[:, i]))))
        _time_labels(panels, label)
        if others:
            panels[0].legend(loc="best")
    return made


def comparison_figure(arm: Arm, t: Any, measured: Any, predicted: Any) -> Any:
    """Measured and predicted torques (K, n) over time and what is between them, one panel for each joint.

    The measured curve is pale and wide, so that the predicted one is seen on it, not hidden by it.
    """
    with styled():
        made, panels = joint_grid(arm)
        for i, panel in enumerate(panels):
            both = [np.asarray(x)[:, i] for x in (measured, predicted)]
            panel.axhline(0, color=INK, lw=0.5)
            panel.plot(t, both[0], color=COLORS[5], lw=2.6, alpha=0.7, label="measured")
            panel.plot(t, both[1], color=COLORS[0], lw=0.9, label="predicted")
            panel.plot(t, both[0] - both[1], color=COLORS[1], lw=0.8, label="left over")
        _time_labels(panels, "t [s]")
        made.legend(handles=panels[0].get_lines()[1:], loc="outside lower center", ncols=3)
    return made


def band_figure(arm: Arm | Robot, t: Any, tau: Any, *, limits: Any = None, label: str = "t [s]") -> Any:
    """Torques (K, n) over time within the band of their limits, one panel for each joint; what is beyond is filled.

    `limits` (n,) stand in place of the arm's own.
    """
    own = [link.effort_limit for link in arm.state_links] if limits is None else list(limits)[-arm.n :]
    tau = _of_joints(arm, tau)
    with styled():
        made, panels = joint_grid(arm)
        for i, panel in enumerate(panels):
            values, most = tau[:, i], own[i]
            panel.axhline(0, color=INK, lw=0.5)
            if most is not None and np.isfinite(most):
                rows = _rows_seen(values)
                panel.axhspan(-most, most, color="#e9eef2", lw=0)
                for side in (-most, most):
                    panel.axhline(side, color=COLORS[4], lw=0.9, ls=DASHES[1])
                for outside in (np.clip(values[rows], most, None), np.clip(values[rows], None, -most)):
                    edge = np.copysign(most, outside)
                    panel.fill_between(np.asarray(t)[rows], edge, outside, color=COLORS[1], alpha=0.8, lw=0)
            panel.plot(t, values, color=COLORS[0])
            panel.margins(x=0.01)
        _time_labels(panels, label)
    return made


def phase_figure(plane: Any) -> Any:
    """Path speed over the path (`motion.phase_plane`): the time-optimal profile, and the curves that it keeps below."""
    s = np.asarray(plane.s) / plane.s[-1]
    top = 1.6 * float(np.max(plane.speed))
    with styled():
        made, ax = figure(5.2, 3.4)
        curve = np.minimum(np.minimum(plane.velocity_curve, plane.speed_limit), 10 * top)
        ax.fill_between(s, curve, np.maximum(curve, 10 * top), color="#f3e2dc", lw=0)
        curves = (
            ("limit of torques, accelerations", plane.velocity_curve, COLORS[4], DASHES[0]),
            ("limit of speeds", plane.speed_limit, COLORS[2], DASHES[1]),
            ("end still within reach", plane.controllable, COLORS[3], DASHES[2]),
        )
        for name, values, color, dashes in curves:
            if np.any(np.isfinite(values) & (values < top)):
                ax.plot(
                    s, np.where(values < 10 * top, values, np.nan), color=color, ls=dashes, lw=1.3, label=name
                )
        ax.plot(s, plane.speed, color=COLORS[0], lw=2.2, label="fastest motion")
        ax.set_ylim(0, top)
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of the path")
        ax.set_ylabel("path speed")
        made.legend(loc="outside lower center", ncols=2)
    return made


def _limit(panel: Any, link: Any, largest: float) -> None:
    """A joint's limit as two lines where they are near the curve, as a number where they would flatten it."""
    limit = link.effort_limit
    if limit is None:
        return
    if limit <= 1.6 * largest:
        for side in (-limit, limit):
            panel.axhline(side, color=COLORS[4], lw=0.8, ls=":")
        return
    place = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 6.5, "color": COLORS[4]}
    panel.annotate(f"limit ±{limit:g}", (0.985, 0.96), **place)


def term_figure(arm: Arm | Robot, t: Any, terms: Any, *, label: str = "t [s]") -> Any:
    """What each joint's torque is made of: terms stacked, positive above zero and negative below, the sum as a line."""
    with styled():
        made, panels = joint_grid(arm)
        parts = {name: _of_joints(arm, getattr(terms, name)) for name in TERMS}
        names = [name for name, part in parts.items() if np.any(np.abs(part) > 1e-12)]
        total = _of_joints(arm, terms.total)
        for i, panel in enumerate(panels):
            rows = _rows_seen(total[:, i], *(parts[name][:, i] for name in names))
            _stack(panel, np.asarray(t)[rows], {name: parts[name][rows, i] for name in names})
            panel.plot(t, total[:, i], color=INK, lw=1.3)
            panel.axhline(0, color=INK, lw=0.5)
        _time_labels(panels, label)
        keys = [_patch(name) for name in names]
        made.legend(handles=[*keys, _line("sum")], loc="outside lower center", ncols=4)
    return made


def _rows_seen(*curves: Vector) -> Vector:
    """Rows of curves (K,) that an area shows: all, or of each stretch the least and the greatest of every curve.

    matplotlib leaves out what a line does not show, but of an area it keeps every point, at kilobytes a row.
    """
    count = len(curves[0])
    if count <= MOST_ROWS:
        return np.arange(count)
    ends = np.linspace(0, count, STRETCHES + 1).astype(int)
    kept = [0, count - 1]
    for first, end in pairwise(ends):
        for curve in curves:
            here = curve[first:end]
            kept += [first + int(np.argmin(here)), first + int(np.argmax(here))]
    return np.unique(kept)


def _stack(panel: Any, t: Any, parts: Mapping[str, Vector]) -> None:
    above, below = np.zeros(len(t)), np.zeros(len(t))
    for name, values in parts.items():
        up, down = np.clip(values, 0, None), np.clip(values, None, 0)
        for start, amount in ((above, up), (below, down)):
            panel.fill_between(t, start, start + amount, **_fill(name))
        above, below = above + up, below + down


def energy_figure(t: Any, kinetic: Any, potential: Any, work: Any, dissipated: Any) -> Any:
    """Energies over time above; what the balance misses below."""
    with styled():
        made, (top, bottom) = figure(5.2, 3.9, nrows=2, sharex=True, height_ratios=(3, 1))
        curves = {
            "kinetic": kinetic,
            "potential, from the start": potential - potential[0],
            "work of the drives": work,
            "taken by friction": dissipated,
        }
        for k, (name, values) in enumerate(curves.items()):
            top.plot(t, values, color=COLORS[k], ls=DASHES[k], label=picture(name))
        top.set_ylabel("energy [J]")
        top.legend(loc="best")
        missed = (kinetic + potential) - (kinetic[0] + potential[0]) - work + dissipated
        bottom.plot(t, missed, color=INK, lw=1.0)
        bottom.set_title("what the balance misses [J]")
        bottom.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
        bottom.set_xlabel("t [s]")
    return made


def tracking_figure(arm: Arm | Robot, t: Any, errors: Mapping[str, Any]) -> Any:
    """How far each joint is from where it should be [mrad, mm], one curve for each controller."""
    with styled():
        made, panels = joint_grid(arm)
        for i, (panel, link) in enumerate(zip(panels, arm.state_links, strict=True)):
            unit = "mrad" if link.revolute else "mm"
            panel.set_title(f"{picture(link.name.replace('_', ' '))} [{unit}]")
            panel.axhline(0, color=INK, lw=0.5)
            for k, (_, values) in enumerate(errors.items()):
                panel.plot(t, 1e3 * _of_joints(arm, values)[:, i], color=COLORS[k], ls=DASHES[k], lw=1.3)
        _time_labels(panels, "t [s]")
        keys = [_line(name, COLORS[k], DASHES[k]) for k, name in enumerate(errors)]
        made.legend(handles=keys, loc="outside lower center", ncols=1 if len(keys) < 3 else 2)
    return made


def bar_figure(rows: Sequence[tuple[str, float, str]], label: str) -> Any:
    """Bars on a logarithmic axis, each with its value written beside it: (name, value, text)."""
    with styled():
        made, ax = figure(5.2, 0.75 + 0.42 * len(rows))
        for y, (_, value, text) in enumerate(rows):
            ax.barh(y, value, color=COLORS[0] if y else COLORS[5], height=0.62)
            ax.annotate(
                picture(text), (value, y), (4, 0), textcoords="offset points", va="center", fontsize=8
            )
        ax.set_yticks(range(len(rows)), labels=[picture(name) for name, _, _ in rows])
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.set_xlabel(picture(label))
        ax.margins(x=0.2)
        ax.grid(axis="y", visible=False)
        ax.xaxis.grid(color=FAINT)
    return made


def _time_labels(panels: list[Any], label: str) -> None:
    for panel in panels[-2:]:
        panel.set_xlabel(label)
        panel.xaxis.set_tick_params(labelbottom=True)


def _fill(name: str) -> dict[str, Any]:
    color, pattern, ink = TERMS[name]
    if not pattern:
        return {"facecolor": color, "linewidth": 0}
    return {"facecolor": color, "hatch": pattern, "edgecolor": ink, "linewidth": 0.3}


def _patch(name: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(label=picture(name), **_fill(name))


def _line(name: str, color: str = INK, dashes: Any = "-") -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, ls=dashes, label=picture(name))
