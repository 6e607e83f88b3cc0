# ruff: noqa: E501  (prose)
"""Write docs/tabulated.md and its figures from benchmarks/results/tables.json: `python docs/make_tabulated.py`.

The measurements are made by `python benchmarks/tables.py`; the numbers on the page are those of the file.
"""

import json
from pathlib import Path

from forearm.plots.style import COLORS, INK, figure, save, styled

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results" / "tables.json"
PAGE, FIGURES = HERE / "tabulated.md", HERE / "figures"

NAMES = {
    "albus": "Albus: tau(q, qd, qdd)",
    "raibert": "Raibert: J(q), K(q, qd)",
    "horn_raibert": "Horn, Raibert: M, C, g (q)",
}
ARMS = {
    "rr": "RR",
    "puma560, three joints": "PUMA 560, three large joints",
    "puma560": "PUMA 560, all six joints",
}
MARKS = {"nearest": ":", "linear": (0, (5, 1.5)), "cubic": "-"}

HEAD = """# Torques by look-up

<!-- written by docs/make_tabulated.py from benchmarks/results/tables.json; do not edit -->

Before recursions made the dynamics of an arm cheap, the way to have a torque in time was to have it stored. Hollerbach's introduction
(1980) weighs three ways to store it. Albus (1975) tabulates the torques over positions, speeds and accelerations. Raibert (1978)
tabulates J(q) and K(q, qd), so that tau = J qdd + K. Horn and Raibert (1978) tabulate M, C and g over configurations alone. He
names four difficulties: the size of the tables, filling them, interpolating, and that "the tables become useless if the load changes
suddenly". Here the three are built, so that each difficulty has a number.

```python
import forearm as fa

arm = fa.load("puma560")
print(fa.plan_table(arm, "raibert", points=9, speeds=2.0))  # what it would need; nothing is filled
table = fa.tabulate(arm, "horn_raibert", points=11, interpolation="cubic")
print(table)
q, qd, qdd = arm.random_state(0, (1000,))
error = table.torques(arm, q, qd, qdd) - fa.inverse_dynamics(arm, q, qd, qdd)
print(f"largest error {abs(error).max():.3f} N m")
try:
    table.torques(arm.with_payload(2.5, frame="flange"), q, qd, qdd)
except fa.StateFault as fault:
    print(fault)
```

A table has an axis for each coordinate that occurs in the compiled graph of an entry, and only for those: of the PUMA's six joints the
waist and the flange never do. Entries that are zero or equal by symmetry are not stored; friction is added to a look-up, since it is a
function of one speed. Interpolation is `nearest`, `linear` or `cubic` (Lagrange's, through four points), of order 1, 2 and 4. What is
too large or would take too long is refused before it is filled. `table.save(path)` writes a compressed file, `compressed=False` one that
`fa.open_table` maps where it is larger than 64 MiB. `table.torques` looks up a batch in machine code, on as many `threads` as are given; where llvmlite is missing NumPy does it, with the
same bits. `table.to_c()` is the look-up in C99, for a controller. `fa.learn_table` fits a table to a log of torques instead; its `domain` says how wrong it was on stretches of the log that
were left out, and a look-up farther from the log says so each time. The memory
formulas: `forearm count --tables`, and with `--arm puma560` that arm's own.
"""


def errors_figure(rows):
    """Error against memory, one panel for each arm."""
    made, axes = figure(10.2, 3.9, ncols=3, sharey=True)
    with styled():
        for ax, (arm, title) in zip(axes, ARMS.items(), strict=True):
            for color, (method, name) in zip(COLORS, NAMES.items(), strict=False):
                for interpolation, dashes in MARKS.items():
                    line = [
                        r
                        for r in rows
                        if (r["arm"], r["method"], r["interpolation"]) == (arm, method, interpolation)
                    ]
                    label = f"{name}" if interpolation == "cubic" else None
                    ax.plot(
                        [r["bytes"] for r in line],
                        [r["error"] for r in line],
                        linestyle=dashes,
                        color=color,
                        label=label,
                        marker=".",
                        markersize=3.5,
                    )
            loaded = [
                r
                for r in rows
                if r["arm"] == arm and r["method"] == "horn_raibert" and r["interpolation"] == "cubic"
            ]
            ax.plot(
                [r["bytes"] for r in loaded],
                [r["error_loaded"] for r in loaded],
                color=INK,
                linewidth=0.9,
                linestyle="-.",
                label="Horn, Raibert, cubic; a load picked up",
            )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(title)
            ax.set_xlabel("memory [bytes]")
        axes[0].set_ylabel("rms error / rms torque")
        axes[0].legend(loc="lower left", fontsize=6.8)
        axes[1].plot([], [], color=INK, linestyle=MARKS["nearest"], label="nearest")
        axes[1].plot([], [], color=INK, linestyle=MARKS["linear"], label="linear")
        axes[1].plot([], [], color=INK, linestyle=MARKS["cubic"], label="cubic")
        axes[1].legend(*[x[-3:] for x in axes[1].get_legend_handles_labels()], loc="lower left")
    return made


def times_figure(rows, caches):
    """Time of a look-up against the size of its table, with the compiled torques as a level."""
    made, ax = figure(6.4, 3.9)
    with styled():
        for color, (arm, title) in zip(COLORS, ARMS.items(), strict=False):
            level = next(r["ns"] for r in rows if r["arm"] == arm and not r["bytes"])
            line = sorted(
                (r["bytes"], r["ns"]) for r in rows if r["arm"] == arm and r["what"].endswith("linear")
            )
            ax.plot(
                *zip(*line, strict=True),
                color=color,
                marker="o",
                markersize=4,
                label=f"look-up, {title}",
            )
            cubic = [(r["bytes"], r["ns"]) for r in rows if r["arm"] == arm and r["what"].endswith("cubic")]
            ax.plot(
                *zip(*cubic, strict=True),
                color=color,
                marker="^",
                markersize=6,
                linestyle="none",
                label="cubic instead of linear" if arm == "puma560" else None,
            )
            ax.axhline(level, color=color, linestyle=(0, (1.5, 1.2)), linewidth=1.1)
            ax.annotate(
                f"computed, {level:.0f} ns", (2.2e8, level), fontsize=7, ha="right", va="bottom", color=color
            )
        for name, size in caches.items():
            at = int(size.rstrip("K")) * 1024
            ax.axvline(at, color=INK, linewidth=0.6)
            ax.annotate(f" {name}", (at, 4200), fontsize=7)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("memory of the table [bytes]")
        ax.set_ylabel("one state of a batch [ns]")
        ax.legend(fontsize=6.8, loc="center left", bbox_to_anchor=(0.02, 0.62))
    return made


def amount(size):
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def reached(rows, arm, method, limit):
    """The smallest table of a method that is as good as `limit`, or the best one that was filled."""
    mine = [r for r in rows if (r["arm"], r["method"]) == (arm, method)]
    good = [r for r in mine if r["error"] <= limit]
    if good:
        r = min(good, key=lambda r: r["bytes"])
        return f"{amount(r['bytes'])} ({r['interpolation']}, {r['points']} points)"
    r = min(mine, key=lambda r: r["error"])
    return f"not within 256 MiB; best {100 * r['error']:.2g} % with {amount(r['bytes'])}"


def page(found):
    """The page as text."""
    errors, times = found["errors"], found["times"]
    lines = [HEAD, "\n## Error against memory\n", "![error against memory](figures/tables_error.png)\n"]
    lines.append(
        "Random states within the table, root mean square over all joints relative to that of the torques; speeds within ±2 rad/s, "
        "accelerations within ±5 rad/s², limits of the joints. No friction. Tables beyond 256 MiB were not filled. What an error of one "
        "per cent takes:\n"
    )
    lines += ["| arm | Albus | Raibert | Horn, Raibert |", "|---|---|---|---|"]
    lines += [
        f"| {title} | {' | '.join(reached(errors, arm, m, 0.01) for m in NAMES)} |"
        for arm, title in ARMS.items()
    ]
    finest = {arm: min((r for r in errors if r["arm"] == arm), key=lambda r: r["error"]) for arm in ARMS}
    lines.append(
        "\nSpeeds and accelerations enter the torque as polynomials of degree two and one, so tabulating them buys nothing but "
        "memory: at equal points on an axis the three methods have nearly the same error.\n\n"
        "**A load picked up** (0.5 kg on RR, 2.5 kg at the PUMA's flange; the broken line): the table that is right to "
        + ", ".join(f"{r['error']:.1g} ({ARMS[arm]})" for arm, r in finest.items())
        + " for the arm it was filled for is wrong by "
        + ", ".join(f"{100 * r['error_loaded']:.0f} %" for r in finest.values())
        + " with the load, however fine it is. This is Hollerbach's fourth difficulty; here such a look-up is refused, and filling anew takes "
        + f"{max(r['fill_s'] for r in errors if r['bytes'] > 1e8):.1f} s at most for the tables above 100 MB.\n"
    )
    lines += ["\n## Time of a look-up\n", "![time of a look-up](figures/tables_time.png)\n"]
    lines.append(
        f"One run, one thread, batches of 20,000 random states, {found['processor']} with caches "
        + ", ".join(f"{k} {v}" for k, v in found["caches"].items())
        + ". Calls against calls, `table.torques` and `fa.inverse_dynamics`, checks and a new result included; they take turns with the C of "
        "`table.to_c()` (-O3, for this processor) and with NumPy, and the least time counts. The compiled look-up is vectorised over states where "
        "it works out weights and torques, and over entries where it reads the table. Outside the last cache a look-up waits for memory. The machine was at other work too, which costs the large tables most.\n"
    )
    lines += [
        "| arm | what | table | ns a state | in C | in NumPy | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in times:
        table = f"{amount(r['bytes'])}, {r['points']} points" if r["bytes"] else ""
        extra = f"{r['c_ns']:.1f} | {r['numpy_ns']:.0f} | {r['error']:.1e}" if r["bytes"] else " | | exact"
        lines.append(f"| {ARMS[r['arm']]} | {r['what']} | {table} | {r['ns']:.1f} | {extra} |")
    ratios = [
        (
            ARMS[arm],
            min(r["ns"] / r["torques_ns"] for r in times if r["arm"] == arm and r["bytes"]),
        )
        for arm in ARMS
    ]
    lines.append(
        "\n## Does a table still pay?\n\nNot here: the cheapest look-up that was timed takes "
        + ", ".join(f"{ratio:.1f} times ({name})" for name, ratio in ratios)
        + " as long as computing the torque exactly, for any load. A table paid when a multiplication took longer than a look into memory. "
        "Now the torques of the whole PUMA are a few hundred operations in registers, while a look-up of Horn and Raibert's kind reads 16 "
        "cells (256 for cubic) of 56 entries each, and 60 entries more on smaller grids. It pays where no model is to be had: a table can be learnt from a log.\n"
    )
    return "\n".join(lines)


def main():
    """Write the page and its figures."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    save(errors_figure(found["errors"]), FIGURES / "tables_error.png")
    save(times_figure(found["times"], found["caches"]), FIGURES / "tables_time.png")
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
