"""Kernels of arms whose angles are nearly, but not quite, right: as exact as the formulation."""

import numpy as np
import pytest

import forearm as fa
from compiler.written_angles import errors, random_urdf
from forearm.compiler.model import trust
from forearm.compiler.model.base_parameters import described, reframed, regrouped
from forearm.compiler.model.choice import best_graph
from forearm.formulations import FORMULATIONS
from forearm.readers import known_arms

DIGITS = (4, 6, 9, 17)
QUICK, LONGER = 6, 20
"""Files of the default tests, and of those with the long ones; the others take a quarter of an hour."""
FILES = [(seed, DIGITS[seed % 4], 1.0 if seed % 8 < 4 else 1e-3) for seed in range(200)]
STEMS = ("luh_walker_paul_1980", "khalil_kleinfinger_1987", "walker_orin_1982")
TORQUES = FORMULATIONS["khalil_kleinfinger_1987"].joint_torques


@pytest.mark.parametrize(
    ("seed", "digits", "scale"),
    [
        pytest.param(*f, marks=[pytest.mark.more] if f[0] < LONGER else [pytest.mark.soak])
        if f[0] >= QUICK
        else f
        for f in FILES
    ],
)
def test_a_file_with_angles_of_some_digits_compiles_exactly_and_verifies(tmp_path, seed, digits, scale):
    file = tmp_path / "arm.urdf"
    file.write_text(random_urdf(seed, digits, scale))
    arm = fa.load(file)
    eps, relative = errors(arm, 1 if seed >= QUICK else 2)
    assert eps <= 64
    assert relative <= 1e-13, "small arms have small torques beside their accelerations"
    if (
        seed >= QUICK or seed % 9 == 2
    ):  # a proof takes six times as long; 9 steps through all digits and sizes
        proof = fa.verify(arm, states=1, source=file, formulations=STEMS)
        assert proof.passed, str(proof)


def nearly_parallel(angle, size=1.0):
    """Three joints a little off parallel, with bodies off the axes."""
    body = dict(mass=1.0, com=(0.1 * size, 0.2 * size, 0.3 * size))
    step = fa.Pose.at((0.5 * size, 0.1 * size, 0.0), (angle, 0.0, 0.0))
    return fa.Arm("nearly parallel", [fa.Link("revolute", step, **body) for _ in range(3)])


@pytest.mark.parametrize("size", [1.0, 1e-3])
@pytest.mark.parametrize("angle", [np.pi / 2 - 1.570796327, 9e-10, 1e-12, 1e-15, 3e-6, 1e-3])
def test_axes_a_billionth_of_a_radian_apart_are_not_compiled_as_parallel(angle, size):
    arm = nearly_parallel(angle, size).replace(gravity=(9.81, 0.0, 0.0))
    eps, relative = errors(arm)
    assert eps <= 64
    assert relative <= 1e-14


def test_no_distance_runs_away_for_nearly_parallel_axes():
    for angle in 10.0 ** np.arange(-16.0, 0.0):
        chain = reframed(nearly_parallel(angle))
        assert max(abs(x) for link in chain.links for x in (*link.pose.translation, link.d)) < 4.0


def test_frames_as_described_simplify_nothing():
    arm = fa.load("panda")
    state = arm.random_state(3)
    assert np.array_equal(TORQUES(described(arm), *state), TORQUES(arm, *state))


def test_frames_that_change_the_torques_are_not_used(monkeypatch, caplog):
    """A common normal that is wrong by a billionth is found by trying it, not by a tolerance."""
    arm = nearly_parallel(0.3)

    def wrong(arm, origins=None):
        bent = regrouped(arm, origins)
        numbers = np.array(bent.numbers) * (1 + 1e-9)
        return bent.with_numbers(numbers.tolist())

    monkeypatch.setattr(trust, "regrouped", wrong)
    trust.trusted.cache_clear()
    _, why = best_graph(arm, "inverse_dynamics")
    trust.trusted.cache_clear()
    assert "better frames" in why.chosen
    assert "change its torques" in caplog.text


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_are_compiled_with_base_parameters(name):
    assert trust.trusted(fa.load(name), "regrouped") == "regrouped"
