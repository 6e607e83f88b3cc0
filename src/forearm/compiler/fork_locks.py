"""Locks that a child process finds free.

A fork copies the process in the middle of whatever its other threads were doing, and not these threads: a lock that
one of them held is held for ever in the child. What such a lock guards here is filled in one step at its end, so the
child may take it and begin anew. (What Python itself holds is the matter of `outside.whole_process.forks`.)
"""

import os
import threading
import weakref
from typing import Any

_LOCKS: "weakref.WeakSet[Any]" = weakref.WeakSet()


def fork_safe_lock() -> Any:
    """A lock that its owner may take again, and that is free in a child process."""
    lock = threading.RLock()
    _LOCKS.add(lock)
    return lock


def free_all() -> None:
    """In a child process: nobody holds any of them. Python drops errors in here, and none may stay held for one."""
    while True:
        try:
            _free_all()
        except BaseException:
            continue
        return


def _free_all() -> None:
    for lock in tuple(_LOCKS):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=free_all)
