"""What the whole process shares, changed for a while: the first who needs it makes the change, the last takes it back.

Threads that each restored what they had found would restore what another of them had changed. A copy of the process has
the thread that made it alone: what others were inside of is taken back there. An error of a signal's handler may come
at any line: what there was is known before it is changed, and leaving is repeated until it is done.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from forearm.outside.whole_process.forks import hold_in_forks

_lock = threading.RLock()
hold_in_forks(_lock)
_CHANGES: "list[SharedChange]" = []


class SharedChange:
    """A change of something that there is once in a process, for as long as anybody is inside."""

    def __init__(
        self, look: Callable[[], Any], make: Callable[[Any], object], take_back: Callable[[Any], object]
    ) -> None:
        """Nothing is changed yet.

        Args:
            look: What there is, before it is changed.
            make: Makes the change; it is given what there was.
            take_back: Puts back what there was, which it is given; once more does no harm.
        """
        self._look, self._make, self._take_back = look, make, take_back
        self._before: list[Any] = []
        self._inside: dict[object, int] = {}
        _CHANGES.append(self)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The change is made within, or was; also over a function, as a decorator."""
        me = object()
        try:
            with _lock:
                self._inside[me] = threading.get_ident()
                if not self._before:
                    self._before.append(self._look())
                    self._make(self._before[0])
            yield
        finally:  # also where nothing but the end of this generator leaves it
            late: BaseException | None = None
            while me in self._inside or (self._before and not self._inside):
                try:
                    self._leave(me)
                except BaseException as error:
                    late = error
            if late is not None:
                raise late

    def _leave(self, me: object) -> None:
        with _lock:
            self._inside.pop(me, None)
            if self._before and not self._inside:
                self._take_back(self._before[0])
                self._before.clear()

    def keep_own(self) -> None:
        """In a copy of the process: the threads that it does not have are inside of nothing."""
        mine = threading.get_ident()
        self._inside = {token: thread for token, thread in self._inside.items() if thread == mine}
        self._leave(None)


def _in_the_copy() -> None:
    for change in _CHANGES:
        change.keep_own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_the_copy)
