"""A law of your own, five lines of NumPy: it is traced into the kernel, and runs in Python just the same.

A law takes time and one state and returns torques. It may use forearm's functions, NumPy's arithmetic, sin, cos and
sqrt, and `fa.where` for choices; what it cannot be compiled for (an `if` on a state, say) it is told, and then it
runs in Python. `control_dt` samples it as a real controller would.
"""

import time

import numpy as np

import forearm as fa
from forearm.simulation import simulate

ARM = fa.load("panda")
HOME = np.array([0.0, -0.4, 0.0, -1.9, 0.0, 1.6, 0.8])


def soft_spring(t, q, qd):
    """Accelerate towards home, softly when far from it, while swaying."""
    sway = 0.2 * np.sin(2 * np.pi * 0.5 * t) * np.array([1, 0, 0, 0, 0, 0, 1])
    error = HOME + sway - q
    return fa.inverse_dynamics(ARM, q, qd, 60.0 * error / np.sqrt(1 + error**2) - 12.0 * qd)


def bang_bang(t, q, qd):
    """A law with an `if` on the state cannot be compiled."""
    push = 2.0 if q[0] < 0.1 else -2.0
    return fa.inverse_dynamics(ARM, q, qd, push * np.eye(7)[0] - 5.0 * qd)


def main() -> None:
    start = HOME + 0.3
    runs = {}
    for wanted in (True, False):
        simulate(ARM, start, law=soft_spring, duration=2e-3, trace=wanted)
        begin = time.perf_counter()
        runs[wanted] = simulate(
            ARM, start, law=soft_spring, duration=1.0, dt=1e-3, trace=wanted, limits="ignore"
        )
        print(f"{runs[wanted].law}: {1000 * (time.perf_counter() - begin):.0f} ms for 1000 steps")
    print("the same motion to", f"{np.abs(runs[True].q - runs[False].q).max():.1e} rad")

    held = simulate(ARM, start, law=soft_spring, duration=1.0, dt=1e-3, control_dt=1e-2)
    print("sampled at 100 Hz it differs by", f"{np.abs(held.q - runs[True].q).max():.1e} rad")
    other = simulate(ARM, start, law=bang_bang, duration=0.1, control_dt=1e-3)
    print(other.law)


if __name__ == "__main__":
    main()
