"""The subproblems of Paden and Kahan, on any scalar: a rotation about a known axis, or two, that bring points together.

Kahan, W. (1983). Lectures on computational aspects of geometry. Paden, B. (1986). Kinematics and control of robot
manipulators, UCB/ERL M86/5. In the form of Elias, A. J. and Wen, J. T. (2025). IK-Geo: unified robot inverse kinematics
using subproblem decomposition. Mechanism and Machine Theory 209, 105971.

A rotation is carried as (sine, cosine), never as an angle, until `angle` at the very end. R(k, θ) v below is v turned
about the unit vector k by θ.
"""

import math

import numpy as np

from forearm.algebra import Scalar, Vector, cross, sqrt, where

Turn = tuple[Scalar, Scalar]
"""Sine and cosine of an angle."""
NOTHING = 1e-24
"""A squared length below this has no direction."""
IN_LINE = 1e-40
"""The same for products of what two unit vectors have across an axis: they may be as near to it as 1e-10 rad."""
ARC = (
    *(
        1.0,
        -0.3333333333332844,
        0.1999999999885511,
        -0.14285714180976467,
        0.11111106180455946,
        -0.09090773074808414,
    ),
    *(
        0.07689953496306857,
        -0.06640233930429408,
        0.056883492268090106,
        -0.04348052215716462,
        0.021135373157693246,
    ),
)
"""atan(x) = x Σ a_k x^2k for |x| ≤ tan(π/8), to 4e-17: through Chebyshev's points, worked out with 40 digits."""
EIGHTH = math.sqrt(2.0) - 1.0
"""tan(π/8)."""


def dot(a: Vector, b: Vector) -> Scalar:
    """a · b of two 3-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def turned(k: Vector, turn: Turn, v: Vector) -> Vector:
    """R(k, θ) v, by Rodrigues' formula."""
    s, c = turn
    return c * v + s * cross(k, v) + ((1.0 - c) * dot(k, v)) * k


def back(turn: Turn) -> Turn:
    """The opposite turn."""
    return -turn[0], turn[1]


def together(a: Turn, b: Turn) -> Turn:
    """One turn after the other, about the same axis."""
    return a[0] * b[1] + a[1] * b[0], a[1] * b[1] - a[0] * b[0]


def onto(k: Vector, start: Vector, end: Vector) -> Turn:
    """θ that turns `start` about k as near to `end` as it comes (subproblem 1); zero where every θ does."""
    c = dot(start, end) - dot(k, start) * dot(k, end)
    s = dot(k, cross(start, end))
    square = s * s + c * c
    known = square - NOTHING
    scale = 1.0 / sqrt(where(known, square, 1.0))
    return where(known, s * scale, 0.0), where(known, c * scale, 1.0)


def across(k: Vector, start: Vector, end: Vector) -> Turn:
    """θ as by `onto`, of unit vectors that may be all but in line with k: their parts across it keep their digits."""
    e, f = cross(k, start), cross(k, end)
    c, s = dot(e, f), dot(k, cross(e, f))
    square = s * s + c * c
    known = square - IN_LINE
    scale = 1.0 / sqrt(where(known, square, 1.0))
    return where(known, s * scale, 0.0), where(known, c * scale, 1.0)


def level(h: Vector, k: Vector, p: Vector, d: Scalar) -> tuple[list[Turn], Scalar]:
    """Both θ with h · R(k, θ) p = d (subproblem 4), and a margin: below zero where there is none (the nearest then)."""
    along = dot(k, p)
    a = dot(h, p) - dot(h, k) * along  # a cos θ + b sin θ = d - what does not turn
    b = dot(h, cross(k, p))
    rest = d - dot(h, k) * along
    margin = a * a + b * b - rest * rest
    return _both(a, b, rest, margin), margin


def _both(a: Scalar, b: Scalar, rest: Scalar, margin: Scalar) -> list[Turn]:
    """Both θ with a cos θ + b sin θ = rest, by the margin a² + b² - rest²."""
    square = a * a + b * b
    root = sqrt(where(margin, margin, 0.0))
    rest = where(margin, rest, where(rest, sqrt(square), -sqrt(square)))
    scale = 1.0 / where(square - NOTHING, square, 1.0)
    return [((b * rest + a * w) * scale, (a * rest - b * w) * scale) for w in (root, -root)]


def inclined(h: Vector, k: Vector, p: Vector, u: Vector, v: Vector) -> tuple[list[Turn], Scalar]:
    """Both θ with h · R(k, θ) p = u · v, all of them unit vectors, and a margin; h, k and p are numbers.

    As `level`, whose margin loses its digits where u and v are all but in line. With the angles α of h and β of p to k,
    and γ between u and v, it is (cos(α - β) - cos γ) (cos γ - cos(α + β)), and 1 - cos γ = |u × v|² / (1 + cos γ).
    """
    alpha, beta = (math.atan2(float(np.linalg.norm(np.cross(k, x))), float(np.dot(k, x))) for x in (h, p))
    d, sine = dot(u, v), cross(u, v)
    square = dot(sine, sine)
    short = where(d, square / (1.0 + where(d, d, 0.0)), 1.0 - d)  # 1 - cos γ
    wide = where(-d, square / (1.0 + where(-d, -d, 0.0)), 1.0 + d)  # 1 + cos γ
    margin = (short - 2.0 * math.sin((alpha - beta) / 2) ** 2) * (
        wide - 2.0 * math.cos((alpha + beta) / 2) ** 2
    )
    along = dot(k, p)
    a, b = dot(h, p) - dot(h, k) * along, dot(h, cross(k, p))
    return _both(a, b, d - dot(h, k) * along, margin), margin


def apart(k: Vector, p: Vector, q: Vector, square: Scalar) -> tuple[list[Turn], Scalar]:
    """Both θ with |R(k, θ) p - q|² = square (subproblem 3)."""
    return level(q, k, p, (dot(p, p) + dot(q, q) - square) * 0.5)


def two_turns(k1: Vector, k2: Vector, p: Vector, q: Vector) -> tuple[list[tuple[Turn, Turn]], Scalar]:
    """Both pairs with R(k1, θ1) R(k2, θ2) p = q, for axes that meet (subproblem 2)."""
    seconds, margin = level(k1, k2, p, dot(k1, q))
    return [(onto(k1, turned(k2, second, p), q), second) for second in seconds], margin


def angle(turn: Turn) -> Scalar:
    """The angle in (-π, π] with this sine and cosine, to rounding; zero for (0, 0)."""
    s, c = turn
    high, wide = where(s, s, -s), where(c, c, -c)
    steep = high - wide
    large, small = where(steep, high, wide), where(steep, wide, high)
    far = small - EIGHTH * large  # beyond π/8: from the diagonal, atan(x) = π/4 + atan((x - 1)/(x + 1))
    whole = where(far, small + large, large)
    x = where(far, small - large, small) / where(whole, whole, 1.0)
    z, total = x * x, ARC[-1]
    for coefficient in ARC[-2::-1]:
        total = total * z + coefficient
    arc = where(far, math.pi / 4, 0.0) + x * total
    arc = where(steep, math.pi / 2 - arc, arc)
    arc = where(-c, math.pi - arc, arc)
    return where(-s, -arc, arc)
