# ruff: noqa: E501  (one case per line reads as a table)
"""Every refusal of `forearm.faults`: how to provoke it, its class, and what it says."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from faults import tree_cases
from forearm import faults
from forearm.arm import Arm, Defect
from forearm.factorisation import factor
from forearm.faults import ArmFault, KernelFault, NoDynamics, SingularInertia, StateFault, misfits
from forearm.frames import NamedFrame, Pose
from forearm.inertia import Inertia
from forearm.kinematics import frame_pose
from forearm.link import Drive, Link, Wrench
from forearm.sweeps.reductions import Extremes

ROD = dict(mass=1.0, com=(-0.5, 0, 0), inertia=Inertia.rod(1.0, 1.0))


def two_links(**rest: Any) -> Arm:
    """A sound planar arm."""
    return Arm("rr", [Link.dh("revolute", a=1.0, name=name, **ROD) for name in ("upper", "lower")], **rest)


@faults.explained
def _halved(number: float | None = None) -> float:
    return number / 2


@faults.explained
def _doubled(number: float = 0.0, *, degrees: bool = False) -> float:
    return number * 2


@faults.explained
def _used(thing: Any) -> Any:
    return thing + 1


def _told(progress: Any) -> None:
    raise misfits.explanation("_told", [misfits.Given("progress", progress)], _wrongly(progress))


def _wrongly(function: Any) -> TypeError:
    """The error of calling it with what it does not take, as if our own code had done so."""
    code = compile("def call(function): function(1, 2)", "forearm", "exec")
    exec(code, room := {"__name__": "forearm.room"})
    try:
        room["call"](function)
    except TypeError as error:
        return error


class Letter:
    """What multiplies and adds, and is no number."""

    __mul__ = __add__ = __sub__ = lambda self, other: self
    __repr__ = lambda self: "m"


class Foreign:
    """An object whose array raises."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Nothing but an error of its own."""
        raise KeyError("mine")


class InDegrees(np.ndarray):
    """An array with a unit."""

    unit = "deg"


class Series:
    """Numbers with labels, as pandas has them."""

    index = ("elbow", "wrist")

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Two numbers."""
        return np.zeros(2)


class Table:
    """Rows with labels, as pandas has them."""

    columns = ("upper", "lower")

    def __init__(self, *index):
        self.index = index


class Labelled:
    """Numbers with the labels that are given, in so many axes."""

    def __init__(self, *index, axes=1):
        self.index, self.axes = index, axes

    def __array__(self, *_: Any, **__: Any) -> Any:
        """As many numbers as labels."""
        return np.zeros((len(self.index),) * self.axes)


class Axes:
    """Axes with names, as xarray has them."""

    coords = MappingProxyType({})

    def __init__(self, *dims):
        self.dims = dims


def kinematics_only() -> Arm:
    """An arm without masses."""
    return Arm("bones", [Link.dh("revolute", a=1.0)])


@dataclass(frozen=True)
class Case:
    """One refusal."""

    name: str
    provoke: Any
    kind: type[Exception]
    says: str

    def __str__(self) -> str:
        return self.name


def arm(name, provoke, says):
    return Case(name, provoke, ArmFault, says)


EMPTIED = SimpleNamespace(
    shape=(2,),
    stride=lambda: (1,),
    storage_offset=lambda: 0,
    numel=lambda: 2,
    element_size=lambda: 8,
    untyped_storage=lambda: SimpleNamespace(nbytes=lambda: 0),
)
"""What PyTorch says of a tensor whose storage somebody took."""


def state(name, provoke, says):
    return Case(name, provoke, StateFault, says)


PARTS = [
    state("parameters of another size", lambda: two_links().with_parameters([1.0] * 19), r"parameters have shape \(19,\); give 20 finite numbers for arm 'rr'"),
    arm("moment without mass", lambda: two_links().with_parameters([0.0, 1.0, *[0.0] * 18]), r"link 'upper': mass is 0 but its first moment is 1, 0, 0 kg m; give a mass, or zeros"),
    arm("drive of no joint", lambda: two_links().with_drives({"uper": Drive()}), r"arm 'rr', with_drives: there is no joint 'uper' \(did you mean 'upper'\?\); it has upper, lower"),
    arm("too many drives", lambda: two_links().with_drives([Drive()] * 3), r"arm 'rr', with_drives"),
    arm("number for a name", lambda: Arm(7, []), r"the name of an arm is 7; give a text\."),
    arm("name without end", lambda: Link("revolute", name="n" * 300), r"the name of a link has 300 characters; give at most 255\."),
    arm("newline in a name", lambda: Link("revolute", name="a\nb"), r"the name of a link has the control character U\+000A at place 2 \('a\\nb'\); give printable characters alone\."),
    arm("number for a remark", lambda: two_links(remarks=(7,)), r"arm 'rr': a remark is 7; give a text\."),
    arm("word for a number", lambda: Link("revolute", mass="heavy"), r"link: mass is 'heavy'; give one real number in kg"),
    arm("complex number", lambda: Link("revolute", d=1j), r"link: d is 1j; give one real number in m"),
    arm("true is no number", lambda: Link("revolute", mass=True), r"link: mass is True; give one real number in kg"),
    arm("nan", lambda: Link("revolute", mass=np.nan, name="hand"), r"link 'hand': mass is nan; give a finite number in kg"),
    arm("one number for a vector", lambda: Link("revolute", com=0.3), r"com is the single number 0.3; give a vector \(x, y, z\) in m"),
    arm("two numbers", lambda: Pose.at((1, 2)), r"Pose translation is \(1, 2\); give three numbers \(x, y, z\) in m"),
    arm("nothing for a vector", lambda: Link("revolute", com=None), r"com is None; give three numbers"),
    arm("infinite component", lambda: Link("revolute", com=(0, np.inf, 0)), r"com\[1\] is inf; give a finite number in m"),
    arm("six numbers in a row", lambda: Inertia.about_com([1, 2, 3, 0, 0, 0]), r"has shape \(6,\); give a 3x3 matrix in kg m² \(numbers in one row have no agreed order; name them"),
    arm("rotation of another shape", lambda: Pose(np.eye(2)), r"Pose rotation has shape \(2, 2\); give a 3x3 matrix\."),
    arm("stretched rotation", lambda: Pose(2 * np.eye(3)), r"Pose rotation is not a rotation \(R Rᵀ differs from the unit matrix by 3, determinant 8\); give an orthonormal"),
    arm("mirror", lambda: Pose(np.diag([1, 1, -1])), r"not a rotation .* determinant -1\); give an orthonormal right-handed"),
    arm("inertia in mirrored axes", lambda: Inertia.about_com(np.eye(3), axes=-np.eye(3)), r"Inertia.about_com axes is not a rotation"),
    arm("3x3 for 4x4", lambda: Pose.from_matrix(np.eye(3)), r"Pose.from_matrix got shape \(3, 3\); give a 4x4 homogeneous matrix"),
    arm("transposed 4x4", lambda: Pose.from_matrix(Pose.at((1, 2, 3)).matrix.T), r"got the last row \(1.0, 2.0, 3.0, 1.0\); it must be \(0, 0, 0, 1\). Transposed\?"),
    arm("alpha in degrees", lambda: Link.dh("revolute", alpha=90), r"alpha is 90 rad, 14.3 turns: degrees\? Angles are in radians; give numpy.deg2rad\(90\)"),
    arm("theta in degrees", lambda: Link("revolute", theta=-180.0, name="hip"), r"link 'hip': theta is -180 rad, 28.6 turns: degrees\?"),
    arm("yaw in degrees", lambda: Pose.at(rpy=(0, 0, 45)), r"Pose yaw is 45 rad, 7.2 turns: degrees\?"),
    arm("matrix for an inertia", lambda: Link("revolute", inertia=np.eye(3)), r"link: inertia is an ndarray; give an Inertia \(Inertia.about_com or Inertia.about_origin: the point matters\)"),
    arm("tuple for a drive", lambda: Link("revolute", drive=(1, 2)), r"link: drive is a tuple; give a Drive\."),
    arm("matrix for a base", lambda: two_links(base=np.eye(4)), r"arm 'rr': base is an ndarray; give a Pose \(Pose.at\(xyz, rpy\) or Pose.from_matrix\)"),
    arm("matrix for a tool", lambda: two_links(tool=np.eye(4)), r"arm 'rr': tool is an ndarray; give a Pose"),
    arm("row for a link", lambda: Arm("rr", [(0, 1, 2, 3)]), r"arm 'rr': links\[0\] is a tuple; give a Link \(Link.dh"),
    arm("payload inertia bare", lambda: two_links().with_payload(1, inertia=np.eye(3), frame="flange"), r"payload inertia is an ndarray; give an Inertia \(Inertia.about_com"),
    arm("unknown joint kind", lambda: Link("ball"), r"link: joint kind is 'ball'; it must be 'revolute' or 'prismatic'\."),
    arm("continuous joint", lambda: Link("continuous", name="j1"), r"link 'j1': joint kind is 'continuous'; .* \(a continuous joint is 'revolute' without limits\)"),
    arm("letter for a joint", lambda: Link("P"), r"joint kind is 'P'; it must be 'revolute' or 'prismatic' \('prismatic'\)"),
    arm("fixed joint", lambda: Link("fixed"), r"a fixed joint is no joint: put its pose and body into the link before it"),
    arm("one limit", lambda: Link("revolute", limits=3.0), r"link: limits are 3.0; give \(low, high\), or None for no limits"),
    arm("limit not a number", lambda: Link("revolute", limits=(np.nan, 1)), r"link: limits are \(nan, 1\); give \(low, high\)"),
    arm("negative speed limit", lambda: Link("revolute", speed_limit=-2), r"link: speed_limit is -2; give its size, zero or positive, or None"),
    arm("effort limit in words", lambda: Link("revolute", effort_limit="10 N m"), r"link: effort_limit is '10 N m'; give its size"),
    arm("rod along w", lambda: Inertia.rod(1, 1, "w"), r"rod axis is 'w'; it must be one of 'x', 'y', 'z'"),
    arm("cylinder along two axes", lambda: Inertia.cylinder(1, 1, 1, "xy"), r"cylinder axis is 'xy'; it must be one of 'x', 'y', 'z'"),
    arm("no convention", lambda: Arm.from_dh("rr", []), r"convention is None; say convention='standard' .* or 'modified' .* There is no default"),
    arm("products without sign", lambda: Inertia.about_com(Ixx=1, Iyy=1, Izz=1, Ixy=0.1), r"Inertia.about_com gives Ixy without saying their sign; add products='tensor'"),
    arm("products in another word", lambda: Inertia.about_com(Ixx=1, Ixy=0.1, products="positive"), r"Inertia.about_com products is 'positive'; it must be one of 'tensor', 'cad'"),
    arm("not symmetric", lambda: Inertia.about_origin([[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]), r"inertia is not symmetric: entry \[0\]\[1\] is 0.1, \[1\]\[0\] is 0.2 kg m²; .* another order\?"),
    arm("unknown component", lambda: Inertia.about_com(Jxx=1), r"Inertia.about_com: got Jxx; give one 3x3 matrix, or components by name: Ixx, Iyy"),
    arm("no inertia at all", lambda: Inertia.about_origin(), r"Inertia.about_origin: got nothing; give one 3x3 matrix"),
    arm("matrix and components", lambda: Inertia.about_com(np.eye(3), Ixx=1), r"got a matrix and components; give one"),
    arm("inertia about no point", lambda: Inertia(np.eye(3)), r"inertia about is ''; use Inertia.about_com\(...\) or Inertia.about_origin\(...\), because numbers cannot tell"),
    arm("inertia about another point", lambda: Inertia(np.eye(3), "joint"), r"inertia about is 'joint'; use Inertia.about_com"),
    arm("three Coulomb numbers", lambda: Drive(coulomb=(1, 2, 3)), r"Drive coulomb is \(1, 2, 3\); give \(for positive speed, for negative speed\), both positive"),
    arm("rotor without side", lambda: Drive(rotor_inertia=1e-4, gear=50), r"Drive has rotor_inertia 0.0001 but no side; say side='motor' \(multiplied by gear²\) or side='joint'"),
    arm("unknown side", lambda: Drive(side="load"), r"Drive side is 'load'; it must be one of 'motor', 'joint'"),
    arm("no gear", lambda: Drive(gear=0), r"Drive has gear 0; give the reduction ratio"),
    arm("negative friction", lambda: Drive(viscous=-1), r"Drive viscous is -1; give its size, zero or positive"),
    arm("signed Coulomb pair", lambda: Drive(coulomb=(0.4, -0.4)), r"Drive coulomb \(negative speed\) is -0.4; give its size"),
    arm("no smoothing", lambda: Drive(smoothing=0), r"Drive smoothing is 0; give a positive speed in rad/s or m/s"),
    arm("wrench in other axes", lambda: Wrench(frame="tool"), r"Wrench frame is 'tool'; it must be one of 'world', 'local'"),
    arm("wrench at a point of nothing", lambda: Wrench(at=(1, 2, 3)), r"Wrench at is \(1, 2, 3\); give 'tool', a link's name, or \(link name, point"),
    arm("unknown frame", lambda: frame_pose(two_links(), np.zeros(2), "hand"), r"arm 'rr' has no frame 'hand'; it has base, upper, lower, flange, tool"),
    arm("payload nowhere", lambda: two_links().with_payload(1.0), r"with_payload\(frame=None\): say frame='flange' .* or frame='tool'"),
    arm("payload on the base", lambda: two_links().with_payload(1.0, frame="base"), r"payload of arm 'rr': frame 'base' stands on the base, .* give a frame that moves"),
    arm("a frame of the arm's own", lambda: NamedFrame("#1", 1), r"the name of a frame is '#1', which is the arm's own .* give another name"),
    arm("a frame beyond the arm", lambda: two_links(frames=(NamedFrame("far", 3),)), r"arm 'rr': frame 'far' rides on 3; give 0 \(the base\) to 2"),
    arm("a frame twice", lambda: two_links(frames=(NamedFrame("eye", 1), NamedFrame("eye", 2))), r"arm 'rr': two frames are called 'eye'; give each a name of its own"),
    arm("scalar gravity", lambda: two_links(gravity=9.81), r"arm 'rr': gravity is the number 9.81; give the acceleration of free fall as a vector in world axes, \(0, 0, -9.81\)"),
    arm("bare DH numbers", lambda: Arm.from_dh("rr", [(0, 1, 0, 0)], convention="standard"), r"a Denavit-Hartenberg row is \(0, 1, 0, 0\); give a mapping with names, \{'kind': 'revolute'"),
    arm("no links", lambda: Arm("empty", []), r"arm 'empty' has no links; give at least one link"),
]  # fmt: skip


def one(**body):
    return Arm("one", [Link.dh("revolute", a=1.0, name="only", **body)])


ROWS = [
    arm("unknown name in a row", lambda: Arm.from_dh("one", [{"kind": "revolute"}, {"kind": "revolute", "lenght": 1}], convention="standard"), r"row 2: there is no 'lenght'; give a, alpha, kind"),
    arm("row without kind", lambda: Arm.from_dh("one", [{"a": 1.0}], convention="modified"), r"row 1: the joint's kind is missing; give 'kind': 'revolute' or 'prismatic'"),
    arm("degrees in a row", lambda: Arm.from_dh("one", [{"kind": "revolute", "alpha": 90}], convention="modified"), r"row 1: alpha is 90 rad, 14.3 turns: degrees\?"),
    arm("centre in a row", lambda: Arm.from_dh("one", [{"kind": "revolute", "com": (1, 2)}], convention="standard"), r"row 1: link: com is \(1, 2\); give three numbers"),
]  # fmt: skip

WHOLE = [
    arm("negative mass", lambda: one(mass=-2), r"arm 'one', link 1 'only': mass is -2 kg; give a mass that is zero or positive"),
    arm("negative moment", lambda: one(mass=1, inertia=Inertia.about_com(Ixx=1, Iyy=1, Izz=-0.5)), r"link 1 'only': principal moments \(-0.5, 1, 1\) kg m² are not all positive; no rigid body has them. Inertia given about the joint"),
    arm("triangle", lambda: one(mass=1, inertia=Inertia.about_com(Ixx=0.002, Iyy=0.003, Izz=0.009)), r"principal moments \(0.002, 0.003, 0.009\) kg m² break the triangle inequality \(0.009 > 0.002 \+ 0.003\); no rigid body"),
    arm("inertia without mass", lambda: one(inertia=Inertia.about_com(np.eye(3))), r"mass is 0 but principal moments are \(1, 1, 1\) kg m²; give the mass, or a zero inertia, or declare"),
    arm("limits reversed", lambda: one(mass=1, limits=(2, -2)), r"link 1 'only': limits \(2, -2\) are not in order; give \(low, high\)"),
    arm("names that Unicode takes for one", lambda: Arm("rr", [Link("revolute", name=x) for x in ("\u00e9", "e\u0301")]), r"joint name '\u00e9' is used 2 times; names must differ"),
    arm("an invisible letter in a name", lambda: Link("revolute", name="a\u200b"), r"the name of a link has the invisible character U\+200B at place 2 \('a\\u200b'\); give printable characters alone\."),
    arm("names twice", lambda: Arm("rr", [Link("revolute", name="j")] * 3), r"joint name 'j' is used 3 times; names must differ"),
    arm("defect of no link", lambda: two_links(defects=[Defect(7, "mass", "lost")]), r"defect names link 7; links are numbered 1 to 2"),
    arm("defect of no kind", lambda: two_links(defects=[Defect(1, "weight", "lost")]), r"arm 'rr': defect kind is 'weight'; it must be one of 'mass', 'inertia_sign'"),
    arm("configurations without names", lambda: two_links(configurations=3), r"arm 'rr': configurations is 3; give named states, such as \{'home': \(0\.0, 0\.5\)\}"),
    arm("short configuration", lambda: two_links(configurations={"home": (0, 0, 0)}), r"configuration 'home' has 3 values; the arm has 2 joints"),
]  # fmt: skip

CALLS = [
    Case("torque of bones", lambda: faults.no_dynamics(kinematics_only(), "torques"), NoDynamics, r"arm 'bones' has no masses or inertias .* so it has no torques; give each link mass, com and inertia"),
    state("a name for an arm", lambda: faults.needs_arm("panda"), r"arm is a str 'panda'; give an Arm: fa.load\('panda'\)"),
    state("a path for an arm", lambda: faults.needs_arm(PurePosixPath("my/arm.urdf")), r"arm is a PurePosixPath 'my/arm.urdf'; give an Arm: fa.load\('my/arm.urdf'\)"),
    state("an array for an arm", lambda: faults.needs_arm(np.zeros(2)), r"arm is an ndarray; give an Arm: fa.load\('puma560'\)"),
    state("unknown formulation", lambda: faults.no_formulation("newton", ("luh_1980", "newton_notes"), where="derive: ", giving="torques"), r"^derive: there is no formulation 'newton' that gives torques \(did you mean 'newton_notes'\?\); give one of luh_1980, newton_notes\.$"),
    state("an array for symbols", lambda: faults.no_out("pose of rr", np.zeros(6)), r"pose of rr: out is given, and symbols and mpmath numbers give new arrays of their kind; leave it out"),
    state("batch for a formulation", lambda: faults.one_state(two_links(), "qd", np.zeros((5, 2))), r"qd has shape \(5, 2\), but arm 'rr' has 2 joints and a formulation takes one state at a time; give \(2,\)"),
    arm("unknown configuration", lambda: two_links(configurations={"home": (0, 0)}).configuration("ready"), r"arm 'rr' has no configuration 'ready'; it has home"),
    arm("configuration of none", lambda: two_links().configuration("ready"), r"has no configuration 'ready'; it has none"),
    arm("no DH row", lambda: Arm("bent", [Link("revolute", Pose.at((0, 0, 0.3), (0, 0.5, 0)), **ROD)]).dh_table(), r"arm 'bent': link 1 'joint1' has a general pose after its joint, not Tx\(a\) Rx\(alpha\)"),
    state("an array that raises", lambda: faults.state(two_links(), "q", Foreign()), r"q is a Foreign that gives no array of numbers \(KeyError: 'mine'\); give numbers, a list of them or a NumPy array\."),
    state("no numbers", lambda: faults.floats("times", [[1, 2], [3]]), r"times is a list that gives no array of numbers \(ValueError: .*\); give numbers, a list of them or a NumPy array\."),
    state("numbers without order", lambda: faults.one_state(two_links(), "q", {1.0, 2.0}), r"q is \{1\.0, 2\.0\}; give a row of 2 numbers\."),
    state("no limit", lambda: faults.limit("x", "most_bytes"), r"most_bytes is 'x'; give a number, 0 or more, or math\.inf\."),
    state("words for times", lambda: faults.motion_rows("view", two_links(), ["x"]), r"view: t is \['x'\]; give real numbers\."),
    state("a field that is no number", lambda: Extremes(True), r"Extremes: worst is True; give a whole number\."),
    state("many axes of numbers", lambda: faults.floats("times", np.zeros((1,) * 40)), r"times has 40 axes; give 30 at most\."),
    state("words for numbers", lambda: faults.floats("times", ["x"]), r"times is \['x'\]; give numbers, a list of them or a NumPy array\."),
    state("objects for numbers", lambda: faults.floats("times", [None]), r"times holds None; give numbers\."),
    state("rows of different lengths", lambda: faults.state(two_links(), "q", [[1], [2, 3]]), r"q is no array of numbers \(.*\); give rows of equal length\."),
    state("complex q", lambda: faults.state(two_links(), "q", [1j, 0]), r"q is complex; arm 'rr' takes real numbers"),
    state("words for q", lambda: faults.state(two_links(), "qd", ["a", "b"]), r"qd has type <U1; give real numbers, shape \(2,\) or \(..., 2\)"),
    state("wrong size", lambda: faults.state(two_links(), "q", np.zeros(3)), r"q has shape \(3,\), but arm 'rr' has 2 joints \(upper, lower\); give \(2,\) or a batch \(..., 2\)"),
    state("scalar q", lambda: faults.state(two_links(), "q", 1.0), r"q has shape \(\), but arm 'rr' has 2 joints"),
    state("names with unlike shapes", lambda: faults.state(two_links(), "q", {"upper": [1.0, 2.0], "lower": [1.0, 2.0, 3.0]}), r"q by joint name: shapes \(2,\), \(3,\); give each joint as many numbers"),
    state("missing and unknown names", lambda: faults.state(two_links(), "q", {"upper": 1, "gripper": 2}), r"q by joint name: missing lower and unknown gripper; arm 'rr' has upper, lower"),
    state("nan in one state", lambda: faults.finite_state(two_links(), "qd", np.array([0, np.nan])), r"qd of joint 2 'lower' is nan; give finite numbers"),
    Case("singular mass matrix", lambda: faults.singular_inertia(two_links(), np.diag([2.0, 0.0]), np.zeros(2)), SingularInertia, r"arm 'rr': the mass matrix is singular: joint 2 'lower' has no inertia about its axis .* give link 2 its mass and inertia, or a drive with rotor_inertia"),
    Case("mass matrix singular by structure", lambda: factor(np.diag([1.0, 0.0])), SingularInertia, r"singular at every q: joint 2 has no inertia .*; give link 2 its mass and inertia, or a drive"),
    Case("mass matrix of a named arm singular by structure", lambda: factor(np.diag([1.0, 0.0]), arm=two_links()), SingularInertia, r"^arm 'rr': the mass matrix is singular at every q: joint 2 'lower' has no inertia .*; give link 2 its mass and inertia, or a drive"),
    state("labelled", lambda: faults.floats("gains", Series()), r"gains has labels \(elbow, wrist\), and is taken by place; give numbers without labels"),
    state("complex numbers", lambda: faults.floats("gains", np.array([1j])), r"gains is complex; give real numbers"),
    state("batches that do not broadcast", lambda: faults.joint_batch(two_links(), "terms", q=np.zeros((2, 2)), qd=np.zeros((3, 2))), r"terms of rr: the batches of q \(2, 2\), qd \(3, 2\) do not broadcast; give leading axes"),
    state("a label twice", lambda: faults.by_labels("q", Labelled("upper", "lower", "upper"), ["upper", "lower"]), r"q has the label upper more than once; give each joint one number"),
    state("joints as rows", lambda: faults.by_labels("q", Labelled("upper", "lower", axes=2), ["upper", "lower"]), r"q has the joints as its rows; give one row for each state: q\.T"),
    state("times for joints", lambda: faults.by_labels("q", Labelled(0.0, 0.5), ["upper", "lower"]), r"q has times along its last axis \(index\), where one number for each joint is taken; give it the other way round"),
    state("joints counted backwards", lambda: faults.by_labels("q", Labelled(2, 1), ["upper", "lower"]), r"q has joints in the order 2, 1 along index, and they are taken by place; bring them into the order of the arm"),
    state("friction that drives", lambda: faults.possible_sizes("sweep: over['dry']", two_links(), "dry", np.array([1.0, -2.0])), r"sweep: over\['dry'\] goes to -2, and no arm has less than 0; give values that can be"),
    state("rows in another order", lambda: faults.rows_alike("torques", "ab", (Table(1, 2), Table(2, 1))), r"torques: row 1 along index is 1 in a and 2 in b, and rows are taken by place"),
    state("axes in another order", lambda: faults.rows_alike("torques", "ab", (Axes("run", "t", "joint"), Axes("t", "run", "joint"))), r"torques: axes of a are run, t, those of b t, run, .*b\.transpose\(\*a\.dims\)"),
    state("axes of other names", lambda: faults.rows_alike("torques", "ab", (Axes("run", "t", "joint"), Axes("run", "joint"))), r"torques: rows of a go along run, t, those of b along run, and rows are taken by place, from the last; give both the same axes"),
    state("scaled beside the numbers", lambda: faults.refuse_other_units("q", {"scale_factor": 0.1}, "convert them", StateFault), r"q: says scale_factor=0.1, which is not read; convert them"),
    state("degrees beside the numbers", lambda: faults.refuse_other_units("q", {"units": "deg"}, "convert them", StateFault), r"q: says units='deg', and numbers are read in SI units and radians; convert them"),
    state("times that stand still", lambda: faults.motion_rows("feasible", two_links(), np.zeros(3)), r"feasible: the time of row 2 is 0 s; give finite times"),
    state("a motion with NaN", lambda: faults.motion_rows("feasible", two_links(), np.arange(2.0), qd=np.array([[0, 1], [2, np.nan]])), r"feasible: qd of joint 'lower' is nan in row 2; give finite numbers"),
    state("in degrees", lambda: faults.not_in_other_units(np.ones(2).view(InDegrees), "q"), r"q: says unit='deg', and numbers are read in SI units and radians; convert the numbers"),
    state("labelled otherwise", lambda: faults.state(two_links(), "q", Series()), r"q has labels \(elbow, wrist\) that are no joints \(upper, lower\); rename them"),
    state("masked", lambda: faults.state(two_links(), "q", np.ma.array([0.0, 1.0], mask=[0, 1])), r"q has 1 masked entries, which have no value; leave out their rows, or fill them"),
    state("given back", lambda: faults.not_emptied(EMPTIED, "q"), r"q is a tensor of 16 bytes whose storage has 0: it was shrunk, or given back \(resize_\); give a tensor"),
    state("overflow", lambda: faults.not_finite(two_links(), "inverse_dynamics", {"q": np.zeros(2), "qd": np.array([0.0, 1e200])}), r"arm 'rr': inverse_dynamics is not finite: qd of joint 2 'lower' is 1e\+200, .* diverged\?"),
    state("singular pose", lambda: faults.singular_pose(two_links(), "tool", 1e17), r"arm 'rr', frame 'tool': the arm is in a singular pose \(condition 1e\+17\), .* give damping="),
    state("absolute angles", lambda: faults.no_absolute_angles(two_links(), 2), r"coordinates of arm 'rr': absolute angles are of joints that turn about parallel axes, and joint 2 'lower' turns about an axis that is not parallel"),
    state("coordinates", lambda: faults.coordinate_matrix(two_links(), (3, 1)), r"coordinates of arm 'rr': S has shape \(3, 1\); give a matrix \(2, k\) of full column rank"),
]  # fmt: skip

ARGUMENTS = [
    state("half a thread", lambda: faults.whole(1.5, "sweep: samples", 1), r"sweep: samples is 1\.5; give a whole number, 1 or more\."),
    state("no size", lambda: faults.positive(np.nan, "simulate: rtol"), r"simulate: rtol is nan; give a positive number\."),
    state("a matrix for a seed", lambda: faults.random_numbers(np.array([[1]]).view(np.matrix)), r"seed is matrix\(\[\[1\]\]\); give a whole number, 0 or more, a numpy.random.Generator, or None"),
    state("too many axes", lambda: faults.batch_shape_of([1] * 31), r"batch has 31 axes; give 30 at most"),
    state("another kind", lambda: _halved("x"), r"_halved: number is 'x'; give a number, or leave it out\."),
    state("no precision", lambda: faults.precision("float16", "tabulate: dtype"), r"tabulate: dtype is 'float16'; give 'float64' or 'float32'\."),
    state("a name for several", lambda: faults.names_of("payload", "compile: free"), r"compile: free is 'payload'; give a list of names: \['payload'\]\."),
    state("another signature", lambda: _told(lambda: None), r"_told: progress is a function that does not take what it is called with \(TypeError: .*\); help\(_told\) says what it gets"),
    Case("symbols in machine code", lambda: faults.needs_floats(one(mass=Letter()), "compile: energy"), KernelFault, r"compile: energy: link 1 'only' of arm 'one' has m, a Letter, where machine code takes a plain number; give float\(\.\.\.\), or with_values"),
    state("of no kind", lambda: _used({1, 2}), r"_used ended in TypeError: .*; thing, which is \{1, 2\}, may be the reason: help\(_used\) says what can be given\."),
    state("a word that is repeated", lambda: _doubled("3"), r"_doubled: number is '3'; give a number\."),
    state("a word for True", lambda: _doubled(3, degrees="no"), r"_doubled: degrees is 'no'; give True or False\."),
    arm("uneven rotation", lambda: Pose(Foreign()), r"Pose rotation is <.*; give a 3x3 matrix\."),
    arm("uneven matrix", lambda: Pose.from_matrix([[1], [2, 3]]), r"Pose.from_matrix got \[\[1\], \[2, 3\]\]; give a 4x4 homogeneous matrix\."),
]  # fmt: skip

TREES = [*(arm(*row) for row in tree_cases.ARM_FAULTS), *(state(*row) for row in tree_cases.STATE_FAULTS)]

CASES = [*PARTS, *ROWS, *WHOLE, *CALLS, *ARGUMENTS, *TREES]
