"""results/*.json -> docs/benchmarks.md. Run it after a benchmark; the page is never typed by hand."""

import json
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

<!-- written by benchmarks/report.py; do not edit -->

Figures are from the JSON files in `benchmarks/results`, each with its machine and versions. What is timed and where the
stopwatch stands is in `benchmarks/README.md`: a call of ours on `(N, n)` arrays against the peer's own batch call,
or against a C loop over generated C, in alternating rounds of one run. Ratios are the figure (medians over the rounds,
quartiles in brackets, then the range of such medians over several runs); nanoseconds depend on the machine.

Not to be concluded: that a peer is slow in another language or with another binding; that a ratio holds on another
processor (AVX-512 and AVX2 differ) or for data that must first come from memory elsewhere; that a shared machine was
quiet while this ran.
"""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows]) + "\n"


def about(machine):
    return "Machine: " + ", ".join(f"{k} {v}" for k, v in machine.items()) + ".\n"


def spread(row):
    low, high = row["quartiles"]
    text = f"**{row['ratio']:.1f}** [{low:.1f}, {high:.1f}]"
    if "runs" in row:
        low, high = row["runs"]["range"]
        text += f"; {low:.1f} to {high:.1f} in {row['runs']['count']} runs"
    return text


def cpu_page(data):
    rows = data["rows"]
    batches = [r for r in rows if "forearm_ns" in r]
    body = [
        (
            r["arm"],
            r["quantity"],
            r["operations"],
            f"{r['forearm_ns']:.1f}",
            p["peer"],
            f"{p['peer_ns']:.0f}",
            spread(p),
            f"{p['difference']:.0e}",
        )
        for r in batches
        for p in r["peers"]
    ]
    text = "\n## CPU, one thread, float64\n\n" + about(data["machine"]) + "\n"
    head = (
        "arm",
        "quantity",
        "operations",
        "forearm, ns a state",
        "peer",
        "ns a state",
        "ratio",
        "difference",
    )
    text += table(head, body)
    singles = [r for r in rows if "us" in r]
    text += "\nOne state from Python (µs a call):\n\n" + table(
        ("arm", "call", "µs", "times faster than pin.rnea"),
        [
            (r["arm"], f"`{k}`", f"{v:.2f}", spread(r["ratio_to_pinocchio"][k]))
            for r in singles
            for k, v in r["us"].items()
        ],
    )
    small = [r for r in rows if "small_us" in r]
    text += "\nA few states in one call, iiwa 14 torques (µs a call):\n\n" + table(
        ("states", "forearm", "peer", "µs", "ratio"),
        [
            (
                r["boundary"].split(",")[0],
                f"{r['small_us']['forearm']:.1f}",
                k,
                f"{r['small_us'][k]:.0f}",
                spread(v),
            )
            for r in small
            for k, v in r["ratios"].items()
        ],
    )
    return text + "".join(map(sentence, rows))


def over_runs(row, form):
    """The same in several runs, where that is known."""
    if "runs" not in row:
        return ""
    runs = row["runs"]
    low, middle, high = (f"{x:{form}}" for x in (runs["range"][0], runs["median"], runs["range"][1]))
    return f" (over {runs['count']} runs {low} to {high}, median {middle})"


def sentence(row):
    """What is said of a row that stands for itself."""
    if "share" in row:
        low, high = (100 * q for q in row["quartiles"])
        return (
            f"\nTwo threads reach {100 * row['share']:.0f} % of the rate of two independent processes (median of "
            f"{row['rounds']} rounds, quartiles {low:.0f} % and {high:.0f} %; {row['two_threads_M_per_s']:.0f} "
            f"million states a second){over_runs(row, '.0%')}.\n"
        )
    if "first_s" in row:
        cold, warm, numpy = (row["first_s"][k] for k in ("cold", "warm", "import numpy"))
        return (
            f"\nA new process has its first torque of iiwa 14 after {cold:.2f} s with an empty cache, {warm:.2f} s "
            f"with a filled one{over_runs(row, '.2f')}; interpreter and imports included (`import numpy` alone: "
            f"{numpy:.2f} s).\n"
        )
    if "ns_per_link" in row:
        per = ", ".join(f"{v:.1f} ns at {k} joints" for k, v in row["ns_per_link"].items())
        return f"\nDense random chains, cost for each link: {per} (ratio {row['ratio']:.2f}).\n"
    return ""


def gpu_page(data):
    rows = data["rows"]
    text = "\n## GPU\n\n" + about(data["about"]) + "\n"
    text += "The copy beside it writes as much as it reads; torques read three times what they write, which memory\n"
    text += "does faster, so a kernel may show more than 100 %.\n\n"
    batches = [r for r in rows if "G_per_s" in r]
    best = {}
    for r in batches:
        key = (r["arm"], r["quantity"], r["dtype"], r["states"], r.get("layout", "columns"))
        if key not in best or r["G_per_s"] > best[key]["G_per_s"]:
            best[key] = r
    head = (
        "arm",
        "quantity",
        "precision",
        "layout",
        "states",
        "G states/s",
        "of copy bandwidth",
        "error",
        "registers",
        "spilled bytes",
    )
    text += table(
        head,
        [
            (
                r["arm"],
                r["quantity"],
                r["dtype"],
                r.get("layout", "columns"),
                r["states"],
                f"{r['G_per_s']:.2f}",
                f"{100 * r['share_of_copy']:.0f} %",
                f"{r['error']:.0e}",
                r["registers"],
                r["spilled_bytes"],
            )
            for r in best.values()
        ],
    )
    rolls = {}
    for r in rows:
        if "G_steps_per_s" in r:
            key = (r["arm"], r["quantity"], r["dtype"])
            if key not in rolls or r["G_steps_per_s"] > rolls[key]["G_steps_per_s"]:
                rolls[key] = r
    text += "\nSimulation, all steps in one launch, the state in registers:\n\n" + table(
        ("arm", "what", "precision", "G steps/s", "error after 20 steps", "registers"),
        [
            (
                r["arm"],
                r["quantity"],
                r["dtype"],
                f"{r['G_steps_per_s']:.2f}",
                f"{r['error']:.0e}",
                r["registers"],
            )
            for r in rolls.values()
        ],
    )
    for r in rows:
        if "us_per_call" in r:
            case = f"{r['states']} states of {r['arm']}, resident, recorded as a CUDA graph"
            text += f"\n{case}: {r['us_per_call']:.1f} µs a call.\n"
    return text


def simulation_page(data):
    rows = [(r["what"], f"{r['M_steps_per_s']:.2f}", spread(r) if r["ratio"] else "") for r in data["rows"]]
    text = "\n## Simulation on the CPU\n\n" + about(data["machine"]) + "\n"
    return text + table(("RK4, iiwa 14, one thread", "million steps/s", "forearm is faster by"), rows)


def accuracy_page(data):
    rows = [
        (
            r["arm"],
            f"{r['relative']:.1e}",
            f"{r['eps_of_largest_intermediate']:.2f}",
            f"{r['relative_float32']:.1e}",
        )
        for r in data["rows"]
    ]
    head = (
        "arm",
        "error / largest torque",
        "in eps of the largest intermediate",
        "float32: error / largest torque",
    )
    about_it = "Compiled torques against the formulation in fifty digits, worst of five random states.\n\n"
    return "\n## How exact\n\n" + about_it + table(head, rows)


def best(row, name, unit, digits=1):
    """Least time, and least time of all processors together."""
    scale = {"s": 1, "ms": 1000}[unit]
    wall, cpu = (scale * min(row[f"{name}_{kind}s"]) for kind in ("", "cpu_"))
    return f"{wall:.{digits}f} {unit} ({cpu:.{digits}f})"


def large_page(data):
    sweep, files, arms, dask = (data[key] for key in ("sweeps", "files", "arms", "dask"))
    machine = f"{data['machine']['processor']}, {data['machine']['processors']} cores"
    rows = [
        (
            f"sweep of {sweep['states']:.0e} states, two processes, {sweep['all_processes_mb']:.0f} MB held by all",
            f"{best(sweep, 'sweep', 's')}; beginning {best(sweep, 'start', 's', 2)}",
            f"the kernel alone: {best(sweep, 'kernel', 's')}",
        ),
        (
            f"a file of {files['bytes'] / 1e9:.2g} GB streamed, {files['peak_mb']:.0f} MB held",
            f"{min(files['stream_s']):.2f} s",
            f"a copy of it: {min(files['copy_s']):.2f} s",
        ),
        (
            f"{arms['arms']} arms, 1000 states each",
            f"{arms['median_ratio']:.0%} of the rate",
            "one arm on as many states",
        ),
        (
            "a task of ten states on Dask, two workers",
            f"{best(dask, 'task', 'ms')}",
            f"one that does nothing: {best(dask, 'dask_task', 'ms')}",
        ),
    ]
    head = ("torques of an iiwa 14", "takes", "beside it")
    text = f"\n## Much\n\nOn {machine}; measured alternately, the best of each; in brackets "
    return text + "the time of all processors.\n\n" + table(head, rows)


def robots_page(data):
    groups = {}
    for row in data["rows"]:
        groups.setdefault((row["robot"], row["joints"]), []).append(row)

    def cells(rows, what):
        ours, times = ([row[what][key] for row in rows] for key in ("ns", "times"))
        return [rows[0][what]["operations"], f"{min(ours):.0f}", f"{min(times):.0f} to {max(times):.0f}"]

    rows = [
        (name, joints, *cells(some, "torques"), *cells(some, "accelerations"))
        for (name, joints), some in groups.items()
    ]
    head = (
        "robot",
        "joints",
        "torques: operations",
        "ns",
        "times",
        "accelerations: operations",
        "ns",
        "times",
    )
    states, runs = data["rows"][0]["states"], max(len(some) for some in groups.values())
    text = f"\n## Robots with branches\n\n{about(data['machine'])}\n"
    text += (
        f"Batches of {states:,} states on one thread, in turns with Pinocchio's batch on as many: the best "
    )
    text += f"processor time, ns a state, and how many times faster, least and most of {runs} runs.\n\n"
    return text + table(head, rows)


PAGES = {
    "robots": robots_page,
    "gpu": gpu_page,
    "cpu": cpu_page,
    "simulation": simulation_page,
    "accuracy": accuracy_page,
    "large": large_page,
}


def main():
    text = HEAD
    for path in sorted((HERE / "results").glob("*.json")):
        if path.stem in ("tables", "corrective_torque"):
            continue  # docs/make_tabulated.py and docs/make_feedback.py have pages for them
        data = json.loads(path.read_text())
        text += PAGES["gpu" if "about" in data else data.get("kind", "cpu")](data)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
