"""check: sound arms are clean; each slip is found on the right link, with the value and the likely fix."""

import json
import math
import time

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from close import assert_close
from forearm.algebra import parallel_axis
from forearm.arm import Arm, Defect
from forearm.faults import ArmFault, box_edges, density, gyration
from forearm.inertia import Inertia
from forearm.link import Drive, Link
from forearm.readers import known_arms, load
from forearm.verification.numbers.body_shapes import corrections, possible
from forearm.verification.numbers.plausibility import check
from forearm.verification.numbers.sampled_motion import weights_and_matrices


def steel(length, width=0.06):
    """A hollow-looking bar along -x of the link frame: 2700 kg/m³."""
    mass = 2700 * length * width * width
    return dict(mass=mass, com=(-length / 2, 0, 0), inertia=Inertia.box(mass, length, width, width))


@pytest.fixture
def arm():
    lengths = (0.3, 0.4, 0.35, 0.2)
    links = [Link.dh("revolute", a=a, alpha=0.5 * (-1) ** i, **steel(a)) for i, a in enumerate(lengths)]
    return Arm("bars", links)


def changed(arm, i, **fields):
    links = list(arm.links)
    links[i] = links[i].replace(**fields)
    return arm.replace(links=tuple(links))


def kinds(report, level=None):
    return {(f.kind, f.link) for f in report.findings if level is None or f.level == level}


def test_a_sound_arm_is_clean(arm):
    report = check(arm)
    assert report.clean, str(report)
    assert report.findings == ()
    assert dict(report.facts)["total mass"] == f"{arm.total_mass:.4g} kg"


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_have_no_undeclared_errors(name):
    for finding in check(load(name)).of("error"):
        assert "declared" in finding.value, str(finding)


def test_a_missing_decimal_point(arm):
    tensor = np.array(arm.links[1].inertia.tensor)
    tensor[2, 2] *= 1000
    bad = Arm(
        "bars",
        changed_links(arm, 1, Inertia(tensor, "com")),
        defects=(Defect(2, "triangle", "for the test"),),
    )
    (finding,) = check(bad).of("error")
    assert (finding.link, finding.kind) == (2, "triangle")
    assert "declared: for the test" in finding.value
    assert f"a decimal point: Izz = {tensor[2, 2] / 1000:g} instead of {tensor[2, 2]:g}" in finding.fix


def changed_links(arm, i, inertia):
    return tuple(link.replace(inertia=inertia) if k == i else link for k, link in enumerate(arm.links))


def test_inertia_about_the_joint_taken_for_one_about_the_centre(arm):
    link = arm.links[1]
    wrong = Inertia(np.array(link.inertia.tensor) + 9 * parallel_axis(link.mass, np.array(link.com)), "com")
    report = check(changed(arm, 1, inertia=wrong))
    assert ("inertia_size", 2) in kinds(report, "warning")


def test_inertia_in_other_units(arm):
    report = check(changed(arm, 2, inertia=Inertia(np.array(arm.links[2].inertia.tensor) * 1e6, "com")))
    (finding,) = [f for f in report.findings if f.kind == "inertia_size"]
    assert finding.link == 3
    assert "Numbers in kg mm²? Times 1e-06 they would fit" in finding.fix
    report = check(changed(arm, 2, inertia=Inertia(np.array(arm.links[2].inertia.tensor) * 1e-6, "com")))
    assert {("inertia_size", 3), ("density", 3)} <= kinds(report, "warning")


def test_a_centre_of_mass_in_millimetres(arm):
    report = check(changed(arm, 1, com=(-200.0, 0, 0)))
    (finding,) = [f for f in report.findings if f.kind == "com"]
    assert finding.link == 2
    assert "Millimetres (then it is 0.2 m)?" in finding.fix


def test_lengths_in_millimetres():
    links = [Link.dh("revolute", a=a, **steel(0.3)) for a in (300.0, 400.0)]
    report = check(Arm("long", links))
    finding, *_ = [f for f in report.findings if f.kind == "units"]
    assert "the arm reaches 700 m" in finding.value
    assert "Millimetres? Divided by 1000 the arm reaches 0.7 m." in finding.fix


def test_angles_in_degrees(arm):
    report = check(changed(arm, 1, limits=(-170.0, 170.0)))
    assert ("units", 2) in kinds(report, "warning")
    assert any("In radians they would be (-2.97, 2.97)" in f.fix for f in report.findings)


def test_a_mass_in_grams(arm):
    report = check(changed(arm, 3, mass=arm.links[3].mass * 1000))
    found = {f.kind: f for f in report.findings if f.link == 4}
    assert "Grams? Divided by 1000 it is" in found["mass"].fix
    assert "density" in found


def test_a_product_that_repeats_a_moment(arm):
    tensor = np.array([[0.02, 0.02, 0.0], [0.02, 0.06, 0.0], [0.0, 0.0, 0.06]])
    report = check(changed(arm, 1, inertia=Inertia(tensor, "com")))
    assert ("order", 2) in kinds(report, "warning")


def test_the_order_of_six_numbers_is_tried():
    right = np.array([[0.030, 0.001, -0.002], [0.001, 0.040, 0.0015], [-0.002, 0.0015, 0.050]])
    xx, xy, xz, yy, yz, zz = right[0, 0], right[0, 1], right[0, 2], right[1, 1], right[1, 2], right[2, 2]
    # the file says xx yy zz xy xz yz, and was read as xx xy xz yy yz zz
    wrong = np.array([[xx, yy, zz], [yy, xy, xz], [zz, xz, yz]])
    assert not possible(wrong)
    assert any("read as xx yy zz xy xz yz" in slip for slip in corrections(3.0, np.zeros(3), wrong, 0.3))


def test_placeholders_of_an_exporter(arm):
    same = [link.replace(mass=1.0, inertia=Inertia.about_com(np.eye(3))) for link in arm.links]
    report = check(arm.replace(links=tuple(same)))
    assert ("placeholder", 1) in kinds(report, "warning")


def test_a_massless_tip_names_the_joint():
    body = steel(0.3)
    links = [Link.dh("revolute", a=0.3, alpha=math.pi / 2, **body), Link.dh("revolute", a=0.2)]
    report = check(Arm("tip", links))
    assert not report.passed
    assert ("singular", 2) in kinds(report, "error")
    assert ("massless", 2) in kinds(report, "note")
    driven = links[1].replace(drive=Drive(0.01, 1.0, "joint"))
    assert check(Arm("tip", [links[0], driven])).passed


def test_gravity_beyond_the_effort_limit(arm):
    report = check(changed(arm, 1, effort_limit=0.5))
    (finding,) = [f for f in report.findings if f.kind == "effort"]
    assert finding.link == 2
    assert "the limit is 0.5 N m" in finding.threshold


def test_gravity_is_noted_when_it_is_not_earths(arm):
    assert ("gravity", None) in kinds(check(arm.replace(gravity=(0, 0, 0))), "note")
    assert ("gravity", None) in kinds(check(arm.replace(gravity=(0, 0, -1.62))), "note")


def test_the_report_prints_and_is_json(arm):
    report = check(changed(arm, 1, com=(-200.0, 0, 0)))
    content = json.loads(report.to_json())
    assert content["passed"] is True
    assert content["findings"][0]["link"] == 2
    assert "warning: link 2 'joint2': the centre of mass" in str(report)


def test_symbols_are_refused():
    with pytest.raises(ArmFault, match="has symbols; check questions numbers"):
        check(fa.symbolic(load("rr")))


def test_kinematics_only_is_looked_at_without_masses():
    assert check(load("cobra600")).clean


def test_random_arms_do_not_crash():
    for seed in range(5):
        check(random_arm(4, seed, "RP", general=True, flips=True))


def test_a_box_is_found_again():
    box = Inertia.box(2.0, 0.1, 0.2, 0.3)
    edges = box_edges(2.0, np.array(box.tensor))
    assert np.max(np.abs(edges - [0.1, 0.2, 0.3])) < 1e-14
    assert density(2.0, np.array(box.tensor)) == pytest.approx(2.0 / 0.006)
    assert gyration(2.0, np.array(box.tensor)) == pytest.approx(math.sqrt((0.04 + 0.09) / 12))
    assert density(1.0, np.zeros((3, 3))) is None


def test_gravity_that_points_up_is_asked_about(arm):
    (doubt,) = [f for f in check(arm.replace(gravity=(0, 0, 9.81))).findings if f.kind == "gravity"]
    assert (doubt.level, doubt.link) == ("warning", None)
    assert "hanging from the ceiling?" in doubt.fix


def test_gravity_torques_are_said_to_be_sampled():
    facts = dict(check(load("puma560")).facts)
    assert facts["gravity torques at 40 random positions, at most"].startswith("0, ")


@pytest.mark.parametrize("kinds", ["R", "P", "RP"])
def test_sampled_matrices_and_weights_are_those_of_the_kernels(kinds):
    arm = random_arm(5, 4, kinds, general=True).without_drives()
    q = arm.random_state(1, (3,))[0]
    weights, matrices = weights_and_matrices(arm, q)
    assert_close(weights, fa.gravity_torque(arm, q))
    assert_close(matrices, fa.mass_matrix(arm, q))


def test_a_long_chain_took_minutes():
    rows = [
        dict(kind="revolute", a=0.1, alpha=0.3 * (i % 2), d=0.0, theta=0.0, mass=1.0, com=(-0.05, 0, 0))
        for i in range(300)
    ]
    before = time.process_time()
    report = check(Arm.from_dh("snake", rows, convention="standard"))
    assert time.process_time() - before < 10  # it was over forty
    assert "gravity torques at 6 random positions, at most" in dict(report.facts)


def test_moments_whose_product_is_nothing_have_a_condition():
    links = [link.replace(mass=1e-300, inertia=Inertia.sphere(1e-300, 0.3)) for link in load("rr").links]
    assert dict(check(load("rr").replace(links=tuple(links))).facts)["worst condition of M, scaled"]
