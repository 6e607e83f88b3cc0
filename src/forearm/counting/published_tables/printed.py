"""The published tables as data: what is printed, where, and what of ours stands beside it.

Tables I and II of Hollerbach (1980) and tables 1 to 5 of Turney, Mudge and Lee (1980), every row. Nothing here says
whether a number is right: `verdicts` works that out.
"""

from __future__ import annotations

from dataclasses import dataclass

from forearm.counting.meter import conventions as c
from forearm.counting.published_tables.countables import Countable, CountedRun, Stage, Together

HOLLERBACH, TURNEY = "hollerbach_1980", "turney_mudge_lee_1980"
PAPERS = (HOLLERBACH, TURNEY)


@dataclass(frozen=True)
class Account:
    """A stated reason for a difference, with its exact size: published less ours."""

    cell: str
    """'multiplications' or 'additions'."""
    reason: str
    """What was done differently, or the slip."""
    size: str
    """Polynomial in n, as `Polynomial.parse` reads it."""


@dataclass(frozen=True)
class Printed:
    """One row of a published table."""

    paper: str
    """Stem of the paper."""
    table: str
    """Number of the table."""
    row: str
    """Label of the row."""
    multiplications: str
    """As printed."""
    additions: str
    """As printed."""
    ours: Countable
    """What we count beside it: the formulation as written."""
    page: str = ""
    """Where it is printed."""
    others: tuple[Countable, ...] = ()
    """Other structures and conventions to try, in this order."""
    readings: tuple[tuple[str, str], ...] = ()
    """(cell, other reading) where the print or the scan is doubtful."""
    steps: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(cell, terms in q) that the paper says it sums over q = 1 … n to get this row."""
    accounts: tuple[Account, ...] = ()
    """Stated reasons for a difference."""
    remark: str = ""
    """What a reader should know."""
    searched: tuple[str, ...] = ()
    """Cells whose convention was found by trying many."""
    total_of: tuple[str, ...] = ()
    """Rows of the same table that this row adds up."""
    at_six: str = ""
    """Row of table I whose value at n = 6 this row gives."""


UICKER = CountedRun("uicker_kahn_1969", c.AS_SET_FORTH)
WATERS = CountedRun("waters_1979", c.AS_SET_FORTH)
FOUR = CountedRun("hollerbach_1980_4x4", c.AS_SET_FORTH)
THREE = CountedRun("hollerbach_1980_3x3", c.AS_SET_FORTH)
NEWTON = CountedRun("luh_walker_paul_1980", c.WITHOUT_GRAVITY)
RAIBERT = CountedRun("horn_raibert_1978", c.AS_SET_FORTH)
WATERS_OTHERS = (CountedRun("waters_1979", c.HOLLERBACH_LEDGER),)
FOUR_OTHERS = (CountedRun("hollerbach_1980_4x4", c.HOLLERBACH_LEDGER),)
THREE_OTHERS = (
    CountedRun("hollerbach_1980_3x3", c.HOLLERBACH_LEDGER),
    CountedRun("hollerbach_1980_3x3_proximal", c.HOLLERBACH_LEDGER),
    CountedRun("hollerbach_1980_3x3_gravity_4x4", c.HOLLERBACH_LEDGER),
)
NEWTON_OTHERS = (CountedRun("luh_walker_paul_1980", c.SUMS_OF_PRODUCTS),)
RAIBERT_OTHERS = (CountedRun("horn_raibert_1978_sums", c.NOTHING_SKIPPED),)

UICKER_ACCOUNTS = (
    Account(
        "multiplications",
        "inertial terms: n(n+1)(n+2)/12 of them, half the symmetric number n(n+1)(n+2)/6, instead of all "
        "n(n+1)(2n+1)/6; 129 each",
        "-32 1/4 n^3 - 32 1/4 n^2",
    ),
    Account(
        "additions",
        "inertial terms: n(n+1)(n+2)/12 of them, half the symmetric number, instead of n(n+1)(2n+1)/6; 100 each",
        "-25n^3 - 25n^2",
    ),
    Account(
        "additions",
        "gravity: 15 additions for each pair (i, j) and 2 for each joint, instead of 16 for each pair less one "
        "for each joint",
        "-1/2 n^2 + 2 1/2 n",
    ),
    Account("additions", "a slip in adding 2/3 and 1/2: 42 1/3 n for 42 1/6 n", "1/6 n"),
)
TABLE_I = (
    Printed(
        HOLLERBACH, "I", "Uicker/Kahn",
        "32 1/2 n^4 + 86 5/12 n^3 + 171 1/4 n^2 + 53 1/3 n - 128",
        "25n^3 + 66 1/3 n^3 + 129 1/2 n^2 + 42 1/3 n - 96",
        UICKER,
        readings=(("additions", "25n^4 + 66 1/3 n^3 + 129 1/2 n^2 + 42 1/3 n - 96"),),
        accounts=UICKER_ACCOUNTS,
        remark="The linear term of the additions is 16 + 16 2/3 + 7 1/2 + 2 = 42 1/6, and it alone gives whole "
        "numbers (167 at n = 1, 51,547 at n = 6): the printed 42 1/3, and with it 51,548, is a slip in "
        "adding 2/3 and 1/2.",
    ),
    Printed(
        HOLLERBACH, "I", "Waters", "106 1/2 n^2 + 620 1/4 n - 512", "82n^2 + 514n - 384", WATERS,
        others=WATERS_OTHERS,
        readings=(("multiplications", "106 1/2 n^2 + 620 1/2 n - 512"),),
        remark="620 1/4 may be the scan's misreading of 620 1/2.",
    ),
    Printed(
        HOLLERBACH, "I", "Hollerbach(4x4)", "830n - 592", "675n - 464", FOUR, others=FOUR_OTHERS,
        remark="The convention that gives the additions, and both numbers of Waters, gives 810n - 592: the print "
        "has 20n more, one padded product (16 + 4) for each link that no other row has. Excluded: a second "
        "gravity product (it would bring 15 additions, and the additions are exact), a fifth scaling of a "
        "matrix (16, not 20), savings at an end (they move the constant, which agrees). A slip of the pen "
        "for 810 is the simplest reading.",
    ),
    Printed(
        HOLLERBACH, "I", "Hollerbach(3x3)", "412n - 277", "320n - 201", THREE, others=THREE_OTHERS,
        remark="Both need origin i at joint i (then (17), (18) are right as printed and p''_1 is zero); the "
        "multiplications also price the two gravity products as 4x4 ones, the additions do not.",
    ),
    Printed(
        HOLLERBACH, "I", "Newton-Euler", "150n - 48", "131n - 48", NEWTON, others=NEWTON_OTHERS,
        searched=("additions",),
        remark="The additions take nine more for each link than the structure of the multiplications needs. Which "
        "sums to charge m additions for m terms was searched for: 3 of 128 choices fit, none of them "
        "natural.",
    ),
    Printed(HOLLERBACH, "I", "Horn, Raibert", "2n^3 + n^2", "n^3 + n^2 + 2n", RAIBERT, others=RAIBERT_OTHERS),
)  # fmt: skip


def _at_six(row: str, multiplications: str, additions: str, remark: str = "") -> Printed:
    first = next(r for r in TABLE_I if r.row == row)
    return Printed(
        HOLLERBACH, "II", row, multiplications, additions, first.ours, others=first.others, at_six=row, remark=remark
    )  # fmt: skip


TABLE_II = (
    _at_six(
        "Uicker/Kahn", "66271", "51548",
        "No cost of a term gives 66,271: at n = 6 the numbers of terms (21, 28, 56, 91, 441) are all multiples of "
        "7, and the 90 products of matrices, 64 each, leave 6, so every total is 6 more than a multiple of 7; "
        "66,271 is 2 more. It is a slip: 67,271, one digit away, is the polynomial of table I without its constant.",
    ),
    _at_six(
        "Waters", "7051", "5652",
        "7,051 would need 621 1/2 n in table I: 3 products of scalars for each link where (10) has 2.",
    ),
    _at_six("Hollerbach(4x4)", "4388", "3586"),
    _at_six("Hollerbach(3x3)", "2195", "1719"),
    _at_six("Newton-Euler", "852", "738"),
    _at_six("Horn, Raibert", "468", "264"),
)  # fmt: skip

# -- Turney, Mudge, Lee ----------------------------------------------------------------------------------


def _lagrange(*tags: str) -> CountedRun:
    return CountedRun("turney_mudge_lee_1980_lagrange", c.TURNEY_VERTICAL, tags)


_DELTA = (
    Account("multiplications", "the 16q products with the squares q'_j^2 are left out", "-8n^2 - 8n"),
    Account(
        "additions",
        "the double sum is taken over all j, k (16(q^2-1) additions) instead of j <= k with 2 q'_j q'_k",
        "2 1/2 n^3 - 2 1/2 n",
    ),
    Account("additions", "16q(q+1) is summed over q as 16(q-1)q would be", "-16n^2 - 16n"),
)
TABLE_2 = (
    Printed(TURNEY, "2", "T_j^i", "32n^2 - 32n", "24n^2 - 24n", _lagrange("1.15")),
    Printed(TURNEY, "2", "dT", "32n^2 - 32n", "24n^2 - 24n", _lagrange("dT")),
    Printed(
        TURNEY, "2", "d2T", "32/3 n^3 - 32/3 n", "8n^3 - 8n", _lagrange("d2T"),
        remark="The appendix's text has 16n(n^2-1) additions; the table is right.",
    ),
    Printed(
        TURNEY, "2", "delta", "17/6 n^3 + 17/2 n^2 + 209/3 n", "16/3 n^3 + 80/3 n", _lagrange("2.11-delta"),
        steps=(
            ("multiplications", ("16n", "1/2 n^2 - 1/2 n", "8n^2 - 8n", "64")),
            ("additions", ("16n - 16", "16n^2 - 16", "16", "48")),
        ),
        accounts=_DELTA,
    ),
    Printed(TURNEY, "2", "trace", "8n^2 + 8n", "8n^2 + 7n", _lagrange("2.11-trace")),
    Printed(TURNEY, "2", "gravity", "2n^2 + 2n", "2n^2 + n", _lagrange("2.8")),
    Printed(
        TURNEY, "2", "Total", "81/6 n^3 + 165/2 n^2 + 5n", "40/3 n^3 + 58n^2 - 64/3 n", _lagrange(),
        accounts=(
            *_DELTA,
            Account("additions", "the inertial and the gravity part of each torque are not joined", "-n"),
        ),
        total_of=("T_j^i", "dT", "d2T", "delta", "trace", "gravity"),
    ),
)  # fmt: skip


def _euler(*tags: str) -> CountedRun:
    return CountedRun("turney_mudge_lee_1980_table_3", c.TURNEY, tags)


def _modified(*tags: str) -> CountedRun:
    return CountedRun("turney_mudge_lee_1980_table_4", c.TURNEY_DIAGONAL, tags)


def _rows(
    table: str, ours: object, no_ends: c.Convention, rows: tuple[tuple[str, ...], ...]
) -> tuple[Printed, ...]:
    """Rows (label, multiplications, additions, tag, tag, ...) of table 3 or 4."""
    found = []
    for label, multiplications, additions, *tags in rows:
        run: CountedRun = ours(*tags)  # type: ignore[operator]
        others = (CountedRun(run.stem, no_ends, run.equations),)
        accounts = _SLIPS.get((table, label), ())
        found.append(
            Printed(TURNEY, table, label, multiplications, additions, run, others=others, accounts=accounts)
        )
    return tuple(found)


_ALPHA = Account("multiplications", "the 2 products of w x z q' are missing", "-2n")
_LAST_FORCE = Account("multiplications", "m_n abar_n of the last link is lost", "-3")
_COPIED = Account("additions", "4 vectors are added, not 5: the row is that of table 3", "3n")
_NEEDED = (
    Account("multiplications", "R a_{n-1}, still needed for abar_n, is lost", "-9"),
    Account("additions", "R a_{n-1}, still needed for abar_n, is lost", "-6"),
)
_SLIPS = {
    ("3", "alpha_i"): (_ALPHA,),
    ("4", "alpha_i"): (_ALPHA,),
    ("3", "f_i"): (_LAST_FORCE,),
    ("4", "a_i"): _NEEDED,
    ("4", "add n"): (_COPIED,),
}
_NO_TAU = (
    Account("multiplications", "the row tau_i is absent", "-3n"),
    Account("additions", "the row tau_i is absent", "-2n"),
)
_ENDS = (
    Account("multiplications", "no savings at the last link in r x R f and R n", "15"),
    Account("additions", "no savings at the last link in r x R f and R n", "9"),
)
_TABLE_3_TOTAL = (
    _ALPHA, _LAST_FORCE, *_NO_TAU, *_ENDS,
    Account("additions", "sums of 5 vectors are 5 additions, also at the last link", "3n + 6"),
)  # fmt: skip
_TABLE_4_TOTAL = (
    _ALPHA, *_NEEDED, *_NO_TAU, *_ENDS,
    Account("additions", "sums of 4 vectors are 5 additions, also at the last link", "6n + 6"),
)  # fmt: skip

_TABLE_3_ROWS = (
    ("omega_i", "9n", "7n", "omega"),
    ("alpha_i", "9n", "9n", "alpha"),
    ("A_i", "6n", "9n", "A"),
    ("a_i", "18n", "15n", "a"),
    ("abar_i", "9n", "9n", "a_bar"),
    ("f_i", "12n - 12", "9n - 9", "f"),
    ("I alpha", "9n", "6n", "I_alpha"),
    ("w x (I w)", "15n", "9n", "w_x_Iw"),
    ("m(r+rbar) x abar", "6n", "3n", "s_x_ma"),
    ("r x R f", "6n", "3n", "r_x_Rf"),
    ("R n", "9n", "6n", "R_n"),
    ("add n", "0", "15n", "add_n"),
)
_TABLE_4_ROWS = (
    ("omega_i", "9n", "7n", "omega"),
    ("alpha_i", "9n", "9n", "alpha"),
    ("A_i", "6n", "9n", "A"),
    ("a_i", "18n - 18", "15n - 15", "a", "a:R_a", "a:A_r"),
    ("m abar_i", "12n", "9n", "m_a_bar", "m_a_bar:A_s"),
    ("f_i", "9n - 9", "9n - 9", "f", "f:R_f"),
    ("Tr{A K sigma}", "6n", "3n", "trace"),
    ("m(r+rbar) x abar", "6n", "3n", "s_x_ma"),
    ("r x R f", "6n", "3n", "r_x_Rf"),
    ("R n", "9n", "6n", "R_n"),
    ("add n", "0", "15n", "add_n"),
)
TABLE_3 = (
    *_rows("3", _euler, c.TURNEY_NO_ENDS, _TABLE_3_ROWS),
    Printed(
        TURNEY, "3", "Total", "108n - 12", "100n - 9", _euler(),
        accounts=_TABLE_3_TOTAL, total_of=tuple(row[0] for row in _TABLE_3_ROWS),
    ),
)  # fmt: skip
TABLE_4 = (
    *_rows("4", _modified, c.TURNEY_DIAGONAL_NO_ENDS, _TABLE_4_ROWS),
    Printed(
        TURNEY, "4", "Total", "90n - 27", "88n - 24", _modified(),
        accounts=_TABLE_4_TOTAL, total_of=tuple(row[0] for row in _TABLE_4_ROWS),
    ),
)  # fmt: skip
TABLE_1 = (
    Printed(
        TURNEY, "1", "Lagrange", "81/6 n^3 + 165/2 n^2 + 5n", "40/3 n^3 + 58n^2 - 64/3 n", _lagrange(),
        accounts=TABLE_2[-1].accounts,
    ),
    Printed(TURNEY, "1", "Newton-Euler", "108n - 12", "100n - 9", _euler(), accounts=_TABLE_3_TOTAL),
    Printed(TURNEY, "1", "Modified Newton-Euler", "90n - 27", "88n - 24", _modified(), accounts=_TABLE_4_TOTAL),
)  # fmt: skip

_FORWARD = (("omega",), ("alpha",), ("A",), ("a", "a:R_a", "a:A_r"), ("m_a_bar",), ("trace",), ("s_x_ma",))
_BACKWARD = (("f", "f:R_f"), ("add_n",), ("r_x_Rf",), ("R_n",))


def _once(label: str, multiplications: str, additions: str, tag: str) -> Printed:
    slips = (Account("multiplications", _ALPHA.reason, "-2"),) if tag == "alpha" else ()
    stage = Stage(_modified(), ((tag,),), repeated=False)
    return Printed(TURNEY, "5", label, multiplications, additions, stage, accounts=slips)


_PRELUDE = (
    _once("omega_1", "9", "7", "omega"),
    _once("alpha_1", "9", "9", "alpha"),
    _once("A_1", "6", "9", "A"),
    _once("omega_2", "9", "7", "omega"),
    _once("alpha_2", "9", "9", "alpha"),
)
_FROM_ZERO = CountedRun("turney_mudge_lee_1980_table_4", c.TURNEY_DIAGONAL_NO_ENDS)
_STAGES = (
    Printed(TURNEY, "5", "forward stage", "18n", "15n", Stage(_modified(), _FORWARD)),
    Printed(
        TURNEY, "5", "backward stage", "9n", "12n", Stage(_modified(), _BACKWARD),
        others=(Stage(_FROM_ZERO, _BACKWARD),),
        remark="12 is no row of table 4: it is the sum of the 4 vectors of n_i at one addition for each.",
    ),
)  # fmt: skip
TABLE_5 = (
    *_PRELUDE,
    *_STAGES,
    Printed(
        TURNEY, "5", "Total", "27n + 42", "27n + 41",
        Together(tuple(row.ours for row in (*_PRELUDE, *_STAGES))),
        others=(Together((*(row.ours for row in (*_PRELUDE, _STAGES[0])), _STAGES[1].others[0])),),
        accounts=(Account("multiplications", "alpha_1 and alpha_2: " + _ALPHA.reason, "-4"),),
        total_of=tuple(row.row for row in (*_PRELUDE, *_STAGES)),
        remark="A sum of the largest cost of each row, not the time of any schedule: r x R f needs R f of the same "
        "stage. See the macro schedule and the list schedules for times.",
    ),
)  # fmt: skip

TABLES: dict[str, dict[str, tuple[Printed, ...]]] = {
    HOLLERBACH: {"I": TABLE_I, "II": TABLE_II},
    TURNEY: {"1": TABLE_1, "2": TABLE_2, "3": TABLE_3, "4": TABLE_4, "5": TABLE_5},
}
PAGES = {HOLLERBACH: "p. 732", TURNEY: "section 6, pp. 26-30"}
