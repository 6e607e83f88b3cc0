"""The plain calls keep derivatives: PyTorch's gradients and transformations, JAX's traces; what cannot, raises."""

import numpy as np
import pytest

import forearm as fa
from gradients.framework_cases import needs_jax, needs_torch, torch_of_old_words

pytestmark = torch_of_old_words
ARM = fa.load("rr")
PUSH = fa.Wrench((1.0, -2.0, 0.0))


@pytest.mark.more
@needs_torch
def test_torques_of_tensors_that_require_gradients():
    import torch

    state = ARM.random_state(5)
    q, qd, qdd = (torch.tensor(x, requires_grad=True) for x in state)
    tau = fa.inverse_dynamics(ARM, q, qd, qdd, wrench=PUSH)
    np.testing.assert_allclose(tau.detach(), fa.inverse_dynamics(ARM, *state, wrench=PUSH), atol=1e-13)
    by = torch.autograd.grad(tau.sum(), (q, qd, qdd))
    slopes = fa.derivatives(ARM, *state)
    pushes = [(fa.external_torque(ARM, state[0] + s, PUSH) - fa.external_torque(ARM, state[0] - s, PUSH)) / 2e-6
              for s in 1e-6 * np.eye(2)]  # fmt: skip
    np.testing.assert_allclose(by[0], slopes.dq.sum(axis=0) - np.sum(pushes, axis=1), atol=1e-7)
    np.testing.assert_allclose(by[1], slopes.dqd.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(by[2], fa.mass_matrix(ARM, state[0]).sum(axis=0), atol=1e-12)


@pytest.mark.more
@needs_torch
def test_the_second_derivative_that_once_was_silently_wrong():
    import torch

    q, qd, qdd = (torch.tensor(x) for x in ARM.random_state(5))
    q.requires_grad_()
    (slope,) = torch.autograd.grad((fa.inverse_dynamics(ARM, q, qd, qdd) ** 2).sum(), q, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), q)

    def first(q):
        tau = fa.inverse_dynamics(ARM, q, qd.numpy(), qdd.numpy())
        return (2 * tau @ fa.derivatives(ARM, q, qd.numpy(), qdd.numpy()).dq).sum()

    at = q.detach().numpy()
    want = [(first(at + s) - first(at - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(second, want, rtol=1e-7)


@pytest.mark.more
@needs_torch
def test_rates_maps_and_no_gradients_at_all():
    import torch
    from torch.autograd import forward_ad

    q = torch.tensor(ARM.random_state(5, (3,))[0])
    want = fa.gravity_torque(ARM, q.numpy())
    np.testing.assert_array_equal(torch.func.vmap(lambda x: fa.gravity_torque(ARM, x))(q), want)
    along = torch.ones_like(q)
    value, rate = torch.func.jvp(lambda x: fa.gravity_torque(ARM, x), (q,), (along,))
    np.testing.assert_array_equal(value, want)
    with forward_ad.dual_level():
        dual = forward_ad.unpack_dual(fa.gravity_torque(ARM, forward_ad.make_dual(q, along)))
        np.testing.assert_array_equal(dual.tangent, rate)
    still = [np.zeros((3, 2))] * 2
    np.testing.assert_allclose(rate, fa.derivatives(ARM, q.numpy(), *still).dq.sum(axis=-1), atol=1e-12)
    with torch.no_grad():
        assert not fa.gravity_torque(ARM, q.requires_grad_()).requires_grad


@pytest.mark.more
@needs_torch
def test_one_state_of_tensors_has_scalar_energies_and_a_verdict():
    import torch

    q, qd, tau = (torch.tensor(x) for x in ARM.random_state(5))
    assert fa.energy(ARM, q, qd).kinetic.shape == ()
    for given in (q, q.requires_grad_()):
        status = torch.ones((), dtype=torch.bool)
        fa.forward_dynamics(ARM, given, qd, tau, status=status)
        assert not status


@pytest.mark.more
@needs_torch
def test_what_would_lose_gradients_raises():
    import torch

    q, qd, qdd = (torch.tensor(x, requires_grad=True) for x in ARM.random_state(5))
    with pytest.raises(
        fa.StateFault, match=r"terms of rr: q is followed by PyTorch .* would lose its derivatives"
    ):
        fa.terms(ARM, q, qd, qdd)
    with pytest.raises(fa.StateFault, match=r"q is followed by PyTorch"):
        torch.func.vmap(lambda x: fa.terms(ARM, x, x, x).gravity)(q.detach()[None])
    with pytest.raises(fa.StateFault, match=r"out is given, and PyTorch follows the derivatives"):
        fa.gravity_torque(ARM, q, out=torch.zeros(2))


@needs_jax
def test_traces_of_jax_go_through():
    import jax

    q, qd, qdd = ARM.random_state(5)
    with jax.enable_x64(True):
        tau = jax.jit(lambda x: fa.inverse_dynamics(ARM, x, qd, qdd, wrench=PUSH))(q)
        np.testing.assert_allclose(tau, fa.inverse_dynamics(ARM, q, qd, qdd, wrench=PUSH), atol=1e-12)
        slope = jax.jacfwd(lambda x: fa.inverse_dynamics(ARM, x, qd, qdd))(q)
        np.testing.assert_allclose(slope, fa.derivatives(ARM, q, qd, qdd).dq, atol=1e-12)
        with pytest.raises(fa.StateFault, match=r"q is being traced by JAX .* would lose its derivatives"):
            jax.jit(lambda x: fa.terms(ARM, x, qd, qdd).gravity)(q)
        with pytest.raises(fa.StateFault, match=r"out is given, and JAX follows the derivatives"):
            jax.jit(lambda x: fa.gravity_torque(ARM, x, out=np.zeros(2)))(q)
