"""Random robots as URDF texts: hinges and slides about any axis, any branching, some joints coupled."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Build:
    """How links are drawn: sizes in metres, masses in kilograms."""

    straight: float = 0.6
    """How often a link hangs on the one before it."""
    step: float = 0.5
    """How far a joint is from the one before, along each axis."""
    center: float = 0.3
    """How far a centre of mass is from the joint, along each axis."""
    thin: bool = False
    """Whether bodies are small beside the steps between them, and of very different masses."""


PLAIN, THIN = Build(), Build(straight=0.85, step=0.3, center=0.1, thin=True)


def random_urdf(seed: int, *, joints: int, coupled: int = 0, build: Build = PLAIN) -> str:
    """A robot with so many joints; `coupled` of them mimic an earlier one."""
    rng = np.random.default_rng(seed)
    lines = [f'<robot name="tree{seed}">', _link("body0", rng, build)]
    followers = set(rng.choice(np.arange(2, joints + 1), coupled, replace=False)) if coupled else set()
    leaders: list[int] = []
    for i in range(1, joints + 1):
        # near the last link more often than not, so that arms are long
        parent = i - 1 if rng.random() < build.straight else int(rng.integers(0, i))
        lines += [_joint(i, parent, rng, leaders if i in followers else [], build)]
        lines += [_link(f"body{i}", rng, build)]
        if i not in followers:
            leaders.append(i)
    return "\n".join([*lines, "</robot>"])


def _link(name: str, rng: np.random.Generator, build: Build) -> str:
    mass = float(np.exp(rng.uniform(np.log(0.05), np.log(5)))) if build.thin else float(rng.uniform(0.1, 3.0))
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    # second moments of a body that exists
    square = (
        np.exp(2 * rng.uniform(np.log(0.01), np.log(0.1), 3)) if build.thin else rng.uniform(0.01, 0.2, 3)
    )
    second = square * mass
    tensor = axes @ np.diag(second.sum() - second) @ axes.T
    xx, xy, xz, yy, yz, zz = (repr(float(x)) for x in tensor[np.triu_indices(3)])
    center = _text(rng.uniform(-build.center, build.center, 3))
    return (
        f'<link name="{name}"><inertial><origin xyz="{center}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>'
    )


def _joint(i: int, parent: int, rng: np.random.Generator, leaders: list[int], build: Build) -> str:
    kind = "prismatic" if rng.random() < 0.25 else "revolute"
    axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]) if rng.random() < 0.5 else rng.normal(size=3)
    place = f'<origin xyz="{_text(rng.uniform(-build.step, build.step, 3))}" rpy="{_text(rng.uniform(-3, 3, 3))}"/>'
    mimic = ""
    if leaders:
        numbers = f'multiplier="{float(rng.uniform(-1.5, 1.5))!r}" offset="{float(rng.uniform(-0.2, 0.2))!r}"'
        mimic = f'<mimic joint="joint{rng.choice(leaders)}" {numbers}/>'
    return (
        f'<joint name="joint{i}" type="{kind}"><parent link="body{parent}"/><child link="body{i}"/>{place}'
        f'<axis xyz="{_text(axis / np.linalg.norm(axis))}"/><limit lower="-2" upper="2" effort="1" velocity="1"/>'
        f"{mimic}</joint>"
    )


def _text(numbers: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in numbers)
