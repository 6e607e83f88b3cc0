"""A second opinion that shares no code with the rest: torques straight from the source description, twice.

Nothing of this library is imported here. A chain is read from Denavit-Hartenberg rows, from plain numbers or from
a URDF text, and its torques are computed by

    spatial vectors     one 6-vector recursion in world axes, each body's at the point of its joint
    Lagrange            T = ½ Σ tr(Ẋ J Ẋᵀ) with 4x4 matrices; the derivatives of M and V by complex steps,
                        which are exact to rounding (no difference is ever taken)

The two share the chain and the joints' 4x4 motions with each other, and nothing else.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STEP = 1e-30
"""The complex step: small enough that its square is nothing."""


@dataclass(frozen=True)
class Moving:
    """One joint and its body, in whatever frames the source has."""

    before: Any
    """4x4: from the frame of the body before to the joint's frame, constant."""
    kind: str
    """'revolute' or 'prismatic'."""
    axis: Any
    """Unit vector of the joint, joint frame (3,)."""
    after: Any
    """4x4: from the moved joint frame to the frame of the body, constant."""
    mass: float
    """Mass [kg]."""
    center: Any
    """Centre of mass, body frame (3,) [m]."""
    inertia: Any
    """Inertia about the centre, body axes (3, 3) [kg m²]."""


@dataclass(frozen=True)
class Chain:
    """Joints and bodies on a base, under gravity."""

    moving: tuple[Moving, ...]
    gravity: Any
    """Free fall, world axes (3,) [m/s²]."""


# -- chains from sources -------------------------------------------------------------------------------------


def chain_from_numbers(rows: Sequence[Mapping[str, Any]], base: Any, gravity: Any) -> Chain:
    """From rows with kind, theta, d, pose (4x4), flip, offset, mass, com, inertia (about com): Rz Tz X each."""
    moving = []
    for i, row in enumerate(rows):
        sign = -1.0 if row["flip"] else 1.0
        turn, along = row["theta"], row["d"]
        if row["kind"] == "revolute":
            turn = turn + sign * row["offset"]
        else:
            along = along + sign * row["offset"]
        start = np.asarray(base, dtype=float) if i == 0 else np.eye(4)
        before = start @ _turn("z", turn) @ _shift(0, 0, along)
        moving.append(_moving(before, row, (0.0, 0.0, sign), row["pose"]))
    return Chain(tuple(moving), np.asarray(gravity, dtype=float))


def chain_from_dh(
    rows: Sequence[Mapping[str, Any]], convention: str, base: Any = None, gravity: Any = (0.0, 0.0, -9.81)
) -> Chain:
    """From Denavit-Hartenberg rows with kind, a, alpha, d, theta, mass, com, inertia; 'standard' or 'modified'."""
    moving = []
    for i, row in enumerate(rows):
        start = np.eye(4) if base is None or i else np.asarray(base, dtype=float)
        link = _shift(row["a"], 0, 0) @ _turn("x", row["alpha"])
        joint = _turn("z", row["theta"]) @ _shift(0, 0, row["d"])
        if convention == "standard":
            moving.append(_moving(start @ joint, row, (0.0, 0.0, 1.0), link))
        else:
            moving.append(_moving(start @ link @ joint, row, (0.0, 0.0, 1.0), np.eye(4)))
    return Chain(tuple(moving), np.asarray(gravity, dtype=float))


def chain_from_urdf(
    text: str,
    joints: Sequence[str],
    held: Mapping[str, float] | None = None,
    gravity: Any = (0.0, 0.0, -9.81),
) -> Chain:
    """From a URDF text: the named joints move, in chain order; all others are welded (at `held`, or zero).

    Bodies are not folded: each welded link becomes a joint that never moves, with a body of its own, so that
    nothing here depends on how inertias are summed.
    """
    root = ET.fromstring(text)
    bodies = {e.get("name"): e.find("inertial") for e in root.findall("link")}
    below: dict[Any, list[Any]] = {}
    for e in root.findall("joint"):
        below.setdefault(e.find("parent").get("link"), []).append(e)  # type: ignore[union-attr]
    children = {e.find("child").get("link") for e in root.findall("joint")}  # type: ignore[union-attr]
    start = next(name for name in bodies if name not in children)
    rows = _spread(below, bodies, start, list(joints), dict(held or {}))
    return Chain(tuple(rows), np.asarray(gravity, dtype=float))


def _spread(
    below: dict[Any, list[Any]], bodies: dict[Any, Any], start: Any, joints: list[str], held: dict[str, float]
) -> list[Moving]:
    """The moving joints in order, each followed by the welded bodies that ride on it (kind 'welded')."""
    rows: list[Moving] = []
    base, first, pose = True, start, np.eye(4)
    seen = {start}
    while True:
        group = [(first, np.eye(4))]
        following = None
        for name, place in group:  # grows while it is walked
            for e in below.get(name, ()):
                there = place @ _origin(e)
                if e.get("name") in joints:
                    following = (e, there)
                elif not base or e.get("type") == "fixed" or e.get("name") in held:
                    child = _new(e, seen)
                    group.append((child, there @ _motion(_kind(e), _axis(e), held.get(e.get("name"), 0.0))))
        if not base:
            rows += [_urdf_body(bodies[name], place) for name, place in group if bodies[name] is not None]
        if following is None:
            return rows
        e, there = following
        nothing = {"kind": _kind(e), "mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
        rows.append(_moving(pose @ there if base else there, nothing, _axis(e), np.eye(4)))
        base, first = False, _new(e, seen)


def _new(joint: Any, seen: set[Any]) -> Any:
    """The link that a joint carries; one that was met before closes a loop, which would be walked for ever."""
    child = joint.find("child").get("link")
    if child in seen:
        raise ValueError(f"link {str(child)[:60]!r} is the child of two joints")
    seen.add(child)
    return child


def _urdf_body(inertial: Any, place: Any) -> Moving:
    there = place @ _origin(inertial)
    m = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
    # fmt: off
    tensor = np.array([
        [m["ixx"], m["ixy"], m["ixz"]],
        [m["ixy"], m["iyy"], m["iyz"]],
        [m["ixz"], m["iyz"], m["izz"]],
    ])
    # fmt: on
    R = there[:3, :3]
    row = {
        "kind": "welded",
        "mass": float(inertial.find("mass").get("value")),
        "com": there[:3, 3],
        "inertia": R @ tensor @ R.T,
    }
    return _moving(np.eye(4), row, (0.0, 0.0, 1.0), np.eye(4))


def _origin(element: Any) -> Any:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    x, y, z = (float(w) for w in origin.get("xyz", "0 0 0").split())
    roll, pitch, yaw = (float(w) for w in origin.get("rpy", "0 0 0").split())
    return _shift(x, y, z) @ _turn("z", yaw) @ _turn("y", pitch) @ _turn("x", roll)


def _axis(element: Any) -> Any:
    axis = element.find("axis")
    v = np.array([float(w) for w in ("1 0 0" if axis is None else axis.get("xyz", "1 0 0")).split()])
    return v / (np.linalg.norm(v) or 1.0)


def _kind(element: Any) -> str:
    return {"prismatic": "prismatic", "fixed": "welded"}.get(element.get("type"), "revolute")


def _moving(before: Any, row: Mapping[str, Any], axis: Any, after: Any) -> Moving:
    return Moving(
        np.asarray(before, dtype=float),
        row["kind"],
        np.asarray(axis, dtype=float),
        np.asarray(after, dtype=float),
        float(row["mass"]),
        np.asarray(row["com"], dtype=float),
        np.asarray(row["inertia"], dtype=float),
    )


# -- 4x4 poses -----------------------------------------------------------------------------------------------


def _shift(x: Any, y: Any, z: Any) -> Any:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def _turn(axis: str, angle: float) -> Any:
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    pose = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    pose[j, j], pose[k, k], pose[j, k], pose[k, j] = c, c, -s, s
    return pose


def _hat(v: Any) -> Any:
    return np.array([[0 * v[0], -v[2], v[1]], [v[2], 0 * v[0], -v[0]], [-v[1], v[0], 0 * v[0]]])


def _generator(kind: str, axis: Any) -> Any:
    """The 4x4 matrix G with d/dq exp(q G) = G exp(q G)."""
    G = np.zeros((4, 4))
    if kind == "revolute":
        G[:3, :3] = _hat(axis)
    elif kind == "prismatic":
        G[:3, 3] = axis
    return G


def _motion(kind: str, axis: Any, q: Any) -> Any:
    """exp(q G): Rodrigues' formula, or a shift."""
    G = _generator(kind, axis)
    if kind == "revolute":
        return np.eye(4) + np.sin(q) * G + (1 - np.cos(q)) * (G @ G)
    return np.eye(4) + q * G


def _spread_state(chain: Chain, *states: Any) -> list[list[Any]]:
    """Each state with a zero for every welded body."""
    spread = []
    for state in states:
        values = iter(state)
        spread.append([0.0 if m.kind == "welded" else next(values) for m in chain.moving])
    return spread


def _free(chain: Chain) -> list[int]:
    return [i for i, m in enumerate(chain.moving) if m.kind != "welded"]


# -- spatial vectors -----------------------------------------------------------------------------------------


def spatial_torques(chain: Chain, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques by a recursion of 6-vectors [angular; linear] in world axes, each at the point of its joint.

    A vector is moved from joint to joint, never to the world's origin: what a far base would add and take off again
    is not met.
    """
    q, qd, qdd = _spread_state(chain, q, qd, qdd)
    turn, shift = np.eye(3), np.zeros(3)
    velocity, acceleration = np.zeros(6), np.concatenate([np.zeros(3), -chain.gravity])
    axes, shifts, forces = [], [], []
    for m, position, rate, push in zip(chain.moving, q, qd, qdd, strict=True):
        shift = shift + turn @ m.before[:3, 3]
        turn = turn @ m.before[:3, :3]
        axis = _screw(m.kind, turn @ m.axis)
        velocity = _motion_at(velocity, shift) + axis * rate
        acceleration = _motion_at(acceleration, shift) + axis * push + _cross_motion(velocity, axis * rate)
        after = _motion(m.kind, m.axis, position) @ m.after
        inertia = _spatial_inertia(m, turn @ after[:3, :3], turn @ after[:3, 3])
        forces.append(inertia @ acceleration + _cross_force(velocity, inertia @ velocity))
        axes.append(axis)
        shifts.append(shift)
        turn, shift = turn @ after[:3, :3], turn @ after[:3, 3]
    total = np.zeros(6)
    torques = np.zeros(len(axes))
    for i in reversed(range(len(axes))):
        total = total + forces[i]
        torques[i] = axes[i] @ total
        total = _force_at(total, -shifts[i])
    return torques[_free(chain)]


def _screw(kind: str, direction: Any) -> Any:
    """A joint's motion, at a point of its axis."""
    if kind == "revolute":
        return np.concatenate([direction, np.zeros(3)])
    if kind == "prismatic":
        return np.concatenate([np.zeros(3), direction])
    return np.zeros(6)


def _motion_at(v: Any, shift: Any) -> Any:
    """A motion vector, seen from a point that is shifted."""
    return np.concatenate([v[:3], v[3:] + np.cross(v[:3], shift)])


def _force_at(f: Any, shift: Any) -> Any:
    """A force vector, seen from a point that is shifted."""
    return np.concatenate([f[:3] + np.cross(f[3:], shift), f[3:]])


def _cross_motion(a: Any, b: Any) -> Any:
    return np.concatenate([np.cross(a[:3], b[:3]), np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:])])


def _cross_force(v: Any, f: Any) -> Any:
    return np.concatenate([np.cross(v[:3], f[:3]) + np.cross(v[3:], f[3:]), np.cross(v[:3], f[3:])])


def _spatial_inertia(m: Moving, R: Any, place: Any) -> Any:
    """At a point, of a body whose frame is turned by R and placed there, seen from that point."""
    c = _hat(R @ m.center + place)
    top = np.hstack([R @ m.inertia @ R.T + m.mass * c @ c.T, m.mass * c])
    return np.vstack([top, np.hstack([m.mass * c.T, m.mass * np.eye(3)])])


# -- Lagrange ------------------------------------------------------------------------------------------------


def lagrange_terms(chain: Chain, q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """M (n, n), the velocity torques (n,) and the gravity torques (n,) from Lagrange's equations."""
    M, slopes, weight = lagrange_slopes(chain, q)
    return M, velocity_torques(slopes, qd), weight


def lagrange_slopes(chain: Chain, q: Any) -> tuple[Any, Any, Any]:
    """M (n, n), its slopes (n, n, n), those by q[k] in [k], and the gravity torques (n,)."""
    q = np.asarray(q, dtype=float)
    n = len(q)
    slopes, weight = np.zeros((n, n, n)), np.zeros(n)
    for k in range(n):
        moved = q + 1j * STEP * np.eye(n)[k]
        slopes[k] = _mass_matrix(chain, moved).imag / STEP
        weight[k] = _potential(chain, moved).imag / STEP
    return _mass_matrix(chain, q).real, slopes, weight


def velocity_torques(slopes: Any, qd: Any) -> Any:
    """d/dt (M qd) - ½ d/dq (qd' M qd), the part without accelerations (n,)."""
    qd = np.asarray(qd, dtype=float)
    return np.einsum("kij,k,j->i", slopes, qd, qd) - np.einsum("kij,i,j->k", slopes, qd, qd) / 2


def christoffel_symbols(slopes: Any) -> Any:
    """c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i), (n, n, n)."""
    return (np.einsum("kij->ijk", slopes) + np.einsum("jik->ijk", slopes) - slopes) / 2


def lagrange_torques(chain: Chain, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques from Lagrange's equations."""
    M, velocity, weight = lagrange_terms(chain, q, qd)
    return M @ np.asarray(qdd, dtype=float) + velocity + weight


def _pseudo_inertia(m: Moving) -> Any:
    """∫ (x, 1)(x, 1)ᵀ dm in the body's frame."""
    second = np.trace(m.inertia) / 2 * np.eye(3) - m.inertia + m.mass * np.outer(m.center, m.center)
    h = m.mass * m.center
    return np.block([[second, h[:, None]], [h[None, :], np.array([[m.mass]])]])


def _mass_matrix(chain: Chain, q: Any) -> Any:
    """M_ij = Σ tr(∂X/∂q_i J ∂X/∂q_jᵀ), with exact ∂X/∂q; q may be complex."""
    n = len(q)
    (values,) = _spread_state(chain, q)
    pose, slopes = np.eye(4, dtype=complex), np.zeros((n, 4, 4), dtype=complex)
    M = np.zeros((n, n), dtype=complex)
    count = 0
    for m, position in zip(chain.moving, values, strict=True):
        joint = pose @ m.before
        motion = _motion(m.kind, m.axis, position)
        slopes = slopes @ (m.before @ motion @ m.after)
        if m.kind != "welded":
            slopes[count] = joint @ _generator(m.kind, m.axis) @ motion @ m.after
            count += 1
        pose = joint @ motion @ m.after
        M += np.einsum("iab,bc,jac->ij", slopes, _pseudo_inertia(m), slopes)
    return M


def _potential(chain: Chain, q: Any) -> Any:
    (values,) = _spread_state(chain, q)
    pose, total = np.eye(4, dtype=complex), 0.0 + 0.0j
    for m, position in zip(chain.moving, values, strict=True):
        pose = pose @ m.before @ _motion(m.kind, m.axis, position) @ m.after
        total -= m.mass * (chain.gravity @ (pose[:3, :3] @ m.center + pose[:3, 3]))
    return total
