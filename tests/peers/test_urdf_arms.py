"""Arms of other people's URDF files against Pinocchio: torques, mass matrix, gravity."""

from pathlib import Path

import numpy as np
import pytest

from arms import seed_of
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.readers.urdf import read_urdf
from peers.urdf_arms import SOURCES, table_row

pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques


def pinocchio_model(source, joint_names):
    """The same chain as a Pinocchio model, everything else locked; and the pose of the root."""
    full = pin.buildModelFromUrdf(str(source.path))
    position = pin.neutral(full)
    lock = source.options.get("lock", {})
    held = [i for i in range(1, full.njoints) if full.names[i] not in joint_names]
    for i in held:
        joint = full.joints[i]
        if joint.nq == 1:
            position[joint.idx_q] = lock.get(full.names[i], 0.0)
    base = Pose()
    if "root" in source.options:
        data = full.createData()
        pin.framesForwardKinematics(full, data, position)
        placed = data.oMf[full.getFrameId(source.options["root"])]
        base = Pose(placed.rotation, placed.translation)
    return (pin.buildReducedModel(full, held, position) if held else full), base


@pytest.fixture(params=SOURCES, ids=str)
def pair(request):
    source = request.param
    if not source.path.exists():
        pytest.skip(f"{source.package} is not installed")
    arm = read_urdf(source.path, **source.options)
    model, base = pinocchio_model(source, set(arm.joint_names))
    root = source.options.get("root")
    return source, read_urdf(source.path, base=base, **source.options) if root else arm, model


def test_torques_mass_matrix_and_gravity_are_pinocchios(pair):
    source, arm, model = pair
    arm = arm.without_drives()
    assert arm.n == source.n
    assert list(arm.joint_names) == list(model.names)[1:]
    rng = np.random.default_rng(seed_of(source.title))
    data, zero = model.createData(), np.zeros(arm.n)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-2, 2, (3, arm.n))
        there = pin.integrate(model, pin.neutral(model), q)
        want = pin.rnea(model, data, there, qd, qdd)
        got = torques(arm, q, qd, qdd)
        assert np.max(np.abs(got - want)) <= 1e-11 * max(1.0, np.max(np.abs(want)))
        weight = torques(arm, q, zero, zero)
        want = pin.computeGeneralizedGravity(model, data, there)
        assert np.max(np.abs(weight - want)) <= 1e-11 * max(1.0, np.max(np.abs(want)))
        mass = np.array([torques(arm, q, zero, unit) - weight for unit in np.eye(arm.n)]).T
        want = pin.crba(model, data, there)
        want = np.triu(want) + np.triu(want, 1).T
        assert np.max(np.abs(mass - want)) <= 1e-11 * max(1.0, np.max(np.abs(want)))


def test_masses_survive_the_folding(pair):
    _, arm, model = pair
    assert arm.total_mass == pytest.approx(sum(inertia.mass for inertia in model.inertias[1:]), rel=1e-13)


def test_the_tool_is_where_pinocchio_has_the_tip(pair):
    source, arm, model = pair
    tip = source.options.get("tip")
    if tip is None:
        return
    from forearm.kinematics import frame_pose

    q = np.random.default_rng(seed_of(source.title)).uniform(-2, 2, arm.n)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.integrate(model, pin.neutral(model), q))
    placed = data.oMf[model.getFrameId(tip)]
    R, p = frame_pose(arm, q)
    assert np.max(np.abs(R - placed.rotation)) < 1e-12
    assert np.max(np.abs(p - placed.translation)) < 1e-12


def test_at_least_twenty_five_arms_are_there():
    assert len(SOURCES) >= 25


PAGE = Path(__file__).parents[2] / "docs" / "robots.md"


def test_the_page_lists_every_arm():
    text = PAGE.read_text(encoding="utf-8")
    missing = [
        source.title
        for source in SOURCES
        if f"| {source.title} | {source.package}: `{source.file}` |" not in text
    ]
    assert not missing
    assert f"## {len(SOURCES)} arms from three packages" in text


@pytest.mark.more
@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_the_page_says_what_check_says(source):
    if not source.path.exists():
        pytest.skip(f"{source.package} is not installed")
    assert table_row(source) in PAGE.read_text(encoding="utf-8").splitlines()
