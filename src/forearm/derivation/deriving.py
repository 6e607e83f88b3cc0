"""`derive`: the closed form of an arm, by energies or by any paper's formulation, with its check."""

import inspect
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, is_number, product
from forearm.arm import Arm
from forearm.derivation.checking import numeric_check
from forearm.derivation.closed_form import Dynamics, Tell, expressions, from_energies, from_torques
from forearm.derivation.equations import Equations
from forearm.derivation.grouping import Grouping, grouped, used
from forearm.derivation.polynomial import Expression, Ring
from forearm.derivation.stepping import Steps, watching
from forearm.derivation.symbols import parameter_names, read_arm
from forearm.formulations import FORMULATIONS


def derive(
    arm: Arm,
    formulation: str | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: Any = None,
    group: bool = False,
    timeout: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Equations:
    """The equations of motion of an arm in closed form: M, the Christoffel symbols, C, g and tau.

    The equations are those of the rigid arm (drives are left out, and `notes` says so). Every number of the
    arm may be a SymPy symbol; numbers are read as the decimals that they print and calculated with exactly,
    unless the arm has fixed angles that are no right angles. Sines and cosines of sums of parallel joints are
    folded as the result is formed, so there is no simplification that could hang.

    Args:
        arm: Any arm, with numbers, symbols or both; see `symbolic`.
        formulation: A paper's stem (`luh_walker_paul_1980`): its own torques are evaluated on symbols and
            taken apart. None: energies in closed form and derivatives, the fastest way.
        names: Names of the coordinates, q1 … qn by default.
        coordinates: S (n, n) for other coordinates x with q = S x, absolute angles for instance; torques
            become Sᵀ tau. Whole numbers where a joint turns.
        group: Whether to group the arm's parameters into base parameters (by energies only).
        timeout: Seconds after which to give up, with a TimeoutError that says how far it came.
        progress: Called with (stage, done, of) as the work goes on.

    Returns:
        Equations, with a numeric check attached.
    """
    if not arm.dynamics:
        faults.no_dynamics(arm, "equations of motion")
    started = time.monotonic()
    S = _coordinate_map(arm, coordinates)
    x = _coordinate_names(arm, names)
    read, q = read_arm(arm, x, S)
    ring = q[0].ring
    tell = _teller(arm, ring, timeout, progress)
    xd, xdd = tuple(_rate(name, "d") for name in x), tuple(_rate(name, "dd") for name in x)
    ring.mark_rates((*xd, *xdd))
    steps: Steps = {}
    groupings: list[Grouping] = []
    if formulation is not None:
        _refuse_grouping(formulation, group)
        tell(formulation, 0, 1)
        dynamics, steps = _by_formulation(read, ring, formulation, q, (xd, xdd), S)
    elif group:
        over_letters, groupings = grouped(read, ring)
        dynamics = from_energies(over_letters, ring, q, x, S, tell)  # type: ignore[arg-type]
        groupings = used(groupings, [dynamics.M, dynamics.christoffel, dynamics.g])
    else:
        dynamics = from_energies(read, ring, q, x, S, tell)
    equations = Equations(
        arm=arm,
        formulation=formulation,
        coordinates=x,
        speeds=xd,
        accelerations=xdd,
        S=S,
        M=dynamics.M,
        christoffel=dynamics.christoffel,
        g=dynamics.g,
        steps=steps,
        groupings=tuple(groupings),
        read_arm=read,
        q=tuple(q),
        seconds=time.monotonic() - started,
        check=None,
    )
    ring.deadline = float("inf")
    tell("numeric check", 0, 1)
    return equations.checked(numeric_check(equations))


# -- by a formulation ------------------------------------------------------------------------------------


def _by_formulation(
    arm: Arm,
    ring: Ring,
    stem: str,
    q: list[Expression],
    rates: tuple[tuple[str, ...], tuple[str, ...]],
    S: Matrix,
) -> tuple[Dynamics, Steps]:
    """A paper's torques on symbols, taken apart, and the steps that it went through."""
    with watching(ring, arm.n) as steps:
        tau = formulation_torques(arm, ring, stem, q, rates, S)
    return from_torques(tau, ring, *rates), steps


def torque_stems() -> list[str]:
    """Formulations that give torques from arm and state alone (Horn and Raibert's needs tables too)."""
    found = []
    for stem, row in FORMULATIONS.items():
        if "joint_torques" in row.gives:
            arguments = inspect.signature(row.joint_torques).parameters.values()
            if not any(a.kind is a.KEYWORD_ONLY and a.default is a.empty for a in arguments):
                found.append(stem)
    return found


def formulation_torques(
    arm: Arm,
    ring: Ring,
    stem: str,
    q: list[Expression],
    rates: tuple[tuple[str, ...], tuple[str, ...]],
    S: Matrix,
) -> Any:
    """Sᵀ tau by one formulation, as expressions in coordinates, speeds and accelerations."""
    row = FORMULATIONS.get(stem)
    known = torque_stems()
    if row is None or stem not in known:
        raise faults.StateFault(
            f"derive: formulation is {stem!r}; it must be None or one of {', '.join(known)}."
        )
    if not row.accepts(arm):
        raise faults.StateFault(
            f"derive: {stem} is written for revolute joints only, and arm {arm.name!r} slides; "
            "leave formulation out, or take luh_walker_paul_1980."
        )
    whole = S.astype(object)
    qd, qdd = (product(whole, _vector([ring.generator(name) for name in names])) for names in rates)
    tau = row.joint_torques(arm, _vector(q), _vector(qd), _vector(qdd))
    return expressions(ring, product(whole.T, _vector(tau)))


def _vector(items: Any) -> Any:
    out = np.empty(len(items), dtype=object)
    out[:] = list(items)
    return out


# -- arguments -------------------------------------------------------------------------------------------


def _coordinate_map(arm: Arm, S: Any) -> Matrix:
    """S as an array (n, n), whole numbers where a joint turns."""
    if S is None:
        return np.eye(arm.n)
    array = np.asarray(S, dtype=float)
    if array.shape != (arm.n, arm.n) or abs(np.linalg.det(array)) < 1e-12:
        raise faults.StateFault(
            f"derive: coordinates has shape {array.shape} or is singular; arm {arm.name!r} needs an "
            f"invertible ({arm.n}, {arm.n}) matrix S with q = S x."
        )
    for link, row in zip(arm.links, array, strict=True):
        if link.revolute and not np.array_equal(row, np.round(row)):
            raise faults.StateFault(
                f"derive: coordinates has the row {row.tolist()} for the turning joint {link.name!r}; give "
                "whole numbers there, so that its angle is a sum of angles."
            )
    return array


def _coordinate_names(arm: Arm, names: Sequence[str] | None) -> tuple[str, ...]:
    found = tuple(f"q{i}" for i in range(1, arm.n + 1)) if names is None else tuple(map(str, names))
    if len(found) != arm.n or len(set(found)) != arm.n or not all(name.isidentifier() for name in found):
        raise faults.StateFault(
            f"derive: names is {found!r}; give {arm.n} different names, one for each joint of "
            f"arm {arm.name!r}."
        )
    for name in parameter_names(arm):
        if name in (*found, *(_rate(x, "d") for x in found), *(_rate(x, "dd") for x in found)):
            raise faults.StateFault(
                f"derive: arm {arm.name!r} has a symbol {name!r}, which is also a coordinate; give names=(…), "
                "others for the coordinates."
            )
    return found


def _rate(name: str, dots: str) -> str:
    """qd1 for q1: the dots go before the number."""
    letters, number = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return f"{letters}{dots}{number}"


def _refuse_grouping(formulation: str, group: bool) -> None:
    if group:
        raise faults.StateFault(
            f"derive: group=True with formulation={formulation!r}; base parameters belong to no rigid body "
            "that a paper could be run on. Leave formulation out."
        )


def _teller(arm: Arm, ring: Ring, timeout: float | None, progress: Tell | None) -> Tell:
    if timeout is not None:
        if not is_number(timeout) or not timeout > 0:
            raise faults.StateFault(
                f"derive: timeout is {timeout!r}; give seconds, a positive number, or None."
            )
        ring.deadline = time.monotonic() + timeout

    def tell(stage: str, done: int, of: int) -> None:
        ring.told = (
            f"derive: arm {arm.name!r} took longer than timeout={timeout} s (it was at: {stage}); "
            "give more time, or fewer letters (symbolic(arm, what=...)), or leave formulation out, which "
            "is the fastest way."
        )
        ring.tick()
        if progress is not None:
            progress(stage, done, of)

    return tell
