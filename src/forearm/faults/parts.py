"""Parts of an arm: shape and type, checked when they are made. Symbols and traced scalars pass unchecked."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import is_number, is_scalar
from forearm.faults.call_arguments import UNORDERED, a_or_an, did_you_mean, shown
from forearm.faults.kinds import ArmFault
from forearm.faults.labelled_rows import not_labelled, not_masked
from forearm.faults.number_arrays import all_of
from forearm.outside.escapes import composed, hidden, invisible
from forearm.outside.signal_errors import pass_on_signals

DEGREES = 4 * math.pi
"""Angles beyond this are taken for degrees [rad]."""
FARTHEST = 30.0
"""Lengths beyond this are asked about: millimetres [m]?"""

SLACK = 1e-9
"""Relative slack of the physical checks: published tensors are rounded."""


def scalar(value: Any, where: str, unit: str = "") -> Any:
    """A finite real number, or a symbol; plain numbers come back as float."""
    if not is_scalar(value):
        raise ArmFault(f"{where} is {shown(value)}; give one real number{_in(unit)}.")
    if not is_number(value) and type(value).__module__ not in ("fractions", "decimal"):
        return value
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float holds
        number = math.inf
    except ValueError:  # a Decimal that signals
        number = math.nan
    if not math.isfinite(number):
        raise ArmFault(f"{where} is {number}; give a finite number{_in(unit)}.")
    return number


def vector(value: Any, where: str, unit: str = "") -> tuple[Any, Any, Any]:
    """Three scalars as a tuple."""
    if is_number(value):
        raise ArmFault(f"{where} is the single number {value}; give a vector (x, y, z){_in(unit)}.")
    not_labelled(value, where, ArmFault, "xyz")
    row: Any = () if isinstance(value, UNORDERED) else value
    try:
        x, y, z = row
    except Exception:  # also what an object's own __iter__ raises
        pass_on_signals()
        raise ArmFault(f"{where} is {shown(value)}; give three numbers (x, y, z){_in(unit)}.") from None
    return scalar(x, f"{where}[0]", unit), scalar(y, f"{where}[1]", unit), scalar(z, f"{where}[2]", unit)


def matrix3(value: Any, where: str, unit: str = "") -> tuple[tuple[Any, Any, Any], ...]:
    """A 3x3 matrix as a tuple of rows."""
    not_masked(value, where, ArmFault)
    not_labelled(value, where, ArmFault, "xyzxyz")
    try:
        array = np.asarray(value, dtype=object)
    except Exception:  # rows of different lengths, and what an object's own __array__ raises
        pass_on_signals()
        raise ArmFault(f"{where} is {shown(value)}; give a 3x3 matrix{_in(unit)}.") from None
    if array.shape != (3, 3):
        order = " (numbers in one row have no agreed order; name them, Ixx=.., Ixy=..)" if unit else ""
        raise ArmFault(f"{where} has shape {array.shape}; give a 3x3 matrix{_in(unit)}{order}.")
    return tuple(vector(row, f"{where}[{i}]", unit) for i, row in enumerate(array))  # type: ignore[return-value]


def rotation(rows: tuple[tuple[Any, ...], ...], where: str) -> None:
    """Refuse a matrix of plain numbers that is not a rotation."""
    if not all(is_number(x) for row in rows for x in row):
        return
    r = np.array(rows, dtype=float)
    error = float(np.max(np.abs(r @ r.T - np.eye(3))))
    if error > 1e-6 or np.linalg.det(r) < 0:
        raise ArmFault(
            f"{where} is not a rotation (R Rᵀ differs from the unit matrix by {error:.2g}, determinant "
            f"{np.linalg.det(r):.3g}); give an orthonormal right-handed 3x3 matrix."
        )


def homogeneous(value: Any) -> np.ndarray[Any, Any]:
    """A 4x4 homogeneous matrix, last row (0, 0, 0, 1)."""
    not_masked(value, "Pose.from_matrix: the matrix", ArmFault)
    try:
        m = np.asarray(all_of(value))
    except Exception:
        pass_on_signals()
        raise ArmFault(f"Pose.from_matrix got {shown(value)}; give a 4x4 homogeneous matrix.") from None
    if m.shape != (4, 4):
        raise ArmFault(f"Pose.from_matrix got shape {m.shape}; give a 4x4 homogeneous matrix.")
    if [is_number(x) and float(x) for x in m[3]] != [0, 0, 0, 1]:
        raise ArmFault(
            f"Pose.from_matrix got the last row ({', '.join(map(str, m[3]))}); it must be (0, 0, 0, 1). "
            "Transposed?"
        )
    return m


def angle(value: Any, where: str) -> Any:
    """A constant angle, which nobody turns more than twice around: degrees are caught here."""
    if is_number(value) and abs(value) > DEGREES:
        raise ArmFault(
            f"{where} is {value:g} rad, {abs(value) / math.tau:.1f} turns: degrees? Angles are in radians; "
            f"give numpy.deg2rad({value:g})."
        )
    return value


LONGEST_NAME = 255
"""Characters of a name; a file that has longer ones has something else in their place."""


def name(value: Any, where: str) -> str:
    """The name of an arm, a joint, a frame, a configuration: text on one line that shows what it is."""
    if not isinstance(value, str):
        raise ArmFault(f"{where} is {shown(value)}; give a text.")
    if len(value) > LONGEST_NAME:
        raise ArmFault(f"{where} has {len(value)} characters; give at most {LONGEST_NAME}.")
    return _shown(value, where, hidden(value), invisible(value))


def text(value: Any, where: str) -> str:
    """A remark or a source: lines of text."""
    if not isinstance(value, str):
        raise ArmFault(f"{where} is {shown(value)}; give a text.")
    return _shown(value, where, hidden(value, "\n\t"), None)


def _shown(value: str, where: str, control: str | None, unseen: str | None) -> str:
    """The text, unless it has a character that is refused."""
    bad = control or unseen
    if bad is not None:
        raise ArmFault(
            f"{where} has the {'control' if control else 'invisible'} character U+{ord(bad):04X} at place "
            f"{value.index(bad) + 1} ({shown(value)}); give printable characters alone."
        )
    return value


def part(value: Any, kind: type, where: str) -> None:
    """An argument that must be a Link, a Pose, an Inertia or a Drive."""
    if not isinstance(value, kind):
        raise ArmFault(
            f"{where} is {a_or_an(type(value).__name__)}; give {a_or_an(kind.__name__)}"
            f"{_MADE_BY.get(kind.__name__, '')}."
        )


_MADE_BY = {
    "Inertia": " (Inertia.about_com or Inertia.about_origin: the point matters)",
    "Pose": " (Pose.at(xyz, rpy) or Pose.from_matrix)",
    "Link": " (Link.dh(...) or Link(kind, pose, ...))",
}


def joint_kind(value: Any, where: str) -> None:
    """Revolute or prismatic; other words are explained."""
    if isinstance(value, str) and value in ("revolute", "prismatic"):
        return
    meant = {
        "continuous": "a continuous joint is 'revolute' without limits",
        "R": "'revolute'",
        "P": "'prismatic'",
    }
    meant["fixed"] = "a fixed joint is no joint: put its pose and body into the link before it"
    hint = f" ({meant[value]})" if isinstance(value, str) and value in meant else ""
    raise ArmFault(f"{where}: joint kind is {shown(value)}; it must be 'revolute' or 'prismatic'{hint}.")


def limits(value: Any, where: str) -> tuple[float, float] | None:
    """Least and greatest q, or None; infinities are allowed, order is checked by the arm."""
    if value is None:
        return None
    not_labelled(value, f"{where}: limits", ArmFault, ("low", "high"))
    try:
        row: Any = () if isinstance(value, UNORDERED) else value
        least, greatest = row
        low, high = (float(x) if is_scalar(x) else math.nan for x in (least, greatest))
    except Exception:
        pass_on_signals()
        raise ArmFault(
            f"{where}: limits are {shown(value)}; give (low, high), or None for no limits."
        ) from None
    if math.isnan(low) or math.isnan(high):
        raise ArmFault(f"{where}: limits are {shown(value)}; give (low, high), or None for no limits.")
    return low, high


def size(value: Any, where: str) -> float | None:
    """A limit without sign, or None."""
    if value is None:
        return None
    if not is_number(value) or not value >= 0:
        raise ArmFault(f"{where} is {shown(value)}; give its size, zero or positive, or None for no limit.")
    return float(value)


def choice(value: Any, allowed: Sequence[str], where: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in tuple(allowed):
        words = ", ".join(repr(a) for a in allowed)
        raise ArmFault(f"{where} is {shown(value)}; it must be one of {words}.")
    return str(value)


def products_of_inertia(given: dict[str, Any], products: str | None, where: str) -> float:
    """The sign to give to off-diagonal components: +1 for tensor entries, -1 for CAD's positive integrals."""
    nonzero = [k for k, v in given.items() if not (is_number(v) and v == 0)]
    if products is None and nonzero:
        raise ArmFault(
            f"{where} gives {', '.join(nonzero)} without saying their sign; add products='tensor' (entries of "
            "the inertia matrix, Ixy = -∫xy dm) or products='cad' (positive integrals, Ixy = +∫xy dm)."
        )
    if products is not None:
        choice(products, ("tensor", "cad"), f"{where} products")
    return -1.0 if products == "cad" else 1.0


def symmetric(rows: tuple[tuple[Any, ...], ...], where: str) -> None:
    """Refuse an inertia matrix of plain numbers that is not symmetric."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = rows[i][j], rows[j][i]
        if is_number(a) and is_number(b) and abs(a - b) > SLACK * _largest(rows):
            raise ArmFault(
                f"{where} is not symmetric: entry [{i}][{j}] is {a:g}, [{j}][{i}] is {b:g} kg m²; "
                "an inertia matrix is. Numbers given row by row in another order?"
            )


def inertia_arguments(matrix: Any, given: dict[str, Any], known: Sequence[str], where: str) -> None:
    """One matrix, or components by name; not both."""
    unknown = [k for k in given if k not in known]
    if unknown or (matrix is None) == (not given):
        got = ", ".join(unknown) if unknown else "nothing" if matrix is None else "a matrix and components"
        raise ArmFault(f"{where}: got {got}; give one 3x3 matrix, or components by name: {', '.join(known)}.")


def reference_point(rows: tuple[tuple[Any, ...], ...], about: str) -> str:
    """The point that an inertia is about, which has no default (unless it is zero)."""
    if not about and all(is_number(x) and x == 0 for row in rows for x in row):
        return "com"
    if str(about) not in ("com", "origin"):
        raise ArmFault(
            f"inertia about is {shown(about)}; use Inertia.about_com(...) or Inertia.about_origin(...), because "
            "numbers cannot tell which point they are about."
        )
    return about


def coulomb_pair(value: Any) -> tuple[Any, Any]:
    """Dry friction for positive and for negative speed; one number stands for both."""
    not_labelled(value, "Drive coulomb", ArmFault)
    pair = (value, value) if is_number(value) else value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArmFault(
            f"Drive coulomb is {shown(value)}; give (for positive speed, for negative speed), both positive."
        )
    return scalar(pair[0], "Drive coulomb[0]"), scalar(pair[1], "Drive coulomb[1]")


def drive_numbers(drive: Any) -> None:
    """A rotor needs its side; a gear ratio may not be zero; sizes are not negative."""
    rotor, gear = drive.rotor_inertia, drive.gear
    forth, back = drive.coulomb
    if drive.side is None and not (is_number(rotor) and rotor == 0):
        raise ArmFault(
            f"Drive has rotor_inertia {rotor} but no side; say side='motor' (multiplied by gear²) or "
            "side='joint' (already reflected)."
        )
    if is_number(gear) and gear == 0:
        raise ArmFault("Drive has gear 0; give the reduction ratio (motor turns per joint turn), not zero.")
    signed = {"rotor_inertia": rotor, "viscous": drive.viscous}
    signed.update({"coulomb (positive speed)": forth, "coulomb (negative speed)": back})
    for name, value in signed.items():
        if is_number(value) and value < 0:
            raise ArmFault(f"Drive {name} is {value:g}; give its size, zero or positive.")
    if is_number(drive.smoothing) and drive.smoothing < LEAST_SMOOTHING:
        raise ArmFault(
            f"Drive smoothing is {drive.smoothing:g}; give a positive speed in rad/s or m/s, {LEAST_SMOOTHING:g} or "
            "more (its square must be a number, also in single precision)."
        )


def wrench_place(at: Any, frame: Any) -> None:
    """Where a wrench acts and in which axes its components are."""
    choice(frame, ("world", "local"), "Wrench frame")
    frame = at[0] if isinstance(at, tuple) and len(at) == 2 else at
    if isinstance(frame, bool) or not isinstance(frame, (str, int)):
        raise ArmFault(
            f"Wrench at is {shown(at)}; give 'tool', a link's name, or (link name, point in that link's frame)."
        )


LEAST_SMOOTHING = 1e-18
"""Least speed over which dry friction turns over [rad/s or m/s]."""


def frame_links(frames: Iterable[Any], n: int, where: str) -> None:
    """Each named frame once, on a frame that the arm has."""
    seen: set[str] = set()
    for frame in frames:
        if not (is_number(frame.link) and isinstance(frame.link, int) and 0 <= frame.link <= n):
            raise ArmFault(
                f"{where}: frame {frame.name!r} rides on {frame.link!r}; give 0 (the base) to {n}."
            )
        if composed(frame.name) in seen:
            raise ArmFault(f"{where}: two frames are called {frame.name!r}; give each a name of its own.")
        seen.add(composed(frame.name))


def unknown_frame(name: Any, known: Iterable[str], arm: str) -> NoReturn:
    """A frame, link or joint that the arm does not have."""
    names = tuple(known)
    hint = did_you_mean(name, names) if isinstance(name, str) else ""
    raise ArmFault(f"arm {arm!r} has no frame {shown(name)}{hint}; it has {', '.join(names)}.")


def payload_frame(frame: Any) -> None:
    """The frame in which a payload's centre is given, which has no default."""
    if frame is None:
        raise ArmFault(
            "with_payload(frame=None): say frame='flange' (frame n, the end of the last link) or frame='tool' (after "
            "the tool pose; the two differ by it), or name a link."
        )


def payload_on_base(frame: Any, arm: str) -> NoReturn:
    """A body on what does not move."""
    raise ArmFault(
        f"payload of arm {arm!r}: frame {frame!r} stands on the base, where a body changes no torque; "
        "give a frame that moves."
    )


def gravity(value: Any, where: str) -> tuple[Any, Any, Any]:
    """Gravity as an acceleration vector in world axes; a scalar is refused."""
    if is_number(value):
        raise ArmFault(
            f"{where}: gravity is the number {value}; give the acceleration of free fall as a vector in "
            "world axes, (0, 0, -9.81) on Earth with z up, (0, 0, 0) for none."
        )
    return vector(value, f"{where}: gravity", "m/s²")


def dh_row(row: Any, names: Sequence[str]) -> dict[str, Any]:
    """A Denavit-Hartenberg row with names, all of them known."""
    if isinstance(row, Mapping):
        for name in row:
            if name not in names:
                raise ArmFault(f"there is no {shown(name)}; give {', '.join(names)}.")
        if "kind" not in row:
            raise ArmFault("the joint's kind is missing; give 'kind': 'revolute' or 'prismatic'.")
        return dict(row)
    raise ArmFault(
        f"a Denavit-Hartenberg row is {shown(row)}; give a mapping with names, {{'kind': 'revolute', "
        "'a': .., 'alpha': .., 'd': .., 'theta': .., 'mass': ..}: bare numbers have no agreed order."
    )


class InRow:
    """`with InRow(2):` makes the faults of a row of a table say which row it is."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> None:
        if isinstance(fault, ArmFault):
            fault.args = (f"row {self.number}: {fault}",)


def no_links(where: str) -> NoReturn:
    """An arm needs a joint."""
    raise ArmFault(f"{where} has no links; give at least one link with its joint.")


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


def _largest(rows: tuple[tuple[Any, ...], ...]) -> float:
    return max((abs(float(x)) for row in rows for x in row if is_number(x)), default=0.0)
