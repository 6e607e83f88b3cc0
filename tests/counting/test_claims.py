"""What is claimed of the printed tables in words, each computed."""

from fractions import Fraction

from forearm.counting import Polynomial, published
from forearm.counting.published_tables.claims import claims

UICKER = "25n^4 + 66 1/3 n^3 + 129 1/2 n^2 + {} n - 96"


def test_additions_of_uicker_and_kahn_are_whole_with_a_sixth():
    """42 1/6 gives whole numbers for every n, 167 and 51,547 among them; the printed 42 1/3 does not."""
    right, printed = (Polynomial.parse(UICKER.format(x)) for x in ("42 1/6", "42 1/3"))
    assert all(right(n).denominator == 1 for n in range(1, 100))
    assert (right(1), right(6), printed(6)) == (167, 51547, 51548)
    assert printed(1).denominator != 1
    whole = [
        k for k in range(12) if all((right(n) + Fraction(k, 12) * n).denominator == 1 for n in range(1, 13))
    ]
    assert whole == [0], "no other twelfth of n does"


def test_the_linear_term_is_the_sum_of_its_parts():
    """48 for each matrix product, 100 for each inertial and Coriolis term, 15 a pair and 2 a joint for gravity."""

    def additions(n):
        pairs, triples = n * (n + 1) // 2, n * (n + 1) * (n + 2) // 6
        products = n * (n - 1) // 2 + (pairs - 1) + (triples - 1)
        cubes = (n * (n + 1) // 2) ** 2
        return 48 * products + 100 * cubes + Fraction(100 * triples, 2) + 15 * pairs + 2 * n

    assert all(additions(n) == Polynomial.parse(UICKER.format("42 1/6"))(n) for n in range(1, 20))


def test_no_cost_of_a_term_gives_66271():
    """At n = 6 every number of terms is a multiple of 7; 90 products of 64 leave 6; 66,271 leaves 2."""
    n = 6
    terms = [n * (n + 1) // 2, n * (n + 1) * (n + 2) // 6, n * (n + 1) * (n + 2) // 12]
    terms += [n * (n + 1) * (2 * n + 1) // 6, (n * (n + 1) // 2) ** 2]
    assert terms == [21, 56, 28, 91, 441]
    assert not any(term % 7 for term in terms)
    products = n * (n - 1) // 2 + (terms[0] - 1) + (terms[1] - 1)
    assert (products, 64 * products % 7, 66271 % 7, 67143 % 7) == (90, 6, 2, 6)


def test_reductions_and_crossings():
    found = {claim.says.partition(":")[0].partition(" cost")[0]: claim for claim in claims()}
    assert [claim.printed for claim in claims()] == [
        ("50.4 %", "52.6 %"),
        ("50.0 %", "52.1 %"),
        ("61.2 %", "57.1 %"),
        ("n = 9", "n = 11"),
    ]
    assert [claim.holds for claim in claims()] == [True, False, False, False]
    assert found["tables (Horn, Raibert)"].counted == ("n = 9", "n = 11")


def test_newton_euler_has_one_status_everywhere():
    for table in ("I", "II"):
        row = next(row for row in published("hollerbach_1980", table) if row.row == "Newton-Euler")
        assert (row.multiplications.status, row.additions.status) == ("exact", "fitted by search")
