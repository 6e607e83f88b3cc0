"""Ignoring Coriolis terms, at two speeds: the papers' remark that it works only when the arm is slow, measured.

The same path of a PUMA 560 is run slowly and fast under computed torque, once with the full model, once with a model
that leaves out all products of velocities. Then: what may be deleted at a tolerance, and error against speed.
"""

import sys
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.simulation import ComputedTorque, Quintic, error_against_speed, significance, simulate


def main(folder: str = "") -> None:
    arm = fa.load("puma560")
    rigid = arm.without_drives()
    path = Quintic(np.zeros(6), np.array([1.0, -0.8, 0.9, 0.5, 0.7, -0.6]), 2.0)

    for factor in (0.25, 4.0):
        motion = path.faster(factor)
        whole = ComputedTorque(arm, motion)

        def without_coriolis(t, q, qd, law=whole):
            """Computed torque, less C(q, qd) qd."""
            return law(t, q, qd) - velocity_torque(rigid, q, qd)

        runs = [
            simulate(arm, path.start, law=law, duration=motion.duration, dt=1e-3, limits="ignore")
            for law in (whole, without_coriolis)
        ]
        worst = [np.degrees(np.abs(run.q - motion.sample(run.t).q).max()) for run in runs]
        print(f"in {motion.duration:4.1f} s: error {worst[0]:.4f} deg with them, {worst[1]:.4f} deg without")

    print(significance(arm, path, tolerance=0.02))
    study = error_against_speed(arm, path)
    for speed, error in zip(study.factors[::5], study.errors["Coriolis and centrifugal"][::5], strict=True):
        print(f"  {speed:6.2f} times as fast: torque error {100 * error:6.2f} %")
    if folder:
        study.plot().savefig(Path(folder) / "ignoring_coriolis.png", dpi=120)


def velocity_torque(rigid, q, qd):
    """C(q, qd) qd: what is left of the torques without gravity, friction and acceleration."""
    return fa.bias_torque(rigid, q, qd) - fa.gravity_torque(rigid, q)


if __name__ == "__main__":
    main(*sys.argv[1:])
