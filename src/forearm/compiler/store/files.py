"""Object code and graphs on disk, so that a kernel is made once for each machine.

One file for each in a folder that belongs to the user alone: `FOREARM_CACHE`, or the platform's cache
folder. `FOREARM_CACHE=off` (or empty) keeps nothing. A file is loaded only if it belongs to this user, nobody
else may write it, it carries the full key, and its digest is right; otherwise it is made anew. Files appear
by renaming, so that two processes never read half of one; what a killed process leaves is cleared away. What is no
plain file (a folder, a pipe, a link) or too long is not read. Whoever can write to the user's own account can put code
there: the cache trusts it, as Python trusts its `__pycache__`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import is_of_a_signal, pass_on_signals, suppressed

MAGIC = b"forearm kernel 1"
SUFFIX, NOTE = ".kernel", ".digest"
"""Of kernels and graphs; of digests that take longer to work out than to read."""

KEPT = re.compile(r"[0-9a-f]{40}\.kernel")
NOTED = re.compile(r"[0-9a-f]{40}\.digest")
DIGEST = re.compile(rb"[0-9a-f]{64}")
HALF = re.compile(r"forearm-\w+\.tmp")
"""Names of our files: kept, noted, and being written. Other files in the folder are not ours."""

SOURCES = ("formulations", "compiler", "reach")
"""Folders, beside forearm's own files, that decide with all in them what a graph becomes, and what text is written."""

LIMIT_BYTES = 200_000_000
"""The folder is kept below this size; what was used longest ago goes first."""

LONGEST = 100_000_000
"""Bytes of a file beyond which it is not read."""

STALE = 3600.0
"""Seconds after which a file that is being written has been left behind."""


class KeptKernel(NamedTuple):
    """One kernel on disk."""

    name: str
    """What it computes, and how."""
    path: Path
    """Where it lies."""
    size: int
    """Bytes."""
    used: float
    """When it was last loaded or written, in seconds since 1970."""


def cache_folder() -> Path | None:
    """The folder, whether or not it exists; None when the cache is off."""
    told = os.environ.get("FOREARM_CACHE")
    if told is not None and told.strip().lower() in ("", "off"):
        return None
    try:
        return _platform_folder() if told is None else Path(told).expanduser()
    except RuntimeError as reason:  # no HOME and no entry in passwd, or ~nobody
        _tell_once(f"no kernels are kept: {reason} Set FOREARM_CACHE to a folder.")
        return None


@lru_cache(64)
def _tell_once(sentence: str) -> None:
    LOG.warning("%s", sentence)


def _platform_folder() -> Path:
    """Where this platform keeps what can be made again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        told = (
            os.environ.get("XDG_CACHE_HOME") or ""
        )  # a relative one is to be ignored, says its specification
        base = Path(told) if os.path.isabs(told) else Path.home() / ".cache"
    if not base.is_absolute():  # an empty HOME: no folder of whoever's the present folder is
        raise RuntimeError("Could not determine home directory.")
    return base / "forearm"


@cache
def code_version() -> str:
    """The version of forearm and a digest of its source, as far as graphs and texts depend on it.

    The digest is kept under what the system says of the files (size, times, number), so a new process reads none.
    """
    from forearm import __version__

    found = _source_files(Path(__file__).parents[2])
    told = [(path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for path, s in found]
    key = key_of("source", __version__, *told)
    known = recall_digest(key)
    if known is None:
        digest = hashlib.sha256()
        for path, _ in found:
            with open(path, "rb") as file:
                digest.update(file.read())
        known = digest.hexdigest()
        keep_digest(key, known)
    return f"{__version__}+{known}"


def _source_files(home: Path) -> list[tuple[str, os.stat_result]]:
    """Files of forearm itself and of SOURCES, with all that is in these, by their paths."""
    found, folders = [], [str(home / name) for name in ("", *SOURCES)]
    for number, folder in enumerate(folders):  # grows while it is walked
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".json")):
                    found.append((entry.path, entry.stat()))
                elif number and "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return sorted(found, key=lambda pair: pair[0])


def key_of(*parts: object) -> str:
    """The sha256 of everything that a thing kept was made from."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def graph_key(*parts: object) -> str:
    """The key of a kept graph: what it was made from, and the source that made it."""
    return key_of(code_version(), *parts)


def keep_digest(key: str, digest: str) -> None:
    """Keep a digest that would take longer to work out again than to read."""
    store(key, "digest", digest.encode(), NOTE)


def recall_digest(key: str) -> str | None:
    """The digest kept under a key; None if there is none."""
    kept = load(key, NOTE)
    return kept.decode() if kept is not None and DIGEST.fullmatch(kept) else None


def load(key: str, suffix: str = SUFFIX) -> bytes | None:
    """The object code kept under a key; None if there is none that may be trusted."""
    folder = private_folder(create=False)
    if folder is None:
        return None
    path = folder / (key[:40] + suffix)
    try:
        read = _read(path)
    except OSError as error:
        pass_on_signals()
        if error.errno != errno.ENOENT:
            LOG.warning("%s cannot be read (%s); the kernel is built anew", path, error.strerror)
        return None
    if read is None:
        return None
    head, _, code = read.partition(b"\n\n")
    lines = head.split(b"\n")
    digest = hashlib.sha256(code).hexdigest().encode()
    if len(lines) != 4 or lines[0] != MAGIC or lines[2] != key.encode() or lines[3] != digest:
        LOG.warning("%s is damaged or of another make; the kernel is built anew", path)
        return None
    with suppressed(OSError):
        os.utime(path)
    return code


def _read(path: Path, count: int = -1) -> bytes | None:
    """What a plain file of ours holds, or its first bytes; None, with a warning, where it is something else."""
    modes = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")  # no link, no waiting for the other end of a pipe
    descriptor = os.open(path, sum((getattr(os, mode, 0) for mode in modes), os.O_RDONLY))
    try:
        info, why = os.fstat(descriptor), ""
        if not stat.S_ISREG(info.st_mode):
            why = "is no plain file"
        elif not _is_ours(info, 0o077):
            why = "belongs to another user or others may write it"
        elif info.st_size > LONGEST:
            why = f"has {info.st_size} bytes, which no kernel has"
        if why:
            LOG.warning("%s %s; the kernel is built anew", path, why)
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(count)
    finally:
        os.close(descriptor)


def store(key: str, name: str, code: bytes, suffix: str = SUFFIX) -> Path | None:
    """Keep object code; returns where, or None when the cache is off or cannot be written."""
    folder = private_folder(create=True)
    if folder is None:
        return None
    import tempfile

    label = " ".join(name.split()).encode()
    head = b"\n".join([MAGIC, label, key.encode(), hashlib.sha256(code).hexdigest().encode()])
    path, temporary = folder / (key[:40] + suffix), ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix="forearm-", suffix=".tmp")  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(head + b"\n\n" + code)
        with suppressed(OSError):
            os.rmdir(path)  # an empty folder in the file's place
        os.replace(temporary, path)
    except BaseException as error:
        with suppressed(OSError):
            os.unlink(temporary)
        if not isinstance(error, OSError) or is_of_a_signal(error):
            raise
        _tell_once(f"kernels cannot be kept in {folder}: {error.strerror or error}")
        return None
    folder_now, size = (folder, LIMIT_BYTES), len(head) + len(code)
    _ROOM[folder_now] = _ROOM.get(folder_now, 0) - size
    if _ROOM[folder_now] < 0:
        _ROOM[folder_now] = (LIMIT_BYTES - _evict(keep=path)) // SHARERS
    return path


SHARERS = 16
"""Processes that may fill the folder at once without passing its limit unseen."""
_ROOM: dict[tuple[Path, int], int] = {}
"""Bytes that this process may still write before it looks through a folder again: that takes a moment for each file."""


def list_cache() -> list[KeptKernel]:
    """The kernels and graphs on disk, the most recently used first."""
    folder = cache_folder()
    entries = []
    for path, info in _ours(folder):
        with suppressed(OSError):
            head = (_read(path, 2000) or b"").split(b"\n", 2) if KEPT.fullmatch(path.name) else [b""]
            if head[0] == MAGIC:
                entries.append(
                    KeptKernel(head[1].decode(errors="replace"), path, info.st_size, info.st_mtime)
                )
    return sorted(entries, key=lambda e: -e.used)


def _ours(folder: Path | None) -> list[tuple[Path, os.stat_result]]:
    """Everything in the folder that has a name of ours, damaged or not."""
    found = []
    with suppressed(OSError), os.scandir(folder or "") as entries:
        for entry in entries:
            if any(name.fullmatch(entry.name) for name in (KEPT, NOTED, HALF)):
                with suppressed(OSError):  # another process may be faster
                    found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return found


def clear_cache() -> int:
    """Delete every kernel on disk, damaged and half-written ones too; returns how many there were."""
    return sum(_deleted(path) and path.suffix != NOTE for path, _ in _ours(cache_folder()))


def _deleted(path: Path) -> bool:
    """Delete a file, or an empty folder in its place."""
    with suppressed(OSError):
        os.rmdir(path) if path.is_dir() and not path.is_symlink() else os.unlink(path)
        return True
    return False


def _evict(keep: Path) -> int:
    """Delete what a process left half written, and the kernels used longest ago until the rest fits; bytes left."""
    total, now = 0, time.time()
    for path, info in sorted(_ours(keep.parent), key=lambda found: -found[1].st_mtime):
        total += info.st_size
        left = HALF.fullmatch(path.name) and now - info.st_mtime > STALE
        if left or (total > LIMIT_BYTES and path != keep):
            total -= info.st_size * _deleted(path)
    return total


def private_folder(*, create: bool) -> Path | None:
    """The folder if it is there (or can be made) and is the user's alone."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.stat()
    except OSError as error:
        pass_on_signals()
        if create:
            _tell_once(f"no kernel cache in {folder}: {error}")
        return None
    if not _is_ours(info, 0o022):
        _tell_once(f"{folder} belongs to another user or others may write it; it is not used (chmod 700 it)")
        return None
    return folder


def _is_ours(info: os.stat_result, forbidden: int) -> bool:
    """Whether a file or folder is this user's and closed to others (where the platform has such modes)."""
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid == os.getuid() and not stat.S_IMODE(info.st_mode) & forbidden
