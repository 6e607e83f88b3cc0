"""Libraries that may not be here, through one door: what comes in while one is loaded is not taken for its absence.

Where Ctrl-C, or an error of a signal's handler, falls into a library's machine code while it is loaded, an ImportError
comes out. What a library begins meanwhile (MuJoCo a Python, which it asks for the version of its window) looks for
nothing in the folder where somebody works.
"""

import os
import sys
from importlib import import_module
from typing import Any

from forearm.outside.signal_errors import is_of_a_signal, pass_on_signals
from forearm.outside.whole_process.environment import NO_ODD_DATE, SAFE_PATH

PICTURES = "MUJOCO_GL"
"""The variable that says with which library MuJoCo draws; where that is not here, MuJoCo is not loaded at all."""


def optional(name: str) -> Any:
    """A module of a library; ImportError where it is not here, and what interrupted the loading as what it is."""
    before = sys.exception()  # what our caller is handling is behind every error, too
    try:
        return _loaded(name)
    except ImportError as error:
        behind: BaseException | None = error
        while behind is not None and behind is not before:
            if not isinstance(behind, Exception) or is_of_a_signal(behind):
                raise behind from None
            behind = behind.__cause__ or behind.__context__
        raise


def _loaded(name: str) -> Any:
    if name in sys.modules:
        return import_module(name)  # also where another thread has begun to: it is waited for
    with SAFE_PATH.inside(), NO_ODD_DATE.inside():
        return import_module(name)


def mujoco() -> Any:
    """MuJoCo, also where the library is not here that it would draw with: nothing is drawn."""
    try:
        return optional("mujoco")
    except Exception:
        pass_on_signals()
        told = os.environ.get(PICTURES)
        if told is None:
            raise
    os.environ[PICTURES] = "disable"
    try:
        return optional("mujoco")
    finally:
        os.environ[PICTURES] = told
