"""Scalars of any kind, 3-vectors, rotations, inertia about another point.

Everything here works on floats, SymPy symbols, mpmath numbers, counted and traced scalars alike. A scalar
needs `+ - * /`; sine, cosine and square root are looked up by `sin`, `cos`, `sqrt` below. Right angles are
snapped to exact zeros and ones in one place, `sin_cos_of_constant`.
"""

import math
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forearm.outside.signal_errors import pass_on_signals

Scalar: TypeAlias = Annotated[Any, "a number"]
"""A float, or anything that adds and multiplies like one."""
Vector: TypeAlias = NDArray[Any]
Matrix: TypeAlias = NDArray[Any]


class AnyArray(Protocol):
    """An array of any library, wherever it lives: NumPy, CuPy, PyTorch, JAX."""

    def __dlpack__(self, *, stream: Any = None) -> Any:
        """Its memory, for others to read."""


States: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | AnyArray
"""One number for each joint and state (..., n): an array, lists of numbers, or a dict by joint name."""

AnyScalar = TypeVar("AnyScalar")

SNAP = 1e-15
"""Sines and cosines of constants smaller than this are exact zeros (cos(pi/2) is 6e-17 in floats)."""


def is_number(x: object) -> bool:
    """Whether x is a plain real number (not a symbol, traced or counted scalar, not a bool)."""
    if type(x) is float or type(x) is int:
        return True
    return isinstance(x, (int, float, np.floating, np.integer)) and not isinstance(x, (bool, np.timedelta64))


def is_scalar(x: object) -> bool:
    """Whether x can stand for a real number: a plain number, or an object with arithmetic of its own."""
    if is_number(x):
        return True
    if isinstance(x, (bool, complex, np.generic, np.ndarray, str, bytes, list, tuple, dict, set, type)):
        return False
    try:
        if hasattr(x, "__array__") or hasattr(x, "__dlpack__"):  # arrays and tensors, also of one number
            return False
        return hasattr(x, "__mul__") and hasattr(x, "__add__") and hasattr(x, "__sub__")
    except Exception:  # what an object's own __getattr__ raises
        pass_on_signals()
        return False


def is_zero(x: Scalar) -> bool:
    """Whether x is zero by structure: a plain 0, or a symbolic one. Never asks a traced value."""
    return bool(x == 0) if is_number(x) else getattr(x, "is_zero", False) is True


def is_one(x: Scalar) -> bool:
    """Whether x is one by structure."""
    return bool(x == 1) if is_number(x) else getattr(x, "is_Integer", False) is True and bool(x == 1)


def _method(x: object, name: str) -> Any:
    """A method of an object, or None; also where its own __getattr__ raises."""
    try:
        method = getattr(x, name, None)
    except Exception:
        pass_on_signals()
        return None
    return method if callable(method) else None


def _function(name: str, x: Scalar) -> Scalar:
    method = _method(x, name)
    if method is not None:
        return method()
    module = type(x).__module__
    if module.startswith("sympy"):
        return getattr(sys.modules["sympy"], name)(x)
    if module.startswith("mpmath"):
        return getattr(x.context, name)(x)
    raise TypeError(
        f"no {name} for a {type(x).__name__}; give a number, or something that has a method {name}()."
    )


@overload
def sin(x: float) -> float: ...
@overload
def sin(x: AnyScalar) -> AnyScalar: ...
def sin(x: Scalar) -> Scalar:
    """Sine of any scalar."""
    return math.sin(x) if is_number(x) else _function("sin", x)


@overload
def cos(x: float) -> float: ...
@overload
def cos(x: AnyScalar) -> AnyScalar: ...
def cos(x: Scalar) -> Scalar:
    """Cosine of any scalar."""
    return math.cos(x) if is_number(x) else _function("cos", x)


@overload
def sqrt(x: float) -> float: ...
@overload
def sqrt(x: AnyScalar) -> AnyScalar: ...
def sqrt(x: Scalar) -> Scalar:
    """Square root of any scalar."""
    return math.sqrt(x) if is_number(x) else _function("sqrt", x)


def where(x: Scalar, a: AnyScalar, b: AnyScalar) -> AnyScalar:
    """`a` where x is positive, `b` elsewhere: the one choice that traced values allow."""
    if is_number(x):
        return a if x > 0 else b
    select = _method(x, "where_positive")
    if select is not None:
        return select(a, b)  # type: ignore[no-any-return]
    if type(x).__module__.startswith("sympy"):
        return sys.modules["sympy"].Piecewise((a, x > 0), (b, True))  # type: ignore[no-any-return]
    try:
        return a if x > 0 else b
    except Exception as error:
        pass_on_signals()
        raise TypeError(
            f"where: a {type(x).__name__} is not above or below zero ({error}); give a number."
        ) from error


def sin_cos_of_constant(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of a constant angle, right angles snapped to exact zeros and ones."""
    s, c = sin(angle), cos(angle)
    if not is_number(angle):
        return s, c
    if abs(s) < SNAP:
        return 0.0, math.copysign(1.0, c)
    if abs(c) < SNAP:
        return math.copysign(1.0, s), 0.0
    return s, c


def rotation_z(s: Scalar, c: Scalar) -> Matrix:
    """Rotation about z by the angle with sine s and cosine c."""
    # fmt: off
    return np.array([
        [c, -s, 0.0],
        [s,  c, 0.0],
        [0.0, 0.0, 1.0],
    ])
    # fmt: on


def rotation_x(s: Scalar, c: Scalar) -> Matrix:
    """Rotation about x by the angle with sine s and cosine c."""
    # fmt: off
    return np.array([
        [1.0, 0.0, 0.0],
        [0.0, c, -s],
        [0.0, s,  c],
    ])
    # fmt: on


def rotation_y(s: Scalar, c: Scalar) -> Matrix:
    """Rotation about y by the angle with sine s and cosine c."""
    # fmt: off
    return np.array([
        [ c, 0.0, s],
        [0.0, 1.0, 0.0],
        [-s, 0.0, c],
    ])
    # fmt: on


def product(a: Matrix, b: Matrix) -> Matrix:
    """Matrix product (or matrix times vector) that leaves out structural zeros and ones.

    For floats it is `a @ b`; for symbols it keeps `1.0*cos(q) + 0` from appearing.
    """
    if a.dtype != object and b.dtype != object:
        return a @ b
    columns = b.reshape(b.shape[0], -1)
    entries = [[_sum_of_products(row, column) for column in columns.T] for row in a]
    return np.array(entries).reshape(a.shape[:1] + b.shape[1:])


def _sum_of_products(row: Vector, column: Vector) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(row, column, strict=True):
        if is_zero(x) or is_zero(y):
            continue
        term = y if is_one(x) else x if is_one(y) else x * y
        total = term if is_zero(total) else total + term
    return total


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product a × b: six multiplications, three subtractions."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(v: Vector) -> Matrix:
    """The matrix of `v ×`."""
    # fmt: off
    return np.array([
        [  0.0, -v[2],  v[1]],
        [ v[2],   0.0, -v[0]],
        [-v[1],  v[0],   0.0],
    ])
    # fmt: on


def parallel_axis(mass: Scalar, r: Vector) -> Matrix:
    """Moment m (r·r E - r rᵀ) that a point mass at r adds to an inertia tensor about the origin."""
    x, y, z = r
    # fmt: off
    return np.array([
        [mass * (y * y + z * z), -(mass * x * y),        -(mass * x * z)],
        [-(mass * x * y),        mass * (z * z + x * x), -(mass * y * z)],
        [-(mass * x * z),        -(mass * y * z),        mass * (x * x + y * y)],
    ])
    # fmt: on


def turned_tensor(R: Matrix, tensor: Matrix) -> Matrix:
    """R T Rᵀ: a symmetric tensor in other axes; exactly symmetric for floats."""
    turned = product(product(R, tensor), R.T)
    return turned if turned.dtype == object else (turned + turned.T) / 2


def second_moment(inertia: Matrix) -> Matrix:
    """Second moments ∫ x xᵀ dm = tr(I)/2 E - I of the body whose inertia tensor is I."""
    half = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / 2
    return np.array(
        [[half - inertia[i, j] if i == j else -inertia[i, j] for j in range(3)] for i in range(3)]
    )


def one_based(q: Vector) -> list[Scalar]:
    """Joint values with an empty slot 0, so that papers' indices 1…n can be used as printed."""
    return [None, *q]
