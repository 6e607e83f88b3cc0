"""C of every built-in arm, every quantity and what may be left free: it builds without a warning and tests itself."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.quantities import QUANTITIES
from forearm.compiler.sources.c99 import Unit, write_c
from forearm.faults import ArmFault, KernelFault
from forearm.readers import known_arms
from forearm.simulation import payload_numbers
from shares import shared_out

COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
needs_compiler = pytest.mark.skipif(
    COMPILER is None or os.name == "nt", reason="no C compiler on this machine"
)
FREE = {"nothing": (), "payload": ("payload",), "a mass": ("links[1].mass",)}
QUICK = {
    ("ur5e", "forward_dynamics", "payload"),
    ("ur5e", "solve_mass", "payload"),
    ("stanford", "forward_dynamics", "a mass"),
    ("rr", "forward_derivatives", "payload"),
    ("rr", "wrench_torque", "nothing"),
    ("rr", "second_derivatives", "nothing"),
    ("rr", "weighted_second_forward_derivatives", "payload"),
}
SMALL = ("rr", "planar_3r")
"""Arms whose second derivatives a C compiler builds in a moment; thousands of lines of the others take minutes."""
CASES = [
    (arm, quantity, free)
    for arm in known_arms()
    for quantity, row in QUANTITIES.items()
    for free in FREE
    if arm in SMALL or not ((row.derivative and row.derivative.twofold) or "dt" in row.inputs)
]


def self_test(folder, source, check):
    built = subprocess.run(
        [COMPILER, *FLAGS, str(source), str(check), "-o", str(folder / "check"), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(folder / "check")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@needs_compiler
@pytest.mark.parametrize(
    ("name", "quantity", "free"),
    [*sorted(QUICK), *shared_out([case for case in CASES if case not in QUICK], 5)],
)
def test_the_c_of_an_arm_builds_and_passes_its_self_test(tmp_path, name, quantity, free):
    arm = fa.load(name)
    if QUANTITIES[quantity].dynamics and not arm.dynamics:
        with pytest.raises(ArmFault, match="no masses"):
            fa.emit_c(arm, tmp_path, [quantity], free=FREE[free])
        return
    _, source, check = fa.emit_c(arm, tmp_path, [quantity], free=FREE[free])
    self_test(tmp_path, source, check)


@needs_compiler
def test_the_payload_of_c_code_is_in_the_frame_asked_for(tmp_path):
    arm = fa.load("panda").with_tool(fa.Pose.at((0.1, 0.0, 0.2), (0.3, 0.0, 0.1)))
    head, source, check = fa.emit_c(arm, tmp_path, ["gravity_torque"], free=["payload@tool"])
    self_test(tmp_path, source, check)
    text = head.read_text()
    assert "in the axes of frame 'tool', from its origin" in text
    assert re.search(r"double XY; /\* -sum of \(x y\) dm about the frame's origin \[kg m\^2\] \*/", text)
    assert re.search(r"double MZ; /\* mass times z of the centre of mass \[kg m\] \*/", text)
    kernel = fa.compile(arm, "gravity_torque", free=["payload@tool"])
    q = arm.random_state(0)[0]
    inertia = fa.Inertia.sphere(2.0, 0.1)
    held = arm.with_payload(2.0, (0.0, 0.0, 0.1), inertia, frame="tool")
    ten = payload_numbers(2.0, (0.0, 0.0, 0.1), np.array(inertia.tensor))
    assert np.allclose(kernel(q, ten), fa.gravity_torque(held, q), rtol=1e-13)
    assert "in the axes of frame 7 (the far end" in fa.emit_c(arm, tmp_path, free=["payload"])[0].read_text()


def test_a_number_that_is_not_finite_is_never_written_into_c(tmp_path):
    graph = trace(lambda q: np.array([q[0] * 2]), {"q": (1,)}, "twice", ("y",))
    for value in (np.inf, -np.inf, np.nan):
        with pytest.raises(KernelFault, match="is not a finite double"):
            Unit("arm", "double", {"f": graph}, {}).number(value)
    large = trace(lambda q: np.array([q[0] * 1e39]), {"q": (1,)}, "large", ("y",))
    with pytest.raises(KernelFault, match="is not a finite float"):
        write_c(tmp_path, {"f": large}, "arm", dtype="float32")
    inverse = trace(lambda q: np.array([1.0 / q[0]]), {"q": (1,)}, "inverse", ("y",))
    with pytest.raises(KernelFault, match="none of the 3 states"), np.errstate(all="ignore"):
        write_c(tmp_path, {"f": inverse}, "arm", states={"f": {"q": np.zeros((3, 1))}})
