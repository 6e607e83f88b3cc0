"""Torques by look-up: error against memory, a load picked up, and the time of a look-up beside compiled torques.

    python benchmarks/tables.py [--out benchmarks/results/tables.json] [--quick]

Three methods (Albus, Raibert, Horn and Raibert), three arms (RR, the three large joints of the PUMA, the whole PUMA),
three interpolations. The error is that of random states within the table, root mean square over all joints, relative
to the root mean square of the torques. Times are of a batch, one thread, calls against calls in one run: torques,
the compiled look-up of `table.torques`, the C of `table.to_c()` compiled with -O3 -march=native and the look-up in
NumPy take turns, and the least of their times counts. Tables of several sizes are timed at random states, so that
those that do not fit into a cache pay for it.
"""

import argparse
import ctypes
import json
import platform
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.tabulated.methods import frictionless
from forearm.tabulated.stencils import ORDERS

RESULTS = Path(__file__).parent / "results" / "tables.json"
SPEED, ACCELERATION = 2.0, 5.0
MOST = 256 << 20
"""Largest table that is filled here, in bytes."""
COUNTS = (2, 3, 4, 5, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 512, 1024)
LOADS = {"rr": 0.5, "puma560, three joints": 2.5, "puma560": 2.5}
"""Load picked up [kg] at the flange."""
FLAGS = ["-std=c99", "-O3", "-march=native", "-shared", "-fPIC"]


def arms():
    """The arms of the experiment, without friction, which no table holds."""
    puma = fa.load("puma560")
    large = puma.replace(name="puma560_3", links=puma.links[:3], configurations=())
    return {
        "rr": fa.load("rr"),
        "puma560, three joints": frictionless(large),
        "puma560": frictionless(puma),
    }


def states(arm, count, seed=1):
    """Random states within the table."""
    q, qd, qdd = arm.random_state(seed, (count,))
    return q, qd * SPEED / 2, qdd * ACCELERATION / 5


def relative(got, want):
    """Root mean square error relative to the torques."""
    return float(np.sqrt(np.mean((got - want) ** 2) / np.mean(want**2)))


def error_rows(quick=False):
    """Error against memory, and with a load that the table does not know of."""
    rows = []
    for name, arm in arms().items():
        loaded = arm.with_payload(LOADS[name], frame="flange")
        for method in ("albus", "raibert", "horn_raibert"):
            for interpolation, fewest in (("nearest", 2), ("linear", 2), ("cubic", 4)):
                rows += one_line(name, arm, loaded, method, interpolation, fewest, quick)
    return rows


def one_line(name, arm, loaded, method, interpolation, fewest, quick):
    """One method, one interpolation: finer and finer, as far as memory allows."""
    rows = []
    for points in COUNTS:
        if points < fewest or (quick and points > 4):
            continue
        wanted = dict(points=points, interpolation=interpolation, speeds=SPEED, accelerations=ACCELERATION)
        plan = fa.plan_table(arm, method, **wanted)
        if plan.bytes > MOST:
            break
        begun = time.perf_counter()
        table = fa.tabulate(arm, method, **wanted)
        filled = time.perf_counter() - begun
        corners = max(ORDERS[interpolation] ** len(grid.axes) for grid in plan.grids)
        q, qd, qdd = states(arm, max(50, min(2000, 20_000_000 // corners)))
        got = table.torques(arm, q, qd, qdd)
        row = dict(
            arm=name,
            method=method,
            interpolation=interpolation,
            points=points,
            bytes=plan.bytes,
            fill_s=filled,
        )
        row["error"] = relative(got, fa.inverse_dynamics(arm, q, qd, qdd))
        row["error_loaded"] = relative(got, fa.inverse_dynamics(loaded, q, qd, qdd))
        rows.append(row)
    return rows


def in_c(table, folder, label):
    """The look-up in C as a function of arrays."""
    source = Path(folder) / f"{label}.c"
    source.write_text(table.to_c())
    subprocess.run(["cc", *FLAGS, str(source), "-o", str(source.with_suffix(".so")), "-lm"], check=True)
    name = re.search(r"int (\w+_batch)\(", table.to_c()).group(1)
    function = getattr(ctypes.CDLL(str(source.with_suffix(".so"))), name)
    numbers = table.flat()

    def look_up(q, qd, qdd, out):
        found = function(
            ctypes.c_void_p(numbers.ctypes.data),
            ctypes.c_long(len(q)),
            *(ctypes.c_void_p(x.ctypes.data) for x in (q, qd, qdd, out)),
        )
        assert found == 0, f"axis {found}: outside"

    return look_up


def time_rows(quick=False):
    """Nanoseconds a state: compiled torques, then look-ups in tables of growing size, one thread."""
    rows, batch = [], 1000 if quick else 20_000
    cases = {
        "rr": [("linear", 32), ("cubic", 32), ("linear", 181), ("linear", 1024), ("linear", 2896)],
        "puma560, three joints": [
            ("linear", 16),
            ("cubic", 16),
            ("linear", 128),
            ("linear", 512),
            ("linear", 1448),
        ],
        "puma560": [
            ("nearest", 6),
            ("linear", 6),
            ("cubic", 6),
            ("linear", 11),
            ("linear", 16),
            ("linear", 23),
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, arm in arms().items():
            state = [np.ascontiguousarray(x) for x in states(arm, batch)]
            want, first = fa.inverse_dynamics(arm, *state), len(rows)
            rows.append(dict(arm=name, what="compiled torques", bytes=0, ns=np.inf))
            for interpolation, points in cases[name][:2] if quick else cases[name]:
                table = fa.tabulate(arm, points=points, interpolation=interpolation, most_bytes=2 << 30)
                row = dict(arm=name, what=f"horn_raibert, {interpolation}", points=points, bytes=table.nbytes)
                error = relative(table.torques(arm, *state), want)
                times = in_turns(calls_of(table, arm, state, folder, len(rows)), batch, 3 if quick else 60)
                rows.append(row | times | {"error": error})
                rows[first]["ns"] = min(rows[first]["ns"], rows[-1]["torques_ns"])
    return rows


def calls_of(table, arm, state, folder, label):
    """What is timed beside each other, by name."""
    out, c = np.empty_like(state[0]), in_c(table, folder, f"table{label}")
    flat = dict(zip(("q", "qd", "qdd"), state, strict=True))
    return {
        "torques_ns": lambda: fa.inverse_dynamics(arm, *state),
        "ns": lambda: table.torques(arm, *state),
        "c_ns": lambda: c(*state, out),
        "numpy_ns": lambda: table._plain(flat),
    }


def in_turns(calls, batch, rounds):
    """The least time of each, in ns a state; the slow one, NumPy, is asked a few times only."""
    least = dict.fromkeys(calls, np.inf)
    for call in calls.values():
        call()
    for k in range(rounds):
        for name, call in calls.items():
            if name == "numpy_ns" and k > 4:
                continue
            begun = time.perf_counter_ns()
            call()
            least[name] = min(least[name], (time.perf_counter_ns() - begun) / batch)
    return least


def caches():
    """Sizes of this machine's caches, as its kernel tells them."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = (index / "type").read_text().strip()
        if kind != "Instruction":
            found[f"L{(index / 'level').read_text().strip()}"] = (index / "size").read_text().strip()
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true", help="a few tables, to see that it runs")
    given = parser.parse_args()
    found = {
        "forearm": fa.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": processor(),
        "caches": caches(),
        "times": time_rows(given.quick),
        "errors": error_rows(given.quick),
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(f"written: {given.out}")


def processor():
    """The processor's own name, where the kernel tells it."""
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.machine()


if __name__ == "__main__":
    main()
