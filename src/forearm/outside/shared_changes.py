"""What the whole process shares, changed for a while: the first who needs it makes the change, the last takes it back.

Threads that each restored what they had found would restore what another of them had changed.
"""

import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType

from forearm.outside.forks import hold_in_forks

_lock = threading.RLock()
hold_in_forks(_lock)


class SharedChange(ContextDecorator):
    """A change of something that there is once in a process, for as long as anybody is inside."""

    def __init__(self, make: Callable[[], Callable[[], object]]) -> None:
        """Nothing is changed yet.

        Args:
            make: Makes the change, and gives what takes it back.
        """
        self._make = make
        self._take_back: Callable[[], object] | None = None
        self._inside = 0

    def __enter__(self) -> None:
        with _lock:
            self._inside += 1
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
        self._inside -= 1
        if self._inside == 0 and self._take_back is not None:
            take_back, self._take_back = self._take_back, None
            take_back()
