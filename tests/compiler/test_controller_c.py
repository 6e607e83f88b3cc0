"""C code of real arms: compiled with every warning an error, and its self-test passes."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.free_parameters import lengths_of
from forearm.readers import load

COMPILER = shutil.which("gcc") or shutil.which("cc")
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize(
    ("name", "functions", "free", "dtype"),
    [
        ("puma560", ("inverse_dynamics", "mass_matrix", "forward_dynamics"), (), "float64"),
        ("iiwa14", ("inverse_dynamics", "gravity_torque"), ("payload", "links[6].mass"), "float64"),
        ("rr", ("inverse_dynamics", "coriolis_matrix"), ("gravity",), "float32"),
    ],
)
def test_the_code_compiles_strictly_and_its_self_test_passes(name, functions, free, dtype, tmp_path):
    header, source, selftest = fa.emit_c(load(name), tmp_path, functions, free=free, dtype=dtype)
    program = tmp_path / "selftest"
    command = [COMPILER, *STRICT, "-I", str(tmp_path), str(source), str(selftest), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert "PASS" in ran.stdout
    text = header.read_text()
    assert "operations" in text
    assert f"forearm {fa.__version__}" in text
    for word in ("malloc", "static double", "printf"):
        assert word not in source.read_text()


def test_six_lengths_were_called_moments_of_inertia(tmp_path):
    """Members were named by how many they are: geometry of a UR5e had Ixx … Iyz, friction of two joints too."""
    arm = fa.load("ur5e")
    header = fa.emit_c(arm, tmp_path / "a", ["gravity_torque"], free=("geometry",))[0].read_text()
    struct = header[header.index("typedef struct") : header.index("} ur5e_geometry")]
    names = re.findall(r"double (\w+); /\* \[m\] \*/", struct)
    assert names == [name.replace("[", "_").replace("].", "_") for name in lengths_of(arm)]
    header = fa.emit_c(fa.load("rr"), tmp_path / "b", ["bias_torque"], free=("friction",))[0].read_text()
    assert re.findall(r"double (\w+);", header) == [
        f"{name}_{i}" for i in (1, 2) for name in ("viscous", "dry_plus", "dry_minus")
    ]
    free = ("inertial", "gravity")
    header = fa.emit_c(fa.load("rr"), tmp_path / "c", ["gravity_torque"], free=free)[0].read_text()
    assert "double XY_2; /* -sum of (x y) dm about the origin of the link's frame [kg m^2] */" in header
    assert "Acceleration of free fall, world axes" in header


def test_a_tilted_arm_takes_gravity_in_world_axes_and_a_body_in_its_links_frame(tmp_path):
    """The members' order, as the header has it, against the arm with those numbers."""
    arm = fa.load("rr").with_base(fa.Pose.at(rpy=(0.3, -0.4, 0.5)))
    g, q, qd = (1.0, -9.0, 2.0), np.array([0.3, -0.7]), np.array([0.5, 1.5])
    friction = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    kernel = fa.compile(arm, "bias_torque", free=("gravity", "friction"))
    drives = [fa.Drive(viscous=v, coulomb=(up, down)) for v, up, down in friction]
    want = fa.bias_torque(arm.with_drives(drives).replace(gravity=g), q, qd)
    assert np.allclose(kernel(q, qd, np.array(g), np.array(friction)), want, rtol=1e-12)


SOLID = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
HAND = f"""<robot name="one"><link name="trunk"><inertial><mass value="3"/>{SOLID}
<link name="upper"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>{SOLID}<link name="hand"/>
<joint name="j1" type="continuous"><parent link="trunk"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="f" type="fixed"><parent link="upper"/><child link="hand"/><origin xyz="0.5 0 0.2" rpy="0 0.5 0"/></joint>
</robot>"""


def test_the_payload_of_a_free_robot_was_said_to_be_in_another_frame_than_it_is(tmp_path):
    """Its numbers are in the axes of the hand, half a metre from the far end of the last link."""
    (tmp_path / "one.urdf").write_text(HAND)
    robot = fa.load(tmp_path / "one.urdf", base="free")
    header = fa.emit_c(robot, tmp_path, ["gravity_torque"], free=["payload"])[0].read_text()
    frame = re.search(r"in the axes of frame '(\w+)'", header)[1]
    q = np.array([0, 0, 0, 0, 0, 0, 1, 0.3])
    body = np.array([2.0, 0.2, 0, 0, 0, 0, 0, 0.02, 0, 0.02])  # 2 kg, 0.1 m along x
    want = fa.gravity_torque(robot.with_payload(2.0, com=(0.1, 0, 0), frame=frame), q)
    assert np.allclose(fa.compile(robot, "gravity_torque", free=["payload"])(q, body), want, rtol=1e-12)
    assert "base qx, base qy, base qz, base qw (in the world), then joints j1" in header
    assert "qd, qdd, tau: base vx" in header


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_a_wrist_without_torque_passed_the_self_test_in_single_precision(tmp_path):
    """Each number is held against its own size: the sixth torque of a UR5e is a millionth of its largest."""
    _, source, selftest = fa.emit_c(fa.load("ur5e"), tmp_path, ["inverse_dynamics"], dtype="float32")
    program, text = tmp_path / "selftest", source.read_text()
    for written, code in ((text, 0), (re.sub(r"tau\[5\] = \w+;", "tau[5] = 0;", text), 1)):
        source.write_text(written)
        subprocess.run([COMPILER, "-w", str(source), str(selftest), "-o", str(program), "-lm"], check=True)
        assert subprocess.run([str(program)], capture_output=True).returncode == code


def test_free_parameters_that_would_be_one_word_of_c_are_refused(tmp_path):
    arm = load("rr")
    arm = arm.replace(links=tuple(x.replace(name=n) for x, n in zip(arm.links, "肩肘", strict=True)))
    says = "^C code of rr_inverse_dynamics: '肩_mass' and '肘_mass' would both be mass in C; give names that"
    with pytest.raises(fa.KernelFault, match=says):
        fa.emit_c(arm, tmp_path / "c", free=("肩.mass", "肘.mass"))
    assert not (tmp_path / "c").exists()
    fa.emit_c(arm, tmp_path / "c", free=("links[0].mass", "links[1].mass"))
