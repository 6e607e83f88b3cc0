"""The header of a free robot's motion: the names that records write, `q:base x` … `qd:base vx` … and `q:<joint>`.

The base has seven numbers in q and six in qd, qdd and tau, so that joints cannot be counted: columns go by name alone.
"""

from collections.abc import Sequence

from forearm.faults import coordinates
from forearm.motion.column_units import SECONDS, Column, check_time_unit
from forearm.motion.columns import KINDS, RECORDED, Header
from forearm.motion.number_tables import refuse
from forearm.robot import Robot


def free_columns_of(
    robot: Robot,
    label: str,
    titles: Sequence[str],
    *,
    needs: Sequence[str],
    degrees: bool | None,
    time_unit: str | None,
) -> Header:
    """Take the header of a free robot's file apart; columns that are not its own are ignored, and said."""
    check_time_unit(label, time_unit)
    if degrees:
        refuse(
            label,
            1,
            f"degrees were said, and the base of robot {robot.name!r} is free: its turns are a quaternion and rad/s",
            "joints in radians, too: convert them, and leave --degrees (degrees=True) out",
        )
    found, known = Header(), {"t": ("t", 0)}
    for kind in KINDS:
        known |= {f"{kind}:{name}": (kind, i) for i, name in enumerate(coordinates(robot, kind))}
    for at, title in enumerate(titles):
        place = known.get(title)
        if place is None:
            if title not in RECORDED:
                found.ignored.append(title)
            continue
        found.places[place] = Column(at, SECONDS[time_unit or "s"] if place[0] == "t" else 1.0, True)
    missing = ["t"] if "t" in needs and not found.has("t") else []
    for kind in KINDS:
        have = {i for k, i in found.places if k == kind}
        if have or kind in needs:
            missing += [f"{kind}:{x}" for i, x in enumerate(coordinates(robot, kind)) if i not in have]
    if missing:
        few = f"no column {', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}"
        wanted = (
            f"the columns of a free base and its joints as `forearm simulate` writes them: t, q:base x … q:base qw, "
            f"q:<joint> …, qd:base vx … qd:base wz, qd:<joint> …, and so on for qdd and tau (joints of {robot.name!r}: "
            f"{', '.join(robot.joint_names)})"
        )
        refuse(label, 1, few, wanted)
    return found
