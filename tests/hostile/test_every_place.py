"""Every writer at every odd place: one sentence before anything long is computed, or the file as it should be.

The tables are in every_writer.py and odd_places.py. In each pair: no error that is not for a person, nothing half
written or changed that should not be, nothing waited for. And what comes in the middle: full disks, folders that
vanish, inputs that are outputs, two outputs in one place, outputs of which one fails.
"""

import errno
import importlib
import inspect
import io
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import typing
from contextlib import contextmanager
from pathlib import Path

import pytest

import forearm as fa
from forearm.cli.hyphens import Hyphen, _meaning
from forearm.cli.verbs import VERBS
from forearm.outside import output_files
from hostile.every_writer import CALLS, PLACE, VERBS_OUT, WRITERS, Writer, ask, inputs
from hostile.odd_places import EITHER, LATE, PLACES, REFUSED, WRITTEN
from shares import quickly

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices are a matter of POSIX")

SOURCES = Path(fa.__file__).parent
PATIENCE = 20.0
"""Seconds after which something hangs."""
SOON = {"torque -o", "emit -o", "stream npy", "write_toml"}
"""Writers whose pairs are in the quick tests, one in a few."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs(tmp_path)
    return tmp_path


def tree(folder):
    """All that is in a folder, links not followed."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(place, name)
            mode = path.lstat().st_mode
            held = (
                os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else b""
            )
            found[str(path.relative_to(folder))] = (mode, held)
    return found


@contextmanager
def patience():
    """Whoever waits longer hangs."""

    def hangs(*_):
        raise RuntimeError("it hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def asked(writer, given, monkeypatch, **more):
    """What came of it; never an error that is not for a person."""
    if writer.needs:
        pytest.importorskip(writer.needs)
    with patience():
        heard = ask(writer, given, monkeypatch, **more)
    assert heard.code in (0, 1, 2), heard.err
    assert "Traceback" not in heard.err
    if heard.code == 2 and writer.shell:
        assert len([line for line in heard.err.splitlines() if line.startswith("forearm: ")]) == 1, heard.err
    return heard


def files_of(writer, lands):
    """Where content is, once it is written."""
    return [f"{lands}/{name}" for name in writer.folder] or [lands]


def check_written(writer, lands, before, after):
    """The content is there, and nothing else changed."""
    places = [os.path.normpath(place) for place in files_of(writer, lands)]
    for place in places:
        assert place in after
        assert after[place] != before.get(place)
        assert stat.S_ISDIR(after[place][0]) if writer.store else len(after[place][1]) > 10
    others = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert not [
        name
        for name in others
        if not any(name == p or name.startswith(f"{p}/") or p.startswith(f"{name}/") for p in places)
    ]


PAIRS = quickly(
    [
        pytest.param(writer, place, id=f"{writer.name}, {place.name}")
        for writer in WRITERS.values()
        for place in PLACES
        if place.comes(writer)
    ],
    lambda writer, place: writer.name in SOON,
    one_in=3,
)


@pytest.mark.parametrize(("writer", "place"), PAIRS)
def test_every_writer_at_every_place(writer, place, folder, monkeypatch):
    given = place.make(folder, writer)
    before = tree(folder)
    heard = asked(writer, given, monkeypatch)
    after, comes = tree(folder), place.comes(writer)
    assert comes == EITHER or comes.startswith("refused" if heard.code == 2 else WRITTEN), heard.err
    assert place.says in heard.err
    if heard.code == 2:
        assert after == before
        assert comes == LATE or not heard.worked, "it was computed first"
    elif lands := place.lands(writer):
        check_written(writer, lands, before, after)
    else:
        assert after == before


# -- what comes in the middle --------------------------------------------------------------------------------------


def _old(writer, folder, monkeypatch):
    """A file of ours at the place, written as it is; gives its name."""
    name = "thing" + writer.suffix
    assert asked(writer, name, monkeypatch).code < 2
    for path in (folder / name, *(folder / name).rglob("*")):  # of another content than the next
        if path.is_file() and not writer.store and not writer.journal:
            with path.open("ab") as file:
                file.write(b" \n")
    return name


REPLACING = [w for w in WRITERS.values() if w.own or not w.asks]


@pytest.mark.parametrize("writer", quickly(REPLACING, lambda writer: writer.name in SOON))
def test_a_file_of_ours_is_replaced(writer, folder, monkeypatch):
    name = _old(writer, folder, monkeypatch)
    before = tree(folder)
    assert asked(writer, name, monkeypatch).code < 2
    after = tree(folder)
    if writer.journal or writer.store:
        assert after.keys() == before.keys()
    else:
        check_written(writer, name, before, after)


FAULTS = {
    "fsync": errno.ENOSPC,
    "replace": errno.EIO,
    "rename": errno.EIO,
    "open": errno.ENOSPC,
    "write": errno.ENOSPC,
}
"""What the system refuses, each time that it is asked in turn."""


class Refusing:
    """The system, which refuses what it is asked for the so manieth time."""

    def __init__(self, monkeypatch, call, at):
        self.at, self.asked, self.call = at, 0, call
        if call == "write":
            really = os.fdopen
            monkeypatch.setattr(
                output_files.os,
                "fdopen",
                lambda n, mode, **m: really(n, mode, **m) if mode != "wb" or m else self._file(n),
            )
            return
        really = getattr(os, call)

        def refused(*given, **more):
            if call != "open" or str(given[0]).endswith(output_files.PART):
                self.count()
            return really(*given, **more)

        monkeypatch.setattr(os, call, refused)

    def count(self):
        self.asked += 1
        if self.asked == self.at:
            raise OSError(FAULTS[self.call], os.strerror(FAULTS[self.call]))

    def _file(self, number):
        system = self

        class File(io.FileIO):
            def write(self, data):
                system.count()
                return super().write(bytes(data)[:2000])

        return io.BufferedWriter(File(number, "wb"), 1000)


@pytest.mark.more
@pytest.mark.parametrize("call", FAULTS)
@pytest.mark.parametrize("writer", REPLACING, ids=lambda writer: writer.name)
def test_a_system_that_refuses_in_the_middle_leaves_the_old_file(writer, call, folder, monkeypatch):
    if writer.journal and call != "open":
        pytest.skip("a journal that can no longer be written is said, and the sweep goes on")
    name = _old(writer, folder, monkeypatch)
    before, at = tree(folder), 0
    while True:
        at += 1 if at < 4 or call != "write" else 7
        with monkeypatch.context() as patch:
            system = Refusing(patch, call, at)
            heard = asked(writer, name, monkeypatch)
        after = tree(folder)
        if system.asked < at:
            assert heard.code < 2
            break
        if heard.code < 2 and call in ("rename", "open"):  # a probe, which has a way around it
            assert after.keys() == before.keys()
            before = after
            continue
        assert heard.code == 2, (at, heard.err)
        assert after.keys() == before.keys()
        if len(writer.folder) < 2 or (call not in ("replace", "fsync") and "demo" not in writer.name):
            assert after == before  # of several, names are given one after the other


@pytest.mark.parametrize("writer", quickly(list(WRITERS.values()), lambda writer: writer.name in SOON))
def test_a_folder_that_vanishes_meanwhile_is_one_sentence(writer, folder, monkeypatch):
    if not (writer.work or writer.fakes):
        pytest.skip("it takes no time")
    (folder / "gone").mkdir()
    heard = asked(
        writer,
        f"gone/thing{writer.suffix}",
        monkeypatch,
        before=lambda: shutil.rmtree("gone", ignore_errors=True),
    )
    assert writer.journal or writer.folder or heard.code == 2  # a folder is made anew
    assert not [name for name in tree(folder) if name.endswith(output_files.PART)]


@pytest.mark.more
@pytest.mark.parametrize("what", ["a folder", "a pipe"])
@pytest.mark.parametrize("writer", WRITERS.values(), ids=lambda writer: writer.name)
def test_what_somebody_puts_there_meanwhile_stays(writer, what, folder, monkeypatch):
    """A folder that came while rows were streamed to a store was taken for the old store; a pipe was waited for."""
    if not (writer.work or writer.fakes) or writer.folder or (what == "a pipe" and not writer.store):
        pytest.skip("it takes no time, or it writes there: into a folder, to whom it may concern")
    place = folder / f"thing{writer.suffix}"

    def put():
        if not place.exists():
            os.mkfifo(place) if what == "a pipe" else place.mkdir()
            if what == "a folder":
                (place / "kept").write_text("years of work")

    heard = asked(writer, place.name, monkeypatch, before=put)
    assert writer.journal or heard.code == 2
    assert not place.is_dir() or (place / "kept").read_text() == "years of work"
    assert not [name for name in tree(folder) if output_files.PART in name]


def _spelled(folder, name):
    (folder / "sub").mkdir()
    os.link(name, f"sub/{name}")
    (folder / f"link_{name}").symlink_to(name)
    return [name, f"./{name}", f"sub/../{name}", f"link_{name}", f"sub/{name}", str(folder / name)]


READING = quickly(
    [
        pytest.param(writer, at, id=f"{writer.name}, {writer.ask[at]}")
        for writer in VERBS_OUT
        for at, word in enumerate(writer.ask)
        if word in ("rr", "arm.toml", "log.csv", "rows.npy") and writer.suffix
    ],
    lambda writer, at: writer.name == "torque -o",
)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(("writer", "at"), READING)
def test_what_is_read_is_not_written_over(writer, at, force, folder, monkeypatch):
    """By whatever name."""
    if writer.needs:
        pytest.importorskip(writer.needs)
    if force and (
        not writer.asks or writer.name in ("convert", "convert urdf", "identify -o", "identify --report")
    ):
        pytest.skip("there is no --force, or it is for the arm's own file, too")
    word = "arm.toml" if writer.ask[at] == "rr" else writer.ask[at]
    mine = f"mine{writer.suffix}"
    shutil.copy(folder / word, folder / mine)
    places = _spelled(folder, mine)
    before = tree(folder)
    words = [mine if k == at else word for k, word in enumerate(writer.ask)] + ["--force"] * force
    for place in places:
        heard = asked(Writer(writer.name, tuple(words), fakes=writer.fakes), place, monkeypatch)
        assert heard.code == 2, place
        assert tree(folder) == before


SECOND = {
    ("torque", "rr", "log.csv"): {"-o": "a.csv", "--plot": "b.png"},
    ("torque", "rr", "log.csv", "--json"): {"-o": "a.csv", "--plot": "b.png"},
    ("torque", "rr", "log.csv", "--summary"): {"-o": "a.csv", "--plot": "b.png"},
    ("simulate", "rr", "--duration", "0.01"): {"-o": "a.csv", "--plot": "b.png"},
    ("simulate", "rr", "--duration", "0.01", "--json"): {"-o": "a.csv", "--plot": "b.png"},
    ("move", "rr", "--to", "1", "1", "--speeds", "1", "--accelerations", "1"): {
        "-o": "a.csv",
        "--plot": "b.png",
    },
    ("identify", "arm.toml", "log.csv"): {"-o": "a.toml", "--report": "b.html"},
    ("identify", "arm.toml", "log.csv", "--json"): {"-o": "a.toml", "--report": "b.html"},
    ("count", "newton_euler_notes"): {"--csv": "a.csv", "--latex": "b.tex", "--plot": "c.png"},
    ("derive", "rr", "--json"): {"-o": "a.md"},
    ("show", "rr"): {"--plot": "a.png"},
    ("reactions", "rr"): {"--plot": "a.png"},
}
"""Verbs with more than one output, stdout among them."""


def fakes_of(verb):
    """What stands for what takes long in a verb."""
    rows = [writer for writer in VERBS_OUT if writer.name.split()[0] == verb]
    return {name: fake for writer in rows for name, fake in writer.fakes.items()}


FAILING = quickly(
    [
        pytest.param(words, broken, id=f"{' '.join(words)}, {broken}")
        for words, outputs in SECOND.items()
        for broken in (*outputs, "stdout")
    ],
    lambda words, broken: words[0] == "torque" and len(words) == 3,
)


@pytest.mark.parametrize(("words", "broken"), FAILING)
def test_an_output_that_fails_takes_no_other_with_it(words, broken, folder, monkeypatch):
    """`identify … -o arm.toml --report page.html` on a disk that had room for the arm alone lost the arm."""
    outputs = SECOND[words]
    really = output_files.replacing

    @contextmanager
    def full(path):
        with really(path) as file:
            if str(path) == outputs.get(broken):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            yield file

    for module in (output_files, importlib.import_module("forearm.plots.style")):
        monkeypatch.setattr(module, "replacing", full)
    if broken == "stdout":
        monkeypatch.setattr("hostile.every_writer.OUT", lambda: FullStream())
    asking = Writer(
        "", (*words, *(word for pair in outputs.items() for word in pair)), fakes=fakes_of(words[0])
    )
    heard = asked(asking, "", monkeypatch)
    assert heard.code == 2 or (broken == "stdout" and not shown(words))
    for option, name in outputs.items():
        assert (folder / name).exists() == (option != broken), option
    if broken != "stdout" and len(outputs) == 1:
        assert heard.out


def shown(words):
    """Whether stdout gets anything beside a file: a motion's numbers go there or into it."""
    return words[0] not in ("torque", "simulate", "move") or {"--json", "--summary"} & set(words)


class FullStream(io.TextIOWrapper):
    """A stream that has room for nothing."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8")

    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


MOVE = ("move", "rr", "--to", "1", "1", "--speeds", "1", "--accelerations", "1")
SAME = {
    ("identify", "arm.toml", "log.csv"): ("-o", "--report"),
    ("count", "newton_euler_notes"): ("--csv", "--latex"),
    ("torque", "rr", "log.csv"): ("-o", "--plot"),
    ("simulate", "rr"): ("-o", "--plot"),
    MOVE: ("-o", "--plot"),
}
"""Outputs of one verb."""


@pytest.mark.more
@pytest.mark.parametrize("words", SAME, ids=lambda words: words[0])
@pytest.mark.parametrize("one", ["x", "x.png", "sub/../x", "link"])
def test_two_outputs_in_one_place_are_refused(words, one, folder, monkeypatch):
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("x")
    before = tree(folder)
    first, second = SAME[words]
    other = "x.png" if one == "x.png" else "x"
    if one == "x.png" and words[0] in ("identify", "count"):
        pytest.skip("a picture and a table")
    heard = asked(Writer("", (*words, first, one, second, other), fakes=fakes_of(words[0])), "", monkeypatch)
    assert heard.code == 2
    assert tree(folder) == before


UPPER = [w for w in WRITERS.values() if w.suffix]


@pytest.mark.more
@pytest.mark.parametrize("writer", UPPER, ids=lambda writer: writer.name)
def test_a_name_in_capitals_is_the_same_kind(writer, folder, monkeypatch):
    name = f"THING{writer.suffix.upper()}"
    before = tree(folder)
    assert asked(writer, name, monkeypatch).code < 2
    lands = f"{name}.npz" if writer.suffix == ".npz" else name
    check_written(writer, lands, before, tree(folder))


# -- places that need the powers of root, or lack of them ----------------------------------------------------------


@pytest.fixture
def open_folder():
    """A folder that everybody gets to."""
    place = Path(tempfile.mkdtemp(dir="/tmp", prefix="forearm-places-"))
    place.chmod(0o777)
    here = os.getcwd()
    os.chdir(place)
    inputs(place)
    for path in place.iterdir():
        path.chmod(0o644)
    yield place
    os.chdir(here)
    shutil.rmtree(place)


@contextmanager
def nobody():
    """As somebody without the powers of root."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.more
@pytest.mark.parametrize("what", ["a folder", "a file", "a folder above"])
@pytest.mark.parametrize("writer", WRITERS.values(), ids=lambda writer: writer.name)
def test_what_may_not_be_written_to_is_told_before_anything_is_computed(
    writer, what, open_folder, monkeypatch
):
    if what == "a file" and (writer.folder or writer.store):
        pytest.skip("its place is a folder")
    monkeypatch.setenv("FOREARM_CACHE", "off")
    asked(writer, f"warm{writer.suffix}", monkeypatch)  # libraries are loaded as root
    place = open_folder / "kept"
    place.mkdir(mode=0o755 if what != "a file" else 0o777)
    place.chmod(0o555 if what != "a file" else 0o777)
    name = (
        f"kept/sub/thing{writer.suffix}"
        if what == "a folder above" and writer.folder
        else f"kept/thing{writer.suffix}"
    )
    if what == "a file":
        (open_folder / name).write_text("years of work")
        (open_folder / name).chmod(0o444)
    before = tree(open_folder)
    with nobody():
        heard = asked(writer, name, monkeypatch)
    assert heard.code == 2
    assert tree(open_folder) == before
    assert not heard.worked


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a few mebibytes."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.more
@pytest.mark.parametrize("writer", REPLACING, ids=lambda writer: writer.name)
def test_a_disk_that_becomes_full_leaves_the_old_file(writer, small_disk, folder, monkeypatch):
    if writer.journal:
        pytest.skip("a journal that can no longer be written is said, and the sweep goes on")
    name = f"disk/{Path(_old(writer, folder, monkeypatch)).name}"
    assert asked(writer, name, monkeypatch).code < 2
    refused = 0
    for pages in (0, 1, 2, 4, 64):
        filler = small_disk / "filler"
        room = os.statvfs(small_disk)
        filler.write_bytes(bytes(max(0, room.f_bavail - pages) * room.f_frsize))
        before = tree(folder)
        heard = asked(writer, name, monkeypatch)
        after = tree(folder)
        assert after.keys() == before.keys()
        if heard.code == 2:
            refused += 1
            assert "No space left" in heard.err
            assert after == before
        filler.unlink()
    assert refused
    assert asked(writer, name, monkeypatch).code < 2


# -- the tables are whole ------------------------------------------------------------------------------------------

NO_PLACES = {
    "convert": {"to"},
    "reach": {"frame"},
    "move": {"via"},
    "torque": {"formulation"},
    "simulate": {"method"},
    "sweep": {"motions"},
    "view": {"formulations"},
    "identify": {"log", "validate", "loaded"},
    "watch": {"log", "untouched"},
    "count": {"formulation", "quantity", "convention"},
    "derive": {"formulation"},
    "emit": {"functions", "free", "rollouts"},
    "bench": {"quantity", "formulation"},
}
"""Words of verbs that are no places to write to."""
WRITING = {
    "cli/inputs.py": "torque -o",
    "cli/verbs/arm_verbs.py": "convert",
    "cli/verbs/page_verbs.py": "view -o",
    "compiler/browser_modules.py": "emit_wasm",
    "compiler/sources/c99.py": "emit_c",
    "compiler/sources/controller.py": "emit_c",
    "compiler/wasm/module_files.py": "emit_wasm",
    "demo/tour.py": "run_demo",
    "identification/identified.py": "Identified.write",
    "motion/motion_files.py": "write_motion",
    "page/live_view.py": "View.save",
    "page/motion_report.py": "Report.save",
    "plots/style.py": "plots.save",
    "simulation/records.py": "Record.to_npz",
    "streams/row_sinks.py": "stream npy",
    "sweeps/journal.py": "sweep",
    "tabulated/table_headers.py": "table.save",
    "writers/toml.py": "write_toml",
    "writers/urdf.py": "write_urdf",
}
"""Modules that write files -> one of the rows that goes through them."""
OPENS = {
    "write_text",
    "write_bytes",
    "replacing",
    "replacing_text",
    "write_files",
    "folder_of_files",
    "unfinished",
}


def test_every_output_of_every_verb_is_in_the_table():
    known = {(w.name.split()[0], w.ask[w.ask.index(PLACE) - 1].lstrip("-")) for w in VERBS_OUT}
    for rows in VERBS.values():
        for verb, file in rows.items():
            function = getattr(importlib.import_module(f"forearm.cli.verbs.{file}"), verb.replace(" ", "_"))
            hints = typing.get_type_hints(function, include_extras=True)
            for name in inspect.signature(function).parameters:
                meant, written = _meaning(hints[name]), str(hints[name])
                if meant is Hyphen.STDIN or name in NO_PLACES.get(verb, ()):
                    continue
                if meant is Hyphen.STDOUT or "Path" in written or "str" in written.replace("Literal", ""):
                    if "Literal" in written:
                        continue
                    rows_of_it = {option for one, option in known if one == verb}
                    spelled = {name, {"out": "o"}.get(name, name)}
                    positional = name in ("target",) and verb in ("convert", "excite")
                    assert positional or spelled & rows_of_it, f"{verb}: {name} has no row in every_writer.py"


def _texts():
    return {
        path.relative_to(SOURCES).as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCES.rglob("*.py")
    }


def test_every_module_that_writes_files_is_in_the_table():
    importing = re.compile(r"^ *from forearm\.outside\.output_files import (\([^)]*\)|.*)$", re.MULTILINE)
    found = {
        name
        for name, text in _texts().items()
        if any(OPENS & set(re.findall(r"\w+", words)) for words in importing.findall(text))
    }
    assert found == set(WRITING)
    assert set(WRITING.values()) <= set(WRITERS)


def test_nothing_is_opened_to_be_written_but_by_output_files():
    own = {
        "outside/output_files.py",
        "outside/file_places.py",
        "compiler/store/files.py",
        "compiler/store/machine_locks.py",
    }
    opening = re.compile(r"open\([^)\n]*[\"'][wax]b?\+?[\"']|\"r\+b?\"|\.tofile\(|\.touch\(|os\.O_CREAT")
    found = {name: opening.findall(text) for name, text in _texts().items() if name not in own}
    nowhere = {"cli/standard_streams.py": ['open(os.devnull, "w"']}
    assert {name: words for name, words in found.items() if words} == nowhere


def test_the_tables_have_no_name_twice():
    assert len(WRITERS) == len(VERBS_OUT) + len(CALLS)
    assert len({place.name for place in PLACES}) == len(PLACES)
    assert {REFUSED, WRITTEN} <= {place.comes(WRITERS["torque -o"]) for place in PLACES}
