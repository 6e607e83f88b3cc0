"""The verb about forces inside the arm: what each joint carries, and one link cut free."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from forearm.cli.inputs import doubted, robot_of, state_of
from forearm.cli.measures import Numbers
from forearm.cli.option_groups import AS_WRITTEN, Reading
from forearm.cli.output import PLAIN, Shared, note, print_json, table


def reactions(
    arm: str,
    /,
    *,
    q: Numbers = (),
    qd: Numbers = (),
    qdd: Numbers = (),
    payload: Numbers = (),
    link: Annotated[int, Parameter(name="--link")] = 1,
    plot: Path | None = None,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """What each joint carries in a state: the one number of the drive, and the five of the bearing.

    Link i-1 on link i, axes of link i, at the origin of frame i-1; the rigid arm's, without rotors and friction.

    Parameters
    ----------
    arm
        Name or file of the arm.
    q
        Joint positions [rad, m, or with a unit: 10deg, 12mm]; zeros otherwise.
    qd
        Joint speeds; zeros otherwise.
    qdd
        Joint accelerations; zeros otherwise.
    payload
        Mass [kg], or mass and centre x y z [m] in the tool's axes.
    link
        Which link --plot cuts free (1).
    plot
        Draw that link with the forces and moments that act on it into this file.
    """
    from forearm import dynamics

    found = robot_of(arm, reading=reading, payload=payload, shared=shared)
    state = [state_of(found, name, values) for name, values in (("q", q), ("qd", qd), ("qdd", qdd))]
    loads = dynamics.reactions(found, *state)
    if plot is not None:
        from forearm import plots

        plots.save(plots.free_body_figure(found, state[0], loads, link), plot)
        note(shared, f"drawn: {plot}")
    if shared.json:
        joints = [link.name for link in found.links]
        parts = ("force", "moment", "drive", "bearing_force", "bearing_moment")
        about = {"arm": found.name, "joints": joints} | doubted(found)
        print_json(about | {name: getattr(loads, name) for name in parts})
        return
    header = ("joint", "drive", "", "bearing Fx", "Fy", "Fz [N]", "Mx", "My", "Mz [N m]")
    table(shared, header, [_row(link, i, loads) for i, link in enumerate(found.links)], left=(0, 2))


def _row(link: Any, i: int, loads: Any) -> tuple[Any, ...]:
    five = (*loads.bearing_force[i], *loads.bearing_moment[i])
    return link.name, float(loads.drive[i]), "N m" if link.revolute else "N", *map(float, five)
