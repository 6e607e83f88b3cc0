"""Emitted code against the interpreter with the same arithmetic, to the bit, on every width."""

import numpy as np
import pytest

from arms import golden_arm, random_arm
from compiler.programs import random_graph
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.derivatives import jacobian
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.graph.traced_scalar import where
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.sines import exact, exact32
from forearm.compiler.llvm.tiles import Plan
from forearm.formulations import FORMULATIONS


def everything(a, b, c):
    """A function with every operation there is."""
    x = (a[0] * b[1] + a[1] * 2.5) / (b[0] * b[0] + 1.25)
    y = where(x - c, (x * x + b[2] * b[2]).sqrt(), -x)
    turn = (a[2] + 0.3).sin() * (a[2] + 0.3).cos() - b[2].sin()
    return {"matrix": np.array([[x, y], [turn, 4.0]]), "plain": np.array([c, a[0], y - turn]), "one": x * y}


def nested(a, b):
    """Angles that depend on sines, and outputs that are inputs, constants and signs of others."""
    x = (a[0] * b[0].sin()).sin() * b[1]
    y = (x * a[1] + b[2].cos()).cos() - x
    return {"wide": np.array([x, -y, a[2], y * x, 4.0, -x, x - b[0], y]), "plain": np.array([x * y, -y])}


def torques(arm, stem):
    """The lowered graph of a formulation's torques."""
    n = len(arm.links)
    function = FORMULATIONS[stem].joint_torques
    return lower(
        trace(lambda **state: function(arm, **state), dict.fromkeys(("q", "qd", "qdd"), (n,)), name=arm.name)
    )


GRAPHS = {
    "everything": lower(trace(everything, {"a": (3,), "b": (3,), "c": ()}, name="everything")),
    "G6R": torques(golden_arm("G6R"), "luh_walker_paul_1980"),
    "STAN": torques(golden_arm("STAN"), "luh_walker_paul_1980"),
}


def states(graph, count, seed=0):
    """Random, near-zero and extreme states, a few of them not finite."""
    rng = np.random.default_rng(seed)
    found = {}
    for port in graph.inputs:
        size = 10.0 ** rng.choice([0, 0, 0, -9, -160, 3, 6, 150], (count, *([1] * len(port.shape))))
        found[port.name] = rng.normal(size=(count, *port.shape)) * size
    return found


def interpreted(graph, batch, semantics, dtype):
    """Every row through the interpreter."""
    rows = []
    for i in range(len(next(iter(batch.values())))):
        scalars = {}
        for key, value in batch.items():
            row = np.empty(value[i].shape, object)
            row[...] = value[i]
            if dtype == "float32":
                row = np.vectorize(np.float32, otypes=[object])(value[i])
            scalars[key] = row
        with np.errstate(all="ignore"):
            rows.append(interpret(graph, scalars, semantics))
    return {p.name: np.array([r[p.name] for r in rows], dtype=dtype) for p in graph.outputs}


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("name", GRAPHS)
def test_emitted_equals_interpreted_to_the_bit(name, width, layout):
    graph = GRAPHS[name]
    batch = states(graph, 41)
    want = interpreted(graph, batch, exact, "float64")
    kernel = ProcessorKernel(graph, width=width, layout=layout, keep=False)
    move = (lambda a: np.moveaxis(a, 0, -1)) if layout == "columns" else (lambda a: a)
    outs = tuple(np.full(move(w).shape, np.nan) for w in want.values())
    kernel(*map(move, batch.values()), out=outs if len(outs) > 1 else outs[0])
    for out, right in zip(outs, want.values(), strict=True):
        np.testing.assert_array_equal(out, move(right))


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("name", GRAPHS)
def test_float32_equals_interpreted_to_the_bit(name, width):
    graph = GRAPHS[name]
    with np.errstate(over="ignore", under="ignore"):
        batch = {k: v.astype(np.float32) for k, v in states(graph, 23).items()}
    want = interpreted(graph, batch, exact32, "float32")
    found = ProcessorKernel(graph, width=width, dtype="float32", keep=False)(*batch.values())
    found = found if isinstance(found, tuple) else (found,)
    for out, right in zip(found, want.values(), strict=True):
        np.testing.assert_array_equal(out, right)


@pytest.mark.parametrize("name", GRAPHS)
def test_one_state_equals_the_batch_to_the_bit(name):
    graph = GRAPHS[name]
    batch = {k: np.clip(v, -1e60, 1e60) for k, v in states(graph, 9).items()}
    kernel = ProcessorKernel(graph, keep=False)
    many = kernel(*batch.values())
    for i in range(9):
        one = kernel(*(v[i] for v in batch.values()))
        for a, b in zip(
            one if isinstance(one, tuple) else (one,),
            many if isinstance(many, tuple) else (many,),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b[i])


def test_one_state_of_very_long_code_is_a_batch_of_one(monkeypatch):
    """It is not compiled twice."""
    graph = lower(jacobian(GRAPHS["G6R"], "tau", ("q", "qd")), 0)
    one = [np.random.default_rng(0).normal(size=p.shape) for p in graph.inputs]
    want = ProcessorKernel(graph, keep=False)(*one)
    monkeypatch.setattr("forearm.compiler.call.processor.VERY_LONG", 1)
    kernel = ProcessorKernel(graph, keep=False)
    assert kernel.entry("single", kernel.general) is None
    for got, right in zip(kernel(*one), want, strict=True):
        np.testing.assert_array_equal(got, right)


def test_nan_in_one_row_stays_in_that_row():
    graph = GRAPHS["G6R"]
    batch = {k: v[:13].copy() for k, v in states(graph, 40, seed=1).items()}
    batch = {k: np.clip(v, -3, 3) for k, v in batch.items()}
    kernel = ProcessorKernel(graph, keep=False)
    clean = kernel(*batch.values())
    batch["q"][6, 2] = np.nan
    batch["qdd"][11, 0] = np.inf
    dirty = kernel(*batch.values())
    rest = [i for i in range(13) if i not in (6, 11)]
    np.testing.assert_array_equal(dirty[rest], clean[rest])
    assert np.isnan(dirty[6]).any()
    assert not np.isfinite(dirty[11]).all()


def test_a_long_chain_gets_a_small_tile():
    graph = torques(random_arm(12, 3), "luh_walker_paul_1980")
    plan = Plan(graph, Lanes("float64", 4))
    assert plan.tile % 4 == 0
    assert plan.size <= (24_000 if len(plan.sections) == 1 else 64_000)
    batch = {k: np.clip(v, -3, 3) for k, v in states(graph, 6).items()}
    want = interpreted(graph, batch, exact, "float64")["tau"]
    np.testing.assert_array_equal(ProcessorKernel(graph, keep=False)(*batch.values()), want)


def random_graph_equals_interpreter(seed):
    """A blindly made graph, every width: zeros, dead nodes, repeated outputs, constants as outputs."""
    graph = random_graph(seed, fma=True)
    rng = np.random.default_rng(seed)
    batch = {"x": rng.normal(size=(11, 3)), "s": rng.normal(size=11)}
    want = interpreted(graph, batch, exact, "float64")["y"]
    for width in (1, 4):
        kernel = ProcessorKernel(graph, width=width, keep=False)
        np.testing.assert_array_equal(kernel(*batch.values()), want)
    for i in range(3):
        np.testing.assert_array_equal(kernel(batch["x"][i], batch["s"][i]), want[i])


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs(seed):
    random_graph_equals_interpreter(seed)


@pytest.mark.more
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_graphs(seed):
    random_graph_equals_interpreter(seed)
