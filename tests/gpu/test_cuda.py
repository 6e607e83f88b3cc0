"""Kernels on a GPU where there is one; the text that goes there, and the sentences without one, everywhere."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.compiler.call.rollout import Rollout
from forearm.compiler.cuda import device, gpu_kernel
from forearm.compiler.cuda.gpu_rollout import GpuRollout, columns_of
from forearm.compiler.llvm.ptx.ptx_rows import ptx_rows
from forearm.compiler.pipeline import compile
from forearm.readers import load

WHY = device.missing_gpu()
needs_gpu = pytest.mark.skipif(WHY is not None, reason=f"no GPU: {WHY}")
needs_ptxas = pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas on this machine")
NAMES = ("puma560", "iiwa14", "panda")
STATES = {"q": "qd", "qd": "qdd"}


def states(arm, count, dtype, layout):
    rows = [x.astype(dtype) for x in arm.random_state(1, (count,))]
    return rows if layout == "rows" else [np.ascontiguousarray(x.T) for x in rows]


def assembled(text, tmp_path):
    """What ptxas says of a kernel."""
    source = tmp_path / "kernel.ptx"
    source.write_text(text)
    command = ["ptxas", "-arch=sm_90", "-v", str(source), "-o", str(tmp_path / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@needs_ptxas
@pytest.mark.parametrize("name", NAMES)
def test_torques_in_single_precision_do_not_spill(name, tmp_path):
    kernel = compile(load(name).without_drives(), "inverse_dynamics", dtype="float32", target="cuda")
    for text in (kernel.source("ptx"), ptx_rows(kernel.graph, "float32")):
        report = assembled(text, tmp_path)
        assert set(re.findall(r"(\d+) bytes spill", report)) == {"0"}
        assert max(int(n) for n in re.findall(r"Used (\d+) registers", report)) <= 128


def test_the_text_for_rows_turns_tiles_in_shared_memory():
    kernel = compile(load("rr"), "inverse_dynamics", dtype="float32", target="cuda", layout="rows")
    text = ptx_rows(kernel.graph, "float32", threads=64)
    assert "bar.sync" in text
    assert "ld.shared" in text
    assert "st.shared" in text


@pytest.mark.skipif(WHY is None, reason="there is a GPU")
def test_without_a_gpu_one_sentence_says_why():
    arm = load("rr")
    state = np.zeros((4, 2))
    with pytest.raises(fa.KernelFault, match="target 'cuda' is not to be had: "):
        compile(arm, "inverse_dynamics", target="cuda", layout="rows")(state, state, state)


def test_messages_about_targets():
    with pytest.raises(fa.KernelFault, match="target is 'tpu'; give 'cpu' or 'cuda'"):
        compile(load("rr"), "inverse_dynamics", target="tpu")
    with pytest.raises(fa.KernelFault, match="target is 'auto'; give 'cpu' or 'cuda'"):
        compile(load("rr"), "inverse_dynamics", target="auto")
    with pytest.raises(fa.KernelFault, match="layout is 'diagonal'; give 'rows'"):
        compile(load("rr"), "inverse_dynamics", target="cuda", layout="diagonal")
    with pytest.raises(fa.KernelFault, match=r"source\('c'\) is not known on the GPU"):
        compile(load("rr"), "inverse_dynamics", target="cuda").source("c")


@needs_gpu
@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "packed_mass_matrix", "derivatives"]
)
@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_cpu(name, dtype, layout, quantity):
    import cupy as cp

    arm = load(name).without_drives()
    kernel = compile(arm, quantity, dtype=dtype, target="cuda", layout=layout)
    count = 1000  # not a multiple of the block
    given = states(arm, count, dtype, layout)[: len(kernel.graph.inputs)]
    outs = tuple(
        cp.full((count, *p.shape) if layout == "rows" else (*p.shape, count), cp.nan, dtype)
        for p in kernel.graph.outputs
    )
    found = kernel(*map(cp.asarray, given), out=outs if len(outs) > 1 else outs[0])
    found = found if isinstance(found, tuple) else (found,)
    want = compile(arm, quantity)(*((x if layout == "rows" else x.T).astype(float) for x in given))
    want = want if isinstance(want, tuple) else (want,)
    for got, right in zip(found, want, strict=True):
        value = got.get() if layout == "rows" else np.moveaxis(got.get(), -1, 0)
        error = np.max(np.abs(value - right)) / np.max(np.abs(right))
        assert error <= (1e-13 if dtype == "float64" else 1e-5 if quantity == "forward_dynamics" else 5e-6)


@needs_gpu
def test_numpy_arrays_go_over_in_chunks(monkeypatch):
    arm = load("iiwa14")
    monkeypatch.setattr(gpu_kernel, "CHUNK", 300)
    for layout in ("rows", "columns"):
        kernel = compile(arm, "inverse_dynamics", target="cuda", layout=layout)
        given = states(arm, 1001, "float64", layout)
        got = kernel(*given)
        assert isinstance(got, np.ndarray)
        want = fa.inverse_dynamics(arm, *(x if layout == "rows" else x.T for x in given))
        assert_close(got if layout == "rows" else got.T, want)


@needs_gpu
def test_a_recorded_call_can_be_replayed_on_new_numbers():
    import cupy as cp

    arm = load("iiwa14")
    kernel = compile(arm, "inverse_dynamics", target="cuda")
    arrays = [cp.asarray(x) for x in states(arm, 256, "float64", "columns")]
    out = cp.empty((7, 256))
    replay = kernel.recorded(*arrays, out=out)
    arrays[0] += 0.5
    replay()
    cp.cuda.Device().synchronize()
    assert_close(out.get().T, fa.inverse_dynamics(arm, *(x.get().T for x in arrays)))


@needs_gpu
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_rollouts_are_those_of_the_cpu(method):
    import cupy as cp

    arm = load("puma560")
    graph = compile(arm, "forward_dynamics").graph
    given = [0.2 * x for x in states(arm, 100, "float64", "columns")]
    end, record = GpuRollout(graph, STATES, method=method, dtype="float64")(
        *map(cp.asarray, given), dt=1e-3, steps=30, every=10
    )
    want = Rollout(graph, STATES, method=method)(*(x.T for x in given), dt=1e-3, steps=30, every=10)
    assert_close(end.q.get().T, want.end.q)
    assert_close(np.moveaxis(record.qd.get(), -1, 0), want.record.qd)


ROLES = GpuRollout(compile(load("rr"), "forward_dynamics").graph, STATES, per_step=("tau",)).roles
BAD_SHAPES = {
    "rr: q has shape (3, 5); give (2,) for all states alike, or (2, N) for N of them.": (
        (3, 5),
        (2, 5),
        (4, 2),
    ),
    "rr: q has shape (5, 2, 1); give": ((5, 2, 1), (2, 5), (4, 2)),
    "rr: q has shape (); give": ((), (2, 5), (4, 2)),
    "rr: tau has shape (3, 2, 5); give (4, 2) for all states alike, or (4, 2, N)": (
        (2, 5),
        (2, 5),
        (3, 2, 5),
    ),
    "rr: tau has shape (2, 5); give": ((2, 5), (2, 5), (2, 5)),
    "rr: inputs have other numbers of states (q 5, qd 1); give": ((2, 5), (2, 1), (4, 2)),
}


@pytest.mark.parametrize("says", BAD_SHAPES)
def test_arrays_that_a_rollout_would_read_beyond_their_end_are_refused(says):
    """It took the caller's word for every shape."""
    with pytest.raises(fa.StateFault, match=re.escape(says)):
        columns_of("rr", ROLES, BAD_SHAPES[says], 4)


def test_arrays_of_the_right_shape_pass():
    assert columns_of("rr", ROLES, ((2, 5), (2,), (4, 2, 5)), 4) == 5
    assert columns_of("rr", ROLES, ((2,), (2,), (4, 2)), 4) == 1
    assert columns_of("rr", ROLES, ((2, 0), (2, 0), (0, 2)), 0) == 0


BAD_STEPS = [(-1, 0), (True, 0), (1.5, 0), (2**62, 0), (3, -1), (3, 2**64 + 1), (3, "1")]


@pytest.mark.parametrize(("steps", "every"), BAD_STEPS)
def test_steps_that_no_register_holds_reach_no_gpu(steps, every):
    rollout = GpuRollout(ROLES.graph, STATES)
    with pytest.raises(fa.StateFault, match=r"(steps|every) is .*; give a whole number"):
        rollout(*[np.zeros(2)] * 3, dt=1e-3, steps=steps, every=every)
    with pytest.raises(fa.StateFault, match="got 2 arrays; give 3: q, qd, tau"):
        rollout(*[np.zeros(2)] * 2, dt=1e-3, steps=3)


@needs_gpu
def test_a_rollout_refuses_what_does_not_fit_and_takes_what_does():
    import cupy as cp

    rollout = GpuRollout(ROLES.graph, STATES, per_step=("tau",), dtype="float64")
    q, tau = cp.full((2, 5), 0.1), cp.zeros((4, 2))
    with pytest.raises(fa.StateFault, match="tau has shape"):
        rollout(q, q, tau[:3], dt=1e-3, steps=4)
    with pytest.raises(fa.StateFault, match="q has shape"):
        rollout(q.T, q, tau, dt=1e-3, steps=4)
    with pytest.raises(fa.StateFault, match="q is float32"):
        rollout(q.astype("float32"), q, tau, dt=1e-3, steps=4)
    want, record = rollout(q, q, tau, dt=1e-3, steps=4, every=2)
    strided, _ = rollout(cp.asfortranarray(q), cp.repeat(q, 2, axis=1)[:, ::2], tau, dt=1e-3, steps=4)
    assert_close(strided.q.get(), want.q.get())
    assert record.q.shape == (3, 2, 5)
    seldom = rollout(q, q, tau, dt=1e-3, steps=4, every=2**61)[1]
    assert seldom.q.shape == (1, 2, 5)
    empty, _ = rollout(q[:, :0], q[:, :0], tau, dt=1e-3, steps=4)
    assert empty.q.shape == (2, 0)
    still, _ = rollout(q, q, tau[:0], dt=1e-3, steps=0)
    assert_close(still.q.get(), q.get())


@needs_gpu
def test_wrong_precision_is_said():
    import cupy as cp

    kernel = compile(load("rr"), "inverse_dynamics", dtype="float32", target="cuda")
    x = cp.zeros((2, 8))
    with pytest.raises(fa.StateFault, match="q is float64, but the kernel computes in float32"):
        kernel(x, x, x)


@needs_gpu
@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_simulate_on_the_gpu_is_simulate_on_the_cpu(method):
    from forearm.simulation import payload_numbers

    arm = load("puma560")
    q, _, goal = (0.3 * x for x in arm.random_state(2, (50,)))
    payload = np.stack([payload_numbers(m, (0.0, 0.0, 0.05)) for m in np.linspace(0.0, 2.0, 50)])

    def law(t, q, qd, goal):
        return 50.0 * (goal - q) - 8.0 * qd

    keywords = dict(law=law, duration=0.05, dt=1e-3, method=method, gains={"goal": goal}, payload=payload)
    here, there = (fa.simulate(arm, q, target=target, **keywords) for target in ("cpu", "cuda"))
    assert_close(there.q, here.q)
    assert_close(there.qd, here.qd)


@needs_gpu
def test_a_recorded_call_keeps_its_arrays_and_refuses_to_read_a_copy_for_ever():
    import cupy

    kernel = compile(load("rr"), "gravity_torque", target="cuda", dtype="float64")
    state = cupy.asarray(np.random.default_rng(0).uniform(-1, 1, (300, 2)))
    tau, columns = cupy.empty((2, 300)), cupy.ascontiguousarray(state.T)
    for given, out in ((state.T, tau), (columns.get(), tau), (columns, columns)):
        with pytest.raises(
            fa.StateFault, match="recorded would read a copy of q, for ever; give an array on"
        ):
            kernel.recorded(given, out=out)
    replay = kernel.recorded(columns, out=tau)
    where = tau.data.ptr
    del tau
    assert cupy.empty((2, 300)).data.ptr != where
    columns[...] = 0.3
    replay()
    found = replay.keep[1][0]
    assert_close(found.get(), kernel(columns).get())


def one_number(kind):
    """2.5 for all states, as somebody may give it."""
    import cupy

    beside = cupy.asarray([2.5, -1e6, 1e6])  # what a kernel must not read
    return {"float": 2.5, "NumPy": np.float64(2.5), "CuPy": beside[0], "CuPy, of one": beside[:1]}[kind]


@needs_gpu
@pytest.mark.parametrize("kind", ["float", "NumPy", "CuPy", "CuPy, of one"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("there", [True, False])
def test_one_number_for_all_states_was_read_for_the_first_and_memory_behind_it_for_the_others(
    kind, layout, there
):
    import cupy

    if not there and "CuPy" in kind:
        pytest.skip("arrays on both sides are refused")
    arm, path = load("rr"), "links[1].mass"
    q = np.random.default_rng(0).uniform(-1, 1, (2, 300) if layout == "columns" else (300, 2))
    how = {"free": [path], "layout": layout}
    given = cupy.asarray(q) if there else q
    found = compile(arm, "gravity_torque", target="cuda", dtype="float64", **how)(given, one_number(kind))
    want = compile(arm, "gravity_torque", **how)(q, 2.5)
    assert_close(found.get() if there else found, want)


@needs_gpu
def test_a_lone_state_and_one_number_for_all_motions_in_a_simulation_on_the_gpu():
    arm, q = load("rr"), np.random.default_rng(0).uniform(-1, 1, (300, 2))
    for start in (q, q[0], q[:1]):
        how = {"duration": 0.02, "free": {"links[1].mass": 2.5}}
        here, there = (fa.simulate(arm, start, target=target, **how) for target in ("cpu", "cuda"))
        assert_close(there.q, here.q)
        assert_close(there.work, here.work)


def test_simulate_says_what_the_gpu_cannot_do():
    arm = load("rr")
    with pytest.raises(
        fa.StateFault, match="target='cuda' runs rk4 and euler with compiled laws, and method is 'dop853'"
    ):
        fa.simulate(arm, [0.1, 0.2], duration=0.1, method="dop853", target="cuda")
    with pytest.raises(
        fa.StateFault, match="target='cuda' runs rk4 and euler with compiled laws, and this law"
    ):
        fa.simulate(
            arm,
            [0.1, 0.2],
            duration=0.1,
            law=lambda t, q, qd: np.linalg.norm(q) * qd,
            target="cuda",
            trace=False,
        )
    with pytest.raises(fa.StateFault, match="target is 'tpu'"):
        fa.simulate(arm, [0.1, 0.2], duration=0.1, target="tpu")
