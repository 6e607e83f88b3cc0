"""What `derive` and `prove_equal` begin with: coordinates chosen, the arm read, the clock set."""

import inspect
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector, is_number, product
from forearm.arm import Arm
from forearm.derivation.closed_form import Tell, expressions
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.symbols import parameter_names, read_arm
from forearm.formulations import FORMULATIONS


@dataclass(frozen=True)
class Prepared:
    """An arm over expressions, its coordinates and their rates."""

    arm: Arm
    """The arm, every number and symbol an expression."""
    ring: Ring
    """Where the expressions live."""
    x: tuple[str, ...]
    """Names of the coordinates."""
    xd: tuple[str, ...]
    """Names of the speeds."""
    xdd: tuple[str, ...]
    """Names of the accelerations."""
    S: Matrix
    """Joint variables are S times coordinates."""
    q: list[Expression]
    """The joint variables."""
    tell: Tell
    """To be told the stage of the work; raises when the time is up."""

    def generators(self, names: Sequence[str]) -> list[Expression]:
        """Expressions for names."""
        return [self.ring.generator(name) for name in names]

    def torques_by(self, stem: str) -> Vector:
        """Sᵀ tau by one formulation, as expressions in coordinates, speeds and accelerations."""
        row, known = FORMULATIONS.get(stem), torque_stems()
        if row is None or stem not in known:
            faults.no_formulation(stem, known, where="derive: ", giving="joint torques")
        if not row.accepts(self.arm):
            raise faults.StateFault(
                f"derive: {stem} is written for revolute joints only, and arm {self.arm.name!r} slides; "
                "leave formulation out, or take luh_walker_paul_1980."
            )
        S = self.S.astype(object)
        qd, qdd = (product(S, _vector(self.generators(names))) for names in (self.xd, self.xdd))
        tau = row.joint_torques(self.arm, _vector(self.q), _vector(qd), _vector(qdd))
        return expressions(self.ring, product(S.T, _vector(tau)))


def prepared(
    arm: Arm,
    names: Sequence[str] | None = None,
    coordinates: Any = None,
    timeout: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Prepared:
    """Read an arm, checking everything that `derive` is given."""
    if not arm.dynamics:
        faults.no_dynamics(arm, "equations of motion")
    S, x = _coordinate_map(arm, coordinates), _coordinate_names(arm, names)
    xd, xdd = tuple(_rate(name, "d") for name in x), tuple(_rate(name, "dd") for name in x)
    read, q = read_arm(arm, x, S)
    ring = q[0].ring
    ring.mark_rates((*xd, *xdd))
    return Prepared(read, ring, x, xd, xdd, S, q, _teller(arm, ring, timeout, progress))


def torque_stems() -> list[str]:
    """Formulations that give torques from arm and state alone (Horn and Raibert's needs tables too)."""
    found = []
    for stem, row in FORMULATIONS.items():
        if "joint_torques" in row.gives:
            arguments = inspect.signature(row.joint_torques).parameters.values()
            if not any(a.kind is a.KEYWORD_ONLY and a.default is a.empty for a in arguments):
                found.append(stem)
    return found


def _vector(items: Any) -> Vector:
    out = np.empty(len(items), dtype=object)
    out[:] = list(items)
    return out


def _coordinate_map(arm: Arm, S: Any) -> Matrix:
    """S as an array (n, n), whole numbers where a joint turns."""
    if S is None:
        return np.eye(arm.n)
    if np.any(getattr(S, "offset", 0.0)):
        raise faults.StateFault(
            f"derive: coordinates has the offset {np.asarray(S.offset).tolist()}; give it to the links instead "
            "(link.replace(offset=...)), so that it is part of the arm."
        )
    array = faults.floats("derive: coordinates", getattr(S, "S", S))
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
    found = (
        tuple(f"q{i}" for i in range(1, arm.n + 1))
        if names is None
        else faults.names_of(names, "derive: names", 1000)
    )
    if len(found) != arm.n or len(set(found)) != arm.n or not all(name.isidentifier() for name in found):
        raise faults.StateFault(
            f"derive: names is {faults.shown(found)}; give {arm.n} different names, one for each joint of "
            f"arm {arm.name!r}."
        )
    rates = {_rate(x, dots) for x in found for dots in ("d", "dd")}
    for name in found:
        if name == "pi" or name in rates:
            twice = "is 3.14159" if name == "pi" else "would be a coordinate and also the rate of another"
            raise faults.StateFault(
                f"derive: names is {faults.shown(found)}, and {name!r} {twice}; give other names."
            )
    for name in parameter_names(arm):
        if name == "pi":
            raise faults.StateFault(
                f"derive: arm {arm.name!r} has a symbol 'pi', which is read as 3.14159; give the symbol another name, "
                "or sympy.pi where the number is meant."
            )
        if name in (*found, *rates):
            raise faults.StateFault(
                f"derive: arm {arm.name!r} has a symbol {name!r}, which is also a coordinate; give names=(…), "
                "others for the coordinates."
            )
        if name in ("q", "qd", "qdd"):
            raise faults.StateFault(
                f"derive: arm {arm.name!r} has a symbol {name!r}, which is what functions of its equations call the "
                "whole state; give the symbol another name."
            )
    return found


def _rate(name: str, dots: str) -> str:
    """qd1 for q1: the dots go before the number."""
    letters, number = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return f"{letters}{dots}{number}"


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
