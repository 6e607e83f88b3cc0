"""Numbers as a person writes them: 0.5, "pi/2", "90 deg", "lc1 - l1", "433 mm"; all become SI and radians."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from forearm.algebra import Scalar, is_number
from forearm.faults import did_you_mean
from forearm.outside.signal_errors import pass_on_signals
from forearm.outside.syntax_trees import syntax_tree

UnitTable = dict[str, tuple[float, float]]
"""Unit -> (factor, divisor); two numbers, because 433 / 1000 is nearer to 0.433 than 433 * 0.001."""

UNITS: dict[str, UnitTable] = {
    "number": {},
    "angle": {"rad": (1, 1), "deg": (math.pi, 180)},
    "length": {"m": (1, 1), "cm": (1, 100), "mm": (1, 1000), "in": (0.0254, 1)},
    "mass": {"kg": (1, 1), "g": (1, 1000)},
    "inertia": {
        "kg m2": (1, 1),
        "kg cm2": (1, 1e4),
        "kg mm2": (1, 1e6),
        "g cm2": (1, 1e7),
        "g mm2": (1, 1e9),
    },
    "acceleration": {"m/s2": (1, 1)},
    "angular speed": {"rad/s": (1, 1), "deg/s": (math.pi, 180), "rpm": (math.pi, 30)},
    "linear speed": {"m/s": (1, 1), "mm/s": (1, 1000)},
    "torque": {"N m": (1, 1), "N mm": (1, 1000)},
    "force": {"N": (1, 1), "kN": (1000, 1)},
    "angular damping": {"N m s/rad": (1, 1), "N m s": (1, 1)},
    "linear damping": {"N s/m": (1, 1)},
}
"""What each dimension may be written in; the first is the one that a bare number has."""

UNITS_WITH_PI = ("deg", "deg/s", "rpm")
"""Units in which nobody writes pi."""


MAX_POWER = 1000
"""The largest power of what holds a symbol."""
MAX_DIGITS = 10**400
"""Whole numbers and fractions of SymPy, which are exact, are not longer than this."""


def _power(a: Scalar, b: Scalar) -> Scalar:
    """A power; of plain numbers in floats, so that 9**9**9 is an overflow and not an hour.

    With symbols it is SymPy's, exact, and of (l/l + 1)**999999999 it would work out every digit.
    """
    if is_number(a) and is_number(b):
        return float(a) ** float(b)
    if is_number(b) or getattr(b, "is_number", False):
        try:
            size = abs(float(b))
        except TypeError:  # of SymPy: i, or an infinity without a sign
            raise ArithmeticError("a power that is no real number") from None
        if not size <= MAX_POWER:
            raise OverflowError(f"a power beyond {MAX_POWER} of what may hold a symbol")
    return a**b


def _no_longer(found: Scalar) -> Scalar:
    """A result, if it is no exact number of hundreds of digits."""
    if getattr(found, "is_Rational", False) and max(abs(found.p), found.q) > MAX_DIGITS:
        raise OverflowError("an exact number of more than 400 digits")
    return found


OPERATORS: dict[type[ast.AST], Callable[..., Scalar]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


MAX_FORMULA = 500
"""Letters of a formula; longer ones are refused before they are parsed."""


UNWELCOME = re.compile(r"\\|\b\d[\w.]*?(and|else|for|if|in|is|not|or)\b")
"""What no formula has, and Python's parser would warn of on stderr: backslashes, and words that touch a number."""


MAX_NUMBER = 1e50
"""Beyond this a number is refused whatever it means; squares and products stay finite."""


class NotAQuantity(ValueError):
    """Why a value is not a quantity: the reader adds the file, the line and the key."""


def si_unit(dimension: str) -> str:
    """The unit of a bare number."""
    return next(iter(UNITS[dimension]), "")


def quantity(value: Any, dimension: str, parameters: Mapping[str, Scalar]) -> Scalar:
    """A number, or a string with arithmetic, parameters and perhaps a unit, in SI and radians."""
    if is_number(value):
        return _finite_size(value, dimension)
    if not isinstance(value, str):
        raise NotAQuantity(f"is {_short(value)}; give {_expected(dimension)}")
    if len(value) > MAX_FORMULA:
        raise NotAQuantity(
            f"is a formula of {len(value)} letters; give {MAX_FORMULA} at most, or a parameter for a part of it"
        )
    tree = _arithmetic(value)
    factor, divisor = 1.0, 1.0
    if tree is None:
        formula, unit = _split_unit(value)
        tree = _arithmetic(formula)
        if tree is None or not unit:
            raise NotAQuantity(
                f"is {value!r}, which is neither a number nor arithmetic; give {_expected(dimension)}"
            )
        if unit not in UNITS[dimension]:
            known = ", ".join(UNITS[dimension]) or "none: it is a pure number"
            raise NotAQuantity(f"is {value!r}, but {unit!r} is no unit of {dimension}; units here: {known}")
        factor, divisor = UNITS[dimension][unit]
        _refuse_two_units(value, formula, unit, tree, (factor, divisor) != (1, 1))
    try:
        result = _evaluate(tree, parameters)
    except ArithmeticError as error:
        raise NotAQuantity(f"is {value!r} ({error}); give {_expected(dimension)}") from None
    except RecursionError:  # whoever calls may stand deep himself
        raise NotAQuantity(f"is {_short(value)}, hundreds of operations in each other; give fewer") from None
    if isinstance(result, complex):
        raise NotAQuantity(f"is {value!r}, which is no real number; give {_expected(dimension)}")
    if not is_number(result):
        return result if (factor, divisor) == (1, 1) else result * factor / divisor
    return _finite_size(result, dimension) * factor / divisor


def _refuse_two_units(value: str, formula: str, unit: str, tree: ast.expr, other: bool) -> None:
    """Refuse a unit that one reads as that of the last summand alone, or as degrees of a number in radians."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    is_sum = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub)
    bare = tree.col_offset == 0  # a sum in parentheses begins after them
    if other and is_sum and bare:
        whose = f"{', '.join(sorted(names))} is in {unit} too" if names else f"all of it is in {unit}"
        raise NotAQuantity(
            f"is {value!r}, a sum of which all or the last alone may be in {unit}; give '({formula}) {unit}' if "
            f"{whose}, and the whole in SI without a unit otherwise"
        )
    if "pi" in names and unit in UNITS_WITH_PI:
        raise NotAQuantity(
            f"is {value!r}, and pi is for radians; give {formula!r} without a unit, or degrees like '90 deg'"
        )


def _finite_size(number: Any, dimension: str) -> float:
    """The number as a float, of a size whose products are finite; an integer may be too long for one."""
    try:
        found = float(number)
    except OverflowError:
        raise NotAQuantity(
            f"is an integer of {len(str(number))} digits; give {_expected(dimension)}"
        ) from None
    if MAX_NUMBER < abs(found) < math.inf:
        raise NotAQuantity(f"is {found:g}, beyond {MAX_NUMBER:g}; give {_expected(dimension)}")
    return found


def _expected(dimension: str) -> str:
    unit = si_unit(dimension)
    example = {"angle": '"pi/2" or "90 deg"', "length": '0.433 or "433 mm"'}.get(dimension)
    words = f"a number in {unit}" if unit else "a number"
    return f"{words}, like {example}" if example else words


def _short(value: Any) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _arithmetic(text: str) -> ast.expr | None:
    """The syntax tree of a formula, or None where it is none."""
    if UNWELCOME.search(text):
        return None
    try:
        tree: Any = syntax_tree(text.strip(), "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # or nested beyond what the parser takes
        pass_on_signals()
        return None
    return tree.body  # type: ignore[no-any-return]


def _split_unit(text: str) -> tuple[str, str]:
    """'26.45 in' -> ('26.45', 'in'); the longest known unit at the end wins."""
    stripped = " ".join(text.split())
    known = sorted({unit for units in UNITS.values() for unit in units}, key=len, reverse=True)
    for unit in known:
        if stripped.endswith(" " + unit):
            return stripped[: -len(unit) - 1], unit
    formula, _, unit = stripped.rpartition(" ")
    return formula, unit


def _evaluate(node: ast.expr, parameters: Mapping[str, Scalar]) -> Scalar:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            if name not in parameters:
                known = ", ".join(parameters) or "none"
                hint = did_you_mean(name, parameters)
                raise NotAQuantity(f"names {name!r}, which is no parameter{hint}; [parameters] has {known}")
            return parameters[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _no_longer(OPERATORS[type(op)](_evaluate(left, parameters), _evaluate(right, parameters)))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_evaluate(operand, parameters))
    raise NotAQuantity(
        f"contains {_written(node)}; a formula may have numbers, pi, parameters, + - * / ** and ( )"
    )


def _written(node: ast.expr) -> str:
    """What a formula has that it may not have, as far as that can be told in few words."""
    try:
        return _short(ast.unparse(node))
    except RecursionError:
        return "operations that stand hundreds deep in each other"
