"""Arrays decide where the work is done: every public function of states takes CuPy, PyTorch and JAX arrays, and gives
back the same kind, on the same device, in the same precision."""

import importlib.util
from dataclasses import fields, is_dataclass
from inspect import signature

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.cuda.device import missing_gpu

ARM = fa.load("iiwa14")
OF_STATES = [
    *(fa.inverse_dynamics, fa.forward_dynamics, fa.mass_matrix, fa.solve_mass, fa.mass_matrix_rate),
    *(fa.coriolis_matrix, fa.coriolis_transpose_times, fa.christoffel, fa.gravity_torque, fa.bias_torque),
    *(fa.momentum, fa.energy, fa.reactions, fa.derivatives, fa.forward_derivatives, fa.regressor),
    *(fa.pose, fa.jacobian, fa.jacobian_rate, fa.terms, fa.task),
]


def has(library):
    return importlib.util.find_spec(library) is not None


GPU = missing_gpu()
needs_gpu = pytest.mark.skipif(GPU is not None, reason=f"no GPU: {GPU}")
KINDS = [
    pytest.param("cupy", "cuda", marks=needs_gpu),
    pytest.param(
        "torch",
        "cpu",
        marks=[
            pytest.mark.more,
            pytest.mark.skipif(not has("torch"), reason="PyTorch is not installed"),
        ],
    ),
    pytest.param(
        "torch", "cuda", marks=pytest.mark.skipif(GPU is not None or not has("torch"), reason="no GPU")
    ),
    pytest.param("jax", "cpu", marks=pytest.mark.skipif(not has("jax"), reason="JAX is not installed")),
    pytest.param("jax", "cuda", marks=pytest.mark.skipif(GPU is not None or not has("jax"), reason="no GPU")),
]


def sent(array, library, device):
    if library == "cupy":
        import cupy

        return cupy.asarray(array)
    if library == "torch":
        import torch

        return torch.tensor(array, device=device)
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.device_put(array, jax.devices("gpu" if device == "cuda" else "cpu")[0])


def fetched(array):
    if hasattr(array, "get"):
        return array.get()
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def kind_of(array):
    """Library, device and precision of an array."""
    device = int(array.__dlpack_device__()[0]) in (2, 13)
    return (
        type(array).__module__.partition(".")[0].removesuffix("lib"),
        device,
        str(array.dtype).rpartition(".")[2],
    )


def parts(result):
    if is_dataclass(result):
        return [getattr(result, f.name) for f in fields(result)]
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("library", "device"), KINDS)
@pytest.mark.parametrize("function", OF_STATES, ids=lambda f: f.__name__)
def test_every_function_of_states(function, library, device, dtype):
    count = len([p for p in signature(function).parameters.values() if p.default is p.empty]) - 1
    states = [x.astype(dtype) for x in ARM.random_state(3, (5,))][:count]
    want = parts(function(ARM, *(x.astype(float) for x in states)))
    given = [sent(x, library, device) for x in states]
    got = parts(function(ARM, *given))
    size = max(float(np.max(np.abs(x))) for x in want if np.ndim(x))
    loose = function in (fa.forward_dynamics, fa.forward_derivatives, fa.solve_mass, fa.task)
    for a, b in zip(got, want, strict=True):
        assert kind_of(a) == kind_of(given[0])
        error = float(np.max(np.abs(fetched(a) - b))) / (
            size if not loose else max(1e-9, float(np.max(np.abs(b))))
        )
        assert error <= (1e-11 if dtype == "float64" else 2e-2 if loose else 2e-5)


@pytest.mark.parametrize(("library", "device"), KINDS)
def test_leading_axes_broadcast_as_they_do_for_numpy(library, device):
    rng = np.random.default_rng(1)
    shapes = (5, 1, 7), (1, 4, 7), (7,)
    states = [rng.uniform(-1, 1, s) for s in shapes]
    got = fa.inverse_dynamics(ARM, *(sent(x, library, device) for x in states))
    assert got.shape == (5, 4, 7)
    np.testing.assert_allclose(fetched(got), fa.inverse_dynamics(ARM, *states), atol=1e-11)


@pytest.mark.parametrize(("library", "device"), KINDS)
def test_wrench_out_and_status(library, device):
    q, qd, tau = (sent(x, library, device) for x in ARM.random_state(2, (6,)))
    push = fa.Wrench((1.0, -2.0, 30.0), at=("iiwa_joint_5", (0.0, 0.1, 0.0)), frame="local")
    want = fa.forward_dynamics(ARM, fetched(q), fetched(qd), fetched(tau), wrench=push)
    got = fa.forward_dynamics(ARM, q, qd, tau, wrench=push)
    np.testing.assert_allclose(fetched(got), want, atol=1e-9)
    if library == "jax":
        with pytest.raises(fa.StateFault, match="JAX array, which cannot be written into"):
            fa.inverse_dynamics(ARM, q, qd, tau, out=q)
        return
    out, status = q * 0, sent(np.zeros(6, dtype=bool), library, device)
    assert fa.inverse_dynamics(ARM, q, qd, tau, out=out) is out
    np.testing.assert_allclose(
        fetched(out), fa.inverse_dynamics(ARM, fetched(q), fetched(qd), fetched(tau)), atol=1e-11
    )
    tau[3, 0] = float("nan")
    fa.forward_dynamics(ARM, q, qd, tau, status=status)
    assert fetched(status).tolist() == [False, False, False, True, False, False]


@pytest.mark.parametrize(("library", "device"), KINDS)
def test_two_kinds_in_one_call_are_refused(library, device):
    q, qd, qdd = ARM.random_state(2, (6,))
    with pytest.raises(
        fa.StateFault, match=r"q is a NumPy array, qd is a \w+ array on the \w+; give arrays of one"
    ):
        fa.inverse_dynamics(ARM, q, sent(qd, library, device), qdd)
    with pytest.raises(fa.StateFault, match=r"^q has shape \(6, 3\), but arm 'iiwa14' has 7 joints"):
        fa.gravity_torque(ARM, sent(q[:, :3].copy(), library, device))


@needs_gpu
@pytest.mark.parametrize("quantity", ["regressor", "christoffel", "derivatives", "mass_matrix"])
def test_wide_rows_in_double_precision_start(quantity):
    import cupy

    q = [cupy.asarray(x) for x in ARM.random_state(1, (100,))]
    function = getattr(fa, quantity)
    count = len([p for p in signature(function).parameters.values() if p.default is p.empty]) - 1
    for got, want in zip(
        parts(function(ARM, *q[:count])), parts(function(ARM, *(x.get() for x in q[:count]))), strict=True
    ):
        np.testing.assert_allclose(got.get(), want, atol=1e-11)


@pytest.mark.parametrize(("library", "device"), KINDS)
def test_a_simulation_runs_where_its_states_live(library, device):
    q = 0.3 * ARM.random_state(2, (20,))[0]
    here = fa.simulate(ARM, q, duration=0.02, dt=1e-3)
    there = fa.simulate(ARM, sent(q, library, device), duration=0.02, dt=1e-3)
    np.testing.assert_allclose(there.q, here.q, atol=1e-12)


@pytest.mark.parametrize(("library", "device"), KINDS)
@pytest.mark.parametrize(
    "function", [fa.rollout_gradient, fa.rollout_parameter_gradient, fa.rollout_sensitivity]
)
def test_gradients_through_time_are_taken_where_the_motion_lies(function, library, device):
    arm, rng = fa.load("rr"), np.random.default_rng(3)
    start, tau = 0.5 * rng.normal(size=(2, 3, 2)), rng.normal(size=(3, 5, 2))
    run = fa.simulate(arm, *start, law=tau, duration=0.05, dt=0.01, record_every=1)
    weights = 0.5 * rng.normal(size=(2, 3, 6, 2))
    along = [run.q, run.qd, tau, *(weights if function is not fa.rollout_sensitivity else ())]
    got = parts(function(arm, *(sent(x, library, device) for x in along), dt=0.01))
    for there, here in zip(got, parts(function(arm, *along, dt=0.01)), strict=True):
        assert kind_of(there) == (library, device == "cuda", "float64")
        np.testing.assert_allclose(fetched(there), here, rtol=1e-10, atol=1e-12)


@needs_gpu
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_out_on_the_gpu_may_be_an_input_but_never_a_copy(layout):
    import cupy

    kernel = fa.compile(ARM, "inverse_dynamics", target="cuda", dtype="float64", layout=layout)
    states = [
        cupy.asarray(x if layout == "rows" else np.ascontiguousarray(x.T))
        for x in ARM.random_state(1, (1000,))
    ]
    want = kernel(*states).get()
    assert kernel(*states, out=states[0]) is states[0]
    np.testing.assert_array_equal(states[0].get(), want)
    with pytest.raises(fa.StateFault, match="out for tau is not contiguous in C order"):
        kernel(*states, out=cupy.asfortranarray(states[1]))
    with pytest.raises(fa.StateFault, match="out for tau is ndarray; give an array on the GPU"):
        kernel(*states, out=np.zeros(want.shape))
