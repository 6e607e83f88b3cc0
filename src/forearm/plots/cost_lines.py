"""Costs and schedules. Every function draws what it is given on the axes that it is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forearm.plots.style import FAINT, INK, figure, styled

ORDERS = {4: "#7b2d26", 3: "#c8553d", 2: "#e09f3e", 1: "#28666e"}
"""Colours by the degree of the polynomial."""
MULTIPLY, ADD = "#28666e", "#e09f3e"
PALETTE = (
    "#28666e",
    "#c8553d",
    "#e09f3e",
    "#5b8e7d",
    "#7b2d26",
    "#8cb369",
    "#4b6c8f",
    "#b07aa1",
    "#9c755f",
    "#6f4e7c",
)


def _bare(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=8)
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set_color(INK)


def cost_against_joints(
    ax: Any,
    curves: Sequence[Any],
    crossing: tuple[int, float] | None = None,
    kind: str = "multiplications",
    mark: str | None = None,
) -> None:
    """Operations against the number of joints, a line for each curve (name, degree, joints, values).

    `crossing` is where tables begin to lose, as Hollerbach names it; the line named `mark` is drawn thicker.
    """
    ends, last = [], max(curve.joints[-1] for curve in curves)
    for curve in curves:
        values = [max(value, 1.0) for value in curve.values]
        colour = ORDERS[min(max(curve.degree, 1), 4)]
        width = 3.2 if curve.name == mark else 1.4
        ax.plot(curve.joints, values, color=colour, lw=width, solid_capstyle="round")
        ends.append((values[-1], curve.name, colour))
    ax.set(xscale="log", yscale="log", xlabel="joints n", ylabel=kind)
    ax.set_xticks([1, 2, 3, 6, 9, 15, last], labels=["1", "2", "3", "6", "9", "15", str(last)])
    ax.xaxis.minorticks_off()
    _end_labels(ax, last, ends, mark)
    if crossing is not None:
        _mark_crossing(ax, *crossing)
    _bare(ax)


def _end_labels(
    ax: Any, last: int, ends: list[tuple[float, str, str]], mark: str | None, gap: float = 1.52
) -> None:
    """Names at the ends of the lines, pushed apart so that they do not overlap."""
    ends = sorted(ends)
    heights = [value for value, _, _ in ends]
    for _ in range(200):
        for i in range(len(heights) - 1):
            close = gap * heights[i] / heights[i + 1]
            if close > 1:
                heights[i] /= close**0.5
                heights[i + 1] *= close**0.5
    for (value, stem, colour), height in zip(ends, heights, strict=True):
        ax.annotate(
            stem.replace("_", " "),
            (last, value),
            (last * 1.22, height),
            fontsize=7,
            weight="bold" if stem == mark else "normal",
            color=colour,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "lw": 0.5,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def _mark_crossing(ax: Any, n: int, value: float) -> None:
    ax.plot([n], [value], "o", ms=6, mfc="none", mec=INK, zorder=5)
    ax.annotate(
        f"tables lose to\nNewton-Euler from n = {n}",
        (n, value),
        (n * 0.95, value / 25),
        fontsize=8,
        color=INK,
        arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.7},
    )


def breakdown(ax: Any, count: Any) -> None:
    """Bars: what each equation costs, multiplications to the left, additions to the right of them."""
    tags = sorted((tag for tag in count.by_equation if tag), key=_printed_order)
    for y, tag in enumerate(tags):
        t = count.by_equation[tag]
        ax.barh(y, t.multiplications, color=MULTIPLY, height=0.7)
        ax.barh(y, t.additions, left=t.multiplications, color=ADD, height=0.7)
        end = t.multiplications + t.additions
        ax.text(end, y, f"  {t.multiplications} | {t.additions}", va="center", fontsize=7, color=INK)
    ax.set_yticks(range(len(tags)), labels=[f"({tag})" for tag in tags])
    ax.invert_yaxis()
    ax.set(xlabel=f"operations, n = {count.n}", title=count.stem.replace("_", " "))
    ax.margins(x=0.18)
    for colour, name in ((MULTIPLY, "multiplications"), (ADD, "additions")):
        ax.plot([], [], "s", color=colour, label=name)
    ax.legend(fontsize=7, frameon=False, loc="upper right", handletextpad=0.1)
    _bare(ax)


def _printed_order(tag: str) -> tuple[bool, list[int]]:
    """Equations as the paper numbers them; those without a number last, in order of first use."""
    numbers = [int(x) for x in re.findall(r"\d+", tag)]
    return not numbers, numbers


def gantt(ax: Any, schedule: Any) -> None:
    """Which unit does what when: multipliers below, adders above, coloured by link."""
    links = sorted({link for _, _, link, _, _ in schedule.spans})
    colour = {link: PALETTE[i % len(PALETTE)] for i, link in enumerate(links)}
    base = {"multiplier": 0, "adder": schedule.multipliers + 1}
    bars: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for kind, unit, link, start, duration in schedule.spans:
        bars.setdefault((base[kind] + unit, link), []).append((start, duration))
    for (y, link), spans in bars.items():
        ax.broken_barh(spans, (y - 0.42, 0.84), color=colour[link], lw=0)
    rows = [f"× {i + 1}" for i in range(schedule.multipliers)] + [
        f"+ {i + 1}" for i in range(schedule.adders)
    ]
    places = [*range(schedule.multipliers), *(schedule.multipliers + 1 + i for i in range(schedule.adders))]
    ax.set_yticks(places, labels=rows)
    ax.set(
        xlabel="step",
        xlim=(0, schedule.length),
        title=f"{schedule.length} steps on {schedule.multipliers} multipliers and {schedule.adders} adders",
    )
    for link in links:
        ax.plot([], [], "s", color=colour[link], label=f"link {link}" if link else "joints")
    ax.legend(
        fontsize=7,
        ncols=min(len(links), 10),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        frameon=False,
        handletextpad=0.1,
    )
    _bare(ax)


def macro_gantt(ax: Any, tasks: Sequence[Any]) -> None:
    """The macro schedule: one row for each quantity, one bar for each link."""
    tags = list(dict.fromkeys(task.tag for task in tasks))
    for task in tasks:
        y = tags.index(task.tag)
        ax.broken_barh(
            [(task.start, task.end - task.start)],
            (y - 0.38, 0.76),
            color=PALETTE[task.link % len(PALETTE)],
            lw=0,
        )
        if task.end - task.start > 5:
            ax.text(
                (task.start + task.end) / 2,
                y,
                str(task.link),
                ha="center",
                va="center",
                fontsize=6,
                color="white",
            )
    ax.set_yticks(range(len(tags)), labels=tags)
    ax.invert_yaxis()
    ax.set(xlabel="step", title=f"macro schedule, {max((t.end for t in tasks), default=0)} steps")
    _bare(ax)


def time_against_units(ax: Any, rows: Sequence[dict[str, Any]]) -> None:
    """T_p against p with its lower bound; the speed-up is written beside each point."""
    p = [row["p"] for row in rows]
    ax.plot(p, [row["bound"] for row in rows], color=FAINT, lw=4, label="lower bound", solid_capstyle="round")
    ax.plot(p, [row["steps"] for row in rows], "o-", color=MULTIPLY, ms=4, lw=1, label="list schedule")
    for i, row in enumerate(rows):
        ax.annotate(
            f"×{row['speed_up']:.1f}",
            (row["p"], row["steps"]),
            (3, 5) if row["p"] < 9 or i % 2 else (-6, -12),
            textcoords="offset points",
            fontsize=7,
            color=INK,
        )
    ax.set(xscale="log", yscale="log", xlabel="p multipliers and p adders", ylabel="steps $T_p$")
    low, high = 0.75 * min(row["bound"] for row in rows), max(row["steps"] for row in rows)
    ax.set_ylim(bottom=low)
    ax.set_xticks(p, labels=[str(x) for x in p])
    ticks = [d * 10**k for k in range(8) for d in (1, 2, 5) if low <= d * 10**k <= high]
    ax.set_yticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    ax.xaxis.minorticks_off()
    ax.yaxis.minorticks_off()
    ax.legend(fontsize=8, frameon=False)
    _bare(ax)


def cost_figure(curves: Sequence[Any], crossing: tuple[int, float] | None = None) -> Any:
    """Multiplications against the number of joints, a line for each curve of `counting.cost_curves`."""
    with styled():
        made, ax = figure(5.2, 5.0)
        cost_against_joints(ax, curves, crossing)
    return made


def schedule_figure(schedule: Any) -> Any:
    """Which arithmetic unit does what when."""
    with styled():
        made, ax = figure(5.2, 3.2)
        gantt(ax, schedule)
        ax.grid(visible=False)
    return made
