"""Odd places: how each is made, what is given for it, and what has to come of writing there."""

import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hostile.every_writer import Writer

WRITTEN, REFUSED, LATE, EITHER = "written", "refused", "refused late", "written or refused"
"""What has to come of it; `refused` is before anything long is computed, `late` is where nobody can know before."""
ALL, ASKS, ASKS_NOT = "all", "asks", "asks not"


@dataclass(frozen=True)
class Place:
    """A place."""

    name: str
    make: Callable[[Path, Writer], Any]
    """Make it in a folder; gives what is given to the writer, which works in that folder."""
    comes: Callable[[Writer], str]
    """What has to come of it; '' where it makes no sense for a writer."""
    lands: Callable[[Writer], str] = lambda w: "thing" + w.suffix
    """Where in the folder the content is then."""
    says: str = ""
    """Words of the refusal."""


def _name(w: Writer) -> str:
    return "thing" + w.suffix


def _foreign(path: Path, w: Writer) -> None:
    """What somebody else keeps there: a file, or a folder of files of these names."""
    if w.folder:
        path.mkdir()
        for name in w.folder:
            (path / name).write_text("years of work")
    else:
        path.write_text("years of work")


def _here(folder: Path, w: Writer) -> Any:
    return _name(w)


def _directory(folder: Path, w: Writer) -> Any:
    (folder / _name(w)).mkdir()
    (folder / _name(w) / "kept.txt").write_text("years of work")
    return _name(w)


def _file_there(folder: Path, w: Writer) -> Any:
    _foreign(folder / _name(w), w)
    return _name(w)


def _folder_is_a_file(folder: Path, w: Writer) -> Any:
    (folder / _name(w)).write_text("years of work")
    return _name(w)


def _missing(folder: Path, w: Writer) -> Any:
    return f"nosuch/{_name(w)}"


def _below_a_file(folder: Path, w: Writer) -> Any:
    (folder / "file").write_text("years of work")
    return f"file/{_name(w)}"


def _dangling(folder: Path, w: Writer) -> Any:
    (folder / "elsewhere").mkdir()
    (folder / _name(w)).symlink_to("elsewhere/new")
    return _name(w)


def _dangling_far(folder: Path, w: Writer) -> Any:
    (folder / _name(w)).symlink_to("nosuch/new")
    return _name(w)


def _to_foreign(folder: Path, w: Writer) -> Any:
    (folder / "elsewhere").mkdir()
    _foreign(folder / "elsewhere" / "old", w)
    (folder / _name(w)).symlink_to("elsewhere/old")
    return _name(w)


def _loop(folder: Path, w: Writer) -> Any:
    (folder / _name(w)).symlink_to(_name(w))
    return _name(w)


def _loop_above(folder: Path, w: Writer) -> Any:
    (folder / "circle").symlink_to("circle")
    return f"circle/{_name(w)}"


def _to_folder(folder: Path, w: Writer) -> Any:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "kept.txt").write_text("years of work")
    (folder / _name(w)).symlink_to("elsewhere")
    return _name(w)


def _to(device: str) -> Callable[[Path, Writer], Any]:
    def make(folder: Path, w: Writer) -> Any:
        (folder / _name(w)).symlink_to(device)
        return _name(w)

    return make


def _pipe(folder: Path, w: Writer) -> Any:
    """With a reader, who reads whatever comes."""
    os.mkfifo(folder / _name(w))
    number = os.open(folder / _name(w), os.O_RDONLY | os.O_NONBLOCK)
    threading.Thread(target=_drain, args=(number,), daemon=True).start()
    return _name(w)


def _drain(number: int) -> None:
    import select
    import time

    end, heard = time.monotonic() + 20.0, False
    while time.monotonic() < end:
        select.select([number], [], [], 0.02)
        try:
            some = os.read(number, 1 << 16)
        except BlockingIOError:
            continue
        if heard and not some:
            break
        heard = heard or bool(some)
        time.sleep(0 if some else 0.02)
    os.close(number)


def _socket(folder: Path, w: Writer) -> Any:
    made = socket.socket(socket.AF_UNIX)
    made.bind(_name(w))  # the writer works here
    made.close()
    return _name(w)


def _called(name: str) -> Callable[[Path, Writer], Any]:
    return lambda folder, w: name + w.suffix


def _below(name: str) -> Callable[[Path, Writer], Any]:
    return lambda folder, w: f"{name}/{_name(w)}"


def _slash(folder: Path, w: Writer) -> Any:
    return _name(w) + "/"


def _folder_slash(folder: Path, w: Writer) -> Any:
    return _directory(folder, w) + "/"


def _exactly(given: str) -> Callable[[Path, Writer], Any]:
    return lambda folder, w: given


def _no_slash_no_more(w: Writer) -> str:
    """A Path forgets the slash, so pictures and journals do not hear of it."""
    if w.folder or w.store:
        return WRITTEN
    return EITHER if w.suffix == ".png" or w.journal else REFUSED


def _same(outcome: str) -> Callable[[Writer], str]:
    return lambda w: outcome


def _file_or(folder: str, file: str) -> Callable[[Writer], str]:
    return lambda w: folder if w.folder else file


def _device(plain: str) -> Callable[[Writer], str]:
    """A device: nothing is written to it unasked; no folder, no store, and no array."""

    def comes(w: Writer) -> str:
        return REFUSED if w.folder or w.store or w.asks or w.journal else plain

    return comes


def _over(w: Writer) -> str:
    """What is there and not ours."""
    if w.store or w.journal:
        return REFUSED
    return REFUSED if w.asks else WRITTEN


def _into(w: Writer) -> str:
    return f"{_name(w)}"


def _elsewhere(w: Writer) -> str:
    return "elsewhere/new"


PLACES = [
    Place("a new name", _here, _same(WRITTEN)),
    Place("a folder", _directory, _file_or(WRITTEN, REFUSED)),
    Place("a file where a folder goes", _folder_is_a_file, lambda w: REFUSED if w.folder else ""),
    Place("a missing folder", _missing, _file_or(WRITTEN, REFUSED), lambda w: f"nosuch/{_name(w)}"),
    Place("below a file", _below_a_file, _same(REFUSED)),
    Place(
        "a link to nothing",
        _dangling,
        lambda w: REFUSED if w.asks or w.folder else WRITTEN,
        _elsewhere,
    ),
    Place("a link into a missing folder", _dangling_far, _same(REFUSED)),
    Place("a link to somebody's file", _to_foreign, _over, lambda w: "elsewhere/old"),
    Place("a link to itself", _loop, _same(REFUSED)),
    Place("below a link to itself", _loop_above, _same(REFUSED)),
    Place("a link to a folder", _to_folder, _file_or(WRITTEN, REFUSED), lambda w: "elsewhere"),
    Place("a link to /dev/null", _to("/dev/null"), _device(WRITTEN), lambda w: ""),
    Place("a link to /dev/full", _to("/dev/full"), _device(LATE)),
    Place("a link to a device in circles", _to("/dev/fd/../fd/77"), _same(REFUSED)),
    Place(
        "a pipe",
        _pipe,
        lambda w: REFUSED if w.folder or w.store else "" if w.journal else LATE if w.seeks else WRITTEN,
        lambda w: "",
    ),
    Place("a socket", _socket, _same(REFUSED)),
    Place("somebody's file", _file_there, _over),
    Place("a name too long", _called("x" * 300), _same(REFUSED), says="too long"),
    Place("a way too long", _below("/".join(["y" * 200] * 30)), _same(REFUSED)),
    Place("a name with a newline", _called("two\nlines"), _same(WRITTEN), lambda w: "two\nlines" + w.suffix),
    Place(
        "a name with an escape", _called("\x1b[31mred"), _same(WRITTEN), lambda w: "\x1b[31mred" + w.suffix
    ),
    Place(
        "a name that is no Unicode", _called("odd\udcff"), _same(WRITTEN), lambda w: "odd\udcff" + w.suffix
    ),
    Place("a name with a tilde", _called("~nobody"), _same(WRITTEN), lambda w: "~nobody" + w.suffix),
    Place("a home that nobody expands", _below("~"), _file_or(WRITTEN, REFUSED), lambda w: f"~/{_name(w)}"),
    Place("a name with a hyphen first", _called("./-x"), _same(WRITTEN), lambda w: "-x" + w.suffix),
    Place("a name with spaces", _called(" a b "), _same(WRITTEN), lambda w: " a b " + w.suffix),
    Place("a slash behind the name", _slash, _no_slash_no_more),
    Place("a folder with a slash", _folder_slash, _file_or(WRITTEN, REFUSED)),
    Place(
        "nothing", _exactly(""), lambda w: REFUSED if w.shell else "" if w.folder else REFUSED, lambda w: ""
    ),
    Place("the folder itself", _exactly("."), lambda w: "" if w.folder else REFUSED, lambda w: ""),
    Place("the folder above", _exactly(".."), lambda w: "" if w.folder else REFUSED),
    Place("the root", _exactly("/"), lambda w: "" if w.folder else REFUSED),
    Place("a file in /proc", lambda folder, w: "/proc/" + _name(w), _same(REFUSED)),
    Place("an open file that is none", lambda folder, w: "/dev/fd/77", _same(REFUSED)),
]
"""Places that anybody can make."""
