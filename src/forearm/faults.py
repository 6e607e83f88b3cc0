"""Every check and every message: where, what was given, what was expected, what to do.

The parts of an arm check shape and type when they are made; `arm_faults` then collects *all* physical faults
of a whole arm, so that one reading shows them all. Entries that are not plain numbers (symbols, traced
scalars) pass unchecked.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import is_number, is_scalar


class Fault(Exception):
    """Anything that this library refuses; the message says what to do."""


class ArmFault(Fault, ValueError):
    """The description of an arm is wrong."""


class NoDynamics(ArmFault):
    """The arm has no published masses: kinematics only."""


class StateFault(Fault, ValueError):
    """A state, or another argument of a call, is wrong."""


class ReadFault(Fault, ValueError):
    """A file could not be understood."""


class SingularInertia(Fault, ArithmeticError):
    """The mass matrix cannot be inverted; the message names the joint."""


class TraceFault(Fault, TypeError):
    """A traced value was used where a number is needed."""


class KernelFault(Fault, RuntimeError):
    """A kernel could not be compiled or called."""


DEFECTS = ("mass", "inertia_sign", "triangle", "massless_inertia")
"""Kinds of physical fault that an arm may declare, with a reason, and then carry as a note."""

SLACK = 1e-9
"""Relative slack of the physical checks: published tensors are rounded."""


# -- parts: shape and type -------------------------------------------------------------------------------


def scalar(value: Any, where: str, unit: str = "") -> Any:
    """A finite real number, or a symbol; plain numbers come back as float."""
    if not is_scalar(value):
        raise ArmFault(f"{where} is {value!r}; give one real number{_in(unit)}.")
    if not is_number(value):
        return value
    number = float(value)
    if not math.isfinite(number):
        raise ArmFault(f"{where} is {number}; give a finite number{_in(unit)}.")
    return number


def vector(value: Any, where: str, unit: str = "") -> tuple[Any, Any, Any]:
    """Three scalars as a tuple."""
    if is_number(value):
        raise ArmFault(f"{where} is the single number {value}; give a vector (x, y, z){_in(unit)}.")
    try:
        x, y, z = value
    except (TypeError, ValueError):
        raise ArmFault(f"{where} is {_short(value)}; give three numbers (x, y, z){_in(unit)}.") from None
    return scalar(x, f"{where}[0]", unit), scalar(y, f"{where}[1]", unit), scalar(z, f"{where}[2]", unit)


def matrix3(value: Any, where: str, unit: str = "") -> tuple[tuple[Any, Any, Any], ...]:
    """A 3x3 matrix as a tuple of rows."""
    array = np.asarray(value, dtype=object)
    if array.shape != (3, 3):
        raise ArmFault(f"{where} has shape {array.shape}; give a 3x3 matrix{_in(unit)}.")
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


def choice(value: Any, allowed: Sequence[str], where: str) -> str:
    """One of a few words."""
    if value not in allowed:
        words = ", ".join(repr(a) for a in allowed)
        raise ArmFault(f"{where} is {value!r}; it must be one of {words}.")
    return str(value)


def convention(value: Any) -> str:
    """A Denavit-Hartenberg convention, which has no default."""
    if value not in ("standard", "modified"):
        raise ArmFault(
            f"convention is {value!r}; say convention='standard' (frame i at the far end of link i, A = Rz Tz Tx Rx) "
            "or 'modified' (frame i at joint i, A = Rx Tx Rz Tz). There is no default, because reading one "
            "table as the other gives plausible wrong torques."
        )
    return str(value)


def products_of_inertia(given: dict[str, Any], products: str | None, where: str) -> float:
    """The sign to give to off-diagonal components: +1 for tensor entries, -1 for CAD's positive integrals."""
    nonzero = [k for k, v in given.items() if not (is_number(v) and v == 0)]
    if products is None and nonzero:
        raise ArmFault(
            f"{where} gives {', '.join(nonzero)} without saying their sign; add products='tensor' (entries of the "
            "inertia matrix, Ixy = -∫xy dm) or products='cad' (positive integrals, Ixy = +∫xy dm)."
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


def drive_numbers(rotor: Any, gear: Any, side: str | None, where: str) -> None:
    """A rotor needs its side; a gear ratio may not be zero."""
    if side is None and not (is_number(rotor) and rotor == 0):
        raise ArmFault(
            f"{where} has rotor_inertia {rotor} but no side; say side='motor' (multiplied by gear²) or "
            "side='joint' (already reflected)."
        )
    if is_number(gear) and gear == 0:
        raise ArmFault(f"{where} has gear 0; give the reduction ratio (motor turns per joint turn), not zero.")


def wrench_place(at: Any, frame: Any) -> None:
    """Where a wrench acts and in which axes its components are."""
    choice(frame, ("world", "local"), "Wrench frame")
    if not (isinstance(at, str) or (isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], str))):
        raise ArmFault(
            f"Wrench at is {at!r}; give 'tool', a link's name, or (link name, point in that link's frame)."
        )


def unknown_frame(name: Any, known: Iterable[str], arm: str) -> NoReturn:
    """A frame, link or joint that the arm does not have."""
    raise ArmFault(f"arm {arm!r} has no frame {name!r}; it has {', '.join(known)}.")


def payload_frame(frame: Any) -> str:
    """The frame in which a payload's centre is given, which has no default."""
    if frame not in ("flange", "tool"):
        raise ArmFault(
            f"with_payload(frame={frame!r}): say frame='flange' (frame n, the end of the last link) or "
            "frame='tool' (after the tool pose); the two differ by the tool."
        )
    return str(frame)


def gravity(value: Any, where: str) -> tuple[Any, Any, Any]:
    """Gravity as an acceleration vector in world axes; a scalar is refused."""
    if is_number(value):
        raise ArmFault(
            f"{where}: gravity is the number {value}; give the acceleration of free fall as a vector in world "
            "axes, (0, 0, -9.81) on Earth with z up, (0, 0, 0) for none."
        )
    return vector(value, f"{where}: gravity", "m/s²")


def no_links(where: str) -> NoReturn:
    """An arm needs a joint."""
    raise ArmFault(f"{where} has no links; give at least one link with its joint.")


# -- the whole arm ---------------------------------------------------------------------------------------


def link_faults(link: Any) -> list[tuple[str, str]]:
    """Physical faults of one link: (kind, sentence)."""
    mass, _, inertia = link.about_com
    found: list[tuple[str, str]] = []
    if is_number(mass) and mass < 0:
        found.append(("mass", f"mass is {mass:g} kg; give a mass that is zero or positive."))
    entries = [x for row in inertia for x in row]
    if not all(is_number(x) for x in entries):
        return found
    moments = np.linalg.eigvalsh(np.array(inertia, dtype=float))
    printed = f"({', '.join(f'{m:.6g}' for m in moments)}) kg m²"
    slack = SLACK * max(abs(moments[0]), abs(moments[2]))
    hint = (
        " Inertia given about the joint instead of the centre of mass? See CONVENTIONS.md, Inertia. "
        "Published so? Declare the defect, with its reason."
    )
    if moments[0] < -slack:
        found.append(
            ("inertia_sign", f"principal moments {printed} are not all positive; no rigid body has them.{hint}")
        )
    elif moments[0] + moments[1] < moments[2] - slack:
        found.append(
            (
                "triangle",
                f"principal moments {printed} break the triangle inequality ({moments[2]:.6g} > {moments[0]:.6g} + "
                f"{moments[1]:.6g}); no rigid body has them.{hint}",
            )
        )
    if is_number(mass) and mass == 0 and moments[2] > slack and moments[2] > 0:
        found.append(
            (
                "massless_inertia",
                f"mass is 0 but principal moments are {printed}; give the mass, or a zero inertia, or declare the defect.",
            )
        )
    return found


def arm_faults(arm: Any) -> tuple[list[str], list[str]]:
    """All faults of an arm, and the notes of those that are declared."""
    faults: list[str] = []
    notes: list[str] = []
    declared = {(d.link, d.kind): d for d in arm.defects}
    for defect in arm.defects:
        choice(defect.kind, DEFECTS, f"arm {arm.name!r}: defect kind")
        if not 1 <= defect.link <= len(arm.links):
            faults.append(f"defect names link {defect.link}; links are numbered 1 to {len(arm.links)}.")
    for number, link in enumerate(arm.links, 1):
        for kind, sentence in link_faults(link) if arm.dynamics else ():
            place = f"link {number} {link.name!r}"
            if (number, kind) in declared:
                notes.append(f"{place}: {sentence.split(';')[0]}; declared: {declared[number, kind].reason}")
            else:
                faults.append(f"{place}: {sentence}")
        if link.limits is not None and link.limits[0] >= link.limits[1]:
            lo, hi = link.limits
            faults.append(f"link {number} {link.name!r}: limits ({lo:g}, {hi:g}) are not in order; give (low, high).")
    names = [link.name for link in arm.links]
    for name in sorted({n for n in names if names.count(n) > 1}):
        faults.append(f"joint name {name!r} is used {names.count(name)} times; names must differ.")
    return faults, notes


def raise_arm_faults(where: str, faults: list[str]) -> NoReturn:
    """Report every fault of an arm at once."""
    more = f"   ({len(faults) - 1} more below)" if len(faults) > 1 else ""
    rest = "".join(f"\n  {sentence}" for sentence in faults[1:])
    raise ArmFault(f"{where}, {faults[0]}{more}{rest}")


def mount_notes(gravity_in_world: tuple[Any, ...]) -> list[str]:
    """What a person should know about the direction of gravity."""
    x, y, z = gravity_in_world
    if all(is_number(c) for c in (x, y, z)) and z > 0 and x == 0 and y == 0:
        return [
            f"gravity (0, 0, {z:g}) points up: is the arm hanging from the ceiling? If so, turn the base instead "
            "(with_base); if not, gravity is (0, 0, -9.81)."
        ]
    return []


def no_dynamics(arm: Any, quantity: str) -> NoReturn:
    """Torques of an arm whose masses were never published."""
    raise NoDynamics(
        f"arm {arm.name!r} has no masses or inertias (its source gives kinematics only), so it has no {quantity}; "
        "give each link mass, com and inertia."
    )


# -- states ----------------------------------------------------------------------------------------------

DEGREES = 4 * math.pi


def state(arm: Any, name: str, value: Any) -> np.ndarray[Any, Any]:
    """One argument of a call as an array (..., n), sizes and kind checked; a dict by joint name is accepted."""
    names = [link.name for link in arm.links]
    n = len(names)
    if isinstance(value, dict):
        value = _from_names(arm, name, value, names)
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise StateFault(f"{name} is complex; arm {arm.name!r} takes real numbers.")
    if array.dtype.kind not in "fiuO":
        raise StateFault(f"{name} has type {array.dtype}; give real numbers, shape ({n},) or (..., {n}).")
    if array.ndim == 0 or array.shape[-1] != n:
        listed = ", ".join(names) if n <= 8 else f"{names[0]} … {names[-1]}"
        raise StateFault(
            f"{name} has shape {array.shape}, but arm {arm.name!r} has {n} joints ({listed}); give ({n},) or a "
            f"batch (..., {n})."
        )
    return array if array.dtype == object else np.asarray(array, dtype=np.float64)


def _from_names(arm: Any, name: str, value: dict[str, Any], names: list[str]) -> list[Any]:
    missing = [j for j in names if j not in value]
    extra = [j for j in value if j not in names]
    if missing or extra:
        raise StateFault(
            f"{name} by joint name: {'missing ' + ', '.join(missing) if missing else ''}"
            f"{' and ' if missing and extra else ''}{'unknown ' + ', '.join(extra) if extra else ''}; "
            f"arm {arm.name!r} has {', '.join(names)}."
        )
    return [value[j] for j in names]


def finite_state(arm: Any, name: str, array: np.ndarray[Any, Any]) -> None:
    """Refuse NaN and infinities in a single state, naming the joint; in batches they stay in their row."""
    if array.dtype == object or array.ndim != 1 or np.all(np.isfinite(array)):
        return
    j = int(np.flatnonzero(~np.isfinite(array))[0])
    raise StateFault(
        f"{name} of joint {j + 1} {arm.links[j].name!r} is {array[j]}; give finite numbers. (In a batch a NaN "
        "would stay in its own row.)"
    )


def degrees_hint(arm: Any, q: np.ndarray[Any, Any]) -> str | None:
    """A sentence when joint angles look like degrees; None otherwise."""
    if q.dtype == object or q.size == 0:
        return None
    turning = [j for j, link in enumerate(arm.links) if link.revolute]
    if not turning:
        return None
    largest = float(np.nanmax(np.abs(q[..., turning]), initial=0.0))
    if largest <= DEGREES:
        return None
    return f"q reaches {largest:g} rad, {largest / math.tau:.1f} turns: degrees? Angles are in radians (numpy.deg2rad)."


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _largest(rows: tuple[tuple[Any, ...], ...]) -> float:
    return max((abs(float(x)) for row in rows for x in row if is_number(x)), default=0.0)
