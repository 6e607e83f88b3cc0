"""Second derivatives against a closed form, 50-digit differences, CasADi's Hessians, and each other."""

import mpmath
import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from close import assert_close
from forearm.readers import known_arms

PLACES = {"dqq": (0, 0), "dqdqd": (1, 1), "dqqd": (0, 1), "dqqdd": (0, 2), "dqtau": (0, 2)}
WHOLE = {
    fa.second_derivatives: (fa.inverse_dynamics, fa.hessian_times),
    fa.second_forward_derivatives: (fa.forward_dynamics, fa.forward_hessian_times),
}
MIXED = "differences of second derivatives and M⁻¹ of an ill-conditioned M"


def exact(x):
    return np.vectorize(mpmath.mpf, otypes=[object])(x)


def mixed_difference(function, arm, state, u, v):
    """d² f(x + a u + b v) / da db in 50 digits, by central differences: exact to 1e-20."""
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -13

        def at(a, b):
            moved = [
                exact(x) + a * step * exact(y) + b * step * exact(z)
                for x, y, z in zip(state, u, v, strict=True)
            ]
            return function(arm, *moved)

        found = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * step**2)
        return np.array(found, dtype=float)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    return [[rng.uniform(-1, 1, n) for _ in range(3)] for _ in range(3)], rng.uniform(-1, 1, n)


def hold(arm, whole, tensors=True):
    """Every block along two random directions, which no wrong element survives; weighted and times a direction."""
    function, times = WHOLE[whole]
    (state, u, v), weights = sample(arm.n, 3)
    weighted = whole(arm, *state, weights=weights)
    full = whole(arm, *state) if tensors else None
    zero = np.zeros(arm.n)
    for name in weighted._fields:
        a, b = PLACES[name]
        along, across = (
            [x if k == place else zero for k, x in enumerate(w)] for place, w in ((a, u), (b, v))
        )
        want = mixed_difference(function, arm, state, along, across)
        scale = np.abs(want).max()
        got = u[a] @ getattr(weighted, name) @ v[b]
        assert abs(got - weights @ want) <= 1e-10 * scale
        if full is not None:
            assert_close(np.einsum("ijk,j,k->i", getattr(full, name), u[a], v[b]), want, 2000, because=MIXED)
    want = weights @ mixed_difference(function, arm, state, u, v)
    product = times(arm, *state, weights, tuple(v))
    assert abs(sum(x @ y for x, y in zip(product, u, strict=True)) - want) <= 1e-10 * max(1.0, abs(want))


@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
def test_fifty_digits(whole):
    hold(random_arm(2, 5, "RP", flips=True), whole)


@pytest.mark.more
@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
def test_fifty_digits_on_a_puma(whole):
    hold(fa.load("puma560"), whole, tensors=False)


@pytest.mark.soak
@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", [name for name in known_arms() if fa.load(name).dynamics])
def test_fifty_digits_on_every_built_in_arm(name, whole):
    hold(fa.load(name), whole)


def test_two_links_by_hand():
    """tau_1 of a planar 2R arm, differentiated on paper: only cos q2 and the weights' cosines vary."""
    arm = fa.load("rr").without_drives()
    q, qd, qdd = np.array([0.4, -1.1]), np.array([0.7, 1.3]), np.array([-0.5, 2.1])
    d = fa.second_derivatives(arm, q, qd, qdd)
    k = -(fa.mass_matrix(arm, q)[0, 0] - fa.mass_matrix(arm, [0.4, np.pi / 2])[0, 0]) / np.cos(q[1])
    s, c = np.sin(q[1]), np.cos(q[1])  # M11 = const - k cos q2, M12 = const - k/2 cos q2, h = k/2 sin q2
    assert_close(d.dqqdd[0, 1], [k * s, k / 2 * s], scale=abs(k))
    assert_close(d.dqdqd[0], [[0.0, k * s], [k * s, k * s]], scale=abs(k))
    assert_close(d.dqqd[0, 1], [k * c * qd[1], k * c * (qd[0] + qd[1])], scale=4 * abs(k))
    assert_close(d.dqqdd[:, 0], np.zeros((2, 2)), scale=abs(k))
    rigid = fa.gravity_torque(arm, q)
    straight = k * c * (qdd[0] + qdd[1] / 2) - k * s * (qd[0] * qd[1] + qd[1] ** 2 / 2)
    assert_close(d.dqq[0, 1, 1], straight - rigid[1], scale=60.0)
    assert_close(d.dqq[0, 0, 0], -rigid[0], scale=60.0)


def test_equal_casadis_hessians():
    casadi = pytest.importorskip("casadi")
    arm = random_arm(2, 8, "RR")
    (state, _, _), weights = sample(2, 4)
    for whole, (function, _) in WHOLE.items():
        symbols = [casadi.SX.sym(name, 2) for name in ("a", "b", "c")]
        value = fa.casadi_function(arm, function.__name__)(*symbols)
        hessian = casadi.hessian(casadi.dot(casadi.DM(weights), value), casadi.vertcat(*symbols))[0]
        want = np.array(casadi.Function("h", symbols, [hessian])(*state))
        ours = whole(arm, *state, weights=weights)
        for name, block in zip(ours._fields, ours, strict=True):
            a, b = PLACES[name]
            rows, columns = slice(2 * a, 2 * a + 2), slice(2 * b, 2 * b + 2)
            assert_close(block, want[rows, columns], 1000, scale=np.abs(want).max(), because=MIXED)
            want[rows, columns] = want[columns, rows] = 0.0
        assert np.abs(want).max() == 0.0, "a block that is not zero is missing"


@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
def test_whole_and_weighted_agree_and_are_symmetric(whole):
    arm = random_arm(2, 6, "PR")
    state, weights = arm.random_state(2, (5,)), np.random.default_rng(0).uniform(-1, 1, (5, 2))
    full, weighted = whole(arm, *state), whole(arm, *state, weights=weights)
    for name, tensor, matrix in zip(full._fields, full, weighted, strict=True):
        want = np.einsum("...i,...ijk->...jk", weights, tensor)
        assert_close(matrix, want, 1000, scale=np.abs(tensor).max(), because=MIXED)
        if PLACES[name] in ((0, 0), (1, 1)):
            assert np.array_equal(tensor, np.swapaxes(tensor, -1, -2))
            assert np.array_equal(matrix, np.swapaxes(matrix, -1, -2))


def test_laws_between_blocks():
    """d M/d q is symmetric in the joints of M, and the part of the speeds is twice Christoffel's."""
    arm = random_arm(3, 2, "RRP")
    q, qd, qdd = arm.random_state(1)
    d = fa.second_derivatives(arm.without_drives(), q, qd, qdd)
    assert_close(d.dqqdd, np.swapaxes(d.dqqdd, 0, 2), scale=np.abs(d.dqqdd).max())
    assert_close(d.dqdqd, 2 * fa.christoffel(arm, q), scale=np.abs(d.dqqdd).max())


@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
def test_batches_out_and_threads(whole):
    arm = random_arm(2, 3, "RR")
    state, weights = arm.random_state(4, (37,)), [1.0, -0.5]
    for options in ({}, {"weights": weights}):
        want = whole(arm, *state, **options)
        out = tuple(np.full_like(x, np.nan) for x in want)
        assert whole(arm, *state, out=out, threads=2, **options) is not None
        assert all(np.array_equal(a, b) for a, b in zip(out, want, strict=True))
        one = whole(arm, *(x[5] for x in state), **options)
        for a, b in zip(one, want, strict=True):
            assert_close(a, b[5], scale=max(1.0, np.abs(b).max()))


def test_a_singular_arm_is_named():
    rod = dict(mass=1.0, com=(-0.5, 0, 0), inertia=fa.Inertia.rod(1.0, 1.0))
    links = [fa.Link.dh("revolute", a=1.0, name="hip", **rod), fa.Link("revolute", name="wrist")]
    with pytest.raises(fa.SingularInertia, match="wrist"):
        fa.second_forward_derivatives(fa.Arm("stub", links), [0, 0], [0, 0], [0, 0], weights=[1, 1])


def test_what_does_not_fit_is_said():
    arm = fa.load("rr")
    zero = np.zeros(2)
    with pytest.raises(fa.StateFault, match=r"weights has shape \(3,\), but arm 'rr' has 2 joints"):
        fa.second_derivatives(arm, zero, zero, zero, weights=np.ones(3))
    with pytest.raises(fa.StateFault, match=r"along is a ndarray; give the direction as three arrays"):
        fa.hessian_times(arm, zero, zero, zero, zero, np.zeros((3, 2)))
    with pytest.raises(fa.StateFault, match=r"along_qd has shape \(1,\)"):
        fa.hessian_times(arm, zero, zero, zero, zero, (zero, np.zeros(1), zero))
