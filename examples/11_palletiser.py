"""A robot that is no chain: a palletiser.

Two parallelograms carry its forearm and keep its gripper level. They are closed loops, but linear ones: three joints
follow the motors, q = B qa + b, and torques come for the four motors alone. The same arm with the elbow driven
directly shows why palletisers are built so.
"""

from pathlib import Path

import numpy as np

import forearm as fa
from forearm.simulation import Quintic

FILE = Path(__file__).parent / "palletiser.toml"


def by_joint(robot, torques):
    return ", ".join(f"{name} {abs(x):.0f}" for name, x in zip(robot.joint_names, torques, strict=True))


def main():
    robot = fa.load(FILE)
    print(str(robot).split("\n\n")[1])
    loaded = robot.with_payload(60.0, (0, 0, -0.1), frame="gripper")
    q = robot.configuration("home")
    print("holding 60 kg [N m]:", by_joint(robot, fa.gravity_torque(loaded, q)))

    motion = Quintic(q, q + [1.5, 0.4, 0.3, 0.0], 1.2)
    rows = motion.sample(200)
    tau = fa.inverse_dynamics(loaded, rows.q, rows.qd, rows.qdd)
    print("peaks of a cycle [N m]:", by_joint(robot, np.abs(tau).max(axis=0)))

    # the elbow's own motor instead of the lever: the same bodies, another choice of who leads
    direct = loaded.with_couplings(
        {"lever": {"elbow": 1, "upper": 1}, "rod": {"elbow": -1}, "plate": {"elbow": -1, "upper": -1}}
    )
    at = [q[0], q[1], q[2] - q[1], q[3]]
    print("motor at the elbow [N m]:", by_joint(direct, fa.gravity_torque(direct, at)))


if __name__ == "__main__":
    main()
