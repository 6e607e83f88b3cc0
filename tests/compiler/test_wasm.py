"""WebAssembly modules: equal to the interpreter to the bit, in wasmtime and in Node."""

import copy
import json
import math
import pickle
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from cli.verbs import forearm
from compiler.module_inputs import inputs_of
from compiler.programs import random_graph, random_inputs
from forearm.compiler.browser_modules import LAWS, law_step, wasm_rollout
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.trace import trace
from forearm.compiler.wasm.module_files import joint_module
from forearm.compiler.wasm.module_products import divides
from forearm.compiler.wasm.module_sines import HALF_PI, fused, sincos
from forearm.compiler.wasm.module_sines import apart as rounded_apart
from forearm.compiler.wasm.wasm_kernel import WasmKernel

pytest.importorskip("wasmtime")


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_any_graph_to_the_bit(seed, lanes, apart):
    """Every operation, shared and not, one state or two at once: the interpreter with the same rounding of products."""
    graph = random_graph(seed, fma=True)
    kernel = WasmKernel(graph, lanes=lanes, apart=apart)
    states = [random_inputs(graph, k) for k in range(3)]
    rows = [np.stack([np.asarray(s[p.name], dtype=float) for s in states]) for p in graph.inputs]
    got = kernel.general(*rows)
    got = [got] if len(graph.outputs) == 1 else got
    rounding = fused if divides(graph) and not apart else rounded_apart
    for k, state in enumerate(states):
        want = interpret(graph, {n: np.asarray(v, dtype=float) for n, v in state.items()}, rounding)
        for port, value in zip(graph.outputs, got, strict=True):
            same = np.asarray(want[port.name], dtype=float)
            assert np.array_equal(value[k], same, equal_nan=True), port.name


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("apart", [False, True])
def test_an_arm_to_the_bit(quantity, apart):
    graph = fa.compile(random_arm(4, 3, "RP"), quantity, target="wasm").graph
    given = inputs_of(graph, np.random.default_rng(1), 3)
    got = WasmKernel(graph, apart=apart)(*given)
    rounding = fused if quantity == "forward_dynamics" and not apart else rounded_apart
    for k in range(3):
        state = {p.name: x[k] for p, x in zip(graph.inputs, given, strict=True)}
        want = interpret(graph, state, rounding)
        assert np.array_equal(got[k], next(iter(want.values())).astype(float))


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7])
def test_an_odd_number_of_states_writes_no_row_too_many(rows):
    """Two states at once: the row after the last stays as it was."""
    kernel = fa.compile(fa.load("rr"), "inverse_dynamics", target="wasm")
    given = inputs_of(kernel.graph, np.random.default_rng(rows), rows)
    host = kernel._host
    padded = host.run("run", [rows], given, [(rows + 2, 2)])[0]
    assert np.isnan(padded[rows:]).all()
    assert np.array_equal(padded[:rows], WasmKernel(kernel.graph, lanes=1)(*given))


def test_threads_at_once_got_each_others_numbers():
    """One memory served them all: torques of other states, and traps."""
    arm = fa.load("rr")
    kernel, native = (fa.compile(arm, "inverse_dynamics", target=t) for t in ("wasm", "cpu"))

    def largest_error(thread):
        worst = 0.0
        for call in range(5):
            states = np.full((30_000 + call, 2), 0.1 * thread + 0.01 * call)
            worst = max(worst, np.max(np.abs(kernel(*[states] * 3) - native(*[states] * 3))))
        return worst

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(largest_error, range(4))) < 1e-12


def test_a_kernel_that_was_called_could_not_be_copied():
    """ValueError: ctypes objects containing pointers cannot be pickled."""
    kernel, q = fa.compile(fa.load("rr"), "mass_matrix", target="wasm"), np.array([0.3, -0.2])
    want = kernel(q)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert np.array_equal(other(q), want)


@pytest.mark.parametrize("lanes", [1, 2])
def test_large_angles_are_right_or_nan(lanes):
    import mpmath

    graph = trace(lambda x: {"s": fa.sin(x), "c": fa.cos(x)}, {"x": ()}, name="angles")
    rng = np.random.default_rng(2)
    sizes = 10.0 ** rng.uniform(-8, 5, 400)
    near = np.round(rng.uniform(0, 6e4, 200)) * np.pi / 2  # as near a zero as doubles come
    x = np.concatenate([sizes, -sizes, near, [0.0, -0.0, 1e5, -1e5]])
    s, c = WasmKernel(graph, lanes=lanes)(x)
    with mpmath.workdps(60):
        for got, f in ((s, mpmath.sin), (c, mpmath.cos)):
            want = [f(mpmath.mpf(float(a))) for a in x]
            off = [
                abs(mpmath.mpf(float(g)) - w) / np.spacing(abs(float(w)))
                for g, w in zip(got, want, strict=True)
            ]
            assert max(off) < 2.0
    beyond = np.array([1.0001e5, -1e6, 1e300, np.inf, -np.inf, np.nan])
    assert np.isnan(WasmKernel(graph, lanes=lanes)(beyond)).all()
    assert all(sincos(a) == (p, q) for a, p, q in zip(x, s, c, strict=True))


def test_the_parts_of_half_pi_leave_room_for_exact_products():
    import mpmath

    bits = [int(part.hex().split(".")[1].split("p")[0], 16) for part in HALF_PI[:3]]
    assert all(b % 2 ** (52 - 36) == 0 for b in bits), "37 bits each"
    with mpmath.workdps(80):
        assert abs(sum(map(mpmath.mpf, HALF_PI)) - mpmath.pi / 2) < mpmath.mpf(2) ** -167


def test_pandas_torques_are_small():
    kernel = fa.compile(fa.load("panda"), "inverse_dynamics", target="wasm")
    assert len(kernel.bytes) <= 8000
    assert kernel.counts.operations == fa.compile(fa.load("panda"), "inverse_dynamics").counts.operations
    assert kernel.why is not None
    assert b"panda" not in kernel.bytes
    assert kernel.bytes[:4] == b"\0asm"


def test_long_sums_and_constants_alone():
    """No recursion over the nodes, and outputs that are inputs or constants."""
    nodes = [Node("input", (), None, (0, 0)), Node("input", (), None, (0, 1))]
    for k in range(5000):
        nodes.append(Node("add", (len(nodes) - 1 if k else 1, 0)))
    nodes.append(Node("const", (), 2.5))
    last = len(nodes) - 1
    graph = Graph("sum", (Port("x", (2,)),), tuple(nodes), (Port("y", (3,)),), ((last - 1, last, 0),))
    for lanes in (1, 2):
        got = WasmKernel(graph, lanes=lanes)(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        assert np.array_equal(got, [[5002.0, 2.5, 1.0], [15004.0, 2.5, 3.0], [25006.0, 2.5, 5.0]])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_a_rollout_of_a_thousand_steps(method, law):
    """Bound: 1e-9 after a second of the double arm of the notes, held or falling."""
    arm = fa.load("rr")
    rng = np.random.default_rng(5)
    module = wasm_rollout(arm, method, law)
    rule = {"rk4": "rk4", "euler": "semi_implicit_euler"}[method]
    native = Rollout(law_step(arm, law), {"q": "qd", "qd": "qdd"}, method=rule)
    small = {"kp": 100.0, "kd": 20.0}
    given = [
        rng.uniform(-1, 1, (3, *p.shape)) if p.shape else np.full(3, small[p.name])
        for p in native.roles.given
    ]
    got, want = (r(*given, dt=1e-3, steps=1000, every=250) for r in (module, native))
    for state in ("q", "qd"):
        a, b = (getattr(r.record, state) for r in (got, want))
        assert a.shape == b.shape == (3, 5, arm.n)
        assert np.max(np.abs(a - b)) <= 1e-9 * max(1.0, np.max(np.abs(b)))
        assert np.array_equal(getattr(got.end, state), a[:, -1])
    assert np.array_equal(got.times, want.times)


def test_a_rollout_knows_the_time():
    graph = trace(lambda t, x: {"v": fa.cos(t)}, {"t": (), "x": ()}, name="clock")
    from forearm.compiler.wasm.wasm_rollout import WasmRollout

    end = WasmRollout(graph, {"x": "v"}, time="t")(0.0, dt=0.01, steps=100, start=1.0).end
    assert abs(float(end.x) - (math.sin(2.0) - math.sin(1.0))) < 1e-10


@pytest.mark.parametrize("wrong", [{"dtype": "float32"}, {"layout": "columns"}])
def test_what_a_module_cannot_do(wrong):
    with pytest.raises(fa.KernelFault, match="WebAssembly kernels compute in 'float64', in 'rows'"):
        fa.compile(fa.load("rr"), "inverse_dynamics", target="wasm", **wrong)


@pytest.mark.parametrize("wrong", ["rk4", "rk5:pd", "rk4:magic"])
def test_rollouts_that_there_are_not(wrong, tmp_path):
    with pytest.raises(fa.KernelFault, match="give"):
        fa.emit_wasm(fa.load("rr"), tmp_path, rollouts=[wrong])


def test_a_module_whose_products_are_rounded_apart(tmp_path, capsys):
    """What divides is shorter and quicker so; the bits are those of the interpreter that rounds apart."""
    written = {}
    for words in ((), ("--apart",)):
        out = tmp_path / f"out{len(words)}"
        said = forearm(capsys, "emit", "rr", "--wasm", *words, "--functions", "forward_dynamics", "-o", out)
        assert said.code == 0
        written[words] = (out / "rr.wasm").read_bytes()
    graph = fa.compile(fa.load("rr"), "forward_dynamics", target="wasm").graph
    once, twice = (joint_module({"forward_dynamics": graph}, {}, 2, apart) for apart in (False, True))
    assert written == {(): once, ("--apart",): twice}
    assert "rounded once" in WasmKernel(graph).how
    assert "rounded twice" in WasmKernel(graph, apart=True).how
    said = forearm(capsys, "emit", "rr", "--apart")
    assert said.code == 2
    assert "--apart says how to round in WebAssembly; add --wasm." in said.err


SCRIPT = """
import { load } from "./LOADER";
const arm = await load();
const numbers = JSON.parse(process.argv[2]);
const tau = arm.inverse_dynamics(numbers.q, numbers.qd, numbers.qdd);
const batch = arm.inverse_dynamics(...["q", "qd", "qdd"].map((k) => [...numbers[k], ...numbers[k], ...numbers[k]]));
const { q, record } = arm.rk4_torque({ ...numbers, tau }, { dt: 1e-3, steps: 10, every: 5 });
let refused = "";
try { arm.inverse_dynamics(numbers.q); } catch (error) { refused = error.message; }
console.log(JSON.stringify({ tau: [...tau], batch: [...batch], q: [...q], rows: record.q.length, refused }));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_loader_in_node(tmp_path):
    arm = random_arm(3, 2, "RP").replace(name="</script>*/ alert(1)")
    module, loader, types = fa.emit_wasm(arm, tmp_path, rollouts=["rk4:torque"])
    text = loader.read_text()
    assert "*/ alert" not in text
    assert "rk4_torque(inputs: { q: Numbers; qd: Numbers; tau: Numbers }" in types.read_text()
    loader.rename(tmp_path / "arm.mjs")
    (tmp_path / "run.mjs").write_text(SCRIPT.replace("LOADER", "arm.mjs"))
    state = {k: v.tolist() for k, v in zip(("q", "qd", "qdd"), arm.random_state(4), strict=True)}
    done = subprocess.run(
        ["node", tmp_path / "run.mjs", json.dumps(state)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    want = fa.compile(arm, "inverse_dynamics", target="wasm")(*state.values())
    assert told["tau"] == want.tolist(), "one state: the bits of wasmtime"
    assert told["batch"] == 3 * want.tolist()
    end = wasm_rollout(arm)(state["q"], state["qd"], want, dt=1e-3, steps=10).end
    assert told["q"] == end.q.tolist()
    assert told["rows"] == 3 * arm.n
    assert told["refused"] == "inverse_dynamics: got 1 arrays; give 3: q, qd, qdd."
    assert module.read_bytes()[:4] == b"\0asm"


STEPS = """
import { load } from "./LOADER";
const { rk4_torque } = await load();
const state = { q: [0.1, 0.2], qd: [0, 0], tau: [0, 0] };
const told = JSON.parse(process.argv[2]).map((how) => {
  try { return rk4_torque(state, { dt: 1e-3, ...how }).record?.q.length ?? 0; } catch (error) { return error.message; }
});
console.log(JSON.stringify(told));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_steps_that_are_no_whole_number_of_31_bits_were_rolled_otherwise_in_node(tmp_path):
    """2 ** 32 + 5 steps were five, a record of every half step was zeros, and one of every -1 of other places."""
    _, loader, _ = fa.emit_wasm(fa.load("rr"), tmp_path, rollouts=["rk4:torque"])
    loader.rename(tmp_path / "arm.mjs")
    (tmp_path / "run.mjs").write_text(STEPS.replace("LOADER", "arm.mjs"))
    wrong = [
        {"steps": 2**32 + 5},
        {"steps": 1.5, "every": 1},
        {"steps": -1},
        {},
        *({"steps": 10, "every": every} for every in (0.5, -1, 2**32 + 1, 2**31)),
    ]
    asked = json.dumps([*wrong, {"steps": 10, "every": 5}, {"steps": 0}])
    run = ["node", tmp_path / "run.mjs", asked]
    told = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    for how, said in zip(wrong, told, strict=False):
        assert str(said).endswith("; give whole numbers below 2 ** 31."), how
    assert told[len(wrong) :] == [6, 0]
