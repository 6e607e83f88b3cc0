"""Random URDF files whose angles are written with few or many digits, and what their kernels are held against."""

import importlib.util
from pathlib import Path

import mpmath
import numpy as np

import forearm as fa
from forearm.formulations import FORMULATIONS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
spec = importlib.util.spec_from_file_location("benchmarks_accuracy_of_files", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

ANGLES = (0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4, np.pi / 3)
AXES = ("0 0 1", "0 1 0", "1 0 0", "0 0 -1")


def triple(values, digits=6):
    return " ".join(f"{x:.{digits}g}" for x in values)


def random_urdf(seed, digits, scale=1.0):
    """The text of a URDF file: a serial arm of lengths `scale` metres, mostly at common angles."""
    rng = np.random.default_rng(seed)
    parts = [f'<robot name="file{seed}"><link name="l0"/>']
    for i in range(1, int(rng.integers(2, 8)) + 1):
        angles = [rng.choice(ANGLES) if rng.random() < 0.8 else rng.uniform(-3, 3) for _ in range(3)]
        xyz = scale * rng.uniform(-0.4, 0.4, 3) * (rng.random(3) < 0.5)
        kind = "revolute" if rng.random() < 0.85 else "prismatic"
        mass, com = rng.uniform(0.5, 8), scale * rng.uniform(-0.2, 0.2, 3)
        points = rng.normal(size=(6, 3)) * 0.1 * scale
        points -= points.mean(axis=0)
        t = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) * mass / 6
        names = {
            "ixx": t[0, 0],
            "iyy": t[1, 1],
            "izz": t[2, 2],
            "ixy": t[0, 1],
            "ixz": t[0, 2],
            "iyz": t[1, 2],
        }
        tensor = " ".join(f'{name}="{value:.6g}"' for name, value in names.items())
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="{triple(com)}"/><mass value="{mass:.5g}"/>'
            f"<inertia {tensor}/></inertial></link>"
            f'<joint name="j{i}" type="{kind}"><parent link="l{i - 1}"/><child link="l{i}"/>'
            f'<origin xyz="{triple(xyz)}" rpy="{triple(angles, digits)}"/><axis xyz="{AXES[rng.integers(4)]}"/>'
            '<limit lower="-2" upper="2" velocity="2" effort="100"/></joint>'
        )
    return "\n".join([*parts, "</robot>"])


def errors(arm, count=2):
    """Of compiled torques: in eps of the largest intermediate value, and relative to the largest torque."""
    states = arm.random_state(1, (count,))
    with mpmath.workdps(50):
        big, rows = script.exact(arm), []
        for row in zip(*states, strict=True):
            state = (np.array([mpmath.mpf(float(x)) for x in part]) for part in row)
            rows.append(FORMULATIONS[script.REFERENCE].joint_torques(big, *state))
    want = np.array(rows, dtype=float)
    kernel = fa.compile(arm, "inverse_dynamics")
    off = np.max(np.abs(kernel(*states) - want), axis=-1)
    largest = script.largest_intermediate(kernel.graph, states)
    return float(np.max(off / largest) / np.finfo(float).eps), float(np.max(off) / np.max(np.abs(want)))
