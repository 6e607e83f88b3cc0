"""Verbs about arms: list, show, convert."""

from pathlib import Path
from typing import Any

from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    check_places,
    doubted,
    refuse_names_of_pages,
    refuse_to_overwrite,
    robot_of,
    state_of,
)
from forearm.cli.measures import Numbers
from forearm.cli.option_groups import AS_WRITTEN, Flag, Reading, Source, Target
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, say, table


def arms(*, shared: Shared = PLAIN) -> None:
    """List the built-in arms."""
    from forearm.readers import known_arms, load

    rows = [_row(load(name)) for name in known_arms()]
    if shared.json:
        print_json(rows)
        return
    header = ("name", "what", "joints", "mass [kg]", "drives", "notes")
    table(shared, header, [tuple(row.values()) for row in rows], left=(0, 1, 2))


def _row(arm: Any) -> dict[str, Any]:
    kinds = "".join("R" if link.revolute else "P" for link in arm.links)
    return {
        "name": arm.name,
        "title": dict(arm.provenance).get("title", ""),
        "joints": f"{len(kinds)}R" if set(kinds) == {"R"} else kinds,
        "mass": round(float(arm.total_mass), 4) if arm.dynamics else None,
        "drives": arm.has_drives,
        "notes": len(arm.notes),
    }


def show(
    arm: Source,
    /,
    *,
    reading: Reading = AS_WRITTEN,
    q: Numbers = (),
    plot: Path | None = None,
    shared: Shared = PLAIN,
) -> None:
    """Show an arm: joints, bodies, drives, notes, where its numbers come from.

    Parameters
    ----------
    arm
        Name or file of the arm, or - for stdin.
    q
        Joint positions for the drawing.
    plot
        Draw the arm with its frames and bodies into this file (png, svg, pdf).
    """
    from forearm.faults import StateFault

    check_places(plot=plot)
    if q and plot is None:
        raise StateFault(
            "show: --q is where the drawing stands, and --plot is missing; give --plot, or leave --q out."
        )
    found = robot_of(arm, reading=reading)
    at = state_of(found, "q", q) if q else None
    with Outputs() as outputs:
        with outputs.one():
            if shared.json:
                print_json(_description(found))
            else:
                say(found)
        with outputs.one():
            if plot is not None:
                from forearm import plots

                plots.save(plots.arm_figure(found, plots.good_view(found) if at is None else at), plot)
                note(shared, f"drawn: {plot}")


def _description(arm: Any) -> dict[str, Any]:
    """The arm as plain data."""
    return {
        "name": arm.name,
        "joints": arm.n,
        "dynamics": arm.dynamics,
        "mass": float(arm.total_mass) if arm.dynamics else None,
        "gravity": arm.gravity,
        "base": {"rotation": arm.base.rotation, "translation": arm.base.translation},
        **_ends(arm),
        "links": [_link(link) for link in arm.links],
        "configurations": dict(arm.configurations),
        "notes": arm.notes,
        "provenance": dict(arm.provenance),
    }


def _ends(arm: Any) -> dict[str, Any]:
    """The tool of an arm; the tree of a robot."""
    from forearm.arm import Arm

    if isinstance(arm, Arm):
        return {"tool": {"rotation": arm.tool.rotation, "translation": arm.tool.translation}}
    poses = [{"rotation": pose.rotation, "translation": pose.translation} for pose in arm.mounts]
    couplings = [{"joint": c.joint, "terms": dict(c.terms), "offset": c.offset} for c in arm.couplings]
    return {
        "free": arm.free,
        "parents": arm.parents,
        "mounts": poses,
        "couplings": couplings,
        "ends": arm.tips,
    }


def _link(link: Any) -> dict[str, Any]:
    mass, center, tensor = link.about_com
    drive = link.drive
    return {
        "name": link.name,
        "kind": link.kind,
        "theta": link.theta,
        "d": link.d,
        "pose": {"rotation": link.pose.rotation, "translation": link.pose.translation},
        "flip": link.flip,
        "offset": link.offset,
        "mass": mass,
        "com": center,
        "inertia_about_com": tensor,
        "rotor_inertia": drive.reflected_inertia,
        "viscous": drive.viscous,
        "coulomb": drive.coulomb,
        "limits": link.limits,
        "speed_limit": link.speed_limit,
        "effort_limit": link.effort_limit,
    }


def convert(
    source: Source,
    target: Target,
    /,
    *,
    reading: Reading = AS_WRITTEN,
    to: str | None = None,
    lossy: Flag = False,
    force: Flag = False,
    shared: Shared = PLAIN,
) -> None:
    """Convert an arm: write it as TOML or URDF, with the same torques.

    Parameters
    ----------
    source
        Name or file of the arm, or - for stdin.
    target
        File to write (.toml or .urdf), or - for stdout.
    to
        toml or urdf, where the target's name does not say it.
    lossy
        Leave out what URDF cannot say (rotor inertia, another gravity).
    force
        Write over a file that is there.
    """
    from forearm.faults import StateFault

    arm = robot_of(source, reading=reading, shared=shared)
    form = (to or ("toml" if target == STDIO else Path(target).suffix.lstrip("."))).lower()
    _refuse_what_misleads(form, target, lossy, shared)
    if form not in ("toml", "urdf"):
        raise StateFault(
            f"convert: {target}: {form or 'no suffix'!r} is not written; give .toml or .urdf, or --to."
        )
    refuse_names_of_pages(target, f"an arm as {form.upper()}", f".{form}")
    check_places(target)
    text = _text(arm, form, lossy)
    refuse_to_overwrite([target], force)
    for told in _not_known(arm, form, lossy):
        note(shared, told)
    if target == STDIO:
        print(text, end="")
        return
    from forearm.outside.output_files import write_text

    write_text(target, text)
    if shared.json:
        print_json(
            {"arm": arm.name, "written": target, "format": form}
            | doubted(arm, list(_not_known(arm, form, lossy)))
        )
    else:
        note(shared, f"written: {target}")


def _refuse_what_misleads(form: str, target: str, lossy: bool, shared: Shared) -> None:
    """Refuse a name that says another format, an option that would change nothing, two documents for one stdout."""
    from forearm.faults import StateFault

    named = Path(target).suffix.lower()
    if named in (".toml", ".urdf") and named != f".{form}":
        raise StateFault(
            f"convert: {target} would hold {form}, and its name says {named}; give another, or no --to."
        )
    if lossy and form == "toml":
        raise StateFault("convert: --lossy is for URDF, and TOML says everything; leave it out.")
    if shared.json and target == STDIO:
        raise StateFault(
            "convert: --json and the arm would both be on stdout; give a file, or leave --json out."
        )


def _not_known(arm: Any, form: str, lossy: bool) -> list[str]:
    """What a reader of URDF would take for a limit, of many joints the first four; and what it will not find."""
    from forearm.writers.urdf import stand_ins, unsayable, unwritten

    if form != "urdf":
        return []
    found = stand_ins(arm)
    more = [f"so it is with {len(found) - 4} more joints"] if len(found) > 4 else []
    lost = [*(unsayable(arm) if lossy else ()), *unwritten(arm)]
    return [*found[:4], *more, *(f"left out: {text}" for text in lost)]


def _text(arm: Any, form: str, lossy: bool) -> str:
    if form == "toml":
        from forearm.writers.toml import to_toml

        return to_toml(arm)
    from forearm.writers.urdf import refuse_loss, to_urdf, unsayable

    if not lossy and (lost := unsayable(arm)):
        refuse_loss(arm, lost, "--lossy")
    return to_urdf(arm, lossy=lossy)
