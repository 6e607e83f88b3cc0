"""Forks: copies of the process, made when no other thread is loading a module or in what must not be half done.

Python guards a module that is being loaded by a lock of its own, which a copy of the process finds held, for ever, by a
thread that it does not have. Much of forearm is loaded when it is first asked for, so threads load it at any moment,
and what is loaded meanwhile may have something to hold, too: so there is one list, and it is looked at last. Where
modules are still being loaded when patience ends, the copy forgets them half done and loads them itself.
"""

import os
import sys
import time
from _thread import RLock, get_ident
from collections.abc import Callable
from functools import cached_property
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

LONGEST = 5.0
"""Seconds that a fork waits for modules."""
LATECOMERS = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}
"""Locks that Python lets go of after a fork, and takes before it only if their module was there when the fork began."""

Holder = tuple[Callable[[], object], Callable[[], object]]
"""What keeps other threads out of something, and what lets them in again, here and in the copy."""
_HOLDERS: list[Holder] = []
_HELD: list[Holder] = []


def hold_in_forks(hold: Callable[[], object], let_go: Callable[[], object]) -> None:
    """Hold something while the process is copied."""
    _HOLDERS.append((hold, let_go))


def is_loading() -> bool:
    """Whether another thread is loading a module; no where Python does not tell."""
    mine, held = get_ident(), getattr(_bootstrap, "_module_locks", {})
    owners = (getattr(find(), "owner", None) for find in tuple(held.values()))
    return any(owner not in (None, mine) for owner in owners)


def _before() -> None:
    absent = [name for name in LATECOMERS if name not in sys.modules]
    _wait_and_hold(time.monotonic() + LONGEST)
    for name in absent:  # loaded while we waited: somebody may hold the lock that is about to be let go
        if (lock := getattr(sys.modules.get(name), LATECOMERS[name], None)) is not None:
            lock.acquire()


def _wait_and_hold(late: float) -> None:
    while True:
        while is_loading() and time.monotonic() < late:
            time.sleep(0.001)
        for holder in tuple(_HOLDERS):
            holder[0]()
            _HELD.append(holder)
        if len(_HELD) == len(_HOLDERS) and not (is_loading() and time.monotonic() < late):
            return
        _after()


def _after() -> None:
    while _HELD:
        _HELD.pop()[1]()


def _in_the_copy() -> None:
    """Nobody holds anything; Python hears no Ctrl-C in here, and nothing may stay held for it."""
    while True:
        try:
            _after()
            _forget_half_loaded()
            if sys.version_info < (3, 12):  # one lock of a property for all objects of a class
                for name, module in tuple(sys.modules.items()):
                    if name.startswith("forearm."):
                        _free_properties(module)
        except KeyboardInterrupt:
            continue
        return


def _forget_half_loaded() -> None:
    """Modules whose loading thread is not in this copy are loaded anew when they are asked for."""
    mine, held = get_ident(), getattr(_bootstrap, "_module_locks", {})
    for name, find in tuple(held.items()):
        if getattr(find(), "owner", None) not in (None, mine):
            held.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                sys.modules.pop(name, None)


def _free_properties(module: Any) -> None:
    for kind in tuple(vars(module).values()):
        for value in tuple(vars(kind).values()) if isinstance(kind, type) else ():
            if isinstance(value, cached_property):
                value.lock = RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_the_copy)
