"""Motions at their limits, ours and the peers', in one run: python benchmarks/fastest.py [--paths N] [arms].

Time-optimal motions along random splines beside TOPP-RA (`toppra`, its fastest solver, seidel): the same splines, grid
and limits of speed and torque, torques by our kernel for both, the stopwatch around everything from waypoints to the
speed along the path. Point to point, from rest to rest within speeds, accelerations and jerks, beside Ruckig. Rounds
alternate, times are the processor's, ratios are medians over rounds.
"""

import argparse
import statistics
import time

import numpy as np
import ruckig
import toppra
from toppra import algorithm, constraint

import forearm as fa
from forearm.motion.motions import ViaPoints

KNOTS, GRID = 5, np.linspace(0.0, 1.0, 201)
TOGETHER = 256


def seconds(function):
    """Of the processor, not of the clock: a busy machine shares its time between others too."""
    began = time.thread_time()
    found = function()
    return time.thread_time() - began, found


def free(name):
    """The arm without limits of position, which random splines pass, and without friction, which TOPP-RA lacks here."""
    arm = fa.load(name).without_drives()
    return arm.replace(links=tuple(link.replace(limits=None) for link in arm.links))


def limits_of(arm, points):
    """Speeds of the arm, and torques that hold it everywhere on the paths."""
    paths = [ViaPoints(np.linspace(0.0, 1.0, KNOTS), each, at_rest=False) for each in points]
    hold = np.max([np.abs(fa.gravity_torque(arm, path.sample(301).q)).max(axis=0) for path in paths], axis=0)
    speeds = np.array([link.speed_limit for link in arm.links], dtype=float)
    torques = np.array([link.effort_limit for link in arm.links], dtype=float)
    return speeds, np.maximum(torques, 1.3 * hold)


def by_toppra(arm, points, speeds, torques):
    """How long TOPP-RA's motion takes [s]."""
    kept = [
        constraint.JointVelocityConstraint(np.stack([-speeds, speeds], axis=1)),
        constraint.JointTorqueConstraint(
            lambda q, qd, qdd: fa.inverse_dynamics(arm, q, qd, qdd),
            np.stack([-torques, torques], axis=1),
            np.zeros(arm.n),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]
    spline = toppra.SplineInterpolator(np.linspace(0.0, 1.0, KNOTS), points)
    problem = algorithm.TOPPRA(kept, spline, gridpoints=GRID, solver_wrapper="seidel")
    speed = np.asarray(problem.compute_parameterization(0, 0)[1])
    return float(np.sum(2 * np.diff(GRID) / (speed[1:] + speed[:-1])))


def time_optimal(name, count, rounds):
    """Print one line: a path alone, and many at once."""
    arm = free(name)
    points = np.random.default_rng(0).uniform(-1.6, 1.6, (count, KNOTS, arm.n))
    speeds, torques = limits_of(arm, points)
    paths = [ViaPoints(np.linspace(0.0, 1.0, KNOTS), each, at_rest=False) for each in points]
    many = [paths[k % count] for k in range(TOGETHER)]
    limits = {"speeds": speeds, "torques": torques, "grid": GRID}
    fa.fastest(arm, paths[0], **limits)
    alone, together, theirs = [], [], []
    for _ in range(rounds):
        b, want = seconds(lambda: [by_toppra(arm, each, speeds, torques) for each in points])
        a, got = seconds(lambda: [fa.fastest(arm, path, **limits) for path in paths])
        c, _ = seconds(lambda: fa.fastest(arm, many, **limits))
        alone.append(a / count), together.append(c / TOGETHER), theirs.append(b / count)
    off = max(abs(motion.duration / t - 1) for motion, t in zip(got, want, strict=True))
    ratios = [
        statistics.median(t / x for t, x in zip(theirs, ours, strict=True)) for ours in (alone, together)
    ]
    print(
        f"{name:10} fastest: one path {1e3 * min(alone):5.2f} ms, of {TOGETHER} at once {1e3 * min(together):6.3f} ms; "
        f"TOPP-RA {1e3 * min(theirs):5.2f} ms; ratios {ratios[0]:.1f}, {ratios[1]:.0f}; durations within {off:.1e}"
    )


def point_to_point(name, count, rounds):
    """Print one line: S-curves from rest to rest."""
    arm, rng = free(name), np.random.default_rng(1)
    joints = arm.n
    ends = rng.uniform(-2.0, 2.0, (count, 2, joints))
    speeds, accelerations, jerks = (rng.uniform(1.0, 3.0, joints) * k for k in (1.0, 3.0, 20.0))
    problem, solver = ruckig.InputParameter(joints), ruckig.Ruckig(joints)
    problem.max_velocity, problem.max_acceleration, problem.max_jerk = map(
        list, (speeds, accelerations, jerks)
    )
    trajectory = ruckig.Trajectory(joints)

    def ruckigs():
        found = []
        for start, end in ends:
            problem.current_position, problem.target_position = start.tolist(), end.tolist()
            solver.calculate(problem, trajectory)
            found.append(trajectory.duration)
        return found

    given = {"speeds": speeds, "accelerations": accelerations, "jerks": jerks}
    ours, theirs = [], []
    for _ in range(rounds):
        b, want = seconds(ruckigs)
        a, got = seconds(lambda: [fa.point_to_point(arm, start, end, **given) for start, end in ends])
        ours.append(a / count), theirs.append(b / count)
    off = max(abs(motion.duration - t) for motion, t in zip(got, want, strict=True))
    print(
        f"{name:10} point to point: {1e6 * min(ours):.0f} µs, a Motion; Ruckig {1e6 * min(theirs):.1f} µs; "
        f"durations within {off:.1e} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("arms", nargs="*", default=["iiwa14", "ur10e"])
    parser.add_argument("--paths", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    told = parser.parse_args()
    for arm_name in told.arms:
        time_optimal(arm_name, told.paths, told.rounds)
        point_to_point(arm_name, 10 * told.paths, told.rounds)
