"""Where a lone hyphen may stand: for stdin in what is read, for stdout in what is written, once each; nowhere else."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, get_args, get_type_hints

STDIO = "stdio:"
"""What `-` becomes, because a lone hyphen is no word to the parser."""


class Hyphen(Enum):
    """Beside the type of an argument: what a hyphen means there."""

    STDIN = "stdin"
    STDOUT = "stdout"


def heeding(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The verb, which refuses hyphens where they mean nothing, and two for one stream."""
    meant = {name: _meaning(hint) for name, hint in get_type_hints(verb, include_extras=True).items()}

    @wraps(verb)
    def heeded(*args: Any, **options: Any) -> Any:
        bound = inspect.signature(verb).bind(*args, **options)
        _refuse_in_vain(list(_hyphens(bound, meant)))
        return verb(*args, **options)

    return heeded


def _meaning(hint: Any) -> Hyphen | None:
    """What stands beside a type, also within `... | None`."""
    if isinstance(hint, Hyphen):
        return hint
    return next((found for part in get_args(hint) if (found := _meaning(part)) is not None), None)


def _hyphens(
    bound: inspect.BoundArguments, meant: dict[str, Hyphen | None]
) -> Iterator[tuple[str, Hyphen | None]]:
    """Each hyphen that was given: where it stands, and what it means there."""
    for name, value in bound.arguments.items():
        flag = bound.signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        given = {name: value}
        if is_dataclass(value) and not isinstance(value, type):
            given = {field.name: getattr(value, field.name) for field in fields(value)}
        for key, values in given.items():
            for one in values if isinstance(values, tuple) else (values,):
                if one == STDIO or (isinstance(one, Path) and str(one) == STDIO):
                    yield f"--{key.replace('_', '-')}" if flag else key.upper(), meant.get(name)


def _refuse_in_vain(given: list[tuple[str, Hyphen | None]]) -> None:
    from forearm.faults import StateFault

    taken: dict[Hyphen, str] = {}
    for where, means in given:
        if means is None:
            raise StateFault(f"{where} has -, and takes neither stdin nor stdout; give a name.")
        if means in taken:
            raise StateFault(
                f"{taken[means]} and {where} have -, and there is one {means.value}; give a file for one."
            )
        taken[means] = where
