"""First torque: load an arm, ask for the torques of a motion, and for what they are made of.

Everything is in SI units and radians, joints in chain order. The first call compiles (a few tenths of a second,
kept on disk for the next time); after that one state takes a fraction of a microsecond, a batch far less for each.
"""

import numpy as np

import forearm as fa


def main() -> None:
    arm = fa.load("puma560")
    q = arm.configuration("nominal")
    qd = np.array([0.5, -0.2, 0.8, -1.1, 0.7, -0.4])
    qdd = np.array([1.2, 0.3, -0.6, 0.9, -1.4, 2.0])

    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    print("torques [N m]      ", tau.round(3))
    print("holding still      ", fa.gravity_torque(arm, q).round(3))

    # the same torque, term by term
    parts = fa.terms(arm, q, qd, qdd)
    for name in ("inertial", "centrifugal", "coriolis", "gravity", "rotor", "friction"):
        print(f"  {name:16s} ", getattr(parts, name).round(3))
    print("they add up        ", np.allclose(parts.total, tau))

    # and back: these torques give those accelerations
    print("accelerations back ", fa.forward_dynamics(arm, q, qd, tau).round(6))

    # a payload is part of the arm; a batch is one more axis
    heavy = arm.with_payload(2.5, com=(0, 0, 0.05), frame="flange")
    print("holding 2.5 kg     ", fa.gravity_torque(heavy, q).round(3))
    many = np.linspace(0, 1, 5)[:, None] * q
    print("shoulder, 5 poses  ", fa.gravity_torque(arm, many)[:, 1].round(2))


if __name__ == "__main__":
    main()
