"""Text from outside in Markdown, HTML and LaTeX: it shows as itself, and does nothing."""

import csv
import html
import json
import random
import re
import shutil
import subprocess
import unicodedata

import pytest
from markdown_it import MarkdownIt

import forearm as fa
from forearm.cli.process import run
from forearm.counting.answers.row_formats import to_csv
from forearm.derivation import derive, symbolic
from forearm.motion.motion_files import read_motion
from forearm.outside import escapes

ALPHABET = [
    "\n", "\r", "\x00", "\x1b[31m", "'", '"', "`", "``", "^^", "^^5c", "\\", "\\input{x}", "</script>", "<script>",
    "<img src=x onerror=y>", "\u202e", "\u200f", "\u2028", "$", "$$", "%", "#", "_", "__", "{", "}", "&", "&lt;", "~",
    "*", "**", "|", "[", "](", "]:", "!", "-", "+", "=", "1.", "1)", ">", "<", " ", "    ", "\t", "{{", "{%", "a", "z9",
    "name", "é", "θ", "漢", "×", "…", "::", "http://x.y", "-->", "<!--", "@",
]  # fmt: skip
"""Pieces that mean something somewhere."""
COMMANDS = {
    "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", 
    "ldots", "ensuremath", "times", "div", "cdot", "pm", "le", "ge", "backslash", "wedge", "sim",
}  # fmt: skip
"""The commands that an escape itself writes."""


def hostile(seed, pieces=12):
    rng = random.Random(seed)
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, pieces)))


TEXTS = [
    *ALPHABET,
    *(hostile(seed) for seed in range(1500)),
    hostile(1, 4) * 2500,
    "<" * 10_000,
    "`" * 10_000,
]


def shown(page):
    """What a rendered page shows, without its own paragraphs and cells."""
    assert not re.findall(r"<(?!/?(?:p|code|table|thead|tbody|tr|th|td)>)[^>]*>", page), page
    return html.unescape(re.sub(r"<[^>]*>", "", page)).strip()


def same(a, b):
    return " ".join(a.split()) == " ".join(b.split())


@pytest.mark.parametrize("where", ["{}", "a {}", "# {}", "| x |\n| --- |\n| {} |"])
def test_markdown_shows_names_as_they_are(where):
    reader = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
    for text in TEXTS:
        page = (
            reader.render(where.format(escapes.markdown(text)))
            .replace("<h1>", "<p>")
            .replace("</h1>", "</p>")
        )
        want = escapes.one_line(text).strip()
        got = (
            shown(page)
            .removeprefix("a " if where == "a {}" else "")
            .removeprefix("x" if "|" in where else "")
        )
        assert same(got, want) or (want == "" and got in ("a", "#")), (text[:200], page[:400])


def test_code_in_markdown_ends_where_it_should():
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    for text in TEXTS:
        page = reader.render(f"| x | y |\n| --- | --- |\n| a | {escapes.markdown_code(text)} |")
        assert page.count("<td>") == 2, (text[:200], page[:400])
        assert same(shown(page.split("<td>")[2]), escapes.one_line(text)), (text[:200], page[:400])


def test_html_shows_names_as_they_are():
    for text in TEXTS:
        written = escapes.html(text)
        assert not set(written) & set("<>\"'\n\0"), text[:200]
        assert html.unescape(written) == escapes.one_line(text)


def test_what_unicode_lets_a_font_ignore_was_shown_as_nothing():
    ignored = re.compile(
        "ZERO WIDTH|VARIATION SELECTOR|HANGUL.* FILLER|^TAG |^SOFT HYPHEN|^WORD JOINER|^INVISIBLE"
    )
    for code in (*range(0x80, 0x3400), *range(0xF900, 0x10000), *range(0xE0000, 0xE0200)):
        c, name = chr(code), unicodedata.name(chr(code), "")
        assert not ignored.search(name) or escapes.invisible(f"a{c}") == c, name
        if c in escapes.INVISIBLE:
            for escape in (
                escapes.one_line,
                escapes.terminal,
                escapes.html,
                escapes.markdown,
                escapes.json_text,
            ):
                assert c not in escape(f"a{c}b"), f"U+{code:04X}"
    assert json.loads(escapes.json_text('"a\u200b\U000e0061θ"')) == "a\u200b\U000e0061θ"


@pytest.mark.parametrize("escape", [escapes.latex, escapes.latex_name])
def test_latex_has_no_command_but_its_own(escape):
    for text in TEXTS:
        written = escape(text)
        assert set(re.findall(r"\\([a-zA-Z]+)", written)) <= COMMANDS, text[:200]
        bare = re.sub(r"\\ensuremath\{\^\d\}", "", re.sub(r"\\[&%_#${}]|\\ ", "", written))
        assert not set(bare) & set("$%#&_^~\0\n"), (text[:200], bare[:200])
        assert bare.count("{") == bare.count("}")


def hostile_equations(name):
    sp = pytest.importorskip("sympy", reason="SymPy is the extra `derive`")
    arm = symbolic(fa.load("rr").replace(name=name))
    letter = sp.Symbol(r"^^5cinput{/etc/hostname}<script>alert(1)</script>`|$%#_\write18{x}")
    links = (arm.links[0].replace(mass=letter), arm.links[1].replace(mass=2 / letter))
    return derive(arm.replace(links=links))


NAME = r"^^5cinput{/etc/hostname} \input{x} <script>alert(1)</script> $ % # _ { } ~ & ` | ](http://x.y)"


def test_names_put_no_command_and_no_tag_into_what_derivation_writes():
    eq = hostile_equations(NAME)
    for page in (eq.to_latex(document=True), eq.tau[0].to_latex()):
        assert "^^" not in page
        assert r"\input" not in page
        assert r"\write" not in page
        assert "<script" not in page
    report = eq.to_markdown()
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(report)
    assert "<script" not in page
    assert "href" not in page


def test_functions_of_symbols_put_no_command_into_latex():
    sp = pytest.importorskip("sympy", reason="SymPy is the extra `derive`")
    letter = sp.Symbol(r"\input{y}^^5c")
    for odd in (sp.Function(r"\input{x}")(letter), sp.sqrt(letter)):
        arm = fa.load("rr")
        links = (arm.links[0].replace(d=odd), arm.links[1])
        found = fa.pose(arm.replace(links=links), sp.symbols("q1 q2"))[2, 3].to_latex()
        assert r"\input" not in found
        assert "^^" not in found


@pytest.mark.more
def test_a_document_with_hostile_names_compiles_to_text_alone(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex compiles the page")
    secret = tmp_path / "secret.tex"
    secret.write_text("SECRET")
    for k, name in enumerate(
        (NAME.replace("/etc/hostname", str(secret)), *(escapes.one_line(hostile(s)) for s in range(20)))
    ):
        source = tmp_path / f"page{k}.tex"
        source.write_text(hostile_equations(name or "x").to_latex(document=True))
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-recorder", source.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
        assert "secret.tex" not in source.with_suffix(".fls").read_text()


@pytest.mark.parametrize("text", TEXTS[:300])
def test_no_text_begins_an_entry_of_a_bibliography(text):
    written = escapes.bibtex(f"% {text}")
    assert "@" not in written
    assert len(written.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["=HYPERLINK(1)", "@SUM(1)", "+1+cmd|' /C x'!A0", "-3+cmd|' /C x'!A0", "\t=1"]
)
def test_no_name_is_a_formula_in_a_table_of_counts(name):
    written = to_csv([{name: 1, "arm": name}])
    assert [cell for row in csv.reader(written.splitlines()) for cell in row] == [
        f"'{name}",
        "arm",
        "1",
        f"'{name}",
    ]


@pytest.mark.parametrize("cell", ["-", "-39 + 150n", "+12", "150n - 39 | 122n - 42", "-1.5e-3", ""])
def test_numbers_and_polynomials_in_a_table_of_counts_stay_as_they_are(cell):
    assert escapes.spreadsheet(cell) == cell


@pytest.mark.parametrize("name", ["x;=1+1;y", "x; @SUM(1)", "x;'=1", "x;''+1;-1", "x;y", "x;'y", ";", "'=x"])
def test_a_spreadsheet_that_begins_cells_at_semicolons_computed_a_name(name, tmp_path):
    """Where commas are decimal, lists are separated by semicolons, and quotes further on are none."""
    arm = fa.load("rr")
    arm = arm.replace(links=(arm.links[0].replace(name=name), arm.links[1]))
    path = tmp_path / "record.csv"
    fa.simulate(arm, [0.1, 0.2], duration=0.002).to_csv(path)
    for cells in (
        path.read_text().splitlines()[0].split(";"),
        to_csv([{name: name}]).splitlines()[1].split(";"),
    ):
        assert not any(cell.strip().startswith(("=", "+", "-", "@")) for cell in cells)
    assert escapes.text_of_title(escapes.csv_title(name)) == name
    assert read_motion(path, arm).samples.q[0].tolist() == [0.1, 0.2]


QUOTED = [
    'x;"=1+1;y',
    'x;" =1+1;y',
    "x;'\"=1;y",
    'x;""@x',
    "x;\uff1d1+1;y",
    'x;"\uff20SUM(1);y',
    'x;"y',
    "\uff1d1+1",
]


@pytest.mark.parametrize("name", QUOTED)
def test_a_quote_behind_a_semicolon_or_a_sign_of_full_width_hid_a_formula(name, tmp_path):
    """The quote was doubled, and so was that of a cell of nothing, behind which the formula went on."""
    arm = fa.load("rr")
    arm = arm.replace(links=(arm.links[0].replace(name=name), arm.links[1]))
    path = tmp_path / "record.csv"
    fa.simulate(arm, [0.1, 0.2], duration=0.002).to_csv(path)
    for line in (path.read_text().splitlines()[0], to_csv([{name: name}]).splitlines()[1]):
        for separator in ",;\t":
            for cell in next(csv.reader([line], delimiter=separator)):
                assert not cell.strip(' "').startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))
    assert escapes.text_of_title(escapes.csv_title(name)) == name
    assert read_motion(path, arm).samples.q[0].tolist() == [0.1, 0.2]


def test_where_an_arms_numbers_come_from_put_entries_into_a_bibliography(tmp_path, capsys):
    told = 'notes\n@preamble{"\\input{x}"}'
    fa.write_toml(fa.load("rr").replace(provenance=(("source", told),)), tmp_path / "a.toml")
    assert run(["cite", str(tmp_path / "a.toml"), "--bibtex"]) == 0
    assert "@" not in capsys.readouterr().out


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_a_column_or_a_file_called_by_an_escape_sequence_moved_the_cursor(
    tmp_path, monkeypatch, capsys, debug
):
    monkeypatch.chdir(tmp_path)
    evil = "\x1b[2J\u202e\x9b31m"
    rows = "".join(f"{k / 10},{k / 7},0.1,0.2,0.3,0.4,0,0,1\n" for k in range(4))
    (tmp_path / f"{evil}.csv").write_text(f"q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,{evil}\n{rows}")
    assert run(["compare", "rr", f"{evil}.csv"]) == 1
    assert run(["torque", "rr", f"{evil}.txt", *debug]) == 2
    heard = capsys.readouterr()
    assert "columns ignored" in heard.out + heard.err
    for text in heard:
        assert not set(text) & {"\x1b", "\x9b", "\u202e"}, text


def test_a_title_of_a_log_moved_the_cursor_of_who_called_the_library(tmp_path, caplog):
    evil = "\x1b[2J\u202e\x9b31m"
    titles = ",".join(("t", f"{evil}/position[0]", f"{evil}/position[1]"))
    (tmp_path / "log.csv").write_text(f"{titles}\n0,0.1,0.2\n1,0.2,0.3\n2,0.3,0.4\n")
    fa.view(fa.load("rr"), tmp_path / "log.csv")
    notes = read_motion(tmp_path / "log.csv", fa.load("rr")).notes
    assert any("position[0] … taken in the order" in note for note in notes)
    for text in (*notes, caplog.text):
        assert not set(text) & {"\x1b", "\x9b", "\u202e"}, text


def test_a_fault_that_told_a_key_moved_the_cursor(tmp_path):
    fa.write_toml(fa.load("rr"), tmp_path / "arm.toml")
    with (tmp_path / "arm.toml").open("a", encoding="utf-8") as file:
        file.write('[configurations]\n"\x9b31m\u202e" = ["?", 0]\n')
    with pytest.raises(fa.ReadFault, match="configurations") as caught:
        fa.load(tmp_path / "arm.toml")
    assert escapes.terminal(str(caught.value)) == str(caught.value)
