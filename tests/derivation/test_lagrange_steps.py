"""From the Lagrangian to the torques: every step against SymPy's own derivatives, the end against the kernels."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import sympy as sp

import forearm as fa
from arms import random_arm
from cli.verbs import forearm
from close import assert_close
from derivation_printed import assert_all_printed, assert_printed
from forearm.derivation import derive, symbolic
from forearm.readers import load

m1, m2, g, l1, lc1, lc2, I1z, I2z = sp.symbols("m1 m2 g l1 lc1 lc2 I1z I2z")
q1, q2, qd1, qd2, qdd1, qdd2 = sp.symbols("q1 q2 qd1 qd2 qdd1 qdd2")


def sliding_arm():
    """R then P: the bead on a turning rod."""
    links = [
        fa.Link.dh(
            "revolute", alpha=np.pi / 2, mass=1.3, com=(0, 0, 0.2), inertia=fa.Inertia.box(1.3, 0.1, 0.1, 0.4)
        ),
        fa.Link.dh("prismatic", mass=0.7, com=(0, 0, -0.1), inertia=fa.Inertia.box(0.7, 0.05, 0.05, 0.2)),
    ]
    return fa.Arm("RP", links, gravity=(0, -9.81, 0))


@pytest.fixture(scope="module")
def rr():
    return derive(symbolic(load("rr"))).lagrange_steps()


def test_the_energies_of_rr_are_those_of_a_hand(rr):
    """Written from the figure of the notes: places of the centres of mass, speeds by differentiating them."""
    s1, c1, s12, c12 = sp.sin(q1), sp.cos(q1), sp.sin(q1 + q2), sp.cos(q1 + q2)
    assert_all_printed(rr.links[1].center, [l1 * c1 + lc2 * c12, l1 * s1 + lc2 * s12, 0])
    assert_all_printed(
        rr.links[1].velocity,
        [-l1 * qd1 * s1 - lc2 * (qd1 + qd2) * s12, l1 * qd1 * c1 + lc2 * (qd1 + qd2) * c12, 0],
    )
    v2 = l1**2 * qd1**2 + lc2**2 * (qd1 + qd2) ** 2 + 2 * l1 * lc2 * qd1 * (qd1 + qd2) * sp.cos(q2)
    assert_printed(rr.links[1].speed_squared, v2)
    T = (m1 * lc1**2 + I1z) * qd1**2 / 2 + m2 * v2 / 2 + I2z * (qd1 + qd2) ** 2 / 2
    V = m1 * g * lc1 * s1 + m2 * g * (l1 * s1 + lc2 * s12)
    assert_printed(rr.T, T)
    assert_printed(rr.V, V)
    assert_printed(rr.L, T - V)
    assert_printed(
        rr.dL_dqd[1], m2 * lc2**2 * (qd1 + qd2) + I2z * (qd1 + qd2) + m2 * l1 * lc2 * qd1 * sp.cos(q2)
    )
    assert_printed(rr.dL_dq[1], -m2 * l1 * lc2 * qd1 * (qd1 + qd2) * sp.sin(q2) - m2 * g * lc2 * c12)
    assert rr.equal


@pytest.mark.parametrize("name", ["planar_3r", "RP"])
def test_every_step_is_sympys(name):
    arm = sliding_arm() if name == "RP" else load(name)
    steps = derive(symbolic(arm)).lagrange_steps()
    eq = steps.equations
    q, qd, qdd = (sp.symbols(list(names)) for names in (eq.coordinates, eq.speeds, eq.accelerations))
    L = steps.L.to_sympy()
    letters = sorted(L.free_symbols | set(qdd) | set(q) | set(qd), key=str)
    rng = np.random.default_rng(5)
    values = [rng.uniform(0.5, 1.5) for _ in letters]
    for i in range(arm.n):
        momentum = sp.diff(L, qd[i])
        rate = sum(sp.diff(momentum, q[j]) * qd[j] + sp.diff(momentum, qd[j]) * qdd[j] for j in range(arm.n))
        wanted = [momentum, rate, sp.diff(L, q[i]), rate - sp.diff(L, q[i])]
        got = [x[i].to_sympy() for x in (steps.dL_dqd, steps.rates, steps.dL_dq, steps.tau)]
        numbers = [sp.lambdify(letters, x)(*values) for x in (wanted, got)]
        assert_close(np.array(numbers[1]), np.array(numbers[0]), eps=64, scale=100.0)


@pytest.mark.parametrize("name", ["double_pendulum", "planar_3r", "RP", "tilted"])
def test_the_torques_are_those_of_inverse_dynamics(name):
    own = {"RP": sliding_arm, "tilted": lambda: random_arm(2, 3, "RP", general=True, tilted=True, flips=True)}
    arm = own[name]() if name in own else load(name)
    steps = derive(arm).lagrange_steps()
    assert steps.equal
    eq = steps.equations
    for seed in range(5):
        state = arm.random_state(seed)
        names = (*eq.coordinates, *eq.speeds, *eq.accelerations)
        known = dict(zip(names, np.concatenate(state), strict=True))
        got = np.array([x.evaluate(known.__getitem__) for x in steps.tau])
        assert_close(got, fa.inverse_dynamics(arm, *state), eps=4096, because="sums multiplied out")


def test_energies_are_those_of_the_arm():
    arm = load("planar_3r").with_base(fa.Pose.at((0.3, 0.4, 0.1)))
    steps = derive(arm).lagrange_steps()
    q, qd, _ = arm.random_state(2)
    eq = steps.equations
    known = dict(zip((*eq.coordinates, *eq.speeds), (*q, *qd), strict=True))
    energy = fa.energy(arm, q, qd)
    assert_close(steps.T.evaluate(known.__getitem__), energy.kinetic)
    assert_close(steps.V.evaluate(known.__getitem__), energy.potential)


def test_a_wrong_step_is_told(rr):
    from dataclasses import replace

    wrong = replace(rr, tau=-rr.tau)
    assert not wrong.equal
    assert "The torques are NOT those of the closed form" in wrong.to_text()


def test_three_spellings_have_every_step(rr):
    text, latex, markdown = rr.to_text(), rr.to_latex(), rr.to_markdown()
    assert "T2 = 1/2*(m2*l1^2*qd1^2 + m2*lc2^2*(qd1 + qd2)^2 + I2z*(qd1 + qd2)^2" in text
    assert "  dL/dq1 = -g*(m1*lc1 + m2*l1)*c1 - m2*g*lc2*c12\n" in text
    assert "tau2 = d/dt dL/dqd2 - dL/dq2 = (m2*lc2^2 + I2z + m2*l1*lc2*c2)*qdd1" in text
    for spelled in (latex, markdown):
        assert r"\frac{d}{dt} \frac{\partial L}{\partial \dot{q}_{2}} &= m_{2} l_{c2}^{2}" in spelled
        assert r"L = T - V &= \tfrac{1}{2} (m_{1} l_{c1}^{2} \dot{q}_{1}^{2}" in spelled
        assert spelled.count("{") == spelled.count("}")
    assert text.count(" = ") >= 6 * 2 + 3 + 4 * 2
    assert "are those of the closed form, term by term" in text


def test_large_arms_and_base_parameters_are_refused():
    with pytest.raises(
        fa.StateFault, match=r"arm 'puma560' have 501 terms, and steps are written for up to 200"
    ):
        derive(load("puma560")).lagrange_steps()
    with pytest.raises(fa.StateFault, match=r"steps with group=True for arm 'rr'.*Leave group out"):
        derive(load("rr"), group=True).lagrange_steps()


def test_the_verb_shows_the_way(capsys, tmp_path):
    said = forearm(capsys, "derive", "planar_3r", "--steps").out
    assert "joint 3" in said
    assert "L = T - V = 1/2*(" in said
    said = forearm(capsys, "derive", "rr", "--formulation", "newton_euler_notes", "--steps").out
    assert "  a_c1 = [-0.35*qd1^2, 0.35*qdd1, 0]" in said
    data = forearm(capsys, "derive", "rr", "--steps", "--json").json
    assert data["steps"]["V"] == "18.639*s1 + 3.67875*s12"
    data = forearm(capsys, "derive", "rr", "--formulation", "newton_euler_notes", "--steps", "--json").json
    assert data["steps"]["w"] == [["0", "0", "qd1"], ["0", "0", "qd1 + qd2"]]
    forearm(capsys, "derive", "rr", "--steps", "-o", str(tmp_path / "x.md"))
    assert (tmp_path / "x.md").read_text().startswith("# From the Lagrangian to the torques: rr")


def test_a_page_of_tex_has_the_table_and_the_drawing(capsys, tmp_path):
    forearm(capsys, "derive", "stanford", "-o", str(tmp_path / "x.tex"))
    page = (tmp_path / "x.tex").read_text()
    assert r"3 & joint3 & prismatic & $0$ & $0$ & $q_{3}$ & $-\pi/2$ \\" in page
    drawing = page[page.index(r"\begin{picture}") : page.index(r"\end{picture}")]
    assert drawing.count(r"\circle{3}") == 4  # the wrist's three joints are in one place
    assert "$q_{4}, q_{5}, q_{6}$" in drawing
    width, height = map(float, re.search(r"\{picture\}\(([\d.]+),([\d.]+)\)", page).groups())
    for x, y in re.findall(r"\(([\d.-]+),([\d.-]+)\)", drawing.split("\n", 1)[1]):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height


def test_a_drawing_of_letters_says_so_and_a_pose_of_another_form_has_no_row():
    page = derive(symbolic(load("rr"))).to_latex(document=True)
    assert "1 & q1 & revolute & $l_{1}$ & $0$ & $0$ & $q_{1}$" in page
    assert "the drawing is not to scale" in page
    other = derive(random_arm(2, 3, "R", general=True)).to_latex(document=True)
    assert "There is no Denavit-Hartenberg table: the pose after joint 1, 2 is of another form." in other


@pytest.mark.more
@pytest.mark.parametrize("name", ["rr", "planar_3r", "hostile"])
def test_a_tex_engine_sets_the_steps(name, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("no TeX engine: install texlive-latex-base")
    arm = load("rr" if name == "hostile" else name)
    if name == "hostile":  # names from a file are text, never commands
        bad = r"\input{x} $^^5c %#_&~{}"
        arm = arm.replace(
            name=bad, links=tuple(link.replace(name=bad + str(i)) for i, link in enumerate(arm.links))
        )
    (tmp_path / "page.tex").write_text(derive(symbolic(arm)).lagrange_steps().to_latex(document=True))
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000
    wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < 5, "nothing runs into the margin"


def test_pages_of_steps_and_base_parameters_said_nothing_of_rounding_and_drives(capsys, tmp_path):
    drive = fa.Drive(viscous=0.5)
    link = fa.Link.dh("revolute", a=0.3, mass=1.23456789, com=(-0.1, 0, 0), drive=drive, name="j1")
    arm = fa.Arm("x", [link], gravity=(0, -9.81, 0))
    steps = derive(arm).lagrange_steps()
    for text in (steps.to_text(), steps.to_latex(), steps.to_markdown()):
        assert "rotor inertia and friction are left out" in text
        assert "numbers are written to six digits" in text
    grouped = derive(arm, group=True)
    assert "lx1 = 0.246914" in str(grouped)
    assert any("numbers are written to six digits" in note for note in grouped.notes)
    fa.write_toml(arm, tmp_path / "x.toml")
    told = forearm(capsys, "derive", tmp_path / "x.toml", "--group", "--json").json
    assert told["groupings"] == {grouping.name: str(grouping.meaning) for grouping in grouped.groupings}
