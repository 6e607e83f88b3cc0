"""Tables as CSV, JSON, LaTeX and Markdown."""

import csv
import io
import json

import pytest

from forearm.counting import count, written
from forearm.faults import StateFault

ROWS = [{"a_b": 1, "x": "p | q"}, {"a_b": 0.123456, "x": "50 % & _", "y": None}]


def test_csv_and_json_hold_the_data():
    assert list(csv.DictReader(io.StringIO(written(ROWS, "csv"))))[1]["x"] == "50 % & _"
    assert json.loads(written(ROWS, "json")) == ROWS


def test_latex_is_escaped():
    text = written(ROWS, "latex")
    assert r"50 \% \& \_" in text
    assert text.count(r"\\") == 3
    assert r"\begin{tabular}{lll}" in text


def test_markdown_keeps_its_columns():
    lines = written(ROWS, "markdown").splitlines()
    assert lines[0] == "| a b | x | y |"
    assert lines[2] == r"| 1 | p \| q |  |"
    assert lines[3].startswith("| 0.123 |")


def test_a_title_was_a_link_and_a_tag_in_markdown():
    title = "[x](http://x.y) <b> $z$ |"
    lines = written([{title: 1}], "markdown").splitlines()
    assert lines[0] == r"| [x]\(http://x.y) &lt;b&gt; \$z\$ \| |"
    assert lines[1] == "| --- |"


@pytest.mark.parametrize("name", ["[1pt] x", "[x", "*"])
def test_a_name_at_the_begin_of_a_row_was_what_the_end_of_the_row_before_takes(name):
    r"""TeX looks for a star and for a length in brackets behind `\\`, on the next line, too."""
    rows = written([{"arm": "a"}, {"arm": name}], "latex").split(r"\\")[2:]
    assert rows[0].lstrip().startswith("{}")


def test_a_count_can_be_written():
    rows = count("luh_walker_paul_1980", 2).rows()
    assert written(rows, "csv").splitlines()[0].startswith("equation,multiplications,additions")


def test_messages():
    with pytest.raises(StateFault, match="written as csv, json, latex, markdown; got 'xls'"):
        written(ROWS, "xls")
    with pytest.raises(StateFault, match="a table without rows cannot be written"):
        written([], "csv")
