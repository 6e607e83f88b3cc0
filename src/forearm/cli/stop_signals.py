"""Signals that end the command line: heard within two seconds whatever it does, and no half file stays behind.

SIGTERM and SIGHUP become an ordinary exit. A signal is heard between two steps of Python; where a single step takes
minutes (LLVM, a foreign library), a thread that waits for signals ends the process in its place.
"""

import _thread
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from forearm.cli.standard_streams import complain
from forearm.outside.output_files import take_away_unfinished

PATIENCE = 2.0
"""Seconds that the main thread has to show that it hears."""
LAST_WORDS = 1.0
"""Seconds that whoever reads has to take what is still held when a signal ends us: less than the main thread has."""
LAST = 10
"""Seconds after which an exit that does not come to its end is ended by the system."""
ENDING = ("SIGTERM", "SIGHUP")
"""Signals that would end the process without a word."""
MOMENT = 0.01
"""Seconds after which an end is tried again that was lost in a destructor."""
HIGH = (200, 10)
"""Numbers from which on our own open files are: paths that are given to a verb mean what its caller opened."""
KNOCK = getattr(signal, "SIGURG", None)
"""A signal that means nothing to anybody: its handler runs if any handler can."""


class Ended(SystemExit):
    """A signal ends the process."""


def heed() -> None:
    """From now on, in the main thread; signals that somebody ignores (nohup) or handles stay as they are."""
    if KNOCK is None or not hasattr(os, "register_at_fork"):
        return
    ours = [signal.Signals[name] for name in ENDING]
    ours = [number for number in ours if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _leave)
    sys.unraisablehook = _lost
    if signal.getsignal(KNOCK) is not signal.SIG_DFL:
        return
    heard, (hear, tell) = _thread.allocate_lock(), map(_out_of_the_way, os.pipe())
    heard.acquire()

    def answer(*_: object) -> None:
        if heard.locked():
            heard.release()

    signal.signal(KNOCK, answer)
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=lambda: _forget([*ours, KNOCK]))
    endings: set[int] = {*ours, signal.SIGINT}
    # no thread of `threading`: it holds nothing that a copy of this process could miss
    with suppress(
        RuntimeError
    ):  # none may be started here: signals are heard between two steps of Python alone
        _thread.start_new_thread(_watch, (hear, heard, _thread.get_ident(), endings))


def _out_of_the_way(number: int) -> int:
    """The same open file under a number that no closed stream (/dev/stdin) and no redirection (/dev/fd/3) has."""
    import fcntl

    for least in HIGH:
        with suppress(OSError):  # so many files are not allowed
            moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, least)
            os.close(number)
            return moved
    return number


def _leave(number: int, _: FrameType | None) -> None:
    """An ordinary exit; a second signal ends the process as it always did, and so does an exit that takes too long."""
    signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LAST)
    raise Ended(128 + number)


def done_in_time(work: Callable[[], object]) -> bool:
    """Whether work that may wait for somebody was done in LAST_WORDS seconds; Ctrl-C gives it up at once.

    Streams are written to their ends while the interpreter goes, when nobody hears a signal: a pager that waits for its
    user, and is not interrupted, would be waited for.
    """

    def give_up(*_: object) -> None:
        raise TimeoutError

    try:
        before = signal.signal(signal.SIGALRM, give_up)
    except (ValueError, AttributeError):  # of another thread, or a system without alarms
        work()
        return True
    left = signal.setitimer(signal.ITIMER_REAL, LAST_WORDS)
    try:
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True
    except (OSError, KeyboardInterrupt):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *left)


def _lost(said: Any) -> None:
    """An error that ends in a destructor, or in a library's own callback: one that ends us is raised again later."""
    error = said.exc_value
    if not isinstance(error, (SystemExit, KeyboardInterrupt)) or sys.is_finalizing():
        sys.__unraisablehook__(said)
        return

    def leave(*_: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LAST)
        raise error

    try:
        signal.signal(signal.SIGALRM, leave)
        signal.setitimer(signal.ITIMER_REAL, MOMENT)
    except ValueError:  # of another thread, which hears no signals
        sys.__unraisablehook__(said)


def _forget(ours: list[int]) -> None:
    """A copy of this process, a worker, has no watch: signals end it as they end others."""
    signal.set_wakeup_fd(-1)
    sys.unraisablehook = sys.__unraisablehook__
    for number in ours:
        signal.signal(number, signal.SIG_DFL)


def _watch(hear: int, heard: _thread.LockType, main: int, ending: set[int]) -> None:
    """Wait for signals; where the main thread does not hear them, end the process."""
    while told := os.read(hear, 1):
        if told[0] not in ending:
            continue
        heard.acquire(False)
        signal.pthread_kill(main, KNOCK)  # type: ignore[arg-type]
        if not heard.acquire(timeout=PATIENCE):
            take_away_unfinished()
            signal.alarm(1)  # where nobody reads what is said, that is the end
            complain("interrupted")
            os._exit(128 + told[0])
