"""The C emitter: compiles without a warning, equals the interpreter to the bit, tests itself."""

import ctypes
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from compiler.programs import STATE, random_graph, random_inputs, torques
from forearm import __version__
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower, simplify
from forearm.compiler.graph.trace import trace
from forearm.compiler.sources.c99 import write_c
from forearm.faults import KernelFault
from forearm.formulations import FORMULATIONS

COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
needs_compiler = pytest.mark.skipif(
    COMPILER is None or os.name == "nt", reason="no C compiler on this machine"
)


def compiled(*arguments):
    done = subprocess.run(
        [COMPILER, *FLAGS, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def library(folder, source):
    compiled("-shared", "-fPIC", source, "-o", folder / "code.so", "-lm")
    return ctypes.CDLL(str(folder / "code.so"))


def called(function, graph, state, kind=np.float64):
    """Call a generated function; outputs are poisoned before."""
    pointers, kept = [], []
    for port in graph.inputs:
        array = np.ascontiguousarray(state[port.name], dtype=kind)
        kept.append(array)
        number = ctypes.c_double if kind == np.float64 else ctypes.c_float
        pointers.append(ctypes.c_void_p(array.ctypes.data) if port.shape else number(array.item()))
    outputs = [np.full(port.shape, np.nan, dtype=kind) for port in graph.outputs]
    pointers.extend(ctypes.c_void_p(out.ctypes.data) for out in outputs)
    function.restype = None
    function(*pointers)
    return {port.name: out for port, out in zip(graph.outputs, outputs, strict=True)}


@pytest.fixture(scope="module")
def arm():
    return random_arm(4, 11, "RP")


@pytest.fixture(scope="module")
def graphs(arm):
    def mass(q):
        return FORMULATIONS["walker_orin_1982"].mass_matrix(arm, q)

    return {
        "inverse_dynamics": simplify(torques(arm)),
        "mass_matrix": simplify(trace(mass, {"q": (4,)}, "mass matrix", ("M",))),
    }


@needs_compiler
def test_torques_equal_the_interpreter_to_the_bit(tmp_path, graphs):
    _, source, _ = write_c(tmp_path, graphs, "arm")
    code = library(tmp_path, source)
    regimes = [(seed, spread) for seed in range(10) for spread in (3.0, 1e-9, 1e3)]
    for key, graph in graphs.items():
        for seed, spread in regimes:
            state = random_inputs(graph, seed, spread)
            found = called(getattr(code, f"arm_{key}"), graph, state)
            for name, want in interpret(graph, state).items():
                assert np.array_equal(found[name], want), f"{key} differs at seed {seed}, spread {spread}"


@needs_compiler
def test_every_operation_to_the_bit(tmp_path):
    chosen = {f"f{seed}": random_graph(seed, fma=True) for seed in range(6)}
    _, source, _ = write_c(tmp_path, chosen, "random")
    code = library(tmp_path, source)
    for key, graph in chosen.items():
        state = random_inputs(graph, 3)
        found = called(getattr(code, f"random_{key}"), graph, state)["y"]
        assert np.array_equal(found, interpret(graph, state)["y"])


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_self_test_passes(tmp_path, graphs, dtype):
    _, source, check = write_c(tmp_path, graphs, "my arm", dtype=dtype)
    compiled(source, check, "-o", tmp_path / "check", "-lm")
    done = subprocess.run([str(tmp_path / "check")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == "PASS"
    assert re.fullmatch(r"my_arm_inverse_dynamics: 100 states, worst error \S+: PASS", lines[0])


@needs_compiler
def test_the_self_test_can_fail(tmp_path, graphs):
    _, source, check = write_c(tmp_path, graphs, "arm")
    text = source.read_text()
    broken = re.sub(r"tau\[1\] = (\w+);", r"tau[1] = \1 * 1.000001;", text)
    assert broken != text
    source.write_text(broken)
    compiled(source, check, "-o", tmp_path / "check", "-lm")
    done = subprocess.run([str(tmp_path / "check")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "FAIL"
    assert "arm_mass_matrix: 100 states, worst error 0.0e+00: PASS" in done.stdout
    source.write_text(re.sub(r"tau\[1\] = (\w+);", r"tau[1] = \1 / (\1 - \1);", text))
    compiled(source, check, "-o", tmp_path / "check", "-lm")
    assert subprocess.run([str(tmp_path / "check")], capture_output=True, check=False).returncode == 1


@needs_compiler
def test_free_inputs_are_a_struct_with_names(tmp_path):
    members = ("M", "MX", "MY")

    def load(q, payload, scale):
        return scale * np.array([payload[0] * np.sin(q[0]), payload[1] * q[1] - payload[2]])

    graph = trace(load, {"q": (2,), "payload": (3,), "scale": ()}, "load", ("tau",))
    head, source, check = write_c(tmp_path, {"load": graph}, "arm", free={"payload": members})
    text = head.read_text()
    assert "typedef struct {\n    double M;\n    double MX;\n    double MY;\n} arm_payload;" in text
    assert (
        "void arm_load(const double q[2], const arm_payload *payload, double scale, double tau[2]);" in text
    )
    compiled(source, check, "-o", tmp_path / "check", "-lm")
    assert subprocess.run([str(tmp_path / "check")], capture_output=True, check=False).returncode == 0
    code = library(tmp_path, source)
    state = random_inputs(graph, 3)
    assert np.array_equal(called(code.arm_load, graph, state)["tau"], interpret(graph, state)["tau"])


@needs_compiler
@pytest.mark.parametrize("name", ["math", "StdIO", "features"])
def test_no_arm_takes_the_place_of_a_header_of_c(tmp_path, graphs, name):
    header, source, tried = write_c(tmp_path, graphs, name)
    assert header.name == f"{name}_arm.h"
    compiled("-I", tmp_path, source, tried, "-o", tmp_path / "tried", "-lm")


@needs_compiler
def test_outputs_may_take_the_place_of_inputs(tmp_path):
    graph = trace(lambda x: np.array([x[1], x[0], x[0] + x[1]]), {"x": (3,)}, "swap", ("y",))
    _, source, _ = write_c(tmp_path, {"swap": graph}, "arm")
    code = library(tmp_path, source)
    x = np.array([1.0, 2.0, 3.0])
    code.arm_swap(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(x.ctypes.data))
    assert x.tolist() == [2.0, 1.0, 3.0]


@needs_compiler
def test_inputs_that_are_not_read_make_no_warning(tmp_path):
    graph = trace(lambda q, qd: np.array([2.0 * q[0], 3.0]), {"q": (1,), "qd": (1,)}, "still", ("y",))
    _, source, check = write_c(tmp_path, {"still": graph}, "arm")
    compiled(source, check, "-o", tmp_path / "check")  # no sine, no libm
    still = trace(lambda q: np.array([1.0, 2.0]), {"q": (1,)}, "constant", ("y",))
    _, source, check = write_c(tmp_path, {"constant": still}, "arm")
    compiled(source, check, "-o", tmp_path / "check")
    assert "math.h" not in source.read_text()


def test_the_header_says_what_it_is(tmp_path, graphs):
    head, source, _ = write_c(tmp_path, graphs, "puma560", notes=["Armstrong, Khatib, Burdick 1986"])
    text = head.read_text()
    graph = graphs["inverse_dynamics"]
    assert f"generated by forearm {__version__}" in text
    assert "Armstrong, Khatib, Burdick 1986" in text
    assert str(graph.counts) in text
    assert graph.name in text
    assert "bytes of stack" in text
    vectors = ", ".join(f"const double {k}[4]" for k in STATE)
    assert f"void puma560_inverse_dynamics({vectors}, double tau[4]);" in text
    code = source.read_text()
    assert set(re.findall(r"\b(\w+)\(", code)) <= {
        "sin",
        "cos",
        "puma560_inverse_dynamics",
        "puma560_mass_matrix",
    }
    assert "static" not in code


def test_fused_graphs_are_written_out(tmp_path, arm):
    _, source, _ = write_c(tmp_path, {"tau": lower(torques(arm))}, "arm")
    assert "fma" not in source.read_text()


def test_faults(tmp_path, graphs):
    with pytest.raises(KernelFault, match="dtype='half'; expected 'float64' or 'float32'"):
        write_c(tmp_path, graphs, "arm", dtype="half")
    with pytest.raises(KernelFault, match="free input 'q' has 4 elements, but 1 member names were given"):
        write_c(tmp_path, graphs, "arm", free={"q": ["a"]})


def test_own_states_are_used(tmp_path, graphs):
    graph = {"mass_matrix": graphs["mass_matrix"]}
    _, _, check = write_c(tmp_path, graph, "arm", states={"mass_matrix": {"q": np.full((3, 4), 0.125)}})
    assert "mass_matrix_q[3][4]" in check.read_text()
    assert "{0.125, 0.125, 0.125, 0.125}" in check.read_text()


RESERVED = (
    "double",
    "sin",
    "int",
    "main",
    "restrict",
    "M_PI",
    "NAN",
    "linux",
    "stdin",
    "class",
    "v3",
    "q_",
    "q",
)


@needs_compiler
def test_a_function_of_ones_own_with_names_of_c_did_not_compile():
    def sqrt(**given):
        total = sum(np.sin(x) * np.sqrt(x * x + 1.0) for x in given.values())
        return {"cos": [total], "q": [given["q"]]}

    text = fa.compile_function(sqrt, dict.fromkeys(RESERVED, ())).source("c")
    text = text.replace('#include "forearm.h"', "#include <stdio.h>")
    words = [COMPILER, "-Wall", "-Wextra", "-Werror", "-std=gnu17", "-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_an_arm_called_check_had_a_self_test_that_did_not_compile(tmp_path):
    written = fa.emit_c(fa.load("rr").replace(name="check"), tmp_path, ("gravity_torque",))
    program = [COMPILER, *map(str, written[1:]), "-lm", "-o", str(tmp_path / "run")]
    subprocess.run(program, check=True)
    assert subprocess.run([tmp_path / "run"], check=False, capture_output=True).returncode == 0
