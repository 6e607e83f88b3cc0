"""A palletiser: two parallelograms as linear couplings; its loops close, and its torques are those of its energies."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.chosen_model import plain_model
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.kinematics import frame_pose
from forearm.writers.urdf import to_urdf

EXAMPLES = Path(__file__).parents[2] / "examples"
G = 9.81


@pytest.fixture(scope="module")
def palletiser():
    return fa.load(EXAMPLES / "palletiser.toml")


def run(name):
    runpy.run_path(str(EXAMPLES / name))["main"]()


def test_its_loops_close_and_its_gripper_stays_level(palletiser):
    assert palletiser.joint_names == ("column", "upper", "lever", "spin")
    for seed in range(5):
        q = palletiser.random_state(seed)[0]
        (_, one), (_, two) = (frame_pose(palletiser, q, frame) for frame in ("rod's end", "forearm's lug"))
        np.testing.assert_allclose(one, two, atol=1e-15)
        np.testing.assert_allclose(frame_pose(palletiser, q, "gripper")[0][:, 2], [0, 0, 1], atol=1e-15)


def test_gravity_is_what_one_writes_by_hand(palletiser):
    """Heights: upper arm and rod rise with cos(upper), lever, forearm and gripper fall with sin(lever)."""
    q = np.array([0.4, 0.3, 0.7, -1.0])
    upper = G * np.sin(q[1]) * (80 * 0.45 + 12 * 0.5 + (50 + 15 + 25) * 1.0)
    lever = G * np.cos(q[2]) * (20 * -0.12 + 12 * -0.3 + 50 * 0.4 + (15 + 25) * 1.2)
    found = evaluated(plain_model(palletiser), "gravity_torque", q)
    np.testing.assert_allclose(np.asarray(found, dtype=float), [0, -upper, -lever, 0], atol=1e-11)


def test_inertia_of_the_arms_is_what_one_writes_by_hand(palletiser):
    """Upper arm and rod turn by `upper`, lever and forearm by `lever`, the gripper by neither."""
    q = np.array([0.4, 0.3, 0.7, -1.0])
    M = np.asarray(evaluated(plain_model(palletiser), "mass_matrix", q), dtype=float)
    carried = 50 + 15 + 25
    upper = 7.2 + 80 * 0.45**2 + 1 + 12 * 0.5**2 + carried * 1.0**2
    lever = 0.2 + 20 * 0.12**2 + 12 * 0.3**2 + 9 + 50 * 0.4**2 + (15 + 25) * 1.2**2
    both = np.sin(q[2] - q[1]) * (12 * 0.5 * 0.3 - 50 * 0.4 - (15 + 25) * 1.2)
    np.testing.assert_allclose([M[1, 1], M[2, 2], M[1, 2]], [upper, lever, both], rtol=1e-13)


def test_pinocchio_finds_the_same_on_the_open_tree(palletiser):
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    from robots.pinocchio_trees import Peer

    both = Peer.of(to_urdf(palletiser.with_couplings(())), palletiser)
    q, qd, qdd = palletiser.random_state(3)
    tau = evaluated(plain_model(palletiser), "inverse_dynamics", q, qd, qdd)
    np.testing.assert_allclose(np.asarray(tau, dtype=float), both.torques(q, qd, qdd), rtol=0, atol=1e-10)


def test_its_kernel_equals_the_plain_function_and_it_simulates(palletiser):
    q, qd, qdd = palletiser.random_state(1)
    tau = fa.inverse_dynamics(palletiser, q, qd, qdd)
    np.testing.assert_allclose(
        tau, evaluated(plain_model(palletiser), "inverse_dynamics", q, qd, qdd), rtol=1e-11
    )
    record = fa.simulate(palletiser, palletiser.configuration("home"), np.zeros(4), duration=0.1, dt=1e-3)
    assert np.ptp(record.kinetic + record.potential) < 1e-6 * np.abs(record.potential).max()


def test_the_example_runs_and_the_parallelogram_pays(capsys):
    run("11_palletiser.py")
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith(("holding", "motor"))]
    held, elbow = (float(line.split("upper ")[1].split(",")[0]) for line in lines)
    assert elbow > 4 * held
