"""Identification on a real log and its speed: python benchmarks/identification.py [folder of measured logs].

Prints the residual of the Panda's second half after a fit on the first (Butterworth of fourth order, 10 Hz, no delay,
as for Gaz et al. 2019, whose parameters with their own friction leave 3.16 % there), and seconds for 20,000 states.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

import forearm as fa
from forearm.identification.logs import read_log
from forearm.motion.motions import Fourier


def panda(home):
    arm = fa.load("panda")
    log = read_log(home / "panda_excitation.csv.gz", arm)
    middle = (log.t[0] + log.t[-1]) / 2
    found = fa.identify(arm, log.between(0.0, middle), validate=log.between(middle, np.inf))
    even = np.linspace(log.t[0], log.t[-1], len(log.t))
    low = butter(4, 10.0, fs=log.rate, output="sos")
    q, qd, tau = (
        sosfiltfilt(low, np.stack([np.interp(even, log.t, c) for c in x.T], axis=1), axis=0)
        for x in (log.q, log.qd, log.tau)
    )
    half = slice(len(q) // 2, None)
    states = (q[half], qd[half], np.gradient(qd, 1 / log.rate, axis=0)[half])
    for name, rest in (
        ("the given arm", tau[half] - fa.inverse_dynamics(arm, *states)),
        ("identified", tau[half] - found.torques(*states)),
    ):
        print(f"panda, second half, {name}: {np.linalg.norm(rest) / np.linalg.norm(tau[half]):.2%}")
    for name, values in found.residuals.validated.items():
        print(f"  with our own filters, {name}: {values[-1]:.2%}")


def speed():
    arm = fa.load("iiwa14")
    rng = np.random.default_rng(0)
    motion = Fourier(np.full(7, 0.3), *(0.4 * rng.normal(size=(2, 5, 7)) / np.arange(1, 6)[:, None]), 20.0)
    s = motion.sample(np.arange(20000) / 1000.0)
    tau = fa.inverse_dynamics(arm, s.q, s.qd, s.qdd)
    tau += 0.01 * np.ptp(tau, axis=0) * rng.normal(size=tau.shape)
    log = {"t": s.t, "q": s.q, "tau": tau}
    fa.identify(arm, log, mend="unexcited")  # compiles
    times = []
    for _ in range(5):
        began = time.perf_counter()
        fa.identify(arm, log, mend="unexcited")
        times.append(time.perf_counter() - began)
    print(f"iiwa14, 20,000 states: {min(times):.2f} s (filter, regressor, base parameters, fits, checks)")


if __name__ == "__main__":
    speed()
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FOREARM_MEASURED", "")
    if given and Path(given).is_dir():
        panda(Path(given))
