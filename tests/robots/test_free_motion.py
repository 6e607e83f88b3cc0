"""Free bodies and robots let go: momentum and energy are conserved, quaternions stay at unit length, MuJoCo agrees."""

from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.faults import StateFault
from forearm.free_base import rotation_of
from forearm.readers.urdf import from_urdf
from peers.urdf_arms import ERD, Source
from robots.random_trees import random_urdf
from robots.urdf_texts import floating, without_shapes

STONE = fa.Robot(
    "stone",
    (),
    (),
    free=True,
    trunk=fa.Body(2.0, (0.1, -0.05, 0.2), fa.Inertia.box(2.0, 0.1, 0.3, 0.5)),
)
"""A body that tumbles, its centre of mass away from its origin."""


def crab(gravity=(0.0, 0.0, 0.0)):
    """A free base with two legs of two joints."""
    robot = from_urdf(random_urdf(5, joints=4), base="free")
    links = tuple(link.replace(limits=None, speed_limit=None, effort_limit=None) for link in robot.links)
    return robot.replace(gravity=gravity, links=links)


SOLO = Source("solo 12", ERD, "solo_description/robots/solo12.urdf", 12)


def quadruped(gravity=(0.0, 0.0, 0.0)):
    """Solo 12 in free fall: no ground, no friction, joints without stops."""
    if not SOLO.path.exists():
        pytest.skip("example-robot-data has no wheel for this platform")
    robot = fa.load(SOLO.path, base="free").without_drives()
    links = tuple(link.replace(limits=None, speed_limit=None, effort_limit=None) for link in robot.links)
    return robot.replace(gravity=gravity, links=links)


def start(robot):
    q, qd, _ = robot.random_state(1)
    return q, 0.5 * qd


@pytest.mark.parametrize(
    "robot",
    [
        lambda: STONE.replace(gravity=(0.0, 0.0, 0.0)),
        pytest.param(crab, marks=pytest.mark.more),
        pytest.param(quadruped, marks=pytest.mark.more),
    ],
    ids=["stone", "crab", "quadruped"],
)
@pytest.mark.parametrize(("method", "order"), [("rk4", 4), pytest.param("euler", 1, marks=pytest.mark.more)])
def test_momentum_and_energy_are_kept_to_the_order_of_the_scheme(robot, method, order):
    robot = robot()
    q, qd = start(robot)
    off = []
    for dt in (0.02, 0.01):
        record = fa.simulate(robot, q, qd, duration=1.0, dt=dt, method=method)
        assert record.outcome.finished
        assert np.max(np.abs(np.linalg.norm(record.q[:, 3:7], axis=1) - 1)) < 4e-16
        energy = record.kinetic + record.potential
        center = fa.center_of_mass(robot, record.q)
        h = fa.centroidal_momentum(robot, record.q, record.qd)
        about_origin = h[:, 3:] + np.cross(center, h[:, :3])
        off.append(
            np.array([np.ptp(energy), np.ptp(h[:, :3], axis=0).max(), np.ptp(about_origin, axis=0).max()])
        )
    gained = np.log2(off[0] / np.maximum(off[1], 1e-15))
    assert np.all((gained > order - 0.5) | (off[1] < 1e-11)), (off, gained)


def test_a_stone_falls_as_it_should():
    q, qd = start(STONE)
    record = fa.simulate(STONE, q, qd, duration=1.0, dt=0.01)
    center = fa.center_of_mass(STONE, record.q)
    v = fa.center_of_mass_jacobian(STONE, q) @ qd
    t = record.t[:, None]
    expected = center[0] + v * t + np.array([0, 0, -9.81]) * t * t / 2
    np.testing.assert_allclose(center, expected, atol=1e-8)
    assert np.max(np.abs(record.drift)) < 1e-6


@pytest.mark.more
def test_a_law_in_python_gives_what_the_compiled_one_gives():
    robot = crab()
    q, qd = start(robot)

    def law(t, q, qd):
        return np.concatenate([np.zeros(6), -0.5 * qd[6:]])

    one = fa.simulate(robot, q, qd, law=law, duration=0.1, dt=0.01)
    two = fa.simulate(robot, q, qd, law=law, duration=0.1, dt=0.01, trace=False)
    np.testing.assert_allclose(one.q, two.q, atol=1e-12)
    three = fa.simulate(robot, q, qd, law=law, duration=0.1, dt=0.01, method="euler")
    four = fa.simulate(robot, q, qd, law=law, duration=0.1, dt=0.01, method="euler", trace=False)
    np.testing.assert_allclose(three.q, four.q, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize("trace", [True, False])
def test_a_law_was_given_quaternions_that_were_not_of_unit_length(method, trace):
    robot = crab()
    q, qd = start(robot)
    qd[3:6] = 2.0, 6.0, -3.0

    def upright(q):  # how far the base's z axis is up
        x, y, z, w = q[3:7]
        return {
            "read": 1 - 2 * (x * x + y * y),
            "unit": 1 - 2 * (x * x + y * y) / (x * x + y * y + z * z + w * w),
        }

    def laws(which):
        def law(t, q, qd):
            up = fa.pose(robot, q, "base")[2, 2] if which == "asked" else upright(q)[which]
            return np.concatenate([np.zeros(6), 0.1 * up - 0.2 * qd[6:]])

        return law

    how = {"duration": 0.3, "dt": 3e-3, "method": method}
    want = fa.simulate(robot, q, qd, law=laws("unit"), **how)
    for which in ("read", "asked"):
        found = fa.simulate(robot, q, qd, law=laws(which), trace=trace, **how)
        assert found.outcome.finished
        np.testing.assert_allclose(found.q, want.q, atol=1e-12)
        np.testing.assert_allclose(found.tau, want.tau, atol=1e-12)


def test_a_stone_that_turns_for_long_was_told_to_have_run_away():
    stone = STONE.replace(gravity=(0.0, 0.0, 0.0), trunk=fa.Body(2.0, inertia=fa.Inertia.sphere(2.0, 0.1)))
    q, qd = stone.neutral(), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 40.0])
    record = fa.simulate(stone, q, qd, duration=2000.0, dt=0.01, method="euler", record_every=50_000)
    assert record.outcome.finished
    assert np.all(np.isfinite(record.q))


@pytest.mark.more
def test_a_batch_moves_as_its_rows():
    robot = crab((0.3, -0.2, -9.81))
    q, qd, _ = robot.random_state(2, (3,))
    both = fa.simulate(robot, q, qd, duration=0.1, dt=0.01)
    for k in range(3):
        alone = fa.simulate(robot, q[k], qd[k], duration=0.1, dt=0.01)
        np.testing.assert_allclose(both.q[k, -1], alone.q[-1], atol=1e-12)


def test_schemes_that_know_no_robots_say_so():
    q, qd = start(crab())
    with pytest.raises(StateFault, match=r"robots are simulated by 'rk4' and 'euler'"):
        fa.simulate(crab(), q, qd, duration=0.1, dt=0.01, method="symplectic")


def test_a_quaternion_off_unit_length_is_refused():
    robot = crab()
    q, qd, qdd = robot.random_state(0)
    near, far = q.copy(), q.copy()
    near[3:7] *= 1 + 5e-7
    far[3:7] *= 1 + 1e-5
    weighs = robot.replace(gravity=(0.0, 0.0, -9.81))
    np.testing.assert_allclose(
        fa.inverse_dynamics(weighs, near, qd, qdd), fa.inverse_dynamics(weighs, q, qd, qdd), rtol=1e-12
    )
    for _ in range(2):  # through Python first, past it then
        with pytest.raises(StateFault, match=r"quaternion.*has length 1\.00001"):
            fa.inverse_dynamics(weighs, far, qd, qdd)
    rows = fa.inverse_dynamics(weighs, np.stack([q, far]), qd, qdd)
    assert np.all(np.isfinite(rows[0]))
    assert not np.any(np.isfinite(rows[1]))


FLYER = """<mujoco><option gravity="0 0 -9.81" integrator="RK4" timestep="0.001"/><worldbody>
  <body name="trunk" pos="0 0 1"><freejoint/><inertial pos="0.02 0 0.1" mass="3" diaginertia="0.1 0.2 0.15"/>
    <body name="wing" pos="0.3 0 0"><joint name="flap" axis="0 1 0.2"/>
      <inertial pos="0.2 0 0" mass="0.5" diaginertia="0.001 0.01 0.01"/></body>
    <body name="tail" pos="-0.3 0 0" euler="0 0 30"><joint name="wag" axis="0 0 1" armature="0.01"/>
      <inertial pos="-0.2 0.1 0" mass="0.4" diaginertia="0.001 0.008 0.008"/></body>
  </body></worldbody></mujoco>"""


def test_mujoco_flies_the_same_way(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = tmp_path / "flyer.xml"
    path.write_text(FLYER)
    robot = fa.load(path)
    assert robot.free
    assert robot.joint_names == ("flap", "wag")
    model = mujoco.MjModel.from_xml_string(FLYER)
    data = mujoco.MjData(model)
    q, qd = robot.neutral(), np.array([0.3, -0.2, 0.5, 0.7, -1.0, 0.4, 1.5, -2.0])
    np.testing.assert_allclose(q[:3], data.qpos[:3])
    data.qvel[:] = qd  # the base's axes are the world's at the beginning
    for _ in range(500):
        mujoco.mj_step(model, data)
    end, rates = fa.simulate(robot, q, qd, duration=0.5, dt=1e-3).end
    turn = data.qpos[[4, 5, 6, 3]]
    np.testing.assert_allclose(end[:3], data.qpos[:3], atol=1e-8)
    np.testing.assert_allclose(end[3:7] * np.sign(end[6]), turn * np.sign(turn[3]), atol=1e-8)
    np.testing.assert_allclose(end[7:], data.qpos[7:], atol=1e-8)
    np.testing.assert_allclose(rates[3:], data.qvel[3:], atol=1e-7)


@pytest.mark.more
def test_a_quadruped_let_go_falls_as_mujocos():
    """Half as long a step, a sixteenth of the difference: both are of the fourth order, and of one motion."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    robot = quadruped((0.0, 0.0, -9.81))
    model = mujoco.MjModel.from_xml_string(floating(without_shapes(SOLO.path), "base_link"))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.dof_damping[:] = model.dof_frictionloss[:] = model.dof_armature[:] = 0
    joints = [model.joint(name) for name in robot.joint_names]
    at, rate = [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints]
    q, qd = start(robot)
    off = []
    for dt in (4e-3, 2e-3):
        model.opt.timestep, data = dt, mujoco.MjData(model)
        data.qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]
        turn = rotation_of(q[3:7])
        data.qvel[:6] = np.concatenate(
            [turn @ qd[:3], qd[3:6]]
        )  # linear in world axes, angular in the base's
        data.qpos[at], data.qvel[rate] = q[7:], qd[6:]
        for _ in range(round(0.2 / dt)):
            mujoco.mj_step(model, data)
        end, rates = fa.simulate(robot, q, qd, duration=0.2, dt=dt).end
        place = data.qpos[[4, 5, 6, 3]]
        turned = np.abs(end[3:7] * np.sign(end[6]) - place * np.sign(place[3])).max()
        moved = np.abs(end[:3] - data.qpos[:3]).max(), np.abs(end[7:] - data.qpos[at]).max()
        off.append(max(turned, *moved, 0.01 * np.abs(rates[6:] - data.qvel[rate]).max()))
    assert off[1] < 1e-6
    assert off[1] < max(off[0] / 8, 1e-11), off


def test_a_free_base_without_inertia_is_told_as_singular():
    robot = fa.load(
        Path(__file__).parents[2] / "examples" / "fork.urdf", base="free"
    )  # its base weighs nothing
    record = fa.simulate(robot, robot.neutral(), np.zeros(robot.nv), duration=0.01, dt=1e-3)
    assert "mass matrix is singular: joint 6 'base wz'" in record.outcome.advice


def test_c_code_of_a_free_base_without_inertia_is_refused_without_numpys_warnings(tmp_path):
    robot = fa.load(Path(__file__).parents[2] / "examples" / "fork.urdf", base="free")
    with pytest.raises(fa.KernelFault, match="none of the 100 states of the self-test gives finite outputs"):
        fa.emit_c(robot, tmp_path, ["forward_dynamics"])


def test_a_free_robot_that_runs_away_is_told_to_step_less():
    robot = from_urdf(random_urdf(2, joints=5), base="free")
    record = fa.simulate(robot, robot.neutral(), np.full(robot.nv, 60.0), duration=20, dt=0.05)
    assert record.outcome.kind == "diverged"
    assert "speeds ran away" in record.outcome.advice


def test_gravity_of_a_free_base_stays_an_input():
    pull, q, speeds = (1.0, -2.0, 3.0), [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5], np.arange(12.0).reshape(2, 6)
    body = fa.Body(2.0, (0.1, 0.2, 0.3), fa.Inertia.box(2.0, 0.1, 0.3, 0.5))
    stone = fa.Robot("stone", (), (), free=True, trunk=body)
    kernel = fa.compile(stone, "inverse_dynamics", free=["gravity"])
    want = fa.inverse_dynamics(stone.replace(gravity=pull), q, *speeds)
    assert_close(kernel(q, *speeds, pull), want)
