"""forearm count: every form of it, bad input in one sentence, JSON, files, pictures."""

import csv
import io
import re
import sys

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.counting import CONVENTIONS, STATUSES, customised, published
from forearm.counting.costs.customised_costs import GENERAL_RECORDS, RECORDS
from forearm.formulations import FORMULATIONS

NEWTON = "luh_walker_paul_1980"
REVOLUTE_ONLY = next(stem for stem, row in FORMULATIONS.items() if not row.accepts(fa.load("stanford")))
MODIFIED = "turney_mudge_lee_1980_modified"


def asked(capsys, *words):
    """The JSON document of a run that must succeed."""
    said = forearm(capsys, "count", *words, "--json")
    assert said.code == 0, said.err
    return said.json


# -- one formulation -------------------------------------------------------------------------------------


def test_exact_counts_and_the_polynomial(capsys):
    told = asked(capsys, NEWTON, "--n", 4, "--convention", "as set forth, base at rest")
    want = fa.count(NEWTON, n=4, convention="as set forth, base at rest")
    assert told["total"]["multiplications"] == want.multiplications == 150 * 4 - 48
    assert told["polynomial"]["multiplications"] == "150n - 48"
    assert told["polynomial"]["additions"] == "122n - 51"
    assert told["convention"] == "as set forth, base at rest"
    said = forearm(capsys, "count", NEWTON, "--n", 4, "--convention", "as set forth, base at rest").out
    assert "552 multiplications, 437 additions" in said
    assert "150n - 48 | 122n - 51" in said
    assert "Gravity is charged" not in said


def test_what_the_published_count_leaves_out_is_said_beside_ours(capsys):
    said = forearm(capsys, "count", NEWTON).out
    assert "n = 6: 861 multiplications, 690 additions." in said
    sentence = (
        "Gravity is charged as an acceleration of the base; Hollerbach 1980 leaves it out: 852 | 681 with"
    )
    assert f'{sentence} --convention "as set forth, base at rest".' in said
    assert "Gravity is charged" not in forearm(capsys, "count", MODIFIED).out
    assert "Gravity is charged" not in forearm(capsys, "count", NEWTON, "--arm", "rr").out


def test_split_by_equation_adds_up(capsys):
    told = asked(capsys, NEWTON, "--by", "equation")
    *parts, total = told["rows"]
    assert total["equation"] == "total"
    assert [row["equation"] for row in parts] == list(fa.count(NEWTON).by_equation)
    for kind in ("multiplications", "additions"):
        assert sum(row[kind] for row in parts) == total[kind] == told["total"][kind]
    assert next(row for row in parts if row["equation"] == "NE8")["additions in n"] == "33n - 21"


def test_split_by_link_adds_up(capsys):
    told = asked(capsys, MODIFIED, "--by", "link", "--n", 3)
    *parts, total = told["rows"]
    assert {(row["walk"], row["link"]) for row in parts} >= {("outward", 1), ("inward", 3)}
    assert sum(row["multiplications"] for row in parts) == total["multiplications"]
    lines = forearm(capsys, "count", MODIFIED, "--by", "link", "--n", 3).out.splitlines()
    assert lines[-1].split()[:3] == ["total", str(total["multiplications"]), str(total["additions"])]


def test_on_an_arm(capsys):
    told = asked(capsys, NEWTON, "--arm", "puma560")
    want = fa.count(NEWTON, arm=fa.load("puma560"))
    assert told["total"]["additions"] == want.additions
    assert told["polynomial"] is None
    assert told["n"] == 6


def test_what_is_no_torque(capsys):
    assert asked(capsys, "walker_orin_1982", "--n", 3)["quantity"] == "mass_matrix"
    assert asked(capsys, "featherstone_1983", "--n", 3)["quantity"] == "joint_accelerations"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("hollerbachs-ledger", "Hollerbach's ledger"),
        ("NOTHING", "nothing skipped"),
        ("turney mudge lee", "Turney, Mudge, Lee"),
        ("turney, mudge, lee, vertical", "Turney, Mudge, Lee, vertical gravity"),
    ],
)
def test_conventions_by_the_beginning_of_their_name(capsys, words, name):
    assert asked(capsys, NEWTON, "--n", 2, "--convention", words)["convention"] == name


def test_conventions_are_listed(capsys):
    assert [row["convention"] for row in asked(capsys, "--convention", "list")] == list(CONVENTIONS)


# -- all formulations ------------------------------------------------------------------------------------


def test_side_by_side(capsys):
    told = asked(capsys, "--n", 2)
    assert [row["formulation"] for row in told["rows"]] == list(FORMULATIONS)
    for row in told["rows"]:
        found = fa.count(row["formulation"], n=2, quantity=row["quantity"])
        assert (row["multiplications"], row["additions"]) == (found.multiplications, found.additions)
        assert row["besides"] == f"{found.bookkeeping.multiplications} | {found.bookkeeping.additions}"
    said = forearm(capsys, "count", "--n", 2).out
    assert "For any n" in said
    assert "150n - 39" in said


def test_side_by_side_on_an_arm(capsys):
    told = asked(capsys, "--arm", "stanford")
    stems = [row["formulation"] for row in told["rows"]]
    assert stems == [s for s, row in FORMULATIONS.items() if row.accepts(fa.load("stanford"))]
    assert all(
        row["quantity"] == "mass_matrix"
        for row in asked(capsys, "--arm", "rr", "--quantity", "mass_matrix")["rows"]
    )


# -- published tables ------------------------------------------------------------------------------------


def test_published_numbers_with_status_and_explanation(capsys):
    told = asked(capsys, "--published")
    rows = [line for row in published() for line in row.rows()]
    assert told["rows"] == rows
    assert sum(told["statuses"].values()) == len(rows)
    assert list(told["statuses"]) == list(STATUSES)


def test_one_published_table(capsys):
    said = forearm(capsys, "count", "--published", "I").out
    assert "hollerbach_1980, table I" in said
    assert re.search(r"Newton-Euler +× +150n - 48 +150n - 48 +exact +0", said)
    assert re.search(r"^\[\d+\] .*simplest reading\.$", said, re.MULTILINE)
    cited = {
        int(k)
        for line in said.splitlines()
        if not line.startswith("[")
        for k in re.findall(r"\[(\d+)\]", line)
    }
    explained = {int(k) for k in re.findall(r"^\[(\d+)\]", said, re.MULTILINE)}
    assert cited == explained
    assert {row["table"] for row in asked(capsys, "4", "--published")["rows"]} == {"4"}
    assert {row["paper"] for row in asked(capsys, "--published", "hollerbach_1980")["rows"]} == {
        "hollerbach_1980"
    }


# -- schedules, strobing, customised ---------------------------------------------------------------------


def test_schedule(capsys):
    told = asked(capsys, "--schedule", "--processors", 2, 8)
    assert told["critical_path"] == 8 * 6 + 9
    assert told["critical_path_slow_multiply"] == 10 * 6 + 13
    assert [row["p"] for row in told["schedules"]] == [2, 8]
    for row in told["schedules"]:
        assert row["bound"] <= row["steps"]
        assert row["speed_up"] == (told["multiplications"] + told["additions"]) / row["steps"]
    said = forearm(capsys, "count", NEWTON, "--schedule", "--n", 3, "--convention", "nothing skipped")
    assert said.code == 0
    assert "convention 'nothing skipped'" in said.out
    on_arm = asked(capsys, NEWTON, "--schedule", "--arm", "puma560")
    assert on_arm["multiplications"] == fa.count(NEWTON, arm=fa.load("puma560")).multiplications


def test_strobing(capsys):
    told = asked(capsys, "--strobing", "--n", 4)
    costs = {row["part"]: row for row in told["costs"]}
    assert costs["M by strobing"]["multiplications in n"] == "36n^2 - 12n"
    assert costs["M by strobing"]["multiplications"] == 36 * 16 - 12 * 4
    assert {"C by strobing", "one acceleration", "one step"} <= set(costs)
    assert [row["coefficient"] for row in told["coefficients"]] == ["k1", "d1", "k2", "d2"]
    assert "36n^2 - 12n" in forearm(capsys, "count", "--strobing").out


def test_customised_beside_general_costs_and_records(capsys):
    told = asked(capsys, "--arm", "puma560", "--customised")
    ours, arbitrary, general, *rest = told["rows"]
    assert ours["operations"] == customised(fa.load("puma560")).operations < arbitrary["operations"]
    assert (general["multiplications"], general["additions"]) == (861, 690)
    assert len(rest) == len(GENERAL_RECORDS) + sum(r.arm == "puma560" for r in RECORDS)
    assert "SymPyBotics" in forearm(capsys, "count", "--arm", "puma560", "--customised").out
    mass = asked(capsys, "--arm", "rr", "--customised", "--quantity", "mass_matrix")
    assert len(mass["rows"]) == 2


# -- bad input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((NEWTON + "x",), r"no formulation 'luh_walker_paul_1980x'.*did you mean"),
        (("I", "--schedule"), "no formulation 'I'"),
        ((NEWTON, "--quantity", "mass_matrix"), "gives joint_torques, reactions, not mass_matrix"),
        (("--quantity", "happiness"), "no formulation gives 'happiness'; give one of joint_torques"),
        ((NEWTON, "--convention", "turn"), "--convention is 'turn'; give one of Turney, Mudge, Lee; Turney"),
        ((NEWTON, "--convention", "generous"), "'generous'; give one of as set forth;"),
        ((NEWTON, "--n", 0), "--n is 0; an arm has at least one joint"),
        ((NEWTON, "--n", "six"), "--n has 'six'; give a whole number"),
        ((NEWTON, "--by", "author"), "[Ii]nvalid value"),
        ((NEWTON, "--n", 3, "--arm", "rr"), "--arm has joints of its own"),
        ((NEWTON, "--arm", "nowhere"), "no built-in arm 'nowhere'"),
        ((REVOLUTE_ONLY, "--arm", "stanford"), "revolute joints only"),
        (("uicker_kahn_1969", "--n", 60), "too many to run one by one"),
        (("--by", "link"), "--by splits one formulation; name it"),
        (("--published", "VII"), "no published table 'VII'; give a paper .* or the number"),
        (("--published", "--strobing"), "--published and --strobing are different tables"),
        (("--published", "--n", 3), "--n means nothing beside --published; it goes with plain counts"),
        (("--processors", 4), "--processors means nothing alone; it goes with --schedule"),
        (("puma560",), "count: puma560 is an arm, and here goes a formulation; give --arm puma560"),
        (("--tables", "puma560"), "puma560 is an arm, and here goes a formulation; give --arm puma560"),
        (("--schedule", "--processors", 0), "0 multipliers and 0 adders; give at least one"),
        (("horn_raibert_1978", "--strobing"), "horn_raibert_1978 needs coefficients"),
        (("--customised",), "--customised is about one arm; name it"),
        (("--customised", "--arm", "rr", "--quantity", "christoffel"), "no kernel gives 'christoffel'"),
        (("newton_euler_notes", "--n", 2, "--csv", "{tmp}/no/where.csv"), "no such folder"),
        (("newton_euler_notes", "--n", 2, "--plot", "{tmp}/plot.doc"), "not written as '.doc'"),
    ],
)
def test_bad_input_is_one_sentence(capsys, tmp_path, words, message):
    said = forearm(capsys, "count", *(str(word).replace("{tmp}", str(tmp_path)) for word in words))
    assert said.code == 2, said
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert re.search(message, said.err), said.err


def test_without_matplotlib_one_sentence_says_what_to_do(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = forearm(capsys, "count", "newton_euler_notes", "--n", 2, "--plot", tmp_path / "x.png")
    assert said.code == 2
    assert said.err == (
        "forearm: pictures need matplotlib, which is not installed; pip install 'forearm[plot]' brings it.\n"
    )


# -- files -----------------------------------------------------------------------------------------------


def test_files_hold_the_same_numbers(capsys, tmp_path):
    table, text = tmp_path / "count.csv", tmp_path / "count.tex"
    said = forearm(capsys, "count", NEWTON, "--n", 3, "--csv", table, "--latex", text)
    assert said.code == 0
    assert f"written: {table}" in said.err
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert int(rows[-1]["multiplications"]) == fa.count(NEWTON, n=3).multiplications
    latex = text.read_text()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    assert rows[-1]["additions"] in latex


def test_every_form_can_be_written(capsys, tmp_path):
    forms = [
        ("--published", "II"),
        ("--strobing",),
        ("--schedule",),
        ("--arm", "rr", "--customised"),
        ("--arm", "rr"),
    ]
    for k, words in enumerate(forms):
        table, text = tmp_path / f"{k}.csv", tmp_path / f"{k}.tex"
        assert forearm(capsys, "count", *words, "--csv", table, "--latex", text, "--quiet").code == 0
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        assert rows
        assert all(None not in row and None not in row.values() for row in rows), "as many cells as columns"
        assert r"\end{tabular}" in text.read_text()


def test_forms_on_stdout(capsys):
    words = ("count", NEWTON, "--n", 2)
    assert forearm(capsys, *words, "--as", "markdown").out.startswith("| equation |")
    assert forearm(capsys, *words, "--as", "csv").out.startswith("equation,multiplications,additions")
    assert forearm(capsys, *words, "--as", "latex").out.startswith(r"\begin{table}")
    for form in ("markdown", "latex"):
        said = forearm(capsys, "count", "--published", "I", "--as", form).out
        assert "simplest reading." in said, "explanations go with the table"
    assert forearm(capsys, *words, "--csv", "-").out == forearm(capsys, *words, "--as", "csv").out


@pytest.mark.parametrize(
    "words", [(NEWTON, "--n", 3), (MODIFIED, "--n", 3, "--schedule", "--processors", 2), ("--n", 2)]
)
def test_pictures(capsys, tmp_path, words):
    pytest.importorskip("matplotlib", reason="matplotlib draws")
    path = tmp_path / "cost.png"
    said = forearm(capsys, "count", *words, "--plot", path)
    assert said.code == 0, said.err
    assert f"drawn: {path}" in said.err
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 20_000
