"""PTX: well formed, uncontracted, and where ptxas is at hand assembled without spills."""

import re
import shutil
import subprocess

import pytest

from arms import golden_arm
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.step_rules import RULES
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm.ptx.ptx_batches import ptx_batch
from forearm.compiler.llvm.ptx.ptx_rollout import ptx_rollout
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.formulations import FORMULATIONS

ARM = golden_arm("G6R")
TORQUES = lower(
    trace(
        lambda **state: FORMULATIONS["luh_walker_paul_1980"].joint_torques(ARM, **state),
        dict.fromkeys(("q", "qd", "qdd"), (6,)),
        name="G6R inverse_dynamics",
    )
)


def swing(q, qd, tau, t):
    """A driven pendulum with two joints; stands in for forward dynamics."""
    return {"qdd": [tau[0] - q[0].sin() + t.cos(), tau[1] - (q[0] + q[1]).sin()], "power": tau[0] * qd[0]}


SWING = lower(trace(swing, {"q": (2,), "qd": (2,), "tau": (2,), "t": ()}, name="swing"))
ROLES = {
    method: Roles(SWING, {"q": "qd", "qd": "qdd"}, RULES[method], ("tau",), "t", ("power",))
    for method in ("rk4", "semi_implicit_euler")
}
TEXTS = {
    "torques float32": lambda: ptx_batch(TORQUES, "float32"),
    "torques float64": lambda: ptx_batch(TORQUES, "float64"),
    "rk4 float32": lambda: ptx_rollout(ROLES["rk4"], "float32"),
    "rk4 float64": lambda: ptx_rollout(ROLES["rk4"], "float64"),
    "semi_implicit_euler float32": lambda: ptx_rollout(ROLES["semi_implicit_euler"], "float32"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_says_what_it_is_and_contracts_nothing(name):
    text = TEXTS[name]()
    kind = "f32" if "float32" in name else "f64"
    graph = TORQUES if "torques" in name else SWING
    assert text.startswith(f"// forearm: {graph.name}; {name.split()[1]}; {graph.counts}")
    assert re.search(r"\.target sm_90", text)
    assert len(re.findall(r"\.visible \.entry (batch|rollout)\(", text)) == 1
    assert f"fma.rn.{kind}" in text
    assert not re.search(rf"\b(mul|add|sub)\.{kind}", text), (
        "only with .rn is the assembler kept from contracting"
    )
    assert not re.search(r"\b(sin|cos|ex2|rcp)\.approx", text)


def test_parameters_are_those_documented():
    def parameters(text):
        head = text.split(".entry")[1].split(")")[0]
        return re.findall(r"\.param \.(\w+)", head)

    assert parameters(ptx_batch(TORQUES)) == ["u64"] * (3 * 4 + 1)
    found = parameters(ptx_rollout(ROLES["rk4"]))
    assert len(found) == 4 * 3 + 3 * 2 + 4 * 3 + 3 + 2  # given, ends, records, counts, dt and t0
    assert found[-2:] == ["f64", "f64"]


def test_results_leave_as_soon_as_they_are_made():
    """A result that waits for the last one takes a register meanwhile; arithmetic goes on between the stores."""
    text = ptx_batch(TORQUES, "float32")
    first, last = text.index("st.global"), text.rindex("st.global")
    assert text.count("st.global") == 6
    assert re.search(r"\b(fma|mul|add|sub)\.rn\.f32", text[first:last])


def test_stages_are_rolled():
    once = ptx_rollout(ROLES["semi_implicit_euler"])
    looped = ptx_rollout(ROLES["rk4"])
    assert looped.count("fma.rn.f64") < 1.5 * once.count("fma.rn.f64")


@pytest.mark.parametrize("name", TEXTS)
def test_ptxas_assembles_without_spills(name, tmp_path):
    if shutil.which("ptxas") is None:
        pytest.skip("ptxas is not on this machine")
    source = tmp_path / "kernel.ptx"
    source.write_text(TEXTS[name]())
    done = subprocess.run(
        ["ptxas", "-v", "-arch=sm_90", source, "-o", tmp_path / "kernel.cubin"],
        capture_output=True,
        text=True,
    )
    report = done.stdout + done.stderr
    assert done.returncode == 0, report
    assert "bytes spill stores" in report
    assert not re.search(r"[1-9]\d* bytes spill (stores|loads)", report), report
