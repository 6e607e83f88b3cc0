"""The report of a motion of any arm: torques, terms, limits, agreement, operations, speed; the live arm on top."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import forearm
from forearm import dynamics, plots
from forearm.arm import Arm
from forearm.compiler.pipeline import compile
from forearm.faults import explained, needs_arm, needs_chain, no_dynamics
from forearm.motion.feasibility import Feasibility, feasible
from forearm.motion.limit_excesses import TOLERANCE, LimitExcess
from forearm.motion.motion_files import Recorded, read_motion
from forearm.motion.motions import Motion, Samples
from forearm.outside.output_files import write_text
from forearm.page import evidence
from forearm.page.document import Figure, PageTable, Section, page
from forearm.page.live_view import frame_of, view
from forearm.page.played_rows import AnyMotion, samples_of

Tell = Callable[[int, int, str], None]
STATES = {6: 24, 9: 8}
"""How many states along a motion every formulation computes, for arms up to so many joints; fewer beyond."""
COMPILED = ("inverse_dynamics", "gravity_torque", "mass_matrix", "forward_dynamics")
"""Quantities whose operations are told."""


@dataclass(frozen=True)
class MotionReport:
    """A report, and what it found."""

    name: str
    """The arm's name."""
    html: str
    """The page."""
    excesses: tuple[LimitExcess, ...]
    """Limits that the motion exceeds, as `feasible` finds them."""
    agreed: bool
    """Whether every formulation computes the same torques."""

    @property
    def passed(self) -> bool:
        """Whether no limit is exceeded and all agree."""
        return self.agreed and not self.excesses

    def save(self, path: str | Path) -> Path:
        """Write the report; gives the path."""
        return write_text(path, self.html)

    def _repr_html_(self) -> str:
        """The report inside a notebook."""
        return frame_of(self, height=900)

    def __repr__(self) -> str:
        """Name, verdict, size."""
        verdict = (
            "all good" if self.passed else f"{len(self.excesses)} limits exceeded" if self.agreed else "FAIL"
        )
        return f"<Report on {self.name}: {verdict}; {len(self.html.encode()) / 1000:.0f} kB of HTML>"


@explained
def report(
    arm: Arm, motion: AnyMotion, *, notes: Sequence[str] = (), say: Tell | None = None
) -> MotionReport:
    """The report of a motion: torques and their terms, limits judged, all formulations, operations, speed here.

    Args:
        arm: The arm.
        motion: A Motion, Samples, what `read_motion` gives, or the path of a motion file.
        notes: What a reader should know about the motion; the arm's own notes, and those of a file, are there anyway.
        say: Called with (done, of, what) on the way.

    Returns:
        The report; `report.save("report.html")`, or let a notebook show it. (Pictures need the extra `plot`.)
    """
    needs_arm(arm)
    needs_chain(arm, "report")
    tell = say or (lambda done, of, now: None)
    if isinstance(motion, (str, Path)):
        motion = read_motion(motion, arm)
    notes = (*arm.notes, *(motion.notes if isinstance(motion, Recorded) else ()), *notes)
    samples = samples_of(arm, motion)
    if not arm.dynamics:
        no_dynamics(arm, "report")
    tell(0, 5, "torques")
    t, q, qd, qdd = samples
    terms = dynamics.terms(arm, q, qd, qdd)
    judged = feasible(arm, motion if isinstance(motion, Motion) else samples)
    excesses, notes = judged.excesses, (*notes, *judged.notes)
    tell(1, 5, "every formulation")
    agreement = evidence.agreement(arm, *_few(arm, samples))
    tell(2, 5, "times")
    speed = evidence.speed(arm, 0.3)
    tell(3, 5, "the live arm")
    live = frame_of(view(arm, samples))
    tell(4, 5, "pictures")
    html = page(
        f"{arm.name} in motion",
        f"{arm.n} joints along a motion of {t[-1] - t[0]:.3g} s. Every formulation of the papers computes its torques; "
        "take the arm's hand and look for yourself.",
        _facts(arm, agreement, speed, excesses),
        plots.svg(
            plots.arm_figure(arm, q[0], path=_tool_path(arm, q), ghosts=[q[len(q) // 2], q[-1]]), "hero"
        ),
        [
            torque_section(arm, t, terms),
            _limits(arm, judged),
            *([Section("Notes", "; ".join(note.rstrip(".") for note in notes) + ".")] if notes else []),
            agreement_section(agreement),
            _operations(arm),
            speed_section(speed),
        ],
        f"Made by `forearm report`, forearm {forearm.__version__}, {machine_line(speed)}.",
        live=live,
    )
    agreed = all(row.verdict == "PASS" for row in agreement)
    return MotionReport(arm.name, html, tuple(excesses), agreed)


def _few(arm: Arm, samples: Samples) -> list[Any]:
    count = next((number for joints, number in STATES.items() if arm.n <= joints), 3)
    rows = np.unique(np.linspace(0, len(samples.t) - 1, count).astype(int))
    return [samples.q[rows], samples.qd[rows], samples.qdd[rows]]


def _tool_path(arm: Arm, q: Any) -> Any:
    return dynamics.pose(arm, q)[:, :3, 3]


def _facts(
    arm: Arm, agreement: Sequence[evidence.Agreement], speed: dict[str, Any], excesses: Sequence[LimitExcess]
) -> list[tuple[str, str]]:
    given = {
        "position": any(link.limits is not None for link in arm.links),
        "speed": any(link.speed_limit is not None for link in arm.links),
        "torque": any(link.effort_limit is not None for link in arm.links),
    }
    judged = [what for what, known in given.items() if known]
    limits = f"{len(excesses)} exceeded" if excesses else "kept" if judged else "not given"
    return [(limits, f"limits of {', '.join(judged or given)}"), *fact_tiles(agreement, speed)]


def fact_tiles(agreement: Sequence[evidence.Agreement], speed: dict[str, Any]) -> list[tuple[str, str]]:
    """The numbers that matter and that every machine finds: how many agree, how well, what the torques cost."""
    return [
        (f"{len(agreement) - 1}", "formulations, one answer"),
        (f"{max(row.difference for row in agreement):.0e}", "largest relative difference"),
        (f"{speed['operations']}", "operations for one state, compiled"),
    ]


def machine_line(speed: dict[str, Any]) -> str:
    """What computed this, and where."""
    machine = speed["machine"]
    return f"Python {machine['python']}, NumPy {machine['numpy']}, on {machine['processor']}"


def torque_section(arm: Arm, t: Any, terms: Any, remark: str = "") -> Section:
    """Torques over time, and what they are made of."""
    return Section(
        "Torques",
        f"What each joint has to give along the motion, and what that is made of. {remark}`fa.terms` splits the "
        "torque, and the terms add up to it.",
        (
            Figure(
                plots.svg(plots.torque_figure(arm, t, terms.total), "torque"),
                "Joint torques over time.",
                "torque",
            ),
            Figure(
                plots.svg(plots.term_figure(arm, t, terms), "terms"),
                "The same torques, stacked from their terms; the line is the sum.",
                "terms",
            ),
        ),
    )


def _limits(arm: Arm, judged: Feasibility) -> Section:
    """The limits as `feasible` judges them, at the instants that it looks at."""
    beyond = {(e.joint, e.what) for e in judged.excesses}
    q, qd, tau = judged.samples.q, judged.samples.qd, judged.tau
    rows = []
    for j, link in enumerate(arm.links):
        bounds = (
            ("position", q, link.limits),
            ("speed", qd, link.speed_limit),
            ("torque", tau, link.effort_limit),
        )
        for what, values, limit in bounds:
            if limit is None:
                continue
            low, high = limit if isinstance(limit, tuple) else (-limit, limit)
            verdict = "FAIL" if (link.name, what) in beyond else "PASS"
            given = f"{float(np.min(values[:, j])):.3g} … {float(np.max(values[:, j])):.3g}"
            rows.append((link.name, what, given, f"{low:.4g} … {high:.4g}", verdict))
    slack = f"{100 * TOLERANCE:g} %"
    kept = f"Nothing goes beyond its limit (speeds and torques: by more than {slack}, as in `feasible`)."
    text = "; ".join(str(e) for e in judged.excesses) or kept
    if not rows:
        return Section("Limits", "The arm's description gives no limits.")
    return Section("Limits", text, (PageTable(("joint", "of", "from … to", "limits", ""), rows),))


def agreement_section(agreement: Sequence[evidence.Agreement]) -> Section:
    """Every way to the torques, held against the median."""
    rows = [
        (r.name, r.verdict, f"{r.difference:.1e}", f"{r.microseconds:,.0f} µs", r.paper) for r in agreement
    ]
    return Section(
        "Agreement",
        "Each paper's equations, one file each, on the same states along the motion; held against the median of all. "
        "The last row shares no code with the others. `forearm verify` does this with all quantities and twelve laws.",
        (
            PageTable(
                ("formulation", "", "difference", "one state", "paper"),
                rows,
                "Largest difference, relative to what adds up to that joint's torque; time of a state in plain NumPy.",
                (0,),
            ),
        ),
    )


def _operations(arm: Arm) -> Section:
    rows = []
    for quantity in COMPILED:
        kernel = compile(arm, quantity)
        counts, by = kernel.counts, kernel.why.chosen if kernel.why else ""
        rows.append((quantity.replace("_", " "), counts.operations, counts.sincos, by.replace("_", " ")))
    return Section(
        "Operations",
        "What is compiled for this arm: its numbers folded in, shared parts computed once. `forearm count` tells what "
        "the papers' formulations cost, beside what they print.",
        (
            PageTable(
                ("quantity", "operations", "angles", "by"),
                rows,
                "Multiplications, additions and divisions for one state; sine and cosine of an angle apart.",
            ),
        ),
    )


def speed_section(speed: dict[str, Any]) -> Section:
    """Times on this machine."""
    rows = [row for row in reversed(speed["rows"]) if row["what"] != "first call"]
    bars = [(_short(row["what"]), 1e9 * row["seconds"], row["median"]) for row in rows]
    shown = [(row["what"], row["median"], row["fastest"], row["remark"]) for row in speed["rows"]]
    return Section(
        "Speed",
        f"Inverse dynamics with friction and rotors, {speed['operations']} operations a state, float64, one thread. "
        "The stopwatch is around the Python call, arrays ready. `make bench` times other libraries in the same run.",
        (
            PageTable(("what", "median", "fastest", ""), shown, f"On {speed['machine']['processor']}."),
            Figure(
                plots.svg(plots.bar_figure(bars, "time for one state [ns]"), "speed"),
                "Time for one state.",
                "speed",
            ),
        ),
    )


def _short(what: str) -> str:
    return "paper, NumPy loop" if "NumPy" in what else what.partition(",")[0]
