"""Misfits: no result for an argument that is not what is declared, and one sentence where a call ends in an error.

`explained` stands before a public function and holds what it is given beside what its annotations say.

Before the call, only what can be told in a glance and is wrong whatever the function makes of it: a word for True, a
text, a date or a NaN for a number. The function may still refuse it, because its own words are better (which names
there are, which sizes); what it must not do is answer.

After a call that ended in an error which is no Fault, everything else. An argument that is not what is declared is
named. One of which nothing is declared, or a number beyond all measure, is named as what *may* be the reason, with the
error in its own words, and only where the error itself points to it. Else the error goes on as it is: it is about
something else. So do errors of the caller's own functions, of the system, and those that say what they are.
"""

import contextlib
import errno
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from forearm.faults.call_arguments import number_of, shown
from forearm.faults.declarations import ANYTHING, MOST_LOOKED_AT, Declared, declared, misfit
from forearm.faults.kinds import Fault, StateFault
from forearm.outside.signal_errors import pass_on_signals

P = ParamSpec("P")
R = TypeVar("R")


def explained(function: Callable[P, R], *, first: bool = False) -> Callable[P, R]:
    """A public function that gives no result for what it does not declare, and names the argument of an error.

    Refused before it begins with `first`: what it would do until it is done cannot be taken back, or takes long.
    """
    border = Border(function, first)

    @functools.wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> R:
        odd = border.misfit(given, named)
        try:
            result = function(*given, **named)
        except NOT_ABOUT_ARGUMENTS:
            raise
        except Exception as error:
            pass_on_signals()
            if (fault := _explanation(function, given, named, error)) is not None:
                raise fault from error
            raise
        if odd is not None:
            raise odd
        return result

    return called


def explained_first(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that writes files."""
    return explained(function, first=True)


def explained_parts(cls: type, *, at_border: bool = False) -> None:
    """The same for dataclasses of ours (`__init_subclass__` calls this): their fields are the arguments.

    They are looked at before their own check where that is asked for: parts of arms have a reader for each field.
    """
    check = vars(cls).get("__post_init__")
    if check is None or cls.__module__.partition(".")[0] != "forearm":
        return
    checked = explained(check)

    @functools.wraps(check)
    def looked_at(part: Any) -> None:
        odd = _odd_field(part, check) if at_border else None
        checked(part)
        if odd is not None:
            raise odd

    cls.__post_init__ = looked_at  # type: ignore[attr-defined]


def _odd_field(part: Any, check: Any) -> Fault | None:
    """The fault of the first field that is not what is declared."""
    where, said, kind = _arguments(check, (part,), {})
    told = (misfit(where, one.name, one.value, one.kinds) for one in said if one.kinds.complete)
    return next((kind(words) for words in told if words), None)


NOT_ABOUT_ARGUMENTS = (
    *(Fault, MemoryError, NameError, AssertionError, ImportError, NotImplementedError),
    *(FileNotFoundError, PermissionError, TimeoutError, Warning),
)
"""Errors that say themselves what is the matter, or that are our own mistakes."""


class Border:
    """What a function declares, as far as it is looked at before a call; read when it is first called."""

    def __init__(self, function: Callable[..., Any], first: bool = False) -> None:
        self.function, self.first = function, first
        self.declared: dict[str, Declared] | None = None
        self.names: tuple[str, ...] = ()
        self.rest: Declared | None = None

    def misfit(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> Fault | None:
        """The fault of the first argument that is not what is declared; one that cannot wait is raised."""
        if self.declared is None:
            self._read()
        table, rest = self.declared, self.rest
        if not table and rest is None:
            return None
        for name, value in (*zip(self.names, given, strict=False), *named.items()):
            kinds = table.get(name, rest)  # type: ignore[union-attr]
            if kinds is not None and (said := misfit(self.function.__qualname__, name, value, kinds)):
                nowhere = isinstance(value, str) and "\0" in value  # no name of a file, as its reader says
                truth = isinstance(value, (bool, np.bool_))  # one or zero wherever nobody looks
                if (kinds.at_once or self.first or truth) and not nowhere:
                    raise StateFault(said)
                return StateFault(said)
        return None

    def _read(self) -> None:
        parameters = inspect.signature(self.function).parameters.values()
        known = self.function.__globals__
        table: dict[str, Declared] = {}
        for p in parameters:
            kinds = _declared(p, known)
            if p.kind == p.VAR_KEYWORD:
                self.rest = kinds if kinds.complete else None
            elif p.kind != p.VAR_POSITIONAL:
                table[p.name] = kinds if kinds.complete else ANY
        if self.rest is None:  # else what is not in the table is one of the rest
            table = {name: kinds for name, kinds in table.items() if kinds is not ANY}
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.names = tuple(p.name for p in parameters if p.kind in plain)
        self.declared = table


ANY = Declared((ANYTHING,))
"""Of which nothing is said."""


def _declared(parameter: inspect.Parameter, known: Mapping[str, Any]) -> Declared:
    if parameter.annotation is inspect.Parameter.empty:
        return ANY
    return declared(parameter.annotation, known, optional=parameter.default is None)


class Given(NamedTuple):
    """An argument of a call."""

    name: str
    """What the function calls it."""
    value: Any
    """What was given."""
    kinds: Declared = ANY
    """What the function says of it."""


def _arguments(function: Any, given: Any, named: Any) -> tuple[str, list[Given], type[Fault]]:
    """Whose arguments they are, what they are, and which fault refuses them: a dataclass is what its fields are."""
    known, part = function.__globals__, given[0] if given else None
    if function.__qualname__.endswith(".__post_init__") and is_dataclass(part):
        said = [Given(f.name, getattr(part, f.name), declared(f.type, known)) for f in fields(part)]
        return type(part).__name__, said, getattr(part, "fault", StateFault)
    signature = inspect.signature(function)
    bound = signature.bind(*given, **named).arguments
    said = []
    for name, p in signature.parameters.items():
        if name not in bound or name in ("self", "cls"):
            continue
        kinds = _declared(p, known)
        if p.kind == p.VAR_POSITIONAL:
            said += [Given(f"{name}[{k}]", value, kinds) for k, value in enumerate(bound[name])]
        elif p.kind == p.VAR_KEYWORD:
            said += [Given(each, value, kinds) for each, value in bound[name].items()]
        else:
            said.append(Given(name, bound[name], kinds))
    return function.__qualname__, said, StateFault


def _explanation(function: Any, given: Any, named: Any, error: Exception) -> Fault | None:
    """As `explanation`, for a function and what it was called with."""
    try:
        where, said, kind = _arguments(function, given, named)
    except Exception:  # too many arguments, too few: Python's sentence is clear
        pass_on_signals()
        return None
    return explanation(where, said, error, kind, function.__code__)


def explanation(
    where: str, said: list[Given], error: Exception, kind: type[Fault] = StateFault, code: Any = None
) -> Fault | None:
    """A fault that names the argument which an error is about; None where it is about no argument, or nobody knows."""
    try:
        if told := _wrong_signature(where, said, error):
            return kind(told)
        owner = _stranger(error, code)
        if owner is CALLER or (isinstance(error, OSError) and error.errno not in (None, errno.EBADF)):
            return None
        told = next(filter(None, (misfit(where, one.name, one.value, one.kinds) for one in said)), "")
        if not told and (name := _suspect(said, error, owner)):
            told = f"{where} ended in {_reason(error)}; {name} may be the reason: help({where}) says what can be given."
        return kind(told) if told else None
    except Exception:  # arguments that answer no question must not hide the error
        pass_on_signals()
        return None


def _frames(error: Exception) -> Iterator[types.FrameType]:
    """The functions that an error came through, the innermost last."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


CALLER = object()
"""Stands for a function of the caller's own."""


def _stranger(error: Exception, own: Any) -> Any:
    """Who raised an error that came out of somebody else's code: a function of the caller's, or an object given.

    A law, a progress bar, a pool, a class derived from ours is the caller's own. What an argument's special methods
    raise (`__array__`, `__float__`) is about the argument, which is returned. None where all the code is ours.
    """
    if ELSEWHERE in vars(error):
        return CALLER
    for frame in _frames(error):
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if module not in KNOWN_MODULES and frame.f_code is not own:
            return _owner(frame) if _special(frame) else CALLER
    return None


def _owner(frame: types.FrameType) -> Any:
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def of_somebody_else(error: BaseException) -> BaseException:
    """An error of somebody else's function, raised in another process: the frames that would tell stayed there."""
    with contextlib.suppress(Exception):
        error.__dict__[ELSEWHERE] = True
    return error


ELSEWHERE = "_raised_elsewhere"
"""What marks such an error."""


def _special(frame: types.FrameType) -> bool:
    """Whether a function that runs is a special method of its object, and not what calls it."""
    return any(
        getattr(method, "__code__", None) is frame.f_code
        for cls in type(_owner(frame)).__mro__
        for name, method in vars(cls).items()
        if name.startswith("__") and name != "__call__"
    )


KNOWN_MODULES = {
    *(*sys.stdlib_module_names, "forearm", "numpy", "scipy", "sympy", "mpmath", "llvmlite", "pandas"),
    *("xarray", "polars", "matplotlib", "zarr", "pyarrow", "jax", "torch", "casadi", "mujoco", "lxml"),
} - {"__main__"}
"""Whose functions we call ourselves; all others are called because somebody gave them."""


def _wrong_signature(where: str, said: list[Given], error: Exception) -> str:
    """The sentence about a function that was given and does not take what it is called with."""
    last = list(_frames(error))[-1:]
    ours = any(str(frame.f_globals.get("__name__")).startswith("forearm") for frame in last)
    if isinstance(error, TypeError) and ours:
        for name, value, _ in said:
            called = getattr(value, "__qualname__", "") if isinstance(value, FUNCTIONS) else ""
            if called and str(error).startswith((f"{called}() ", f"{called}.__init__() ")):
                return (
                    f"{where}: {name} is a function that does not take what it is called with ({_reason(error)}); "
                    f"help({where}) says what it gets."
                )
    return ""


FUNCTIONS = (types.FunctionType, types.MethodType, type)
"""What is called by its name."""


def _suspect(said: list[Given], error: Exception, owner: Any) -> str:
    """The argument that an error points to, with its value, or nothing.

    It points to an object whose own method raised it, to a type that its words name where nothing is declared, and,
    where it is about numbers, to one that is not finite, empty or beyond all measure.
    """
    for name, value, kinds in said:
        undeclared = any(kind.fits is None for kind in kinds.kinds) and not (value is None and kinds.optional)
        if (
            (owner is not None and any(one is owner for one in _within(value)))
            or (undeclared and isinstance(error, (TypeError, AttributeError)) and _named(value, error))
            or (isinstance(error, ABOUT_NUMBERS) and _beyond(value))
        ):
            return f"{name}, which is {shown(value)},"
    return ""


def _named(value: Any, error: Exception) -> bool:
    """Whether an error's words name the type of a value: Python's 'Pose' object is not iterable, NumPy's not a Pose."""
    cls, words = type(value), _reason(error)
    names = (cls.__name__, f"{cls.__module__}.{cls.__qualname__}")
    return any(f"'{name}'" in words or f"not {name}" in words for name in names)


ABOUT_NUMBERS = (ArithmeticError, ValueError, IndexError, RuntimeError, TypeError)
"""Errors that numbers end in: TypeError is NumPy's about whole numbers that no float holds."""


def _within(value: Any, depth: int = 0) -> Iterator[Any]:
    """A value and what lists and mappings in it hold, as far as one may look."""
    yield value
    if depth < DEEPEST and isinstance(value, (list, tuple, dict)):
        for one in islice(value.values() if isinstance(value, dict) else value, MOST_LOOKED_AT):
            yield from _within(one, depth + 1)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from value.flat


DEEPEST = 5
"""Lists within lists that are looked into."""


def _beyond(value: Any) -> bool:
    """Whether a number or array is beyond all measure: not finite, empty, beyond 1e100 or next to nothing."""
    if value is None or isinstance(value, (str, bytes, Mapping)) or callable(value):
        return False
    number = number_of(value)
    if number is not None:
        return not SMALL < abs(number) < HUGE and number != 0
    if not isinstance(value, (list, tuple, np.ndarray)):
        return False
    try:
        array = np.asarray(value, dtype=float)
    except OverflowError:
        return True
    except Exception:
        pass_on_signals()
        return False
    return not array.size or not bool(np.all(np.abs(array) < HUGE))


SMALL, HUGE = 1e-100, 1e100
"""Numbers beyond these overflow in what is computed from them."""


def _reason(error: Exception) -> str:
    """An error's own words, in short."""
    try:
        words = " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:
        pass_on_signals()
        words = type(error).__name__
    return words if len(words) <= LONGEST_REASON else words[: LONGEST_REASON - 3] + "..."


LONGEST_REASON = 200
"""Letters of somebody else's error in a message."""
