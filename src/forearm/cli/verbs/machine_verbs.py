"""Verbs about code and the machine: emit, bench, doctor, cache."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    check_places,
    doubted,
    refuse_names_of_pages,
    refuse_to_overwrite,
    refuse_what_is_read,
    refuse_what_leads_away,
    robot_of,
    writing,
    written,
)
from forearm.cli.measures import Number, Whole
from forearm.cli.option_groups import AS_WRITTEN, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Shared, note, print_json, progress, table, verdict_style
from forearm.outside.escapes import terminal

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=1, negative=())]


def emit(
    arm: Source,
    /,
    *,
    functions: Words = ("inverse_dynamics",),
    free: Words = (),
    dtype: Literal["float64", "float32"] = "float64",
    to: Literal["c", "wasm", "llvm", "numpy", "ptx"] | None = None,
    wasm: Flag = False,
    rollouts: Words = (),
    apart: Flag = False,
    out: Out | None = None,
    force: Flag = False,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Write code of an arm: C99 for a controller with its self-test, WebAssembly, or the source of one kernel.

    Parameters
    ----------
    arm
        Name or file of the arm.
    functions
        Quantities: inverse_dynamics, mass_matrix, gravity_torque, forward_dynamics, …
    free
        Parameters that stay arguments: payload, links[2].mass, …
    dtype
        float64 (unless told otherwise) or float32.
    to
        c and wasm write a folder; llvm, numpy and ptx print the source of one kernel.
    wasm
        The same as --to wasm: a module, its loader in JavaScript, types for TypeScript.
    rollouts
        Simulations in the module, as scheme and law: rk4:torque, rk4:computed_torque, euler:pd, …
    apart
        WebAssembly of what divides by M ten times faster, its last digits not those of the CPU kernel.
    out
        Folder for C and WebAssembly (out); file for the others (- is stdout).
    """
    from forearm.faults import StateFault

    kind = _one_target(to, wasm)
    found = robot_of(arm, reading=reading, shared=shared)
    if kind in ("c", "wasm") and out == STDIO:
        raise StateFault(f"emit: --to {kind} writes a folder, and --out is -; give the folder's name.")
    folder = "out" if out is None else out
    if kind in ("c", "wasm"):
        refuse_what_leads_away([folder] if out is None else [], force)
    if kind == "wasm":
        _module(found, functions, free, dtype, rollouts, apart, folder, force, shared)
        return
    if rollouts or apart:
        named = "--rollouts are simulations in" if rollouts else "--apart says how to round in"
        raise StateFault(f"emit: {named} WebAssembly; add --wasm.")
    if kind == "c":
        from forearm.compiler.sources.c99 import file_names
        from forearm.compiler.sources.controller import emit_c

        places = [Path(folder) / name for name in file_names(found.name)]
        refuse_to_overwrite(places, force, ours=b" by forearm ")
        refuse_what_leads_away(places, force)
        written = emit_c(found, folder, functions, dtype=dtype, free=free)
        if shared.json:
            print_json({"arm": found.name, "functions": functions, "written": written} | doubted(found))
        else:
            print("\n".join(terminal(str(path)) for path in written))
        return
    _one_source(found, functions, free, dtype, kind, STDIO if out is None else out, force, shared, arm)


def _one_target(to: str | None, wasm: bool) -> str:
    from forearm.faults import StateFault

    if wasm and to not in (None, "wasm"):
        raise StateFault(f"emit: --wasm and --to {to} are two things; give one of them.")
    return "wasm" if wasm else to or "c"


def _module(
    arm: Any,
    functions: Words,
    free: Words,
    dtype: str,
    rollouts: Words,
    apart: bool,
    out: str,
    force: bool,
    shared: Shared,
) -> None:
    from forearm.compiler.browser_modules import emit_wasm
    from forearm.compiler.wasm.module_files import file_names
    from forearm.faults import StateFault

    if dtype != "float64":
        raise StateFault(
            f"emit: --dtype {dtype} is not for WebAssembly, which computes in float64; leave it out."
        )
    module, *texts = (Path(out) / name for name in file_names(arm.name))
    refuse_to_overwrite(texts, force, ours=b" by forearm ")
    # a module does not say whose it is; the loader beside it does
    refuse_to_overwrite([module], force, ours=b"\0asm" if texts[0].is_file() else None)
    refuse_what_leads_away([module, *texts], force)
    written = emit_wasm(arm, out, functions, free=free, rollouts=rollouts, apart=apart)
    if shared.json:
        print_json(
            {"arm": arm.name, "functions": functions, "rollouts": rollouts, "written": written} | doubted(arm)
        )
    else:
        print("\n".join(terminal(str(path)) for path in written))


def _one_source(
    arm: Any,
    functions: Words,
    free: Words,
    dtype: str,
    to: str,
    out: str,
    force: bool,
    shared: Shared,
    source: str,
) -> None:
    from forearm.compiler.pipeline import compile
    from forearm.faults import StateFault

    if len(functions) != 1:
        raise StateFault(
            f"emit: --to {to} prints one kernel, but {len(functions)} functions were given; give one."
        )
    if to == "numpy" and dtype != "float64":
        raise StateFault(
            f"emit: --dtype {dtype} is not for NumPy, whose text computes in the dtype of its inputs; leave it out."
        )
    refuse_names_of_pages(out, f"a source for {to}", {"llvm": ".ll", "numpy": ".py"}.get(to, ".ptx"))
    check_places(out)
    refuse_what_is_read(out, source)
    refuse_to_overwrite([out], force)
    kernel = compile(arm, functions[0], dtype=dtype, free=free)
    text = kernel.source(to)
    if not shared.json or out != STDIO:
        with writing(out) as file:
            file.write(text + "\n")
    if shared.json:
        about = {"arm": arm.name, "function": functions[0], "to": to} | doubted(arm)
        print_json(about | written(out) | {"source": text})


def bench(
    arm: Source,
    /,
    *,
    batch: Whole = 100_000,
    seconds: Number = 0.5,
    quantity: str = "inverse_dynamics",
    formulation: str | None = None,
    threads: Whole = 1,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Time a quantity here: first call, one state, a batch; and a plain NumPy recursion beside it.

    The stopwatch is around the Python call, arrays ready. `make bench` times the peers too.

    Parameters
    ----------
    arm
        Name or file of the arm.
    batch
        Rows of the batch (100000).
    seconds
        How long to repeat each measurement (0.5).
    quantity
        inverse_dynamics, forward_dynamics, mass_matrix, gravity_torque, bias_torque.
    formulation
        A paper's stem (see forearm count), whose kernel is timed; the one that is chosen for the arm otherwise.
    threads
        Threads that share the batch (1).
    """
    from forearm.stopwatch import timings

    found = robot_of(arm, reading=reading)
    with progress(shared, f"timing {found.name}") as tell:
        result = timings(found, quantity, batch, seconds, threads, tell, formulation)
    if shared.json:
        print_json(result)
        return
    rows = [
        (row["what"], row["median"], row["fastest"], row["runs"], row["remark"]) for row in result["rows"]
    ]
    title = (
        f"{quantity} of {found.name} by {result['formulation']}, {result['operations']} operations a state"
    )
    table(shared, ("what", "median", "fastest", "runs", "remark"), rows, title=title, left=(0, 4))
    for what, value in result["machine"].items():
        print(f"{what}: {value}")


def doctor(*, shared: Shared = PLAIN) -> int:
    """Look at this machine: versions, processor, GPU, which targets work; then test forearm on it.

    Exit code 1 if the self-test fails.
    """
    from forearm.cli.diagnosis import facts, self_tests

    known = facts()
    with progress(shared, "testing") as tell:
        tests = self_tests(tell)
    good = all(test.verdict != "FAIL" for test in tests)
    if shared.json:
        rows = [{"test": test.what, "verdict": test.verdict, "detail": test.detail} for test in tests]
        print_json({"facts": known, "tests": rows, "passed": good})
        return OK if good else FOUND
    table(shared, ("", ""), list(known.items()), left=(0, 1))
    rows_shown = [(test.verdict, test.what, test.detail) for test in tests]
    table(shared, ("", "test", ""), rows_shown, left=(0, 1, 2), styles=verdict_style)
    return OK if good else FOUND


def cache_list(*, shared: Shared = PLAIN) -> None:
    """List the kernels on disk, the last used first."""
    from datetime import UTC, datetime

    from forearm.compiler.store.files import cache_folder, list_cache

    entries = list_cache()
    if shared.json:
        rows = [{"name": e.name, "path": e.path, "bytes": e.size, "used": e.used} for e in entries]
        print_json({"folder": cache_folder(), "kernels": rows})
        return
    note(shared, f"folder: {cache_folder() or 'off'}")
    when = (datetime.fromtimestamp(e.used, UTC).strftime("%Y-%m-%d %H:%M") for e in entries)
    rows_shown = [(e.name, f"{e.size / 1e3:.1f} kB", w) for e, w in zip(entries, when, strict=True)]
    table(shared, ("kernel", "size", "last used (UTC)"), rows_shown)


def cache_clear(*, shared: Shared = PLAIN) -> None:
    """Delete every kernel on disk; they are built anew when needed."""
    from forearm.compiler.store.files import clear_cache

    count = clear_cache()
    if shared.json:
        print_json({"deleted": count})
    else:
        print(f"{count} kernels deleted")
