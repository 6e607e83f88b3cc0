"""C code of real arms: compiled with every warning an error, and its self-test passes."""

import shutil
import subprocess

import pytest

import forearm as fa
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
