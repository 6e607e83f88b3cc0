"""PyTorch: every quantity, every transformation, any order; against differences and against CasADi."""

import copy
import pickle
import sys

import numpy as np
import pytest

import forearm as fa
from gradients.framework_cases import (
    FREE,
    QUANTITIES,
    needs_torch,
    parts,
    plain,
    state,
    torch_of_old_words,
    weighed,
)

pytestmark = [needs_torch, torch_of_old_words, pytest.mark.more]
ARM = fa.load("rr")


def tensors(values, **how):
    import torch

    return [torch.tensor(x, **how) for x in values]


def check(arm, quantity, free=()):
    """Values, gradients backwards and forwards, their own gradients both ways, and torch.func."""
    import torch
    from torch.autograd import gradcheck, gradgradcheck
    from torch.func import hessian, jacfwd, jacrev, vmap

    function = fa.torch_function(arm, quantity, free=free)
    rows = tensors(state(arm, quantity, (2,)), requires_grad=True)
    if "inertial" in free:
        own = [fa.parameters(arm).reshape(-1, 10), np.zeros(10), np.array(arm.gravity)]
        rows += tensors(own, requires_grad=True)
    else:
        for got, want in zip(
            parts(function(*rows)), plain(arm, quantity, *(x.detach().numpy() for x in rows)), strict=True
        ):
            np.testing.assert_array_equal(got.detach().numpy(), want)
    assert gradcheck(function, rows, fast_mode=True, check_forward_ad=True, rtol=1e-4, atol=1e-6)
    assert gradgradcheck(function, rows, fast_mode=True, check_fwd_over_rev=True, rtol=1e-4, atol=1e-6)
    loss, every = weighed(function), tuple(range(len(rows)))
    one = [x.detach()[0] if k < QUANTITIES[quantity] else x.detach() for k, x in enumerate(rows)]
    for back, ahead in zip(jacrev(loss, every)(*one), jacfwd(loss, every)(*one), strict=True):
        torch.testing.assert_close(back, ahead, rtol=1e-10, atol=1e-9)
    twice = hessian(loss)(*one)
    torch.testing.assert_close(twice, jacrev(jacrev(loss))(*one), rtol=1e-10, atol=1e-9)
    along = (0,) * QUANTITIES[quantity] + (None,) * len(free)
    mapped = vmap(hessian(loss), along)(*(x.detach() for x in rows))
    torch.testing.assert_close(mapped[0], twice, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_quantity_to_the_second_order(quantity):
    check(ARM, quantity)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "energy"])
def test_every_quantity_by_its_parameters(quantity):
    check(ARM, quantity, FREE)


def test_the_second_derivative_is_that_of_casadi_and_of_differences():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed")
    import torch

    q, qd, qdd = tensors(ARM.random_state(1))
    found = torch.func.hessian(weighed(fa.torch_function(ARM)))(q, qd, qdd).numpy()
    torque = fa.casadi_function(ARM)
    x = [casadi.SX.sym(k, 2) for k in ("q", "qd", "qdd")]
    loss = 1.5 * casadi.sumsqr(torque(*x))
    want = casadi.Function("H", x, [casadi.hessian(loss, x[0])[0]])(q.numpy(), qd.numpy(), qdd.numpy()).full()
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-10)

    def slope(q):
        tau = fa.inverse_dynamics(ARM, q, qd.numpy(), qdd.numpy())
        return 3 * tau @ fa.derivatives(ARM, q, qd.numpy(), qdd.numpy()).dq

    for k, step in enumerate(1e-6 * np.eye(2)):
        difference = (slope(q.numpy() + step) - slope(q.numpy() - step)) / 2e-6
        np.testing.assert_allclose(found[k], difference, rtol=1e-6, atol=1e-5)


def test_slopes_by_all_ten_parameters_are_the_regressor():
    import torch

    arm, quantity = ARM, "inverse_dynamics"
    q, qd, qdd = tensors(arm.random_state(4, (5,)))
    own = torch.tensor(fa.parameters(arm).reshape(-1, 10))
    function = fa.torch_function(arm.without_drives(), quantity, free=("inertial",))
    found = torch.func.vmap(torch.func.jacrev(function, 3), (0, 0, 0, None))(q, qd, qdd, own)
    want = fa.regressor(arm, q.numpy(), qd.numpy(), qdd.numpy())
    np.testing.assert_allclose(found.reshape(5, 2, 20).numpy(), want, atol=1e-12)
    rows = fa.torch_function(arm.without_drives(), quantity, free=("inertial",))(
        q, qd, qdd, own.expand(5, 2, 10)
    )
    np.testing.assert_allclose(rows.numpy(), want @ own.numpy().ravel(), atol=1e-11)


def test_single_precision_batches_that_broadcast_and_none_at_all():
    import torch

    q, qd, qdd = tensors(ARM.random_state(2, (4, 3)))
    function = fa.torch_function(ARM)
    want = fa.inverse_dynamics(ARM, q.numpy(), qd.numpy()[:, :1], qdd.numpy()[0])
    torch.testing.assert_close(function(q, qd[:, :1], qdd[0]), torch.from_numpy(want))
    narrow = [x.float().requires_grad_() for x in (q, qd, qdd)]
    tau = function(*narrow)
    assert tau.dtype == torch.float32
    (slope,) = torch.autograd.grad(tau.sum(), narrow[0])
    assert slope.dtype == torch.float32
    assert slope.shape == (4, 3, 2)
    assert function(q[:0], qd[:0], qdd[:0]).shape == (0, 3, 2)
    shared = qd[0, 0].clone().requires_grad_()  # one speed for all states: their slopes add up
    (total,) = torch.autograd.grad(function(q, shared, qdd).sum(), shared)
    by = fa.derivatives(ARM, q.numpy(), np.broadcast_to(shared.detach().numpy(), (4, 3, 2)), qdd.numpy()).dqd
    np.testing.assert_allclose(total.numpy(), by.sum(axis=(0, 1, 2)), atol=1e-10)


def test_models_that_hold_one_are_copied_and_saved():
    q = tensors(state(ARM, "gravity_torque"))
    function = fa.torch_function(ARM, "gravity_torque")
    assert "gravity_torque of rr: (q[2])" in repr(function)
    for other in (copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        np.testing.assert_array_equal(other(*q).numpy(), function(*q).numpy())


def test_what_cannot_be_taken_is_said():
    import torch

    function, zero = fa.torch_function(ARM), torch.zeros(2)
    with pytest.raises(fa.StateFault, match=r"qd has shape \(1,\), but arm 'rr' has 2 joints"):
        function(zero, torch.zeros(1), zero)
    with pytest.raises(fa.StateFault, match=r"got 2 arrays; give 3: q, qd, qdd"):
        function(zero, zero)
    with pytest.raises(fa.StateFault, match="qd is an ndarray; give PyTorch's arrays, or plain numbers"):
        function(zero, np.zeros(2), zero)
    with pytest.raises(
        fa.StateFault, match=r"tensors are torch.float16; give torch.float64 or torch.float32"
    ):
        function(*[zero.half()] * 3)
    with pytest.raises(fa.StateFault, match=r"the batch axes of q \(3, 2\), qd \(4, 2\).* do not broadcast"):
        function(torch.zeros(3, 2), torch.zeros(4, 2), zero)
    with pytest.raises(fa.StateFault, match=r"no tensor among its arguments"):
        function([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(fa.StateFault, match="tensors are on meta"):
        function(*[torch.zeros(2, device="meta")] * 3)
    loaded = fa.torch_function(ARM, "gravity_torque", free=("inertial",))
    with pytest.raises(fa.StateFault, match=r"inertial has shape \(10,\); give \(2, 10\) or a batch"):
        loaded(zero, torch.zeros(10))


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(fa.KernelFault, match=r"pip install 'forearm\[torch\]'"):
        fa.torch_function(ARM)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_that_are_no_plain_rows_get_one_sentence():
    """They were errors of PyTorch's, some of them internal."""
    import torch

    function, row = fa.torch_function(ARM), torch.ones(3, 2, dtype=torch.float64)
    nested = torch.nested.nested_tensor([row[:1], row])
    for odd, kind in ((row.to_sparse(), "torch.sparse_coo"), (nested, "nested")):
        with pytest.raises(fa.StateFault, match=f"q is {kind}; give a dense tensor"):
            function(odd, row, row)
    for odd in ([[1, 2], [1]], ["a", "b"], [10**400, 1], [row[0], row[1]]):
        with pytest.raises(fa.StateFault, match=r"qd is no array of numbers .*; give rows of numbers"):
            function(row, odd, row)
    with pytest.raises(fa.StateFault, match="give an Arm"):
        fa.torch_function("rr")


def test_a_single_free_number_beside_one_state_had_no_size_to_expand_to():
    import torch

    arm = fa.load("rr")
    q, qd, qdd = tensors(arm.random_state(3))
    function = fa.torch_function(arm, free=("links[1].mass",))
    mass = torch.tensor(float(arm.links[1].mass), dtype=torch.float64, requires_grad=True)
    tau = function(q, qd, qdd, mass)
    torch.testing.assert_close(tau.detach(), fa.inverse_dynamics(arm, q, qd, qdd), rtol=1e-12, atol=1e-12)
    by_mass = torch.stack([torch.autograd.grad(part, mass, retain_graph=True)[0] for part in tau])
    above, below = (
        function(q, qd, qdd, torch.tensor(mass.item() + s, dtype=torch.float64)) for s in (0.5, -0.5)
    )
    torch.testing.assert_close(by_mass, above - below, rtol=1e-11, atol=1e-11)  # torques are linear in a mass
    both = torch.func.vmap(function, (0, 0, 0, None))(*(x.expand(4, 2) for x in (q, qd, qdd)), mass.detach())
    torch.testing.assert_close(both[3], tau.detach())
    each = torch.func.vmap(function, (None, None, None, 0))(q, qd, qdd, mass.detach().expand(5))
    torch.testing.assert_close(each[4], tau.detach())
    assert torch.func.hessian(lambda m: (function(q, qd, qdd, m) ** 2).sum())(mass.detach()) > 0
