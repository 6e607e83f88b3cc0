"""Identification: real logs beside what others reach on them, and its speed, all in one run.

    python benchmarks/identification.py [folder of measured logs] [--out FILE] [--rounds N]

Panda       The first half of the log is fitted to; what is left of the torque of the second half is computed for the
            identified arm and for the model of Gaz et al. 2019 (the built-in arm has its inertias) with its own
            friction curve, from the same filtered rows (Butterworth of fourth order, 10 Hz, no delay), and once more
            for Gaz 2019 with the rows taken as even, 1 ms apart, which the log's time stamps are not.
TX40        Friction and rotors beside the published values, with their errors. Motors are counted from another pose
            than the description: joints 2 and 3 are at -90° and 90° where they read zero.
regressor   Pinocchio's in its loop beside ours, in slices of 500 states into one buffer (Pinocchio, too, writes into
            one) and in one batch; ratios are medians over alternating rounds.
identify    Seconds for 20,000 states of a 7-joint arm: filters, regressor, base parameters, fits, checks.

The logs are no part of this repository; without the folder only speed is measured.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from run import ratio_of  # noqa: E402

import forearm as fa  # noqa: E402
from forearm.identification.measured.logs import read_log  # noqa: E402
from forearm.motion.motions import Fourier  # noqa: E402

GAZ = {
    "size": (0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489),
    "steepness": (5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336),
    "shift": (0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526),
}
"""Friction of the Panda: Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, IEEE RA-L 4 (2019) 4147-4154, and their
published model: size / (1 + exp(-steepness (qd + shift))), less its value at rest."""
TX40 = {
    "FV": (8.05, 5.53, 1.97, 1.11, 1.86, 0.65),
    "FC": (7.14, 8.26, 6.34, 2.48, 3.03, 0.282),
    "IA": (0.362, 0.362, 0.0988, 0.0313, 0.0468, 0.0105),
    "FVm": (0.616,),
    "FCm": (1.95,),
    "IAm": (0.00964,),
}
"""Published with the log, thanhndv212/figaroh-examples, data of M. Gautier's group."""


def gaz_friction(qd):
    size, steepness, shift = (np.array(GAZ[name]) for name in ("size", "steepness", "shift"))
    return size / (1 + np.exp(-steepness * (qd + shift))) - size / (1 + np.exp(-steepness * shift))


def panda(home):
    """What is left of the second half's torque."""
    arm = fa.load("panda")
    log = read_log(home / "panda_excitation.csv.gz", arm)
    middle = (log.t[0] + log.t[-1]) / 2
    found = fa.identify(arm, log.between(0.0, middle), validate=log.between(middle, np.inf))
    even = np.linspace(log.t[0], log.t[-1], len(log.t))
    on_even = [np.stack([np.interp(even, log.t, c) for c in x.T], axis=1) for x in (log.q, log.qd, log.tau)]
    tau, states = second_half(*on_even, log.rate)
    rigid = fa.inverse_dynamics(arm.without_drives(), *states)
    left = {
        "Gaz 2019 without friction": share(tau, rigid),
        "Gaz 2019 with its friction": share(tau, rigid + gaz_friction(states[1])),
        "identified": share(tau, found.torques(*states)),
        "identified, our own filters": found.residuals.validation_total,
    }
    tau, states = second_half(log.q, log.qd, log.tau, 1000.0)
    as_even = fa.inverse_dynamics(arm.without_drives(), *states) + gaz_friction(states[1])
    left["Gaz 2019 with its friction, rows taken as even"] = share(tau, as_even)
    return {"left": left, "smallest_eigenvalue": float(min(found.smallest))}


def second_half(q, qd, tau, rate):
    """Filtered torques and states of the second half."""
    low = butter(4, 10.0, fs=rate, output="sos")
    q, qd, tau = (sosfiltfilt(low, x, axis=0) for x in (q, qd, tau))
    half = slice(len(q) // 2, None)
    return tau[half], (q[half], qd[half], np.gradient(qd, 1 / rate, axis=0)[half])


def share(tau, predicted):
    return float(np.linalg.norm(tau - predicted) / np.linalg.norm(tau))


def tx40(home):
    """Friction and rotors: found, standard deviation, published, apart in deviations."""
    arm = fa.load(home / "staubli_tx40.urdf")
    data = np.load(home / "staubli_tx40.npz")
    turns = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    turns[5, 4] = 32.0
    log = {
        "t": np.arange(len(data["current"])) / float(data["rate"]),
        "q": data["motor_position"],
        "current": data["current"],
    }
    zero = (0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0)
    found = fa.identify(arm, log, gains=1.0, coupling=np.linalg.inv(turns), zero=zero)
    names = list(found.base.names)
    rows = {}
    for kind, values in TX40.items():
        for i, published in enumerate(values, 1):
            name = f"{kind}{6 if len(values) == 1 else i}"
            if name not in names:
                rows[name] = {"published": published, "grouped": True}
                continue
            # published numbers of joints 5 and 6 hold what motor 6 adds to each of them
            parts = [name, f"{kind}m6"] if kind in ("FV", "IA") and i > 4 and len(values) > 1 else [name]
            at = [names.index(part) for part in parts]
            cov = found.base.covariance[np.ix_(at, at)]
            value, std = float(found.base.values[at].sum()), float(np.sqrt(cov.sum()))
            rows[name] = {
                "value": value,
                "std": std,
                "published": published,
                "apart": (value - published) / std,
            }
    return {"rows": rows, "left": found.residuals.train_total}


def regressor(rounds, states=20000):
    """Pinocchio's loop over ours."""
    import pinocchio as pin
    from peers.models import pinocchio_model

    arm = fa.load("iiwa14").without_drives()
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = arm.random_state(0, (states,))
    whole, slice_ = np.empty((states, 7, 70)), np.empty((500, 7, 70))

    def peer():
        for k in range(states):
            pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k])

    def slices():
        for k in range(0, states, 500):
            span = slice(k, k + 500)
            fa.regressor(arm, q[span], qd[span], qdd[span], out=slice_[: len(q[span])])

    def batch():
        fa.regressor(arm, q, qd, qdd, out=whole)

    theta = np.concatenate([inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]])
    batch()
    for k in range(3):
        torque = pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k]) @ theta
        assert np.allclose(torque, whole[k] @ fa.parameters(arm), rtol=0, atol=1e-11 * np.abs(torque).max())
    times = {run.__name__: [] for run in (peer, slices, batch)}
    for _ in range(rounds):
        for run in (peer, slices, batch):
            began = time.perf_counter()
            run()
            times[run.__name__].append((time.perf_counter() - began) / states * 1e9)
    peer_ns = np.array(times["peer"])
    ours = {name: ratio_of(peer_ns, np.array(times[name])) for name in ("slices", "batch")}
    return {"ns": {name: float(np.median(x)) for name, x in times.items()}, "ratios": ours}


def speed(rounds):
    """Seconds for 20,000 states of iiwa 14."""
    arm = fa.load("iiwa14")
    rng = np.random.default_rng(0)
    motion = Fourier(np.full(7, 0.3), *(0.4 * rng.normal(size=(2, 5, 7)) / np.arange(1, 6)[:, None]), 20.0)
    s = motion.sample(np.arange(20000) / 1000.0)
    tau = fa.inverse_dynamics(arm, s.q, s.qd, s.qdd)
    tau += 0.01 * np.ptp(tau, axis=0) * rng.normal(size=tau.shape)
    log = {"t": s.t, "q": s.q, "tau": tau}
    fa.identify(arm, log, mend="unexcited")  # compiles
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        fa.identify(arm, log, mend="unexcited")
        times.append(time.perf_counter() - began)
    return {"states": len(s.t), "median_s": float(np.median(times)), "most_s": max(times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="?", default=os.environ.get("FOREARM_MEASURED", ""))
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    found = {"identify": speed(given.rounds), "regressor": regressor(given.rounds)}
    if given.logs and Path(given.logs).is_dir():
        found |= {"panda": panda(Path(given.logs)), "tx40": tx40(Path(given.logs))}
    text = json.dumps(found, indent=1)
    print(text)
    if given.out:
        Path(given.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
