"""Ten differences between two descriptions of an arm, to be put in and found again."""

import numpy as np

from arms import random_arm
from forearm.algebra import parallel_axis
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.verification.difference.counterparts import other_of

# -- ten differences, each as a change of (arm, how the other takes and gives vectors) ---------------------------


def each(arm, change):
    return arm.replace(links=tuple(change(i, link) for i, link in enumerate(arm.links)))


def armature(arm, f):
    return each(
        arm, lambda i, k: k.replace(drive=k.drive.replace(rotor_inertia=0.3 + 0.1 * i, side="joint"))
    ), f


def gravity_sign(arm, f):
    return arm.replace(gravity=tuple(-np.array(arm.gravity))), f


def base_rotation(arm, f):
    turn = Pose.at(rpy=(0.4, -0.3, 0.2))
    return arm.replace(gravity=tuple(turn.R @ np.array(arm.gravity))), f


def inertia_about_origin(arm, f):
    def shifted(i, k):
        mass, r, tensor = k.about_com
        return k.replace(inertia=Inertia(np.array(tensor) + parallel_axis(mass, r), "com"))

    return each(arm, shifted), f


def products_sign(arm, f):
    def flipped(i, k):
        tensor = np.array(k.about_com.inertia)
        return k.replace(inertia=Inertia(2 * np.diag(np.diag(tensor)) - tensor, "com"))

    return each(arm, flipped), f


def last_link(arm, f):
    return arm.with_payload(1.3, (0.05, 0.1, 0.2), Inertia.sphere(1.3, 0.08), frame="flange"), f


def joint_zero(arm, f):
    links = list(arm.links)
    links[1] = links[1].replace(offset=links[1].offset + 0.7)
    return arm.replace(links=tuple(links)), f


def friction(arm, f):
    return each(arm, lambda i, k: k.replace(drive=k.drive.replace(viscous=0.5 + i, coulomb=(0.8, 0.8)))), f


def joint_order(arm, f):
    def exchanged(q, qd, qdd):
        swap = [0, 2, 1, *range(3, len(q))]
        return f(q[swap], qd[swap], qdd[swap])[swap]

    return arm, exchanged


def joint_direction(arm, f):
    def turned(q, qd, qdd):
        s = np.ones(len(q))
        s[2] = -1
        return s * f(s * q, s * qd, s * qdd)

    return arm, turned


DIFFERENCES = {
    "armature": armature,
    "gravity sign": gravity_sign,
    "base rotation": base_rotation,
    "inertia about origin": inertia_about_origin,
    "products sign": products_sign,
    "last link": last_link,
    "joint zero": joint_zero,
    "friction": friction,
    "joint order": joint_order,
    "joint direction": joint_direction,
}


def mild(seed=5, n=4):
    """An arm whose tensors stay possible when their products change sign."""
    arm = random_arm(n, seed, "R", general=True, tilted=False)
    tensor = np.array([[0.10, 0.010, -0.02], [0.010, 0.12, 0.015], [-0.02, 0.015, 0.14]])
    near = [tuple(0.4 * np.array(link.com)) for link in arm.links]
    return each(
        arm, lambda i, k: k.replace(mass=2.0 + i, com=near[i], inertia=Inertia(tensor * (2 + 0.4 * i), "com"))
    )


def someone_else(arm, keys):
    """The torques of somebody who differs by these things: changes of the arm first, then of its vectors."""
    changed = arm
    for key in keys:
        changed, _ = DIFFERENCES[key](changed, None)
    batch = other_of(arm, changed).torques

    def torques(q, qd, qdd):
        return batch(q[None], qd[None], qdd[None])[0]

    for key in keys:
        _, torques = DIFFERENCES[key](arm, torques)
    return torques
