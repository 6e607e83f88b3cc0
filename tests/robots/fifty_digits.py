"""Accelerations of a URDF text in fifty digits, by spatial vectors: nothing of ours, nothing rounded once it is read.

6-vectors are [linear; angular], at and in the axes of each joint's frame. Articulated bodies give the accelerations;
where joints are coupled, torques of unit accelerations give M, and M gives them.
"""

from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import mpmath as mp
import numpy as np

CONTEXT = mp.mp.clone()
CONTEXT.dps = 50


def exact(numbers: Any) -> np.ndarray:
    """Floats as numbers of fifty digits."""
    found = np.array([CONTEXT.mpf(float(x)) for x in np.ravel(numbers)], dtype=object)
    return found.reshape(np.shape(numbers))


def zeros(*shape: int) -> np.ndarray:
    return exact(np.zeros(shape))


def skew(v: np.ndarray) -> np.ndarray:
    zero = CONTEXT.mpf(0)
    return np.array([[zero, -v[2], v[1]], [v[2], zero, -v[0]], [-v[1], v[0], zero]], dtype=object)


def turn(axis: np.ndarray, angle: Any) -> np.ndarray:
    """The rotation about a unit axis."""
    K = skew(axis)
    return exact(np.eye(3)) + CONTEXT.sin(angle) * K + (1 - CONTEXT.cos(angle)) * K.dot(K)


def motion(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The matrix of motions seen from a frame at (R, p) instead of from the frame before."""
    X = zeros(6, 6)
    X[:3, :3] = X[3:, 3:] = R.T
    X[:3, 3:] = -R.T.dot(skew(p))
    return X


def crossed(v: np.ndarray) -> np.ndarray:
    """v x, for motions; less its transpose is that for forces."""
    X = zeros(6, 6)
    X[:3, :3] = X[3:, 3:] = skew(v[3:])
    X[:3, 3:] = skew(v[:3])
    return X


def _numbers(text: str) -> np.ndarray:
    return exact([float(x) for x in text.split()])


def _origin(element: Any) -> tuple[np.ndarray, np.ndarray]:
    origin = element.find("origin")
    if origin is None:
        return exact(np.eye(3)), zeros(3)
    roll, pitch, yaw = _numbers(origin.get("rpy", "0 0 0"))
    x, y, z = exact(np.eye(3))
    return turn(z, yaw).dot(turn(y, pitch)).dot(turn(x, roll)), _numbers(origin.get("xyz", "0 0 0"))


def _body(link: Any) -> np.ndarray:
    """The spatial inertia of a link (6, 6)."""
    inertial = link.find("inertial")
    if inertial is None:
        return zeros(6, 6)
    (R, c), tensor = _origin(inertial), inertial.find("inertia")
    mass = exact(float(inertial.find("mass").get("value")))[()]
    xx, xy, xz, yy, yz, zz = exact(
        [float(tensor.get(f"i{k}", "0")) for k in ("xx", "xy", "xz", "yy", "yz", "zz")]
    )
    J, S, found = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), skew(c), zeros(6, 6)
    found[:3, :3] = mass * exact(np.eye(3))
    found[:3, 3:], found[3:, :3] = -mass * S, mass * S
    found[3:, 3:] = R.dot(J).dot(R.T) - mass * S.dot(S)
    return found


@dataclass
class Joint:
    """A joint of the tree, the body that it moves, and where both are in the present state."""

    name: str
    before: int
    slides: bool
    place: tuple[np.ndarray, np.ndarray]
    axis: np.ndarray
    body: np.ndarray
    X: Any = None
    S: Any = None
    v: Any = None
    c: Any = None


@dataclass
class ExactTree:
    """A URDF text as joints; joint -1 is the base."""

    text: str
    joints: list[Joint] = field(default_factory=list)
    base: Any = None

    def __post_init__(self) -> None:
        root = ElementTree.fromstring(self.text)
        self._links = {x.get("name"): x for x in root.findall("link")}
        self._after: dict[Any, list[Any]] = {}
        for joint in root.findall("joint"):
            self._after.setdefault(joint.find("parent").get("link"), []).append(joint)
        children = {joint.find("child").get("link") for joint in root.findall("joint")}
        first = next(name for name in self._links if name not in children)
        self.base = _body(self._links[first])
        self._grow(first, -1, exact(np.eye(3)), zeros(3))

    def _grow(self, link: Any, on: int, R: np.ndarray, p: np.ndarray) -> None:
        for element in self._after.get(link, ()):
            (turned, moved), child = _origin(element), element.find("child").get("link")
            place, body = (R.dot(turned), p + R.dot(moved)), _body(self._links[child])
            if element.get("type") == "fixed":
                X = motion(*place)
                self._add(on, X.T.dot(body).dot(X))
                self._grow(child, on, *place)
                continue
            axis = element.find("axis")
            axis = _numbers("1 0 0" if axis is None else axis.get("xyz"))
            axis = axis / CONTEXT.sqrt(axis.dot(axis))
            slides = element.get("type") == "prismatic"
            self.joints.append(Joint(element.get("name"), on, slides, place, axis, body))
            self._grow(child, len(self.joints) - 1, exact(np.eye(3)), zeros(3))

    def _add(self, on: int, body: np.ndarray) -> None:
        if on < 0:
            self.base = self.base + body
        else:
            self.joints[on].body = self.joints[on].body + body

    def move(self, q: dict[str, Any], qd: dict[str, Any], base: np.ndarray) -> None:
        """Put every joint where a state has it; `base` is the base's own velocity (6,)."""
        self.v = base
        for joint in self.joints:
            (R, p), joint.S = joint.place, zeros(6)
            if joint.slides:
                p, joint.S[:3] = p + R.dot(joint.axis) * q[joint.name], joint.axis
            else:
                R, joint.S[3:] = R.dot(turn(joint.axis, q[joint.name])), joint.axis
            joint.X, own = motion(R, p), joint.S * qd[joint.name]
            joint.v = joint.X.dot(self._of(joint.before, "v")) + own
            joint.c = crossed(joint.v).dot(own)

    def _of(self, number: int, what: str) -> Any:
        return getattr(self if number < 0 else self.joints[number], what)

    def accelerations(self, tau: dict[str, Any], up: np.ndarray, push: Any) -> tuple[Any, dict[str, Any]]:
        """Of the base (a free one, pushed by a wrench) and of the joints; `up` is -gravity in base axes (6,)."""
        bodies = [self.base, *(j.body for j in self.joints)]
        forces = [
            -crossed(v).T.dot(I).dot(v)
            for I, v in zip(bodies, [self.v, *(j.v for j in self.joints)], strict=True)
        ]
        asked: dict[int, Any] = {}
        for i in range(len(self.joints), 0, -1):
            j = self.joints[i - 1]
            U = bodies[i].dot(j.S)
            D, u = j.S.dot(U), tau[j.name] - j.S.dot(forces[i])
            asked[i], left = (U, D, u), bodies[i] - np.outer(U, U) / D
            bodies[j.before + 1] = bodies[j.before + 1] + j.X.T.dot(left).dot(j.X)
            forces[j.before + 1] = forces[j.before + 1] + j.X.T.dot(forces[i] + left.dot(j.c) + U * (u / D))
        a = {0: up if push is None else solved(bodies[0], push - forces[0])}
        qdd = {}
        for i, j in enumerate(self.joints, 1):
            (U, D, u), carried = asked[i], j.X.dot(a[j.before + 1]) + j.c
            qdd[j.name] = (u - U.dot(carried)) / D
            a[i] = carried + j.S * qdd[j.name]
        return a[0] - up, qdd

    def torques(self, qdd: dict[str, Any], first: np.ndarray) -> tuple[Any, dict[str, Any]]:
        """The wrench on the base and the torques, for an acceleration of the base less gravity (6,)."""
        a, forces = {0: first}, [self.base.dot(first) - crossed(self.v).T.dot(self.base).dot(self.v)]
        for i, j in enumerate(self.joints, 1):
            a[i] = j.X.dot(a[j.before + 1]) + j.c + j.S * qdd[j.name]
            forces.append(j.body.dot(a[i]) - crossed(j.v).T.dot(j.body).dot(j.v))
        tau = {}
        for i in range(len(self.joints), 0, -1):
            j = self.joints[i - 1]
            tau[j.name] = j.S.dot(forces[i])
            forces[j.before + 1] = forces[j.before + 1] + j.X.T.dot(forces[i])
        return forces[0], tau


def solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array(
        list(CONTEXT.lu_solve(CONTEXT.matrix(A.tolist()), CONTEXT.matrix(b.tolist()))), dtype=object
    )


def exact_accelerations(tree: ExactTree, robot: Any, q: Any, qd: Any, tau: Any) -> np.ndarray:
    """Of the same file read as a robot, in its coordinates; its couplings' numbers are taken as they are."""
    q, qd, tau, six = exact(q), exact(qd), exact(tau), 6 if robot.free else 0
    B, b = (exact(x) for x in robot.coupling_map)
    names = robot.all_joint_names
    gravity = rotation(q[3:7]).T.dot(exact(robot.gravity)) if six else exact(robot.gravity_in_base)
    up = np.concatenate([-gravity, zeros(3)])

    def named(values: np.ndarray) -> dict[str, Any]:
        return dict(zip(names, values, strict=True))

    def listed(found: dict[str, Any]) -> np.ndarray:
        return np.array([found[name] for name in names])

    tree.move(named(B.dot(q[len(q) - robot.n :]) + b), named(B.dot(qd[six:])), qd[:6] if six else zeros(6))
    if not robot.couplings:
        base, joints = tree.accelerations(named(tau[six:]), up, tau[:6] if six else None)
        return np.concatenate([base[:six], listed(joints)])

    def torques(qdd: np.ndarray) -> np.ndarray:
        base, joints = tree.torques(named(B.dot(qdd[six:])), up + (qdd[:6] if six else zeros(6)))
        return np.concatenate([base[:six], B.T.dot(listed(joints))])

    still = torques(zeros(robot.nv))
    M = np.array([torques(unit) - still for unit in exact(np.eye(robot.nv))]).T
    return solved(M, tau - still)


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Of a quaternion (x, y, z, w) of about unit length."""
    S = skew(quaternion[:3])
    return exact(np.eye(3)) + (2 / quaternion.dot(quaternion)) * (quaternion[3] * S + S.dot(S))
