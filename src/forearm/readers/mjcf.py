"""MJCF files, compiled by MuJoCo itself (the extra `mjcf`), then read out of the compiled model.

Defaults, classes, frames, inertia from geometry: all that is MuJoCo's, so an arm here is the arm there.
Armature, damping and friction loss are carried. MuJoCo sees only the words that an arm needs (`mjcf_vocabulary`);
other files (includes, meshes, plugins) are not opened unless asked.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from forearm.angles import roll_pitch_yaw
from forearm.arm import Arm
from forearm.faults import ReadFault
from forearm.frames import NamedFrame, Pose
from forearm.readers.file_content import read_limited
from forearm.readers.mjcf_vocabulary import MAX_BYTES, arm_words
from forearm.readers.robot_text import BodyText, Frame, JointText, LinkText, Mimic, RobotText
from forearm.readers.serial_chain import chain_of
from forearm.readers.trees.chain_or_tree import read_robot
from forearm.readers.xml import parse_xml
from forearm.robot import Robot

UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def read_mjcf(
    path: str | Path,
    *,
    tip: str | None = None,
    root: str | None = None,
    lock: Mapping[str, float] | None = None,
    allow_files: bool = False,
    right_angles: float | None = None,
    keep_defects: bool = False,
    **rest: Any,
) -> Arm | Robot:
    """The arm in an MJCF file, or the robot, where it branches, joints follow others, or its base is a free joint.

    tip, root, lock, right_angles, keep_defects: as in `read_urdf`, with bodies for links.
    allow_files: let MuJoCo open the files that the model names (includes, meshes), if you trust it.
    `rest` are fields of Arm or Robot; gravity is the model's unless it is given. Equality constraints between two
    joints become couplings where they are linear.
    """
    robot, model = _robot(Path(path), read_limited(path, "MJCF", MAX_BYTES), allow_files)
    rest.setdefault("gravity", tuple(float(x) for x in model.opt.gravity))
    found = read_robot(robot, tip, root, lock, right_angles, keep_defects, False, rest)
    frames = tuple(_at_body(model, frame) for frame in found.frames)
    if isinstance(found, Robot):
        tools = tuple(_at_body(model, frame) for frame in found.tools)
        return found.replace(frames=frames, tools=tools)
    chain = chain_of(robot, root, tip, lock)
    last = _anchor(model, chain.tip or chain.joints[-1].child)
    tool = found.tool @ Pose(translation=_triple(-last)) if np.any(last) else found.tool
    return found.replace(tool=tool, frames=frames)


def _at_body(model: Any, frame: NamedFrame) -> NamedFrame:
    """A link's frame stands at its joint; MJCF means the body's own."""
    anchor = _anchor(model, frame.name)
    return frame.replace(pose=frame.pose @ Pose(translation=_triple(-anchor))) if np.any(anchor) else frame


def _robot(path: Path, content: bytes, allow_files: bool) -> tuple[RobotText, Any]:
    file = str(path)
    tree = parse_xml(content, file)
    if tree.tag != "mujoco":
        raise ReadFault(
            f"{file}:{tree.sourceline}: the root element is <{tree.tag}>; an MJCF file has <mujoco>."
        )
    model = _compiled(path, None if allow_files else arm_words(file, tree))
    robot = _table(file, model, _lines(tree), _left_out(tree))
    return _coupled(robot, model, tree), model


def _coupled(robot: RobotText, model: Any, tree: Any) -> RobotText:
    """The table with joint equalities as mimics: q1 - q1₀ = a + b (q2 - q2₀), where no higher powers are there."""
    for element in tree.iterfind("equality/joint"):
        one, two, line = element.get("joint1"), element.get("joint2"), element.sourceline or 0
        powers = [float(x) for x in (element.get("polycoef") or "0 1 0 0 0").split()]
        known = one in robot.joints and (two is None or two in robot.joints)
        if element.get("active") == "false" or two is None or not known or any(powers[2:]):
            robot.notes.append(
                f"line {line}: the equality of {one} is no linear coupling of two joints: left out"
            )
            continue
        a, b = (*powers, 1.0)[:2] if len(powers) > 1 else (powers[0], 1.0)
        joint, zero = robot.joints[one], [float(model.qpos0[_address(model, name)]) for name in (one, two)]
        robot.joints[one] = replace(joint, mimic=Mimic(two, b, zero[0] + a - b * zero[1]))
    return robot


def _address(model: Any, name: str) -> int:
    """Where a joint's number stands in MuJoCo's qpos."""
    numbers = {_joint_name(model, j): j for j in range(model.njnt)}
    return int(model.jnt_qposadr[numbers[name]])


def _compiled(path: Path, text: str | None) -> Any:
    """MuJoCo's model of a text, or of the file itself with all that it names."""
    try:
        import mujoco
    except ImportError:
        raise ReadFault(
            f"{path}: MJCF is read by MuJoCo, which is not installed; pip install 'forearm[mjcf]'."
        ) from None
    heard = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(
        lambda sentence: None
    )  # MuJoCo would write them to a file in the current folder
    try:
        if text is None:
            return mujoco.MjModel.from_xml_path(str(path))
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, RuntimeError, UnicodeDecodeError, mujoco.FatalError) as error:
        sentence = " ".join(str(error).split()).rstrip(".")
        raise ReadFault(f"{path}: MuJoCo refuses it: {sentence}. Repair it there.") from None
    finally:
        mujoco.set_mju_user_warning(heard)


def _left_out(tree: Any) -> list[str]:
    """What a model may have and an arm has not."""
    joined = len(tree.findall("equality/*")) - len(tree.findall("equality/joint"))
    counts = {"equality constraints": joined, "tendons": len(tree.findall("tendon/*"))}
    said = [f"{n} {what} are not part of an arm, and left out" for what, n in counts.items() if n]
    driven = [
        e.get("joint", "?") for e in tree.iterfind("actuator/*") if e.get("armature") or e.get("damping")
    ]
    if driven:
        said.append(
            f"armature or damping in the actuators of {', '.join(driven)} is left out; joints carry it"
        )
    return said


def _lines(tree: Any) -> dict[tuple[str, str], int]:
    """Line of each named body and joint."""
    found = (e for e in tree.iter("body", "joint") if e.get("name"))
    return {(e.tag, e.get("name")): e.sourceline or 0 for e in found}


def _table(file: str, model: Any, lines: dict[tuple[str, str], int], left_out: list[str]) -> RobotText:
    """The compiled model as a table of links and joints, as a URDF file would have it."""
    named = _name(model, 0)
    robot = RobotText(file, named if named not in ("", UNNAMED) else Path(file).stem)
    bodies = ["world", *(model.body(i).name or f"body{i}" for i in range(1, model.nbody))]
    robot.links["world"] = LinkText("world", None, 0)
    anchors = {0: np.zeros(3)}
    """Where each body's joint is, seen from the body: the link's frame is put there."""
    for i in range(1, model.nbody):
        _add_body(robot, model, i, bodies, anchors, lines)
    robot.notes += left_out
    return robot


def _name(model: Any, start: int) -> str:
    return str(model.names[start : model.names.index(b"\0", start)].decode())


def _add_body(
    robot: RobotText,
    model: Any,
    i: int,
    bodies: list[str],
    anchors: dict[int, Any],
    lines: dict[tuple[str, str], int],
) -> None:
    parent, line = int(model.body_parentid[i]), lines.get(("body", bodies[i]), 0)
    numbers = range(int(model.body_jntadr[i]), int(model.body_jntadr[i]) + int(model.body_jntnum[i]))
    place, rpy = model.body_pos[i] - anchors[parent], _angles(model.body_quat[i])
    turn = _matrix(model.body_quat[i])
    before, anchor = bodies[parent], np.zeros(3)
    for count, j in enumerate(numbers, 1):
        last = count == len(numbers)
        child = bodies[i] if last else f"{bodies[i]}/{count}"
        step = turn @ model.jnt_pos[j] if count == 1 else model.jnt_pos[j] - anchor
        origin = Frame(_triple(place + step), rpy, line)
        robot.joints[_joint_name(model, j)] = _joint(robot, model, j, origin, before, child, lines)
        if not last:
            robot.links[child] = LinkText(child, BodyText(Frame(), 0.0, NOTHING, line), line)
        before, anchor, place, rpy, turn = child, model.jnt_pos[j], np.zeros(3), (0.0, 0.0, 0.0), np.eye(3)
    anchors[i] = anchor
    if not numbers:
        name = f"{bodies[i]} welded"
        robot.joints[name] = JointText(
            name, "fixed", before, bodies[i], Frame(_triple(place), rpy, line), (1.0, 0.0, 0.0), line
        )
    robot.links[bodies[i]] = LinkText(bodies[i], _inertia(model, i, anchor, line), line)
    if model.body_gravcomp[i]:
        robot.notes.append(
            f"body {bodies[i]}: gravcomp {model.body_gravcomp[i]:g} is left out; gravity is in the torques"
        )


def _inertia(model: Any, i: int, anchor: Any, line: int) -> BodyText:
    xx, yy, zz = (float(x) for x in model.body_inertia[i])
    origin = Frame(_triple(model.body_ipos[i] - anchor), _angles(model.body_iquat[i]), line)
    return BodyText(origin, float(model.body_mass[i]), (xx, 0.0, 0.0, yy, 0.0, zz), line)


def _joint(
    robot: RobotText,
    model: Any,
    j: int,
    origin: Frame,
    parent: str,
    child: str,
    lines: dict[tuple[str, str], int],
) -> JointText:
    name = _joint_name(model, j)
    line = lines.get(("joint", name), origin.line)
    kind = ("floating", "spherical", "prismatic", "revolute")[int(model.jnt_type[j])]
    if kind == "spherical":
        robot.fault(
            line,
            f"joint {name!r} is a ball joint; this library does serial arms with hinges and slides. Write "
            "it as three "
            "hinges, or weld it.",
        )
    if kind == "floating":
        return JointText(name, kind, parent, child, origin, (1.0, 0.0, 0.0), line)
    dof = int(model.jnt_dofadr[j])
    limited = bool(model.jnt_limited[j])
    if float(np.max(np.abs(np.atleast_1d(model.jnt_stiffness[j])))):
        robot.notes.append(f"joint {name}: the spring is not part of an arm, and left out")
    return JointText(
        name,
        "continuous" if kind == "revolute" and not limited else kind,
        parent,
        child,
        origin,
        _triple(model.jnt_axis[j]),
        line,
        limits=(float(model.jnt_range[j][0]), float(model.jnt_range[j][1])) if limited else None,
        damping=float(np.ravel(model.dof_damping[dof])[0]),
        friction=float(model.dof_frictionloss[dof]),
        armature=float(model.dof_armature[dof]),
        offset=-float(model.qpos0[int(model.jnt_qposadr[j])]),
    )


def _anchor(model: Any, name: str) -> Any:
    """Where the frame of a body's link is, seen from the body: at its last joint."""
    for i in range(1, model.nbody):
        if name == (model.body(i).name or f"body{i}") and model.body_jntnum[i]:
            return np.array(model.jnt_pos[int(model.body_jntadr[i]) + int(model.body_jntnum[i]) - 1])
    return np.zeros(3)


def _joint_name(model: Any, j: int) -> str:
    return str(model.joint(j).name) or f"joint{j + 1}"


def _matrix(quaternion: Any) -> Any:
    """Rotation of a unit quaternion (w, x, y, z)."""
    w, x, y, z = (float(c) for c in quaternion / np.linalg.norm(quaternion))
    # fmt: off
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
    # fmt: on


def _angles(quaternion: Any) -> tuple[float, float, float]:
    return roll_pitch_yaw(_matrix(quaternion))


def _triple(v: Any) -> tuple[float, float, float]:
    return float(v[0]) + 0.0, float(v[1]) + 0.0, float(v[2]) + 0.0
