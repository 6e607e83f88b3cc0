"""An arm's name never becomes code: not in machine code, not on disk, not in a source that somebody compiles."""

import json
import subprocess
import sys

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm import jit
from forearm.compiler.llvm.ptx.ptx_batches import ptx_batch
from forearm.compiler.store import files

PAYLOAD = 'x\n}\ndeclare i32 @system(ptr)\n@c = private constant [9 x i8] c"echo got\\00"\n;'
NAMES = [
    PAYLOAD,
    "a\0b",
    "a\rb",
    "a\x85b",
    "a\u2028b",
    "a\x1b[31mb",
    "a\u202eb",
    "a\ud800b",
    7,
    None,
    "n" * 300,
]
Q = np.array([0.3, -0.4])


def links():
    rod = {"mass": 1.0, "com": (-0.5, 0, 0), "inertia": fa.Inertia.rod(1.0, 1.0)}
    return [fa.Link.dh("revolute", a=1.0, **rod), fa.Link.dh("revolute", a=1.0, **rod)]


def graph(name):
    return trace(lambda x: [x[0] * x[1] + 2.0, x[0].sin()], {"x": (2,)}, name=name, outputs=("y",))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_that_do_not_show_as_they_are_are_refused(name):
    says = (
        r"^the name of (an arm|a link) (has the control character U\+|is .*; give a text|has 300 characters)"
    )
    with pytest.raises(fa.ArmFault, match=says):
        fa.Arm(name, links())
    if name is not None:
        with pytest.raises(fa.ArmFault, match=says):
            fa.Link.dh("revolute", name=name)


@pytest.mark.parametrize("name", NAMES[:6], ids=ascii)
def test_remarks_sources_configurations_and_reasons_too(name):
    with pytest.raises(fa.ArmFault, match=r"^arm 'a': the name of a configuration has the control"):
        fa.Arm("a", links(), configurations={name: (0.0, 0.0)})
    bad = name.replace("\n", "\0")
    with pytest.raises(fa.ArmFault, match=r"^arm 'a': a remark has the control character"):
        fa.Arm("a", links(), remarks=(bad,))
    with pytest.raises(fa.ArmFault, match=r"^arm 'a': the provenance of 'mass' has the control character"):
        fa.Arm("a", links(), provenance=(("mass", bad),))


def test_a_file_with_such_a_name_is_refused_in_one_sentence_and_runs_nothing(tmp_path):
    path = fa.write_toml(fa.load("rr"), tmp_path / "arm.toml")
    assert 'name = "rr"' in path.read_text()
    path.write_text(path.read_text().replace('name = "rr"', f"name = {json.dumps(PAYLOAD)}"))
    done = subprocess.run(
        [sys.executable, "-m", "forearm", "torque", str(path), "--q", "0.1", "0.2"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "has the control character U+000A at place 2" in done.stderr


@pytest.mark.parametrize("name", [PAYLOAD, "a\0b", '"""\nimport os\n', "*/ int x; /*", "\\"], ids=ascii)
def test_the_name_of_a_graph_stays_out_of_what_is_compiled(name):
    kernel, plain = ProcessorKernel(graph(name), keep=False), ProcessorKernel(graph("plain"), keep=False)
    for program in ("single", "batch"):
        assert kernel.text(program) == plain.text(program)
    np.testing.assert_array_equal(kernel(np.array([[3.0, 4.0]])), plain(np.array([[3.0, 4.0]])))
    assert kernel.source("llvm").splitlines()[1:] == plain.source("llvm").splitlines()[1:]
    shown, want = (ptx_batch(graph(n), "float64").splitlines() for n in (name, "plain"))
    assert [line.split("//")[0] for line in shown] == [line.split("//")[0] for line in want]
    compile(kernel.source("numpy"), "numpy source", "exec")


def test_arms_that_differ_in_name_alone_share_one_object_and_its_numbers(folder):
    rr = fa.load("rr")
    want = fa.inverse_dynamics(rr, Q, Q, Q)
    kept = {p.name for p in folder.glob("*.kernel") if b"\ngraph" not in p.read_bytes()[:40]}
    other = rr.replace(name="a stranger's")
    np.testing.assert_array_equal(fa.inverse_dynamics(other, Q, Q, Q), want)
    assert {p.name for p in folder.glob("*.kernel") if b"\ngraph" not in p.read_bytes()[:40]} == kept


def test_an_object_that_does_something_else_is_built_anew(folder, caplog):
    x = np.array([3.0, 4.0])
    want = ProcessorKernel(graph("right"))(x)
    wrong = trace(lambda x: [x[0] * x[1] - 2.0, x[0].cos()], {"x": (2,)}, name="wrong", outputs=("y",))
    (mine,) = files.list_cache()
    code = jit.object_code(ProcessorKernel(wrong).text("single"), "wrong")
    key, answer = mine.path.read_bytes().split(b"\n")[2].decode(), files.load(key_of(mine))[: jit.DIGEST]
    files.store(key, "right", answer + code)
    np.testing.assert_array_equal(ProcessorKernel(graph("right"))(x), want)
    assert "does not do what it did when it was made" in caplog.text


def test_an_object_without_the_function_is_built_anew_and_never_called(folder):
    x = np.array([3.0, 4.0])
    want = ProcessorKernel(graph("right"))(x)
    (mine,) = files.list_cache()
    empty = jit.object_code("define void @other() {\n  ret void\n}\n", "empty")
    files.store(key_of(mine), "right", bytes(jit.DIGEST) + empty)
    np.testing.assert_array_equal(ProcessorKernel(graph("right"))(x), want)
    with pytest.raises(
        fa.KernelFault, match=r"^small: the object code has no 'single'\. Please report it\.$"
    ):
        jit.Loaded(empty, "small").address("single")


def key_of(entry):
    return entry.path.read_bytes().split(b"\n")[2].decode()
