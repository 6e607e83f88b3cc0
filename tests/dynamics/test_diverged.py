"""States that overflow, masked arrays, friction that turns over too fast: said, and never NaN in silence."""

import logging

import numpy as np
import pytest

import forearm as fa
from forearm.faults import ArmFault, SingularInertia, StateFault


@pytest.mark.parametrize("name", ["puma560", "stanford", "rr"])
def test_a_diverged_state_is_said_to_have_diverged(name, caplog):
    arm = fa.load(name)
    q, qd = np.full(arm.n, 1e252), np.full(arm.n, 1e200)
    with caplog.at_level(logging.WARNING), pytest.raises(StateFault, match="diverged") as caught:
        fa.forward_dynamics(arm, q, qd, np.zeros(arm.n))
    assert not isinstance(caught.value, SingularInertia)
    assert "joint" in str(caught.value)
    assert "e+2" in str(caught.value)
    assert "degrees" not in caplog.text
    assert len(str(caught.value)) < 400


def test_a_question_about_degrees_has_no_250_digits(caplog):
    arm = fa.load("puma560")
    with caplog.at_level(logging.WARNING):
        fa.gravity_torque(arm, np.full((2, 6), 1e252))
    assert "diverged?" in caplog.text
    assert all(len(record.getMessage()) < 200 for record in caplog.records)


@pytest.mark.parametrize(
    "call",
    [
        lambda arm, x: fa.inverse_dynamics(arm, 0 * x, x, 0 * x),
        lambda arm, x: fa.bias_torque(arm, 0 * x, x),
        lambda arm, x: fa.forward_dynamics(arm, 0 * x, x, 0 * x),
        lambda arm, x: fa.derivatives(arm, 0 * x, x, 0 * x),
        lambda arm, x: fa.forward_derivatives(arm, 0 * x, x, 0 * x),
    ],
)
def test_one_finite_state_that_overflows_is_one_clear_fault(call):
    arm = fa.load("rr")
    with pytest.raises(StateFault, match=r"qd of joint 2 '\w+' is 1e\+200") as caught:
        call(arm, np.array([0.0, 1e200]))
    assert not isinstance(caught.value, SingularInertia)


def test_a_state_that_overflows_in_a_batch_is_nan_in_its_row():
    arm = fa.load("rr")
    qd = np.array([[0.1, 0.2], [0.0, 1e200], [0.3, 0.4]])
    zero = np.zeros_like(qd)
    for found in (fa.inverse_dynamics(arm, zero, qd, zero), fa.forward_dynamics(arm, zero, qd, zero)):
        assert np.isfinite(found).all(axis=-1).tolist() == [True, False, True]


def test_a_singular_mass_matrix_is_still_named():
    links = [fa.Link.dh("revolute", a=1.0, mass=1.0, com=(-0.5, 0, 0)), fa.Link.dh("revolute")]
    arm = fa.Arm("massless hand", links)
    with pytest.raises(SingularInertia, match="joint 2"):
        fa.forward_dynamics(arm, np.zeros(2), np.zeros(2), np.ones(2))


def test_masked_arrays_do_not_lose_their_mask_in_silence():
    arm = fa.load("rr")
    q = np.ma.masked_invalid([[0.1, np.nan], [0.2, 0.3]])
    with pytest.raises(StateFault, match="1 masked entries"):
        fa.gravity_torque(arm, q)
    with pytest.raises(StateFault, match="1 masked entries"):
        fa.gravity_torque(arm, q[0])
    with pytest.raises(StateFault, match="1 masked entries"):
        fa.compile(arm, "gravity_torque")(q)
    assert np.isfinite(fa.gravity_torque(arm, np.ma.array([0.1, 0.2]))).all()


@pytest.mark.parametrize("smoothing", [1e-162, 1e-200, 1e-19])
def test_smoothing_whose_square_vanishes_is_refused(smoothing):
    with pytest.raises(ArmFault, match=r"Drive smoothing is .*; give a positive speed .* 1e-18 or more"):
        fa.Drive(coulomb=(1.0, 1.0), smoothing=smoothing)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_least_smoothing_is_at_rest_without_friction(dtype):
    drive = fa.Drive(coulomb=(1.0, 1.0), smoothing=1e-18)
    arm = fa.Arm("rubbing", [fa.Link.dh("revolute", a=1.0, mass=1.0, drive=drive)], gravity=(0, 0, 0))
    kernel = fa.compile(arm, "bias_torque", dtype=dtype)
    zero = np.zeros(1, dtype)
    assert kernel(zero, zero)[0] == 0.0
    assert kernel(zero, zero + np.array(0.5, dtype))[0] == pytest.approx(1.0)
