"""Poses, Jacobians and energies of an arm with letters, as expressions; `arm_calls` comes here for such arms."""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from forearm import energies, faults
from forearm.algebra import Matrix, Vector, is_number
from forearm.arm import Arm
from forearm.derivation.closed_form import expressions
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.expressions.sympy_formulas import sympy
from forearm.derivation.expressions.sympy_reader import read
from forearm.derivation.symbols import read_arm
from forearm.kinematics import frame_jacobian, frame_pose

Energies = namedtuple("Energies", ("kinetic", "potential"))


def closed_function(arm: Arm, quantity: str, frame: str | int | None) -> Callable[..., Any]:
    """The function of q (and qd) that gives a quantity in closed form; a fault where `derive` is the way."""
    if quantity not in _FUNCTIONS:
        raise faults.StateFault(
            f"{quantity}: arm {arm.name!r} has symbols, so there are no numbers; derive(arm) gives its equations "
            "in closed form, with_values(arm, {...}) an arm with numbers."
        )

    def function(*state: Any, out: Any = None, threads: int = 1) -> Any:
        faults.no_out(f"{quantity} of {arm.name}", out)
        vectors = [_one_state(arm, name, x) for name, x in zip(("q", "qd"), state, strict=False)]
        letters, q = _read(arm, vectors[0])
        rest = [_vector([_expression(letters.ring, x) for x in v]) for v in vectors[1:]]
        return _FUNCTIONS[quantity](letters, q, *rest, *(() if frame is None else (frame,)))

    return function


class _Letters:
    """An arm over expressions, beside the arm that it was read from."""

    def __init__(self, given: Arm, arm: Arm, ring: Ring) -> None:
        self.given, self.arm, self.ring = given, arm, ring


def _pose(letters: _Letters, q: Vector, frame: str | int) -> Matrix:
    R, p = frame_pose(letters.arm, q, frame)
    rows = [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]
    return expressions(letters.ring, np.array(rows, dtype=object))


def _jacobian(letters: _Letters, q: Vector, frame: str | int) -> Matrix:
    return expressions(letters.ring, frame_jacobian(letters.arm, q, frame))


def _energy(letters: _Letters, q: Vector, qd: Vector) -> Energies:
    """As numbers would be: the rotors' kinetic energy included."""
    ring = letters.ring
    kinetic = energies.kinetic_energy(letters.arm, q, qd)
    for link, rate in zip(letters.given.links, qd, strict=True):
        kinetic = kinetic + _expression(ring, link.drive.reflected_inertia) * rate * rate / 2
    potential = energies.potential_energy(letters.arm, q)
    return Energies(*expressions(ring, [kinetic, potential]))


_FUNCTIONS: dict[str, Callable[..., Any]] = {"pose": _pose, "jacobian": _jacobian, "energy": _energy}


def _one_state(arm: Arm, name: str, value: Any) -> Vector:
    array: Vector = faults.state(arm, name, value)
    if array.ndim != 1:
        raise faults.StateFault(
            f"{name} has shape {array.shape}, but arm {arm.name!r} has symbols, and formulas go one state at a time: "
            f"give ({arm.n},), symbols or numbers."
        )
    return array


def _read(arm: Arm, q: Vector) -> tuple[_Letters, Vector]:
    """The arm and its joint variables; a variable that is a symbol keeps its name."""
    plain = [getattr(x, "is_Symbol", False) for x in q]
    names = tuple(x.name if bare else f"q{i}" for i, (x, bare) in enumerate(zip(q, plain, strict=True), 1))
    letters, given = read_arm(arm, names, np.eye(arm.n))
    ring = given[0].ring
    values = [x if bare else _expression(ring, v) for x, v, bare in zip(given, q, plain, strict=True)]
    return _Letters(arm, letters, ring), _vector(values)


def _expression(ring: Ring, x: Any) -> Expression:
    return ring.constant(x) if is_number(x) else read(ring, sympy().sympify(x))


def _vector(items: list[Expression]) -> Vector:
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out
