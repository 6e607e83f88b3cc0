"""An arm as a person wants to see it: `print(arm)`, a notebook's table.

`sheets` collects what there is to say, once; `arm_text` and `arm_html` only differ in how they set it.
"""

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import is_number, is_zero
from forearm.angles import roll_pitch_yaw
from forearm.denavit_hartenberg import NEAR, dh_row, round_angle
from forearm.outside import escapes
from forearm.outside.text_table import text_table

WIDTH = 110
NO_FORMULAS = "tex2jax_ignore mathjax_ignore"
"""Classes of what MathJax 2 and 3 leave alone: a notebook takes dollars for the marks of formulas, in HTML too."""


@dataclass(frozen=True)
class Sheet:
    """One table: joints, bodies or drives."""

    title: str
    """What the rows are."""
    legend: str
    """How to read the columns."""
    header: tuple[str, ...]
    """Names of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, one row per joint."""


def arm_text(arm: Any) -> str:
    """The arm as plain text, aligned on decimal points."""
    blocks = ["\n".join([headline(arm), *(f"  {key:9} {value}" for key, value in summary(arm))])]
    if is_robot(arm):
        blocks.append("\n".join(["Tree", *(f"  {line}" for line in tree_lines(arm))]))
    blocks += [_sheet_text(sheet) for sheet in sheets(arm)]
    for title, sentences in remarks(arm):
        blocks.append("\n".join([title, *(_wrapped(sentence) for sentence in sentences)]))
    return "\n\n".join(blocks)


def arm_html(arm: Any) -> str:
    """The arm as HTML for a notebook: the same tables, no scripts, readable on light and dark pages."""
    facts = "".join(
        f"<tr><td style='{_LEFT}'>{escapes.html(key)}</td><td style='{_LEFT}'>{escapes.html(value)}</td></tr>"
        for key, value in summary(arm)
    )
    parts = [f"<p><b>{escapes.html(headline(arm))}</b></p><table style='{_TABLE}'>{facts}</table>"]
    if is_robot(arm):
        lines = "\n".join(escapes.html(line) for line in tree_lines(arm))
        parts.append(f"<pre>{lines}</pre>")
    parts += [_sheet_html(sheet) for sheet in sheets(arm)]
    for title, sentences in remarks(arm):
        items = "".join(f"<li>{escapes.html(sentence)}</li>" for sentence in sentences)
        parts.append(f"<details><summary>{escapes.html(title)}</summary><ul>{items}</ul></details>")
    return f"<div class='forearm-arm {NO_FORMULAS}'>{''.join(parts)}</div>"


# -- what there is to say --------------------------------------------------------------------------------


def headline(arm: Any) -> str:
    """Name, joints, mass."""
    kinds = [link.kind for link in arm.links]
    counts = [f"{kinds.count(k)} {k}" for k in ("revolute", "prismatic") if k in kinds]
    mass = f"{_number(arm.total_mass)} kg" if arm.dynamics else "kinematics only: no masses are known"
    n = len(kinds)
    joints = "joint" if n == 1 else "joints"
    title = dict(arm.provenance).get("title")
    name = f"{arm.name} ({title})" if title else arm.name
    base = " on a free base" if is_robot(arm) and arm.free else ""
    followers = f", {n - arm.n} of them coupled" if n > arm.n else ""
    return f"{name}: {n} {joints} ({', '.join(counts) or 'a free body'}){base}{followers}, {mass}"


def is_robot(arm: Any) -> bool:
    """Whether it is a tree."""
    return hasattr(arm, "couplings")


def tree_lines(robot: Any) -> list[str]:
    """The tree drawn: each joint under the link that it hangs on, tools and couplings beside it."""
    leads = {c.joint: " + ".join(f"{f:g} {name}" for name, f in c.terms) for c in robot.couplings}
    offsets = {c.joint: c.offset for c in robot.couplings}
    tools = {tool.link: tool.name for tool in robot.tools}
    lines = ["base (free)" if robot.free else "base"]

    def draw(parent: int, indent: str) -> None:
        below = [i for i, p in enumerate(robot.parents, 1) if p == parent]
        for i in below:
            link, last = robot.links[i - 1], i == below[-1]
            mark = "" if link.revolute else " (slides)"
            follows = f" = {leads[link.name]}" if link.name in leads else ""
            follows += f" {offsets[link.name]:+g}" if offsets.get(link.name) else ""
            end = f" -> {tools[i]}" if i in tools else ""
            lines.append(f"{indent}{'└─ ' if last else '├─ '}{link.name}{mark}{follows}{end}")
            draw(i, indent + ("   " if last else "│  "))

    draw(0, "")
    return lines


def summary(arm: Any) -> list[tuple[str, str]]:
    """Gravity, base, tool, what is included."""
    facts = [("gravity", f"{_triple(arm.gravity)} m/s², world axes")]
    facts.append(("base", _pose(arm.base, "at the world's origin")))
    if is_robot(arm):
        facts.append(("state", f"q has {arm.nq} numbers, qd, qdd and tau {arm.nv}"))
        facts.append(("ends", ", ".join(arm.tips)))
    else:
        facts.append(("tool", _pose(arm.tool, "the flange (frame n)")))
    facts.append(("included", included(arm)))
    names = ", ".join(name for name, _ in arm.configurations)
    frames = ", ".join(frame.name for frame in arm.frames)
    return [*facts, *((key, text) for key, text in (("named q", names), ("frames", frames)) if text)]


def included(arm: Any) -> str:
    """Which terms are in every quantity of this arm."""
    if not arm.dynamics:
        return "kinematics only"
    drives = [link.drive for link in arm.links]
    rotor = any(not is_zero(drive.reflected_inertia) for drive in drives)
    friction = any(not is_zero(x) for drive in drives for x in (drive.viscous, *drive.coulomb))
    gravity = any(not is_zero(x) for x in arm.gravity)
    said = {"rigid bodies": True, "gravity": gravity, "friction": friction, "rotor": rotor}
    words = [f"{name}: {'on' if on else 'off'}" for name, on in said.items()]
    return ", ".join(words) + (" (reflected)" if rotor else "")


def sheets(arm: Any) -> list[Sheet]:
    """Joints; bodies, if masses are known; drives, if there are any."""
    found = [_joints(arm)] if arm.links else []
    if arm.dynamics:
        found.append(_bodies(arm))
    if arm.has_drives:
        found.append(_drives(arm))
    return found


def remarks(arm: Any) -> list[tuple[str, list[str]]]:
    """Notes, what is unchecked, and where the numbers come from."""
    found = []
    if arm.notes:
        found.append(("Notes", list(arm.notes)))
    told = [(what.replace("_", " "), source) for what, source in arm.provenance if what != "title"]
    if told:
        sources = [textwrap.shorten(f"{what}: {source}", 150, placeholder=" …") for what, source in told]
        found.append(("Provenance", sources))
    return found


def _joints(arm: Any) -> Sheet:
    rows = [None if is_robot(arm) else dh_row(link) for link in arm.links]
    if all(row is not None for row in rows) and arm.links:
        legend = "Rz(q + θ) Tz(d) Tx(a) Rx(α), q added to d where prismatic; m, rad"
        header: tuple[str, ...] = ("a", "α", "d", "θ")
        shown: list[tuple[str, ...]]
        shown = [(_number(a), _angle(alpha), _number(d), _angle(t)) for a, alpha, d, t in filter(None, rows)]
    elif is_robot(arm):
        legend = "at x y z, roll pitch yaw of the link before, Rz(q + θ) Tz(d), q added to d where prismatic; m, rad"
        header = ("on", "x", "y", "z", "roll", "pitch", "yaw")
        befores = ["base" if not p else str(p) for p in arm.parents]
        shown = [
            (before, *(_number(x) for x in mount.translation), *_rpy(mount))
            for before, mount in zip(befores, arm.mounts, strict=True)
        ]
    else:
        legend = "Rz(q + θ) Tz(d) then the pose x y z, roll pitch yaw; q added to d where prismatic; m, rad"
        header = ("d", "θ", "x", "y", "z", "roll", "pitch", "yaw")
        shown = [_general(link) for link in arm.links]
    optional = {
        "sign": [("-" if link.flip else "+") for link in arm.links if any(x.flip for x in arm.links)],
        "offset": [
            _number(link.offset) for link in arm.links if any(not is_zero(x.offset) for x in arm.links)
        ],
        "limits": [_limits(link) for link in arm.links if any(x.limits for x in arm.links)],
        "speed": _sizes(arm, "speed_limit"),
        "effort": _sizes(arm, "effort_limit"),
    }
    extra = {name: cells for name, cells in optional.items() if cells}
    body = [
        (str(i + 1), link.name, link.kind, *shown[i], *(cells[i] for cells in extra.values()))
        for i, link in enumerate(arm.links)
    ]
    return Sheet("Joints", legend, ("", "name", "kind", *header, *extra), tuple(body))


def _general(link: Any) -> tuple[str, ...]:
    """d, theta, position and roll, pitch, yaw of a link that is no DH row; symbols where it has them."""
    xyz = tuple(_number(x) for x in link.pose.translation)
    return _number(link.d), _angle(link.theta), *xyz, *_rpy(link.pose)


def _bodies(arm: Any) -> Sheet:
    views = [link.about_com for link in arm.links]
    off = [(0, 1), (0, 2), (1, 2)]
    full = any(not is_zero(view.inertia[i, j]) for view in views for i, j in off)
    legend = "link axes, inertia about the centre of mass (to 4 digits); kg, m, kg m²"
    legend += "" if full else "; products of inertia are zero"
    places = [(0, 0), (1, 1), (2, 2), *(off if full else [])]
    header = ("mass", "x", "y", "z", *(f"I{'xyz'[i]}{'xyz'[j]}" for i, j in places))
    rows = tuple(
        (
            str(k),
            arm.links[k - 1].name,
            *map(_number, (view.mass, *view.center)),
            *(_number(view.inertia[place], 4) for place in places),
        )
        for k, view in enumerate(views, 1)
    )
    return Sheet("Bodies", legend, ("", "name", *header), rows)


def _drives(arm: Any) -> Sheet:
    legend = "as the joint feels them, rotor inertia reflected; kg m², N m s/rad, N m, rad/s (kg, N s/m, …)"
    header = ("", "name", "rotor", "gear", "viscous", "dry +", "dry -", "smoothing")
    rows = tuple(
        (str(k), link.name, *map(_number, _drive_numbers(link.drive))) for k, link in enumerate(arm.links, 1)
    )
    return Sheet("Drives", legend, header, rows)


def _drive_numbers(drive: Any) -> tuple[Any, ...]:
    return drive.reflected_inertia, drive.gear, drive.viscous, *drive.coulomb, drive.smoothing


# -- cells -----------------------------------------------------------------------------------------------


def _number(x: Any, digits: int = 6) -> str:
    return f"{float(x) + 0.0:.{digits}g}" if is_number(x) else str(x)


def _angle(x: Any) -> str:
    """Radians, or a fraction of π where it is one."""
    if not is_number(x):
        return str(x)
    for part in (1, 2, 3, 4, 6):
        times = round(x * part / math.pi)
        if times and abs(x - times * math.pi / part) < NEAR:
            sign, size = ("-" if times < 0 else ""), abs(times)
            return f"{sign}{'' if size == 1 else size}π{'' if part == 1 else f'/{part}'}"
    return _number(x)


def _triple(values: Iterable[Any]) -> str:
    return f"({', '.join(map(_number, values))})"


def _rpy(pose: Any) -> tuple[str, str, str]:
    """Roll, pitch, yaw of a rotation of numbers; a dash each for symbols."""
    if not all(is_number(x) for row in pose.rotation for x in row):
        return "·", "·", "·"
    roll, pitch, yaw = (_angle(round_angle(x)) for x in roll_pitch_yaw(pose.R, near=NEAR))
    return roll, pitch, yaw


def _pose(pose: Any, none: str) -> str:
    if not any(not is_zero(x) for x in pose.translation) and np.array_equal(pose.R, np.eye(3)):
        return none
    roll, pitch, yaw = _rpy(pose)
    turned = "" if (roll, pitch, yaw) == ("0", "0", "0") else f", roll pitch yaw ({roll}, {pitch}, {yaw}) rad"
    return f"at {_triple(pose.translation)} m{turned}"


def _limits(link: Any) -> str:
    if link.limits is None:
        return "none"
    low, high = (math.degrees(x) if link.revolute else x for x in link.limits)
    mark = "°" if link.revolute else " m"
    return f"±{high:.4g}{mark}" if low == -high else f"{low:.4g}{mark} to {high:.4g}{mark}"


def _sizes(arm: Any, name: str) -> list[str]:
    values = [getattr(link, name) for link in arm.links]
    return ["none" if x is None else _number(x) for x in values] if any(x is not None for x in values) else []


# -- setting it ------------------------------------------------------------------------------------------

_TABLE = "border-collapse: collapse; margin: 0.3em 0 0.8em 0; font-variant-numeric: tabular-nums"
_LEFT = "text-align: left; padding: 0.1em 0.7em"
_RIGHT = "text-align: right; padding: 0.1em 0.7em"
_WORDS = ("name", "kind")


def _sheet_text(sheet: Sheet) -> str:
    left = [k for k, name in enumerate(sheet.header) if name in _WORDS]
    lines = text_table(sheet.header, sheet.rows, left=left, on_the_point=True)
    return "\n".join([f"{sheet.title}   {sheet.legend}", *(f"  {line}" for line in lines)])


def _sheet_html(sheet: Sheet) -> str:
    styles = [_LEFT if name in _WORDS else _RIGHT for name in sheet.header]
    line = "border-bottom: 1px solid currentColor"
    head = "".join(
        f"<th style='{style}; {line}'>{escapes.html(name)}</th>"
        for name, style in zip(sheet.header, styles, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td style='{s}'>{escapes.html(c)}</td>" for c, s in zip(row, styles, strict=True))
        + "</tr>"
        for row in sheet.rows
    )
    title = f"<b>{escapes.html(sheet.title)}</b> <small>{escapes.html(sheet.legend)}</small>"
    return f"<div>{title}</div><table style='{_TABLE}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
