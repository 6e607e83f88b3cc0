"""Numbers on the command line, with their unit (10deg, 0.5rad, 12mm, 20deg/s, 2kg; without one, SI and radians), plain
ones, and whole ones. None is rounded or guessed: 2.5 rows, 1_0 and digits of other scripts are refused.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn, get_origin

from cyclopts import Parameter, validators

ANGLE, LENGTH, MASS = "an angle", "a length", "a mass"
UNITS = {
    "rad": (ANGLE, 1.0),
    "deg": (ANGLE, math.pi / 180),
    "m": (LENGTH, 1.0),
    "cm": (LENGTH, 1e-2),
    "mm": (LENGTH, 1e-3),
    "kg": (MASS, 1.0),
    "g": (MASS, 1e-3),
}
"""Unit -> what it measures, and its size."""
RATES = {
    "": "",
    "/s": " a second",
    "/s2": " a second squared",
    "/s^2": " a second squared",
    "/s3": " a second cubed",
    "/s^3": " a second cubed",
}
ORDERS = {"qd": "/s", "qd0": "/s", "qdd": "/s2", "speeds": "/s", "accelerations": "/s2", "jerks": "/s3"}
"""What follows the unit in the options that are speeds and accelerations."""
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_WORD = re.compile(rf"([+-]?{_NUMBER})({'|'.join(UNITS)})({'|'.join(map(re.escape, RATES))})", re.ASCII)
MINUS = "minus:"
"""What the hyphen of -10deg becomes, because a word with a hyphen and letters is an option to the parser."""

MEASURED = "a number. A unit may follow it: 0.5rad, 10deg, 12mm, 20deg/s"
"""What is asked for where a unit may stand."""


class Measure(float):
    """A number in SI units that knows what it measures."""

    kind: str = ""
    """An angle a second, …; nothing for a bare number."""
    word: str = ""
    """As it was written."""


def guarded(word: str) -> str:
    """A word of the command line, its hyphen hidden where it is a number with a unit."""
    return MINUS + word[1:] if word.startswith("-") and _WORD.fullmatch(word) else word


def measure(word: str) -> Measure:
    """A word as a number; ValueError where it is none."""
    text = "-" + word.removeprefix(MINUS) if word.startswith(MINUS) else word
    found = _WORD.fullmatch(text)
    if found is None:
        value = Measure(plain_number(text))
    else:
        what, size = UNITS[found[2]]
        value = Measure(float(found[1]) * size)
        value.kind = what + RATES[found[3]]
    value.word = text
    return value


def plain_number(word: str) -> float:
    """A number as one writes it, with the digits 0 to 9 alone; ValueError where it is none."""
    if not word.isascii() or "_" in word:
        raise ValueError(word)
    return float(word)


def _whole(word: str) -> int:
    """A whole number; ValueError where it is none, also where it could be rounded to one."""
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", word) is None:
        raise ValueError(word)
    return int(word)


def _each(take: Callable[[str], Any], wanted: str) -> Callable[[Any, Sequence[Any]], Any]:
    """A converter of the parser: one word, or as many as an option takes."""

    def convert(hint: Any, tokens: Sequence[Any]) -> Any:
        found, several = [], get_origin(hint) is tuple
        for token in tokens:
            word = token.value
            given = "-" + word.removeprefix(MINUS) if word.startswith(MINUS) else word
            try:
                found.append(take(given))
            except ValueError:
                _refuse(token.keyword or "a number", given, wanted, several)
        return tuple(found) if several else found[0]

    return convert


def _converted(_: Any, tokens: Sequence[Any]) -> tuple[Measure, ...]:
    found = []
    for token in tokens:
        try:
            found.append(measure(token.value))
        except ValueError:
            _refuse(token.keyword or "a number", token.value)
    return tuple(found)


def _refuse(option: str, word: str, wanted: str = MEASURED, several: bool = True) -> NoReturn:
    from forearm.faults import StateFault

    if "," in word and several:
        raise StateFault(
            f"{option} has {word!r}; give numbers with spaces between: {option} {word.replace(',', ' ')}."
        )
    raise StateFault(f"{option} has {word!r}; give {wanted}.")


Numbers = Annotated[
    tuple[float, ...], Parameter(consume_multiple=1, negative=(), n_tokens=-1, converter=_converted)
]
"""Several numbers after one option: --q 0.1 -0.2 10deg."""
_NUMBER_ALONE = Parameter(converter=_each(plain_number, "a number"))
_WHOLE = Parameter(converter=_each(_whole, "a whole number"))
PlainNumbers = Annotated[tuple[float, ...], Parameter(consume_multiple=1, negative=()), _NUMBER_ALONE]
"""Numbers with spaces between, without units."""
Number = Annotated[float, _NUMBER_ALONE]
"""One number without a unit."""
NumberIfAny = Annotated[float | None, _NUMBER_ALONE]
"""One number without a unit, or none where nothing is said."""
Whole = Annotated[int, _WHOLE]
"""A whole number; 2.5 is none."""
WholeIfAny = Annotated[int | None, _WHOLE]
"""A whole number, or none where nothing is said."""
Wholes = Annotated[tuple[int, ...], Parameter(consume_multiple=1, negative=()), _WHOLE]
"""Whole numbers with spaces between."""
Seed = Annotated[Whole, Parameter(validator=validators.Number(gte=0))]
"""Which random states: the generator takes no negative number."""


def check_joint_units(arm: Any, option: str, values: Sequence[float]) -> None:
    """Refuse millimetres for a joint that turns, degrees for one that slides, positions for speeds."""
    from forearm.faults import StateFault

    if option == "torques":
        check_kinds(option, values, "")
        return
    rate = RATES[ORDERS.get(option, "")]
    links = arm.state_links
    base = values[
        : len(values) - len(links)
    ]  # of a robot that is free: x y z, and a quaternion or turning rates
    check_kinds(option, base[:3], LENGTH + rate)
    check_kinds(option, base[3:], "" if len(base) == 7 else ANGLE + rate)
    for link, value in zip(links, values[len(values) - len(links) :], strict=True):
        kind = getattr(value, "kind", "")
        fitting = (ANGLE if link.revolute else LENGTH) + rate
        if kind and kind != fitting:
            sign = ORDERS.get(option, "")
            units = [unit + sign for unit, (what, _) in UNITS.items() if what + rate == fitting]
            raise StateFault(
                f"--{option} has {getattr(value, 'word', value)} for joint {link.name!r} of {arm.name!r}, which takes "
                f"{fitting}; give {', '.join(units)}, or a number without a unit."
            )


def torque_unit(arm: Any, turning: str = "N m", sliding: str = "N") -> str:
    """The unit of a column with a number for each joint: one, or both where an arm turns and slides."""
    kinds = {link.revolute for link in arm.state_links}
    return ", ".join([turning] * (True in kinds) + [sliding] * (False in kinds))


def check_kinds(option: str, values: Sequence[float], fitting: str) -> None:
    """Refuse a unit that does not fit what an option takes; any unit where it takes none."""
    from forearm.faults import StateFault

    for value in values:
        if getattr(value, "kind", "") not in ("", fitting):
            takes = f"takes {fitting}" if fitting else "takes numbers without a unit"
            raise StateFault(f"--{option} has {getattr(value, 'word', value)}, and {takes}; give it so.")


def check_payload_units(values: Sequence[float]) -> None:
    """Refuse a payload whose mass is no mass, or whose centre has no lengths."""
    from forearm.faults import StateFault

    for value, fitting, units in zip(
        values, (MASS, *[LENGTH] * 3), ("kg, g", *["m, cm, mm"] * 3), strict=False
    ):
        kind = getattr(value, "kind", "")
        if kind and kind != fitting:
            raise StateFault(f"--payload has {getattr(value, 'word', value)} for {fitting}; give {units}.")


def surely(doubt: str, mass: Any, centre: Sequence[Any]) -> str:
    """A doubt about a payload, with how to say which unit is meant; nothing where its unit was written."""
    values, units = ([mass], ("g", "kg")) if "grams?" in doubt else (centre, ("mm", "m"))
    if not values or any(getattr(value, "kind", "") for value in values):
        return ""
    word = getattr(max(values, key=abs), "word", f"{max(values, key=abs):g}")
    return f"{doubt} Give {word}{units[0]}; if not, {word}{units[1]}"
