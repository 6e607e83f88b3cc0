"""What is keyed on numbers has a bound: contact points, payloads, wrenches and laws that change with every call."""

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import plant, simulate

Q = np.array([0.1, 0.2])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def test_a_wrench_at_a_moving_point_and_a_changing_payload_compile_once(folder):
    arm, rng = fa.load("rr"), np.random.default_rng(0)
    kernel = fa.compile(arm, "inverse_dynamics", free=("payload",))

    def call():
        force, point = (tuple(rng.uniform(-1, 1, 3)) for _ in "ab")
        fa.external_torque(arm, Q, fa.Wrench(force=force, at=("tool", point)))
        kernel(Q, Q, Q, np.r_[rng.uniform(0, 1, 4), np.ones(6)])
        fa.pose(arm, Q, frame="tool")

    call()
    files, kept = len(list(folder.iterdir())), (len(arm.kernels), len(arm.calls))
    for _ in range(1000):
        call()
    assert (len(arm.kernels), len(arm.calls)) == kept
    assert len(list(folder.iterdir())) == files


def test_an_arm_keeps_a_bounded_number_of_loops(monkeypatch):
    monkeypatch.setattr(plant, "MOST_KEPT", 5)
    arm = fa.load("rr")
    want = simulate(fa.load("rr"), Q, duration=0.002, torque_limits=[1.0, 1.0])
    for k in range(12):
        simulate(arm, Q, duration=0.002, torque_limits=[1.0 + k, 1.0])
    assert sum(key[0] == plant.SIMULATION for key in arm.kernels) <= 5
    again = simulate(arm, Q, duration=0.002, torque_limits=[1.0, 1.0])
    np.testing.assert_array_equal(again.q, want.q)
