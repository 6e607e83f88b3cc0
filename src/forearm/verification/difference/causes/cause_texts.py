"""The words for a cause that was found, with its numbers as far as the torques tell them."""

import math
from itertools import combinations_with_replacement

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.robot import Robot
from forearm.verification.difference.causes.hypotheses import Cause, Fit


def _digits_beside_one(change: float) -> int:
    """Digits of a factor that show what it is more or less than one."""
    return 6 if abs(change) > 1e-4 else min(16, 3 - math.floor(math.log10(abs(change) or 1e-13)))


def key_of(cause: Cause, found: Fit, arm: Arm | Robot) -> str:
    """The short name of a cause; of another gravity, what that means."""
    if cause.change.get("gravity") != "free":
        return cause.key
    return _gravity(found, arm)[0]


def text_of(cause: Cause, found: Fit, arm: Arm | Robot) -> str:
    """A cause in words, with its numbers."""
    if cause.change.get("gravity") == "free":
        return _gravity(found, arm)[1]
    if cause.unknown_zero is not None:
        return f"{cause.text} by {_told(found, 'zero', 0, digits=6)}"
    if "smoothing" in found.unknowns:
        return f"{cause.text} {float(found.unknowns['smoothing'][0]):.4g}"
    extra = cause.change.get("extras", ("",))[0]
    if extra == "armature":
        return f"{cause.text} by {_row(_numbers(found, extra))} kg m²"
    if extra == "offset":
        return f"{cause.text}, the other's are larger by {_row(_numbers(found, extra))} N m or N"
    if extra == "factors":
        factors = [_told(found, extra, i, 1.0, digits=6) for i in range(arm.n)]
        return f"{cause.text}, {_row(factors)}"
    if extra in ("viscous", "dry", "dry jumps"):
        return (
            f"{cause.text}: {extra.split()[0]} by {_row(_numbers(found, extra))}{_one_way(found, extra, arm)}"
        )
    if extra == "springs":
        return f"{cause.text}: {_row(_numbers(found, extra)[: arm.n])} N m/rad or N/m"
    if extra == "force":
        return f"{cause.text}: {_row(_numbers(found, extra))} N in the base"
    if extra == "coupled":
        places = combinations_with_replacement(range(arm.n), 2)
        upper = dict(zip(places, _numbers(found, extra), strict=True))
        rows = [[upper[min(i, j), max(i, j)] for j in range(arm.n)] for i in range(arm.n)]
        return f"{cause.text}, {_row([_row(row) for row in rows])} kg m²"
    if extra in ("friction", "jumps"):
        viscous, dry = _numbers(found, extra)[: arm.n], _numbers(found, extra)[arm.n :]
        return f"{cause.text}: viscous by {_row(viscous)}, dry by {_row(dry)}{_one_way(found, extra, arm)}"
    if extra == "scale":
        return f"{cause.text}, {_told(found, extra, 0, 1.0, digits=_digits_beside_one(found.unknowns[extra][0]))}"
    if extra.startswith("link"):
        if not found.tells(extra, 0):
            return f"{cause.text}; the torques do not tell by how much mass"
        return f"{cause.text}; mass by {_told(found, extra, 0)} kg"
    return cause.text


def _one_way(found: Fit, extra: str, arm: Arm | Robot) -> str:
    """What there is to add of joints that never turn round: their dry friction might as well be a constant."""
    if extra == "viscous":
        return ""
    slopes = found.slopes[extra][:, -arm.n :].reshape(-1, arm.n, arm.n)
    signs = np.sign(slopes[:, range(arm.n), range(arm.n)])
    alike = np.flatnonzero(np.all(signs == signs[:1], axis=0) & (signs[0] != 0))
    names = ", ".join(arm.joint_names[i] for i in alike)
    return f" (or constants in {names}, which turn one way only)" if names else ""


def listed(values: Vector) -> str:
    """Numbers in brackets."""
    return _row([_number(float(v)) for v in values])


def _numbers(found: Fit, extra: str) -> list[str]:
    """The unknowns of an extra, as far as the torques tell them."""
    return [_told(found, extra, i) for i in range(len(found.unknowns[extra]))]


def _told(found: Fit, extra: str, place: int, more: float = 0.0, digits: int = 4) -> str:
    """A number with its digits, with ± where those are fewer, and a question mark where the torques do not tell it."""
    values = found.unknowns[extra] + more
    value, spread = float(values[place]), found.spread(extra, place)
    if spread == np.inf:
        return "?"
    if abs(value) < 1e-9 * np.max(np.abs(values)):
        value = 0.0
    if spread <= max(10.0**-digits * abs(value), 1e-9 * float(np.max(np.abs(values)))):
        return f"{value:.{digits}g}"
    places = -math.floor(math.log10(spread))
    return f"{round(value, places):.{digits + 2}g} ± {spread:.1g}"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-9 else value:.4g}"


def _row(texts: list[str]) -> str:
    return "(" + ", ".join(texts) + ")"


def _gravity(found: Fit, arm: Arm | Robot) -> tuple[str, str]:
    """What a gravity vector that came out of a fit means."""
    before, after = np.array(arm.gravity_in_base, dtype=float), found.gravity
    size = float(np.linalg.norm(before))
    spreads = [found.spread("gravity", k) for k in range(3)]
    told = [spread < np.inf for spread in spreads]
    printed = _row([_number(float(g)) if t else "?" for g, t in zip(after, told, strict=True)])
    open_by = max([1e-5 * size, *(spread for spread in spreads if spread < np.inf)])
    whole = float(np.linalg.norm(after[told]))  # what is not told can only make it larger
    if not all(told) and whole <= size + open_by:
        return "gravity", f"gravity in the base of the other is {printed} m/s², as far as the torques tell"
    if size == 0 or abs(whole - size) > open_by:
        least = " at least" * (not all(told))
        along = (
            f", {whole:.5g} m/s² in all{least}" if np.max(np.abs(after)) < whole * (1 - 1e-9) or least else ""
        )
        return "gravity size", f"gravity differs: {printed} m/s² in the base of the other{along}"
    angle = tilt(before, after)
    if angle <= np.pi / 2 + 1e-6:  # y up on one side, z up on the other, too
        return (
            "base rotation",
            f"the base is turned: gravity is {printed} m/s² in it, {np.degrees(angle):.4g}° away",
        )
    return (
        "cannot tell",
        f"gravity is {printed} m/s²: a base turned by {np.degrees(angle):.4g}°, or sign and tilt",
    )


def tilt(before: Vector, after: Vector) -> float:
    """Angle between two vectors [rad]."""
    return math.atan2(float(np.linalg.norm(np.cross(before, after))), float(before @ after))
