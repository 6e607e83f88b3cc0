"""Arms for tests: the golden ones, random ones (revolute or mixed, any pose, full tensors), and state regimes."""

import json
import zlib
from pathlib import Path

import numpy as np

from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden.json").read_text())


def golden_arm(name):
    """The arm G6R or STAN of golden.json."""
    p = GOLDEN["arms"][name]["params"]
    links = [
        Link.dh(
            "revolute" if kind == "R" else "prismatic",
            a=float(p["a"][i]),
            alpha=float(p["alpha"][i]),
            d=float(p["d"][i]),
            theta=float(p["theta0"][i]),
            mass=float(p["m"][i]),
            com=[float(x) for x in p["r"][i]],
            inertia=Inertia.about_com([[float(x) for x in row] for row in p["I"][i]]),
        )
        for i, kind in enumerate(p["typ"])
    ]
    return Arm(name, links, gravity=[float(x) for x in p["g"]])


def golden_states(name):
    """The states of golden.json as dictionaries of float arrays."""
    return [
        {k: np.array(v, dtype=object).astype(float) for k, v in s.items()}
        for s in GOLDEN["arms"][name]["states"]
    ]


def seed_of(name):
    """A seed derived from a test's name."""
    return zlib.crc32(name.encode())


def random_rotation(rng):
    """A uniformly random rotation."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else q[:, [1, 0, 2]]


def random_body(rng):
    """Mass, centre and a possible full inertia tensor about it."""
    mass = rng.uniform(0.5, 8)
    points = rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.3, 3)
    points -= points.mean(axis=0)
    tensor = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) * mass / 6
    return dict(mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=Inertia.about_com((tensor + tensor.T) / 2))


def random_arm(n, seed, kinds="R", general=False, tilted=True, flips=False):
    """A random arm of n joints; kinds 'R', 'P', 'RP' (random mixture) or a string of n letters."""
    rng = np.random.default_rng(seed)
    letters = kinds if len(kinds) == n and kinds != "RP" else "".join(rng.choice(list(kinds), n))
    links = []
    for letter in letters:
        kind = "revolute" if letter == "R" else "prismatic"
        rest = random_body(rng)
        if flips and rng.random() < 0.5:
            rest.update(flip=True, offset=rng.uniform(-1, 1))
        theta, d = rng.uniform(-np.pi, np.pi), rng.uniform(-0.5, 0.5)
        if general:
            pose = Pose(random_rotation(rng), rng.uniform(-0.5, 0.5, 3))
            links.append(Link(kind, pose, theta, d, **rest))
        else:
            a, alpha = rng.uniform(-0.5, 0.5), rng.uniform(-np.pi, np.pi)
            links.append(Link.dh(kind, a=a, alpha=alpha, d=d, theta=theta, **rest))
    base = Pose(random_rotation(rng), rng.uniform(-1, 1, 3)) if tilted else Pose()
    tool = Pose(random_rotation(rng), rng.uniform(-0.2, 0.2, 3))
    return Arm(f"random {letters} seed {seed}", links, base=base, tool=tool)
