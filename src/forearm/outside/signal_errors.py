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
    trace = error.__traceback__ if error is not None else None
    if error is None or trace is None or trace.tb_next is None:  # raised here, by no function
        return
    handlers = [one for one in map(signal.getsignal, signal.valid_signals()) if callable(one)]
    codes = {_code(one) for one in handlers}
    while (trace := trace.tb_next) is not None:
        if trace.tb_frame.f_code in codes:
            raise error


def _code(handler: Any) -> Any:
    """What runs when a handler is called: a function, a method, an object, or either with arguments bound to it."""
    while isinstance(handler, partial):
        handler = handler.func
    return getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
