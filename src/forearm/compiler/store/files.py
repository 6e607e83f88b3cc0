"""Object code on disk, so that a kernel compiles once for each machine.

One file for each kernel in a folder that belongs to the user alone: `FOREARM_CACHE`, or the platform's cache
folder. `FOREARM_CACHE=off` (or empty) keeps nothing. A file is loaded only if it belongs to this user, nobody
else may write it, it carries the full key, and its digest is right; otherwise it is made anew. Files appear
by renaming, so that two processes never read half of one. Whoever can write to the user's own account can put
code there: the cache trusts it, as Python trusts its `__pycache__`.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOG = logging.getLogger("forearm")
MAGIC = b"forearm kernel 1"
SUFFIX = ".kernel"

SOURCES = ("formulations", "compiler", "compiler/graph", "compiler/graph/passes", "compiler/model")
"""Folders, beside forearm itself, whose files decide what a graph becomes. (Objects are known by their own text.)"""

LIMIT_BYTES = 200_000_000
"""The folder is kept below this size; what was used longest ago goes first."""


@dataclass(frozen=True)
class Entry:
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
    if told is not None:
        return None if told.strip().lower() in ("", "off") else Path(told).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "forearm"


@cache
def code_version() -> str:
    """The version of forearm and a digest of its source, as far as graphs depend on it: other code, other graphs."""
    from forearm import __version__

    digest, home = hashlib.sha256(), Path(__file__).parents[2]
    for folder in (home, *(home / name for name in SOURCES)):
        for name in sorted(n for n in os.listdir(folder) if n.endswith((".py", ".json"))):
            with open(folder / name, "rb") as file:
                digest.update(file.read())
    return f"{__version__}+{digest.hexdigest()[:16]}"


def key_of(*parts: object) -> str:
    """The sha256 of everything that a thing kept was made from."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def graph_key(*parts: object) -> str:
    """The key of a kept graph: what it was made from, and the source that made it."""
    return key_of(code_version(), *parts)


def load(key: str) -> bytes | None:
    """The object code kept under a key; None if there is none that may be trusted."""
    folder = _private_folder(create=False)
    if folder is None:
        return None
    path = folder / (key[:40] + SUFFIX)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not _is_ours(os.fstat(descriptor), 0o077):
            LOG.warning("%s belongs to another user or others may write it; the kernel is built anew", path)
            return None
        head, _, code = file.read().partition(b"\n\n")
    lines = head.split(b"\n")
    digest = hashlib.sha256(code).hexdigest().encode()
    if len(lines) != 4 or lines[0] != MAGIC or lines[2] != key.encode() or lines[3] != digest:
        LOG.warning("%s is damaged or of another make; the kernel is built anew", path)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return code


def store(key: str, name: str, code: bytes) -> Path | None:
    """Keep object code; returns where, or None when the cache is off or cannot be written."""
    folder = _private_folder(create=True)
    if folder is None:
        return None
    import tempfile

    label = " ".join(name.split()).encode()
    head = b"\n".join([MAGIC, label, key.encode(), hashlib.sha256(code).hexdigest().encode()])
    path, temporary = folder / (key[:40] + SUFFIX), ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(head + b"\n\n" + code)
        os.replace(temporary, path)
    except OSError as error:
        LOG.warning("the kernel could not be kept in %s: %s", folder, error)
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return None
    _evict(keep=path)
    return path


def list_cache() -> list[Entry]:
    """The kernels on disk, the most recently used first."""
    folder = cache_folder()
    entries = []
    for path in folder.glob("*" + SUFFIX) if folder and folder.is_dir() else ():
        with contextlib.suppress(OSError), path.open("rb") as file:
            head, info = file.read(2000).split(b"\n", 2), path.stat()
            if head[0] == MAGIC:
                entries.append(Entry(head[1].decode(errors="replace"), path, info.st_size, info.st_mtime))
    return sorted(entries, key=lambda e: -e.used)


def clear_cache() -> int:
    """Delete every kernel on disk; returns how many there were."""
    entries = list_cache()
    for entry in entries:
        entry.path.unlink(missing_ok=True)
    return len(entries)


def _evict(keep: Path) -> None:
    """Delete the kernels used longest ago until the rest fits."""
    found = []
    with contextlib.suppress(OSError), os.scandir(keep.parent) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                info = entry.stat()
                found.append((info.st_mtime, info.st_size, entry.path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > LIMIT_BYTES and path != str(keep):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _private_folder(*, create: bool) -> Path | None:
    """The folder if it is there (or can be made) and is the user's alone."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.stat()
    except OSError as error:
        if create:
            LOG.warning("no kernel cache in %s: %s", folder, error)
        return None
    if not _is_ours(info, 0o022):
        LOG.warning(
            "%s belongs to another user or others may write it; it is not used (chmod 700 it)", folder
        )
        return None
    return folder


def _is_ours(info: os.stat_result, forbidden: int) -> bool:
    """Whether a file or folder is this user's and closed to others (where the platform has such modes)."""
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid == os.getuid() and not stat.S_IMODE(info.st_mode) & forbidden
