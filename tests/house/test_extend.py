"""Adding touches two files: a toy, added by the places that docs/extend.md names, is then served everywhere."""

import sys
import types
from pathlib import Path

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.cli import application, verbs
from forearm.readers import FORMATS
from house.extension import HOME, Extension


@pytest.fixture
def extension(tmp_path):
    return Extension(tmp_path)


def test_a_formulation_is_its_file_and_its_row(extension):
    paper = (HOME / "formulations" / "luh_walker_paul_1980.py").read_text(encoding="utf-8")
    extension.file("formulations/toy_2001.py", paper)
    extension.before(
        "formulations/__init__.py",
        ")\n\n\nclass _Registry",
        '    Formulation("toy_2001", "A toy", ("joint_torques",), "RP", "com", "n"),\n',
    )
    assert len(extension.touched) == 2
    said = extension.run("""
import numpy as np
import forearm as fa

arm = fa.load("rr")
state = arm.random_state(seed=0)
tau = fa.FORMULATIONS["toy_2001"].joint_torques(arm, *state)
assert np.allclose(tau, fa.inverse_dynamics(arm, *state))
assert np.allclose(tau, fa.compile(arm, "inverse_dynamics", formulation="toy_2001")(*state))
assert np.allclose(fa.strobe(arm, state[0], "toy_2001").M, fa.mass_matrix(arm, state[0]))
assert fa.count("toy_2001", n=6).total == fa.count("luh_walker_paul_1980", n=6).total
assert str(fa.derive(arm, "toy_2001").M[1, 1]) == str(fa.derive(arm).M[1, 1])
proof = fa.verify(arm, states=1, formulations=["toy_2001", "newton_euler_notes"])
assert proof.passed
print(proof.rows)
""")
    assert "toy_2001" in said


def test_a_quantity_is_its_row_and_its_function(extension):
    quantities = "compiler/model/quantities.py"
    extension.before(
        quantities,
        "@dataclass(frozen=True)\nclass Derivative:",
        "def lifting_power(model: Model, q: Vector, qd: Vector) -> Vector:\n"
        '    """g qd, joint by joint."""\n'
        "    return gravity_torque(model, q) * qd\n\n\n",
    )
    extension.before(
        quantities,
        '}\n"""Everything that `compile` knows by name."""',
        '    "lifting_power": Quantity(lifting_power, ("q", "qd"), ("P",)),\n',
    )
    extension.before("dynamics.py", "]  # what is listed here", '    "lifting_power",\n')
    extension.before(
        "dynamics.py",
        "# -- frames --",
        "def lifting_power(arm: Arm, q: States, qd: States, *, threads: int = 1) -> Vector:\n"
        '    """What gravity asks of each drive (..., n) [W]."""\n'
        '    return arm_call(arm, "lifting_power").enter(q, qd, threads=threads)\n\n\n',
    )
    assert len(extension.touched) == 2
    extension.run("""
import numpy as np
import forearm as fa

arm = fa.load("puma560")
q, qd, _ = arm.random_state(seed=0, batch=(50,))
want = fa.gravity_torque(arm, q) * qd
assert np.allclose(fa.lifting_power(arm, q, qd), want)
assert np.allclose(fa.lifting_power(arm, q[0], qd[0]), want[0])
assert np.allclose(fa.compile(arm, "lifting_power", dtype="float32")(q.astype("f4"), qd.astype("f4")), want, atol=1e-3)
payload = fa.compile(arm, "lifting_power", free=["links[5].mass"])
assert np.allclose(payload(q, qd, arm.links[5].mass), want)
assert "lifting_power" in fa.__all__ and "lifting_power" in dir(fa)
header, source, test = fa.emit_c(arm, "code", ["lifting_power"])
assert "lifting_power" in header.read_text()
""")


TOY_KERNEL = '''"""Kernels that run the reference interpreter."""

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.compiler.kernel import Kernel


class InterpretedKernel(Kernel):
    """A graph, interpreted."""

    how = "one operation after the other"

    def general(self, *inputs, out=None, threads=1):
        """With every check."""
        taken, batch = arguments.taken(self, inputs)
        named = {p.name: a for p, a in zip(self.graph.inputs, taken, strict=True)}
        return self.packed(list(interpret(self.graph, named, arrays).values()))

    def source(self, kind=""):
        """The graph as it prints."""
        return str(self.graph)

    def accuracy(self, *inputs):
        """Not asked."""
        raise NotImplementedError


def make_kernel(graph, *, dtype="float64", layout="rows", name=None, subject):
    """The target 'toy'."""
    return InterpretedKernel(graph, dtype, layout, name, subject)
'''


def test_a_compile_target_is_its_folder_and_its_row(extension):
    extension.file("compiler/toy/__init__.py", '"""A toy target: kernel."""\n')
    extension.file("compiler/toy/kernel_of_a_toy.py", TOY_KERNEL)
    extension.before(
        "compiler/pipeline.py",
        '}\n"""Where kernels can run:',
        '    "toy": "forearm.compiler.toy.kernel_of_a_toy",\n',
    )
    assert {path.partition("/toy/")[0] for path in extension.touched} == {"compiler", "compiler/pipeline.py"}
    extension.run("""
import numpy as np
import forearm as fa

arm = fa.load("puma560")
states = arm.random_state(seed=0, batch=(5,))
kernel = fa.compile(arm, "inverse_dynamics", target="toy")
assert isinstance(kernel, fa.Kernel) and kernel.why is not None
assert np.allclose(kernel(*states), fa.inverse_dynamics(arm, *states))
try:
    kernel(states[0][:, :3], *states[1:])
except fa.StateFault as fault:
    assert "has 6 joints" in str(fault)
try:
    fa.compile(arm, "inverse_dynamics", target="tpu")
except fa.KernelFault as fault:
    assert "'cpu' or 'cuda' or 'wasm' or 'toy'" in str(fault)
""")


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    return made


def test_a_reader_is_a_file_and_a_row(tmp_path, monkeypatch, capsys):
    def read_pendulum(path, *, keep_defects: bool = False):
        length = float(Path(path).read_text())
        link = fa.Link.dh(
            "revolute",
            a=length,
            alpha=0.0,
            d=0.0,
            theta=0.0,
            mass=1.0,
            com=(0, 0, 0),
            inertia=fa.Inertia.point(),
        )
        return fa.Arm("pendulum", links=[link])

    name = "forearm.readers.pendulum"
    monkeypatch.setitem(sys.modules, name, module(name, read_pendulum=read_pendulum))
    monkeypatch.setitem(FORMATS, ".pendulum", "pendulum")
    path = tmp_path / "one.pendulum"
    path.write_text("0.5")
    assert fa.load(path).links[0].pose.translation[0] == 0.5
    assert "pendulum: 1 joint" in forearm(capsys, "show", path).out


def test_a_verb_is_a_file_and_a_row(monkeypatch, capsys):
    def greet(arm: str, /):
        """Greet an arm."""
        print(f"good morning, {arm}")

    name = "forearm.cli.verbs.toy_verbs"
    monkeypatch.setitem(sys.modules, name, module(name, greet=greet))
    monkeypatch.setitem(verbs.VERBS, "Toys", {"greet": "toy_verbs"})
    application.application.cache_clear()
    try:
        assert forearm(capsys, "greet", "rr").out == "good morning, rr\n"
        assert "greet" in forearm(capsys, "--help").out
    finally:
        application.application.cache_clear()
