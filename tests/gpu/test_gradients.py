"""Exact gradients inside PyTorch and JAX, against finite differences."""

import importlib.util

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.cuda.device import missing_gpu
from forearm.gradients import jax_function, torch_function
from forearm.readers import load

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(missing_gpu() is not None, reason="no GPU"))]


def test_only_quantities_with_a_rule():
    with pytest.raises(
        fa.KernelFault, match="no derivative rule for 'mass_matrix'; there are inverse_dynamics"
    ):
        torch_function(load("rr"), "mass_matrix")


@needs_torch
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_torch(quantity, device):
    import torch

    arm = load("puma560")
    function = torch_function(arm, quantity)
    inputs = [torch.tensor(x, device=device, requires_grad=True) for x in arm.random_state(3, (3,))]
    assert torch.autograd.gradcheck(function, inputs, rtol=1e-4, atol=1e-5)


@needs_jax
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_jax(quantity):
    import jax

    jax.config.update("jax_enable_x64", True)
    arm = load("puma560")
    function = jax_function(arm, quantity)
    state = arm.random_state(4)
    value = {"inverse_dynamics": fa.inverse_dynamics, "forward_dynamics": fa.forward_dynamics}[quantity]
    assert np.allclose(jax.jit(function)(*state), value(arm, *state), rtol=1e-13)
    slopes = jax.jacfwd(function, argnums=(0, 1, 2))(*state)
    for k, slope in enumerate(slopes):
        for j in range(arm.n):
            step = np.zeros(arm.n)
            step[j] = 1e-6
            ahead, behind = ([x + s * step if i == k else x for i, x in enumerate(state)] for s in (1, -1))
            want = (value(arm, *ahead) - value(arm, *behind)) / 2e-6
            assert np.allclose(
                np.asarray(slope)[:, j], want, rtol=1e-5, atol=1e-6 * np.max(np.abs(want)) + 1e-6
            )
    rows = arm.random_state(5, (4,))
    assert np.allclose(jax.vmap(function)(*rows), value(arm, *rows), rtol=1e-12)


@needs_torch
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_a_second_derivative_through_torch_raises(quantity, device):
    import torch

    arm = load("rr")
    function = torch_function(arm, quantity)
    q, qd, last = (torch.tensor(x, device=device, requires_grad=True) for x in arm.random_state(3))
    loss = (function(q, qd, last) ** 2).sum()
    (slope,) = torch.autograd.grad(
        loss, q, create_graph=True
    )  # a gradient that is not differentiated is right
    with pytest.raises(fa.KernelFault, match="second derivative was asked for"):
        torch.autograd.grad(slope.sum(), q)


@needs_jax
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_a_second_derivative_through_jax_raises(quantity):
    import jax

    jax.config.update("jax_enable_x64", True)
    arm = load("rr")
    function = jax_function(arm, quantity)
    q, *rest = (jax.numpy.asarray(x) for x in arm.random_state(3))

    def loss(q):
        return (function(q, *rest) ** 2).sum()

    assert np.isfinite(jax.grad(loss)(q)).all()
    for twice in (jax.hessian(loss), jax.jacrev(jax.grad(loss)), jax.jit(jax.jacfwd(jax.jacfwd(loss)))):
        with pytest.raises(fa.KernelFault, match="second derivative was asked for"):
            twice(q)


@needs_torch
def test_one_number_is_not_stretched_over_all_joints_of_torch():
    import torch

    function = torch_function(load("rr"))
    with pytest.raises(fa.StateFault, match=r"qd has shape \(1,\), but arm 'rr' has 2 joints"):
        function(torch.zeros(2), torch.zeros(1), torch.zeros(2))


@needs_jax
def test_one_number_is_not_stretched_over_all_joints_of_jax():
    import jax.numpy as jnp

    function = jax_function(load("rr"))
    with pytest.raises(fa.StateFault, match=r"qd has shape \(1,\), but arm 'rr' has 2 joints"):
        function(jnp.zeros(2), jnp.zeros(1), jnp.zeros(2))
