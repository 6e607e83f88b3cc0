"""Numbers parsed in machine code are those of float(), to the last bit, and nothing else is taken for a number."""

import io
import random
import struct
import subprocess
import sys

import numpy as np
import pytest

from forearm.motion import number_tables
from forearm.motion.number_tables import NUMBER, read_numbers
from forearm.motion.plain_numbers import plain_numbers

RANDOM = random.Random(20)
DIGITS = "0123456789"


def any_double():
    value = struct.unpack("<d", RANDOM.randbytes(8))[0]
    return repr(value) if abs(value) < float("inf") else "0"


def halfway():
    """The exact decimal form, or its beginning, of a number between two doubles."""
    return str((2 * (RANDOM.getrandbits(53) | 1 << 52) + 1) << RANDOM.randrange(4))[
        : RANDOM.randrange(15, 22)
    ]


def written(most):
    body = "".join(RANDOM.choices(DIGITS, k=RANDOM.randrange(1, most)))
    at = RANDOM.randrange(len(body) + 1)
    power = RANDOM.choice(["", f"e{RANDOM.randrange(-330, 310)}", f"E+{RANDOM.randrange(20):03d}"])
    return RANDOM.choice(["", "-", "+"]) + body[:at] + RANDOM.choice([".", ""]) + body[at:] + power


FORMS = {
    "doubles": any_double,
    "halfway": halfway,
    "measured": lambda: f"{RANDOM.uniform(-1e3, 1e3):.{RANDOM.randrange(13)}f}",
    "to the last digit": lambda: repr(RANDOM.gauss(0, 1)),
    "short": lambda: written(19),
    "long": lambda: written(40),
    "zeros": lambda: RANDOM.choice(
        ["0", "-0", "0.000", "-0.0e5", "0e-9999", "00012.5", "0.0000001234567890123456789"]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_those_of_float_to_the_last_bit(form):
    cells = [FORMS[form]() for _ in range(6_000)]
    for separator, gap in ((",", ","), (";", " ; "), ("\t", "\t"), (None, "  ")):
        rows = [cells[k : k + 6] for k in range(0, len(cells), 6)]
        if form in ("halfway", "long"):  # most of them are left to float(), for which there is little room
            rows = [[row[0], *["1.5"] * 30] for row in rows]
        text = "".join(gap.join(row) + "\n" for row in rows).encode()
        found = plain_numbers(text, separator, ".", len(rows), len(rows[0]))
        assert found is not None
        assert found.tobytes() == np.array([[float(x) for x in row] for row in rows]).tobytes()


def test_powers_of_ten_and_the_edges_of_doubles():
    cells = [
        f"{sign}{m}e{e}"
        for e in range(-345, 309)
        for m in ("1", "9.999999999999999999")
        for sign in ("", "-")
    ]
    cells += ["1.7976931348623157e308", "2.2250738585072014e-308", "4.9e-324", "2.2250738585072011e-308"]
    for cell in cells:
        found = plain_numbers(cell.encode() + b"\n", ",", ".", 1, 1)
        assert found is not None
        assert found.tobytes() == np.array([[float(cell)]]).tobytes(), cell


@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_plain_is_never_a_number(seed):
    """Texts of likely characters at random: what is taken has the right cells, each a number."""
    rng, taken = random.Random(seed), 0
    for _ in range(8_000):
        separator = rng.choice([",", ";", None])
        text = (
            "".join(
                rng.choices("0123456789012345678901234567890123+-..eE ,;\t\n_x\x00", k=rng.randrange(1, 12))
            )
            + "\n"
        )
        rows = text.count("\n")
        columns = rng.choice([1, 2])
        found = plain_numbers(text.encode(), separator, ".", rows, columns)
        if found is None:
            continue
        taken += 1
        cells = [[cell.strip() for cell in line.split(separator)] for line in text.split("\n")[:-1]]
        assert all(len(row) == columns and all(NUMBER.fullmatch(cell) for cell in row) for row in cells), (
            repr(text)
        )
        np.testing.assert_array_equal(found, [[float(cell) for cell in row] for row in cells])
    assert taken > 100


def test_decimal_commas_in_machine_code():
    found = plain_numbers(b"0,5;-1,25e2;3\n", ";", ",", 1, 3)
    np.testing.assert_array_equal(found, [[0.5, -125.0, 3.0]])
    assert plain_numbers(b"0.5;1;3\n", ";", ",", 1, 3) is None


def test_without_llvmlite_the_same_numbers_come_slower(monkeypatch):
    text = b"t,q1\n0,0.1\n1,-2.5e-3\n"
    quick = read_numbers(io.BytesIO(text), "log", lambda titles: [[0, 1]])
    monkeypatch.setattr(number_tables, "plain_numbers", lambda *given: None)
    slow = read_numbers(io.BytesIO(text), "log", lambda titles: [[0, 1]])
    np.testing.assert_array_equal(quick.parts[0], slow.parts[0])
    assert quick.words == slow.words


MISSING = """
import io, sys
sys.modules["llvmlite"] = None
from forearm.motion.number_tables import read_numbers
print(read_numbers(io.BytesIO(b"t,q1\\n0,0.1\\n1,-2.5e-3\\n"), "log", lambda titles: [[0, 1]]).parts[0].tolist())
"""


def test_a_log_is_read_where_llvmlite_is_missing():
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True)
    assert done.stdout == "[[0.0, 0.1], [1.0, -0.0025]]\n", done.stderr


@pytest.mark.parametrize(
    "tail",
    [
        b"1,2,3\n",
        b"1,1_000\n",
        *(
            pytest.param(t, marks=pytest.mark.more)
            for t in (b"1\n", b"1,\xd9\xa1\n", b"1,nan\n", b"1,1e999\n", b"1,\n")
        ),
    ],
)
def test_the_line_of_a_fault_far_down_is_named(tail):
    text = b"t,q1\n" + b"".join(b"%d,%.6f\n" % (k, k / 7) for k in range(150_000)) + tail
    with pytest.raises(number_tables.ReadFault, match=r"log:150002"):
        read_numbers(io.BytesIO(text), "log", lambda titles: [[0, 1]])
