"""Strobing and simulation: the coefficients of sections 6 and 7, counted."""

import numpy as np
import pytest

from forearm.counting import simulation_costs, strobing_costs
from forearm.counting.costs.polynomials import Polynomial
from forearm.counting.costs.strobing_costs import (
    DEFAULT,
    PRISM,
    PYRAMID,
    TRIANGLE,
    coefficients,
    mass_matrix_responses,
    strobed_value,
)
from forearm.counting.costs.strobing_structures import structure_costs
from forearm.counting.meter.conventions import TURNEY_DIAGONAL
from forearm.counting.meter.tallies import count

from close import assert_close  # isort: skip


@pytest.fixture(scope="module")
def costs():
    """Every part by its name."""
    return {cost.part: cost for cost in (*strobing_costs(), *simulation_costs())}


def test_mass_matrix_is_quadratic_and_coriolis_cubic(costs):
    assert costs["M by strobing"].multiplications.degree == 2
    assert costs["C by strobing"].multiplications.degree == 3
    kinematic, dynamic = mass_matrix_responses(DEFAULT, 9)
    assert costs["M, kinematic"].multiplications(9) == kinematic.multiplications
    assert costs["M, dynamic"].additions(9) == dynamic.additions


def test_visits():
    n = 7
    assert TRIANGLE(n) == sum(n - j for j in range(n))
    assert PYRAMID(n) == sum(n - min(j, k) for j in range(n) for k in range(j, n))
    assert PRISM(n) == n * n * (n + 1) / 2


def test_coefficients_are_less_than_a_whole_inverse_dynamics():
    found = {row["coefficient"]: row for row in coefficients()}
    assert list(found) == ["k1", "d1", "k2", "d2"]
    assert found["k1"]["multiplications"] == "33"
    full = (
        count(DEFAULT, 2, convention=TURNEY_DIAGONAL).multiplications
        - count(DEFAULT, 1, convention=TURNEY_DIAGONAL).multiplications
    )
    assert int(found["k1"]["multiplications"]) + int(found["d1"]["multiplications"]) < full


def test_elimination(costs):
    cost = costs["elimination and back substitution"]
    assert str(cost.multiplications) == str(cost.additions) == "1/3 n^3 + 1/2 n^2 - 5/6 n"
    assert str(cost.divisions) == "1/2 n^2 + 1/2 n"


def test_one_step_is_four_accelerations_and_the_integration(costs):
    once, step = costs["one acceleration"], costs["one step"]
    integration = costs["four point integration, without the accelerations"]
    for kind in ("multiplications", "additions", "divisions"):
        whole = getattr(step, kind)(6)
        assert whole == 4 * getattr(once, kind)(6) + getattr(integration, kind)(6)


def test_what_makes_the_mass_matrix_cheaper_or_dearer(costs):
    """34 1/2 n^2 - 13 1/2 n | 28n^2 - 20n + 3 differs from ours by I alpha for the trace, and f_j formed."""
    found = [cost for _, cost in structure_costs()]
    assert found[0].multiplications == costs["M by strobing"].multiplications
    modified, moment, with_force, table_3, table_3_last = [
        (str(cost.multiplications), str(cost.additions)) for cost in found
    ]
    assert modified == ("36n^2 - 12n", "29 1/2 n^2 - 21 1/2 n + 6")
    assert moment == ("34 1/2 n^2 - 13 1/2 n", "28n^2 - 23n + 6")
    assert with_force == table_3_last == ("34 1/2 n^2 - 13 1/2 n", "28n^2 - 20n + 3")
    assert table_3 == ("34 1/2 n^2 - 7 1/2 n", "28n^2 - 14n + 3")
    for kind in ("multiplications", "additions"):
        saved = getattr(found[0], kind) - getattr(found[1], kind)
        assert saved == Polynomial((3,)) * TRIANGLE, "3 for each visit of a link"


def test_strobed_responses_are_columns_of_the_mass_matrix():
    M = strobed_value(DEFAULT, 4)
    assert_close(M, M.T, eps=256, because="two different responses")
    assert np.all(np.linalg.eigvalsh(M) > 0)
