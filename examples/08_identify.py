"""From a log of a motion to the numbers of the arm that made it, with intervals.

The real arm is a 3R with friction that the description does not know, and whose masses the description has wrong by a
fifth; it logs with noise, from encoders of 18 bits.
"""

import numpy as np

import forearm as fa


def main(generations: int = 60) -> None:
    described = fa.load("generic_3r")
    drive = fa.Drive(viscous=1.5, coulomb=(2.0, 2.0), smoothing=0.01)
    real = described.replace(links=tuple(link.replace(drive=drive) for link in described.links))
    start = described.with_parameters(0.8 * fa.parameters(described))

    motion = fa.excite(described, duration=10.0, generations=generations)
    print(f"condition number {motion.condition:.1f}, best of random motions {motion.start_condition:.1f}")

    s = motion.sample(np.arange(0.0, 20.0, 0.002))
    tau = fa.inverse_dynamics(real, s.q, s.qd, s.qdd)
    noise = 0.01 * np.ptp(tau, axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    tick = 2 * np.pi / 2**18
    log = {"t": s.t, "q": np.round(s.q / tick) * tick, "tau": tau + noise}

    found = fa.identify(start, log, smoothing=0.01, rotors=False)
    inside = np.abs(found.base.values - found.base.of(real)) < 1.96 * found.base.std
    print(f"{inside.sum()} of {inside.size} base parameters within their 95 % intervals")
    for link in found.arm.links:
        print(f"  {link.name}: viscous {link.drive.viscous:.2f} (1.5), dry {link.drive.coulomb[0]:.2f} (2.0)")
    print(
        f"residual {found.residuals.train_total:.1%}; every link a body that can be: {min(found.smallest) > 0}"
    )


if __name__ == "__main__":
    main()
