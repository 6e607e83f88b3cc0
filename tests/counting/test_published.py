"""The published tables: every row is there, and every status is worked out and at least as good as known before."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from forearm.counting import CONVENTIONS, STATUSES, Polynomial, count, polynomial, published
from forearm.counting.published_tables import verdicts as v
from forearm.counting.published_tables.printed import HOLLERBACH, TABLE_3, TABLE_I, TABLES, TURNEY
from forearm.faults import StateFault

E, C, F, I, N = v.EXACT, v.CONVENTION, v.FITTED, v.INCONSISTENT, v.NOT_REPRODUCED

STATUS = {
    (HOLLERBACH, "I"): {
        "Uicker/Kahn": (I, I), "Waters": (I, C), "Hollerbach(4x4)": (N, C), "Hollerbach(3x3)": (C, C),
        "Newton-Euler": (E, F), "Horn, Raibert": (E, C),
    },
    (HOLLERBACH, "II"): {
        "Uicker/Kahn": (I, I), "Waters": (I, C), "Hollerbach(4x4)": (N, C), "Hollerbach(3x3)": (C, C),
        "Newton-Euler": (E, F), "Horn, Raibert": (E, C),
    },
    (TURNEY, "1"): {"Lagrange": (N, N), "Newton-Euler": (N, N), "Modified Newton-Euler": (N, N)},
    (TURNEY, "2"): {
        "T_j^i": (E, E), "dT": (E, E), "d2T": (E, E), "delta": (I, I), "trace": (E, E), "gravity": (E, E),
        "Total": (N, N),
    },
    (TURNEY, "3"): {
        "omega_i": (E, E), "alpha_i": (N, E), "A_i": (E, E), "a_i": (E, E), "abar_i": (E, E), "f_i": (N, E),
        "I alpha": (E, E), "w x (I w)": (E, E), "m(r+rbar) x abar": (E, E), "r x R f": (C, C), "R n": (C, C),
        "add n": (E, C), "Total": (N, N),
    },
    (TURNEY, "4"): {
        "omega_i": (E, E), "alpha_i": (N, E), "A_i": (E, E), "a_i": (N, N), "m abar_i": (E, E), "f_i": (E, E),
        "Tr{A K sigma}": (E, E), "m(r+rbar) x abar": (E, E), "r x R f": (C, C), "R n": (C, C), "add n": (E, N),
        "Total": (N, N),
    },
    (TURNEY, "5"): {
        "omega_1": (E, E), "alpha_1": (N, E), "A_1": (E, E), "omega_2": (E, E), "alpha_2": (N, E),
        "forward stage": (E, E), "backward stage": (E, C), "Total": (N, C),
    },
}  # fmt: skip
"""What is known of every printed number; a better status than this would be news."""

UNEXPLAINED = {
    ("I", "Hollerbach(4x4)", "multiplications"): "20n",
    ("II", "Uicker/Kahn", "multiplications"): "-872",
    ("II", "Waters", "multiplications"): "6",
    ("II", "Hollerbach(4x4)", "multiplications"): "120",
}
"""Residuals for which no stated reason adds up."""


@pytest.fixture(scope="module")
def rows():
    """All rows, judged once."""
    return published()


def test_every_row_is_there(rows):
    for (paper, table), want in STATUS.items():
        labels = [row.row for row in rows if (row.paper, row.table) == (paper, table)]
        assert labels == list(want)
    assert len(rows) == sum(len(want) for want in STATUS.values())
    assert all(row.page for row in rows)


def test_statuses(rows):
    found = {(r.paper, r.table, r.row): (r.multiplications.status, r.additions.status) for r in rows}
    want = {(*key, row): status for key, table in STATUS.items() for row, status in table.items()}
    assert found == want


def test_what_remains_unexplained(rows):
    left = {
        (row.table, row.row, cell): getattr(row, cell).residual
        for row in rows
        for cell in v.CELLS
        if not getattr(row, cell).accounted
    }
    assert left == UNEXPLAINED


def test_reasons_are_given(rows):
    for row in rows:
        for cell in v.CELLS:
            found = getattr(row, cell)
            assert found.status in STATUSES
            if found.status == E:
                assert found.reason == ""
            if found.status in (C, F, I):
                assert found.reason
            if found.status in (E, C, F):
                assert found.residual == "0"
            if found.status == N and found.accounted:
                assert found.accounts


def test_hollerbach_one_convention_serves_waters_and_the_4x4_additions():
    for stem, want in {
        "waters_1979": ("106 1/2 n^2 + 620 1/2 n - 512", "82n^2 + 514n - 384"),
        "hollerbach_1980_4x4": ("810n - 592", "675n - 464"),
        "hollerbach_1980_3x3_proximal": ("395n - 270", "320n - 201"),
        "hollerbach_1980_3x3_gravity_4x4": ("412n - 277", "333n - 208"),
    }.items():
        found = polynomial(stem, convention="Hollerbach's ledger")
        assert (str(found.multiplications), str(found.additions)) == want


@pytest.mark.parametrize("third", ["NE3", "NE1", "NE7"])
def test_newton_euler_both_numbers_from_one_structure(third):
    """The convention names NE3 with NE4 and NE6, and says that two others would do in its place."""
    rule = CONVENTIONS["sums of p'', r'', N from zero"]
    assert rule.accumulate == ("NE3", "NE4", "NE6")
    found = polynomial("luh_walker_paul_1980", convention=replace(rule, accumulate=(third, "NE4", "NE6")))
    assert str(found) == "150n - 48 | 131n - 48"


def test_a_changed_number_changes_the_status(monkeypatch):
    newton = next(row for row in TABLE_I if row.row == "Newton-Euler")
    assert v._judged(newton).multiplications.status == E
    assert v._judged(replace(newton, multiplications="150n - 47")).multiplications.status == N
    assert v._judged(replace(newton, multiplications="150n - 47")).multiplications.residual == "1"
    assert v._judged(replace(newton, multiplications="150 1/2 n - 48")).multiplications.status == I
    total = TABLE_3[-1]
    assert v._judged(replace(total, multiplications="109n - 12")).multiplications.reason == (
        "the rows add up to 108n - 12"
    )
    six = next(row for row in TABLES[HOLLERBACH]["II"] if row.row == "Newton-Euler")
    judged = v._judged(replace(six, multiplications="853"))
    assert (judged.multiplications.status, judged.multiplications.reason) == (
        I,
        "the polynomial of table I gives 852 at n = 6",
    )


def test_h13_to_h16_what_table_i_and_ii_print_cannot_be():
    """Misprints of counts: the printed reading fails, the corrected one holds where there is one."""
    one = {row.row: row for row in TABLE_I}
    two = {row.row: row for row in TABLES[HOLLERBACH]["II"]}
    kahn, waters = one["Uicker/Kahn"], one["Waters"]
    printed = Polynomial.parse(kahn.additions)
    corrected = Polynomial.parse(kahn.additions.replace("25n^3", "25n^4"))
    assert (printed(6), corrected(6), int(two["Uicker/Kahn"].additions)) == (24548, 51548, 51548)  # H13
    products = Polynomial.parse(kahn.multiplications)
    assert (products(1), corrected(1)) == (Fraction(431, 2), Fraction(1003, 6))  # H14
    assert not products.counts_something
    assert not corrected.counts_something
    assert (products(6), int(two["Uicker/Kahn"].multiplications)) == (67143, 66271)  # H15
    assert not Polynomial.parse(waters.multiplications).counts_something  # H16
    half = Polynomial.parse(waters.multiplications.replace("620 1/4", "620 1/2"))
    assert half.counts_something
    assert (half(6), int(two["Waters"].multiplications)) == (7045, 7051)


def test_plain_rows_and_selection():
    found = published(TURNEY, "3")
    assert {row.table for row in found} == {"3"}
    plain = found[0].rows()
    assert [row["operation"] for row in plain] == ["multiplications", "additions"]
    assert plain[0]["published"] == "9n"
    with pytest.raises(
        StateFault, match="no table of 'luh'; give one of hollerbach_1980, turney_mudge_lee_1980"
    ):
        published("luh")
    with pytest.raises(StateFault, match="no table '9'; there are hollerbach_1980 I, hollerbach_1980 II"):
        published(TURNEY, "9")


@pytest.mark.more
def test_how_many_choices_of_sums_fit_the_newton_euler_additions():
    """The convention says 3 of 128: what a search finds is weak evidence, and the page should say how weak."""
    rule = CONVENTIONS["sums of p'', r'', N from zero"]
    equations = ("NE1", "NE2", "NE3", "NE4", "NE6", "NE7", "NE8")
    fitting = []
    for size in range(len(equations) + 1):
        for chosen in combinations(equations, size):
            charged = replace(rule, accumulate=chosen)
            found = [count("luh_walker_paul_1980", n, convention=charged) for n in (2, 5)]
            if [c.additions for c in found] == [131 * n - 48 for n in (2, 5)]:
                assert [c.multiplications for c in found] == [150 * n - 48 for n in (2, 5)]
                fitting.append(chosen)
    assert sorted(fitting) == [("NE1", "NE4", "NE6"), ("NE3", "NE4", "NE6"), ("NE4", "NE6", "NE7")]
