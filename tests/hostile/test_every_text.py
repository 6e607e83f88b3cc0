"""Every text that a file or a program may give an arm, through everything that is written of it: it stays text.

A text that cannot stand on a line is refused at the door (DOOR); what passes is compared, in each output, with the
same arm under a plain text: the same elements, commands and code, and something else only where text stands.
"""

import ast
import csv
import io
import json
import re
import shutil
import subprocess
import tempfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from markdown_it import MarkdownIt

import forearm as fa
from cli.verbs import forearm
from forearm.compiler.llvm.ptx.ptx_batches import ptx_batch
from forearm.derivation import derive, symbolic
from forearm.motion.motion_files import write_columns
from forearm.outside import escapes
from forearm.page.document import Figure, PageTable, Section, page
from forearm.simulation import simulate
from forearm.writers.toml import to_toml
from shares import shared_out

TEXTS = {
    "newline": "a\nb",
    "NUL": "a\x00b",
    "escape": "a\x1b[31mb",
    "CSI": "a\x9b31mb",
    "bell": "\x07",
    "surrogate": "a\ud800b",
    "right to left": "a\u202eb",
    "separator": "a\u2028b",
    "no width": "a\u200bb",
    "joiner": "a\u2060b",
    "byte order": "\ufeffa",
    "soft hyphen": "a\u00adb",
    "variation": "a\ufe0f",
    "tag": "a\U000e0061",
    "filler": "a\u3164",
    "10 kB": "x" * 10_000,
    "quote": "a\"b'c",
    "triple": 'a"""b',
    "backslash": "a\\",
    "carets": "^^5cinput{x}",
    "script": "</script><script>x",
    "svg": "</text></svg><script>",
    "comment": "*/ int x; /*",
    "line comment": "// x \\",
    "cdata": "]]>",
    "hyphens": "a--b->",
    "percent": "%s %n {x}",
    "dollar": "$x$ $\\frac$",
    "one dollar": "$(rm x) `x`",
    "leading hyphen": "-o",
    "formula": "=cmd|' /C x'!A0",
    "at": "@SUM(1)",
    "tab": "a\tb",
    "entity": "&lt;&x;",
    "table": "| a | b |",
    "trigraph": "??/",
    "include": '#include "x"',
    "markdown": "[x](http://x.y) ![x](y)",
    "equals": "x = 1 # y",
    "empty": "",
    "spaces": "  ",
    "accents": "é漢θ",
}
"""Pieces that mean something somewhere."""
UNSEEN = ("no width", "joiner", "byte order", "soft hyphen", "variation", "tag", "filler")
DOOR = (
    "newline",
    "NUL",
    "escape",
    "CSI",
    "bell",
    "surrogate",
    "right to left",
    "separator",
    "10 kB",
    "tab",
    *UNSEEN,
)
"""No name has these."""
LINES = ("newline", "tab", "10 kB", *UNSEEN)
"""A remark or a source may have these; what shows nothing is shown there by its number."""
NASTY = ("quote", "backslash", "carets", "script", "comment", "cdata", "hyphens", "dollar", "formula")


def rr(**changes):
    return fa.load("rr").replace(gravity=(0.0, 0.0, -9.81), provenance=(), **changes)


def with_joint(text):
    arm = rr()
    return arm.replace(links=(arm.links[0].replace(name=text), arm.links[1]))


def with_defect(text):
    arm = rr()
    broken = arm.links[0].replace(inertia=fa.Inertia.about_com(Ixx=1.0, Iyy=1.0, Izz=5.0))
    return arm.replace(links=(broken, arm.links[1]), defects=(fa.Defect(1, "triangle", text),))


FIELDS = {
    "arm": lambda text: rr(name=text),
    "joint": with_joint,
    "configuration": lambda text: rr(configurations={text: (0.1, 0.2)}),
    "frame": lambda text: rr(frames=(fa.NamedFrame(text, 1),)),
    "subject": lambda text: rr().replace(provenance=((text, "a book"),)),
    "source": lambda text: rr().replace(provenance=(("mass", text),)),
    "title": lambda text: rr().replace(provenance=(("title", text),)),
    "remark": lambda text: rr(remarks=(text,)),
    "defect": with_defect,
}
FREE_TEXT = ("source", "title", "remark", "defect")


def allowed(field, name):
    return name not in DOOR or (field in FREE_TEXT and name in LINES)


def made(field, name):
    """The arm with a text in a field, or a skip where it is refused: that is tested by itself."""
    if not allowed(field, name):
        pytest.skip("refused at the door")
    if (field, name) in (("frame", "empty"), ("frame", "spaces"), ("frame", "include"), ("title", "empty")):
        pytest.skip("frames have names, without # before them; a title that is empty is none")
    return FIELDS[field](TEXTS[name])


# -- what an artefact is made of, without its text -----------------------------------------------------------


class Elements(HTMLParser):
    """Elements with the names of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.add((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_comment(self, data):
        self.found.add("comment")

    def handle_pi(self, data):
        self.found.add("instruction")


def xml_elements(text):
    return [element.tag for element in etree.fromstring(text.encode()).iter()]


def printed(arm, tmp_path):
    for text in (str(arm), repr(arm)):
        assert escapes.terminal(text) == text
    return None


def html(arm, tmp_path):
    return Elements(arm._repr_html_()).found


def toml(arm, tmp_path):
    assert fa.load(fa.write_toml(arm, tmp_path / "a.toml")) == arm
    return sorted(set(re.findall(r"^\[+\w+\]+", to_toml(arm), re.MULTILINE)))


def urdf(arm, tmp_path):
    path = fa.write_urdf(arm, tmp_path / "a.urdf", lossy=True)
    try:
        read = fa.load(path, keep_defects=True)
    except fa.Fault:  # a URDF file has to have names, macros are for xacro, # is for numbered frames
        names = (arm.name, *arm.joint_names, *(frame.name for frame in arm.frames))
        assert any(not name.strip() or "$(" in name or "#" in name for name in names), names
    else:
        assert read.name.strip() == arm.name.strip()
        assert read.joint_names == arm.joint_names
    return xml_elements(path.read_text())


def numpy_source(arm, tmp_path):
    text = fa.compile(arm, "gravity_torque").source("numpy")
    compile(text, "numpy source", "exec")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.name = "f"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def kernel_sources(arm, tmp_path):
    kernel = fa.compile(arm, "gravity_torque")
    found = [re.sub(r";.*", "", kernel.source("llvm"))]
    found.append(re.sub(r"//.*", "", kernel.source("ptx")))
    found.append(re.sub(r"//.*", "", ptx_batch(kernel.graph, "float32")))
    found.append(re.sub(r"/\*.*?\*/", "", kernel.source("c"), flags=re.DOTALL))
    assert "asm" not in found[0]
    return [re.sub(r"forearm_\w+", "", text) for text in found]


def c_files(arm, tmp_path):
    folder = tmp_path / "c"
    written = fa.emit_c(arm, folder, ("gravity_torque",))
    assert {path.parent for path in written} == {folder}, "files stand in the folder that was named"
    names = {path.stem.removesuffix("_selftest") for path in written}
    text = "".join(path.read_text() for path in written)
    for name in names:
        text = re.sub(rf"(?<![A-Za-z0-9_]){name}(?=[_.]|\b)", "X", text, flags=re.IGNORECASE)
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r'"[^"\n]*"', '""', bare)


def c_objects(arm, tmp_path):
    compiler = next(filter(shutil.which, ("gcc", "clang", "cc")), None)
    if compiler is None:
        pytest.skip("no C compiler here: gcc, clang or cc")
    flags = ["-Wall", "-Wextra", "-Werror", "-std=c99", "-c"]
    sources = [path for path in fa.emit_c(arm, tmp_path / "c", ("gravity_torque",)) if path.suffix == ".c"]
    assert sources
    for path in sources:
        words = [compiler, *flags, str(path), "-o", str(tmp_path / "x.o")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return None


def pages(arm, tmp_path):
    texts = [arm.name, *arm.joint_names, *(x for pair in arm.provenance for x in pair), *arm.remarks]
    table = PageTable(("name", *arm.joint_names), [(t, *arm.joint_names) for t in texts], arm.name, code=(1,))
    drawing = Figure("<svg width='1'></svg>", arm.name, name=arm.name)
    text = " ".join(texts).replace("`", "")
    section = Section(arm.name, text, (table, drawing))
    found = Elements(page(arm.name, text, [(arm.name, arm.joint_names[0])], "", [section], text)).found
    # short cells do not break, whatever they are
    return {kind for kind in found if kind[0] not in ("td", "th")}


def pictures(arm, tmp_path):
    plots = pytest.importorskip("forearm.plots", reason="matplotlib draws")
    t, q = np.linspace(0, 1, 5), np.zeros((5, 2))
    record = simulate(arm, [0.1, 0.2], duration=0.01)
    drawn = [
        plots.arm_figure(arm, np.zeros(2)),
        plots.torque_figure(arm, t, q),
        record.plot(),
        plots.bar_figure([(arm.name, 1.0, arm.joint_names[0])], arm.name),
    ]
    found = []
    for k, picture in enumerate(drawn):
        path = plots.save(picture, tmp_path / f"{k}.svg")
        found.append(set(xml_elements(path.read_text())))
        found.append(set(xml_elements(plots.svg(picture, "name"))))
    return found


def equations(arm, tmp_path):
    pytest.importorskip("sympy", reason="SymPy is the extra `derive`")
    eq = derive(symbolic(arm))
    latex = eq.to_latex(document=True)
    assert "^^" not in latex
    return set(re.findall(r"\\(?:begin|end|input|write|usepackage|def|let|catcode)\b\{?[^}]*", latex))


def markdown(arm, tmp_path):
    pytest.importorskip("sympy", reason="SymPy is the extra `derive`")
    shown = (
        MarkdownIt("commonmark", {"html": True}).enable("table").render(derive(symbolic(arm)).to_markdown())
    )
    return Elements(shown).found


def tables(arm, tmp_path):
    path = write_columns(tmp_path / "t.csv", {f"q:{name}": np.zeros(2) for name in arm.joint_names})
    simulate(arm, [0.1, 0.2], duration=0.002).to_csv(tmp_path / "r.csv")
    for file in (path, tmp_path / "r.csv"):
        rows = list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))
        assert len({len(row) for row in rows}) == 1
        for cell in rows[0]:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), "a spreadsheet would compute it"
        assert all(re.fullmatch(r"-?[\d.e+-]+|nan|inf", cell) for row in rows[1:] for cell in row)
    return None


def verbs(arm, tmp_path, capsys=None):
    path = fa.write_toml(arm, tmp_path / "a.toml")
    for words in (
        ("show",),
        ("show", "--json"),
        ("torque", "--q", "0.1", "0.2"),
        ("check",),
        ("convert", "-"),
    ):
        said = forearm(capsys, words[0], path, *words[1:])
        assert said.code in (0, 1), said.err
        for text in (said.out, said.err):
            assert escapes.terminal(text) == text
        if "--json" in words:
            json.loads(said.out)
    return None


QUICK = (printed, html, toml, urdf, pages, tables)
SLOW = (numpy_source, kernel_sources, c_files, c_objects, pictures, equations, markdown)
SHOWN = ("arm", "joint", "source")
"""Fields whose text stands in most outputs."""


@cache
def plain(output, field):
    """What an output is made of under a plain text."""
    with tempfile.TemporaryDirectory() as folder:
        return output(FIELDS[field]("plain"), Path(folder))


def compare(output, field, name, tmp_path):
    arm = made(field, name)
    found, want = output(arm, tmp_path), plain(output, field)
    if isinstance(want, set):
        assert found <= want, found - want
    elif isinstance(want, list) and want and isinstance(want[0], set):
        assert all(a <= b for a, b in zip(found, want, strict=True))
    else:
        assert found == want


@pytest.mark.parametrize("name", DOOR)
@pytest.mark.parametrize("field", FIELDS)
def test_what_cannot_stand_on_a_line_is_refused_at_the_door(field, name):
    if allowed(field, name):
        FIELDS[field](TEXTS[name])
        return
    with pytest.raises(
        fa.ArmFault, match=r"(control|invisible) character U\+|has 10000 characters"
    ) as caught:
        FIELDS[field](TEXTS[name])
    assert len(str(caught.value)) < 1000
    assert escapes.terminal(str(caught.value)) == str(caught.value)


@pytest.mark.parametrize("output", QUICK, ids=lambda f: f.__name__)
@pytest.mark.parametrize("field", FIELDS)
def test_a_share_of_the_texts_stays_text(output, field, tmp_path):
    for name in NASTY:
        (tmp_path / name).mkdir()
        compare(output, field, name, tmp_path / name)


@pytest.mark.parametrize("output", SLOW, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("field", "name"), [("arm", "script"), ("joint", "dollar")])
def test_a_share_of_the_texts_stays_text_in_what_is_compiled(output, field, name, tmp_path):
    compare(output, field, name, tmp_path)


OUTPUTS = {output.__name__: output for output in (*QUICK, *SLOW)}


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")  # fonts of this machine
@pytest.mark.parametrize(
    ("output", "field", "name"),
    shared_out(
        (
            (output, field, name)
            for output in OUTPUTS
            for field in FIELDS
            for name in TEXTS
            if (output != "pictures" or field in SHOWN) and (name not in DOOR or name in LINES)
        ),
        12,
    ),
)
def test_every_text_of_every_field_stays_text_in_every_output(output, field, name, tmp_path):
    compare(OUTPUTS[output], field, name, tmp_path)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "name", ["script", "dollar", *(pytest.param(n, marks=pytest.mark.more) for n in TEXTS if n not in DOOR)]
)
def test_verbs_print_text_alone(field, name, tmp_path, capsys):
    verbs(made(field, name), tmp_path, capsys)


@pytest.mark.parametrize("name", [n for n in TEXTS if n not in ("empty", "10 kB")])
def test_titles_of_columns_and_names_of_files_are_told_harmlessly(name, tmp_path, capsys):
    text = TEXTS[name]
    path = tmp_path / "m.csv"
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        csv.writer(file).writerows(
            [("t", "q1", "q2", text), (0, 1, 2, 3), (1, 1, 2, 3), (2, 1, 2, 3), (3, 1, 2, 3)]
        )
    for words in ((path,), (tmp_path / f"{text}.csv",), (tmp_path / f"{text}.toml",)):
        said = forearm(capsys, "torque", "rr", *words)
        assert said.code in (0, 2), said.err
        assert "bug of" not in said.err
        for heard in (said.out, said.err):
            assert escapes.terminal(heard) == heard


@pytest.mark.parametrize("name", TEXTS)
def test_names_of_gains_stay_names(name):
    text = TEXTS[name]

    def law(t, q, qd, **gains):
        return -sum(gains.values()) * qd

    def plain(t, q, qd, gain):
        return -gain * qd

    want = simulate(fa.load("rr"), [0.1, 0.2], [1.0, 1.0], duration=0.01, law=plain, gains={"gain": 2.0})
    found = simulate(fa.load("rr"), [0.1, 0.2], [1.0, 1.0], duration=0.01, law=law, gains={text: 2.0})
    np.testing.assert_allclose(found.q, want.q, rtol=1e-12)


def test_completion_knows_verbs_and_no_files(tmp_path, monkeypatch, capsys):
    before = forearm(capsys, "completion", "bash").out
    (tmp_path / "$(touch x).toml").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert forearm(capsys, "completion", "bash").out == before
    assert escapes.terminal(before) == before
