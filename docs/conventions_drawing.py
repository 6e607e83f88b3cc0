"""The drawing of CONVENTIONS.md: one link with its frames, the whole arm with its signs.

Writes figures/conventions.svg.

python docs/conventions_drawing.py            # write the file
python docs/conventions_drawing.py --check    # fail if the committed file differs
"""

import sys
from html import escape
from itertools import pairwise
from pathlib import Path

import numpy as np

FIGURE = Path(__file__).parent / "figures" / "conventions.svg"

INK, SOFT, BODY, EDGE = "#1f2937", "#6b7280", "#dbe4ee", "#8aa0b8"
AXES = {"x": "#c2410c", "y": "#15803d", "z": "#1d4ed8"}
FORCE, GRAVITY = "#b91c1c", "#7c3aed"
SANS = "font-family='Helvetica, Arial, sans-serif'"
SERIF = "font-family='Georgia, Times New Roman, serif' font-style='italic'"


class View:
    """An orthographic camera on one panel."""

    def __init__(self, center, scale, azimuth=-62, elevation=20):
        az, el = np.radians(azimuth), np.radians(elevation)
        self.center, self.scale = np.array(center), scale
        self.right = np.array([-np.sin(az), np.cos(az), 0])
        self.up = np.array([-np.cos(az) * np.sin(el), -np.sin(az) * np.sin(el), np.cos(el)])
        self.parts = []

    def at(self, point):
        """Screen position of a point."""
        p = np.asarray(point, dtype=float)
        return self.center + self.scale * np.array([p @ self.right, -(p @ self.up)])

    def line(self, points, color=INK, width=1.6, dash="", opacity=1.0):
        xy = " ".join("{:.1f},{:.1f}".format(*self.at(p)) for p in points)
        dashes = f" stroke-dasharray='{dash}'" if dash else ""
        self.parts.append(
            f"<polyline points='{xy}' fill='none' stroke='{color}' stroke-width='{width}' "
            f"stroke-linecap='round' stroke-linejoin='round' opacity='{opacity}'{dashes}/>"
        )

    def arrow(self, tail, head, color=INK, width=2.2, size=9):
        a, b = self.at(tail), self.at(head)
        along = (b - a) / np.linalg.norm(b - a)
        across = np.array([-along[1], along[0]])
        neck = b - size * along
        corners = [b, neck + 0.42 * size * across, neck - 0.42 * size * across]
        xy = " ".join("{:.1f},{:.1f}".format(*c) for c in corners)
        self.parts.append(
            f"<line x1='{a[0]:.1f}' y1='{a[1]:.1f}' x2='{neck[0]:.1f}' y2='{neck[1]:.1f}' stroke='{color}' "
            f"stroke-width='{width}' stroke-linecap='round'/><polygon points='{xy}' fill='{color}'/>"
        )

    def arc(self, center, start, end, radius, color=INK, head=True):
        """From direction `start` to direction `end` about their common normal."""
        u = np.array(start, dtype=float) / np.linalg.norm(start)
        w = np.array(end, dtype=float) - (np.array(end) @ u) * u
        w /= np.linalg.norm(w)
        angle = np.arccos(np.clip(np.array(end) @ u / np.linalg.norm(end), -1, 1))
        sweep = np.linspace(0, angle, 30)
        points = [np.array(center) + radius * (np.cos(t) * u + np.sin(t) * w) for t in sweep]
        self.line(points[:-2] if head else points, color, 1.5)
        if head:
            self.arrow(points[-4], points[-1], color, 1.5, 7)

    def text(self, point, words, color=INK, size=15, shift=(0, 0), anchor="middle", style=SERIF):
        x, y = self.at(point) + np.array(shift)
        self.parts.append(
            f"<text x='{x:.1f}' y='{y:.1f}' fill='{color}' font-size='{size}' text-anchor='{anchor}' {style}>"
            f"{marked(words)}</text>"
        )

    def frame(self, origin, R, length, label="", shift=(0, 0), names=True, sub=""):
        """Three axes; `names` writes x, y, z with the subscript."""
        for name in "yxz":
            column = "xyz".index(name)
            tip = np.array(origin) + length * R[:, column]
            self.arrow(origin, tip, AXES[name], 2.0, 8)
            if names:
                away = np.array(origin) + (length + 0.09) * R[:, column]
                self.text(away, f"{name}_{sub}" if sub else name, AXES[name], 14, (0, 5))
        if label:
            self.text(origin, label, INK, 13, shift, style=SANS)

    def dot(self, point, radius, fill, stroke=INK):
        x, y = self.at(point)
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{fill}' stroke='{stroke}'/>")

    def centroid(self, point, radius=8):
        """The quartered disc that marks a centre of mass."""
        x, y = self.at(point)
        r = radius
        self.parts.append(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{r}' fill='white' stroke='{INK}' stroke-width='1.4'/>"
            f"<path d='M {x:.1f} {y:.1f} h {r} a {r} {r} 0 0 0 -{r} -{r} z M {x:.1f} {y:.1f} h -{r} "
            f"a {r} {r} 0 0 0 {r} {r} z' fill='{INK}'/>"
        )

    def limb(self, points, width, fill=BODY, edge=EDGE):
        """A rounded thick line: the body of a link."""
        self.line(points, edge, width + 3)
        self.line(points, fill, width)

    def barrel(self, center, axis, radius=0.13, half=0.16):
        """A joint: a short cylinder about its axis."""
        axis = np.array(axis, dtype=float) / np.linalg.norm(axis)
        u = np.cross(axis, [0.31, 0.87, 0.42])
        u /= np.linalg.norm(u)
        v = np.cross(axis, u)
        turn = np.linspace(0, 2 * np.pi, 49)
        rim = [radius * (np.cos(t) * u + np.sin(t) * v) for t in turn]
        low, high = (np.array(center) + s * half * axis for s in (-1, 1))
        hull = convex([self.at(c + r) for c in (low, high) for r in rim])
        xy = " ".join("{:.1f},{:.1f}".format(*p) for p in hull)
        self.parts.append(f"<polygon points='{xy}' fill='#f1f5f9' stroke='{EDGE}' stroke-width='1.5'/>")
        facing = high if (axis @ np.cross(self.right, self.up)) > 0 else low
        xy = " ".join("{:.1f},{:.1f}".format(*self.at(facing + r)) for r in rim)
        self.parts.append(f"<polygon points='{xy}' fill='#cbd5e1' stroke='{EDGE}' stroke-width='1.2'/>")


def convex(points):
    """Convex hull of screen points, in order."""
    ordered = sorted(map(tuple, points))

    def half(run):
        kept = []
        for p in run:
            while len(kept) > 1 and turn_of(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return half(ordered) + half(ordered[::-1])


def turn_of(a, b, c):
    """Positive when a, b, c turn left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def marked(words):
    """Text with _subscripts (one word each) and ^superscripts."""
    out, rest = "", words
    while rest:
        cut = min((rest.index(m) for m in "_^" if m in rest), default=len(rest))
        out += escape(rest[:cut])
        if cut == len(rest):
            break
        size = next(
            (k for k, c in enumerate(rest[cut + 1 :]) if not (c.isalnum() or c in "−-")), len(rest) - cut - 1
        )
        word, move = rest[cut + 1 : cut + 1 + size], ("4", "-4") if rest[cut] == "_" else ("-6", "6")
        out += f"<tspan dy='{move[0]}' font-size='72%'>{escape(word)}</tspan><tspan dy='{move[1]}'>&#8203;</tspan>"
        rest = rest[cut + 1 + size :]
    return out


def rotation(axis, degrees):
    s, c = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def one_link():
    """Frame i-1 at the joint, frame i at the far end; a, alpha, d, theta; the centre of mass."""
    view = View((140, 388), 190, azimuth=-18, elevation=15)
    theta, d, a, alpha = 110, 0.8, 1.75, 48
    R0, R = np.eye(3), rotation("z", theta) @ rotation("x", alpha)
    up, x_i = np.array([0, 0, 1.0]), R[:, 0]
    corner, end = d * up, d * up + a * x_i
    view.line([-0.28 * up, 1.45 * up], SOFT, 1.1, "9 4 2 4")
    view.line([end - 0.35 * R[:, 2], end + 0.85 * R[:, 2]], SOFT, 1.1, "9 4 2 4")
    view.limb([0.2 * up, corner, corner + 0.12 * x_i, end - 0.05 * x_i], 30)
    view.barrel((0, 0, 0.02), up, 0.15, 0.17)
    view.barrel(end, R[:, 2], 0.12, 0.15)
    view.line([(0, 0, 0), 0.75 * x_i], SOFT, 1.1, "3 4")
    view.arc((0, 0, 0), (1, 0, 0), x_i, 0.5)
    view.text(0.62 * np.array([np.cos(0.6), np.sin(0.6), 0]), "θ + q", INK, 16, (18, 14))
    view.line([end, end + 0.62 * up], SOFT, 1.1, "3 4")
    view.arc(end, up, R[:, 2], 0.5)
    view.text(end + 0.56 * (up + R[:, 2]) / np.linalg.norm(up + R[:, 2]), "α", INK, 17, (-2, -5))
    side = -0.36 * R0[:, 1]
    view.arrow(side, side + corner, INK, 1.3, 7)
    view.arrow(side + corner, side, INK, 1.3, 7)
    view.text(side + 0.5 * corner, "d", INK, 17, (-12, 6))
    lift = 0.3 * up
    view.arrow(corner + lift, end + lift, INK, 1.3, 7)
    view.arrow(end + lift, corner + lift, INK, 1.3, 7)
    view.text(corner + lift + 0.45 * (end - corner), "a", INK, 17, (0, -8))
    center = end - 0.62 * x_i + 0.02 * R[:, 1] - 0.03 * R[:, 2]
    view.frame((0, 0, 0), R0, 0.62, sub="i−1")
    view.frame(end, R, 0.55, sub="i")
    view.arrow(end, center, INK, 1.8, 8)
    view.centroid(center)
    view.text(center, "com", INK, 16, (-6, -16))
    view.text(center, "com: from the origin of frame i, in its axes;", SOFT, 12.5, (-30, 62), "start", SANS)
    view.text(center, "inertia about it, same axes", SOFT, 12.5, (-30, 79), "start", SANS)
    view.text(1.45 * up, "axis of joint i: q turns about it,", SOFT, 12.5, (-60, -24), "start", SANS)
    view.text(1.45 * up, "or slides along it", SOFT, 12.5, (-60, -8), "start", SANS)
    return view.parts


def whole_arm():
    """World, base, joints, tool; gravity and the wrench of the surroundings."""
    view = View((64, 400), 136, azimuth=-68, elevation=17)
    world = np.zeros(3)
    base = np.array([0.95, 0.15, 0.0])
    e = np.eye(3)
    points = [base, base + [0, 0, 0.75], base + [0.55, 0.1, 1.5], base + [1.35, 0.15, 1.28]]
    view.frame(world, e, 0.5, "world", (8, 24))
    view.arrow(world, base, SOFT, 1.3, 8)
    view.text(0.5 * base, "base", SOFT, 13, (0, -7), style=SANS)
    slab = [base + 0.28 * np.array(c) for c in ((1, 1, -0.1), (-1, 1, -0.1), (-1, -1, -0.1), (1, -1, -0.1))]
    xy = " ".join("{:.1f},{:.1f}".format(*view.at(p)) for p in slab)
    view.parts.append(f"<polygon points='{xy}' fill='#e5e7eb' stroke='{EDGE}'/>")
    for start, stop in pairwise(points):
        view.limb([start, stop], 17)
    across = np.array([0.12, -1.0, 0.0])
    view.barrel(points[0] + [0, 0, 0.06], e[2], 0.13, 0.12)
    view.barrel(points[1], across, 0.12, 0.13)
    view.barrel(points[2], across, 0.11, 0.12)
    view.barrel(points[3], across, 0.09, 0.1)
    for k, (where, shift) in enumerate(zip(points[:3], ((-44, -30), (-46, -4), (-6, -26)), strict=True), 1):
        view.text(where, f"q_{k}, τ_{k}", INK, 15, shift)
    flange = points[3]
    tool = flange + np.array([0.42, 0.05, -0.12])
    view.line([flange, tool], EDGE, 5)
    ahead = (tool - flange) / np.linalg.norm(tool - flange)
    side = np.cross(e[2], ahead) / np.linalg.norm(np.cross(e[2], ahead))
    turn = np.column_stack([side, np.cross(ahead, side), ahead])
    view.frame(tool, turn, 0.33, "", names=False)
    view.text(flange, "frame n (flange)", INK, 13, (-10, 36), style=SANS)
    view.text(tool, "tool", INK, 13, (2, 24), "start", style=SANS)
    view.arrow(tool + [0.1, 0.05, 0.85], tool + [0.02, 0.01, 0.12], FORCE, 3.2, 12)
    view.text(tool + [0.1, 0.05, 0.85], "f_env", FORCE, 17, (0, -10))
    view.text(tool + [0.1, 0.05, 0.85], "on the arm", FORCE, 12.5, (0, -30), style=SANS)
    view.arrow([0.45, 0, 1.95], [0.45, 0, 1.4], GRAVITY, 3.2, 12)
    view.text([0.45, 0, 1.95], "gravity (0, 0, −9.81) m/s²", GRAVITY, 13, (0, -22), style=SANS)
    view.text([0.45, 0, 1.95], "free fall, world axes", GRAVITY, 13, (0, -7), style=SANS)
    return view.parts


def panel(x, y, width, height, title, parts):
    """A titled white card."""
    return [
        f"<g transform='translate({x} {y})'>",
        f"<rect width='{width}' height='{height}' rx='10' fill='white' stroke='#d1d5db'/>",
        f"<text x='18' y='30' font-size='17' font-weight='bold' fill='{INK}' {SANS}>{escape(title)}</text>",
        *parts,
        "</g>",
    ]


def equation(width):
    """The one rule of signs."""
    terms = [
        ("τ", "joint torques", INK),
        ("=", "", INK),
        ("M(q) q̈", "inertia, rotors", INK),
        ("+", "", INK),
        ("C(q, q̇) q̇", "Ṁ − 2C skew", INK),
        ("+", "", INK),
        ("g(q)", "holds the arm", GRAVITY),
        ("+", "", INK),
        ("friction(q̇)", "opposes motion", INK),
        ("−", "", INK),
        ("J(q)^T f_env", "on the arm, at the tool", FORCE),
    ]
    widths = [28 if not note else max(92, 10.5 * len(text), 7.4 * len(note)) for text, note, _ in terms]
    x = (width - sum(widths)) / 2
    out = []
    for (text, note, color), span in zip(terms, widths, strict=True):
        middle = f"x='{x + span / 2:.1f}' text-anchor='middle'"
        out.append(f"<text {middle} y='44' font-size='23' fill='{color}' {SERIF}>{marked(text)}</text>")
        out.append(f"<text {middle} y='68' font-size='12.5' fill='{SOFT}' {SANS}>{escape(note)}</text>")
        x += span
    return out


def drawing():
    """The whole picture as SVG text."""
    width, height = 1120, 600
    strip = [
        "<g transform='translate(20 496)'>",
        "<rect width='1080' height='88' rx='10' fill='white' stroke='#d1d5db'/>",
    ]
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        "role='img' aria-label='Frames of one link, the whole arm with gravity and external force, rule of signs'>",
        f"<rect width='{width}' height='{height}' fill='#f8fafc'/>",
        *panel(20, 18, 560, 464, "One link: Rz(θ + q) Tz(d) Tx(a) Rx(α)", one_link()),
        *panel(596, 18, 504, 464, "The arm: everything public in world axes", whole_arm()),
        *strip,
        *equation(1080),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main():
    """Write the figure, or compare it with the committed one."""
    text = drawing()
    if "--check" in sys.argv[1:]:
        if FIGURE.read_text(encoding="utf-8") != text:
            sys.exit(f"{FIGURE.name} is not what {Path(__file__).name} draws; run it")
        return
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
