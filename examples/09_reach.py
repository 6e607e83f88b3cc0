"""From poses to joint values: all eight ways of a UR10e, and a Panda that keeps its elbow where one wants it.

A tool goes along a straight line, pointing down. Every pose is drawn towards the same posture, so that the joints move
smoothly from one to the next; what cannot be reached says so.
"""

import numpy as np

import forearm as fa


def main(poses: int = 50) -> None:
    arm = fa.load("ur10e")
    down = fa.Pose.at((0.6, 0.2, 0.4), (np.pi, 0, 0))
    found = fa.inverse_kinematics(arm, down, every=True)
    print(f"{arm.name}: {found.solved.sum()} ways to one pose, right to {found.error.max():.0e}")
    for q in found.q:
        print("  ", *(f"{x:7.3f}" for x in q))

    panda = fa.load("panda")
    line = np.tile(fa.Pose.at((0.5, -0.4, 0.4), (np.pi, 0, 0)).matrix, (poses, 1, 1))
    line[:, 1, 3] = np.linspace(-0.4, 0.4, poses)
    ready = panda.configuration("ready")
    along = fa.inverse_kinematics(panda, line, posture=ready)
    steps = np.abs(np.diff(along.q, axis=0)).max()
    print(f"{panda.name}: {along.solved.sum()} of {poses} poses on a line, steps of at most {steps:.2f} rad")
    far = fa.inverse_kinematics(panda, (2.0, 0.0, 0.3))
    print(f"2 m away: {far.status}; the nearest point is {far.error[0]:.2f} m short")


if __name__ == "__main__":
    main()
