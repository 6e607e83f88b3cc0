"""Everything that forearm writes: each verb with each of its outputs, and each public call that writes.

A row says how to ask for it, what its place is called at the end, and what it does with what stands there. What takes
long is worked out once, and whether it was asked for is counted: a place that is no good is told before.
"""

import contextlib
import importlib
import io
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import forearm as fa
from cli.verbs import MOTION
from forearm.cli.process import run
from forearm.page.document import MARK

PLACE = "PLACE"
"""Stands for the place in the words of a verb."""
MOVE = ("move", "rr", "--to", "1", "1", "--speeds", "1", "--accelerations", "1", "--rows", "5")
SIMULATE = ("simulate", "rr", "--duration", "0.01")
IDENTIFY = ("identify", "arm.toml", "log.csv")
SWEEP = (
    "sweep",
    "rr",
    "log.csv",
    "--payload",
    "0",
    "1",
    "--samples",
    "4",
    "--instants",
    "3",
    "--workers",
    "1",
)


@dataclass(frozen=True)
class Writer:
    """One output of a verb, or a call."""

    name: str
    ask: Any
    """Words of the command line with PLACE in them, or a function of the place."""
    suffix: str = ""
    """How the name of its file ends; nothing for a folder of files."""
    work: str = ""
    """What takes long, module and name: not called where the place is known to be no good."""
    asks: bool = False
    """Whether it writes over what is not its own only with --force."""
    own: bool = False
    """Whether it writes over its own all the same."""
    folder: tuple[str, ...] = ()
    """The files that it writes into a folder, which is the place."""
    seeks: bool = False
    """Whether it goes back in its file, which no pipe lets it."""
    journal: bool = False
    """Whether it reads what is there, and goes on from it."""
    reads: tuple[str, ...] = ()
    """Files that the same words read."""
    needs: str = ""
    """A library that not everybody has."""
    fakes: dict[str, Any] = field(default_factory=dict)
    """What stands for more that takes long."""

    @property
    def store(self) -> bool:
        """Whether it is a folder that is replaced as a whole."""
        return self.suffix == ".zarr"

    @property
    def shell(self) -> bool:
        """Whether it is a verb."""
        return isinstance(self.ask, tuple)


def OUT() -> io.TextIOWrapper:
    """What stands for stdout."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


@dataclass
class Heard:
    """What came of asking."""

    code: int
    """0, 1 or 2 as the command line has it; 3 for an error that is not for a person."""
    out: str
    err: str
    worked: int
    """How often what takes long was asked for."""


def _demo_page(_):
    return f"<!doctype html>{MARK}<p>report</p>"


DEMO = {
    "forearm.demo.tour._find": lambda _: SimpleNamespace(agreement=[]),
    "forearm.demo.tour._page": _demo_page,
    "forearm.demo.tour._summary": lambda _: {"forearm": "0"},
}
PUT = "forearm.streams.row_sinks._{}.put"
C = tuple(f"rr{end}" for end in (".h", ".c", "_selftest.c"))
WASM = tuple(f"rr{end}" for end in (".wasm", ".js", ".d.ts"))
BEST = "forearm.compiler.sources.controller.best_graph"


def _stream(suffix: str) -> Any:
    return lambda place: fa.stream(_rr(), "inverse_dynamics", "rows.npy", place)


def _sweep(place: Any) -> Any:
    return fa.sweep(
        "gravity_torque", {"q": fa.Uniform([-1, -1], [1, 1])}, arm=_rr(), samples=4, workers=1, journal=place
    )


@cache
def _rr() -> Any:
    return fa.load("rr")


@cache
def _record() -> Any:
    return fa.simulate(_rr(), [0.1, 0.2], duration=0.01)


class Sketch:
    """A picture that is drawn at once."""

    def savefig(self, file: Any, format: str) -> None:
        """Write it."""
        file.write(b"\x89PNG of nothing" * 100)


@cache
def _figure() -> Any:
    return Sketch()


@cache
def _table() -> Any:
    return fa.tabulate(_rr(), points=3)


@cache
def _identified() -> Any:
    from forearm.motion.motion_files import write_columns
    from identification.synthetic import log_of, motion_of

    log = log_of(_rr(), motion_of(_rr(), duration=4.0, seed=1), rate=200.0, seed=0)
    columns = {"t": log["t"]} | {f"{k}{i}": log[k][:, i - 1] for k in ("q", "tau") for i in (1, 2)}
    text = io.StringIO()
    write_columns(text, columns)
    Path("for_identify.csv").write_text(text.getvalue())
    try:
        made = fa.identify(_rr(), "for_identify.csv")
        page = made.html()
        object.__setattr__(made, "html", lambda: page)
        return made
    finally:
        Path("for_identify.csv").unlink()


@cache
def _view() -> Any:
    return fa.view(_rr())


@cache
def _report() -> Any:
    return fa.report(_rr(), fa.point_to_point(_rr(), [0, 0], [1, 1], speeds=1.0, accelerations=1.0))


@cache
def _motion() -> Any:
    return fa.excite(_rr(), duration=4.0, generations=0)


@cache
def _observer() -> Any:
    return fa.observer(_rr())


def _write_motion(place: Any) -> Any:
    from forearm.motion.motion_files import write_motion

    return write_motion(_motion(), _rr(), place, times=5)


def _save_figure(place: Any) -> Any:
    from forearm import plots

    return plots.save(_figure(), place)


def _run_demo(place: Any) -> Any:
    from forearm.demo import run_demo

    return run_demo(place)


def instead(made: Callable[[], Any]) -> Any:
    """What stands for a function that takes long; made before it stands there."""

    def given(*_: Any, **__: Any) -> Any:
        return made()

    given.made = made
    return given


IDENTIFIED = "forearm.identification.identify"
CUSTOM = {IDENTIFIED: instead(_identified)}
VIEWED = {"forearm.page.live_view.view": instead(_view)}
REPORTED = {"forearm.page.motion_report.report": instead(_report)}
EXCITED = {"forearm.identification.excite": instead(_motion)}


def drawn(name: str) -> dict[str, Any]:
    """Pictures that are drawn at once."""
    return {f"forearm.plots.{name}": instead(_figure)}


VERBS_OUT = [
    Writer("show --plot", ("show", "rr", "--plot", PLACE), ".png", fakes=drawn("arm_figure")),
    Writer("convert", ("convert", "rr", PLACE), ".toml", asks=True),
    Writer("convert urdf", ("convert", "rr", PLACE, "--lossy"), ".urdf", asks=True),
    Writer("move -o", (*MOVE, "-o", PLACE), ".csv", "forearm.cli.verbs.move_verbs._motion"),
    Writer(
        "move --plot",
        (*MOVE, "--plot", PLACE),
        ".png",
        "forearm.cli.verbs.move_verbs._motion",
        fakes=drawn("band_figure"),
    ),
    Writer(
        "torque -o", ("torque", "rr", "log.csv", "-o", PLACE), ".csv", "forearm.dynamics.inverse_dynamics"
    ),
    Writer(
        "torque --plot",
        ("torque", "rr", "log.csv", "--plot", PLACE),
        ".png",
        "forearm.dynamics.inverse_dynamics",
        fakes=drawn("torque_figure"),
    ),
    Writer("torque npy", ("torque", "rr", "rows.npy", "-o", PLACE), ".npy", PUT.format("Npy"), seeks=True),
    Writer("torque long csv", ("torque", "rr", "rows.npy", "-o", PLACE), ".csv", PUT.format("Text")),
    Writer(
        "torque zarr", ("torque", "rr", "rows.npy", "-o", PLACE), ".zarr", PUT.format("Zarr"), needs="zarr"
    ),
    Writer(
        "torque parquet",
        ("torque", "rr", "rows.npy", "-o", PLACE),
        ".parquet",
        PUT.format("Parquet"),
        needs="pyarrow",
    ),
    Writer("reactions --plot", ("reactions", "rr", "--plot", PLACE), ".png", fakes=drawn("free_body_figure")),
    Writer("simulate -o", (*SIMULATE, "-o", PLACE), ".csv", "forearm.simulation.simulate"),
    Writer(
        "simulate --plot",
        (*SIMULATE, "--plot", PLACE),
        ".png",
        "forearm.simulation.simulate",
        fakes={"forearm.simulation.records.Record.plot": instead(_figure)},
    ),
    Writer(
        "sweep --journal",
        (*SWEEP, "--journal", PLACE),
        ".json",
        "forearm.sweeps.problem.Problem.take",
        journal=True,
    ),
    Writer("view -o", ("view", "rr", "-o", PLACE), ".html", asks=True, own=True, fakes=VIEWED),
    Writer(
        "report -o", ("report", "rr", "log.csv", "-o", PLACE), ".html", asks=True, own=True, fakes=REPORTED
    ),
    Writer("identify -o", (*IDENTIFY, "-o", PLACE), ".toml", asks=True, fakes=CUSTOM),
    Writer("identify --report", (*IDENTIFY, "--report", PLACE), ".html", asks=True, fakes=CUSTOM),
    Writer("excite", ("excite", "rr", PLACE, "--rate", "10"), ".csv", asks=True, fakes=EXCITED),
    Writer(
        "count --csv",
        ("count", "newton_euler_notes", "--csv", PLACE),
        ".csv",
        "forearm.cli.verbs.count_verbs._counted",
    ),
    Writer(
        "count --latex",
        ("count", "newton_euler_notes", "--latex", PLACE),
        ".tex",
        "forearm.cli.verbs.count_verbs._counted",
    ),
    Writer(
        "count --plot",
        ("count", "newton_euler_notes", "--plot", PLACE),
        ".png",
        fakes={"forearm.counting.answers.cost_figures.cost_picture": instead(_figure)},
    ),
    Writer("derive -o", ("derive", "rr", "-o", PLACE), ".md", "forearm.derivation.derive"),
    Writer("emit -o", ("emit", "rr", "-o", PLACE), "", BEST, asks=True, own=True, folder=C),
    Writer(
        "emit --wasm",
        ("emit", "rr", "--wasm", "-o", PLACE),
        "",
        "forearm.compiler.browser_modules.compile",
        asks=True,
        own=True,
        folder=WASM,
    ),
    Writer(
        "emit --to llvm",
        ("emit", "rr", "--to", "llvm", "-o", PLACE),
        ".ll",
        "forearm.compiler.pipeline.compile",
        asks=True,
    ),
    Writer(
        "demo --out",
        ("demo", "--out", PLACE),
        "",
        "forearm.demo.tour._find",
        asks=True,
        own=True,
        folder=("report.html", "demo.json"),
        fakes=DEMO,
    ),
]
"""Verbs."""

CALLS = [
    Writer("write_toml", lambda place: fa.write_toml(_rr(), place), ".toml"),
    Writer("write_urdf", lambda place: fa.write_urdf(_rr(), place, lossy=True), ".urdf"),
    Writer("emit_c", lambda place: fa.emit_c(_rr(), place), "", BEST, folder=C),
    Writer(
        "emit_wasm",
        lambda place: fa.emit_wasm(_rr(), place),
        "",
        "forearm.compiler.browser_modules.compile",
        folder=WASM,
    ),
    Writer(
        "observer.emit_c", lambda place: _observer().emit_c(place), "", BEST, folder=(*C, "rr_observer.h")
    ),
    Writer("View.save", lambda place: _view().save(place), ".html"),
    Writer("Report.save", lambda place: _report().save(place), ".html"),
    Writer("Identified.write", lambda place: _identified().write(place), ".html"),
    Writer("Record.to_csv", lambda place: _record().to_csv(place), ".csv"),
    Writer("Record.to_npz", lambda place: _record().to_npz(place), ".npz"),
    Writer("plots.save", _save_figure, ".png"),
    Writer("table.save", lambda place: _table().save(place), ".table"),
    Writer("plain table.save", lambda place: _table().save(place, compressed=False), ".table"),
    Writer("write_motion", _write_motion, ".csv"),
    Writer("stream npy", _stream(".npy"), ".npy", PUT.format("Npy"), seeks=True),
    Writer("stream csv", _stream(".csv"), ".csv", PUT.format("Text")),
    Writer("stream zarr", _stream(".zarr"), ".zarr", PUT.format("Zarr"), needs="zarr"),
    Writer("stream parquet", _stream(".parquet"), ".parquet", PUT.format("Parquet"), needs="pyarrow"),
    Writer("sweep", _sweep, ".json", "forearm.sweeps.problem.Problem.take", journal=True),
    Writer(
        "run_demo", _run_demo, "", "forearm.demo.tour._find", folder=("report.html", "demo.json"), fakes=DEMO
    ),
]
"""Calls."""

WRITERS = {writer.name: writer for writer in (*VERBS_OUT, *CALLS)}


def inputs(folder: Path) -> None:
    """What the words of the table read."""
    (folder / "log.csv").write_text(MOTION)
    fa.write_toml(_rr(), folder / "arm.toml")
    np.save(folder / "rows.npy", np.zeros((3, 6)))


def ask(writer: Writer, place: Any, patch: Any, before: Callable[[], None] = lambda: None) -> Heard:
    """Ask a writer to write to a place; `before` happens when what takes long is asked for (or else at once)."""
    worked = [0]
    for fake in writer.fakes.values():
        getattr(fake, "made", lambda: None)()

    def counting(really: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            worked[0] += 1
            before()
            return really(*given, **more)

        return counted

    with patch.context() as while_asked:
        for dotted, fake in writer.fakes.items():
            while_asked.setattr(dotted, counting(fake))
        if writer.work and writer.work not in writer.fakes:
            owner, name = _owner(writer.work)
            while_asked.setattr(owner, name, counting(getattr(owner, name)))
        out, err = OUT(), io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _code(writer, place)
        texts = (stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err))
        return Heard(code, *texts, worked[0])


def _owner(dotted: str) -> tuple[Any, str]:
    """The module or class that has a name, and the name."""
    path, name = dotted.rsplit(".", 1)
    try:
        return importlib.import_module(path), name
    except ImportError:
        owner, inner = _owner(path)
        return getattr(owner, inner), name


def _code(writer: Writer, place: Any) -> int:
    if writer.shell:
        return run([place if word == PLACE else word for word in writer.ask])
    try:
        writer.ask(place)
    except (fa.Fault, OSError) as error:
        named = isinstance(error, fa.Fault) or (error.errno is not None and error.filename is not None)
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2 if named else 3
    except Exception:
        traceback.print_exc()
        return 3
    return 0
