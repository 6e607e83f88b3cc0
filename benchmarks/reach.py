"""Inverse kinematics, ours and the Robotics Toolbox's, in one run: python benchmarks/reach.py [--poses N] [arms].

Random poses within the limits, one thread. The Toolbox's `ik_LM` runs in C++, called pose by pose, with tol=5e-13 (its
`tol` bounds half a squared error: that is 1e-6 m and rad); ours goes to 1e-11 and checks 1e-9. Rounds alternate, and
ratios are medians over rounds. The last columns are all branches in closed form, where the arm has one.
"""

import argparse
import statistics
import time

import numpy as np
import roboticstoolbox as rtb

import forearm as fa


def toolbox(arm):
    """The same chain as elementary transforms: one constant before each joint, and one at the end."""
    chain, constant = rtb.ETS(), arm.base.matrix
    for link in arm.links:
        if link.flip or link.offset:
            raise SystemExit(
                f"{arm.name} has flipped or offset joints, which this benchmark does not translate"
            )
        before = fa.Pose.at((0, 0, float(link.d)), (0, 0, float(link.theta))).matrix
        joint = rtb.ET.Rz if link.revolute else rtb.ET.tz
        limits = list(link.limits or (-np.pi, np.pi))
        chain = chain * rtb.ET.SE3(constant @ before) * joint(qlim=limits)
        constant = link.pose.matrix
    return chain * rtb.ET.SE3(constant @ arm.tool.matrix)


def seconds(function):
    """Of the processor, not of the clock: a busy machine shares its time between others too."""
    began = time.thread_time()
    found = function()
    return time.thread_time() - began, found


def right(arm, q, poses):
    """Share of joint values that reach their poses to 1e-6 within the limits."""
    low, high = np.array([link.limits or (-np.inf, np.inf) for link in arm.links]).T
    off = np.abs(fa.pose(arm, q) - poses).max(axis=(1, 2))
    return np.mean((off < 1e-6) & ((q >= low - 1e-9) & (q <= high + 1e-9)).all(axis=1))


def run(name, poses, rounds):
    arm = fa.load(name)
    goals = fa.pose(arm, arm.random_state(0, (poses,))[0])
    many = np.concatenate([goals] * max(1, 20000 // poses))  # as large a batch as one gives
    chain = toolbox(arm)
    assert np.allclose(chain.fkine(np.zeros(arm.n)).A, fa.pose(arm, np.zeros(arm.n)), atol=1e-12)
    fa.inverse_kinematics(arm, goals)
    if arm.n == 6:
        fa.inverse_kinematics(arm, goals, every=True)
    ours, theirs, ratios, every = [], [], [], []
    for _ in range(rounds):
        a, found = seconds(lambda: fa.inverse_kinematics(arm, many))
        b, other = seconds(lambda: [chain.ik_LM(T, tol=5e-13) for T in goals])
        ours.append(a / len(many))
        theirs.append(b / len(goals))
        ratios.append(theirs[-1] / ours[-1])
        if arm.n == 6:
            every.append(seconds(lambda: fa.inverse_kinematics(arm, many, every=True))[0] / len(many))
    reached = right(arm, np.array([one.q for one in other]), goals)
    print(
        f"{name:12} ours {1e6 * min(ours):6.2f} µs, {found.solved.mean():8.3%} to 1e-9;  "
        f"Toolbox {1e6 * min(theirs):7.1f} µs, {reached:8.3%} to 1e-6;  ratio {statistics.median(ratios):6.0f}"
        + (f";  every branch {1e6 * min(every):5.2f} µs" if every else "")
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("arms", nargs="*", default=["panda", "iiwa14", "xarm7", "ur5e", "ur10e", "puma560"])
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for arm_name in given.arms:
        run(arm_name, given.poses, given.rounds)
