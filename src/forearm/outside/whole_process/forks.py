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
from collections import deque
from collections.abc import Callable
from functools import cached_property, partial
from importlib import _bootstrap  # type: ignore[attr-defined]
from itertools import chain, repeat
from operator import call
from typing import Any

LONGEST = 5.0
"""Seconds that a fork waits for modules."""
LATECOMERS = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}
"""Locks that Python lets go of after a fork, and takes before it only if their module was there when the fork began."""

MOST_ERRORS = 100
"""How often what is done before a fork is begun again after an error of a signal's handler fell into it."""

_LOCKS: list[Any] = []
_HELD: list[Callable[[], object]] = []
"""What lets go of the locks that are held."""
_run_all = deque[object](maxlen=0).extend
"""Asks an iterable for all that it has: a loop that no signal can leave, because no line of Python is in it."""


def hold_in_forks(lock: Any) -> None:
    """Hold a lock while the process is copied: one that its owner may take again, and whose methods are C."""
    _LOCKS.append(lock)


def is_loading() -> bool:
    """Whether another thread is loading a module; no where Python does not tell."""
    mine, held = get_ident(), getattr(_bootstrap, "_module_locks", {})
    owners = (getattr(find(), "owner", None) for find in tuple(held.values()))
    return any(owner not in (None, mine) for owner in owners)


def _before() -> None:
    """Hold all. Python drops an error that is raised in here, by a signal's handler, and copies all the same."""
    absent = [name for name in LATECOMERS if name not in sys.modules]
    late, dropped = time.monotonic() + LONGEST, None
    for _ in range(MOST_ERRORS):
        try:
            _wait_and_hold(late)
            while absent:  # loaded while we waited: somebody may hold the lock that is about to be let go
                name = absent[-1]
                if (lock := getattr(sys.modules.get(name), LATECOMERS[name], None)) is not None:
                    _run_all(map(call, (lock.acquire, absent.pop)))
                else:
                    absent.pop()
            break
        except BaseException as error:
            dropped = error
    if dropped is not None:
        raise dropped  # so that it is told of


def _wait_and_hold(late: float) -> None:
    while True:
        while is_loading() and time.monotonic() < late:
            time.sleep(0.001)
        for lock in tuple(_LOCKS)[len(_HELD) :]:
            _run_all(map(call, (lock.acquire, partial(_HELD.append, lock.release))))
        if len(_HELD) == len(_LOCKS) and not (is_loading() and time.monotonic() < late):
            return
        _after()


_after = partial(
    next, map(_run_all, map(map, repeat(call), map(chain, repeat(_HELD), repeat((_HELD.clear,))))), None
)
"""Calls all that is in the list, then empties it, each time that it is called itself.

Without a line of Python: a signal that came while the process was copied is served at the first one, and an error of
its handler would end the loop there, with locks held for ever.
"""


def _in_the_copy() -> None:
    """No module is half loaded; errors of signals' handlers are dropped in here, and nothing may be left undone."""
    while True:
        try:
            _forget_half_loaded()
            if sys.version_info < (3, 12):  # one lock of a property for all objects of a class
                for name, module in tuple(sys.modules.items()):
                    if name.startswith("forearm."):
                        _free_properties(module)
        except BaseException:
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
    os.register_at_fork(after_in_parent=_after, after_in_child=_in_the_copy)
    os.register_at_fork(
        before=_before, after_in_child=_after
    )  # of the copy's, this is the first that is called
    os.register_at_fork(before=_before)  # once more, for what ends one of them before its first line
