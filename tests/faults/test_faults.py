"""Every raise in `forearm.faults` is provoked, and its message says what a person needs."""

import ast
import traceback
from pathlib import Path

import numpy as np
import pytest

import forearm
from faults.cases import CASES, two_links
from forearm import faults
from forearm.arm import Arm, Defect
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link

HOME = Path(forearm.__file__).parent


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message(case):
    with pytest.raises(case.kind, match=case.says):
        case.provoke()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message_is_a_sentence_with_advice(case):
    with pytest.raises(faults.Fault) as caught:
        case.provoke()
    text = str(caught.value)
    assert text.rstrip().endswith((".", ".)", "?")), text
    assert ";" in text or "?" in text, text


def raises_in(path):
    """Line ranges of the raise statements of a file; a bare `raise` says nothing of its own."""
    tree = ast.parse(path.read_text())
    return [
        (node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc
    ]


def test_every_raise_is_provoked():
    seen = set()
    for case in CASES:
        try:
            case.provoke()
        except faults.Fault as fault:
            frame = traceback.extract_tb(fault.__traceback__)[-1]
            seen.add((Path(frame.filename), frame.lineno))
    missing = [
        f"{path.name}:{first}"
        for path in sorted((HOME / "faults").glob("*.py"))
        for first, last in raises_in(path)
        if not any(file == path and first <= line <= last for file, line in seen)
    ]
    assert not missing, f"no case in tests/faults/cases.py provokes {', '.join(missing)}"


MODEL = ("frames", "inertia", "link", "arm", "description", "kinematics", "energies", "drives")


@pytest.mark.parametrize("name", MODEL)
def test_the_model_raises_only_through_faults(name):
    assert raises_in(HOME / f"{name}.py") == []


def test_all_faults_of_an_arm_at_once():
    links = [
        Link("revolute", name="a", mass=-1),
        Link("revolute", name="b", mass=1, inertia=Inertia.about_com(Ixx=1, Iyy=0.1, Izz=0.1)),
        Link("revolute", name="b", mass=1, limits=(1, 0)),
    ]
    with pytest.raises(faults.ArmFault) as caught:
        Arm("bad", links, configurations={"home": ()})
    first, *rest = str(caught.value).splitlines()
    assert first == (
        "arm 'bad', link 1 'a': mass is -1 kg; give a mass that is zero or positive.   (4 more below)"
    )
    assert [line.strip().split(":")[0] for line in rest[:2]] == ["link 2 'b'", "link 3 'b'"]
    assert rest[2].strip() == "joint name 'b' is used 2 times; names must differ."
    assert len(rest) == 4


def test_declared_defect_is_a_note():
    body = dict(mass=1, inertia=Inertia.about_com(Ixx=1, Iyy=0.1, Izz=0.1))
    arm = Arm(
        "old", [Link.dh("revolute", a=1, **body)], defects=[Defect(1, "triangle", "printed so in 1979")]
    )
    assert len(arm.notes) == 1
    assert arm.notes[0].endswith("declared: printed so in 1979")
    with pytest.raises(faults.ArmFault, match="triangle"):
        arm.replace(defects=())


def test_published_rounding_is_no_fault():
    """A rod's moments rounded to ten digits may break the triangle inequality in the last one."""
    Arm("rod", [Link("revolute", mass=1, inertia=Inertia.about_com(Ixx=0.0, Iyy=1 / 3, Izz=1 / 3 + 1e-10))])


def test_symbols_pass_unchecked_and_are_counted():
    sympy = pytest.importorskip("sympy")
    m, length = sympy.symbols("m l")
    arm = Arm("pendulum", [Link.dh("revolute", a=length, mass=m, com=(-length / 2, 0, 0))])
    assert arm.notes == ("3 parameters are symbols and were not checked",)


def test_state_accepts_dicts_lists_and_batches():
    arm = two_links()
    assert faults.state(arm, "q", {"lower": 2, "upper": 1}).tolist() == [1, 2]
    assert faults.state(arm, "q", [[1, 2], [3, 4]]).shape == (2, 2)
    assert faults.state(arm, "q", np.array([1, 2], dtype=np.float32)).dtype == np.float64
    faults.finite_state(arm, "q", np.array([[np.nan, 0.0]]))


def test_long_arms_are_named_by_their_ends():
    arm = Arm("snake", [Link("revolute", mass=1)] * 12)
    with pytest.raises(faults.StateFault, match=r"12 joints \(joint1 … joint12\)"):
        faults.state(arm, "q", np.zeros(3))


def test_singular_inertia_names_the_worst_joint_of_a_coupled_matrix():
    arm = Arm("three", [Link("revolute", mass=1, name=name) for name in "abc"])
    M = np.array([[3.0, 1.0, 0.0], [1.0, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(faults.SingularInertia, match="joint 1 'a'"):
        faults.singular_inertia(arm, M, np.zeros(3))


def test_singular_inertia_of_a_slider():
    arm = Arm("slide", [Link("prismatic", mass=1, name="rail")])
    with pytest.raises(faults.SingularInertia, match="no inertia along its axis"):
        faults.singular_inertia(arm, np.zeros((1, 1)), np.zeros(1))


def test_exception_family():
    for kind, builtin in (
        (faults.ArmFault, ValueError),
        (faults.StateFault, ValueError),
        (faults.ReadFault, ValueError),
        (faults.NoDynamics, faults.ArmFault),
        (faults.SingularInertia, ArithmeticError),
        (faults.TraceFault, TypeError),
        (faults.KernelFault, RuntimeError),
    ):
        assert issubclass(kind, builtin)
        assert issubclass(kind, faults.Fault)


def test_long_values_are_shortened():
    with pytest.raises(faults.ArmFault) as caught:
        Pose.at(list(range(100)))
    assert len(str(caught.value)) < 130
    assert "..." in str(caught.value)
