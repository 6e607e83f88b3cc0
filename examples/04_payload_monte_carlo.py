"""A Monte Carlo of 10,000 payloads: how far off does a controller end that does not know what it carries?

Every row has its own payload (mass, centre, inertia), all in one call: the states stay in registers while the kernel
steps, and both cores share the rows.
"""

import os
import time

import numpy as np

import forearm as fa
from forearm.simulation import ComputedTorque, Quintic, payload_numbers, simulate


def main(count: int = 10_000) -> None:
    arm = fa.load("ur5e")
    rng = np.random.default_rng(7)
    mass = rng.uniform(0.0, 5.0, count)
    com = rng.normal([0.0, 0.0, 0.08], 0.03, (count, 3))
    axes = (
        rng.uniform(0.02, 0.08, (count, 3)) ** 2
    )  # of an ellipsoid: half of its length in each direction, squared
    inertia = np.einsum("r,ri,ij->rij", mass / 5, axes.sum(axis=1, keepdims=True) - axes, np.eye(3))
    payload = payload_numbers(mass, com, inertia)

    start = np.array([0.0, -1.2, 1.4, -0.6, 0.5, 0.0])
    goal = start + [0.6, 0.4, -0.5, 0.3, -0.4, 0.8]
    law = ComputedTorque(arm, Quintic(start, goal, 0.7), kp=400.0, kd=40.0)
    options = dict(law=law, payload=payload, dt=1e-3, threads=os.cpu_count() or 1)
    simulate(arm, start, duration=1e-3, **options)  # compiles

    begin = time.perf_counter()
    run = simulate(arm, start, duration=1.0, **options)
    took = time.perf_counter() - begin
    print(f"{count} motions of 1 s, {count * 1000 / took / 1e6:.1f} million steps a second ({took:.2f} s)")

    reached = run.poses[:, -1, :3, 3]
    error = 1000 * np.linalg.norm(reached - fa.pose(arm, goal)[:3, 3], axis=1)
    print(
        f"error of the tool: median {np.median(error):.1f} mm, 95 % below {np.quantile(error, 0.95):.1f} mm"
    )
    for low in range(5):
        rows = (mass >= low) & (mass < low + 1)
        torque = np.abs(run.tau[rows]).max()
        print(
            f"  {low} to {low + 1} kg: median {np.median(error[rows]):5.1f} mm, largest torque {torque:6.1f} N m"
        )
    print(
        "energy balance to", f"{np.max(run.relative_drift):.1e};", "all finished:", bool(run.finished.all())
    )


if __name__ == "__main__":
    main()
