"""print(arm), its HTML and the Denavit-Hartenberg view."""

import re

import numpy as np
import pytest
from lxml import html

from arms import random_arm, random_rotation
from close import assert_close
from forearm.arm import Arm
from forearm.denavit_hartenberg import dh_row
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.kinematics import frame_pose
from forearm.link import Drive, Link
from forearm.readers import known_arms, load

ROD = dict(mass=1.5, com=(-0.5, 0, 0), inertia=Inertia.rod(1.5, 1.0))

PRINTED = """\
elbow (Two rods): 2 joints (1 revolute, 1 prismatic), 3 kg
  gravity   (0, 0, -9.81) m/s², world axes
  base      at (0, 0, 0.5) m, roll pitch yaw (0, 0, π/2) rad
  tool      the flange (frame n)
  included  rigid bodies: on, gravity: on, friction: on, rotor: on (reflected)
  named q   home

Joints   Rz(q + θ) Tz(d) Tx(a) Rx(α), q added to d where prismatic; m, rad
     name   kind       a     α      d  θ          limits  effort
  1  hip    revolute   1  -π/2  0      0            ±90°      20
  2  slide  prismatic  1     0  0.125  0  0.1 m to 0.5 m    none

Bodies   link axes, inertia about the centre of mass (to 4 digits); kg, m, kg m²; products of inertia are zero
     name   mass     x  y  z  Ixx    Iyy    Izz
  1  hip     1.5  -0.5  0  0    0  0.125  0.125
  2  slide   1.5  -0.5  0  0    0  0.125  0.125

Drives   as the joint feels them, rotor inertia reflected; kg m², N m s/rad, N m, rad/s (kg, N s/m, …)
     name   rotor  gear  viscous  dry +  dry -  smoothing
  1  hip      0.5   -50      0.1    0.3    0.4      0.001
  2  slide    0       1      0      0      0        0.001

Provenance
  - masses: a kitchen scale"""


def elbow():
    hip = Link.dh(
        "revolute",
        a=1.0,
        alpha=-np.pi / 2,
        name="hip",
        limits=(-np.pi / 2, np.pi / 2),
        effort_limit=20,
        drive=Drive(2e-4, -50, "motor", viscous=0.1, coulomb=(0.3, 0.4)),
        **ROD,
    )
    slide = Link.dh("prismatic", a=1.0, d=0.125, name="slide", limits=(0.1, 0.5), **ROD)
    told = (("title", "Two rods"), ("masses", "a kitchen scale"))
    base = Pose.at((0, 0, 0.5), (0, 0, np.pi / 2))
    return Arm("elbow", [hip, slide], base=base, provenance=told, configurations={"home": (0, 0.2)})


def test_printed_arm():
    assert str(elbow()) == PRINTED


def test_printed_arm_says_what_is_included():
    assert "friction: off, rotor: off" in str(elbow().without_drives())
    assert "gravity: off" in str(elbow().replace(gravity=(0, 0, 0)))
    joint_side = elbow().links[0].replace(drive=Drive(0.5, side="joint"))
    assert "friction: off, rotor: on (reflected)" in str(Arm("x", [joint_side]))


def test_kinematics_only_is_said():
    text = str(load("cobra600"))
    assert "kinematics only: no masses are known" in text
    assert "Bodies" not in text


def test_notes_and_unchecked_symbols_are_printed():
    sympy = pytest.importorskip("sympy")
    text = str(Arm("s", [Link.dh("revolute", a=sympy.Symbol("l1"), mass=2)], gravity=(0, 0, 9.81)))
    assert "l1" in text
    assert "1 parameters are symbols and were not checked" in text
    assert "points up: is the arm hanging from the ceiling?" in text


def test_symbolic_rotation_prints_dots():
    sympy = pytest.importorskip("sympy")
    text = str(Arm("s", [Link.dh("revolute", alpha=sympy.Symbol("al"), mass=2)]))
    assert "·" in text


@pytest.mark.parametrize("name", known_arms())
def test_built_in_arms_print_within_a_page(name):
    text = str(load(name))
    assert name in text.splitlines()[0]
    assert max(map(len, text.splitlines())) <= 130
    assert text == "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", ["puma560", "stanford", "cobra600"])
def test_html_has_the_cells_of_the_text(name):
    arm = load(name)
    tree = html.fragment_fromstring(arm._repr_html_())
    cells = {cell.text for cell in tree.iter("td") if cell.text}
    words = {word for line in str(arm).splitlines() for word in re.split(r"\s{2,}", line.strip())}
    missing = {c for c in cells if c not in words and "," not in c}
    assert not missing
    assert all(link.name in cells for link in arm.links)


def test_html_is_escaped():
    arm = Arm("<b>&", [Link("revolute", mass=1, name="<i>")])
    assert "<i>" not in arm._repr_html_()
    # what stands between dollars would be a formula in a notebook: MathJax leaves elements of these classes alone
    root = html.fragment_fromstring(arm._repr_html_())
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(root.get("class").split())
    assert "&lt;b&gt;&amp;" in arm._repr_html_()


# -- the Denavit-Hartenberg view -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_dh_table_gives_back_its_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (4, 4))
    kinds = rng.choice(["revolute", "prismatic"], 4)
    links = [
        Link.dh(k, a=a, alpha=al, d=d, theta=t, **ROD) for k, (a, al, d, t) in zip(kinds, rows, strict=True)
    ]
    assert_close(Arm("x", links).dh_table(), rows, eps=4)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("flip", [False, True])
def test_turns_and_shifts_along_the_axis_join_theta_and_d(kind, flip):
    """X = Rz Tz Tx Rx has a row too: the same pose at every q."""
    X = Pose.at((0, 0, 0.2), (0, 0, 0.7)) @ Pose.dh(0.3, -0.4)
    arm = Arm("x", [Link(kind, X, 0.1, 0.5, flip=flip, **ROD)])
    (a, alpha, d, theta) = arm.dh_table()[0]
    assert_close([a, alpha, d, theta], [0.3, -0.4, 0.7, 0.8], eps=16)
    again = Arm("x", [Link.dh(kind, a=a, alpha=alpha, d=d, theta=theta, flip=flip, **ROD)])
    for q in (-0.4, 1.3):
        for got, want in zip(frame_pose(again, [q]), frame_pose(arm, [q]), strict=True):
            assert_close(got, want, eps=16, scale=1)


def test_a_table_left_out_flips_and_offsets_without_a_word(caplog):
    first, second = load("rr").links
    load("rr").dh_table()
    assert caplog.messages == []
    load("rr").replace(links=(first.replace(flip=True, offset=0.5), second.replace(offset=1.0))).dh_table()
    assert "leaves out flip of q1 and offset of q1, q2: with the table alone" in caplog.messages[0]


def test_general_pose_has_no_row_and_prints_as_a_pose():
    arm = random_arm(3, 1, general=True, flips=True)
    assert dh_row(arm.links[0]) is None
    text = str(arm)
    assert "roll" in text
    assert "sign" in text


def test_skew_translation_has_no_row():
    assert dh_row(Link("revolute", Pose.at((0.3, 0.1, 0)))) is None
    assert dh_row(Link("revolute", Pose(random_rotation(np.random.default_rng(1))))) is None


def test_poses_straight_up_print():
    """Pitch of a right angle: yaw is taken as zero."""
    arm = Arm("x", [Link("revolute", Pose.at((0, 0.1, 0), (0.3, np.pi / 2, 0.0)), **ROD)])
    assert re.search(r"0\.3 +π/2 +0", str(arm))
