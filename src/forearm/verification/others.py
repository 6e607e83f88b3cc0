"""The other side of a comparison: an Arm, a model of another library, a function, or torques in a CSV file."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forearm.algebra import Matrix
from forearm.arm import Arm
from forearm.faults import ReadFault, StateFault
from forearm.verification.batches import drive_torques, numbers_of, tables

Torques = Callable[[Matrix, Matrix, Matrix], Matrix]
COLUMN = re.compile(r"(qdd|qd|q|tau)[ _.:\[]*([^\]]+)\]?")


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
    digits: float = 0.0
    """Relative accuracy of the samples, as far as their digits tell."""


def other_of(arm: Arm, other: Any, name: str | None = None) -> Other:
    """The other side, whatever it is."""
    kind = f"{type(other).__module__}.{type(other).__name__}"
    if isinstance(other, Arm):
        found = Other(name or other.name, other.n, _arm_torques(other))
    elif isinstance(other, (str, Path)):
        found = _csv(arm, Path(other))
    elif kind.startswith("pinocchio") and hasattr(other, "nv"):
        found = Other(name or f"Pinocchio {other.name}", int(other.nv), _pinocchio(other))
    elif kind.startswith("mujoco") and hasattr(other, "nv"):
        found = Other(name or "MuJoCo", int(other.nv), _mujoco(other))
    elif hasattr(other, "rne") and hasattr(other, "n"):
        found = Other(name or f"Robotics Toolbox {other.name}", int(other.n), _toolbox(other))
    elif callable(other):
        found = Other(name or str(getattr(other, "__name__", "function")), arm.n, _rows_of(other))
    else:
        raise StateFault(
            f"compare: other is a {kind}; give an Arm, a Pinocchio or MuJoCo model, a Robotics Toolbox "
            "robot, a function "
            "of q, qd, qdd, or the path of a CSV file."
        )
    if found.n != arm.n:
        raise StateFault(
            f"compare: {found.name} has {found.n} degrees of freedom, arm {arm.name!r} has {arm.n} joints; "
            "lock or "
            "remove what is too much (a gripper, a floating base) first."
        )
    return found


def _arm_torques(arm: Arm) -> Torques:
    def torques(q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
        rigid = tables(arm, q, qd, qdd).torques(numbers_of(arm), np.array(arm.gravity_in_base, dtype=float))
        return rigid + drive_torques(arm, qd, qdd)

    return torques


def _rows_of(function: Callable[..., Any]) -> Torques:
    def torques(q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
        rows = [np.asarray(function(*row), dtype=float) for row in zip(q, qd, qdd, strict=True)]
        if rows[0].shape != q[0].shape:
            raise StateFault(
                f"compare: the function returned shape {rows[0].shape} for one state; return {q[0].shape}, one torque "
                "for each joint."
            )
        return np.array(rows)

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

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        before = int(model.opt.disableflags)
        model.opt.disableflags = before | off
        try:
            data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
            mujoco.mj_inverse(model, data)
            return data.qfrc_inverse.copy()
        finally:
            model.opt.disableflags = before

    return _rows_of(inverse)


# -- torques in a file ---------------------------------------------------------------------------------------


def _csv(arm: Arm, path: Path) -> Other:
    """Columns q1 …, qd1 …, qdd1 …, tau1 …, or with joint names (q_shoulder); any order, a header line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadFault(f"{path}: {error}; give a readable CSV file of states and torques.") from None
    if len(lines) < 2:
        raise ReadFault(f"{path}: {len(lines)} lines; give a header and rows of q, qd, qdd, tau.")
    columns = _columns(arm, path, lines[0])
    try:
        words = [[row[c] for c in columns] for row in lines[1:] if row]
        table = np.array([[float(word) for word in row] for row in words])
    except (ValueError, IndexError) as error:
        raise ReadFault(f"{path}: {error}; every row has to have a number in each column.") from None
    n = arm.n
    parts = tuple(table[:, i * n : (i + 1) * n] for i in range(4))
    written = [_accuracy([row[i * n : (i + 1) * n] for row in words], parts[i]) for i in range(4)]
    return Other(path.name, n, None, parts, written[3] + _carried(arm, parts, written[:3]))


def _columns(arm: Arm, path: Path, header: Sequence[str]) -> list[int]:
    """Where q, qd, qdd and tau of each joint stand."""
    places: dict[tuple[str, int], int] = {}
    for at, title in enumerate(header):
        match = COLUMN.fullmatch(title.strip())
        if match is None:
            continue
        joint = match[2].strip()
        if joint in arm.joint_names:
            places[match[1], arm.joint_names.index(joint)] = at
        elif joint.isdigit() and 1 <= int(joint) <= arm.n:
            places[match[1], int(joint) - 1] = at
    wanted = [(what, i) for what in ("q", "qd", "qdd", "tau") for i in range(arm.n)]
    missing = [f"{what}{i + 1}" for what, i in wanted if (what, i) not in places]
    if missing:
        raise ReadFault(
            f"{path}:1: no column {', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}; give a header "
            "with q1 … "
            f"q{arm.n}, qd1 …, qdd1 …, tau1 … (or joint names, q_{arm.joint_names[0]})."
        )
    return [places[key] for key in wanted]


def _carried(arm: Arm, parts: Sequence[Matrix], written: Sequence[float]) -> float:
    """What rounded positions, speeds and accelerations do to torques, relative to the largest: some roundings tried."""
    if max(written) < 1e-15:
        return 0.0
    torques, rng = _arm_torques(arm), np.random.default_rng(0)
    state = [part[:48] for part in parts[:3]]
    units = [w * max(float(np.max(np.abs(part))), 1e-300) for w, part in zip(written, parts, strict=False)]
    exact, worst = torques(*state), 0.0
    for _ in range(6):
        moved = [x + u / 2 * rng.choice([-1.0, 1.0], x.shape) for x, u in zip(state, units, strict=True)]
        worst = max(worst, float(np.max(np.abs(torques(*moved) - exact))))
    return worst / max(float(np.max(np.abs(parts[3]))), 1e-300)


def _accuracy(words: list[list[str]], tau: Matrix) -> float:
    """Half a unit of the last printed digit of the largest torque, relative to it."""
    decimals = max((len(w.split(".")[1].split("e")[0]) for row in words for w in row if "." in w), default=0)
    if any("e" in word.lower() for row in words for word in row):
        return 10.0**-decimals
    return float(10.0**-decimals / max(float(np.max(np.abs(tau))), 1e-300))
