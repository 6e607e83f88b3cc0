"""What the whole process shares, changed for a while: the first who needs it makes the change, the last takes it back.

Threads that each restored what they had found would restore what another of them had changed. A copy of the process has
the thread that made it alone: what others were inside of is taken back there.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType

from forearm.outside.whole_process.forks import hold_in_forks

_lock = threading.RLock()
hold_in_forks(_lock)
_CHANGES: "list[SharedChange]" = []


class SharedChange(ContextDecorator):
    """A change of something that there is once in a process, for as long as anybody is inside."""

    def __init__(self, make: Callable[[], Callable[[], object]]) -> None:
        """Nothing is changed yet.

        Args:
            make: Makes the change, and gives what takes it back.
        """
        self._make = make
        self._take_back: Callable[[], object] | None = None
        self._inside: Counter[int] = Counter()
        _CHANGES.append(self)

    def __enter__(self) -> None:
        with _lock:
            self._inside[threading.get_ident()] += 1
            try:
                if self._take_back is None:
                    self._take_back = self._make()
            except BaseException:
                self._leave()
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _lock:
            self._leave()

    def _leave(self) -> None:
        me = threading.get_ident()
        self._inside[me] -= 1
        if not self._inside[me]:
            del self._inside[me]
        self._end()

    def _end(self) -> None:
        if not self._inside and self._take_back is not None:
            take_back, self._take_back = self._take_back, None
            take_back()

    def keep_own(self) -> None:
        """In a copy of the process: the threads that it does not have are inside of nothing."""
        me = threading.get_ident()
        self._inside = Counter({me: self._inside[me]} if me in self._inside else {})
        self._end()


def _in_the_copy() -> None:
    for change in _CHANGES:
        change.keep_own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_the_copy)
