"""The verb about forces inside the arm: what each joint carries, and one link cut free."""

from pathlib import Path
from typing import Any

from forearm.cli.inputs import check_places, doubted, robot_of, state_of, taken_as_zero
from forearm.cli.measures import Numbers, WholeIfAny
from forearm.cli.option_groups import AS_WRITTEN, Reading, Source
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, table


def reactions(
    arm: Source,
    /,
    *,
    q: Numbers = (),
    qd: Numbers = (),
    qdd: Numbers = (),
    payload: Numbers = (),
    link: WholeIfAny = None,
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
    from forearm.faults import StateFault

    check_places(plot=plot)
    if link is not None and plot is None:
        raise StateFault("reactions: --link is what --plot cuts free; give --plot, or leave --link out.")
    found = robot_of(arm, reading=reading, payload=payload, shared=shared)
    if link is not None and not 1 <= link <= len(found.links):
        raise StateFault(f"reactions: --link is {link}; give a number from 1 to {len(found.links)}.")
    given = {"q": q, "qd": qd, "qdd": qdd}
    state = [state_of(found, name, values) for name, values in given.items()]
    loads = dynamics.reactions(found, *state)
    absent, zeros = taken_as_zero(given)
    remarks = [*_of_drives(found), *_of_couplings(found), *_of_limits(found, state)]
    for remark in (*zeros, *remarks):
        note(shared, remark)
    with Outputs() as outputs:
        with outputs.one():
            _tell(found, loads, {"assumed_zero": absent} | doubted(found, remarks), shared)
        with outputs.one():
            if plot is not None:
                from forearm import plots

                plots.save(plots.free_body_figure(found, state[0], loads, 1 if link is None else link), plot)
                note(shared, f"drawn: {plot}")


def _tell(found: Any, loads: Any, about: dict[str, Any], shared: Shared) -> None:
    if shared.json:
        joints = [link.name for link in found.links]
        parts = ("force", "moment", "drive", "bearing_force", "bearing_moment")
        values = {name: getattr(loads, name) for name in parts}
        print_json({"arm": found.name, "joints": joints} | about | values)
        return
    header = ("joint", "drive", "", "bearing Fx", "Fy", "Fz [N]", "Mx", "My", "Mz [N m]")
    table(shared, header, [_row(link, i, loads) for i, link in enumerate(found.links)], left=(0, 2))


def _of_drives(robot: Any) -> list[str]:
    """What the drive gives besides."""
    if not robot.has_drives:
        return []
    return ["rotor inertia and friction are left out: what the drives give, forearm torque says"]


def _of_limits(robot: Any, state: list[Any]) -> list[str]:
    """Where the state, or the whole torque of a drive, is beyond a limit."""
    from forearm.dynamics import inverse_dynamics
    from forearm.motion.limit_excesses import limit_excesses

    q, qd, _, tau = (x[None] for x in (*state, inverse_dynamics(robot, *state)))
    return [f"joint {excess}" for excess in limit_excesses(robot, None, q, qd, tau)[()]]


def _of_couplings(robot: Any) -> list[str]:
    """What drives and bearings of a robot are not, whose joints follow others."""
    led = [coupling.joint for coupling in getattr(robot, "couplings", ())]
    if not led:
        return []
    return [
        f"{', '.join(led[:6])}{' …' if len(led) > 6 else ''} {'follow' if len(led) > 1 else 'follows'} other joints: "
        "here each joint has a drive of its own. What the motors give, forearm torque says; what the rods, belts or "
        "gears between joints do to the bearings is not in these numbers"
    ]


def _row(link: Any, i: int, loads: Any) -> tuple[Any, ...]:
    five = (*loads.bearing_force[i], *loads.bearing_moment[i])
    return link.name, float(loads.drive[i]), "N m" if link.revolute else "N", *map(float, five)
