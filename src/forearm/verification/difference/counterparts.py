"""The other side of a comparison: an Arm, a model of another library, a function, or torques in a CSV file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.chain_cuts import on_six_joints
from forearm.faults import StateFault, not_masked
from forearm.motion.columns import KINDS
from forearm.motion.motion_files import read_motion_file, with_lags
from forearm.outside.whole_process.foreign_logs import NO_MUJOCO_LOG
from forearm.robot import Robot
from forearm.verification.difference.causes.unknowns import joint_friction
from forearm.verification.difference.torque_tables import all_joints, drive_torques, rigid_torques

Torques = Callable[[Matrix, Matrix, Matrix], Matrix]

COARSE = 0.05
"""No log rounds positions, speeds and accelerations to so few digits [rad, m, s]: they are states that were chosen."""


@dataclass(frozen=True)
class Other:
    """Somebody's torques."""

    name: str
    """What it is called."""
    n: int
    """Number of joints."""
    torques: Torques | None
    """Batch of torques of a batch of states, or None."""
    rows: tuple[Matrix, ...] | None = None
    """q, qd, qdd, tau (S, n) where there are only samples."""
    rounded: Any = 0.0
    """How much the digits of samples leave open in the torque of each joint (n,), friction aside [N m or N]."""
    turning: Any = 0.0
    """How much friction may differ within the last digit of speeds, row by row (S, n) [N m or N]."""
    coarse: Any = None
    """How much that would be if states that look chosen, of 0, 1 or 0.5, were rounded so; None where none do."""
    joints: tuple[str, ...] = ()
    """Names of its joints, where it has names."""
    notes: tuple[str, ...] = ()
    """What there is to say of its file."""


def on_fixed_bases(arm: Arm | Robot, other: Any) -> tuple[Arm | Robot, Any]:
    """Both as they are; free robots on six joints, at any position of which they can differ."""
    loose = [isinstance(x, Robot) and x.free for x in (arm, other)]
    if not any(loose):
        return arm, other
    if not all(loose):
        raise StateFault(
            f"compare: the base of {arm.name!r} is {'free' if loose[0] else 'fixed'}, that of the other "
            f"{'is not' if loose[0] else 'is free'}; free robots are compared with free Robots. Compare "
            "robot.fixed() with what is fixed."
        )
    return on_six_joints(arm), on_six_joints(other)


def other_of(arm: Arm | Robot, other: Any, name: str | None = None) -> Other:
    """The other side, whatever it is; a robot's joints by their names where the other has the same ones."""
    found = _asked(arm, other, name)
    if found.n != arm.n:
        raise StateFault(
            f"compare: {found.name} has {found.n} degrees of freedom, arm {arm.name!r} has {arm.n} joints; "
            "lock or "
            "remove what is too much (a gripper, a floating base) first."
        )
    if not isinstance(arm, Robot) or found.torques is None or set(found.joints) != set(arm.joint_names):
        return found
    theirs = [found.joints.index(joint) for joint in arm.joint_names]
    back, ask = list(np.argsort(theirs)), found.torques
    return replace(found, torques=lambda *state: ask(*(x[:, back] for x in state))[:, theirs])


def _asked(arm: Arm | Robot, other: Any, name: str | None) -> Other:
    kind = f"{type(other).__module__}.{type(other).__name__}"
    if isinstance(other, (Arm, Robot)):
        found = Other(name or other.name, other.n, _arm_torques(other), joints=other.joint_names)
    elif isinstance(other, (str, Path)):
        found = _csv(arm, Path(other))
    elif kind.startswith("pinocchio") and hasattr(other, "nv"):
        joints = tuple(other.names)[1:]
        found = Other(name or f"Pinocchio {other.name}", int(other.nv), _pinocchio(other), joints=joints)
    elif kind.startswith("mujoco") and hasattr(other, "nv"):
        joints = tuple(other.joint(i).name for i in range(other.njnt))
        said = _mujoco_notes(other)
        found = Other(name or "MuJoCo", int(other.nv), _mujoco(other), joints=joints, notes=said)
    elif hasattr(other, "rne") and hasattr(other, "n"):
        found = Other(name or f"Robotics Toolbox {other.name}", int(other.n), _toolbox(other))
    elif callable(other):
        found = Other(name or str(getattr(other, "__name__", "function")), arm.n, _rows_of(other))
    else:
        raise StateFault(
            f"compare: other is a {kind}; give an Arm or Robot, a Pinocchio or MuJoCo model, a Robotics Toolbox "
            "robot, a function "
            "of q, qd, qdd, or the path of a CSV file."
        )
    return found


def _arm_torques(arm: Arm | Robot) -> Torques:
    def torques(q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
        return rigid_torques(arm, q, qd, qdd) + drive_torques(arm, qd, qdd)

    return torques


def _rows_of(function: Callable[..., Any]) -> Torques:
    """Torques one state at a time; the function may do with its arguments, and with what it returned, what it likes."""

    def torques(q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
        return np.array([one(*row) for row in zip(q, qd, qdd, strict=True)])

    def one(q: Vector, qd: Vector, qdd: Vector) -> Vector:
        returned = function(q.copy(), qd.copy(), qdd.copy())
        not_masked(returned, "compare: what the function returned")
        given = np.asarray(returned)
        if given.shape != q.shape or given.dtype.kind not in "fiu":
            what = f"shape {given.shape}" if given.shape != q.shape else f"numbers of type {given.dtype}"
            raise StateFault(
                f"compare: the function returned {what} for one state; return {q.shape} real numbers, one "
                "torque for each joint."
            )
        if not np.all(np.isfinite(given)):
            raise StateFault(
                f"compare: the function returned {given.tolist()} for q = {q.tolist()}, qd = {qd.tolist()}, qdd = "
                f"{qdd.tolist()}; return finite numbers, one torque for each joint."
            )
        return np.array(given, dtype=float)

    return torques


def _pinocchio(model: Any) -> Torques:
    import pinocchio

    data, neutral = model.createData(), pinocchio.neutral(model)
    return _rows_of(
        lambda q, qd, qdd: pinocchio.rnea(model, data, pinocchio.integrate(model, neutral, q), qd, qdd).copy()
    )


def _toolbox(robot: Any) -> Torques:
    return _rows_of(lambda q, qd, qdd: np.asarray(robot.rne(q, qd, qdd), dtype=float).ravel())


def _mujoco(model: Any) -> Torques:
    import mujoco

    if model.nq != model.nv:
        raise StateFault(
            "compare: the MuJoCo model has ball or free joints; give one with hinges and slides only."
        )
    data = mujoco.MjData(model)
    off = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    stepped = int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)  # accelerations of a step, not of an instant
    no_friction = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    # constraints to MuJoCo, soft and so without a torque of their own at a state: of what slides, these sizes
    there = not int(model.opt.disableflags) & no_friction
    dry, ropes = there * model.dof_frictionloss, there * model.tendon_frictionloss

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        before = int(model.opt.disableflags), int(model.opt.enableflags)
        model.opt.disableflags, model.opt.enableflags = before[0] | off, before[1] & ~stepped
        try:
            data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
            with NO_MUJOCO_LOG.inside():
                mujoco.mj_inverse(model, data)
                found = data.qfrc_inverse + dry * np.sign(qd)
                return found + _dry_tendons(model, data, ropes) if np.any(ropes) else found
        finally:
            model.opt.disableflags, model.opt.enableflags = before

    return _rows_of(inverse)


def _dry_tendons(model: Any, data: Any, sizes: Vector) -> Vector:
    """What joints give against the dry friction of tendons, in the state that MuJoCo was just asked about.

    How fast each joint alone moves them is asked for: versions keep their Jacobian in different forms.
    """
    import mujoco

    senses, slopes = np.sign(data.ten_velocity), []
    for alone in np.eye(model.nv):
        data.qvel[:] = alone
        mujoco.mj_fwdVelocity(model, data)
        slopes.append(np.array(data.ten_velocity))
    return np.array(slopes) @ (sizes * senses)


def _mujoco_notes(model: Any) -> tuple[str, ...]:
    """What a model does that its torques at a state do not show, and what no arm does."""
    import mujoco

    off = mujoco.mjtDisableBit
    flags = int(model.opt.disableflags)
    said = []
    if not flags & (off.mjDSBL_CONSTRAINT | off.mjDSBL_EQUALITY) and np.any(model.eq_active0):
        many = int(np.count_nonzero(model.eq_active0))
        said.append(
            f"WARNING: the MuJoCo model has {many} equality constraint{'' if many == 1 else 's'}: left out, since "
            "torques at a state do not show them; it moves otherwise than what is compared here"
        )
    lifted = [model.body(i).name or f"body {i}" for i in np.flatnonzero(model.body_gravcomp)]
    if lifted and not flags & off.mjDSBL_GRAVITY:
        said.append(
            f"the MuJoCo model takes weight off {', '.join(lifted[:6])} (gravcomp), which no arm does"
        )
    return tuple(said)


# -- torques in a file ---------------------------------------------------------------------------------------


def _csv(arm: Arm | Robot, path: Path) -> Other:
    """A motion file with q, qd, qdd and tau of every joint; angles are taken as they are, that is what is asked."""
    file = with_lags(read_motion_file(path, arm, needs=KINDS, degrees=False))
    parts = tuple(getattr(file, kind) for kind in KINDS)
    units = [_rounded(kind, file.digits[kind], part) for kind, part in zip(KINDS, parts, strict=True)]
    digits = [file.digits[kind] * np.any(part != 0, axis=0) for kind, part in zip(KINDS, parts, strict=True)]
    chosen = any(np.any(x >= COARSE) for x in digits[:3])
    return Other(
        path.name,
        arm.n,
        None,
        parts,
        rounded=units[3] + _carried(arm, parts, units[:3]),
        turning=_turning(arm, parts[1], units[1]),
        coarse=units[3] + _carried(arm, parts, digits[:3]) if chosen else None,
        notes=file.notes,
    )


def _rounded(kind: str, units: Vector, values: Matrix) -> Vector:
    """Last digits (n,) to which columns were rounded; what nobody rounds so, a state of 0, 1 or 0.5, is meant so.

    Torques that are zero in every row are as exact as the finest of the others, which may have rounded them away.
    """
    there = np.any(values != 0, axis=0)
    if kind != "tau":
        return np.where(there & (units < COARSE), units, 0.0)
    units = np.where(there, units, np.min(units[there], initial=np.inf) if there.any() else 0.0)
    return np.where(units >= 1, 0.0, units) if np.any((units > 0) & (units < 1)) else units


def _carried(arm: Arm | Robot, parts: Sequence[Matrix], units: Sequence[Vector]) -> Vector:
    """What rounded positions, speeds and accelerations do to torques at most: some roundings tried (n,) [N m]."""
    worst = np.zeros(arm.n)
    sizes = [max(float(np.max(np.abs(part))), 1e-300) for part in parts[:3]]
    if max(float(np.max(u)) / size for u, size in zip(units, sizes, strict=True)) < 1e-15:
        return worst
    torques, rng = _arm_torques(_without_friction(arm)), np.random.default_rng(0)
    rows = np.unique(np.linspace(0, len(parts[0]) - 1, 48).astype(int))
    state = [part[rows] for part in parts[:3]]
    exact = torques(*state)
    for _ in range(6):
        moved = [x + u / 2 * rng.choice([-1.0, 1.0], x.shape) for x, u in zip(state, units, strict=True)]
        worst = np.maximum(worst, np.max(np.abs(torques(*moved) - exact), axis=0))
    return worst


def _without_friction(arm: Arm | Robot) -> Arm | Robot:
    links = (link.replace(drive=link.drive.replace(viscous=0.0, coulomb=(0.0, 0.0))) for link in arm.links)
    return arm.replace(links=tuple(links))


def _turning(arm: Arm | Robot, qd: Matrix, units: Vector) -> Matrix:
    """How much friction changes within the last digit of speeds (S, n): where a joint turns round, all of it."""
    rates = all_joints(arm, qd)
    ways = np.abs(arm.coupling_map[0]) if isinstance(arm, Robot) else np.eye(arm.n)
    exact, by = joint_friction(arm, rates), ways @ units
    worst = np.maximum(*(np.abs(joint_friction(arm, rates + step) - exact) for step in (by, -by)))
    return np.asarray(worst @ ways)
