"""Cubic splines of many paths side by side: their coefficients, and their values on grids.

Ends without a knot of their own ('not a knot'), as SciPy's CubicSpline has them, which tests hold this to.
"""

from collections.abc import Sequence

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.motion.motions import Motion, ViaPoints


def spline_pieces(times: Vector, points: Vector) -> Vector:
    """Coefficients of (s - s_k)³, …, 1 in each piece, (P, 4, K - 1, n), for knots (P, K) and points (P, K, n)."""
    h = np.diff(times, axis=1)
    m = np.diff(points, axis=1) / h[..., None]
    d = np.linalg.solve(*_for_tangents(h, m)) if points.shape[1] > 2 else np.concatenate([m, m], axis=1)
    w = h[..., None]
    twist = (d[:, :-1] + d[:, 1:] - 2 * m) / w
    return np.stack([twist / w, (m - d[:, :-1]) / w - twist, d[:, :-1], points[:, :-1]], axis=1)


def _for_tangents(h: Vector, m: Vector) -> tuple[Matrix, Vector]:
    """The equations for the tangents at the knots: (P, K, K) and right-hand sides (P, K, n)."""
    paths, pieces = h.shape
    A, b = np.zeros((paths, pieces + 1, pieces + 1)), np.zeros((paths, pieces + 1, m.shape[2]))
    i = np.arange(1, pieces)
    A[:, i, i - 1], A[:, i, i], A[:, i, i + 1] = h[:, 1:], 2 * (h[:, :-1] + h[:, 1:]), h[:, :-1]
    b[:, 1:-1] = 3 * (h[:, 1:, None] * m[:, :-1] + h[:, :-1, None] * m[:, 1:])
    if pieces == 2:  # a parabola
        A[:, 0, :2] = A[:, 2, 1:] = 1.0
        b[:, 0], b[:, 2] = 2 * m[:, 0], 2 * m[:, 1]
        return A, b
    for end, (near, far) in ((0, (0, 1)), (pieces, (-1, -2))):
        h0, h1 = h[:, near, None], h[:, far, None]
        A[:, end, end], A[:, end, 1 if end == 0 else pieces - 1] = h1[:, 0], (h0 + h1)[:, 0]
        b[:, end] = ((h0 + 2 * (h0 + h1)) * h1 * m[:, near] + h0**2 * m[:, far]) / (h0 + h1)
    return A, b


def spline_rows(paths: Sequence[Motion], s: Vector) -> tuple[Vector, Vector, Vector] | None:
    """q, q' and q'' (P, M, n) of splines with equally many knots at s (P, M); None for anything else."""
    if not all(isinstance(path, ViaPoints) and not path.at_rest for path in paths):
        return None
    splines = [path for path in paths if isinstance(path, ViaPoints)]
    if len({len(path.times) for path in splines}) > 1:
        return None
    pieces = np.array(
        [np.searchsorted(path.times[1:-1], row, "right") for path, row in zip(splines, s, strict=True)]
    )
    starts = np.array([path.times[:-1] for path in splines])
    u = (s - np.take_along_axis(starts, pieces, 1))[..., None]
    c = np.array([path.coefficients for path in splines])  # (P, 4, K - 1, n)
    n, last = c.shape[3], c.shape[2]
    rows = np.ascontiguousarray(np.moveaxis(c, 1, 2)).reshape(
        -1, 4 * n
    )  # one row for each piece of each path
    found = rows[pieces + last * np.arange(len(splines))[:, None]]
    c3, c2, c1, c0 = (found[..., k * n : (k + 1) * n] for k in range(4))
    u3 = u * c3
    return c0 + u * (c1 + u * (c2 + u3)), c1 + u * (2 * c2 + 3 * u3), 2 * c2 + 6 * u3
