"""Random positions of joints within their limits, those of joints that follow others included."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.link import Link

TRIES = 500
"""How often states are drawn anew, then moved, until every joint that follows several others is within its limits."""

STRAYS = 30
"""How often states that were moved are moved again, at random."""


def joints_within(
    rng: np.random.Generator,
    links: Sequence[Link],
    batch: Any,
    followers: Sequence[Link] = (),
    coupling: tuple[Matrix, Vector] | None = None,
) -> Any:
    """Positions (*batch, n) within limits, or within ±pi (±1 m) where there are none.

    Args:
        rng: Where numbers come from.
        links: The joints that move of themselves, n of them.
        batch: Shape of the batch.
        followers: Those with limits that follow them, if there are any.
        coupling: B (m, n) and b (m,) of the followers, q = B qa + b.
    """
    B, b = coupling or (np.zeros((0, len(links))), np.zeros(0))
    widest = np.array([np.pi if link.revolute else 1.0 for link in links])
    given = np.array([link.limits or (-np.inf, np.inf) for link in links]).reshape(-1, 2)
    within = np.array([link.limits for link in followers]).reshape(-1, 2)
    given = _narrowed(given, B, b, within)
    low = np.where(np.isfinite(given[:, 0]), given[:, 0], np.minimum(-widest, given[:, 1] - widest))
    high = np.where(np.isfinite(given[:, 1]), given[:, 1], np.maximum(widest, low + widest))
    return _drawn(rng, np.stack([low, high], 1), B, b, within, batch)


def _narrowed(limits: Matrix, led: Matrix, shift: Vector, within: Matrix) -> Matrix:
    """Limits (n, 2) of leaders that keep followers of one joint within theirs, as far as the two can be kept at once.

    Followers are led (m, n) times the leaders, plus a shift, and their limits are within (m, 2).
    """
    found = limits.astype(float)
    for row, b, ends in zip(led, shift, within, strict=True):
        leaders = np.flatnonzero(row)
        if len(leaders) == 1:
            j = leaders[0]
            least, most = sorted((ends - b) / row[j] + 0.0)  # -0.0 would be below 0.0 to a generator
            if max(found[j, 0], least) <= min(found[j, 1], most):
                found[j] = max(found[j, 0], least), min(found[j, 1], most)
    return found


def _drawn(
    rng: np.random.Generator, bounds: Matrix, led: Matrix, shift: Vector, within: Matrix, batch: Any
) -> Any:
    """Random numbers (*batch, n) in bounds (n, 2) with which followers of several joints are within theirs, too."""
    low, high = bounds.T
    q = rng.uniform(low, high, (*batch, len(low)))
    several = np.count_nonzero(led, axis=1) > 1
    if not several.any():
        return q
    for _ in range(TRIES):
        values = q @ led[several].T + shift[several]
        out = np.any((values < within[several, 0]) | (values > within[several, 1]), axis=-1)
        if not out.any():
            return q
        q[out] = rng.uniform(low, high, (int(out.sum()), len(low)))
    q[out] = _brought_within(rng, q[out], bounds, led[several], shift[several], within[several])
    return q


def _brought_within(
    rng: np.random.Generator, q: Any, bounds: Matrix, led: Matrix, shift: Vector, within: Matrix
) -> Any:
    """States (k, n) moved until each follower is within its limits, then strewn over what room there is.

    Where limits leave little room, chance does not meet it. Projections on one limit after the other do (von Neumann's
    way to a point that several convex sets share), where there is room at all.
    """
    rim = np.clip(0.01 * (within[:, 1] - within[:, 0]), 0.0, 1e-3)
    for _ in range(TRIES):
        for row, b, (least, most), edge in zip(led, shift, within, rim, strict=True):
            value = q @ row + b
            aim = np.clip(value, least + edge, most - edge)
            q = np.clip(q + np.outer((aim - value) / (row @ row), row), *bounds.T)
        values = q @ led.T + shift
        fits = np.all((values >= within[:, 0]) & (values <= within[:, 1]), axis=-1)
        if fits.all():
            break
    q[fits] = _strewn(
        rng, q[fits], np.vstack([np.eye(len(bounds)), led]), np.vstack([bounds, within - shift[:, None]])
    )
    return q


def _strewn(rng: np.random.Generator, q: Any, sides: Matrix, ends: Matrix) -> Any:
    """States (k, n) with sides @ q between ends, moved at random within them: hit and run."""
    for _ in range(STRAYS):
        along = rng.normal(size=q.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = (ends.T[:, None] - q @ sides.T) / (along @ sides.T)
        back, forth = (
            np.nan_to_num(ways.min(axis=0), nan=-np.inf),
            np.nan_to_num(ways.max(axis=0), nan=np.inf),
        )
        least, most = back.max(axis=-1), forth.min(axis=-1)
        share = rng.uniform(0.001, 0.999, len(q))
        step = np.where(most > least, least + share * (most - least), 0.0)
        q = q + step[:, None] * along
    return q
