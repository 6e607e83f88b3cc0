"""The demo from start to end: task, torques, agreement, counts, times, control, report."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import forearm
from forearm import dynamics, plots
from forearm.arm import Arm
from forearm.counting import cost_curves, tables_lose
from forearm.demo import control, task
from forearm.motion.motions import Samples
from forearm.outside.output_files import folder_of_files, write_text
from forearm.page import Figure, PageTable, Section, evidence, page
from forearm.page.live_view import frame_of, view
from forearm.page.motion_report import (
    agreement_section,
    fact_tiles,
    machine_line,
    speed_section,
    torque_section,
)

Say = Callable[[str], None]
RULES = "Gravity and friction rule the big joints of this geared arm, rotor inertia its wrist; "


@dataclass(frozen=True)
class Result:
    """What the demo found, and where its report lies."""

    report: Path
    """The report."""
    agreed: bool
    """Whether every formulation agrees."""
    summary: dict[str, Any]
    """The numbers, as plain data (also in demo.json)."""


@dataclass(frozen=True)
class _Findings:
    arm: Arm
    parts: list[task.Phase]
    motion: tuple[Any, ...]
    terms: Any
    agreement: list[evidence.Agreement]
    costs: list[tuple[Any, ...]]
    speed: dict[str, Any]
    runs: dict[str, control.TaskRun]


def run_demo(out: str | Path, say: Say = lambda line: None) -> Result:
    """Do the main job and write report.html and demo.json into a folder."""
    started = time.perf_counter()
    with folder_of_files(out) as folder:
        findings = _find(say)
        say("drawing the report")
        report = folder / "report.html"
        made = _page(findings)
        took = {"seconds": round(time.perf_counter() - started, 1), "report": str(report)}
        summary = _summary(findings) | took
        write_text(folder / "demo.json", json.dumps(summary, indent=1) + "\n")  # numbers before pictures
        write_text(report, made)
    agreed = all(row.verdict == "PASS" for row in findings.agreement)
    say(f"\n{report}: open it in a browser ({summary['seconds']} s in all)")
    return Result(report, agreed, summary)


def _find(say: Say) -> _Findings:
    arm = task.the_arm()
    say(f"PUMA 560 takes {task.PAYLOAD} kg from {task.PICK} to {task.PLACE} m")
    parts = task.phases(arm)
    motion = task.sampled(parts, 0.01)
    terms = dynamics.terms(arm, *motion[1:])
    peak = np.max(np.abs(terms.total), axis=0)
    say(f"  largest torques  {', '.join(f'{x:.1f}' for x in peak)} N m")
    few = [x[:: len(motion[0]) // 24] for x in motion[1:]]
    agreement = evidence.agreement(arm, *few)
    say(f"\ntorques along the motion by {len(agreement) - 1} formulations and an oracle that shares no code")
    for row in agreement:
        say(f"  {row.verdict}  {row.difference:7.1e}  {row.microseconds:7.0f} µs  {row.name}")
    say("\nmultiplications | additions at six joints: printed, and counted here")
    costs = evidence.cost_rows(arm)
    for name, printed, ours, status in costs:
        say(f"  {printed:>16}  {ours:>16}  {name} ({status})")
    speed = evidence.speed(arm)
    say("\ninverse dynamics on this machine, the stopwatch around the Python call")
    for row in speed["rows"]:
        say(f"  {row['median']:>8}  {row['what']}")
    say("\ncomputed torque at 1 kHz, the load unknown, then known")
    runs = {
        "load unknown": control.run(arm, parts, believes_in_load=False),
        "load known": control.run(arm, parts, believes_in_load=True),
    }
    for name, run in runs.items():
        say(f"  {1e3 * np.max(np.abs(run.error)):6.2f} mrad largest error, {name}")
    return _Findings(arm, parts, motion, terms, agreement, costs, speed, runs)


def _summary(f: _Findings) -> dict[str, Any]:
    return {
        "forearm": forearm.__version__,
        "arm": f.arm.name,
        "payload_kg": task.PAYLOAD,
        "largest_torques": np.max(np.abs(f.terms.total), axis=0).tolist(),
        "agreement": {row.name: row.difference for row in f.agreement},
        "costs": [list(row) for row in f.costs],
        "seconds_per_state": {row["what"]: row["seconds"] for row in f.speed["rows"]},
        "machine": f.speed["machine"],
        "largest_error_rad": {name: float(np.max(np.abs(run.error))) for name, run in f.runs.items()},
        "energy_missed_J": {name: float(np.max(np.abs(_missed(run)))) for name, run in f.runs.items()},
    }


def _missed(run: control.TaskRun) -> Any:
    total = run.kinetic + run.potential
    return total - total[0] - run.work + run.dissipated


# -- the report ----------------------------------------------------------------------------------------------


def _page(f: _Findings) -> str:
    _, q, _, _ = f.motion
    tool = dynamics.pose(f.arm, q)[:, :3, 3]
    ghosts = [f.parts[2].points[0], f.parts[1].points[2]]
    hero = plots.arm_figure(f.arm, f.parts[1].points[0], path=tool, ghosts=ghosts, azimuth=18, elevation=22)
    live = frame_of(view(f.arm, Samples(*f.motion)))
    return page(
        "A PUMA 560 picks and places",
        f"The arm takes {task.PAYLOAD} kg from one place to another. Every formulation of the papers computes its "
        "torques, and they agree; the fastest is compiled, and a controller uses it at 1 kHz.",
        fact_tiles(f.agreement, f.speed),
        plots.svg(hero, "hero"),
        [
            torque_section(f.arm, f.motion[0], f.terms, RULES),
            agreement_section(f.agreement),
            _costs(f),
            speed_section(f.speed),
            _control(f),
        ],
        f"Made by `forearm demo`, forearm {forearm.__version__}, {machine_line(f.speed)}. The numbers lie beside this "
        "page in `demo.json`.",
        live=live,
    )


def _costs(f: _Findings) -> Section:
    return Section(
        "Operations",
        "Multiplications | additions for six joints, as Hollerbach's table II prints them, and as counted here by "
        "running the same sources on scalars that count. Where a printed number is not met, `forearm count "
        "hollerbach_1980 --published` says why.",
        (
            PageTable(
                ("formulation", "printed", "counted", "verdict"),
                f.costs,
                "Multiplications | additions, n = 6.",
                (0,),
            ),
            Figure(
                plots.svg(plots.cost_figure(cost_curves(), tables_lose()), "cost"),
                "Multiplications against the number of joints.",
                "cost",
            ),
        ),
    )


def _control(f: _Findings) -> Section:
    run = f.runs["load unknown"]
    errors = {
        f"{name}: {1e3 * np.max(np.abs(r.error)):.1f} mrad at most": r.error[::10]
        for name, r in f.runs.items()
    }
    energy = plots.energy_figure(
        *(x[::10] for x in (run.t, run.kinetic, run.potential, run.work, run.dissipated))
    )
    return Section(
        "Control",
        "Computed torque at 1 kHz (natural frequency 15 rad/s, critically damped), simulated by Runge-Kutta. "
        f"Between {f.parts[1].start} s and {f.parts[1].end} s the arm carries {task.PAYLOAD} kg. A controller that is "
        "not told sags; told, it follows. The energy of the arm is what the drives put in, less what friction takes.",
        (
            Figure(
                plots.svg(plots.tracking_figure(f.arm, run.t[::10], errors), "tracking"),
                "Wanted less actual position.",
                "tracking",
            ),
            Figure(
                plots.svg(energy, "energy"),
                "Energy balance of the run with the load unknown; the body's own energy is not counted when it is "
                "taken and put down.",
                "energy",
            ),
        ),
    )
