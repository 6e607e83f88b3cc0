"""Draw the frames of a link, as the papers attach them, into docs/figures/frames.svg.

A link is seen in an oblique projection: joint i on the left with its axis z_{i-1}, joint i+1 on the right with
z_i, the vectors p*_i and r*_i, and the centre of mass. Plain SVG, so that the same script gives the same file
everywhere. Run `python docs/drawings.py` after a change; a test says when it is due.
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


def frames() -> str:
    """The drawing: link i between joints i and i+1."""
    before, after, center = (190.0, 270.0), (560.0, 235.0), (400.0, 160.0)
    up_before, up_after = math.radians(-97), math.radians(-62)
    body = "M 196 245 C 260 130, 380 105, 470 140 C 520 160, 545 185, 566 212 L 546 246 C 470 205, 330 215, 214 290 Z"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Frames i-1 and i of link i, the vectors p* and r*, joint i about z of frame i-1">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="{body}" fill="{LINK}" stroke="{JOINT}"/>',
        tube(before, up_before, 84, 20),
        tube(after, up_after, 84, 20),
        axes(before, {"z_{i-1}": (-18, -150), "x_{i-1}": (-105, 62), "y_{i-1}": (112, 78)}),
        axes(after, {"z_{i}": (72, -135), "x_{i}": (118, 20), "y_{i}": (16, 108)}),
        arrow(before, after, MOTION, 2.2),
        text((330, 272), "p*_{i}", MOTION),
        arrow(after, center, BODY, 2.2),
        text((468, 184), "r*_{i}", BODY),
        f'<circle cx="{center[0]}" cy="{center[1]}" r="6" fill="{BODY}"/>',
        text((center[0] - 78, center[1] - 12), "centre of mass", BODY, 15),
        f'<path d="M 148 152 A 34 12 0 1 0 206 148" fill="none" stroke="{INK}" stroke-width="1.6"/>',
        f'<polygon points="206,148 193,149 202,158" fill="{INK}"/>',
        text((112, 150), "q_{i}"),
        text((34, 262), "origin i-1, joint i", JOINT, 14),
        text((606, 224), "origin i, joint i+1", JOINT, 14),
        text((300, 128), "link i", JOINT, 16),
        text((24, 382), "Joint i turns link i about z_{i-1}, or slides it along z_{i-1}.", INK, 14),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


DRAWINGS = {"frames.svg": frames}
"""File in docs/figures -> the function that draws it."""


def main() -> None:
    """Draw everything."""
    FIGURES.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FIGURES / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
