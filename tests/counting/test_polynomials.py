"""Exact polynomials: reading, writing, fitting, and the measured cost of every formulation."""

from fractions import Fraction

import pytest

from forearm.counting import Polynomial, Tally, count, first_above, formulation_rows, polynomial
from forearm.counting.costs import polynomials
from forearm.counting.costs.polynomials import fit
from forearm.counting.costs.strobing_costs import fitted
from forearm.counting.meter.conventions import (
    AS_SET_FORTH,
    TURNEY,
    TURNEY_DIAGONAL,
    TURNEY_VERTICAL,
    WITHOUT_GRAVITY,
)
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS

TEXTS = [
    "32 1/2 n^4 + 86 5/12 n^3 + 171 1/4 n^2 + 53 1/3 n - 128",
    "150n - 48",
    "n^3 + n^2 + 2n",
    "-5n + 12",
    "0",
    "852",
    "1/6 n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_and_written(text):
    assert str(Polynomial.parse(text)) == text


def test_other_spellings():
    assert Polynomial.parse("9(n-1)") == Polynomial.parse("9n-9")
    assert Polynomial.parse("32n(n-1)") == Polynomial.parse("32n^2 - 32n")
    assert Polynomial.parse("81/6 n^3") == Polynomial.parse("13 1/2 n^3")
    assert Polynomial.parse("25n^3 + 66 1/3 n^3") == Polynomial.parse("91 1/3 n^3")
    assert Polynomial.parse("86 5/12 n^3 - n").latex() == r"86\tfrac{5}{12}n^{3} - n"


def test_whole_numbers():
    assert Polynomial.parse("1/2 n^2 + 1/2 n").counts_something
    assert not Polynomial.parse("106 1/2 n^2 + 620 1/4 n - 512").counts_something


def test_fit_is_exact_and_wants_points_to_spare():
    cube = Polynomial.parse("2/3 n^3 - 1/6 n + 5")
    points = {n: cube(n) for n in range(1, 7)}
    assert fit(points, 3) == cube
    assert fit(points, 2) is None
    assert fit({**points, 6: cube(6) + 1}, 3) is None
    with pytest.raises(StateFault, match="4 points for degree 3; give at least 5"):
        fit({n: n for n in range(4)}, 3)


MEASURED = {
    # EQUATIONS of Hollerbach and Turney et al. as this library writes them
    ("uicker_kahn_1969", AS_SET_FORTH): (
        "32 1/2 n^4 + 118 2/3 n^3 + 203 1/2 n^2 + 53 1/3 n - 128",
        "25n^4 + 91 1/3 n^3 + 155n^2 + 39 2/3 n - 96",
    ),
    # 2 q' of link 1 is formed although its product with W'_0 = 0 is not: one more than without it
    ("waters_1979", AS_SET_FORTH): ("106 1/2 n^2 + 620 1/2 n - 528", "82n^2 + 481n - 432"),
    ("hollerbach_1980_4x4", AS_SET_FORTH): ("810n - 608", "643n - 512"),
    ("hollerbach_1980_3x3", AS_SET_FORTH): ("395n - 261", "302n - 213"),
    ("luh_walker_paul_1980", WITHOUT_GRAVITY): ("150n - 48", "122n - 51"),
    ("horn_raibert_1978", AS_SET_FORTH): ("2n^3 + n^2", "n^3 + n^2"),
    ("turney_mudge_lee_1980_newton_euler", TURNEY): ("125n - 24", "102n - 24"),
    ("turney_mudge_lee_1980_table_3", TURNEY): ("113n - 24", "99n - 24"),
    ("turney_mudge_lee_1980_modified", TURNEY_DIAGONAL): ("95n - 33", "84n - 33"),
    ("turney_mudge_lee_1980_modified", TURNEY): ("107n - 33", "96n - 33"),
    ("turney_mudge_lee_1980_lagrange", TURNEY_VERTICAL): (
        "13 1/2 n^3 + 90 1/2 n^2 + 13n",
        "10 5/6 n^3 + 74n^2 - 1 5/6 n",
    ),
}


@pytest.mark.parametrize(("stem", "convention"), MEASURED, ids=lambda x: getattr(x, "name", x))
def test_measured_polynomials(stem, convention):
    found = polynomial(stem, convention=convention)
    assert (str(found.multiplications), str(found.additions)) == MEASURED[stem, convention]


@pytest.mark.parametrize("stem", FORMULATIONS)
def test_polynomials_hold_beyond_the_points_they_were_fitted_on(stem):
    quantity = "joint_torques" if "joint_torques" in FORMULATIONS[stem].gives else FORMULATIONS[stem].gives[0]
    found = polynomial(stem, quantity=quantity)
    if FORMULATIONS[stem].order != "n^4":
        n = found.last + 1
        measured = count(stem, n, quantity=quantity)
        assert (found.multiplications(n), found.additions(n)) == (
            measured.multiplications,
            measured.additions,
        )
    assert found.multiplications.counts_something
    assert found.additions.counts_something


def test_rows_of_all_formulations():
    rows = {row["formulation"]: row for row in formulation_rows()}
    assert set(rows) == set(FORMULATIONS)
    assert rows["uicker_kahn_1969"]["n = 6"] == "75,270 | 57,850"
    assert rows["luh_walker_paul_1980"]["besides, n = 6"] == "0 | 0"


def test_the_tabular_method_loses_from_nine_joints():
    tables = polynomial("horn_raibert_1978")
    recursion = polynomial("luh_walker_paul_1980", convention=WITHOUT_GRAVITY)
    assert first_above(tables.multiplications, recursion.multiplications) == 9
    assert first_above(tables.additions, recursion.additions) == 11
    assert first_above(recursion.multiplications, Polynomial((Fraction(10**6),)), last=50) is None


def test_counts_that_are_no_polynomial_are_refused(monkeypatch):
    monkeypatch.setattr(polynomials, "_counted", lambda stem, n, *rest: (Tally(2**n, 2**n), {}, Tally()))
    with pytest.raises(
        StateFault, match="the counts of odd joint_torques are no polynomial of degree 5 or less in n"
    ):
        polynomial("odd")
    with pytest.raises(StateFault, match="the cost of doubling is no polynomial in n up to 7"):
        fitted("doubling", lambda n: Tally(2**n))
