"""Arms and robots that have everything at once, to be asked one question through every door."""

import math
from functools import cache

import numpy as np

import forearm as fa

NEARLY_RIGHT = math.pi / 2 - 3e-9
"""An angle that is no right one, and looks like it."""


def _body(seed, mass=2.0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.2, 3)
    points -= points.mean(axis=0)
    tensor = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) * mass / 6
    com = tuple(rng.uniform(-0.2, 0.2, 3).round(3))
    return {"mass": mass, "com": com, "inertia": fa.Inertia.about_com((tensor + tensor.T) / 2)}


def _drive(k):
    return fa.Drive(
        1e-3 * (k + 1), gear=20.0 + k, side="motor", viscous=0.3 + 0.1 * k, coulomb=(0.5, 0.9), smoothing=0.05
    )


TILTED = fa.Pose.at((0.3, -0.2, 0.7), (0.4, NEARLY_RIGHT, -1.1))
TOOL = fa.Pose.at((0.02, -0.03, 0.15), (0.2, -0.5, 2.0))
BLOCK = fa.Inertia.box(1.3, 0.1, 0.2, 0.3)
RUBBING = fa.Drive(viscous=2.0)
IMPOSSIBLE = {
    "mass": 1.0,
    "com": (0.05, 0.0, 0.1),
    "inertia": fa.Inertia.about_com(Ixx=0.1, Iyy=0.02, Izz=0.03),
}


def links():
    """A hinge, a slide that runs backwards, a hinge without a body, an impossible body, a slide."""
    odd, right = (
        fa.Pose.at((0.2, 0.05, -0.1), (0.3, -0.7, 1.9)),
        fa.Pose.at((0.3, 0, 0.1), (NEARLY_RIGHT, 0, 0)),
    )
    limits = {"limits": (-2.0, 2.0), "speed_limit": 3.0, "effort_limit": 90.0}
    return (
        fa.Link("revolute", odd, 0.3, 0.2, name="hip", drive=_drive(0), **limits, **_body(1)),
        fa.Link("prismatic", right, 0.5, 0.1, name="slide", flip=True, offset=0.07, drive=_drive(1), **_body(2, 3.0)),
        fa.Link("revolute", fa.Pose.at((0.1, 0, 0), (math.pi / 2, 0, 0)), name="bare"),
        fa.Link("revolute", odd, -0.2, name="cuff", flip=True, offset=-0.4, drive=_drive(3), **IMPOSSIBLE),
        fa.Link("prismatic", fa.Pose.at((0, 0.1, 0.2)), d=0.3, name="reach", drive=RUBBING, **_body(5, 1.5)),
    )  # fmt: skip


def chain():
    """One arm with everything."""
    defect = fa.Defect(4, "triangle", "as published")
    frames = (fa.NamedFrame("camera", 2, fa.Pose.at((0.1, 0, 0.2), (0.1, 0.2, 0.3))),)
    arm = fa.Arm(
        "everything", links(), TILTED, TOOL, (1.0, -2.0, -9.0), (defect,), frames=frames
    )  # fmt: skip
    return arm.with_payload(1.3, (0.02, 0.05, -0.1), BLOCK, frame="camera")


def tree(free=False):
    """Two arms on a waist, joints that follow others, two tools, mounts away from the joints."""
    hip, slide, _, cuff, reach = links()
    mounts = (
        fa.Pose(),
        fa.Pose.at((0.1, 0.2, 0), (0.3, 0, 1)),
        fa.Pose.at((0, -0.2, 0.1), (0, NEARLY_RIGHT, 0)),
        fa.Pose(),
        fa.Pose.at((0, 0.1, 0)),
        fa.Pose(),
    )
    found = fa.Robot(
        "branches",
        (hip, slide, cuff, reach, reach.replace(name="other", flip=True), hip.replace(name="wrist")),
        (0, 1, 1, 2, 2, 3),
        mounts,
        TILTED,
        free=free,
        trunk=fa.Body(**_body(9, 5.0)) if free else fa.Body(),
        couplings=(fa.Coupling("other", (("reach", -0.8), ("hip", 0.1)), 0.05),),
        tools=(fa.NamedFrame("left", 4, TOOL), fa.NamedFrame("right", 6, TOOL.inverse())),
        gravity=(1.0, -2.0, -9.0),
        defects=(fa.Defect(3, "triangle", "as published"),),
        frames=(fa.NamedFrame("camera", 3, fa.Pose.at((0.1, 0, 0.2), (0.1, 0.2, 0.3))),),
    )  # fmt: skip
    return found.with_payload(1.3, (0.02, 0.05, -0.1), BLOCK, frame="right")


def long():
    """Forty joints: loops over links."""
    rod = {"mass": 0.5, "com": (-0.05, 0.01, 0.0), "inertia": fa.Inertia.box(0.5, 0.1, 0.03, 0.02)}
    one = fa.Link.dh("revolute", a=0.1, alpha=0.3, d=0.02, theta=0.1, drive=_drive(0), **rod)
    return fa.Arm("long", (one,) * 40, TILTED, TOOL, (1.0, -2.0, -9.0))


MADE = {"chain": chain, "tree": tree, "free": lambda: tree(free=True), "long": long}


@cache
def arm(name):
    """One of them."""
    return MADE[name]()
