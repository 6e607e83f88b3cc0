"""Places of files: what may not be written to, what is mounted there, and how a file takes its place."""

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from forearm.outside.signal_errors import is_of_a_signal, pass_on_signals, suppressed


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


def take_place(beside: Path, target: Path) -> None:
    """Rename; a file that the system is busy with, one mounted into a container, is filled instead."""
    try:
        os.replace(beside, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        with open(beside, "rb") as whole, open(target, "r+b") as place:
            _fill(place, whole, lambda failed: _kept(failed, beside, target))
        os.unlink(beside)


def _kept(error: OSError | MemoryError, beside: Path, target: Path) -> OSError:
    """A disk that fails while a file is filled has half of it: what was written stays beside it, and is told."""
    kept = target.with_name(f"{beside.name.removesuffix('.part')}.whole")
    os.rename(beside, kept)
    number = error.errno if isinstance(error, OSError) and error.errno else errno.ENOMEM
    return OSError(number, f"{os.strerror(number)}; half of it is there, and all of it in {kept}")


def _fill(place: IO[bytes], whole: IO[bytes], kept: Callable[[OSError | MemoryError], OSError]) -> None:
    """Write a file over another: its room is taken before a byte is changed, and an interrupt waits for the end."""
    late: BaseException | None = None
    begun = False
    while True:
        try:
            _take_room(place.fileno(), os.fstat(whole.fileno()).st_size)
            begun = True
            whole.seek(0)
            place.seek(0)
            shutil.copyfileobj(whole, place)
            place.truncate()
            place.flush()
            break
        except BaseException as error:
            if isinstance(error, MemoryError | OSError) and not is_of_a_signal(error):
                if begun:
                    raise kept(error) from error
                raise  # the system's: once more is no help
            late = error
    if late is not None:
        raise late


def _take_room(number: int, size: int) -> None:
    """Have the file system set room aside for so many bytes of an open file, or leave the file as it was."""
    if size == 0 or not hasattr(os, "posix_fallocate"):
        return
    before = os.fstat(number).st_size
    try:
        os.posix_fallocate(number, 0, size)
    except OSError as error:
        os.ftruncate(number, before)
        pass_on_signals()
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
