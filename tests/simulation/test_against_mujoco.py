"""The same Runge-Kutta steps as MuJoCo's, under the same torques, on a real arm."""

import importlib.util

import numpy as np
import pytest

import forearm as fa
from agreement.libraries import mujoco_model
from forearm.simulation import simulate

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mujoco") is None, reason="MuJoCo has no wheel for this machine"
)


def test_a_hundred_steps_of_a_panda():
    import mujoco

    arm = fa.load("panda").without_drives()
    rng = np.random.default_rng(3)
    q, qd, torques = rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7), rng.uniform(-5, 5, (100, 7))
    run = simulate(arm, q, qd, law=torques, duration=0.1, dt=1e-3, limits="ignore")
    model = mujoco_model(arm)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    data = mujoco.MjData(model)
    data.qpos, data.qvel = q, qd
    for step, tau in enumerate(torques):
        assert np.abs(data.qpos - run.q[step]).max() < 1e-11
        data.qfrc_applied = tau
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos - run.q[-1]).max() < 1e-11
    assert np.abs(data.qvel - run.qd[-1]).max() < 1e-9
