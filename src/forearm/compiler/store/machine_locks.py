"""One process of this user at a time: so that many that start together compile a kernel once.

The lock is the operating system's, on a file in the folder of kept kernels; it goes with the process that holds it,
however that ends. Where nothing is kept, or the system has no such locks, everybody goes on at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from forearm.compiler.store.files import cache_folder


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Wait until no other process is in a block of this name."""
    folder = cache_folder()
    try:
        import fcntl
    except ImportError:
        folder = None
    if folder is None:
        yield
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(folder / f"forearm-{name}.lock", flags, 0o600)
    except OSError:  # the store will say why it cannot keep anything
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
