"""Exact gradients of every quantity on the GPU: PyTorch's transformations, JAX's operations, plain calls."""

import importlib.util

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.cuda.device import missing_gpu
from gradients.framework_cases import (
    QUANTITIES,
    needs_torch,
    parts,
    plain,
    state,
    torch_of_old_words,
    weighed,
)

needs_gpu = pytest.mark.skipif(missing_gpu() is not None, reason=f"no GPU: {missing_gpu()}")
ARM = fa.load("puma560")


def gpu_of_jax():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    import jax

    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("JAX sees no GPU")


def on_gpu(values, **how):
    import torch

    return [torch.tensor(x, device="cuda", **how) for x in values]


@needs_gpu
@needs_torch
@torch_of_old_words
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_torch_to_the_second_order(quantity):
    import torch
    from torch.autograd import gradcheck, gradgradcheck
    from torch.func import hessian, jacfwd, jacrev, vmap

    function = fa.torch_function(ARM, quantity)
    rows = on_gpu(state(ARM, quantity, (3,)), requires_grad=True)
    want = plain(ARM, quantity, *(x.detach().cpu().numpy() for x in rows))
    for got, right in zip(parts(function(*rows)), want, strict=True):
        assert got.device.type == "cuda"
        np.testing.assert_allclose(got.detach().cpu(), right, rtol=1e-9, atol=1e-9)
    # the GPU adds atomically where PyTorch sums: the same to rounding, not to the bit
    loose = {"fast_mode": True, "rtol": 1e-3, "atol": 1e-4, "nondet_tol": 1e-9}
    assert gradcheck(function, rows, check_forward_ad=True, **loose)
    assert gradgradcheck(function, rows, check_fwd_over_rev=True, **loose)
    loss, every = weighed(function), tuple(range(len(rows)))
    one = [x.detach()[0] for x in rows]
    for back, ahead in zip(jacrev(loss, every)(*one), jacfwd(loss, every)(*one), strict=True):
        torch.testing.assert_close(back, ahead, rtol=1e-9, atol=1e-7)
    twice = hessian(loss)(*one)
    here = hessian(weighed(fa.torch_function(ARM, quantity)))(*(x.cpu() for x in one))
    torch.testing.assert_close(twice.cpu(), here, rtol=1e-8, atol=1e-7)
    mapped = vmap(hessian(loss))(*(x.detach() for x in rows))
    torch.testing.assert_close(mapped[0], twice, rtol=1e-8, atol=1e-7)


@needs_gpu
@needs_torch
def test_parameters_and_plain_calls_on_the_gpu():
    import torch

    q, qd, qdd = on_gpu(ARM.random_state(4, (100,)), requires_grad=True)
    own = torch.tensor(fa.parameters(ARM).reshape(-1, 10), device="cuda", requires_grad=True)
    tau = fa.torch_function(ARM.without_drives(), free=("inertial",))(q, qd, qdd, own)
    (slope,) = torch.autograd.grad(tau.sum(), own)
    rows = fa.regressor(ARM, *(x.detach().cpu().numpy() for x in (q, qd, qdd)))
    np.testing.assert_allclose(slope.cpu().numpy().ravel(), rows.sum(axis=(0, 1)), rtol=1e-9, atol=1e-7)
    (plain_slope,) = torch.autograd.grad(fa.inverse_dynamics(ARM, q, qd, qdd).sum(), q)
    want = fa.derivatives(ARM, *(x.detach().cpu().numpy() for x in (q, qd, qdd))).dq.sum(axis=1)
    np.testing.assert_allclose(plain_slope.cpu(), want, rtol=1e-9, atol=1e-8)


@needs_gpu
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_jax_to_the_second_order(quantity):
    device = gpu_of_jax()
    import jax

    with jax.enable_x64(True):
        function = fa.jax_function(ARM, quantity)
        rows = [jax.device_put(x, device) for x in state(ARM, quantity, (3,))]
        want = plain(ARM, quantity, *map(np.asarray, rows))
        for mapped in (jax.jit(function), jax.jit(jax.vmap(function))):
            for got, right in zip(parts(mapped(*rows)), want, strict=True):
                assert got.devices() == {device}
                np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)
        one = [x[0] for x in rows]
        twice = jax.jit(jax.hessian(weighed(function)))(*one)
        slope = jax.jit(jax.grad(weighed(function)))
        step = 1e-6 * np.eye(ARM.n)
        want = np.stack([(slope(one[0] + s, *one[1:]) - slope(one[0] - s, *one[1:])) / 2e-6 for s in step])
        np.testing.assert_allclose(twice, want, rtol=1e-5, atol=1e-5 * (1 + np.max(np.abs(want))))
