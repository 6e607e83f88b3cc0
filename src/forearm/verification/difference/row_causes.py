"""Causes with one number that is searched: rows of torques that come late, another width of dry friction."""

from dataclasses import replace

import numpy as np

from forearm.algebra import Matrix
from forearm.verification.difference.cause_search import Explained
from forearm.verification.difference.hypotheses import Bench, Cause, Fit, fit

LATEST, FEWEST = 20, 30
"""How many rows late is looked for, and from how many rows on."""
WIDTHS = np.logspace(-6, 0.5, 27)
"""Speeds over which dry friction may turn over [rad/s or m/s]."""


def late_rows(bench: Bench, ours: Matrix) -> list[Explained]:
    """Torques that belong to states some rows before or after: how many rows fit best; none in a short log."""
    last = min(LATEST, len(ours) // 4)
    if len(ours) < FEWEST:
        return []
    apart = {k: _moved(bench.tau, ours, k) for k in range(-last, last + 1) if k}
    k = min(apart, key=lambda k: float(np.mean(apart[k] ** 2)))
    rows = f"{abs(k)} row{'s' if abs(k) > 1 else ''}"
    cause = Cause("rows late", f"torques come {rows} {'later' if k > 0 else 'earlier'} than states", 1, {})
    left, top = apart[k], max(float(np.max(np.abs(bench.tau))), 1e-300)
    found = Fit(float(np.max(np.abs(left))) / top, np.array(bench.arm.gravity_in_base), left=left.ravel())
    found.over = float(np.max(np.abs(left) / (bench.room[k:] if k > 0 else bench.room[:k])))
    return [((cause,), found, 1)]


def _moved(theirs: Matrix, ours: Matrix, k: int) -> Matrix:
    """Differences if row i of theirs belongs to row i - k of ours."""
    return theirs[k:] - ours[:-k] if k > 0 else theirs[:k] - ours[-k:]


def other_widths(bench: Bench) -> list[Explained]:
    """Dry friction that turns over at another speed: which one fits best; none without dry friction."""
    own = [float(link.drive.smoothing) for link in bench.arm.links if any(link.drive.coulomb)]
    if not own:
        return []

    def at(power: float) -> Fit:
        return fit(bench, replace(bench.plain, friction=float(10.0**power)))

    powers = np.log10(WIDTHS)
    best = int(np.argmin([at(power).rms for power in powers]))
    low, high = powers[max(best - 1, 0)], powers[min(best + 1, len(powers) - 1)]
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(48):
        inner, outer = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, outer) if at(inner).rms < at(outer).rms else (inner, high)
    found = at((low + high) / 2)
    found.unknowns["smoothing"] = np.array([10.0 ** ((low + high) / 2)])
    text = f"dry friction turns over at another speed: s = {max(own):g} in {bench.arm.name}, in the other"
    return [((Cause("friction law", text, 1, {}),), found, 1)]
