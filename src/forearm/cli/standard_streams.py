"""The three streams of the command line: closed ones, ones that know no Unicode, sentences on stderr."""

import codecs
import errno
import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from forearm.outside.escapes import terminal
from forearm.outside.waiting_files import WaitingFile

ESCAPED = "forearm.escaped"
"""How characters are written that a stream's encoding lacks: as JSON does, so that JSON stays JSON."""


class Closed(io.TextIOBase):
    """Stands for a stream that the caller closed; whoever uses it is told."""

    def __init__(self, name: str) -> None:
        """Say which."""
        self._name = name

    def _refuse(self, *_: Any) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed", self._name)

    read = readline = write = _refuse  # type: ignore[assignment]


NARROWEST, WIDEST = 10, 999
"""Columns of a terminal; lines of help are filled up to its width, whatever the environment says it is.

In a column of one letter or two they would be folded without end.
"""
DIGITS = 10
"""So many of them are no size of a terminal."""


def make_ready() -> None:
    """Put something in the place of closed streams, let no character fail and no line be without end."""
    columns = _columns()
    if columns is not None and not NARROWEST <= columns <= WIDEST:
        os.environ["COLUMNS"] = str(min(max(columns, NARROWEST), WIDEST))
    for size in ("COLUMNS", "LINES"):
        told = os.environ.get(size, "0")
        if not (told.isdecimal() and len(told) < DIGITS):  # who draws tables takes a ² for a number
            del os.environ[size]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _occupy(number)
            setattr(sys, name, Closed(name) if name != "stderr" else open(os.devnull, "w", encoding="utf-8"))
        elif (
            name != "stdin"
            and hasattr(stream, "reconfigure")
            and stream.errors in ("strict", "surrogateescape")
        ):
            stream.reconfigure(errors=ESCAPED)
    _wait_for_streams()


def _wait_for_streams() -> None:
    """Have streams that do not block (another process that shares them wants it so) waited for, as others are."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        with suppress(
            OSError, ValueError, AttributeError
        ):  # a stream without a number, or a system without such
            if isinstance(stream, io.TextIOWrapper) and not os.get_blocking(stream.fileno()):
                setattr(sys, name, _waited_for(stream))


def _waited_for(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    stream.flush()
    if stream.readable():
        file: Any = io.BufferedReader(WaitingFile(stream.fileno(), "rb", closefd=False))
    else:
        file = io.BufferedWriter(WaitingFile(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(file, stream.encoding, stream.errors, line_buffering=stream.line_buffering)


def _columns() -> int | None:
    """How wide lines of help would be: as the environment says, or the first terminal; None where neither does."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal():
        return int(told[: len(str(WIDEST)) + 1])
    for number in range(3):
        with suppress(OSError):
            return os.get_terminal_size(number).columns or None
    return None


def _occupy(number: int) -> None:
    """A file that is opened later must not become stdout."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{a:02x}{b:02x}" for a, b in zip(units[::2], units[1::2], strict=True)), error.end


codecs.register_error(ESCAPED, _escaped)


def remark(text: str) -> None:
    """A line on stderr; where nobody can read it, the result on stdout is not lost for it."""
    with suppress(OSError):
        print(text, file=sys.stderr)


class _Instead:
    """Stands for a stream; what is not said otherwise is the stream's own."""

    def __init__(self, stream: Any) -> None:
        """Of this stream."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own."""
        return getattr(self._stream, name)


class Stdout(_Instead):
    """stdout whose errors bear its name; an error that names no file is then somebody else's."""

    def write(self, text: str) -> int:
        """Write."""
        with named("stdout"):
            return int(self._stream.write(text))

    def flush(self) -> None:
        """What is held goes."""
        with named("stdout"):
            self._stream.flush()


@contextmanager
def named(stream: str) -> Iterator[None]:
    """An error of the system that names no file is this stream's in here."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, stream) from error
        raise


class Unheard(_Instead):
    """A stream whose words may get lost: a terminal that went away takes no result with it."""

    def write(self, text: str) -> int:
        """Write, where somebody is there."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """What is held goes, where somebody is there."""
        with suppress(OSError):
            self._stream.flush()


def complain(sentence: str) -> None:
    """A sentence on stderr, harmless for a terminal whatever names it holds."""
    remark(f"forearm: {terminal(sentence)}")


class _Note(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"note: {terminal(record.getMessage())}"


TOLD: set[str] = set()
"""Notes that stand on stderr: a verb tells those of its arm before the library asks about them."""


def tell_of_long_work(words: Sequence[str]) -> None:
    """Show a person at stderr what the library logs for one: its warnings, and that something will take minutes."""
    if "--quiet" in words or "--json" in words:
        return
    handler = logging.StreamHandler()
    handler.addFilter(
        lambda record: (
            record.getMessage() not in TOLD
            and (record.levelno >= logging.WARNING or getattr(record, "for_a_person", False))
        )
    )
    handler.setFormatter(_Note())
    log = logging.getLogger("forearm")
    log.addHandler(handler)
    log.setLevel(logging.INFO)


class _Heard(logging.Handler):
    """Keeps what the library warns of, for a document that nobody reads stderr beside."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.sentences: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.sentences.append(record.getMessage())


HEARD = _Heard()


@contextmanager
def hearing(words: Sequence[str]) -> Iterator[None]:
    """Keep the library's warnings in here, where JSON is asked for; each document has those that came before it."""
    HEARD.sentences.clear()
    TOLD.clear()
    log = logging.getLogger("forearm")
    if "--json" in words:
        log.addHandler(HEARD)
    try:
        yield
    finally:
        log.removeHandler(HEARD)
