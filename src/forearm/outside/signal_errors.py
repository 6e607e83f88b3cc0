"""Errors that a handler of the caller's signals raises: they come in the middle of our work, and are not about it.

A time limit by SIGALRM is the usual one. Where we take whatever an object raises for an answer, such an error would be
taken for one too: the limit would be forgotten, or told as the fault of an argument.
"""

import signal
import sys
from functools import partial
from typing import Any


def pass_on_signals() -> None:
    """Raise the error that is being handled once more, if a handler of a signal raised it; else nothing."""
    error = sys.exception()
    if error is not None and is_of_a_signal(error):
        raise error


def is_of_a_signal(error: BaseException) -> bool:
    """Whether a handler of a signal raised an error."""
    rest = error.__traceback__.tb_next if error.__traceback__ is not None else None
    if rest is None:  # raised here, by no function
        return False
    handlers = [one for one in map(signal.getsignal, signal.valid_signals()) if callable(one)]
    codes = {_code(one) for one in handlers}
    while rest is not None:
        if rest.tb_frame.f_code in codes:
            return True
        rest = rest.tb_next
    return False


class suppressed:
    """What `contextlib.suppress` does, but for errors of a signal's handler: a TimeoutError is an OSError."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        """Of these kinds."""
        self._kinds = kinds

    def __enter__(self) -> None:
        """Nothing is done at the beginning."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """At the end an error is dropped, or goes on."""
        return isinstance(error, self._kinds) and not is_of_a_signal(error)


def _code(handler: Any) -> Any:
    """What runs when a handler is called: a function, a method, an object, or either with arguments bound to it."""
    while isinstance(handler, partial):
        handler = handler.func
    return getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
