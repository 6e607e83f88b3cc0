"""compare where rows, digits or functions do not tell: nothing is the same by chance, and no cause is named so."""

import numpy as np
import pytest

import forearm as fa
from forearm.link import Drive
from forearm.verification import compare
from verification.test_compare_logs import write_rows

ARM = fa.load("ur5e").without_drives()


def swung(count=40, dt=0.1, which=None):
    """Joints that swing, each at its own pace; or one of them."""
    pace, t = np.array([1.9, 2.3, 1.7, 2.9, 3.1, 2.1]), dt * np.arange(count)[:, None]
    wide = np.where(np.arange(6) == which, 0.6, 0.0) if which is not None else 0.6
    q = np.array([0.3, -0.9, 0.7, 0.2, -0.5, 0.4]) + wide * np.sin(pace * t + np.arange(6))
    return q, wide * pace * np.cos(pace * t + np.arange(6)), -wide * pace**2 * np.sin(pace * t + np.arange(6))


def said(path, arm, state, tau):
    return compare(arm, write_rows(path / "log.csv", *state, tau), patience=0.0)


def rubbing(viscous, dry, smoothing=1e-3):
    drive = Drive(viscous=viscous, coulomb=(dry, dry), smoothing=smoothing)
    return ARM.replace(links=tuple(link.replace(drive=drive) for link in ARM.links))


def test_a_function_that_writes_into_its_arguments_was_the_same():
    def careless(q, qd, qdd):
        q[:] = 0
        return fa.inverse_dynamics(ARM, q, qd, qdd)

    assert not compare(ARM, careless, patience=0.0).same


def test_a_function_that_returns_one_buffer_differed():
    buffer = np.zeros(6)

    def thrifty(q, qd, qdd):
        buffer[:] = fa.inverse_dynamics(ARM, q, qd, qdd)
        return buffer

    assert compare(ARM, thrifty).same


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q, qd, qdd: q * np.nan, r"returned \[nan, .* return finite numbers"),
        (lambda q, qd, qdd: q + 1j, "numbers of type complex128"),
        (lambda q, qd, qdd: q if q[0] < 1 else q[:3], r"returned shape \(3,\)"),
    ],
    ids=["nan", "complex", "ragged"],
)
def test_what_is_no_torque_is_refused_in_a_sentence(function, words):
    with pytest.raises(fa.StateFault, match=words):
        compare(ARM, function)


@pytest.mark.parametrize("tolerance", [0, -1.0, float("nan"), float("inf"), "a"])
def test_a_tolerance_that_is_none(tolerance):
    with pytest.raises(fa.StateFault, match=r"tolerance is .*give a share of the largest torque, above 0"):
        compare(ARM, ARM, tolerance=tolerance)


def test_a_wide_tolerance_was_called_rounding():
    found = compare(ARM, ARM.with_payload(1.0, frame="tool"), tolerance=0.5)
    assert found.same
    assert found.verdict.startswith(
        "torques: the same within the tolerance, 0.5 of the largest torque; 0.1 apart"
    )
    assert any("smaller than what the tolerance let pass" in note for note in found.notes)


def test_dry_friction_that_turns_over_at_another_speed_was_the_same():
    found = compare(rubbing(0.0, 2.0, 1e-4), rubbing(0.0, 2.0, 3e-4), patience=0.0)
    assert found.keys == ("friction law",), str(found)
    assert found.verdict.endswith("in the other 0.0003")


def test_a_small_joint_that_is_off_was_the_same():
    def wrong(*state):
        return fa.inverse_dynamics(ARM, *state) * np.array([1, 1, 1, 1, 1, 1.0001])

    found = compare(ARM, wrong, patience=0.0)
    assert found.keys == ("torque factors",), str(found)
    assert found.verdict.endswith("(1, 1, 1, 1, 1, 1.0001)")


def test_digits_of_large_joints_hid_the_sign_of_a_small_one(tmp_path):
    state = [np.round(x, 4) for x in swung()]
    tau = np.round(fa.inverse_dynamics(ARM, *state), 4) * np.array([1, 1, 1, 1, 1, -1])
    assert said(tmp_path, ARM, state, tau).keys == ("torque sign",)


def test_an_arm_that_stood_still_differed_by_constants_whatever_the_cause(tmp_path):
    q = np.repeat(swung(1)[0], 50, axis=0)
    loaded = fa.gravity_torque(ARM.with_payload(1.0, frame="tool"), q)
    found = said(tmp_path, ARM, (q, 0 * q, 0 * q), loaded)
    assert found.keys == (), str(found)
    assert any("one state is too few" in note for note in found.notes)


def test_a_load_in_a_log_of_three_digits_was_one_factor(tmp_path):
    state = [np.round(x, 3) for x in swung()]
    loaded = ARM.with_payload(0.1, frame="tool")
    found = said(tmp_path, ARM, state, np.round(fa.inverse_dynamics(loaded, *swung()), 3))
    assert "scale" not in found.keys, str(found)
    assert "last link or tool" in found.verdict


GEARED = pytest.param((0.01, 0.01, 0.01, 0.0125, 0.0125, 0.0125), marks=pytest.mark.soak)


@pytest.mark.parametrize("factors", [(1, 1, 1.1, 1, 1, 1), GEARED])
def test_factors_of_single_joints_were_a_body_or_one_factor(tmp_path, factors):
    state = swung()
    found = said(tmp_path, ARM, state, fa.inverse_dynamics(ARM, *state) * np.array(factors))
    assert found.keys == ("torque factors",), str(found)
    assert found.verdict.endswith("(" + ", ".join(f"{f:g}" for f in factors) + ")")


def test_inertia_of_the_first_link_was_a_rotor():
    first = ARM.links[0].replace(com=(0.02, 0.0, 0.01))
    found = compare(ARM, ARM.replace(links=(first, *ARM.links[1:])), patience=0.0)
    assert found.keys == ()
    assert found.verdict.startswith("cannot tell which: rotor inertia")
    assert any("link 1 differ" in text for text in found.either)


def test_numbers_of_joints_that_did_not_move_are_not_told(tmp_path):
    state = swung(which=1)
    found = said(tmp_path, ARM, state, fa.inverse_dynamics(rubbing(2.0, 3.0), *state))
    assert found.keys == ("friction",), str(found)
    assert found.verdict.endswith("viscous by (?, 2, ?, ?, ?, ?), dry by (?, 3, ?, ?, ?, ?)")


def test_gravity_out_of_the_plane_of_an_arm_is_not_told():
    arm = fa.load("rr")
    found = compare(arm, arm.replace(gravity=(3.0, -9.0, 2.0)))
    assert found.keys == ("gravity",)
    assert "(3, -9, ?) m/s², as far as the torques tell" in found.verdict


def test_a_tilt_in_the_plane_of_an_arm_might_be_a_zero():
    arm = fa.load("rr")
    found = compare(arm, arm.replace(gravity=(9.81 * np.sin(0.2), -9.81 * np.cos(0.2), 0.0)))
    assert found.keys == ()
    assert "the zero of joint 1" in found.verdict
    assert "gravity in the base" in found.verdict


@pytest.mark.parametrize(("late", "words"), [(3, "3 rows later"), (-1, "1 row earlier")])
def test_torques_that_come_late_or_early_could_not_be_told(tmp_path, late, words):
    state = swung(120, 0.01)
    tau = np.roll(fa.inverse_dynamics(ARM, *state), late, axis=0)[20:-20]
    found = said(tmp_path, ARM, [x[20:-20] for x in state], tau)
    assert found.keys == ("rows late",), str(found)
    assert found.verdict == f"torques come {words} than states"


def test_one_wrong_row_of_a_long_log_is_found_and_named(tmp_path):
    arm, state = fa.load("rr"), [x[:, 1:3] for x in swung(3000, 0.01)]
    tau = fa.inverse_dynamics(arm, *state)
    tau[1234, 1] += 1
    found = said(tmp_path, arm, state, tau)
    assert not found.same
    assert any("only 1 of 3000 rows differ, from row 1235 on" in note for note in found.notes)
    assert any("causes were looked for in 1000 of them" in note for note in found.notes)


def test_few_rows_of_few_digits_let_a_body_outdo_a_sign(tmp_path):
    state = [np.round(x, 6) for x in swung(3, 0.35)]
    tau = np.round(fa.inverse_dynamics(ARM, *state), 6) * np.array([1, 1, -1, 1, 1, 1])
    assert said(tmp_path, ARM, state, tau).keys == ("torque sign",)


def test_most_of_a_difference_was_a_cause_by_itself():
    found = compare(ARM, ARM.replace(gravity=(0.0, 0.0, 9.7)))
    assert found.keys == ("gravity size",)  # it was the other sign, or all joints turned round


@pytest.mark.soak
def test_two_pairs_that_do_as_well_are_both_named():
    two = compare(ARM, ARM.replace(gravity=(0.0, 0.0, 9.81)).with_payload(1.0, frame="flange"))
    assert not two.causes
    assert all(
        "other sign; and" in text for text in two.either
    )  # the payload lies on an axis: either link has it
    assert len(two.either) == 2


def test_a_search_that_was_not_finished_says_so():
    found = compare(ARM, lambda q, qd, qdd: fa.inverse_dynamics(ARM, q, qd, qdd) + np.sin(q), patience=0.0)
    assert any("not all pairs of causes were tried in 0 s" in note for note in found.notes)


@pytest.mark.parametrize(
    ("digits", "words"), [(1, "steps of 0.05 or more"), (9, "noise, or joints that are")]
)
def test_rounded_states_and_noise_are_said(tmp_path, digits, words):
    state = swung(150, 0.05)
    tau = fa.inverse_dynamics(ARM, *state)
    if digits == 9:
        tau = tau + 0.02 * np.random.default_rng(0).normal(size=tau.shape) * tau.std(axis=0)
    found = said(tmp_path, ARM, [np.round(x, digits) for x in state], tau)
    assert found.verdict == "cannot tell"
    assert any(words in note for note in found.notes)


def test_rotors_that_are_most_of_a_difference_were_all_of_it(tmp_path):
    """A cause without unknowns has to leave nothing; friction that was left out, too, went unsaid."""
    drive = Drive(rotor_inertia=2.0, side="joint", viscous=0.5, coulomb=(0.3, 0.3))
    arm, state = ARM.replace(links=tuple(link.replace(drive=drive) for link in ARM.links)), swung()
    found = said(tmp_path, arm, state, fa.inverse_dynamics(ARM, *state))  # without patience to look for pairs
    assert found.residual > 1e-3
    assert found.verdict == "cannot tell"
    assert any(
        note.startswith("several come near, and none takes all of it away: rotor") for note in found.notes
    )


@pytest.mark.parametrize(
    ("gravity", "words"),
    [
        ((0.0, -9.81, 0.0), "the base is turned: gravity is (0, -9.81, 0) m/s² in it, 90° away"),
        (
            (0.0, -7.848, 5.886),
            "cannot tell which: gravity is (0, -7.848, 5.886) m/s²: a base turned by 126.9°",
        ),
        ((0.0, 3.0, -4.0), "gravity differs: (0, 3, -4) m/s² in the base of the other, 5 m/s² in all"),
    ],
)
def test_another_gravity_comes_with_its_numbers(gravity, words):
    assert compare(ARM, ARM.replace(gravity=gravity)).verdict.startswith(words)
