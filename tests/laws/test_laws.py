"""Laws that need no reference: each quantity that the registry declares obeys mechanics.

Where a law has a derivative in it, the formulation runs on sixty-digit numbers and the derivative is a central
difference with a step of 1e-18: good to 1e-34, so that the tolerance can be 1e-30.
"""

import mpmath
import numpy as np
import pytest

from agreement.exact import DIGITS, exact_arm
from arms import random_arm, random_body, random_rotation, seed_of
from close import assert_close
from forearm.energies import kinetic_energy, potential_energy
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.kinematics import frame_jacobian, frame_motion, link_poses
from forearm.link import combined
from forearm.strobing import strobe, strobed_mass_matrix, torques_of

STEP = mpmath.mpf(10) ** -18
TIGHT = mpmath.mpf(10) ** -30
LETTERS = {"RP": "RPR", "R": "RRR"}


def givers(quantity):
    """Formulations that give a quantity."""
    return [stem for stem, row in FORMULATIONS.items() if quantity in row.gives]


def strobable():
    """Formulations whose torques can be strobed."""
    return [stem for stem in givers("joint_torques") if not FORMULATIONS[stem].needs]


def float_case(stem, n=5):
    """An arm of the kinds that a formulation takes, on a tilted base, and a state."""
    arm = random_arm(n, seed_of(stem), FORMULATIONS[stem].joints, general=True, flips=True)
    return arm, *arm.random_state(seed_of(stem))


def exact_case(stem):
    """The same in sixty digits."""
    arm, state = exact_arm(LETTERS[FORMULATIONS[stem].joints])
    return arm, state.q, state.qd, state.qdd


def assert_tight(got, want, label):
    got, want = np.ravel(got), np.ravel(want)
    scale = max(abs(x) for x in want)
    error = max(abs(x - y) for x, y in zip(got, want, strict=True))
    assert error <= TIGHT * max(scale, 1), (
        f"{label}: off by {mpmath.nstr(error, 3)} (largest {mpmath.nstr(scale, 5)})"
    )


def mass_matrices():
    """Every way to M: formulations that give it, and strobing each that gives torques."""
    given = [pytest.param(stem, FORMULATIONS[stem].mass_matrix, id=stem) for stem in givers("mass_matrix")]

    def strobed(stem):
        return lambda arm, q: strobed_mass_matrix(arm, q, stem)

    return given + [pytest.param(stem, strobed(stem), id=f"{stem}, strobed") for stem in strobable()]


@pytest.mark.parametrize(("stem", "mass_matrix"), mass_matrices())
def test_mass_matrix_is_symmetric_positive_and_the_kinetic_energy(stem, mass_matrix):
    arm, q, qd, _ = float_case(stem)
    M = mass_matrix(arm, q)
    assert_close(M, M.T)
    assert np.all(np.linalg.eigvalsh((M + M.T) / 2) > 0)
    assert_close(qd @ M @ qd / 2, kinetic_energy(arm, q, qd))


def gravity_torques():
    """Every way to g: formulations that give it, and the torque at rest of each that gives torques."""
    given = [
        pytest.param(stem, FORMULATIONS[stem].gravity_torque, id=stem) for stem in givers("gravity_torque")
    ]

    def at_rest(stem):
        return lambda arm, q: torques_of(stem)(arm, q, 0 * q, 0 * q)

    return given + [
        pytest.param(stem, at_rest(stem), id=f"{stem}, at rest") for stem in givers("joint_torques")
    ]


@pytest.mark.parametrize(("stem", "gravity_torque"), gravity_torques())
def test_gravity_is_the_slope_of_the_potential(stem, gravity_torque):
    with mpmath.workdps(DIGITS + 10):
        arm, q, _, _ = exact_case(stem)
        slope = [
            (potential_energy(arm, q + h) - potential_energy(arm, q - h)) / (2 * STEP)
            for h in STEP * np.eye(arm.n, dtype=int)
        ]
        assert_tight(gravity_torque(arm, q), slope, f"{stem}: g and dV/dq on {arm.name}")


def coriolis_matrices():
    """Every way to C: formulations that give it, or the Christoffel symbols; strobing each that gives torques."""
    given = [pytest.param(s, FORMULATIONS[s].coriolis_matrix, id=s) for s in givers("coriolis_matrix")]

    def contracted(stem):
        return lambda arm, q, qd: FORMULATIONS[stem].christoffel(arm, q) @ qd

    def strobed(stem):
        return lambda arm, q, qd: strobe(arm, q, stem).C @ qd

    given += [pytest.param(s, contracted(s), id=f"{s}, christoffel") for s in givers("christoffel")]
    return given + [pytest.param(s, strobed(s), id=f"{s}, strobed") for s in strobable()]


@pytest.mark.parametrize(("stem", "coriolis_matrix"), coriolis_matrices())
def test_rate_of_mass_matrix_less_twice_coriolis_is_skew(stem, coriolis_matrix):
    with mpmath.workdps(DIGITS + 10):
        arm, q, qd, _ = exact_case(stem)
        ahead, behind = (strobed_mass_matrix(arm, q + h * qd) for h in (STEP, -STEP))
        rate = (ahead - behind) / (2 * STEP)
        C = coriolis_matrix(arm, q, qd)
        assert_tight(rate, C + C.T, f"{stem}: dM/dt and C + Cᵀ on {arm.name}")


@pytest.mark.parametrize("stem", givers("christoffel"))
def test_christoffel_symbols_are_symmetric_and_give_the_velocity_torques(stem):
    arm, q, qd, _ = float_case(stem)
    C = FORMULATIONS[stem].christoffel(arm, q)
    assert_close(C, C.transpose(0, 2, 1))
    weightless = arm.replace(gravity=(0.0, 0.0, 0.0))
    want = torques_of("luh_walker_paul_1980")(weightless, q, qd, 0 * q)
    assert_close(np.einsum("ijk,j,k", C, qd, qd), want)


@pytest.mark.parametrize("stem", givers("joint_torques"))
def test_power_is_the_rate_of_energy(stem):
    with mpmath.workdps(DIGITS + 10):
        arm, q, qd, qdd = exact_case(stem)

        def energy(t):
            where, speed = q + t * qd + t * t / 2 * qdd, qd + t * qdd
            return kinetic_energy(arm, where, speed) + potential_energy(arm, where)

        rate = (energy(STEP) - energy(-STEP)) / (2 * STEP)
        power = torques_of(stem)(arm, q, qd, qdd) @ qd
        assert_tight([power], [rate], f"{stem}: power and rate of energy on {arm.name}")


@pytest.mark.parametrize("stem", givers("joint_torques"))
def test_torques_are_linear_in_the_accelerations(stem):
    arm, q, qd, a = float_case(stem)
    b = a[::-1] - 2
    torques = torques_of(stem)
    at = {name: torques(arm, q, qd, x) for name, x in {"0": 0 * a, "a": a, "b": b, "sum": a + 3 * b}.items()}
    assert_close(at["sum"], at["a"] + 3 * (at["b"] - at["0"]))


@pytest.mark.parametrize("stem", givers("joint_torques"))
def test_torques_are_linear_in_the_inertial_parameters(stem):
    """The torques of two bodies fixed to each link are the sum of each one's torques."""
    arm, q, qd, qdd = float_case(stem)
    rng = np.random.default_rng(seed_of(stem) + 1)
    one, other, both = [], [], []
    for link in arm.links:
        body = link.replace(**random_body(rng))
        one.append(link)
        other.append(body)
        both.append(combined(link, *body.about_com))
    parts = [torques_of(stem)(arm.replace(links=tuple(links)), q, qd, qdd) for links in (one, other, both)]
    assert_close(parts[2], parts[0] + parts[1])


@pytest.mark.parametrize("stem", givers("joint_torques"))
def test_turning_base_and_gravity_together_changes_nothing(stem):
    arm, q, qd, qdd = float_case(stem)
    turn = random_rotation(np.random.default_rng(seed_of(stem)))
    turned = arm.replace(base=Pose(turn @ arm.base.R, arm.base.p), gravity=tuple(turn @ arm.gravity))
    assert_close(torques_of(stem)(turned, q, qd, qdd), torques_of(stem)(arm, q, qd, qdd))


@pytest.mark.parametrize("stem", givers("joint_torques"))
def test_a_wrench_on_the_hand_costs_its_jacobian(stem):
    arm, q, qd, qdd = float_case(stem)
    wrench = np.array([30.0, -20.0, 50.0, 4.0, -3.0, 2.0])
    J = frame_jacobian(arm, q, "flange")
    world = np.concatenate([arm.base.R @ wrench[:3], arm.base.R @ wrench[3:]])
    free, loaded = (torques_of(stem)(arm, q, qd, qdd, tip_wrench=w) for w in (None, wrench))
    assert_close(loaded, free - J.T @ world)


@pytest.mark.parametrize("stem", givers("reactions"))
def test_reactions_balance_each_link(stem):
    """Newton's and Euler's laws link by link, with accelerations from kinematics alone."""
    arm, q, qd, qdd = float_case(stem)
    wrench = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
    f, n = FORMULATIONS[stem].reactions(arm, q, qd, qdd, tip_wrench=wrench)
    poses = link_poses(arm, q)
    base = arm.base.R
    f_next, n_next = -base @ wrench[:3], -base @ wrench[3:]
    for i in range(arm.n, 0, -1):
        mass, r, tensor = arm.links[i - 1].about_com
        R, p = poses[i]
        V, A = frame_motion(arm, q, qd, qdd, frame=i)
        w, wd, c = V[3:], A[3:], R @ r
        acceleration = A[:3] + np.cross(wd, c) + np.cross(w, np.cross(w, c))
        spin = R @ tensor @ R.T
        f_here, n_here = R @ f[i - 1], R @ n[i - 1]
        lever = poses[i - 1][1] - p - c  # from the centre of mass to origin i-1
        scale = np.max(np.abs(f)) + np.max(np.abs(n))
        assert_close(f_here - f_next + mass * np.array(arm.gravity), mass * acceleration, scale=scale)
        moment = n_here - n_next + np.cross(lever, f_here) + np.cross(c, f_next)
        assert_close(moment, spin @ wd + np.cross(w, spin @ w), scale=scale)
        f_next, n_next = f_here, n_here


@pytest.mark.parametrize("stem", givers("reactions"))
def test_a_reaction_along_the_joint_is_the_torque(stem):
    arm, q, qd, qdd = float_case(stem)
    f, n = FORMULATIONS[stem].reactions(arm, q, qd, qdd)
    along = [
        link.axis @ (n_i if link.revolute else f_i) for link, f_i, n_i in zip(arm.links, f, n, strict=True)
    ]
    assert_close(along, torques_of(stem)(arm, q, qd, qdd))


@pytest.mark.parametrize("stem", givers("joint_accelerations"))
def test_forward_dynamics_undoes_inverse_dynamics(stem):
    arm, q, qd, qdd = float_case(stem)
    wrench = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
    tau = torques_of("luh_walker_paul_1980")(arm, q, qd, qdd, tip_wrench=wrench)
    got = FORMULATIONS[stem].joint_accelerations(arm, q, qd, tau, tip_wrench=wrench)
    inverse = np.linalg.norm(np.linalg.inv(strobed_mass_matrix(arm, q)), 2)
    assert_close(got, qdd, scale=inverse * np.max(np.abs(tau)))
