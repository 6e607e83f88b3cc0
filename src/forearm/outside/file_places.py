"""Places of files: what may not be written to, and what is mounted there."""

import errno
import os
import re
import stat
import sys
from pathlib import Path

from forearm.outside.signal_errors import suppressed


def place_of(path: str | os.PathLike[str]) -> Path:
    """Where a path leads to; a name with a slash behind it is a folder's, and links that lead in a circle are told."""
    name = os.fspath(path)
    if name.endswith(os.sep) and not os.path.isdir(name):
        raise NotADirectoryError(
            errno.ENOTDIR, "there is no such folder, and a file's name ends without a slash"
        )
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def refuse_deaf(number: int) -> None:
    """Raise what writing to an open file would raise that is closed, or open for reading alone."""
    os.fstat(number)
    if sys.platform != "win32":
        import fcntl

        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "it is open for reading alone")


def refuse_protected(target: Path) -> None:
    """What may not be written to, though its folder lets it be replaced: somebody's care to keep it, or another's.

    So is in a folder such as /tmp what others put there.
    """
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    folder = target.parent.stat()
    if folder.st_mode & stat.S_ISVTX and target.exists() and hasattr(os, "geteuid"):
        if os.geteuid() not in (0, folder.st_uid, target.stat().st_uid):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def is_mounted(target: Path) -> bool:
    """Whether Linux says that something is mounted on this very place."""
    with suppressed(OSError):
        lines = os.fsdecode(Path("/proc/self/mountinfo").read_bytes()).splitlines()
        places = (
            re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), line.split(" ")[4])
            for line in lines
        )
        return str(target) in places
    return False
