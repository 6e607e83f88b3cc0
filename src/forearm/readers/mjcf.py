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
from forearm.outside.escapes import one_line
from forearm.outside.libraries.optional_libraries import mujoco
from forearm.outside.whole_process.foreign_logs import NO_MUJOCO_LOG
from forearm.readers.file_content import GivenContent, read_limited, refuse_pipe, shortened
from forearm.readers.mjcf_leftovers import JOINTS, left_out
from forearm.readers.mjcf_vocabulary import MAX_BYTES, arm_words
from forearm.readers.robot_text import BodyText, Frame, JointText, LinkText, Mimic, RobotText
from forearm.readers.serial_chain import chain_of
from forearm.readers.trees.chain_or_tree import read_robot
from forearm.readers.xml import parse_xml
from forearm.robot import Robot

UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_GRAVITY = (0.0, 0.0, 0.0)


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
    if allow_files:
        refuse_pipe(path, "MuJoCo")
    robot, model = _robot(path, read_limited(path, "MJCF", MAX_BYTES), allow_files)
    rest.setdefault("gravity", NO_GRAVITY if _off(model, "GRAVITY") else _triple(model.opt.gravity))
    found = read_robot(robot, tip, root, lock, right_angles, keep_defects, False, rest)
    anchors = _anchors(model)
    frames = tuple(_at_body(anchors, frame) for frame in found.frames)
    if isinstance(found, Robot):
        tools = tuple(_at_body(anchors, frame) for frame in found.tools)
        return found.replace(frames=frames, tools=tools)
    chain = chain_of(robot, root, tip, lock)
    last = anchors.get(chain.tip or chain.joints[-1].child)
    tool = found.tool if last is None else found.tool @ Pose(translation=_triple(-last))
    return found.replace(tool=tool, frames=frames)


def _at_body(anchors: Mapping[str, Any], frame: NamedFrame) -> NamedFrame:
    """A link's frame stands at its joint; MJCF means the body's own."""
    anchor = anchors.get(frame.name)
    return frame if anchor is None else frame.replace(pose=frame.pose @ Pose(translation=_triple(-anchor)))


def _robot(path: str | Path | GivenContent, content: bytes, allow_files: bool) -> tuple[RobotText, Any]:
    file = str(path)
    tree = parse_xml(content, file)
    if tree.tag != "mujoco":
        raise ReadFault(
            f"{file}:{tree.sourceline}: the root element is <{tree.tag}>; an MJCF file has <mujoco>."
        )
    whole = content.decode() if isinstance(path, GivenContent) else None
    model = compiled(file, whole if allow_files else arm_words(file, tree))
    names = _Names(model)
    missing = left_out(tree, model, allow_files, names.joints, _off(model, "GRAVITY"))
    robot = _table(file, model, names, _lines(tree), missing)
    return _coupled(robot, model, names), model


def _off(model: Any, flag: str) -> bool:
    """Whether the model's <flag> switches something off."""
    return bool(model.opt.disableflags & int(getattr(mujoco().mjtDisableBit, f"mjDSBL_{flag}")))


class _Names:
    """Names of bodies and joints; what has none gets one that is not taken."""

    def __init__(self, model: Any) -> None:
        self.taken = {model.body(i).name for i in range(model.nbody)}
        self.bodies = ["world", *(model.body(i).name or self.new(f"body{i}") for i in range(1, model.nbody))]
        self.taken |= {model.joint(j).name for j in range(model.njnt)}
        self.joints = [model.joint(j).name or self.new(f"joint{j + 1}") for j in range(model.njnt)]

    def new(self, wanted: str) -> str:
        """A name like this one that nothing in the model has."""
        while wanted in self.taken:
            wanted += "'"
        self.taken.add(wanted)
        return wanted


def _coupled(robot: RobotText, model: Any, names: _Names) -> RobotText:
    """The table with joint equalities as mimics: q1 - q1₀ = a + b (q2 - q2₀), where no higher powers are there."""
    off = _off(model, "EQUALITY") or _off(model, "CONSTRAINT")
    for i in (i for i in range(model.neq) if int(model.eq_type[i]) == JOINTS):
        one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        a, b, *powers = (float(x) for x in model.eq_data[i][:5])
        joint = robot.joints[names.joints[one]]
        if off or not model.eq_active0[i] or two < 0 or any(powers):
            robot.notes.append(
                f"the equality of {joint.name} is no linear coupling of two joints in force: left out"
            )
            continue
        if joint.mimic is not None:
            robot.fault(
                joint.line,
                f"joint {joint.name!r} has two equalities, and a joint follows one other; take one of them out.",
            )
        zero = [float(model.qpos0[int(model.jnt_qposadr[j])]) for j in (one, two)]
        mimic = Mimic(names.joints[two], b, zero[0] + a - b * zero[1])
        robot.joints[joint.name] = replace(joint, mimic=mimic)
    return robot


def compiled(path: str, text: str | None) -> Any:
    """MuJoCo's model of a text, or of the file itself with all that it names."""
    try:
        library = mujoco()
    except ImportError:
        raise ReadFault(
            f"{path}: MJCF is read by MuJoCo, which is not installed; pip install 'forearm[mjcf]'."
        ) from None
    try:
        with NO_MUJOCO_LOG.inside():
            return (
                library.MjModel.from_xml_path(path) if text is None else library.MjModel.from_xml_string(text)
            )
    except (ValueError, RuntimeError, UnicodeDecodeError, library.FatalError) as error:
        sentence = one_line(" ".join(str(error).split())).rstrip(".")
        raise ReadFault(f"{path}: MuJoCo refuses it: {shortened(sentence)}. Repair it there.") from None


def _lines(tree: Any) -> dict[tuple[str, str], int]:
    """Line of each named body and joint."""
    found = (e for e in tree.iter("body", "joint") if e.get("name"))
    return {(e.tag, e.get("name")): e.sourceline or 0 for e in found}


def _table(
    file: str, model: Any, names: _Names, lines: dict[tuple[str, str], int], left_out: list[str]
) -> RobotText:
    """The compiled model as a table of links and joints, as a URDF file would have it."""
    named = _name(model, 0)
    robot = RobotText(file, named if named not in ("", UNNAMED) else Path(file).stem)
    robot.links["world"] = LinkText("world", None, 0)
    anchors = {0: np.zeros(3)}
    """Where each body's joint is, seen from the body: the link's frame is put there."""
    for i in range(1, model.nbody):
        _add_body(robot, model, i, names, anchors, lines)
    robot.notes += left_out
    return robot


def _name(model: Any, start: int) -> str:
    return str(model.names[start : model.names.index(b"\0", start)].decode())


def _add_body(
    robot: RobotText,
    model: Any,
    i: int,
    names: _Names,
    anchors: dict[int, Any],
    lines: dict[tuple[str, str], int],
) -> None:
    bodies = names.bodies
    parent, line = int(model.body_parentid[i]), lines.get(("body", bodies[i]), 0)
    numbers = range(int(model.body_jntadr[i]), int(model.body_jntadr[i]) + int(model.body_jntnum[i]))
    place, rpy = model.body_pos[i] - anchors[parent], _angles(model.body_quat[i])
    turn = _matrix(model.body_quat[i])
    before, anchor = bodies[parent], np.zeros(3)
    for count, j in enumerate(numbers, 1):
        last = count == len(numbers)
        child = bodies[i] if last else names.new(f"{bodies[i]}/{count}")
        step = turn @ model.jnt_pos[j] if count == 1 else model.jnt_pos[j] - anchor
        origin = Frame(_triple(place + step), rpy, line)
        name = names.joints[j]
        robot.joints[name] = _joint(robot, model, j, name, origin, before, child, lines)
        if not last:
            robot.links[child] = LinkText(child, BodyText(Frame(), 0.0, NOTHING, line), line)
        before, anchor, place, rpy, turn = child, model.jnt_pos[j], np.zeros(3), (0.0, 0.0, 0.0), np.eye(3)
    anchors[i] = anchor
    if not numbers:
        name = names.new(f"{bodies[i]} welded")
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
    name: str,
    origin: Frame,
    parent: str,
    child: str,
    lines: dict[tuple[str, str], int],
) -> JointText:
    line = lines.get(("joint", name), origin.line)
    kind = ("floating", "spherical", "prismatic", "revolute")[int(model.jnt_type[j])]
    if kind == "spherical":
        robot.fault(
            line,
            f"joint {name!r} is a ball joint; this library does serial arms with hinges and slides. Write "
            "it as three "
            "hinges, or weld it.",
        )
    dof = int(model.jnt_dofadr[j])
    if kind == "floating":
        if np.any(model.dof_armature[dof : dof + 6]) or _resists(model, slice(dof, dof + 6)):
            robot.notes.append(f"joint {name}: armature, damping and friction of a free base are left out")
        return JointText(name, kind, parent, child, origin, (1.0, 0.0, 0.0), line)
    limited = bool(model.jnt_limited[j])
    if np.any(model.jnt_stiffness[j]) or np.any(_powers(model, "jnt_stiffnesspoly", j)):
        robot.notes.append(f"joint {name}: the spring is not part of an arm, and left out")
    if np.any(_powers(model, "dof_dampingpoly", dof)):
        robot.notes.append(
            f"joint {name}: damping by powers of the speed is left out; the first number is read"
        )
    dry = not (_off(model, "FRICTIONLOSS") or _off(model, "CONSTRAINT"))
    return JointText(
        name,
        "continuous" if kind == "revolute" and not limited else kind,
        parent,
        child,
        origin,
        _triple(model.jnt_axis[j]),
        line,
        limits=(float(model.jnt_range[j][0]), float(model.jnt_range[j][1])) if limited else None,
        damping=0.0 if _off(model, "DAMPER") else float(np.ravel(model.dof_damping[dof])[0]),
        friction=float(model.dof_frictionloss[dof]) if dry else 0.0,
        armature=float(model.dof_armature[dof]),
        effort=_effort(robot, model, j, name),
        offset=-float(model.qpos0[int(model.jnt_qposadr[j])]),
    )


def _effort(robot: RobotText, model: Any, j: int, name: str) -> float | None:
    """The largest torque that drives may exert on a joint, where the model says one; the smaller of two."""
    if not model.jnt_actfrclimited[j]:
        return None
    sizes = sorted(abs(float(x)) for x in model.jnt_actfrcrange[j])
    if not sizes[0]:
        robot.notes.append(
            f"joint {name}: its actuatorfrcrange lets drives push one way alone, which is not read: no limit of torque"
        )
    elif sizes[0] != sizes[1]:
        robot.notes.append(
            f"joint {name}: its actuatorfrcrange is not the same both ways; {sizes[0]:g} is taken for both"
        )
    return sizes[0] or None


def _powers(model: Any, field: str, at: Any) -> Any:
    """Coefficients beyond the linear one, which MuJoCo has since version 4."""
    return getattr(model, field)[at] if hasattr(model, field) else 0.0


def _resists(model: Any, dofs: slice) -> bool:
    """Whether degrees of freedom have damping or dry friction."""
    found = (model.dof_damping[dofs], model.dof_frictionloss[dofs], _powers(model, "dof_dampingpoly", dofs))
    return any(np.any(values) for values in found)


def _anchors(model: Any) -> dict[str, Any]:
    """Where the frames of bodies' links are, seen from the bodies, at their last joints: where that is elsewhere."""
    found = {}
    for i, name in enumerate(_Names(model).bodies):
        if model.body_jntnum[i]:
            place = model.jnt_pos[int(model.body_jntadr[i]) + int(model.body_jntnum[i]) - 1]
            if np.any(place):
                found[name] = np.array(place)
    return found


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
