"""The content of a file from anywhere, as far as it is not too large."""

from os import fstat
from pathlib import Path

from forearm.faults import ReadFault
from forearm.outside.signal_errors import pass_on_signals

MAX_BYTES = 16 * 2**20
"""Files above this size are refused."""
LONGEST_MESSAGE = 1000
"""Letters of what is said of a file: what stands in it may be of any length."""


class GivenContent:
    """What stands for a file whose content somebody has already: no folder is needed to put it into."""

    def __init__(self, name: str, content: bytes) -> None:
        """Content, and the name that messages call it, whose suffix says what it is."""
        self.name, self.content = name, content

    def __fspath__(self) -> str:
        """Its name."""
        return self.name

    __str__ = __fspath__


def read_limited(path: str | Path | GivenContent, kind: str, most: int = MAX_BYTES) -> bytes:
    """The content of a file of `most` bytes; `kind` is what messages call it."""
    if isinstance(path, GivenContent):
        refuse_too_large(path.name, kind, len(path.content), most)
        return path.content
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)  # whatever the system says of its size: a device has none
            size = max(len(content), fstat(file.fileno()).st_size)
    except OSError as error:
        pass_on_signals()
        raise ReadFault(f"{path}: {error.strerror}; give the path of a readable {kind} file.") from None
    except ValueError:  # a zero byte, half of a surrogate pair
        raise ReadFault(f"{str(path)!r} is no name of a file; give the path of a {kind} file.") from None
    refuse_too_large(str(path), kind, size, most)
    return content


def refuse_pipe(path: str | Path | GivenContent, who: str) -> None:
    """Refuse a pipe where a library reads the file again: what was in it has been read, and nobody writes more."""
    if not isinstance(path, GivenContent) and Path(path).is_fifo():
        raise ReadFault(f"{path}: is a pipe, and {who} reads the file once more; give a plain file.")


def shortened(message: str) -> str:
    """A message, or its beginning."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} …"


def refuse_too_large(label: str, kind: str, size: int, most: int = MAX_BYTES) -> None:
    """Refuse what has more bytes than an arm."""
    if size > most:
        raise ReadFault(
            f"{label}: the file has {_size(size)}; {kind} files up to {_size(most)} are read. "
            "An arm has a few kilobytes; meshes belong in files of their own."
        )


def _size(count: int) -> str:
    return f"{count / 2**20:.3g} MiB" if count >= 2**20 else f"{count / 2**10:.3g} KiB"
