"""Verbs that write a page: the arm alive, and the report of a motion."""

from typing import Annotated, Any

from cyclopts import Parameter

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    arm_of,
    check_places,
    doubted,
    motion_of,
    refuse_names_of_others,
    refuse_to_overwrite,
    refuse_what_is_read,
    refuse_what_leads_away,
    refuse_without_motion,
)
from forearm.cli.measures import Numbers
from forearm.cli.option_groups import AS_SAID, AS_WRITTEN, FileUnits, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Shared, note, print_json, progress
from forearm.outside.text_table import instant

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=1, negative=())]

VIEW, REPORT = "arm.html", "report.html"
"""Where pages go if nobody says where."""


def view(
    arm: Source,
    motion: Source | None = None,
    /,
    *,
    out: Out = VIEW,
    payload: Numbers = (),
    formulations: Words = (),
    force: Flag = False,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Write one HTML file that shows the arm alive: drag its hand, see every torque by its terms, let it go.

    Parameters
    ----------
    arm
        Name or file of the arm, or - for stdin.
    motion
        CSV file of a motion to play: columns t, q1 …, qd1 …, qdd1 … (or joint or ROS names).
    out
        The file (arm.html); - is stdout.
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes; the page has a slider for more.
    formulations
        Papers whose equations stand beside their values (see forearm count).
    force
        Write over a file that is there.
    """
    from forearm.page.document import MARK
    from forearm.page.live_view import PAPERS
    from forearm.page.live_view import view as make

    found = arm_of(arm, reading=reading, payload=payload, shared=shared)
    check_places(out)
    refuse_what_is_read(out, arm, motion)
    refuse_names_of_others(out, "a page", ".html")
    refuse_to_overwrite([out], force, ours=MARK.encode())
    refuse_what_leads_away([out] if out == VIEW else [], force)
    _refuse_two_documents("view", out, shared)
    if motion is None:
        refuse_without_motion("view", units.given())
    samples, remarks = (None, []) if motion is None else _samples(found, motion, units, shared)
    page = make(found, samples, formulations=formulations or PAPERS)
    for remark in page.notes:
        note(shared, remark)
    _written(page.html, out, found, shared, doubted(found, [*remarks, *page.notes]))


def report(
    arm: Source,
    motion: Source,
    /,
    *,
    out: Out = REPORT,
    payload: Numbers = (),
    force: Flag = False,
    units: FileUnits = AS_SAID,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Write a report of a motion: torques, terms, limits, agreement of all formulations, speed; the live arm on top.

    Exit code 1 if a limit is exceeded (of speed or torque: by more than 0.1 %) or a formulation disagrees.

    Parameters
    ----------
    arm
        Name or file of the arm, or - for stdin.
    motion
        CSV file: columns t, q1 …, qd1 …, qdd1 … (or joint or ROS names).
    out
        The file (report.html); - is stdout.
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes.
    force
        Write over a file that is there.
    """
    from forearm.page.document import MARK
    from forearm.page.motion_report import report as make

    found = arm_of(arm, reading=reading, payload=payload, shared=shared)
    check_places(out)
    refuse_what_is_read(out, arm, motion)
    refuse_names_of_others(out, "a page", ".html")
    refuse_to_overwrite([out], force, ours=MARK.encode())
    refuse_what_leads_away([out] if out == REPORT else [], force)
    _refuse_two_documents("report", out, shared)
    samples, remarks = _samples(found, motion, units, shared)
    with progress(shared, f"looking at {found.name}") as tell:
        made = make(found, samples, notes=[*remarks, *_held(payload)], say=tell)
    about = {"passed": made.passed, "beyond_limits": len(made.excesses), **doubted(found, remarks)}
    _written(made.html, out, found, shared, about)
    for excess in made.excesses:
        note(shared, str(excess))
    if not made.agreed:
        note(shared, "formulations disagree about the torques: see Agreement in the report")
    return OK if made.passed else FOUND


def _refuse_two_documents(verb: str, out: str, shared: Shared) -> None:
    from forearm.faults import StateFault

    if shared.json and out == STDIO:
        raise StateFault(
            f"{verb}: --json and the page would both be on stdout; give a file, or leave --json out."
        )


def _held(payload: Numbers) -> list[str]:
    """A note about what the arm holds."""
    if not payload:
        return []
    mass, *centre = (f"{x:g}" for x in payload)
    return [f"the arm holds {mass} kg, centre ({', '.join(centre or ['0', '0', '0'])}) m in the tool's axes"]


def _samples(arm: Any, motion: str, units: FileUnits, shared: Shared) -> tuple[Any, list[str]]:
    """The motion, and what there is to say about how it was read."""
    from forearm.faults import StateFault
    from forearm.motion.motions import Samples

    t, q, qd, qdd, remarks = motion_of(arm, motion, units=units)
    if t is not None and len(t) > 1 and t[0] != 0:
        remarks.append(f"the page counts time from the first row, where the file has t = {instant(t[0])} s")
    for remark in remarks:
        note(shared, remark)
    if t is None or len(t) < 2:
        raise StateFault(
            f"{motion}: a page plays a motion over time; give a column t, and two rows at least."
        )
    return Samples(t, q, qd, qdd), remarks


def _written(html: str, out: str, arm: Any, shared: Shared, more: dict[str, Any] | None = None) -> None:
    if out == STDIO:
        print(html, end="")
        return
    from forearm.outside.output_files import write_text

    write_text(out, html)
    if shared.json:
        print_json({"arm": arm.name, "written": out, "bytes": len(html.encode()), **(more or {})})
    else:
        note(shared, f"written: {out} ({len(html.encode()) / 1000:.0f} kB); open it in a browser")
