"""Good TOML files: units, formulas, conventions, round trips, loading by name."""

import gc
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sympy

from arms import random_arm
from close import assert_close
from forearm.arm import Arm
from forearm.energies import kinetic_energy
from forearm.faults import ArmFault, ReadFault
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import link_poses
from forearm.link import Drive, Link
from forearm.readers import from_toml, known_arms, load, parameters_of, read_toml
from forearm.readers.toml_format.toml_text import key_lines
from forearm.readers.toml_format.toml_values import quantity
from forearm.writers.toml import to_toml, write_toml

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques

ARM = """
name = "two"
convention = "{convention}"

[[link]]
joint = "revolute"
{first}
mass = 2
com = [0.1, 0.02, -0.03]
inertia = {{ about = "com", products = "tensor", Ixx = 0.02, Iyy = 0.03, Izz = 0.02, Ixy = 1e-3, Iyz = 2e-3 }}

[[link]]
joint = "prismatic"
{second}
mass = "1500 g"
com = ["20 mm", 0, "-0.5 cm"]
inertia = "point"
"""


def two(convention, first, second):
    return from_toml(ARM.format(convention=convention, first=first, second=second))


# -- numbers -----------------------------------------------------------------------------------------------


def test_units_and_formulas_become_si():
    arm = two(
        "standard",
        'a = "433 mm"\nalpha = "90 deg"\nd = "26.45 in"',
        'a = "2*(0.1 + 0.05)"\nalpha = "-pi/2"\ntheta = 0',
    )
    first, second = arm.links
    assert first.pose.translation == (0.433, 0.0, 0.0)
    assert first.pose.rotation == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)), (
        "right angles are exact"
    )
    assert first.d == 26.45 * 0.0254
    assert second.pose.translation[0] == 2 * (0.1 + 0.05)
    assert second.mass == 1.5
    assert second.com == (0.02, 0.0, -0.005)
    assert second.inertia == Inertia.point()


def test_a_unit_is_that_of_the_whole_formula():
    text = ARM.format(convention="poses", first='xyz = ["(k + 20) mm", "2*k mm", "k + 20 m"]', second="")
    arm = from_toml(text.replace("[[link]]", "[parameters]\nk = 5\n[[link]]", 1))
    assert arm.links[0].pose.translation == (0.025, 0.01, 25.0)


def test_names_are_given_where_they_are_missing():
    assert two("joints", "", "").joint_names == ("joint1", "joint2")


def test_cad_products_of_inertia_change_sign():
    text = ARM.format(convention="joints", first="", second="")
    tensor, cad = from_toml(text), from_toml(text.replace('"tensor"', '"cad"'))
    assert tensor.links[0].about_com.inertia[0, 1] == 0.001
    assert cad.links[0].about_com.inertia[0, 1] == -0.001


def test_inertia_axes_may_be_turned():
    text = ARM.format(convention="joints", first="", second="").replace(
        'products = "tensor"', 'products = "tensor", rpy = ["pi/2", 0, 0]'
    )
    assert np.array_equal(np.diag(from_toml(text).links[0].about_com.inertia), [0.02, 0.02, 0.03])


def test_motor_friction_is_taken_to_the_joint():
    drive = load("puma560").links[0].drive
    assert drive.side == "motor"
    assert drive.viscous == pytest.approx(1.48e-3 * 62.6111**2, rel=1e-15)
    assert drive.coulomb == pytest.approx((0.395 * 62.6111, 0.435 * 62.6111), rel=1e-15)
    assert drive.reflected_inertia == pytest.approx(200e-6 * 62.6111**2, rel=1e-15)


# -- conventions -------------------------------------------------------------------------------------------


def test_modified_convention_is_from_dhs():
    bodies = (
        dict(mass=2.0, com=(0.1, 0.0, 0.2), inertia=Inertia.sphere(2.0, 0.1)),
        dict(mass=1.0, com=(0.3, 0.1, 0.0), inertia=Inertia.rod(1.0, 0.4)),
    )
    rows = [
        dict(kind="revolute", a=0.1, alpha=0.3, d=0.2, theta=0.4, **bodies[0]),
        dict(kind="revolute", a=0.5, alpha=-0.7, d=0.1, theta=0.0, **bodies[1]),
    ]
    want = Arm.from_dh("m", rows, convention="modified")
    text = 'name = "m"\nconvention = "modified"\n'
    for row in rows:
        i = np.diag(np.array(row["inertia"].tensor))
        text += f"""[[link]]
joint = "revolute"
a = {row["a"]}
alpha = {row["alpha"]}
d = {row["d"]}
theta = {row["theta"]}
mass = {row["mass"]}
com = {list(row["com"])}
inertia = {{ about = "com", Ixx = {i[0]}, Iyy = {i[1]}, Izz = {i[2]} }}
"""
    assert from_toml(text) == want


def test_joints_and_modified_say_the_same_arm():
    modified = two("modified", "a = 0.1\nalpha = 0.3\nd = 0", "a = 0.4\nalpha = -1.1\ntheta = 0")
    poses = "xyz = [0.1, 0, 0]\nrpy = [0.3, 0, 0]", "xyz = [0.4, 0, 0]\nrpy = [-1.1, 0, 0]"
    joints = two("joints", *poses)
    q, qd, qdd = modified.random_state(1)
    assert_close(torques(joints, q, qd, qdd), torques(modified, q, qd, qdd))


def test_joints_convention_is_what_urdf_says():
    """A = X Rz(q), the body in the frame after the joint: worked out here without the reader."""
    arm = two(
        "joints",
        "xyz = [0.1, 0.2, 0.3]\nrpy = [0.4, -0.5, 0.6]",
        "xyz = [0.3, -0.1, 0.2]\nrpy = [1, 0.2, -0.3]",
    )
    q = np.array([0.7, 0.25])
    first, second = Pose.at((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)), Pose.at((0.3, -0.1, 0.2), (1, 0.2, -0.3))
    at_first = first @ Pose.at(rpy=(0, 0, q[0]))
    at_second = at_first @ second @ Pose.at((0, 0, q[1]))
    frames = link_poses(arm, q)
    for frame, link, pose, com in (
        (1, 0, at_first, (0.1, 0.02, -0.03)),
        (2, 1, at_second, (0.02, 0.0, -0.005)),
    ):
        R, p = frames[frame]
        assert_close(p + R @ arm.links[link].about_com.center, pose.p + pose.R @ np.array(com))


# -- parameters --------------------------------------------------------------------------------------------


def test_parameters_can_be_replaced_by_numbers():
    assert load("rr", parameters={"m1": 5.0}).links[0].mass == 5.0


def test_parameters_can_be_symbols():
    m1, lc1, l1, g = sympy.symbols("m1 lc1 l1 g")
    arm = load("rr", parameters={"m1": m1, "lc1": lc1, "l1": l1, "g": g})
    assert arm.links[0].mass == m1
    assert arm.links[0].com[0] == lc1 - l1
    assert arm.gravity[1] == -g
    assert any("symbols" in note for note in arm.notes)
    with pytest.raises(ArmFault, match=r"arm 'rr', gravity: -g is a symbol; a file holds numbers\. Give"):
        to_toml(arm)


def test_all_parameters_as_symbols_give_the_notes_inertia():
    """Equation (7) of the RR notes: d22 = m2 lc2² + I2z, by kinetic energy in symbols."""
    arm = load("rr", parameters={p: sympy.Symbol(p) for p in parameters_of("rr")})
    m2, lc2, i2z = sympy.symbols("m2 lc2 I2z")
    q = np.array(sympy.symbols("q1 q2"))
    d22 = 2 * kinetic_energy(arm, q, np.array([0, 1]))
    assert sympy.simplify(d22 - (m2 * lc2**2 + i2z)) == 0


def test_parameters_of_a_file(tmp_path):
    assert parameters_of("double_pendulum")["l1"] == 0.5
    path = tmp_path / "arm.toml"
    path.write_text(to_toml(load("ur5e")))
    assert parameters_of(path) == {}


def test_parameters_may_use_earlier_ones():
    text = ARM.format(convention="joints", first="", second='xyz = ["half", 0, 0]')
    text = text.replace("[[link]]", '[parameters]\nfull = 0.8\nhalf = "full/2"\n\n[[link]]', 1)
    assert from_toml(text).links[0].pose.translation[0] == 0.4
    assert from_toml(text, parameters={"full": 2.0}).links[0].pose.translation[0] == 1.0


# -- papers' numbers ---------------------------------------------------------------------------------------


def test_rr_gives_the_notes_torques():
    """Equations (32), (33) of the RR notes at one state."""
    tau = torques(load("rr"), np.array([0.4, -1.1]), np.array([0.7, 1.3]), np.array([-0.5, 2.1]))
    assert_close(tau, [20.668947133907718807, 2.8766162963299441950])


def test_double_pendulum_gives_the_papers_accelerations():
    """Corrected equations (58), (59): absolute angles, N1 = 0.7 and N2 = -0.3 on the rods."""
    q, qd = np.array([0.6, -0.8]), np.array([1.1, -1.9])
    qdd_absolute = np.array([-7.3069408703276397155, -8.4168578677635156980])
    qdd = np.array([qdd_absolute[0], qdd_absolute[1] - qdd_absolute[0]])
    tau2 = -0.3
    assert_close(torques(load("double_pendulum"), q, qd, qdd), [0.7 + tau2, tau2], scale=15.0)


# -- round trips -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arm_survives_writing_and_reading(name):
    arm = load(name)
    again = from_toml(to_toml(arm))
    assert again == arm
    assert again.notes == arm.notes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("general", [False, True])
def test_random_arm_survives_writing_and_reading(seed, general, tmp_path):
    arm = random_arm(5, seed, "RP", general=general, flips=True)
    links = [
        link.replace(drive=Drive(0.1, -3.0, "motor", 0.2, (0.3, 0.4), 0.01), limits=(-1, 2))
        for link in arm.links
    ]
    arm = arm.replace(
        links=tuple(links),
        remarks=('a "quoted" remark',),
        provenance=(("who", "line one\nline two"), ("odd key!", "\\ and ü")),
        configurations=(("some pose", (0.1,) * 5),),
    )
    assert read_toml(write_toml(arm, tmp_path / "arm.toml")) == arm


def test_asymmetric_by_rounding_survives_too():
    tensor = [[0.1, 0.01, 0.0], [0.01 + 1e-18, 0.2, 0.0], [0.0, 0.0, 0.15]]
    arm = Arm("a", [Link("revolute", mass=1.0, inertia=Inertia.about_com(tensor))])
    assert from_toml(to_toml(arm)) == arm


# -- loading -----------------------------------------------------------------------------------------------


def test_load_takes_a_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(load("ur5e")))
    assert load(path) == load(str(path)) == load("ur5e")


def test_load_unknown_name_suggests_and_lists():
    with pytest.raises(ReadFault, match=r"no built-in arm 'puma' \(did you mean 'puma560'\?\); give .*panda"):
        load("puma")


def test_load_unknown_suffix():
    with pytest.raises(ReadFault, match=r"arm\.stl: files with \.stl are not read; give \.toml"):
        load("arm.stl")


def test_load_suffixless_path(tmp_path):
    with pytest.raises(ReadFault, match=r"files with no suffix are not read; give \.toml"):
        load(tmp_path / "arm")


def test_parameters_belong_to_toml():
    with pytest.raises(ReadFault, match=r"arm\.urdf: parameters= belongs to TOML files .* leave it out"):
        load("arm.urdf", parameters={"m": 1.0})


def test_load_missing_file(tmp_path):
    with pytest.raises(
        ReadFault, match=r"none\.toml: No such file or directory; give the path of a readable"
    ):
        load(tmp_path / "none.toml")


def test_load_refuses_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xe9"')
    with pytest.raises(ReadFault, match=r"latin\.toml: byte 8 is not UTF-8; save the file as UTF-8"):
        load(path)


def test_every_built_in_arm_says_where_its_numbers_come_from():
    for name in known_arms():
        provenance = dict(load(name).provenance)
        assert {"title", "source", "kinematics"} <= set(provenance), name
        assert "inertia" in provenance or not load(name).dynamics, name
        assert load(name).name == name
        assert "zero" in dict(load(name).configurations), name


DOCS = Path(__file__).parents[2] / "docs" / "arms.md"


def test_the_example_of_the_docs_loads_with_its_defect():
    example, defect = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    arm = from_toml(example + defect)
    assert arm.joint_names == ("shoulder", "slide")
    assert arm.links[0].com[0] == -0.2
    assert arm.links[0].drive.coulomb == (1.2, 1.4)


def test_the_docs_have_a_row_for_every_arm():
    table = DOCS.read_text(encoding="utf-8").split("| --- | --- |", 1)[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z0-9_]+)`(?=[^|]*\| [0-9RP]+ \|)", table)) == set(known_arms())


# -- line numbers ------------------------------------------------------------------------------------------


def test_lines_are_found_among_strings_arrays_and_comments():
    text = '''a = 1
b = """
[not.a.table]
c = 2
"""
d = [
  [1, "]"],   # ] in a comment
  2,
]
e = 'x # y'
[t.u]
"odd key" = { x = 1, y = "}" }
f.g = 3
[[link]]
m = 1
[[link]]
m = 2
[link.drive]
gear = 3
'''
    lines = key_lines(text)
    assert lines[("a",)] == 1
    assert lines[("d",)] == 6
    assert lines[("e",)] == 10
    assert lines[("t", "u", "odd key")] == 12
    assert lines[("t", "u", "f", "g")] == 13
    assert lines[("link", 0, "m")] == 15
    assert lines[("link", 1, "m")] == 17
    assert lines[("link", 1, "drive", "gear")] == 19
    assert ("c",) not in lines


def test_a_parameter_called_by_the_micro_sign_was_not_found(tmp_path):
    text = to_toml(load("rr"))
    head, links = text.split("[[", 1)
    path = tmp_path / "arm.toml"
    links = re.sub("mass = .*", 'mass = "2*µ"', links, count=1)
    path.write_text(f'{head}[parameters]\n"µ" = 0.25\n\n[[{links}', encoding="utf-8")
    assert load(path).links[0].mass == 0.5
    assert load(path, parameters={"µ": 1.0}).links[0].mass == 2.0


def test_a_source_that_is_named_twice_was_written_to_a_file_that_is_refused(tmp_path):
    arm = load("rr").replace(provenance=(("mass", "a book"), ("length", "a ruler"), ("mass", "scales")))
    write_toml(arm, tmp_path / "a.toml")
    assert load(tmp_path / "a.toml").provenance == (("mass", "a book; scales"), ("length", "a ruler"))


@pytest.fixture
def restless_threads():
    """Threads that are stopped within whatever they do, as garbage collection does it now and then."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()

    def dawdle(phase, info):
        for _ in range(30):
            pass

    gc.callbacks.append(dawdle)
    gc.set_threshold(5, 5, 5)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.callbacks.remove(dawdle)


def test_formulas_in_threads_ended_in_an_error_of_pythons_parser(restless_threads):
    """SystemError: AST constructor recursion depth mismatch, in Python 3.11."""
    end = time.monotonic() + 0.5

    def read(terms):
        values = set()
        while time.monotonic() < end:
            values.add(quantity("+".join(["(2*a)"] * terms), "number", {"a": 0.5}))
        return values

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(read, (3, 20, 40, 7))) == [{3.0}, {20.0}, {40.0}, {7.0}]
