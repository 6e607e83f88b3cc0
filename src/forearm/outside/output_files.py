"""Files that we write: whole or not at all.

A file is written beside its place and renamed into it when it is complete, so an interrupt, a full disk or an error
leaves the old file as it was, and nothing else; what a process that was killed left is taken away by the next who
writes the same file. What is no plain file (a pipe, a device) is written to directly, what stands for an open file
(/dev/stdout) is that file, from where it stands, and a file that cannot be replaced (one that is mounted alone) gets
the content of the one beside it, when there is room for all of it.
"""

import errno
import io
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TextIO

from forearm.outside.file_places import is_mounted, place_of, refuse_deaf, refuse_protected, take_place
from forearm.outside.signal_errors import pass_on_signals, suppressed
from forearm.outside.waiting_files import WaitingFile

PART = ".part"
"""How the name of a file ends that is being written."""

SYSTEM = re.compile(r"/(?!dev/shm/)(dev|proc)/")
"""Folders whose files stand for something else; nothing is renamed in them. Those in /dev/shm are files."""
STALE = 3600.0
"""Seconds after which a file that ends so, of a process that is no more, is nobody's."""
UNFINISHED: set[Path] = set()
"""What this process is writing: taken away by whoever has to end it without its help."""
_DESCRIPTORS: set[int] = set()
"""Open files among them, by their numbers."""
OPEN = re.compile(r"/(?:dev|proc/(?:self|thread-self|\d+))/fd/(\d+)")
"""An open file of this process, by its number."""
STAYS = {
    errno.EBUSY: "it is mounted by itself and cannot be replaced; give another name",
    errno.EXDEV: "it lies in a layer below this disk (a container's image) and cannot be replaced; remove it first, or "
    "give another name",
}
"""What is said of a folder that cannot be renamed."""


def write_text(path: str | Path, text: str) -> Path:
    """Write a text (UTF-8, lines as they are) to a file; gives the path."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write bytes to a file; gives the path."""
    with replacing(path) as file:
        file.write(content)
    return Path(path)


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together: none takes its place before the disk has all of them."""
    with ExitStack() as whole:
        for path, content in contents.items():
            file = whole.enter_context(replacing(path))
            file.write(content)
            file.flush()
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                os.fsync(file.fileno())


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which takes the place of `path` when the block ends well; if not, nothing changes.

    What goes wrong with the file is an OSError that names `path`. A link stays a link, an old file's mode stays, and a
    new file has the mode that every new file of this user has.
    """
    try:
        if (number := _open_file(path)) is not None:
            # opened by its name it would be cut, or replaced
            with _in_place(io.BufferedWriter(WaitingFile(os.dup(number), "wb"))) as file:
                yield file
            return
        target = place_of(path)
        old = _mode(target)
        if _is_special(target, old):
            with _in_place(open(path, "wb")) as file:
                yield file
            return
        yield from _beside(target, old)
    except OSError as error:
        pass_on_signals()
        if error.errno is None or not (error.filename is None or str(error.filename).endswith(PART)):
            raise  # it is about another file, or names this one already
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _in_place(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """A file that is written to as it stands; after an error what it holds goes nowhere: who reads may have stopped."""
    with file:
        try:
            yield file
            file.flush()
        except BaseException:
            _lead_nowhere(file.fileno())
            raise


@contextmanager
def replacing_text(path: str | Path) -> Iterator[TextIO]:
    """The same for text (UTF-8, ends of lines as they are written)."""
    with replacing(path) as file:
        lines = io.TextIOWrapper(file, "utf-8", newline="")
        yield lines
        lines.detach()  # all that it holds goes to the file


@contextmanager
def folder_of_files(path: str | Path) -> Iterator[Path]:
    """A folder to write files into, made where it is not there; if nothing gets into it, it is taken away again.

    One that nothing can be written into is told before anything is computed for it.
    """
    folder = Path(path)
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _try_place(folder / "files", path)
        yield folder
    except BaseException:
        with suppressed(OSError):  # one that is not empty stays
            for place in made:
                place.rmdir()
        raise


def check_writable(path: str | Path) -> None:
    """Raise what writing this path would raise for its place: no permission, a name that is too long, a full table."""
    try:
        if (number := _open_file(path)) is not None:
            refuse_deaf(number)
            return
        target = place_of(path)
        old = _mode(target)
        if _is_special(target, old) and not target.is_dir():  # a store of Zarr is a folder, and is replaced
            _try_special(target, old)
            return
        refuse_what_stays(target)
    except OSError as error:
        pass_on_signals()
        raise OSError(error.errno, error.strerror, str(path)) from None
    _try_place(target, path, None if target.is_dir() else old)


def _try_special(target: Path, old: int | None) -> None:
    """Raise what opening a device, a pipe or a socket, or a new file among those of the system, would raise."""
    if old is None:
        os.close(_new_file(target, None))
        os.unlink(target)
    elif not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    elif stat.S_ISSOCK(old):
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))


def _try_place(target: Path, path: str | Path, old: int | None = None) -> None:
    """Make an empty file beside a place, and take it away; what goes wrong names the path that was given."""
    with unfinished(target) as beside:
        try:
            os.close(_new_file(beside, old))
        except OSError as error:
            pass_on_signals()
            raise OSError(error.errno, error.strerror, str(path)) from None
        finally:
            with suppressed(OSError):
                os.unlink(beside)


def refuse_what_stays(target: Path) -> None:
    """Raise what replacing a file or a folder would raise in the end, where its own place is why; nothing changes.

    A file that is mounted alone is filled, and so has to take what is written. A folder cannot be renamed that is
    mounted, or lies in a lower layer of an overlay: the system says so before it says that another is not empty.
    """
    refuse_protected(target)
    if target.is_dir():
        with unfinished(target) as beside:
            try:
                (beside / "full").mkdir(parents=True)
                os.rename(target, beside)
                os.rename(beside, target)  # no system did the first so far
            except OSError as error:
                pass_on_signals()
                if error.errno in STAYS:
                    raise OSError(error.errno, STAYS[error.errno]) from None
            finally:
                for folder in (beside / "full", beside):
                    with suppressed(OSError):
                        folder.rmdir()
    elif target.exists():
        try:
            os.close(os.open(target, os.O_WRONLY))
        except OSError as error:
            pass_on_signals()
            if error.errno in (errno.EROFS, errno.EPERM) or (
                error.errno == errno.EACCES and is_mounted(target)
            ):
                raise OSError(error.errno, error.strerror) from None


def leads_to_no_file(path: str | Path) -> bool:
    """Whether a path is a link to a device, a pipe or a folder: what stands for an open file (/dev/stdout) is none."""
    return (
        os.path.islink(path) and os.path.exists(path) and _open_file(path) is None and not is_plain_file(path)
    )


def is_plain_file(path: str | Path) -> bool:
    """Whether writing to this path would replace a plain file."""
    mode = _mode(Path(path))
    return (
        mode is not None and _open_file(path) is None and not _is_special(Path(os.path.realpath(path)), mode)
    )


def _mode(target: Path) -> int | None:
    with suppress(FileNotFoundError):
        return target.stat().st_mode
    return None


def _is_special(target: Path, mode: int | None) -> bool:
    """A device, a pipe, a socket or a folder (opening one says so), or what stands for an open file."""
    if mode is not None and not stat.S_ISREG(mode):
        return True
    return SYSTEM.match(str(target)) is not None


def _open_file(path: str | Path) -> int | None:
    """The number of the open file that a path such as /dev/stdout stands for, itself or as a link; None otherwise."""
    here = os.path.abspath(path)
    for _ in range(40):  # links that lead in a circle are told by whoever opens them
        if found := OPEN.fullmatch(here):
            return int(found[1]) if _is_ours(here) else None
        if not os.path.islink(here):
            return None
        here = os.path.normpath(os.path.join(os.path.dirname(here), os.readlink(here)))
    return None


def _is_ours(here: str) -> bool:
    owner = here.split("/")[2]
    return not owner.isdigit() or int(owner) == os.getpid()


def part_of(target: Path) -> Path:
    """A new name beside a file, to write it under; names end after 255 bytes, however few letters these are."""
    name = os.fsdecode(os.fsencode(target.name)[:100])
    return target.with_name(f".{name}.{os.getpid()}-{os.urandom(6).hex()}{PART}")


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A new name beside a file, to write it under, known as unfinished while the block runs."""
    beside = part_of(target)
    _take_away_stale(target)
    UNFINISHED.add(beside)
    try:
        yield beside
    finally:
        UNFINISHED.discard(beside)


def is_begun_here(beside: Path) -> bool:
    """Whether this process began to write this, and is no copy of the one that did: that one goes on with it."""
    return beside.name.rpartition("-")[0].endswith(f".{os.getpid()}")


def refuse_copy(beside: Path, target: Path) -> None:
    """Raise in a copy of the process that writes a file, which would put into its place what is half written."""
    if not is_begun_here(beside):
        raise OSError(errno.EBUSY, "it is written by the process that this one is a copy of", str(target))


def _let_go_in_the_copy() -> None:
    """What a copy still holds back of a file, and would write at its end, goes nowhere: its place in it is shared."""
    UNFINISHED.clear()
    _lead_nowhere(*_DESCRIPTORS)


def _lead_nowhere(*numbers: int) -> None:
    """What is written to these open files from now on is lost."""
    with suppressed(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in numbers:
            os.dup2(nowhere, number, inheritable=False)
        os.close(nowhere)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_the_copy)


def take_away_unfinished() -> None:
    """Before a process ends that cannot finish what it writes."""
    for beside in tuple(UNFINISHED):
        with suppressed(OSError):
            if beside.is_dir():
                shutil.rmtree(beside)
            else:
                beside.unlink()


@lru_cache(maxsize=1024)  # once for a place
def _take_away_stale(target: Path) -> None:
    """What a killed process left of this very file: a plain file of ours, old, of a process that is no more."""
    start = part_of(target).name.rpartition(f".{os.getpid()}-")[0]
    ours = re.compile(re.escape(start) + r"\.(\d{1,10})-[0-9a-f]{12}" + re.escape(PART))
    with suppressed(OSError, AttributeError), os.scandir(target.parent) as entries:  # no owners on Windows
        for entry in entries:
            if (found := ours.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                about = entry.stat(follow_symlinks=False)
                old = time.time() - about.st_mtime > STALE
                if old and about.st_uid == os.getuid() and not _is_running(int(found[1])):
                    os.unlink(entry.path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass_on_signals()
        return True
    return True


def _new_file(beside: Path, old: int | None) -> int:
    """A new file, open, with the mode of the one whose place it takes.

    Where it has that already it is not asked for: disks that know no modes (of cameras, shares, sticks) refuse.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    number = os.open(beside, flags, 0o666)  # less what the umask takes
    try:
        if old is not None and stat.S_IMODE(os.fstat(number).st_mode) != stat.S_IMODE(old):
            os.chmod(beside, stat.S_IMODE(old))
    except BaseException:
        os.close(number)
        raise
    return number


def _beside(target: Path, old: int | None) -> Iterator[IO[bytes]]:
    """Write a new file beside the target, then rename it."""
    refuse_what_stays(target)
    with unfinished(target) as beside:
        try:
            with os.fdopen(_new_file(beside, old), "wb") as file:
                _DESCRIPTORS.add(number := file.fileno())
                try:
                    yield file
                    refuse_copy(beside, target)
                    file.flush()
                    os.fsync(number)
                finally:
                    _DESCRIPTORS.discard(number)  # before another file gets it
            take_place(beside, target)
        except BaseException:
            if is_begun_here(beside):
                with suppressed(OSError):
                    os.unlink(beside)
            raise
