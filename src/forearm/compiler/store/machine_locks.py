"""One process of this user at a time: so that many that start together compile a kernel once.

The lock is the operating system's, on a file in the folder of kept kernels; it goes with the process that holds it,
however that ends. Where nothing is kept, or the system has no such locks, everybody goes on at once. A process that
was stopped (Ctrl-Z) holds it on and on, so nobody waits longer than compiling takes: the lock saves work, nothing more.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from forearm.compiler.store.files import private_folder
from forearm.outside.signal_errors import pass_on_signals, suppressed

PATIENCE, LOOK = 20.0, 0.02
"""How long somebody waits [s], and how often he looks."""


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Wait until no other process is in a block of this name, or until patience ends."""
    folder = private_folder(create=True)
    try:
        import fcntl
    except ImportError:
        folder = None
    if folder is None:
        yield
        return
    try:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(folder / f"forearm-{name}.lock", flags, 0o600)
    except OSError:  # the store will say why it cannot keep anything
        pass_on_signals()
        yield
        return
    process = os.getpid()
    try:
        end = time.monotonic() + PATIENCE
        with suppressed(OSError):  # of a system without such locks
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        break
                    time.sleep(LOOK)
        yield
    finally:
        if (
            os.getpid() == process
        ):  # copies of this process hold the same lock, and would as long as they live
            with suppressed(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
