"""The RR example, equations (1) to (33), each as printed, against the general formulations."""

import numpy as np
import pytest

from arms import GOLDEN
from close import assert_close
from forearm.arm import Arm
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.kinematics import jacobian_at, link_poses
from forearm.link import Link

EXTRA = GOLDEN["extra"]["RR_004"]
NUMBERS = {k: float(v) for k, v in EXTRA["params"].items()}
m1, m2, l1, l2, lc1, lc2, I1z, I2z, g = (
    NUMBERS[k] for k in ("m1", "m2", "l1", "l2", "lc1", "lc2", "I1z", "I2z", "g")
)
lagrange, newton = FORMULATIONS["euler_lagrange_notes"], FORMULATIONS["newton_euler_notes"]


def rr():
    """The notes' Denavit-Hartenberg table; gravity along -y_0."""
    links = [
        Link.dh(
            "revolute",
            a=l1,
            mass=m1,
            com=(lc1 - l1, 0, 0),
            inertia=Inertia.about_com(Ixx=0, Iyy=I1z, Izz=I1z),
        ),
        Link.dh(
            "revolute",
            a=l2,
            mass=m2,
            com=(lc2 - l2, 0, 0),
            inertia=Inertia.about_com(Ixx=0, Iyy=I2z, Izz=I2z),
        ),
    ]
    return Arm("rr", links, gravity=(0, -g, 0))


STATES = [
    tuple(np.array([float(x) for x in EXTRA[k]]) for k in ("q", "qd", "qdd")),
    (np.array([-2.0, 0.7]), np.array([1.5, -3.0]), np.array([4.0, -0.3])),
    (np.array([0.0, np.pi / 2]), np.array([0.0, 2.0]), np.array([0.0, 0.0])),
]


@pytest.fixture(params=range(3), ids=["golden", "fast", "square"])
def state(request):
    return STATES[request.param]


def trig(q):
    s1, c1, s2, c2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    return s1, c1, s2, c2, np.sin(q[0] + q[1]), np.cos(q[0] + q[1])


def test_jacobians_1_2(state):
    arm, q = rr(), state[0]
    s1, c1, _, _, s12, c12 = trig(q)
    J_w1, J_w2 = [[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 0], [1, 1]]
    J_v1 = [[-lc1 * s1, 0], [lc1 * c1, 0], [0, 0]]
    J_v2 = [[-lc2 * s12 - l1 * s1, -lc2 * s12], [lc2 * c12 + l1 * c1, lc2 * c12], [0, 0]]
    for number, J_v, J_w in ((1, J_v1, J_w1), (2, J_v2, J_w2)):
        R, p = link_poses(arm, q)[number]
        J = jacobian_at(arm, q, p + R @ arm.links[number - 1].about_com.center, number)
        assert_close(J, np.vstack([J_v, J_w]))
        linear, angular = lagrange.module.jacobians(arm, *lagrange.module._geometry(arm, q)[:3])
        for j in range(1, number + 1):  # the formulation keeps the columns of the joints below the link
            assert_close(linear[number][j], np.array(J_v)[:, j - 1])
            assert_close(angular[number][j], np.array(J_w)[:, j - 1])


def test_mass_matrix_3_to_7(state):
    _, _, _, c2, _, _ = trig(state[0])
    d11 = m2 * l1**2 + 2 * m2 * c2 * l1 * lc2 + m1 * lc1**2 + m2 * lc2**2 + I1z + I2z
    d12 = m2 * lc2**2 + l1 * m2 * c2 * lc2 + I2z
    d22 = m2 * lc2**2 + I2z
    assert_close(lagrange.mass_matrix(rr(), state[0]), [[d11, d12], [d12, d22]])


def test_christoffel_8_9(state):
    """c_ijk of the notes is ours with the output index k first."""
    h = l1 * lc2 * m2 * trig(state[0])[2]
    c = lagrange.christoffel(rr(), state[0])
    notes = {(i, j, k): c[k - 1, i - 1, j - 1] for i in (1, 2) for j in (1, 2) for k in (1, 2)}
    want = {(1, 1, 2): h, (1, 2, 1): -h, (2, 1, 1): -h, (2, 2, 1): -h}
    for index, value in notes.items():
        assert_close([value], [want.get(index, 0.0)], scale=l1 * lc2 * m2, label=f"c_{index}")


def test_coriolis_10_to_14(state):
    q, qd, _ = state
    h = l1 * lc2 * m2 * trig(q)[2]
    C = [[-h * qd[1], -h * qd[0] - h * qd[1]], [h * qd[0], 0.0]]
    assert_close(lagrange.coriolis_matrix(rr(), q, qd), C)


def test_potential_and_gravity_15_16(state):
    s1, c1, _, _, s12, c12 = trig(state[0])
    P = g * m2 * (lc2 * s12 + l1 * s1) + g * lc1 * m1 * s1
    assert_close([lagrange.module.potential(rr(), state[0])], [P], scale=g * m2)
    G = [g * m2 * (lc2 * c12 + l1 * c1) + g * lc1 * m1 * c1, g * lc2 * m2 * c12]
    assert_close(lagrange.gravity_torque(rr(), state[0]), G)


def u(state):
    """(32), (33) as printed."""
    q, (v1, v2), (a1, a2) = state
    _, c1, s2, c2, _, c12 = trig(q)
    u1 = (
        I1z * a1 + I2z * a1 + I2z * a2 + l1**2 * m2 * a1 + lc1**2 * m1 * a1 + lc2**2 * m2 * a1
        + lc2**2 * m2 * a2 + g * l1 * m2 * c1 + g * lc1 * m1 * c1 + g * lc2 * m2 * c12
        - l1 * lc2 * m2 * v2**2 * s2
        + 2 * l1 * lc2 * m2 * a1 * c2 + l1 * lc2 * m2 * a2 * c2 - 2 * l1 * lc2 * m2 * v1 * v2 * s2
    )  # fmt: skip
    u2 = I2z * (a1 + a2) + lc2 * m2 * (l1 * s2 * v1**2 + g * c12 + lc2 * (a1 + a2) + l1 * a1 * c2)
    return np.array([u1, u2])


def test_equations_of_motion_17_32_33(state):
    want, scale = u(state), 50.0
    for formulation in (lagrange, newton):
        assert_close(formulation.joint_torques(rr(), *state), want, scale=scale)


def test_golden_torque():
    want = [float(x) for x in EXTRA["tau"]]
    assert_close(u(STATES[0]), want)
    assert_close(newton.joint_torques(rr(), *STATES[0]), want)


def test_rotations_18(state):
    s1, c1, s2, c2, _, _ = trig(state[0])
    for link, q, s, c in zip(rr().links, state[0], (s1, s2), (c1, c2), strict=True):
        assert_close(link.rotation(q), [[c, -s, 0], [s, c, 0], [0, 0, 1]])


def test_forward_recursion_19_to_21(state):
    q, (v1, v2), (a1, a2) = state
    s1, c1, s2, c2, s12, c12 = trig(q)
    w, wd, a_c, a_e, gravity = newton.module.motion(rr(), *state)
    assert_close([w[1], w[2]], [[0, 0, v1], [0, 0, v1 + v2]])
    assert_close([wd[1], wd[2]], [[0, 0, a1], [0, 0, a1 + a2]], scale=5)
    assert_close([gravity[1], gravity[2]], [[-g * s1, -g * c1, 0], [-g * s12, -g * c12, 0]])
    assert_close(a_c[1], [-lc1 * v1**2, lc1 * a1, 0], scale=1)
    assert_close(a_e[1], [-l1 * v1**2, l1 * a1, 0], scale=1)
    x = l1 * a1 * s2 - lc2 * (v1 + v2) ** 2 - l1 * v1**2 * c2
    y = l1 * s2 * v1**2 + lc2 * (a1 + a2) + l1 * a1 * c2
    assert_close(a_c[2], [x, y, 0])


def test_backward_recursion_22_to_31(state):
    q, (v1, v2), (a1, a2) = state
    s1, c1, s2, c2, s12, c12 = trig(q)
    f, tau = newton.reactions(rr(), *state)
    f2x = m2 * (g * s12 - lc2 * (v1 + v2) ** 2 + l1 * a1 * s2 - l1 * v1**2 * c2)
    f2y = m2 * (l1 * s2 * v1**2 + g * c12 + lc2 * (a1 + a2) + l1 * a1 * c2)
    f1x = (
        g * (m1 + m2) * s1 - l1 * m2 * v1**2 - lc1 * m1 * v1**2 - lc2 * m2 * (a1 + a2) * s2
        - lc2 * m2 * (v1**2 + v2**2) * c2 - 2 * lc2 * m2 * v1 * v2 * c2
    )  # fmt: skip
    f1y = (
        -lc2 * m2 * s2 * v1**2 - 2 * lc2 * m2 * s2 * v1 * v2 - lc2 * m2 * s2 * v2**2 + g * m1 * c1
        + g * m2 * c1 + l1 * m2 * a1 + lc1 * m1 * a1 + lc2 * m2 * a1 * c2 + lc2 * m2 * a2 * c2
    )  # fmt: skip
    assert_close(f, [[f1x, f1y, 0], [f2x, f2y, 0]])
    assert_close(tau, [[0, 0, u(state)[0]], [0, 0, u(state)[1]]], scale=50)
