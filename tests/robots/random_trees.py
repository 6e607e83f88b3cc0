"""Random robots as URDF texts: hinges and slides about any axis, any branching, some joints coupled."""

import numpy as np


def random_urdf(seed: int, *, joints: int, coupled: int = 0) -> str:
    """A robot with so many joints; `coupled` of them mimic an earlier one."""
    rng = np.random.default_rng(seed)
    lines = [f'<robot name="tree{seed}">', _link("body0", rng)]
    followers = set(rng.choice(np.arange(2, joints + 1), coupled, replace=False)) if coupled else set()
    leaders: list[int] = []
    for i in range(1, joints + 1):
        # near the last link more often than not, so that arms are long
        parent = i - 1 if rng.random() < 0.6 else int(rng.integers(0, i))
        lines += [_joint(i, parent, rng, leaders if i in followers else [])]
        lines += [_link(f"body{i}", rng)]
        if i not in followers:
            leaders.append(i)
    return "\n".join([*lines, "</robot>"])


def _link(name: str, rng: np.random.Generator) -> str:
    mass = float(rng.uniform(0.1, 3.0))
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    second = rng.uniform(0.01, 0.2, 3) * mass  # second moments of a body that exists
    tensor = axes @ np.diag(second.sum() - second) @ axes.T
    xx, xy, xz, yy, yz, zz = (repr(float(x)) for x in tensor[np.triu_indices(3)])
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(rng.uniform(-0.3, 0.3, 3))}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>'
    )


def _joint(i: int, parent: int, rng: np.random.Generator, leaders: list[int]) -> str:
    kind = "prismatic" if rng.random() < 0.25 else "revolute"
    axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]) if rng.random() < 0.5 else rng.normal(size=3)
    place = f'<origin xyz="{_text(rng.uniform(-0.5, 0.5, 3))}" rpy="{_text(rng.uniform(-3, 3, 3))}"/>'
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
