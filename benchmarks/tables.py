"""Torques by look-up: error against memory, a load picked up, and the time of a look-up beside compiled torques.

    python benchmarks/tables.py [--out benchmarks/results/tables.json] [--quick]

Three methods (Albus, Raibert, Horn and Raibert), three arms (RR, the three large joints of the PUMA, the whole PUMA),
three interpolations. The error is that of random states within the table, root mean square over all joints, relative
to the root mean square of the torques. Times are of a batch, one thread, torques against torques in one run: the
look-up is the C that `table.to_c()` gives, compiled with -O3 -march=native. Tables of several sizes are
timed at random states, so that those that do not fit into a cache pay for it.
"""

import argparse
import ctypes
import json
import platform
import re
import statistics
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
        got = looked_up(table, arm, q, qd, qdd, corners)
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


def looked_up(table, arm, q, qd, qdd, corners):
    """By NumPy; in C where thousands of points lie around a state."""
    if corners <= 512:
        return table.torques(arm, q, qd, qdd)
    out = np.empty_like(q)
    with tempfile.TemporaryDirectory() as folder:
        compiled(table, folder, "error")(q, qd, qdd, out)
    return out


def compiled(table, folder, label):
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
            q, qd, qdd = (np.ascontiguousarray(x) for x in states(arm, batch))
            out = np.empty_like(q)
            torque_ns = measured(
                lambda q=q, qd=qd, qdd=qdd, out=out, arm=arm: fa.inverse_dynamics(arm, q, qd, qdd, out=out),
                batch,
            )
            rows.append(dict(arm=name, what="compiled torques", bytes=0, ns=torque_ns))
            want = out.copy()
            for interpolation, points in cases[name][:2] if quick else cases[name]:
                table = fa.tabulate(arm, points=points, interpolation=interpolation, most_bytes=2 << 30)
                look_up = compiled(table, folder, f"{arm.name}_{interpolation}_{points}")
                ns = measured(lambda: look_up(q, qd, qdd, out), batch)  # noqa: B023
                rows.append(
                    dict(
                        arm=name,
                        what=f"horn_raibert, {interpolation}",
                        points=points,
                        bytes=table.nbytes,
                        ns=ns,
                        error=relative(out, want),
                    )
                )
                numpy_ns = measured(lambda: table.torques(arm, q, qd, qdd), batch, 3)  # noqa: B023
                rows[-1]["numpy_ns"] = numpy_ns
    return rows


def measured(call, batch, runs=15):
    """Median of several runs, in ns a state."""
    call()
    taken = []
    for _ in range(runs):
        begun = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - begun)
    return statistics.median(taken) / batch


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
