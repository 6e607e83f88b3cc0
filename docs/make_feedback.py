# ruff: noqa: E501  (prose)
"""Write docs/feedback.md and its figure from benchmarks/results/corrective_torque.json: `python docs/make_feedback.py`.

The runs are made by `python benchmarks/corrective_torque.py`; the numbers on the page are those of the file.
"""

import json
from pathlib import Path

from forearm.plots.style import COLORS, INK, figure, save, styled

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results" / "corrective_torque.json"
PAGE, FIGURES = HERE / "feedback.md", HERE / "figures"
JOINTS = ("waist", "shoulder", "elbow")
USUAL = 20.0
"""The natural frequency that the page tells of [rad/s]."""


def shares(row, of="corrective"):
    """Largest corrective torque (or missing term) of the three large joints, relative to the largest torque of the motion."""
    return [a / b for a, b in zip(row[of][:3], row["torque"][:3], strict=True)]


def chosen(found, **wanted):
    """Runs with these properties."""
    return [r for r in found["runs"] if all(r[k] == v for k, v in wanted.items())]


def picture(found):
    """Corrective torque and error against the speed of the motion."""
    made, axes = figure(8.6, 3.5, ncols=2)
    rows = chosen(found, drives=False, whole=False, frequency=USUAL)
    with styled():
        for k, (joint, color) in enumerate(zip(JOINTS, COLORS, strict=False)):
            speeds = [r["speed"] for r in rows]
            axes[0].plot(
                speeds, [100 * shares(r)[k] for r in rows], color=color, marker="o", markersize=4, label=joint
            )
            axes[0].plot(
                speeds,
                [100 * shares(r, "missing")[k] for r in rows],
                color=color,
                linestyle=":",
                linewidth=1.0,
            )
        axes[0].plot([], [], color=INK, linestyle=":", label="C(q, qd) qd itself")
        axes[0].set_ylabel("largest corrective torque / largest torque [%]")
        for color, f in zip(COLORS, sorted({r["frequency"] for r in found["runs"]}), strict=False):
            line = chosen(found, drives=False, whole=False, frequency=f)
            axes[1].plot(
                [r["speed"] for r in line],
                [r["error_deg"] for r in line],
                color=color,
                marker="o",
                markersize=4,
                label=f"continuous, {f:.0f} rad/s",
            )
        for whole, dashes in ((False, "--"), (True, ":")):
            held = [r for r in found["sampled"] if r["whole"] is whole]
            name = "whole model" if whole else "best gain"
            axes[1].plot(
                [r["speed"] for r in rows],
                [r["error_deg"] for r in held],
                color=INK,
                linestyle=dashes,
                label=f"{found['rate']:.0f} Hz, {name}",
            )
        axes[1].set_ylabel("largest error [deg]")
        axes[1].set_yscale("log")
        for ax in axes:
            ax.set_xscale("log")
            ax.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
            ax.minorticks_off()
            ax.set_xlabel("largest joint speed [rad/s]")
            ax.legend(fontsize=6.8)
        axes[0].set_title("What feedback supplies")
        axes[1].set_title("What is left of the error")
    return made


def page(found):
    """The page as text."""
    usual = chosen(found, drives=False, whole=False, frequency=USUAL)
    driven = chosen(found, drives=True, whole=False, frequency=USUAL)
    slow, fast = usual[0], usual[-1]
    gains = chosen(found, drives=False, whole=False, duration=fast["duration"])
    whole = chosen(found, drives=False, whole=True)
    held = {(r["duration"], r["whole"]): r for r in found["sampled"]}
    late, full = held[fast["duration"], False], held[fast["duration"], True]
    lines = [
        "# Can feedback correct it?\n",
        "<!-- written by docs/make_feedback.py from benchmarks/results/corrective_torque.json; do not edit -->\n",
        'Hollerbach\'s introduction says of controllers that ignore Coriolis and centrifugal forces: this "works well only at slower speeds of movement", and the errors '
        '"cannot be corrected with feedback because of excessive requirements on the corrective torques". Here that is an experiment.\n',
        "A PUMA 560 follows one path (each joint from zero to "
        + ", ".join(f"{x:g}" for x in found["goal"])
        + " rad, a quintic in time) at five speeds, under computed torque. One controller has the whole model; the other leaves out C(q, qd) qd and knows everything else "
        "exactly. So the corrective torque, M (kd ė + kp e), is there for the missing terms alone. Feedback is critically damped, with natural frequencies of 10 to 80 rad/s.\n",
        "![corrective torque and error against speed](figures/feedback.png)\n",
        f"| motion | largest speed | corrective torque, {', '.join(JOINTS)} | relative to the largest torque of the motion | with rotors and friction | error at {USUAL:.0f} rad/s |",
        "|---|---|---|---|---|---|",
    ]
    for r, d in zip(usual, driven, strict=True):
        torques = ", ".join(f"{x:.2g}" for x in r["corrective"][:3])
        part, other = (", ".join(f"{100 * x:.{0 if x > 0.1 else 1}f}" for x in shares(x)) for x in (r, d))
        lines.append(
            f"| {r['duration']:g} s | {r['speed']:.2f} rad/s | {torques} N m | {part} % | {other} % | {r['error_deg']:.2g} deg |"
        )
    worst = max(max(r["corrective"]) for r in whole)
    ratio = max(a / b for r in gains for a, b in zip(r["corrective"][:3], r["missing"][:3], strict=True))
    least = min(a / b for r in gains for a, b in zip(r["corrective"][:3], r["missing"][:3], strict=True))
    lines += [
        "\nWhat it shows:\n",
        f"1. **The corrective torque is the missing term.** Whatever the gain, feedback ends up supplying what the model leaves out: over the four gains its peak is {least:.2f} to {ratio:.2f} times that of "
        f"C(q, qd) qd in the fastest motion. A stiffer loop makes the error smaller ({gains[0]['error_deg']:.2g} deg at {gains[0]['frequency']:.0f} rad/s, {gains[-1]['error_deg']:.2g} deg at {gains[-1]['frequency']:.0f}), "
        "never the torque. With the whole model it is "
        f"{worst:.0e} N m.",
        f"2. **It grows with the square of the speed.** In {slow['duration']:g} s the elbow needs {slow['corrective'][2]:.2g} N m of correction, in {fast['duration']:g} s {fast['corrective'][2]:.2g} N m, and that is "
        f"{100 * shares(fast)[2]:.0f} % of the largest torque that the whole motion takes at that joint. At the waist the share does not change with speed "
        f'({100 * shares(slow)[0]:.0f} % and {100 * shares(fast)[0]:.0f} %), because it carries no weight: there every torque grows with the square. "Slow" is where gravity and friction rule.',
        f"3. **A real loop cannot be stiff at will.** At {found['rate']:.0f} samples a second the best of the gains that were tried leaves {late['error_deg']:.2g} deg in the fastest motion, {late['error_deg'] / full['error_deg']:.0f} times what the whole model leaves ({full['error_deg']:.2g} deg). "
        f"A critically damped loop of {found['rate']:.0f} samples a second is unstable from {found['rate']:.0f} rad/s on.",
        f"4. **On this arm the drives hide it.** With the PUMA's own rotors and friction, which the model knows, the elbow's share in the fastest motion is {100 * shares(driven[-1])[2]:.0f} % instead of {100 * shares(fast)[2]:.0f} %: gears of 54:1 to 108:1 make joints heavy and "
        "friction makes torques large. The remark is about light and direct drives, and it is true there.\n",
        "`python benchmarks/corrective_torque.py` makes the runs; `fa.significance` says for a motion of yours which terms may go ([simulate](simulate.md)), and example `03_ignoring_coriolis.py` shows the errors alone.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    save(picture(results), FIGURES / "feedback.png")
    PAGE.write_text(page(results), encoding="utf-8")
