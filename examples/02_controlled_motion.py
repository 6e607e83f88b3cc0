"""A controlled motion: an iiwa 14 follows a quintic under three laws, and the energy balance is checked.

The laws are compiled into the simulation's own loop. The controller believes in the bare arm; the arm that moves
carries 1.5 kg, so that the laws differ. `python 02_controlled_motion.py FOLDER` writes a figure there.
"""

import sys
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.simulation import ComputedTorque, FeedforwardPD, PDWithGravity, Quintic, advise_step, simulate


def main(folder: str = "") -> None:
    arm = fa.load("iiwa14")
    carrying = arm.with_payload(1.5, com=(0, 0, 0.06), frame="flange")
    start, goal = (
        np.array([0.2, 0.5, 0.0, -1.2, 0.1, 0.8, 0.0]),
        np.array([1.0, 0.9, 0.4, -0.6, -0.5, 1.2, 0.6]),
    )
    motion = Quintic(start, goal, 1.2)
    felt = np.diag(fa.mass_matrix(arm, start))  # inertia that each joint feels: gains in proportion
    stiffness, damping = 400 * felt, 40 * felt

    laws = {
        "PD with gravity": PDWithGravity(arm, motion, stiffness, damping),
        "feedforward and PD": FeedforwardPD(arm, motion, stiffness, damping),
        "computed torque": ComputedTorque(arm, motion, kp=400.0, kd=40.0),
    }
    for name, law in laws.items():
        run = simulate(carrying, start, law=law, duration=1.5, dt=1e-3, control_dt=2e-3)
        error = np.abs(run.q - motion.sample(run.t).q).max()
        print(
            f"{name:20s} largest error {np.degrees(error):7.3f} deg, largest torque {np.abs(run.tau).max():6.1f} N m"
        )
        print(f"{'':20s} {run.outcome}; energy balance to {run.relative_drift:.1e}")

    print(advise_step(carrying, start, law=laws["computed torque"], duration=1.5, tolerance=1e-8))
    if folder:
        path = Path(folder) / "controlled_motion.png"
        run.plot().savefig(path, dpi=120)
        print(f"figure in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
