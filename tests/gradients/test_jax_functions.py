"""JAX: every quantity as its own operations, every transformation, any order; against plain calls and differences."""

import sys

import numpy as np
import pytest

import forearm as fa
from compiler.programs import random_graph, random_inputs
from gradients.framework_cases import FREE, QUANTITIES, needs_jax, parts, plain, state, weighed

pytestmark = needs_jax
ARM = fa.load("rr")


@pytest.fixture(autouse=True)
def _double_precision():
    import jax

    before = jax.config.jax_enable_x64  # not as a context, which callbacks in other threads do not see
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def differences(loss, values, k, step=1e-6):
    """d loss/d values[k] by central differences."""
    found = np.zeros(values[k].size)
    for j in range(values[k].size):
        shift = np.zeros(values[k].size)
        shift[j] = step
        ahead, behind = (
            [v + s * shift.reshape(v.shape) if i == k else v for i, v in enumerate(values)] for s in (1, -1)
        )
        found[j] = (loss(*ahead) - loss(*behind)) / (2 * step)
    return found.reshape(values[k].shape)


def check(arm, quantity, free=()):
    import jax

    function = fa.jax_function(arm, quantity, free=free)
    rows, one = state(arm, quantity, (3,)), state(arm, quantity)
    own = [fa.parameters(arm).reshape(-1, 10), np.zeros(10), np.array(arm.gravity)] if free else []
    along = (0,) * len(rows) + (None,) * len(own)
    both = jax.jit(lambda *values: (function(*values), jax.vmap(function, along)(*values)))
    for found in both(*rows, *own):
        for got, want in zip(parts(found), plain(arm, quantity, *rows), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    values = [*one, *own]
    loss, every = jax.jit(weighed(function)), tuple(range(len(values)))
    gradient = jax.jit(jax.grad(loss, every))
    for k, slope in enumerate(gradient(*values)):
        want = differences(loss, values, k)
        np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-6 * (1 + np.max(np.abs(want))))
    twice = jax.jit(jax.hessian(loss))(*values)
    pairs = [[gradient(one[0] + s, *values[1:])[0] for s in (step, -step)] for step in 1e-6 * np.eye(arm.n)]
    want = np.stack([(ahead - behind) / 2e-6 for ahead, behind in pairs])
    np.testing.assert_allclose(twice, want, rtol=1e-6, atol=1e-6 * (1 + np.max(np.abs(want))))


@pytest.mark.more
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_quantity_to_the_second_order(quantity):
    check(ARM, quantity)


@pytest.mark.more
def test_torques_by_their_parameters():
    check(ARM, "inverse_dynamics", FREE)


@pytest.mark.more
def test_every_operation_of_a_graph():
    from forearm.compiler.graph.interpreter import interpret
    from forearm.compiler.sources.jax_operations import step_program, to_jax

    for seed in range(3):
        graph = random_graph(seed, fma=True)
        values = random_inputs(graph, seed)
        np.testing.assert_allclose(to_jax(graph)(*values.values()), interpret(graph, values)["y"], rtol=1e-12)
        program = step_program(graph)
        assert program.steps >= 1
        assert (
            max(int(x.max()) for x in program.operands.values())
            < program.first + program.steps * program.stride
        )


@pytest.mark.more
def test_a_simulation_by_scan_is_differentiated():
    """RK4 is ours; a semi-implicit Euler of ten steps by lax.scan, and its slope by the first torque."""
    import jax
    import jax.numpy as jnp

    def run(tau):
        def step(now, _):
            q, qd = now
            qd = qd + 0.01 * fa.forward_dynamics(ARM, q, qd, tau)
            return (q + 0.01 * qd, qd), q

        return jax.lax.scan(step, (jnp.array([0.3, -0.2]), jnp.zeros(2)), length=10)[0][0].sum()

    def by_hand(tau):
        q, qd = np.array([0.3, -0.2]), np.zeros(2)
        for _ in range(10):
            qd = qd + 0.01 * fa.forward_dynamics(ARM, q, qd, tau)
            q = q + 0.01 * qd
        return q.sum()

    tau = np.array([1.0, 2.0])
    value, slope = jax.jit(jax.value_and_grad(run))(tau)
    np.testing.assert_allclose(value, by_hand(tau), rtol=1e-13)
    np.testing.assert_allclose(slope, differences(by_hand, [tau], 0), rtol=1e-7)


def test_single_precision_stays_single():
    import jax.numpy as jnp

    values = [jnp.asarray(x, jnp.float32) for x in state(ARM, "inverse_dynamics", (3,))]
    tau = fa.jax_function(ARM)(*values)
    assert tau.dtype == jnp.float32
    np.testing.assert_allclose(tau, fa.inverse_dynamics(ARM, *map(np.asarray, values)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "quantity",
    [
        pytest.param("inverse_dynamics", marks=pytest.mark.soak),
        pytest.param("forward_dynamics", marks=pytest.mark.more),
    ],
)
def test_our_kernels_inside_jax_are_differentiated_twice(quantity):
    import jax

    native, kernel = fa.jax_function(ARM, quantity), fa.jax_function(ARM, quantity, compiled=True)
    one, rows = state(ARM, quantity), state(ARM, quantity, (4,))
    np.testing.assert_allclose(jax.jit(kernel)(*rows), native(*rows), rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(kernel)(*rows), native(*rows), rtol=1e-12)
    slopes, twice = (
        [jax.jit(how(weighed(f)))(*one) for f in (kernel, native)] for how in (jax.grad, jax.hessian)
    )
    np.testing.assert_allclose(*slopes, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(*twice, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_taken_is_said():
    import jax.numpy as jnp

    function, zero = fa.jax_function(ARM), jnp.zeros(2)
    with pytest.raises(fa.StateFault, match=r"qd has shape \(1,\), but arm 'rr' has 2 joints"):
        function(zero, jnp.zeros(1), zero)
    with pytest.raises(fa.StateFault, match="qd is a dict; give JAX's arrays, or plain numbers"):
        function(zero, {"q1": 0.0}, zero)
    with pytest.raises(fa.KernelFault, match=r"compiled=True is for inverse_dynamics and forward_dynamics"):
        fa.jax_function(ARM, "mass_matrix", compiled=True)


def test_without_jax_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(fa.KernelFault, match=r"pip install 'forearm\[jax\]'"):
        fa.jax_function(ARM)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_no_batch_of_real_numbers_gets_its_sentence(compiled):
    function = fa.jax_function(fa.load("rr"), compiled=compiled)
    assert function(*[np.zeros((0, 2))] * 3).shape == (0, 2)
    assert function(np.zeros((5, 1, 2)), np.zeros((1, 4, 2)), np.zeros(2)).shape == (5, 4, 2)
    with pytest.raises(
        fa.StateFault, match=r"the batch axes of q \(5, 2\), qd \(4, 2\), qdd \(2,\) do not broadcast"
    ):
        function(np.zeros((5, 2)), np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(fa.StateFault, match="q is a NoneType; give JAX's arrays"):
        function(None, np.zeros(2), np.zeros(2))
    with pytest.raises(fa.StateFault, match="qd is complex"):
        function(np.zeros(2), np.zeros(2) + 1j, np.zeros(2))


def test_an_array_that_was_donated_ended_in_an_error_of_jax():
    """It was: object of type 'NoneType' has no len()."""
    import jax

    row = jax.numpy.ones((3, 2))
    given = row + 1
    given.delete()
    with pytest.raises(fa.StateFault, match="qd is an array of JAX whose memory was given back"):
        fa.inverse_dynamics(ARM, row, given, row)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_no_array_is_made_of_gets_one_sentence(compiled):
    import jax

    function, row = fa.jax_function(ARM, compiled=compiled), jax.numpy.ones((3, 2))
    for odd in (
        [[1, 2], [1]],
        ["x", "y"],
        [10**400, 1],
        np.array([None, 1]),
        np.zeros(2, "M8[s]"),
        np.zeros(2, "V8"),
    ):
        with pytest.raises(fa.StateFault, match=r"qd is no array of numbers .*; give rows of numbers"):
            function(row, odd, row)
    for odd in (row.astype("float8_e4m3fn"), jax.random.split(jax.random.key(0), 2)):
        with pytest.raises(fa.StateFault, match=r"qd is .*; give real numbers"):
            function(row, odd, row)
    with pytest.raises(fa.StateFault, match="give an Arm"):
        fa.jax_function("rr")


@pytest.mark.parametrize("compiled", [False, True], ids=["its own operations", "our kernels"])
def test_calls_and_gradients_outside_jit_were_compiled_anew_each_and_kept_for_ever(compiled, caplog):
    """A thousand plain calls of our kernels took 1.5 GB, sixty gradients 250 MB."""
    import jax

    function = fa.jax_function(ARM, "inverse_dynamics", compiled=compiled)
    values = state(ARM, "inverse_dynamics")

    def call():
        function(*values)
        jax.grad(lambda q: function(q, *values[1:]).sum())(values[0])
        jax.grad(lambda q: fa.inverse_dynamics(ARM, q, *values[1:]).sum())(values[0])

    call()
    with jax.log_compiles():
        call()
    assert [record.message for record in caplog.records if "compil" in record.message.lower()] == []
