"""Words made to be searched for hours: what looks at a text takes a time that grows with its length, not its square."""

import gzip
import time
import tracemalloc

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motion_files import read_motion_file
from forearm.readers import from_toml
from forearm.simulation import read_motion

LONG = 250_000
URDF = (
    '<robot name="a"><link name="b"/><link name="c"><inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" '
    'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="b"/>'
    '<child link="c"/></joint></robot>'
)
LETTERS = np.random.default_rng(1).choice(list("ab"), (1000, 199))
PARAMETERS = "\n".join(f"{''.join(row)} = 1" for row in LETTERS[1:])
FILES = {
    "a parameter like a thousand others": (
        "a.toml",
        f'name = "x"\nconvention = "standard"\n[parameters]\n{PARAMETERS}\nz = "{"".join(LETTERS[0])}"\n',
    ),
    "digits of a URDF": ("a.urdf", URDF.format("1" * LONG + "x")),
    "a child that is no link": (
        "a.urdf",
        URDF.format("1").replace('child link="c"', f'child link="{"c" * LONG}"'),
    ),
    "a long tag": ("a.urdf", f"<robot name='a'><{'x' * 40_000}></robot>"),
    "a long tag of MJCF": ("a.xml", f"<mujoco><{'x' * 40_000}/></mujoco>"),
    "spaces after a TOML key": ("a.toml", f"a.b.c.d.e.f.g.h.i.j{' ' * LONG}!"),
    "brackets after a TOML key": ("a.toml", f"a.b.c.d.e.f.g.h.i.j{']' * (LONG // 2)}{' ' * (LONG // 2)}!"),
    "a cell of digits": ("a.csv", f"t,q1,q2\n0,0,{'1' * LONG}x\n1,0,0\n"),
    "empty lines before a header": ("a.csv", "\n" * 10**7),
    "spaces in a header": ("a.csv", f"t{' ' * LONG}q1 q2\n0 0 1x\n1 0 0\n"),
}


def read(path):
    return read_motion(path, fa.load("rr")) if path.suffix == ".csv" else fa.load(path)


@pytest.mark.parametrize("what", FILES)
def test_a_long_word_takes_two_seconds_at_most_and_gets_a_sentence(what, tmp_path):
    name, text = FILES[what]
    (tmp_path / name).write_text(text)
    before = time.process_time()
    with pytest.raises(fa.ReadFault) as caught:
        read(tmp_path / name)
    assert time.process_time() - before < 2
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("odd", [".", "/", "q/.", "q1 [ ", "tau_j/"])
def test_titles_of_separators_take_two_seconds_at_most(odd, tmp_path):
    titles = [f"{i}{odd * (190 // len(odd))}" for i in range(2000)]
    rows = "".join(f"{i},{'0,' * 2001}0\n" for i in range(2))
    (tmp_path / "m.csv").write_text(f"{','.join(['t', 'q1', 'q2', *titles])}\n{rows}")
    before = time.process_time()
    read_motion(tmp_path / "m.csv", fa.load("rr"))
    assert time.process_time() - before < 2


@pytest.mark.parametrize("zero", ["0e999", "0.0e400", f"0e{'9' * 5000}", f"0e-{'9' * 5000}"])
def test_a_zero_with_a_great_exponent_is_a_zero(zero, tmp_path):
    (tmp_path / "m.csv").write_text(f"t,q1,q2\n0,0,{zero}\n1,0,0\n")
    assert read_motion_file(tmp_path / "m.csv", fa.load("rr")).q[0, 1] == 0


def test_short_rows_under_a_wide_header_take_no_memory_for_missing_cells(tmp_path):
    titles = [f"x{i}" for i in range(400)]
    (tmp_path / "m.csv").write_text(f"{','.join(['t', 'q1', 'q2', *titles])}\n" + "1\n" * (1 << 18))
    tracemalloc.start()
    try:
        with pytest.raises(fa.ReadFault, match=r"m\.csv:2: 1 cells; expected 403"):
            read_motion(tmp_path / "m.csv", fa.load("rr"))
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_a_thousand_long_names_that_are_nearly_alike_are_compared_in_two_seconds():
    """Looking for the one that was meant took 3.3 s."""
    names = "".join(f"{'a' * 190}{i:x} = 1\n" for i in range(998))
    start = time.process_time()
    with pytest.raises(fa.ReadFault, match="which is no parameter"):
        from_toml(f'name = "x"\nconvention = "tree"\n[parameters]\n{names}b = "{"a" * 190}zzz"\n')
    assert time.process_time() - start < 2


def test_lines_of_a_small_archive_that_hold_nothing_took_an_hour(tmp_path, monkeypatch):
    monkeypatch.setattr("forearm.motion.number_tables.MOST_EMPTY", 1000)
    (tmp_path / "a.csv").write_text("t,q1,q2\n0,0,0\n1,1,1\n" + " \n" * 1001)
    with pytest.raises(fa.ReadFault, match=r"a\.csv:1004: 1001 lines are empty; expected 1000 at most"):
        read_motion_file(tmp_path / "a.csv", fa.load("rr"))


@pytest.mark.parametrize("line", [b"\n", b" " * 1000 + b"\n"], ids=["newlines", "blanks"])
def test_newlines_of_a_small_archive_kept_a_reader_busy_for_hours(line, tmp_path):
    """Three megabytes of archive took minutes: newlines alone were left out without being counted."""
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"t,q1,q2,tau1,tau2\n0,0,0,0,0\n")
        for _ in range(80):
            file.write(line * ((1 << 20) // len(line)))
    with pytest.raises(fa.ReadFault, match=r"lines are empty|letters in lines without a number"):
        fa.identify(fa.load("rr"), tmp_path / "a.csv.gz")
