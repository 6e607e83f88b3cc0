"""Simulation inside the kernel: the same bits as the scheme written in Python, orders of convergence, records."""

import subprocess
import sys

import numpy as np
import pytest

from close import assert_close
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.compiler.llvm.sines import exact, exact_fma
from forearm.faults import KernelFault, StateFault


def pendulum(q, qd, tau, length):
    """Two pendulums, coupled, driven."""
    pull = 0.3 * (q[0] - q[1])
    return {
        "qdd": [(tau[0] - q[0].sin() * 9.81 - pull) / length, (tau[1] - q[1].sin() * 9.81 + pull) / length],
        "height": -q[0].cos() * length - q[1].cos() * length,
    }


PORTS = {"q": (2,), "qd": (2,), "tau": (2,), "length": ()}
GRAPH = lower(trace(pendulum, PORTS, name="pendulum"))
STATES = {"q": "qd", "qd": "qdd"}
FMA = np.vectorize(exact_fma(), otypes=[float])


def draw(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def rates(q, qd, tau, length):
    found = interpret(GRAPH, {"q": q, "qd": qd, "tau": tau, "length": length}, exact)
    return found["qdd"], found["height"]


def rk4_in_python(q, qd, tau, length, dt):
    """One step, operation by operation as rollout_steps.py has it."""
    weights, reaches = (1 / 6, 1 / 3, 1 / 3, 1 / 6), (1 / 2, 1 / 2, 1.0, None)
    y = np.concatenate([q, qd])
    x, total = y, y
    for weight, reach in zip(weights, reaches, strict=True):
        k = np.concatenate([x[2:], rates(x[:2], x[2:], tau, length)[0]])
        total = FMA(k, dt * weight, total)
        x = total if reach is None else FMA(k, dt * reach, y)
    return x[:2], x[2:]


def euler_in_python(q, qd, tau, length, dt):
    qd = FMA(rates(q, qd, tau, length)[0], dt, qd)
    return FMA(qd, dt, q), qd


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize(
    ("method", "python"), [("rk4", rk4_in_python), ("semi_implicit_euler", euler_in_python)]
)
def test_the_same_bits_as_the_scheme_in_python(method, python, width):
    q, qd, tau, length = draw(5, 2), draw(5, 2, seed=1), draw(5, 6, 2, seed=2), 1 + draw(5, seed=3) ** 2
    rollout = Rollout(
        GRAPH, STATES, method=method, per_step=["tau"], observed=["height"], width=width, keep=False
    )
    found = rollout(q, qd, tau, length, dt=0.05, every=2)
    for row in range(5):
        a, b = q[row], qd[row]
        for step in range(6):
            if step % 2 == 0:
                np.testing.assert_array_equal(found.record.q[row, step // 2], a)
                np.testing.assert_array_equal(found.record.qd[row, step // 2], b)
                height = rates(a, b, tau[row, step], length[row])[1]
                assert found.record.height[row, step // 2] == height
            a, b = python(a, b, tau[row, step], length[row], 0.05)
        np.testing.assert_array_equal(found.end.q[row], a)
        np.testing.assert_array_equal(found.end.qd[row], b)
        np.testing.assert_array_equal(found.record.q[row, 3], a)
    assert found.record.height.shape == (5, 3)
    assert_close(found.times, [0, 0.1, 0.2, 0.3], eps=2)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi_implicit_euler", 1)])
def test_order_of_convergence(method, order):
    rollout = Rollout(GRAPH, STATES, method=method, keep=False)
    q, qd, tau = draw(3, 2), draw(3, 2, seed=1), np.zeros(2)
    best = Rollout(GRAPH, STATES, keep=False)(q, qd, tau, 1.0, dt=1 / 4096, steps=4096).end.q
    errors = [np.abs(rollout(q, qd, tau, 1.0, dt=1 / n, steps=n).end.q - best).max() for n in (32, 64, 128)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(slopes - order) < 0.25), slopes


def test_a_map_and_the_time():
    """A graph that gives the next state: an oscillator driven by cos t, stepped exactly as written."""

    def step(x, v, t, rate):
        v2 = v + rate * (t.cos() - x)
        return {"x2": x + rate * v2, "v2": v2}

    graph = lower(trace(step, {"x": (), "v": (), "t": (), "rate": ()}, name="oscillator"))
    rollout = Rollout(graph, {"x": "x2", "v": "v2"}, method="map", time="t", keep=False)
    x, v = draw(6), draw(6, seed=1)
    found = rollout(x, v, 0.01, dt=0.01, steps=7, every=1, start=2.0)
    for row in range(6):
        a, b = x[row], v[row]
        for k in range(7):
            assert (found.record.x[row, k], found.record.v[row, k]) == (a, b)
            now = exact_fma()(float(k), 0.01, 2.0)
            out = interpret(graph, {"x": a, "v": b, "t": now, "rate": 0.01}, exact)
            a, b = float(out["x2"]), float(out["v2"])
        assert (found.end.x[row], found.end.v[row]) == (a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_time_within_the_stages(dtype):
    """x' = t^3 has the exact answer t^4/4 by RK4, which needs the times of the stages."""
    graph = trace(lambda x, t: {"rate": t * t * t}, {"x": (), "t": ()}, name="cubic")
    rollout = Rollout(graph, {"x": "rate"}, time="t", dtype=dtype, keep=False)
    end = rollout(np.zeros(3, dtype), dt=0.25, steps=8).end.x
    assert_close(
        end.astype(float), np.full(3, 4.0), eps=64 if dtype == "float64" else 2**29 * 8, because=dtype
    )


def test_shapes_broadcast_and_threads_agree():
    rollout = Rollout(GRAPH, STATES, per_step=["tau"], keep=False)
    q, qd, tau = draw(4, 1, 2), draw(30, 2, seed=1), draw(5, 2, seed=2)
    one = rollout(q, qd, tau, 1.0, dt=0.01, every=1)
    assert one.end.q.shape == (4, 30, 2)
    assert one.record.qd.shape == (4, 30, 6, 2)
    two = rollout(q, qd, tau, 1.0, dt=0.01, every=1, threads=3)
    np.testing.assert_array_equal(one.record.q, two.record.q)
    single = rollout(q[1, 0], qd[7], tau, 1.0, dt=0.01, every=1)
    assert single.record.q.shape == (6, 2)
    np.testing.assert_array_equal(single.record.q, one.record.q[1, 7])
    none = rollout(q, qd, tau[:0], 1.0, dt=0.01)
    np.testing.assert_array_equal(none.end.q, np.broadcast_to(q, (4, 30, 2)))
    assert none.record is None


def test_a_row_that_blows_up_stays_alone():
    rollout = Rollout(GRAPH, STATES, keep=False)
    q, qd = draw(11, 2), draw(11, 2, seed=1)
    clean = rollout(q, qd, np.zeros(2), 1.0, dt=0.01, steps=20).end.q
    q[4, 1] = np.nan
    dirty = rollout(q, qd, np.zeros(2), 1.0, dt=0.01, steps=20).end.q
    assert np.isnan(dirty[4]).any()
    np.testing.assert_array_equal(np.delete(dirty, 4, 0), np.delete(clean, 4, 0))


def test_records_that_do_not_divide_the_steps():
    rollout = Rollout(GRAPH, STATES, keep=False)
    found = rollout(draw(3, 2), draw(3, 2), np.zeros(2), 1.0, dt=0.1, steps=7, every=3)
    assert found.record.q.shape == (3, 3, 2)
    assert_close(found.times, [0, 0.3, 0.6], eps=2)
    assert "rk4 of q[2], qd[2]" in repr(rollout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": {"x": "qdd"}}, r"pendulum: there is no input 'x'; it has q, qd, tau, length"),
        ({"states": {"q": "speed"}}, r"'speed' cannot be the rate of 'q' \(2,\); name an output"),
        ({"states": {"q": "height"}}, r"'height' cannot be the rate of 'q'"),
        ({"states": {"q": "qd", "qd": "qdd"}, "method": "map"}, r"'qd' cannot be the rate of 'q'"),
        ({"states": STATES, "method": "rk5"}, r"method is 'rk5'; give one of rk4, semi_implicit_euler, map"),
        ({"states": STATES, "observed": ["tau"]}, r"there is no output 'tau'; it has qdd, height"),
        (
            {"states": STATES, "dtype": "int32"},
            r"dtype is 'int32'; rollouts compute in 'float64' or 'float32'",
        ),
    ],
)
def test_faults_of_roles(options, message):
    with pytest.raises(KernelFault, match=message):
        Rollout(GRAPH, **options)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((draw(2), draw(2)), {"steps": 3}, r"got 2 arrays; give 4: q, qd, tau, length"),
        (
            (draw(2), draw(2), draw(2), 1.0),
            {},
            r"tau has shape \(2,\); it has a value for each step: give \(\.\.\., steps, 2\)",
        ),
        (
            (draw(2), draw(2), draw(5, 2), 1.0),
            {"steps": 4},
            r"steps is 4, inputs have values for 5 of tau; give one",
        ),
        (
            (draw(2), draw(2), draw(5, 2), 1.0),
            {"every": -1},
            r"every is -1; give a whole number, 0 for no record",
        ),
        ((draw(3), draw(2), draw(5, 2), 1.0), {}, r"q has shape \(3,\); give \(2,\) or a batch"),
    ],
)
def test_faults_of_calls(given, options, message):
    rollout = Rollout(GRAPH, STATES, per_step=["tau"], keep=False)
    with pytest.raises(StateFault, match=message):
        rollout(*given, dt=0.1, **options)


def test_steps_must_be_given():
    with pytest.raises(StateFault, match=r"steps is None; give one whole number of steps"):
        Rollout(GRAPH, STATES, keep=False)(draw(2), draw(2), draw(2), 1.0, dt=0.1)


def test_roles_list_their_ports():
    roles = Roles(GRAPH, STATES, per_step=("tau",), observed=("height",))
    assert [p.name for p in roles.given] == ["q", "qd", "tau", "length"]
    assert [p.name for p in roles.state_ports] == ["q", "qd"]
    assert [p.name for p in roles.observed_ports] == ["height"]


PROGRAM = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.graph.trace import trace
graph = trace(lambda x: {"rate": -x}, {"x": ()}, name="decay")
print(ProcessorKernel(graph)(np.array([1.0, 2.0])), repr(ProcessorKernel(graph)))
Rollout(graph, {"x": "rate"})(np.ones(3), dt=0.1, steps=2)
"""


def test_without_llvm_kernels_run_on_numpy_and_rollouts_say_what_is_missing():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert "[-1. -2.]" in done.stdout
    assert "NumPy, because llvmlite is missing" in done.stdout
    assert "KernelFault: machine code, rollouts and PTX need llvmlite" in done.stderr
    assert "install llvmlite. Without it kernels run on NumPy." in done.stderr
