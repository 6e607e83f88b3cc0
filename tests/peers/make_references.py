"""Writes references/*.json: what Pinocchio and the Robotics Toolbox say about the originals of our arms.

    python tests/peers/make_references.py

Needs pin, roboticstoolbox-python, example-robot-data. The files carry the versions that made them; the tests
read them without any of these packages.
"""

import json
import math
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import roboticstoolbox as rtb

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from peers.pin_models import from_record, quantities  # noqa: E402

STATES = 6
URDF_ARMS = ("panda", "iiwa14", "kinova_gen3", "xarm7", "ur3e", "ur5e", "ur10e")


def toolbox_rows(robot):
    """Denavit-Hartenberg rows of a Robotics Toolbox arm, bodies about the centre of mass."""
    return [
        {
            "kind": "revolute" if link.isrevolute else "prismatic",
            "a": float(link.a),
            "alpha": float(link.alpha),
            "d": float(link.d),
            "theta": float(link.theta if link.isprismatic else link.offset),
            "mass": float(link.m),
            "com": [float(x) for x in link.r],
            "inertia": np.array(link.I, dtype=float).tolist(),
            "about": "com",
        }
        for link in robot.links
    ]


def stanford_rows():
    """The Toolbox's Stanford arm with the corrections that stanford.toml states."""
    rows = toolbox_rows(rtb.models.DH.Stanford())
    for row in rows:
        row["about"] = "origin"
    rows[2]["a"] = 0.0
    for row, com in zip(
        rows[1:],
        [(0, -1.054, 0), (0, 0, -6.447), (0, 0.092, -0.054), (0, 0, 0.566), (0, 0, 1.554)],
        strict=True,
    ):
        row["com"] = [x / 10 for x in com]
    rows[4]["inertia"] = np.diag([0.003, 0.003, 0.0004]).tolist()
    return rows


def planar_rows(lengths, masses, centers, moments):
    """Rows of a planar arm; only the moments about z matter."""
    return [
        dict(kind="revolute", a=a, alpha=0.0, d=0.0, theta=0.0, mass=m, com=[c - a, 0.0, 0.0], about="com",
             inertia=np.diag([0.0, i, i]).tolist())
        for a, m, c, i in zip(lengths, masses, centers, moments, strict=True)
    ]  # fmt: skip


def generic_rows():
    """The project's own arm: typed here a second time."""
    table = [
        (0.12, 1.2, 0.34, 0.1, 6.2, (-0.05, 0.03, -0.12), (0.118, 0.102, 0.083, 0.004, -0.007, 0.005)),
        (0.43, -0.4, 0.11, -0.2, 4.7, (-0.21, 0.02, 0.04), (0.041, 0.312, 0.298, 0.012, 0.009, -0.006)),
        (0.37, 0.7, -0.06, 0.3, 2.4, (-0.16, -0.01, 0.02), (0.012, 0.094, 0.089, -0.003, 0.002, 0.004)),
    ]
    return [
        dict(kind="revolute", a=a, alpha=alpha, d=d, theta=theta, mass=m, com=list(com), about="com",
             inertia=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        for a, alpha, d, theta, m, com, (xx, yy, zz, xy, xz, yz) in table
    ]  # fmt: skip


DOWN, PLANE = [0.0, 0.0, -9.81], [0.0, -9.81, 0.0]


def originals():
    """Every arm with dynamics: (gravity, original, where it is from)."""
    puma = rtb.models.DH.Puma560()
    yield "puma560", DOWN, {"rows": toolbox_rows(puma)}, "roboticstoolbox DH/Puma560"
    yield (
        "stanford",
        DOWN,
        {"rows": stanford_rows()},
        "roboticstoolbox DH/Stanford, corrected as stanford.toml states",
    )
    yield "generic_3r", DOWN, {"rows": generic_rows()}, "this script"
    rr = planar_rows((0.8, 0.6), (2.0, 1.5), (0.35, 0.25), (0.12, 0.07))
    yield "rr", PLANE, {"rows": rr}, "this script"
    rods = planar_rows((1.0, 0.8), (1.2, 0.9), (0.5, 0.4), (0.1, 0.048))
    yield "double_pendulum", PLANE, {"rows": rods}, "this script"
    three = planar_rows(
        (0.5, 0.4, 0.2), (2.0, 1.6, 0.8), (0.25, 0.2, 0.1), (0.5 / 12, 0.256 / 12, 0.032 / 12)
    )
    yield "planar_3r", PLANE, {"rows": three}, "this script"
    for name in URDF_ARMS:
        yield name, DOWN, {"urdf": name}, f"descriptions/{name}.urdf"


def states(name, n):
    """Random states, written with three decimals so that the files can be read."""
    rng = np.random.default_rng([ord(c) for c in name])
    q, qd, qdd = (
        rng.uniform(-np.pi, np.pi, (STATES, n)),
        rng.uniform(-2, 2, (STATES, n)),
        rng.uniform(-5, 5, (STATES, n)),
    )
    return [
        dict(zip(("q", "qd", "qdd"), (np.round(x[i], 3).tolist() for x in (q, qd, qdd)), strict=True))
        for i in range(STATES)
    ]


def with_motors(robot, state):
    """The Toolbox's torques with rotor inertia and friction, for PUMA 560."""
    return robot.rne(*(np.array(state[k]) for k in ("q", "qd", "qdd"))).tolist()


def rounding(record):
    """Largest relative change of the torques when right angles are as rounded as the description has them."""
    model, last = from_record(record, exact=False)
    worst = 0.0
    for state in record["states"]:
        tau = np.array(quantities(model, last, state["q"], state["qd"], state["qdd"])["tau"])
        worst = max(worst, float(np.max(np.abs(tau - state["tau"])) / np.max(np.abs(state["tau"]))))
    return worst


def write(name, record):
    """One file, a state per line."""
    text = json.dumps(record, indent=1)
    (HERE / "references" / f"{name}.json").write_text(text + "\n")


def main():
    """Write all files."""
    (HERE / "references").mkdir(exist_ok=True)
    packages = ("pin", "roboticstoolbox-python", "example-robot-data", "numpy")
    made_with = {"python": platform.python_version(), **{p: version(p) for p in packages}}
    for name, gravity, original, source in originals():
        record = {
            "arm": name,
            "source": source,
            "made_with": made_with,
            "gravity": gravity,
            "original": original,
        }
        model, last = from_record(record)
        record["states"] = states(name, model.nv)
        for state in record["states"]:
            state.update(quantities(model, last, state["q"], state["qd"], state["qdd"]))
        if name == "puma560":
            robot = rtb.models.DH.Puma560()
            for state in record["states"]:
                state["tau_with_motors"] = with_motors(robot, state)
        if "urdf" in original:
            record["rounded_angles_change_torques_by"] = rounding(record)
            print(name, record["rounded_angles_change_torques_by"])
        write(name, record)
    cobra = rtb.models.DH.Cobra600()
    q = [0.4, -0.7, 0.15, 1.1]
    record = {
        "arm": "cobra600",
        "source": "roboticstoolbox DH/Cobra600",
        "made_with": made_with,
        "kinematics_only": True,
    }
    record["states"] = [{"q": q, "pose": cobra.fkine(q).A.tolist()}]
    write("cobra600", record)
    assert math.isclose(record["states"][0]["pose"][3][3], 1.0)


if __name__ == "__main__":
    main()
