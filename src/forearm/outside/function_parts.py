"""What a function of the caller's is made of: its code, the variables around it, the names that it reads."""

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of functions and comprehensions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def names_read(function: FunctionType) -> list[str]:
    """Names of globals and attributes in its code, sorted."""
    return sorted({name for code in codes(function.__code__) for name in code.co_names})


def variables_around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values of the variables of the functions around it; one that has no value yet is "empty"."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            yield name, "empty"
