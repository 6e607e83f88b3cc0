"""The worst torque of every joint, and what causes it: a million states over payloads, mounts and friction.

The same seed gives the same numbers to the last bit with any number of workers; with a journal the sweep goes on where
it was stopped.
"""

import numpy as np

import forearm as fa


def main(samples: int = 1000) -> None:
    arm = fa.load("iiwa14")
    rng = np.random.default_rng(0)
    low, high = np.array([link.limits for link in arm.links]).T
    motions = [fa.point_to_point(arm, *rng.uniform(low, high, (2, 7)), accelerations=5.0) for _ in range(10)]
    over = {
        "motion": motions,
        "payload": fa.Uniform([0, -0.05, -0.05, 0.0], [14, 0.05, 0.05, 0.2]),
        "mount": fa.Uniform([-0.3, -0.3, 0], [0.3, 0.3, 0]),
        "friction": fa.Uniform([0, 0], [1, 3]),
    }
    found = fa.sweep("inverse_dynamics", over, arm=arm, samples=samples, keep=("extremes", "quantiles"))
    print(f"{found.states} states of {arm.name}, {found.rate / 1e6:.1f} million a second")
    usual = found.quantile(0.999)
    for link, case, most in zip(arm.links, found.worst, usual, strict=True):
        mass, roll = case.choices["payload"][0], np.degrees(case.choices["mount"][0])
        print(
            f"  {link.name}: {case.value:7.1f} N m of {link.effort_limit:g} (99.9 % below {most:6.1f}), motion "
            f"{case.choices['motion']} at {case.time:.2f} s with {mass:.1f} kg, rolled {roll:.0f} degrees"
        )
    again = fa.sweep(
        "inverse_dynamics", over, arm=arm, samples=samples, keep=("extremes", "quantiles"), workers=1
    )
    print("the same bits with one worker:", bool(np.array_equal(again.greatest, found.greatest)))


if __name__ == "__main__":
    main()
