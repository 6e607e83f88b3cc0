"""Calls: states of the wrong size or kind, arms without masses, results that do not exist."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import is_number
from forearm.faults.call_arguments import LONGEST_SHOWN, UNORDERED, a_or_an, attribute, did_you_mean, shown
from forearm.faults.kinds import (
    ArmFault,
    KernelFault,
    NoDynamics,
    SingularInertia,
    StateFault,
    UnknownFormulation,
)
from forearm.faults.labelled_rows import (
    by_labels,
    not_in_other_units,
    not_labelled,
    not_masked,
    rows_alike,
    rows_with_words,
)
from forearm.faults.number_arrays import floats, no_array, not_scalars
from forearm.outside.signal_errors import pass_on_signals


def needs_arm(value: Any) -> None:
    """Refuse what is no arm, most often its name."""
    if not isinstance(attribute(value, "links"), tuple):
        no_arm(value)


def no_arm(value: Any) -> NoReturn:
    """A name, or anything else, in place of an arm."""
    if isinstance(value, (str, PurePath)):
        given, source = f"{type(value).__name__} {shown(str(value))}", str(value)[:LONGEST_SHOWN]
    else:
        given, source = type(value).__name__, "puma560"
    raise StateFault(f"arm is {a_or_an(given)}; give an Arm: fa.load({source!r}).") from None


def no_dynamics(arm: Any, quantity: str) -> NoReturn:
    """Torques of an arm whose masses were never published."""
    raise NoDynamics(
        f"arm {arm.name!r} has no masses or inertias (its source gives kinematics only), so it has no "
        f"{quantity}; give each link mass, com and inertia."
    )


def needs_dynamics(arm: Any, quantity: str) -> None:
    """Refuse a quantity that needs masses where they are not known: never zeros."""
    if not arm.dynamics:
        no_dynamics(arm, quantity)


def needs_floats(arm: Any, quantity: str) -> None:
    """Refuse symbols and numbers of other kinds (mpmath's) where machine code is to be made; traced ones are ours."""
    own = (arm.base, getattr(arm, "tool", None), arm.gravity, getattr(arm, "trunk", None))
    places = [*enumerate(arm.links, 1), (0, (own, getattr(arm, "mounts", ())))]
    for number, part in places:
        for value in _scalars(part):
            if not is_number(value) and not type(value).__module__.startswith("forearm"):
                where = f"link {number} {arm.links[number - 1].name!r} of arm" if number else "arm"
                raise KernelFault(
                    f"{quantity}: {where} {arm.name!r} has {shown(value)}, {a_or_an(type(value).__name__)}, where "
                    "machine code takes a plain number; give float(...), or with_values(arm, {...}) for symbols."
                )


def _scalars(part: Any) -> Iterator[Any]:
    """Whatever stands for a number in a part of an arm."""
    if isinstance(part, tuple):
        for one in part:
            yield from _scalars(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _scalars(getattr(part, field.name))
    elif not (part is None or isinstance(part, (bool, str))):
        yield part


def no_formulation(name: Any, known: Iterable[str], *, where: str = "", giving: str = "") -> NoReturn:
    """A formulation that there is not, or none that gives what is wanted."""
    stems = tuple(known)
    raise UnknownFormulation(
        f"{where}there is no formulation {shown(name)}{giving and f' that gives {giving}'}"
        f"{did_you_mean(name, stems) if isinstance(name, str) else ''}; give one of {', '.join(stems)}."
    )


def no_configuration(arm: Any, name: Any) -> NoReturn:
    """A named joint position that the arm does not have."""
    known = ", ".join(k for k, _ in arm.configurations) or "none"
    raise ArmFault(f"arm {arm.name!r} has no configuration {shown(name)}; it has {known}.")


def no_dh_row(arm: Any, number: int) -> NoReturn:
    """A link whose pose after the joint is not Tx(a) Rx(alpha)."""
    raise ArmFault(
        f"arm {arm.name!r}: link {number} {arm.links[number - 1].name!r} has a general pose after its joint, "
        "not Tx(a) Rx(alpha), so it has no standard Denavit-Hartenberg row; print(arm) shows its pose."
    )


def state(arm: Any, name: str, value: Any) -> np.ndarray[Any, Any]:
    """One argument of a call as float64 (..., n), size and kind checked; symbols and traced scalars stay."""
    array = joint_values(arm, name, value)
    return array if array.dtype == object else np.asarray(array, dtype=np.float64)


def states(arm: Any, where: str, **given: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Arguments of a call that go together row by row, each as by `state`."""
    rows_alike(where, tuple(given), tuple(given.values()))
    return {name: state(arm, name, value) for name, value in given.items()}


def joint_floats(arm: Any, name: str, value: Any) -> np.ndarray[Any, Any]:
    """As `state`, but what is float32 stays so."""
    array = joint_values(arm, name, value)
    return array if array.dtype in (object, np.float32) else np.asarray(array, dtype=np.float64)


def coordinates(arm: Any, name: str) -> list[str]:
    """What the numbers of a state are called: the joints, and the base of a robot that is free."""
    if hasattr(arm, "coordinates"):
        return list(arm.coordinates(name))
    return [link.name for link in arm.links]


def joint_values(arm: Any, name: str, value: Any) -> np.ndarray[Any, Any]:
    """An array (..., n) with one number for each joint, in its own precision; a dict by joint name will do.

    So will a table, a series or an array of xarray whose labels are the joints' names: in the order of the names.
    """
    names = coordinates(arm, name)
    if rows_with_words(value):
        value = [joint_values(arm, name, row) for row in value]
    if type(value) not in (np.ndarray, list, tuple):
        value = by_labels(name, value, names)
    if isinstance(value, dict):
        value = _from_names(arm, name, value, names)
    not_masked(value, name)
    array = _array(name, value)
    if array.dtype.kind == "c":
        raise StateFault(f"{name} is complex; arm {arm.name!r} takes real numbers.")
    if array.dtype.kind not in "fiuO":
        n = len(coordinates(arm, name))
        raise StateFault(f"{name} has type {array.dtype}; give real numbers, shape ({n},) or (..., {n}).")
    joint_shape(arm, name, array.shape)
    if array.dtype.kind == "O":
        not_scalars(name, array.flat)
    return array


def no_out(where: str, out: Any) -> None:
    """Refuse an array for results that are no floats: of symbols and mpmath numbers new arrays come out."""
    if out is not None:
        raise StateFault(
            f"{where}: out is given, and symbols and mpmath numbers give new arrays of their kind; leave it out."
        )


def for_joints(arm: Any, name: str, value: Any) -> np.ndarray[Any, Any]:
    """Floats: one number for all joints, or one for each, by joint name too; whoever calls looks at the shape."""
    if type(value) not in (np.ndarray, list, tuple):
        value = by_labels(name, value, coordinates(arm, name))
    return state(arm, name, value) if isinstance(value, dict) else floats(name, value)


def joint_shape(arm: Any, name: str, shape: tuple[int, ...]) -> None:
    """Refuse an array whose last axis is not the arm's joints."""
    names = coordinates(arm, name)
    n = len(names)
    if not shape or shape[-1] != n:
        listed = ", ".join(names) if n <= 8 else f"{names[0]} … {names[-1]}"
        has = f"arm {arm.name!r} has {n} joints"
        if hasattr(arm, "couplings"):
            has = f"{name} of robot {arm.name!r} has {n} numbers"
        raise StateFault(
            f"{name} has shape {shape}, but {has} ({listed}); give ({n},) or a batch (..., {n})."
        )


def joint_batch(arm: Any, what: str, **given: Any) -> tuple[int, ...]:
    """The leading axes that arrays (..., n) have together, or a fault that tells all shapes."""
    for name, value in given.items():
        joint_shape(arm, name, tuple(value.shape))
    try:
        return np.broadcast_shapes(*(tuple(value.shape[:-1]) for value in given.values()))
    except ValueError:
        told = ", ".join(f"{name} {tuple(value.shape)}" for name, value in given.items())
        raise StateFault(
            f"{what} of {arm.name}: the batches of {told} do not broadcast; give leading axes that are equal or 1."
        ) from None


def parameter_rows(arm: Any, theta: Any) -> np.ndarray[Any, Any]:
    """Ten numbers for each link (n, 10), from (10 n,) or (n, 10)."""
    values = floats("parameters", theta)
    if values.shape not in ((10 * arm.n,), (arm.n, 10)) or not np.all(np.isfinite(values)):
        raise StateFault(
            f"parameters have shape {values.shape}; give {10 * arm.n} finite numbers for arm {arm.name!r}: ten for "
            "each link, in the order of parameter_names(arm)."
        )
    return values.reshape(arm.n, 10)


def one_state(arm: Any, name: str, value: Any) -> None:
    """Refuse what is not one number for each joint, whatever the kind of number."""
    n = len(arm.links)
    not_labelled(value, name)
    not_masked(value, name)
    try:
        shape = value.shape if isinstance(value, np.ndarray) else (len(value),)
    except Exception:  # also what an object's own __len__ raises
        pass_on_signals()
        shape = ()
    if shape != (n,):
        raise StateFault(
            f"{name} has shape {shape}, but arm {arm.name!r} has {n} joints and a formulation takes one state at a "
            f"time; give ({n},)."
        )
    if isinstance(value, UNORDERED):
        raise StateFault(f"{name} is {shown(value)}; give a row of {n} numbers.")
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        not_scalars(name, value)


def _from_names(arm: Any, name: str, value: dict[Any, Any], names: list[str]) -> Any:
    """One number for each joint, or a batch of them, joints last."""
    missing = [j for j in names if j not in value]
    extra = [j if isinstance(j, str) else shown(j) for j in value if j not in names]
    if missing or extra:
        raise StateFault(
            f"{name} by joint name: {'missing ' + ', '.join(missing) if missing else ''}"
            f"{' and ' if missing and extra else ''}{'unknown ' + ', '.join(extra) if extra else ''}; "
            f"arm {arm.name!r} has {', '.join(names)}."
        )
    found = [value[j] for j in names]
    rows_alike(f"{name} by joint name", names, [{j: one} for j, one in zip(names, found, strict=True)])
    for j, one in zip(names, found, strict=True):
        not_in_other_units(one, f"{name} of joint {j!r}")
        not_masked(one, f"{name} of joint {j!r}")
    if not any(np.ndim(one) for one in found):
        return found
    try:
        return np.stack(np.broadcast_arrays(*found), axis=-1)
    except ValueError:
        shapes = ", ".join(str(np.shape(one)) for one in found)
        raise StateFault(f"{name} by joint name: shapes {shapes}; give each joint as many numbers.") from None


def finite_state(arm: Any, name: str, array: np.ndarray[Any, Any]) -> None:
    """Refuse NaN and infinities in a single state, naming the joint; in batches they stay in their row."""
    if array.dtype == object or array.ndim != 1 or np.all(np.isfinite(array)):
        return
    j = int(np.flatnonzero(~np.isfinite(array))[0])
    raise StateFault(
        f"{name} of joint {j + 1} {coordinates(arm, name)[j]!r} is {array[j]}; give finite numbers. (In a batch a "
        "NaN would stay in its own row.)"
    )


def motion_rows(what: str, arm: Any, t: Any, **rows: Any) -> None:
    """Refuse a motion whose times do not rise, or with numbers (K, n) that are not finite: no verdict holds for it."""
    for name, values in {"t": t, **rows}.items():
        if np.asarray(values).dtype.kind not in "fiu":
            raise StateFault(f"{what}: {name} is {shown(values)}; give real numbers.")
    if len(t) and not (np.all(np.isfinite(t)) and np.all(np.diff(t) > 0)):
        k = int(np.argmax(~np.isfinite(t) | (np.diff(t, prepend=-np.inf) <= 0)))
        raise StateFault(
            f"{what}: the time of row {k + 1} is {t[k]:g} s; give finite times, each after the one before."
        )
    for name, values in rows.items():
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            k, j = bad[0]
            raise StateFault(
                f"{what}: {name} of joint {coordinates(arm, name)[j]!r} is {values[k, j]} in row {k + 1}; give finite "
                "numbers, or leave the row out."
            )


# -- numerical outcomes ----------------------------------------------------------------------------------


REGULAR = {"float64": 1e-11, "float32": 1e-4}
"""A joint that keeps so much of its inertia when those beyond it are free does not make M singular in a precision."""


def not_finite(arm: Any, quantity: str, given: dict[str, np.ndarray[Any, Any]]) -> NoReturn:
    """A finite state whose result is not: its numbers are too large, and the largest is named."""
    name, values = max(given.items(), key=lambda pair: float(np.max(np.abs(pair[1]), initial=0.0)))
    j = int(np.argmax(np.abs(values)))
    raise StateFault(
        f"arm {arm.name!r}: {quantity} is not finite: {name} of joint {j + 1} {coordinates(arm, name)[j]!r} is "
        f"{values[j]:.3g}, and what is computed from it overflows. A motion that diverged? Look where the state "
        "comes from. (In a batch the row would be NaN.)"
    )


def singular_inertia(
    arm: Any,
    M: np.ndarray[Any, Any],
    q: np.ndarray[Any, Any],
    given: dict[str, Any] | None = None,
    precision: str = "float64",
) -> NoReturn:
    """The mass matrix cannot be factored: name the joint whose effective inertia vanishes.

    Where it can be, accelerations are not finite because the state (`given`, by name) has diverged.
    """
    if not np.all(np.isfinite(M)):
        not_finite(arm, "the mass matrix", {"q": q})
    remaining = np.array(M, dtype=float)
    worst, least = 0, math.inf
    for k in range(len(M) - 1, -1, -1):
        share = remaining[k, k] / M[k, k] if M[k, k] > 0 else 0.0
        if share < least:
            worst, least = k, share
        if remaining[k, k] <= 0:
            break
        row = remaining[k, :k] / remaining[k, k]
        remaining[:k, :k] -= np.outer(row, remaining[k, :k])
    if given and least > REGULAR[precision]:
        not_finite(arm, "the acceleration", given)
    name = coordinates(arm, "tau")[worst]
    give = _missing_inertia(arm, worst)
    what = "along" if any(link.prismatic for link in arm.links if link.name == name) else "about"
    raise SingularInertia(
        f"arm {arm.name!r}: the mass matrix is singular: joint {worst + 1} {name!r} has no inertia "
        f"{what} its axis when the joints beyond it are free (M[{worst}, {worst}] = {M[worst, worst]:.3g}, "
        f"{least:.1g} of it left); {give}."
    )


def always_singular(number: int, arm: Any = None) -> NoReturn:
    """A pivot of the mass matrix is zero by structure, whatever q is; named where the arm is known."""
    whose = "" if arm is None else f"arm {arm.name!r}: "
    joint = f"joint {number}" if arm is None else f"joint {number} {coordinates(arm, 'tau')[number - 1]!r}"
    give = f"give link {number} its mass and inertia, or a drive with rotor_inertia"
    give = _missing_inertia(arm, number - 1) if arm is not None else give
    raise SingularInertia(
        f"{whose}the mass matrix is singular at every q: {joint} has no inertia about or along its axis when the "
        f"joints beyond it are free; {give}."
    )


def _missing_inertia(arm: Any, place: int) -> str:
    """What would give a coordinate of tau (from 0) its inertia: a body of a link, or of a free base."""
    name = coordinates(arm, "tau")[place]
    numbers = [i for i, link in enumerate(arm.links, 1) if link.name == name]
    if not numbers:
        return "give the free base its mass and inertia (trunk=fa.Body(…)), or fix it (robot.fixed())"
    return f"give link {numbers[0]} its mass and inertia, or a drive with rotor_inertia"


def singular_pose(arm: Any, frame: Any, condition: float) -> NoReturn:
    """The tool cannot move in every direction, so it has no inertia matrix there."""
    raise StateFault(
        f"arm {arm.name!r}, frame {frame!r}: the arm is in a singular pose (condition {condition:.2g}), or "
        "has fewer than six joints, so the task inertia does not exist; give damping= to say how to bound it."
    )


def coordinate_matrix(arm: Any, shape: tuple[int, ...]) -> NoReturn:
    """S must map some coordinates to all joints, one to one."""
    raise StateFault(
        f"coordinates of arm {arm.name!r}: S has shape {shape}; give a matrix ({arm.n}, k) of full column "
        "rank, q = S x."
    )


def _array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Anything as an array; rows of different lengths are none."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise StateFault(f"{name} is no array of numbers ({error}); give rows of equal length.") from None
    except Exception as error:  # whatever an object's own __array__ raises
        pass_on_signals()
        raise no_array(name, value, error) from error
