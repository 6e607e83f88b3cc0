"""Logs of real arms, which are not part of this repository: beside the checkout, or where FOREARM_MEASURED says."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

import forearm as fa
from forearm.identification.measured.logs import read_log

HOME = Path(os.environ.get("FOREARM_MEASURED") or Path(__file__).parents[3] / "shared" / "measured")
pytestmark = pytest.mark.skipif(
    not HOME.is_dir(), reason="no logs of real arms here: ../shared/measured, or FOREARM_MEASURED"
)


def test_panda_second_half():
    arm = fa.load("panda")
    log = read_log(HOME / "panda_excitation.csv.gz", arm)
    middle = (log.t[0] + log.t[-1]) / 2
    found = fa.identify(arm, log.between(0.0, middle), validate=log.between(middle, np.inf))
    assert found.residuals.validation_total < 0.017
    assert min(found.smallest) > 0
    even = np.linspace(log.t[0], log.t[-1], len(log.t))
    low = butter(4, 10.0, fs=log.rate, output="sos")
    q, qd, tau = (
        sosfiltfilt(low, np.stack([np.interp(even, log.t, c) for c in x.T], axis=1), axis=0)
        for x in (log.q, log.qd, log.tau)
    )
    qdd = np.gradient(qd, 1 / log.rate, axis=0)
    half = slice(len(q) // 2, None)
    rest = tau[half] - fa.inverse_dynamics(found.arm, q[half], qd[half], qdd[half]) - found.offset
    assert np.linalg.norm(rest) < 0.017 * np.linalg.norm(tau[half])


def test_tx40_with_its_coupled_wrist():
    arm = fa.load(HOME / "staubli_tx40.urdf")
    data = np.load(HOME / "staubli_tx40.npz")
    turns = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    turns[5, 4] = 32.0
    t = np.arange(len(data["current"])) / float(data["rate"])
    log = {"t": t, "q": data["motor_position"], "current": data["current"]}
    zero = (0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0)  # motors 2 and 3 are counted from another pose
    found = fa.identify(arm, log, gains=1.0, coupling=np.linalg.inv(turns), zero=zero)
    assert found.residuals.train_total < 0.075
    names = list(found.base.names)

    def near(published, *parts):
        at = [names.index(part) for part in parts]
        std = np.sqrt(found.base.covariance[np.ix_(at, at)].sum())
        assert abs(found.base.values[at].sum() - published) < 1.96 * std, parts

    # published numbers of joints 5 and 6 hold what motor 6 adds to each
    for i, v in enumerate((8.05, 5.53, 1.97, 1.11, 1.86, 0.65), 1):
        near(v, f"FV{i}", *(["FVm6"] if i > 4 else []))
    for i, v in enumerate((7.14, 8.26, 6.34, 2.48, 3.03, 0.282), 1):
        near(v, f"FC{i}")
    for i, v in enumerate((0.0988, 0.0313, 0.0468, 0.0105), 3):
        near(v, f"IA{i}", *(["IAm6"] if i > 4 else []))
    for name, value in {"FVm6": 0.616, "FCm6": 1.95, "IAm6": 0.00964}.items():
        near(value, name)
    # rotors 1 and 2 cannot be told from their links: torques have sums only
    groups = " ".join(found.base.groups)
    assert "+ IA1" in groups
    assert "+ IA2" in groups
    assert not {"IA1", "IA2"} & set(names)


def test_tx40_with_a_wrong_zero_is_said():
    arm = fa.load(HOME / "staubli_tx40.urdf")
    data = np.load(HOME / "staubli_tx40.npz")
    turns = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    turns[5, 4] = 32.0
    t = np.arange(len(data["current"])) / float(data["rate"])
    log = {"t": t, "q": data["motor_position"], "current": data["current"]}
    found = fa.identify(arm, log, gains=1.0, coupling=np.linalg.inv(turns))
    assert any("zero" in note and "WARNING" in note for note in found.notes)
