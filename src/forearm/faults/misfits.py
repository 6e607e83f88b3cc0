"""Misfits: one sentence that names the argument where a call has ended in somebody else's error.

`explained` stands before a public function. It costs nothing while all is well: only when a call has ended in an error
that is no Fault are its arguments held beside what the function's annotations say, and the first that does not fit is
named. Where all of them fit, the error is not about them and goes on as it is.
"""

import contextlib
import errno
import functools
import inspect
import operator
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from forearm.algebra import Scalar, is_scalar
from forearm.faults.call_arguments import number_of, shown
from forearm.faults.kinds import Fault, StateFault

P = ParamSpec("P")
R = TypeVar("R")


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """A public function whose errors about its arguments are one sentence that names the argument."""

    @functools.wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except NOT_ABOUT_ARGUMENTS:
            raise
        except Exception as error:
            _explain_call(function, given, named, error)
            raise

    return called


def explained_parts(cls: type) -> None:
    """The same for a class of dataclasses (`__init_subclass__` calls this): its fields are the arguments."""
    if check := vars(cls).get("__post_init__"):
        cls.__post_init__ = explained(check)  # type: ignore[attr-defined]


NOT_ABOUT_ARGUMENTS = (
    *(Fault, MemoryError, NameError, AssertionError, ImportError, NotImplementedError),
    *(FileNotFoundError, PermissionError, TimeoutError, Warning),
)
"""Errors that say themselves what is the matter, or that are our own mistakes."""


class Given(NamedTuple):
    """An argument of a call."""

    name: str
    """What the function calls it."""
    value: Any
    """What was given."""
    annotation: Any = "Any"
    """What the function says of it."""
    optional: bool = False
    """Whether it may be left out."""


def _explain_call(function: Any, given: Any, named: Any, error: Exception) -> None:
    """As `explain`, for a function and what it was called with."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*given, **named).arguments
    except TypeError:  # too many, too few: Python's sentence is clear
        return
    where, part = function.__qualname__, given[0] if given else None
    if where.endswith(".__post_init__") and is_dataclass(part):
        said = [Given(f.name, getattr(part, f.name), f.type) for f in fields(part)]
        kind = getattr(part, "fault", StateFault)
        explain(type(part).__name__, said, error, kind, function.__globals__)
        return
    said = [
        Given(name, bound[name], p.annotation, p.default is None)
        for name, p in signature.parameters.items()
        if name in bound and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and name not in ("self", "cls")
    ]
    for p in signature.parameters.values():
        if p.kind == p.VAR_POSITIONAL:
            many = bound.get(p.name, ())
            said += [Given(f"{p.name}[{k}]", value, p.annotation) for k, value in enumerate(many)]
        if p.kind == p.VAR_KEYWORD:
            said += [Given(name, value, p.annotation) for name, value in bound.get(p.name, {}).items()]
    explain(where, said, error, StateFault, function.__globals__)


def _of_the_caller(error: Exception, own: Any) -> bool:
    """Whether an error came out of somebody else's function: a law, a progress bar, a pool, a class derived from ours.

    What an argument's own special methods raise (`__array__`, `__float__`) is about the argument.
    """
    if ELSEWHERE in vars(error):
        return True
    trace = error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if module not in KNOWN_MODULES and frame.f_globals is not own:
            return not _special(frame)
    return False


def of_somebody_else(error: BaseException) -> BaseException:
    """An error of somebody else's function, raised in another process: the frames that would tell stayed there."""
    with contextlib.suppress(Exception):
        error.__dict__[ELSEWHERE] = True
    return error


ELSEWHERE = "_raised_elsewhere"
"""What marks such an error."""


def _special(frame: types.FrameType) -> bool:
    """Whether a function that runs is a special method of its object, and not what calls it."""
    code = frame.f_code
    owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    return any(
        getattr(method, "__code__", None) is code
        for cls in type(owner).__mro__
        for name, method in vars(cls).items()
        if name.startswith("__") and name != "__call__"
    )


KNOWN_MODULES = {
    *(*sys.stdlib_module_names, "forearm", "numpy", "scipy", "sympy", "mpmath", "llvmlite", "pandas"),
    *("xarray", "polars", "matplotlib", "zarr", "pyarrow", "jax", "torch", "casadi", "mujoco", "lxml"),
} - {"__main__"}
"""Whose functions we call ourselves; all others are called because somebody gave them."""


def explain(
    where: str, said: list[Given], error: Exception, kind: type[Fault] = StateFault, known: Any = None
) -> None:
    """Raise a fault that names the first argument that is not what its annotation says, if there is one."""
    _refuse_signature(where, said, error, kind)
    if _of_the_caller(error, known) or _of_the_system(error):
        return
    for refuse in (_of_another_kind, _too_large):
        for name, value, annotation, optional in said:
            wanted = refuse(value, _alternatives(annotation), known or {})
            if wanted:
                wanted += ", or leave it out" if optional else ""
                raise kind(f"{where}: {name} is {shown(value)}; give {wanted}.") from error
    for name, value, _, _ in said:
        if not _plain(value):
            raise kind(
                f"{where}: {name} is {shown(value)}, which cannot be used ({_reason(error)}); "
                f"help({where}) says what can."
            ) from error


def _refuse_signature(where: str, said: list[Given], error: Exception, kind: type[Fault]) -> None:
    """Name a function that was given and does not take what it is called with."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    ours = last is not None and str(last.tb_frame.f_globals.get("__name__")).startswith("forearm")
    if not isinstance(error, TypeError) or not ours:
        return
    for name, value, _, _ in said:
        if isinstance(value, FUNCTIONS) and str(error).startswith(f"{value.__qualname__}() "):
            raise kind(
                f"{where}: {name} is a function that does not take what it is called with ({_reason(error)}); "
                f"help({where}) says what it gets."
            ) from error


FUNCTIONS = (types.FunctionType, types.MethodType)
"""What has code of its own."""


def _of_the_system(error: Exception) -> bool:
    """Whether the system said what is the matter: a full disk, a name that is too long."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EBADF)


SCALAR, TRIPLE = str(Scalar), str(tuple[Scalar, Scalar, Scalar])
"""How the annotations of numbers look where they are no text."""


def _alternatives(annotation: Any) -> list[str]:
    """What an annotation allows, word by word: `int | None` is ["int", "None"]."""
    if annotation is inspect.Parameter.empty:
        return ["Any"]
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "") or ""
    if "[" in str(annotation) or not text:  # list[int] is a type, too, and has the name of list
        text = str(annotation)
    text = text.replace(TRIPLE, "Triple").replace(SCALAR, "Scalar")
    if "numpy._typing" in text:
        others = [word for word in ("None", "Callable") if word in text]
        return ["States", *others, *re.findall(r"forearm\.[\w.]*\.([A-Z]\w+)", text)]
    pieces, depth = [""], 0
    for letter in text.strip("'\""):
        depth += (letter in "[(") - (letter in "])")
        if letter == "|" and not depth:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [re.sub(r"^([\w.]+\.)", "", piece.strip(" '\"")) for piece in pieces]


def _of_another_kind(value: Any, allowed: list[str], known: dict[str, Any]) -> str:
    """What to give where a value is none of what is allowed; nothing where it may be, or nobody can tell."""
    texts = []
    for word in allowed:
        text, fits = _kind(word, known)
        try:
            if fits is None or fits(value):
                return ""
        except Exception:  # an object that answers no question is none of them
            pass
        texts.append(text)
    return " or ".join(dict.fromkeys(text for text in texts if text))


def _too_large(value: Any, allowed: list[str], known: dict[str, Any]) -> str:
    """What to give in place of a number that is too large, negative or no number at all."""
    if value is None:
        return ""
    try:
        if "int" in allowed and _is_whole(value):
            return "" if 0 <= value < 2**31 else "a whole number that is not negative, and smaller"
        if "float" in allowed:
            number = number_of(value)
            return "" if number is None or abs(number) < HUGE else "a finite number of usual size"
        if any(word in ARRAYS for word in allowed) and not isinstance(value, Mapping):
            array = np.asarray(value, dtype=float)
            return "" if bool(np.all(np.abs(array) < HUGE)) and array.size else "finite numbers of usual size"
    except Exception:
        return ""
    return ""


def _reason(error: Exception) -> str:
    """An error's own words, in short."""
    try:
        words = " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:
        words = type(error).__name__
    return words if len(words) <= LONGEST_REASON else words[: LONGEST_REASON - 3] + "..."


LONGEST_REASON = 200
"""Letters of somebody else's error in a message."""


def _plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is made of what calls are made of: numbers of usual size, texts, lists and parts of arms."""
    if (
        value is None
        or isinstance(value, (bool, str, PurePath))
        or type(value).__module__.startswith(("forearm", "sympy"))
    ):
        return not isinstance(value, str) or "\0" not in value
    if isinstance(value, (int, float, np.number)):
        return not isinstance(value, (complex, np.complexfloating)) and bool(-HUGE < value < HUGE)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub" and bool(np.isfinite(value).all())
    if depth < DEEPEST and isinstance(value, (list, tuple)):
        return all(_plain(one, depth + 1) for one in value[:MOST_LOOKED_AT])
    if depth < DEEPEST and isinstance(value, dict):
        return all(isinstance(name, str) and _plain(one, depth + 1) for name, one in value.items())
    return callable(value) and not isinstance(value, type)


DEEPEST = 5
"""Lists within lists that a call may have."""
HUGE = 1e100
"""Numbers beyond this overflow in what is computed from them."""
ARRAYS = ("States", "ArrayLike", "AnyArray", "Vector", "Matrix", "ndarray", "NDArray")
"""Annotations of what is given as arrays."""


def _is_whole(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_, np.ndarray)):
        return False
    operator.index(value)
    return True


def _is_array(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) for name in value)
    if isinstance(value, (str, bytes)) or np.ma.is_masked(value):
        return False
    array = np.asarray(value)
    return (array.dtype.kind in "fiu" and array.dtype.itemsize <= 16) or _of_scalars(array)


def _of_scalars(array: Any) -> bool:
    """Whether an array of objects holds what computes: symbols, traced scalars."""
    return (
        array.dtype == object
        and array.size > 0
        and all(hasattr(x, "__mul__") and hasattr(x, "__sub__") for x in array.flat)
    )


def _is_list(value: Any, kind: Any, first: list[str], known: dict[str, Any]) -> bool:
    """Whether a value is a sequence, or can be gone through, and holds what it should as far as one may look."""
    if not isinstance(value, kind) or isinstance(value, (str, bytes, Mapping)):
        return False
    some = islice(value, MOST_LOOKED_AT) if isinstance(value, Sequence) else ()
    return not any(_of_another_kind(one, first, known) for one in some)


MOST_LOOKED_AT = 1000
"""Members of a list that are held against an annotation."""


def _is_path(value: Any) -> bool:
    return "\0" not in os.fspath(value)


KINDS: dict[str, tuple[str, Callable[[Any], bool] | None]] = {
    "None": ("", lambda value: value is None),
    "NoneType": ("", lambda value: value is None),
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: number_of(value) is not None),
    "Scalar": ("a number", is_scalar),
    "Triple": ("three numbers", lambda value: len(value) == 3 and all(map(is_scalar, value))),
    "bool": ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("a text", lambda value: isinstance(value, str) and "\0" not in value),
    "Path": ("a path", _is_path),
    "PathLike": ("a path", _is_path),
    "Callable": ("a function", callable),
    "Mapping": (
        "a mapping with names",
        lambda v: isinstance(v, Mapping) and all(isinstance(k, str) for k in v),
    ),
    **dict.fromkeys(ARRAYS, ("numbers, a list of them or a NumPy array", _is_array)),
}
"""What an annotation means: how a message says it, and whether a value is one; None where nobody can tell."""


def _kind(word: str, known: dict[str, Any]) -> tuple[str, Callable[[Any], bool] | None]:
    """The kind of a word of an annotation."""
    head, _, inner = word.partition("[")
    if head in KINDS:
        return KINDS[head]
    if head in ("Sequence", "tuple", "list", "Iterable"):
        first = (
            _alternatives(inner.rpartition("]")[0].split(",")[0])
            if "," not in inner or "..." in inner
            else ["Any"]
        )
        return "a list", lambda value: _is_list(
            value, Iterable if head == "Iterable" else Sequence, first, known
        )
    if head in ("Any", "object"):
        return "", None
    cls = known.get(head)
    if isinstance(cls, type) and cls is not object and not getattr(cls, "_is_protocol", False):
        return f"{'an' if head[0] in 'AEIO' else 'a'} {head}", lambda value: isinstance(value, cls)
    if head in ("Arm", "Robot"):
        return f"{'an' if head == 'Arm' else 'a'} {head}", lambda value: any(
            head == c.__name__ for c in type(value).__mro__
        )
    return "", None
