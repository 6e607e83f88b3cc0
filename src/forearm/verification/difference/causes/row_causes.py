"""Causes with one number that is searched: rows of torques that come late, another width of dry friction."""

from dataclasses import replace

import numpy as np

from forearm.algebra import Matrix
from forearm.verification.difference.causes.cause_search import Explained
from forearm.verification.difference.causes.hypotheses import Bench, Cause, Fit, fit

LATEST, FEWEST = 20, 30
"""How many rows late is looked for, and from how many rows on."""
WORTH = 0.5
"""Share of the square of a joint's difference that a delay of its own may leave."""
WIDTHS = np.logspace(-6, 0.5, 27)
"""Speeds over which dry friction may turn over [rad/s or m/s]."""


def late_rows(bench: Bench, ours: Matrix) -> list[Explained]:
    """Torques that belong to states some rows before or after: how many rows fit best; none in a short log.

    All torques by as many rows, or each by its own: a column of a log may have been filtered, or come by another way.
    """
    last = min(LATEST, len(ours) // 4)
    if len(ours) < FEWEST:
        return []
    shifts = range(-last, last + 1)
    left = {
        k: np.mean((bench.tau[last + k : len(ours) - last + k] - ours[last:-last]) ** 2, axis=0)
        for k in shifts
    }
    together = min((k for k in shifts if k), key=lambda k: float(np.sum(left[k])))
    own = [min(shifts, key=lambda k, i=i: float(left[k][i])) for i in range(bench.arm.n)]  # type: ignore[misc]
    own = [k if left[k][i] < WORTH * left[0][i] else 0 for i, k in enumerate(own)]
    text = f"torques come {_rows_late(together)} than states"
    found: list[Explained] = [
        ((Cause("rows late", text, 1, {}),), _late(bench, ours, [together] * bench.arm.n), 1)
    ]
    late = [i for i, k in enumerate(own) if k]
    if len(set(own)) > 1:
        said = [f"that of {bench.arm.joint_names[i]!r} comes {_rows_late(own[i])} than states" for i in late]
        others = "the others do not" if len(late) < bench.arm.n else "each by its own"
        cause = Cause("rows late", f"torques are late one by one: {', '.join(said)}; {others}", len(late), {})
        found.append(((cause,), _late(bench, ours, own), len(late)))
    return found


def _rows_late(k: int) -> str:
    return f"{abs(k)} row{'s' if abs(k) > 1 else ''} {'later' if k > 0 else 'earlier'}"


def _late(bench: Bench, ours: Matrix, shifts: list[int]) -> Fit:
    """What is left if row r of torque i belongs to row r - shifts[i] of the states."""
    before, after = max(0, -min(shifts)), max(0, *shifts)
    rows = slice(before, len(ours) - after)
    theirs, room = (
        np.stack([part[rows.start + k : rows.stop + k, i] for i, k in enumerate(shifts)], axis=1)
        for part in (bench.tau, bench.room)
    )
    left, top = theirs - ours[rows], max(float(np.max(np.abs(bench.tau))), 1e-300)
    found = Fit(float(np.max(np.abs(left))) / top, np.array(bench.arm.gravity_in_base), left=left.ravel())
    found.over, found.rows = float(np.max(np.abs(left) / room)), rows
    return found


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
