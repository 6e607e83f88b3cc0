"""The verb that goes from a pose to joint values."""

from collections.abc import Sequence
from typing import Any, Literal

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.inputs import arm_of, doubted, state_of, tool_doubts
from forearm.cli.measures import ANGLE, LENGTH, Numbers, Seed, WholeIfAny
from forearm.cli.option_groups import AS_WRITTEN, Flag, Reading, Source
from forearm.cli.output import PLAIN, Shared, note, print_json, table

ENTRIES = ("x", "y", "z"), ("roll", "pitch", "yaw"), ("qx", "qy", "qz", "qw")


def reach(
    arm: Source,
    /,
    *,
    pose: Numbers = (),
    frame: str = "tool",
    only: Literal["position", "orientation", "pointing", "position and pointing"] | None = None,
    q0: Numbers = (),
    posture: Numbers = (),
    every: Flag = False,
    attempts: WholeIfAny = None,
    seed: Seed = 0,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Joint values that bring the tool, or any frame, to a pose, within the joints' limits.

    Exit code 1 if the pose is not reached; the nearest that was found is printed then.

    Parameters
    ----------
    arm
        Name or file of the arm.
    pose
        Where in the world: x y z; x y z roll pitch yaw (URDF's angles); or x y z qx qy qz qw (a quaternion, as in ROS).
        Metres and radians, or with a unit: 300mm 90deg. Three numbers ask for the position alone.
    frame
        Which frame shall be there: a joint's or a link's name, flange, tool (tool).
    only
        Of a pose, ask for less: the position, the orientation, where z points, or position and where z points.
    q0
        Where to begin; of several solutions the nearest is taken.
    posture
        Where the joints would rather be, as far as the pose leaves them free.
    every
        All distinct solutions.
    attempts
        Starts to try before giving up, 256 at most (64); not with --every, which tries all.
    seed
        Which starts (0).
    """
    from forearm.reach import inverse_kinematics

    found = arm_of(arm, reading=reading, shared=shared)
    wishes = {
        name: state_of(found, name, given) for name, given in (("q0", q0), ("posture", posture)) if given
    }
    goal = _goal(pose, only)
    answer = inverse_kinematics(
        found, goal, frame=frame, only=only, every=every, attempts=attempts, seed=seed, **wishes
    )
    solved = bool(answer.solved.any() if every else answer.solved)
    remarks = _remarks(found, frame, only, goal, every)
    for remark in remarks:
        note(shared, remark)
    if shared.json:
        asked = {"arm": found.name, "frame": frame, "joints": found.joint_names, "goal": goal}
        print_json(asked | doubted(found, remarks) | answer._asdict())
    else:
        _tell(found, answer, _measured(goal, only), every, solved, shared)
    return OK if solved else FOUND


def _remarks(arm: Any, frame: str, only: str | None, goal: Any, every: bool) -> list[str]:
    """What a person should know of the frame that is brought somewhere, and of a list of solutions."""
    from forearm.reach.goals import goals_of
    from forearm.reach.programs import STARTS, programs_of

    where = tool_doubts(arm) if frame == "tool" else []
    if not every or programs_of(arm, frame, goals_of(goal, only).asked).closed:
        return where
    return [
        *where,
        f"{arm.name} has no closed form for this: solutions are those that {STARTS} searches found, and one that few "
        "starts lead to may be missing",
    ]


def _goal(pose: Sequence[float], only: str | None) -> Any:
    """A position, or a 4x4 pose."""
    import numpy as np

    from forearm.faults import StateFault
    from forearm.frames import Pose

    if len(pose) not in (3, 6, 7):
        raise StateFault(
            f"--pose has {len(pose)} numbers; give x y z, x y z roll pitch yaw, or x y z qx qy qz qw."
        )
    _check_units(pose)
    if not np.isfinite(pose).all():
        raise StateFault(f"--pose is {' '.join(f'{x:g}' for x in pose)}; give finite numbers.")
    position, rest = [float(x) for x in pose[:3]], [float(x) for x in pose[3:]]
    if not rest:
        if only not in (None, "position"):
            raise StateFault(f"--only {only} needs an orientation; give --pose x y z roll pitch yaw.")
        return np.array(position)
    if len(rest) == 3:
        return Pose.at(position, rest).matrix
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = _rotation(rest), position
    return matrix


def _check_units(pose: Sequence[float]) -> None:
    from forearm.faults import StateFault

    names = ENTRIES[0] + (ENTRIES[2] if len(pose) == 7 else ENTRIES[1])
    kinds = [LENGTH] * 3 + ([""] * 4 if len(pose) == 7 else [ANGLE] * 3)
    for name, kind, value in zip(names, kinds, pose, strict=False):
        if getattr(value, "kind", "") not in ("", kind):
            units = {LENGTH: "m, cm or mm", ANGLE: "rad or deg", "": "no unit"}[kind]
            raise StateFault(f"--pose has {getattr(value, 'word', value)} for {name}; give it in {units}.")


def _rotation(quaternion: Sequence[float]) -> Any:
    """The rotation of x, y, z, w."""
    import numpy as np

    from forearm.faults import StateFault

    length = float(np.linalg.norm(quaternion))
    if abs(length - 1) > 1e-3:
        raise StateFault(f"--pose has a quaternion of length {length:.4g}; give qx qy qz qw of length one.")
    x, y, z, w = np.array(quaternion) / length
    # fmt: off
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y)],
        [2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)],
    ])
    # fmt: on


def _measured(goal: Any, only: str | None) -> tuple[bool, bool]:
    """Whether a place is asked for, and whether a direction is."""
    place = only in (None, "position", "position and pointing")
    return place, goal.ndim > 1 and only != "position"


def _tell(
    arm: Any, answer: Any, measured: tuple[bool, bool], every: bool, solved: bool, shared: Shared
) -> None:
    """Joints in rows, solutions in columns, limits behind them; then a sentence."""
    q = answer.q[answer.solved] if every and solved else answer.q[:1] if every else answer.q[None]
    error = (
        answer.error[answer.solved] if every and solved else answer.error[:1] if every else answer.error[None]
    )
    names = [f"q ({k})" for k in range(1, len(q) + 1)] if len(q) > 1 else ["q" if solved else "nearest"]
    limits = any(link.limits for link in arm.links)
    rows = [
        (
            link.name,
            *(float(x) for x in q[:, i]),
            "rad" if link.revolute else "m",
            *(link.limits or ("", "")) * limits,
        )
        for i, link in enumerate(arm.links)
    ]
    header = ("joint", *names, "", *(("low", "high") if limits else ()))
    table(shared, header, rows, left=(0, len(q) + 1))
    digits = "1" if solved else "4"
    errors = zip(measured, error.max(axis=0), ("m", "rad"), strict=True)
    apart = " and ".join(f"{size:.{digits}g} {unit}" for asked, size, unit in errors if asked)
    if solved:
        count = f"{len(q)} solutions" if len(q) > 1 else "reached"
        print(f"{count}, to {apart}; printed to 6 digits, --json has all")
    else:
        print(f"NOT REACHED: {answer.status}; the nearest pose found is {apart} away")
