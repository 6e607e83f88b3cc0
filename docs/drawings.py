"""Draw the frames of a link, as the papers attach them, into docs/figures/frames.svg and frames_at_joints.svg.

A link is seen in an oblique projection. In frames.svg frame i is at its far end: joint i on the left with its axis
z_{i-1}, joint i+1 on the right with z_i, the vectors p*_i and r*_i, and the centre of mass. In frames_at_joints.svg
frame j is at its near end, at joint j. Plain SVG, so that the same script gives the same file everywhere. Run
`python docs/drawings.py` after a change; a test says when it is due.
"""

import math
from pathlib import Path

FIGURES = Path(__file__).parent / "figures"
WIDTH, HEIGHT = 760, 400
INK, LINK, JOINT, MOTION, BODY = "#1b1f24", "#d7e3ee", "#5b7690", "#b3400e", "#0b6e4f"

Point = tuple[float, float]


def text(at: Point, label: str, color: str = INK, size: int = 17) -> str:
    """A label; `_{…}` lowers and `^{…}` raises what is in the braces."""
    out, rest = "", label
    while rest:
        head, mark, tail = min((rest.partition(m) for m in ("_{", "^{")), key=lambda part: len(part[0]))
        out += head
        if not mark:
            break
        inside, _, rest = tail.partition("}")
        shift = 5 if mark == "_{" else -6
        out += (
            f'<tspan dy="{shift}" font-size="{size - 5}">{inside}</tspan><tspan dy="{-shift}">&#8203;</tspan>'
        )
    return (
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{color}" font-size="{size}" '
        f'font-family="serif" font-style="italic">{out}</text>'
    )


def line(a: Point, b: Point, color: str = INK, width: float = 1.6, dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{color}" '
        f'stroke-width="{width}"{dashes}/>'
    )


def arrow(a: Point, b: Point, color: str = INK, width: float = 1.8, head: float = 11) -> str:
    """A line with a head at b."""
    angle = math.atan2(b[1] - a[1], b[0] - a[0])
    wings = [
        (b[0] - head * math.cos(angle + side), b[1] - head * math.sin(angle + side)) for side in (-0.35, 0.35)
    ]
    tip = " ".join(f"{x:.1f},{y:.1f}" for x, y in (b, *wings))
    neck = (b[0] - 0.8 * head * math.cos(angle), b[1] - 0.8 * head * math.sin(angle))
    return line(a, neck, color, width) + f'<polygon points="{tip}" fill="{color}"/>'


def tube(center: Point, direction: float, length: float, radius: float) -> str:
    """A joint: a short cylinder along its axis, seen from the side."""
    x, y = center
    degrees = math.degrees(direction)
    half = length / 2
    return (
        f'<g transform="translate({x:.1f} {y:.1f}) rotate({degrees:.1f})">'
        f'<rect x="{-half}" y="{-radius}" width="{length}" height="{2 * radius}" fill="{LINK}" stroke="{JOINT}"/>'
        f'<ellipse cx="{half}" cy="0" rx="6" ry="{radius}" fill="white" stroke="{JOINT}"/></g>'
    )


def axes(origin: Point, ends: dict[str, Point], color: str = INK) -> str:
    """A frame: an arrow and a label for each axis."""
    parts = []
    for label, (dx, dy) in ends.items():
        tip = (origin[0] + dx, origin[1] + dy)
        parts.append(arrow(origin, tip, color))
        away = 14 / math.hypot(dx, dy)
        parts.append(text((tip[0] + dx * away - 5, tip[1] + dy * away + 6), label, color))
    return "".join(parts)


BEFORE, AFTER, CENTER = (190.0, 270.0), (560.0, 235.0), (400.0, 160.0)
"""Where the two joints and the centre of mass of the link are."""
SHAPE = "M 196 245 C 260 130, 380 105, 470 140 C 520 160, 545 185, 566 212 L 546 246 C 470 205, 330 215, 214 290 Z"


def link(label: str, described: str) -> list[str]:
    """The link between its two joints, with its centre of mass and its name."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{described}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="{SHAPE}" fill="{LINK}" stroke="{JOINT}"/>',
        tube(BEFORE, math.radians(-97), 84, 20),
        tube(AFTER, math.radians(-62), 84, 20),
        f'<circle cx="{CENTER[0]}" cy="{CENTER[1]}" r="6" fill="{BODY}"/>',
        text((CENTER[0] - 78, CENTER[1] - 12), "centre of mass", BODY, 15),
        f'<path d="M 148 152 A 34 12 0 1 0 206 148" fill="none" stroke="{INK}" stroke-width="1.6"/>',
        f'<polygon points="206,148 193,149 202,158" fill="{INK}"/>',
        text((300, 128), label, JOINT, 16),
    ]


def frames() -> str:
    """Frame i at the far end: link i between joints i and i+1."""
    described = "Frames i-1 and i of link i, the vectors p* and r*, joint i about z of frame i-1"
    parts = [
        *link("link i", described),
        axes(BEFORE, {"z_{i-1}": (-18, -150), "x_{i-1}": (-105, 62), "y_{i-1}": (112, 78)}),
        axes(AFTER, {"z_{i}": (72, -135), "x_{i}": (118, 20), "y_{i}": (16, 108)}),
        arrow(BEFORE, AFTER, MOTION, 2.2),
        text((330, 272), "p*_{i}", MOTION),
        arrow(AFTER, CENTER, BODY, 2.2),
        text((468, 184), "r*_{i}", BODY),
        text((112, 150), "q_{i}"),
        text((34, 262), "origin i-1, joint i", JOINT, 14),
        text((606, 224), "origin i, joint i+1", JOINT, 14),
        text((24, 382), "Joint i turns link i about z_{i-1}, or slides it along z_{i-1}.", INK, 14),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def frames_at_joints() -> str:
    """Frame j at the near end: link j from joint j to joint j+1, body described from joint j."""
    described = (
        "Frames j and j+1 of link j, at joints j and j+1; P from origin j to origin j+1; h from origin j"
    )
    parts = [
        *link("link j", described),
        axes(BEFORE, {"z_{j}": (-18, -150), "x_{j}": (-105, 62), "y_{j}": (112, 78)}),
        axes(AFTER, {"z_{j+1}": (72, -135), "x_{j+1}": (118, 20), "y_{j+1}": (16, 108)}),
        arrow(BEFORE, AFTER, MOTION, 2.2),
        text((330, 272), "P_{j+1}", MOTION),
        arrow(BEFORE, CENTER, BODY, 2.2),
        text((236, 216), "h_{j} / M_{j}", BODY),
        text((112, 150), "q_{j}"),
        text((52, 262), "origin j, joint j", JOINT, 14),
        text((596, 224), "origin j+1, joint j+1", JOINT, 14),
        text(
            (24, 382),
            "Frame j moves with link j: joint j turns it about z_{j}, or slides it along z_{j}.",
            INK,
            14,
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


DRAWINGS = {"frames.svg": frames, "frames_at_joints.svg": frames_at_joints}
"""File in docs/figures -> the function that draws it."""


def main() -> None:
    """Draw everything."""
    FIGURES.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FIGURES / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
