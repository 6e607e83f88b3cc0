"""Parameters of a motion's own are those of an arm that has them: in the motion, and in all that is told of it."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm import Drive, Wrench, load, simulate
from forearm.simulation import payload_numbers

DRIVE = Drive(viscous=0.1, coulomb=(1.0, 0.5), smoothing=0.05)
ARM = load("rr").with_drives(DRIVE)
FIRST, SECOND = ARM.links
OWN = {
    "friction": (
        [[0.5, 2.0, 1.0], [0.3, 0.7, 0.2]],
        ARM.with_drives(
            [DRIVE.replace(viscous=0.5, coulomb=(2.0, 1.0)), DRIVE.replace(viscous=0.3, coulomb=(0.7, 0.2))]
        ),
    ),
    "links[0].drive.coulomb": ((3.0, 2.0), ARM.with_drives([DRIVE.replace(coulomb=(3.0, 2.0)), DRIVE])),
    "links[1].offset": (0.3, ARM.replace(links=(FIRST, SECOND.replace(offset=0.3)))),
    "geometry": ([1.2, 0.7], None),
}
TOLD = ("q", "qd", "qdd", "tau", "work", "dissipated", "drift", "poses")
WHY = "operations are in another order where numbers are inputs"


def with_lengths(lengths):
    links = [x.replace(pose=fa.Pose.dh(a, 0.0)) for x, a in zip(ARM.links, lengths, strict=True)]
    return ARM.replace(links=tuple(links))


@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic", "sticking"])
@pytest.mark.parametrize("path", OWN)
def test_a_motion_with_a_parameter_of_its_own_is_that_of_the_changed_arm(method, path):
    value, changed = OWN[path]
    how = {"method": "euler", "sticking": True} if method == "sticking" else {"method": method}
    how |= {"duration": 0.02, "dt": 1e-3, "record_every": 7, "wrench": Wrench((1.0, 2.0, 0.0), at="tool")}
    q0, qd0 = [0.4, -1.1], [1.0, -0.5]
    want = simulate(changed or with_lengths(value), q0, qd0, **how)
    alone = simulate(ARM, q0, qd0, free={path: value}, **how)
    several = simulate(ARM, [q0, q0], qd0, free={path: [value, value]}, **how)
    for name in TOLD:
        scale = max(np.abs(getattr(want, name)).max(), 1.0)
        assert_close(getattr(alone, name), getattr(want, name), 1024, scale, WHY, name)
        assert_close(getattr(several, name)[1], getattr(want, name), 1024, scale, WHY, name)


def test_dry_friction_of_a_motion_of_its_own_is_steep_for_the_step_as_the_arms_is():
    steep = [[0.1, 5.0, 5.0], [0.1, 5.0, 5.0]]
    arm = load("rr")
    changed = arm.with_drives(Drive(viscous=0.1, coulomb=(5.0, 5.0)))
    want = simulate(changed, [0.4, -1.1], duration=0.01).outcome.advice
    assert "dry friction of joint" in want
    assert simulate(arm, [0.4, -1.1], duration=0.01, free={"friction": steep}).outcome.advice == want


def test_friction_that_is_steep_in_a_later_motion_of_a_batch_is_told_there_and_nowhere_else():
    arm, easy, hard = load("rr"), [[0.1, 0.0, 0.0]] * 2, [[0.1, 5.0, 5.0]] * 2
    how = {"duration": 0.01, "free": {"friction": [[easy, easy, hard], [easy, hard, easy]]}}
    told = simulate(arm, np.full((2, 3, 2), [0.4, -1.1]), **how).outcomes
    want = simulate(arm, [0.4, -1.1], duration=0.01, free={"friction": hard}).outcome.advice
    assert "dry friction of joint" in want
    assert [[o.advice for o in row] for row in told] == [["", "", want], ["", want, ""]]


def test_friction_is_steeper_for_the_step_in_the_motion_that_carries_less():
    arm, q0 = load("rr").with_drives(Drive(coulomb=(2.0, 2.0), smoothing=1e-3)), [0.4, -1.1]
    laden = [arm.with_payload(5.0, frame="flange"), arm]
    rates = [float(np.linalg.inv(fa.mass_matrix(x, q0))[1, 1]) * 2.0 / 1e-3 for x in laden]
    assert rates[1] > 1.1 * rates[0]
    dt = 2.6 / np.sqrt(rates[0] * rates[1])  # rk4 follows the first, not the second
    payload = payload_numbers([5.0, 0.0], arm=arm, frame="flange")
    told = simulate(arm, q0, payload=payload, duration=4 * dt, dt=dt, limits="ignore").outcomes
    assert [bool(o.advice) for o in told] == [False, True]


FLANGE = fa.Link.dh("revolute", a=0.2, alpha=0.3, drive=Drive(rotor_inertia=0.1, side="joint"))
"""A frame to hold things by, without a body."""
BARE = ARM.replace(links=(FIRST, SECOND, FLANGE), configurations=())
TREE = fa.Robot("tree", (FIRST, SECOND, FLANGE), (0, 1, 0))
FREE = TREE.replace(free=True)
OF_BODIES = ("energy", "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum", "reactions")


@pytest.mark.parametrize("quantity", OF_BODIES)
@pytest.mark.parametrize("path", ["payload@#3", "inertial"])
@pytest.mark.parametrize("arm", [BARE, TREE, FREE], ids=["arm", "tree", "free base"])
def test_a_body_without_mass_that_was_an_input_gave_nan(arm, path, quantity):
    kernel = fa.compile(arm, quantity, free=(path,))
    q, qd, qdd = arm.random_state(1)
    state = (q, qd, qdd)[: len(kernel.graph.inputs) - 1]
    nothing = np.zeros(10) if path != "inertial" else fa.parameters(arm).reshape(-1, 10)
    found, want = kernel(*state, nothing), getattr(fa, quantity)(arm, *state)
    pairs = zip(found, want, strict=True) if isinstance(found, tuple) else [(found, want)]
    for one, other in pairs:
        assert_close(one, other, because=WHY)


def test_the_energy_of_an_empty_hand_in_a_batch_of_payloads_was_nan():
    run = simulate(BARE, [0.1, 0.2, 0.3], payload=payload_numbers([0.0, 1.0]), duration=0.02, dt=1e-3)
    empty = simulate(BARE, [0.1, 0.2, 0.3], duration=0.02, dt=1e-3)
    for name in ("kinetic", "potential", "drift"):
        assert np.all(np.isfinite(getattr(run, name)))
        assert_close(getattr(run, name)[0], getattr(empty, name), eps=1e4, scale=30.0, because=WHY)


def test_a_first_moment_without_a_mass_has_no_centre():
    numbers = fa.parameters(BARE).reshape(-1, 10)
    numbers[2, 1] = 0.5
    found = fa.compile(BARE, "center_of_mass", free=("inertial",))(np.zeros((2, 3)), numbers)
    assert not np.any(np.isfinite(found))
