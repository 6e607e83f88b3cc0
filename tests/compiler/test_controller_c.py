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
