"""Costs by equation and by link: the tag of the source line, wherever the operation itself is written."""

from pathlib import Path

import pytest

from forearm.counting import Tally, count
from forearm.counting.meter.line_tags import equation_tags, tags
from forearm.formulations import FORMULATIONS


@pytest.mark.parametrize("stem", FORMULATIONS)
def test_parts_add_up(stem):
    quantity = FORMULATIONS[stem].gives[0]
    found = count(stem, 3, quantity=quantity)
    assert sum(found.by_equation.values(), Tally()) == found.total
    assert sum(found.by_link.values(), Tally()) == found.total
    known = equation_tags(FORMULATIONS[stem].module.__file__)
    assert set(found.by_equation) <= set(known)


def test_newton_euler_by_equation():
    found = count("luh_walker_paul_1980", 6, convention="as set forth, base at rest")
    split = {tag: (t.multiplications, t.additions) for tag, t in found.by_equation.items()}
    assert split["NE1"] == (12 * 6, 9 * 6 - 3)
    assert split["NE3"] == (27 * 6 - 9, 21 * 6 - 9)  # two vector products of `algebra` in one line
    assert split["NE8"] == (36 * 6 - 24, 33 * 6 - 21)  # a statement over several lines, tagged at its end
    assert split["NE9"] == (18, 12)
    assert found.rows()[-1]["multiplications"] == 852


def test_newton_euler_by_link():
    found = count("luh_walker_paul_1980", 6, convention="as set forth, base at rest")
    inner = {found.by_link["outward", i] for i in range(2, 7)}
    assert len(inner) == 1, "links 2 to 6 cost the same"
    assert found.by_link["outward", 1].multiplications == inner.pop().multiplications - 15
    assert found.by_link["inward", 6].multiplications == found.by_link["inward", 1].multiplications - 33


def test_bookkeeping_is_kept_apart():
    found = count("hollerbach_1980_3x3", 3)
    assert found.bookkeeping.multiplications > 0  # the derivatives of A, which the paper does not count
    assert found.total.trigonometry == 0
    assert found.bookkeeping.trigonometry == 6  # a sine and a cosine for each joint


def test_tags_hold_for_whole_statements(tmp_path):
    source = """
def f(a, b):
    c = a + b  # (1)
    d = (
        a
        * b
    )  # (2), (3)
    # (4) a comment of its own is no tag
    for i in range(3):  # (5)
        c = c + d
    return c, d  # not (6) a tag
"""
    file = tmp_path / "f.py"
    file.write_text(source)
    assert tags(str(file)) == {3: "1", 4: "2, 3", 5: "2, 3", 6: "2, 3", 7: "2, 3", 9: "5"}


def test_every_formulation_is_tagged():
    for row in FORMULATIONS.values():
        assert equation_tags(str(Path(row.module.__file__))), row.stem
