"""LaTeX: parsed by matplotlib's mathtext in the quick tests, set by a TeX engine in the long ones."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import sympy as sp

from forearm.arm import Arm
from forearm.derivation import derive, symbolic
from forearm.derivation.expressions.formula_latex import latex_name, letter
from forearm.derivation.texts.latex_lines import printed_width
from forearm.inertia import Inertia
from forearm.link import Link
from forearm.readers import load


@pytest.fixture(scope="module")
def rr():
    return symbolic(load("rr"))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("m1", "m_{1}"),
        ("lc1", "l_{c1}"),
        ("_m1", r"\mathrm{\_m1}"),  # a subscript of nothing is an error of TeX
        ("I1z", "I_{1z}"),
        ("Ixx1", "I_{xx1}"),
        ("g", "g"),
        ("theta1", r"\theta_{1}"),
        ("Lzz1R", "L_{zz1R}"),
    ],
)
def test_names(name, latex):
    assert latex_name(name) == latex


def test_the_torques_of_the_notes(rr):
    text = derive(rr).to_latex()
    assert (
        r"- 2 m_{2} l_{1} l_{c2} s_{2} \dot{q}_{1} \dot{q}_{2} - m_{2} l_{1} l_{c2} s_{2} \dot{q}_{2}^{2}"
        in text
    )
    assert r"+ g (m_{1} l_{c1} + m_{2} l_{1}) c_{1} + m_{2} g l_{c2} c_{12}" in text
    assert r"M_{12} = M_{21} &= m_{2} l_{c2}^{2} + I_{2z} + m_{2} l_{1} l_{c2} c_{2}" in text


def test_steps_are_shown_link_by_link(rr):
    text = derive(rr, "newton_euler_notes").to_latex()
    assert r"\omega_{2} &= (\dot{q}_{1} + \dot{q}_{2}) \vec{k}" in text
    assert r"a_{c,1} &= -l_{c1} \dot{q}_{1}^{2} \vec{\imath} + l_{c1} \ddot{q}_{1} \vec{\jmath}" in text


def test_differences_of_angles(rr):
    assert r"c_{1-2}" in derive(rr, coordinates=[[1, 0], [-1, 1]]).to_latex()


def test_the_square_of_a_sine_was_the_sine_of_a_square():
    rest = dict(mass=1.0, com=(-0.1, 0.0, 0.2), inertia=Inertia.about_com(np.eye(3) / 100))
    arm = Arm("x", [Link.dh("revolute", a=0.3, alpha=alpha, **rest) for alpha in (0.4, 0.0)])
    text = derive(symbolic(arm, ["angles"])).to_latex()
    assert r"\cos^{2}(\alpha_{1})" in text
    assert not re.search(r"\\(sin|cos) ?\(?\\alpha_\{1\}\)?\^", text)


def test_the_cosine_of_a_sum_was_written_like_that_of_joint_twelve():
    rest = dict(a=0.3, mass=1.0, com=(-0.1, 0.0, 0.0), inertia=Inertia.about_com(np.eye(3) / 100))
    kinds = ["revolute"] * 2 + ["prismatic"] * 9 + ["revolute"]
    arm = Arm("x", [Link.dh(kind, **rest) for kind in kinds], gravity=(0, -9.81, 0))
    text = derive(arm).to_latex()
    assert r"$s_{1,2} = \sin(q_{1} + q_{2})$" in text
    gravity = {line.partition(" &= ")[0]: line for line in text.splitlines() if line.startswith("g_")}
    assert re.findall(r"c_\{[\d,]+\}", gravity["g_{12}"]) == ["c_{1,2,12}"]
    assert re.findall(r"c_\{[\d,]+\}", gravity["g_{2}"]) == ["c_{1,2}", "c_{1,2,12}"]
    mass = next(line for line in text.splitlines() if line.startswith("M_{2,12} "))
    assert re.findall(r"c_\{[\d,]+\}", mass) == ["c_{12}"]


def test_names_that_differ_by_an_underscore_only_were_one_letter():
    arm = Arm(
        "x",
        [
            Link.dh("revolute", mass=sp.Symbol(m), com=(1.0, 0.0, 0.0), inertia=Inertia.about_com(np.eye(3)))
            for m in ("m1", "m_1")
        ],
    )
    text = derive(arm).to_latex()
    assert r"\mathrm{m1}" in text
    assert r"\mathrm{m\_1}" in text


def test_a_notebook_shows_what_can_be_read(rr):
    assert derive(rr)._repr_latex_().startswith(r"\begin{align*}")
    assert derive(symbolic(load("puma560"), style="full"))._repr_latex_() is None


def test_numbers_are_short():
    text = derive(load("puma560")).to_latex()
    assert r"\cdot 10^{-5}" in text
    assert not re.search(r"[1-9]\.\d{7}", text)
    assert r"{1}}" not in text.replace(r"_{1}}", ""), "no fraction over one"


@pytest.mark.parametrize("name", ["rr", "puma560"])
def test_every_line_parses_as_mathtext(name):
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    arm = symbolic(load(name)) if name == "rr" else load(name)
    text = derive(arm, "newton_euler_notes" if name == "rr" else None).to_latex()
    blocks = re.findall(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", text, re.DOTALL)
    lines = [line for block in blocks for line in re.split(r"\\\\\n", block)]
    assert len(lines) > 15
    for line in lines[:: 1 + len(lines) // 20]:  # parsing is slow: about twenty lines of each arm
        formula = line.replace("&", "").replace(r"\quad", "").replace(r"\tfrac", r"\frac").strip()
        parser.parse(f"${formula}$")
        assert formula.count("{") == formula.count("}")


def test_lines_fit_the_page():
    text = derive(symbolic(load("puma560"), style="full"), group=True).to_latex()
    blocks = re.findall(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", text, re.DOTALL)
    lines = [line for block in blocks for line in re.split(r"\\\\\n", block)]
    assert len(lines) > 1000
    assert max(printed_width(line) for line in lines) < 120


@pytest.mark.more
@pytest.mark.parametrize("name", ["rr", "puma560", "stanford"])
def test_a_tex_engine_sets_the_page(name, tmp_path):
    engine = next((e for e in ("pdflatex", "tectonic") if shutil.which(e)), None)
    if engine is None:
        pytest.skip("no TeX engine: install texlive-latex-base")
    formulation = "newton_euler_notes" if name == "rr" else None
    arm = symbolic(load(name)) if name == "rr" else load(name)
    source = derive(arm, formulation, group=name == "puma560").to_latex(document=True)
    (tmp_path / "page.tex").write_text(source)
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine == "pdflatex" else []
    done = subprocess.run(
        [engine, *options, "page.tex"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000
    wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < 5, "nothing runs into the margin"


@pytest.mark.parametrize("names", [("m1", "m_1"), ("alpha1", "alpha_1"), ("theta", "θ"), ("a", "a_")])
def test_two_letters_of_one_expression_looked_the_same(names):
    arm = load("rr")
    links = tuple(link.replace(mass=sp.Symbol(n)) for link, n in zip(arm.links, names, strict=True))
    entry = derive(arm.replace(links=links)).M[0, 0]
    written = {letter(entry.ring, name) for name in names}
    assert len(written) == 2
    assert all(one in entry.to_latex() for one in written)
