"""Ctrl-C during a simulation: kept until nothing can be torn, so that no record is lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """Whether Ctrl-C was pressed; the first is kept, a second raises KeyboardInterrupt as everywhere.

    In the main thread, and where nobody else listens: a program's own handler of SIGINT stays.
    """

    def __init__(self) -> None:
        """Nothing was heard."""
        self.heard = False
        self.at_once = False
        self.before: Any = None

    def listen(self) -> None:
        """From now on."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.default_int_handler  # known before ours is there: it is put back in any case
            signal.signal(signal.SIGINT, self._hear)

    def end(self) -> None:
        """Put back what was there before."""
        self.at_once = False
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = None

    @contextmanager
    def answered_at_once(self, wanted: bool) -> Iterator[None]:
        """Where what runs is Python and leaves nothing behind: the first Ctrl-C raises KeyboardInterrupt there."""
        self.at_once = wanted
        try:
            yield
        finally:
            self.at_once = False

    def raise_if_heard(self) -> None:
        """Between parts of work that is given up when it is not complete."""
        if self.heard:
            raise KeyboardInterrupt

    def _hear(self, *_: object) -> None:
        if self.heard or self.at_once:
            self.heard = True
            raise KeyboardInterrupt
        self.heard = True
