"""A museum of broken TOML files: every complaint has file and line, what was given, what to do."""

# ruff: noqa: E501  (a row of the table is one broken file and what is said about it)

import pytest

from forearm.faults import ArmFault, ReadFault
from forearm.readers import from_toml, load

GOOD = """name = "small"
convention = "standard"
gravity = [0, 0, -9.81]

[provenance]
source = "here"

[parameters]
len = 0.4

[tool]
xyz = [0, 0, 0.1]

[[link]]
name = "shoulder"
joint = "revolute"
a = "len"
alpha = "pi/2"
d = 0.1
mass = 2
com = [0.1, 0, 0]
inertia = { about = "com", Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }
drive = { side = "motor", rotor_inertia = 1e-4, gear = 100 }
limits = ["-90 deg", "90 deg"]

[[link]]
name = "slide"
joint = "prismatic"
a = 0
alpha = 0
theta = 0
mass = 1
com = [0, 0, -0.1]
inertia = { about = "com", Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }

[configurations]
zero = [0, 0]
"""

BROKEN = [
    # syntax
    ("mass = 2", "mass = 2 kg", r"arm\.toml:20: not valid TOML: .*Mend the line"),
    # the top of the file
    ('name = "small"', "", r"arm\.toml:1: 'name' is missing; give name = \"\.\.\""),
    ('name = "small"', "name = 3", r"arm\.toml:1: name is 3; give text in quotes"),
    ('convention = "standard"', "", r"arm\.toml:1: 'convention' is missing; give convention = one of \"standard\", \"modified\", \"poses\", \"joints\""),
    ('"standard"', '"modifed"', r"arm\.toml:2: convention is 'modifed' \(did you mean 'modified'\?\); give one of"),
    ("gravity = [0, 0, -9.81]", "gravity = -9.81", r"arm\.toml:3: gravity has -9\.81; give a list of 3 numbers"),
    ("gravity = [0, 0, -9.81]", "gravity = [0, 9.81]", r"arm\.toml:3: gravity has 2 values; give a list of 3 numbers"),
    ("gravity =", "gravitiy =", r"arm\.toml:3: unknown key 'gravitiy' \(did you mean 'gravity'\?\); keys here: name, convention"),
    ("gravity =", 'units = "mm"\ngravity =', r"arm\.toml:3: units is 'mm'; bare numbers are SI .* d = \"433 mm\""),
    ("gravity =", 'dynamics = "no"\ngravity =', r"arm\.toml:3: dynamics is 'no'; give true or false, without quotes"),
    ("gravity =", "dynamics = false\ngravity =", r"arm\.toml:21: link 1 'shoulder': mass is given, but the file says dynamics = false; remove one"),
    ("gravity =", "remarks = 3\ngravity =", r"arm\.toml:3: remarks is 3; give a list of texts"),
    ('source = "here"', "source = 1", r"arm\.toml:6: \[provenance\]: source is 1; give text in quotes"),
    ("len = 0.4", "len = [1]", r"arm\.toml:9: \[parameters\]: len is \[1\]; give a number"),
    ("len = 0.4", 'len = 0.4\n"ｌｅｎ" = 0.5', r"arm\.toml:10: \[parameters\]: 'ｌｅｎ' is 'len' in a formula, as another parameter is"),
    ("len = 0.4", '"len\ufe00" = 0.4', r"arm\.toml:9: \[parameters\]: 'len\\ufe00' cannot name a parameter"),
    ("len = 0.4", "pi = 3", r"arm\.toml:9: \[parameters\]: 'pi' cannot name a parameter; use letters, digits and _, and not pi"),
    ("xyz = [0, 0, 0.1]", "at = [0, 0, 0.1]", r"arm\.toml:12: \[tool\]: unknown key 'at'; keys here: xyz"),
    ("xyz = [0, 0, 0.1]", "rpy = [0, 0, 0]\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", r"arm\.toml:13: \[tool\]: both rpy and rotation are given; give one"),
    ("xyz = [0, 0, 0.1]", "rotation = [[1, 0, 0], [0, 2, 0], [0, 0, 1]]", r"arm\.toml:12: \[tool\]: Pose rotation is not a rotation"),
    ("xyz = [0, 0, 0.1]", "rotation = [1, 2, 3]", r"arm\.toml:12: \[tool\]: rotation is \[1, 2, 3\]; give three rows of three numbers"),
    ("xyz = [0, 0, 0.1]", "rpy = [nan, 0, 0]", r"arm\.toml:12: \[tool\]: Pose rpy\[0\] is nan; give a finite number in rad"),
    ("[tool]", "[[tool]]", r"arm\.toml:11: tool is \[.*\]; give a table, tool = \{ \.\. \} or \[tool\]"),
    # links
    ('name = "slide"', "name = 4", r"arm\.toml:27: link 2: name is 4; give text in quotes"),
    ('joint = "prismatic"', "", r"arm\.toml:26: link 2 'slide': 'joint' is missing; give joint = one of \"revolute\", \"prismatic\""),
    ('joint = "revolute"', 'joint = "revolut"', r"arm\.toml:16: link 1 'shoulder': joint is 'revolut' \(did you mean 'revolute'\?\); give one of"),
    ('a = "len"', "", r"arm\.toml:14: link 1 'shoulder': 'a' is missing; give a = \.\. in m"),
    ("d = 0.1", "", r"arm\.toml:14: link 1 'shoulder': 'd' is missing; give d = \.\. in m"),
    ("theta = 0", "", r"arm\.toml:26: link 2 'slide': 'theta' is missing; give theta = \.\. in rad"),
    ('alpha = "pi/2"', "alpha_deg = 90", r"arm\.toml:18: link 1 'shoulder': unknown key 'alpha_deg'; units go with the value: alpha = \"90 deg\""),
    ('alpha = "pi/2"', "alpha = 0\nalpha_deg = 90", r"arm\.toml:19: link 1 'shoulder': unknown key 'alpha_deg'; units go with the value: alpha = \"90 deg\""),
    ('alpha = "pi/2"', 'alpha = "90 degrees"', r"arm\.toml:18: link 1 'shoulder': alpha is '90 degrees', but 'degrees' is no unit of angle; units here: rad, deg"),
    ('alpha = "pi/2"', 'alpha = "90 mm"', r"arm\.toml:18: .*alpha is '90 mm', but 'mm' is no unit of angle; units here: rad, deg"),
    ('alpha = "pi/2"', 'alpha = "right angle"', r"arm\.toml:18: .*alpha is 'right angle', but 'angle' is no unit of angle"),
    ('alpha = "pi/2"', 'alpha = "pi/2 + 10 deg"', r"arm\.toml:18: .*alpha is 'pi/2 \+ 10 deg', a sum of which all or the last alone may be in deg; give"),
    ('alpha = "pi/2"', 'alpha = "pi/2 deg"', r"arm\.toml:18: .*alpha is 'pi/2 deg', and pi is for radians; give 'pi/2' without a unit"),
    ('a = "len"', 'a = "len + 20 mm"', r"arm\.toml:17: .*a is 'len \+ 20 mm', a sum of .*; give '\(len \+ 20\) mm' if len is in mm too, and the whole in SI"),
    ('a = "len"', 'a = "(len) - (20) mm"', r"arm\.toml:17: .*a is '\(len\) - \(20\) mm', a sum of"),
    ('a = "len"', 'a = "0.5 + 20 mm"', r"arm\.toml:17: .*a is '0\.5 \+ 20 mm', a sum of .*; give '\(0\.5 \+ 20\) mm' if all of it is in mm, and the"),
    ('alpha = "pi/2"', 'alpha = "pi/"', r"arm\.toml:18: .*alpha is 'pi/', which is neither a number nor arithmetic; give a number in rad, like \"pi/2\" or \"90 deg\""),
    ('alpha = "pi/2"', 'alpha = "pi/0"', r"arm\.toml:18: .*alpha is 'pi/0' \(.*division.*\); give a number in rad"),
    ('alpha = "pi/2"', 'alpha = "9**9**9"', r"arm\.toml:18: .*alpha is '9\*\*9\*\*9' \(.*\); give a number in rad"),
    ('alpha = "pi/2"', 'alpha = "sin(1)"', r"arm\.toml:18: .*alpha contains 'sin\(1\)'; a formula may have numbers, pi, parameters"),
    ('a = "len"', 'a = "lenn"', r"arm\.toml:17: .*a names 'lenn', which is no parameter \(did you mean 'len'\?\); \[parameters\] has len"),
    ('a = "len"', "a = true", r"arm\.toml:17: .*a is true; give a number in m, like 0\.433 or \"433 mm\""),
    ('a = "len"', "xyz = [1, 0, 0]\na = 0", r"arm\.toml:17: .*unknown key 'xyz'; keys here: joint, theta, d, a, alpha, .*Convention 'standard' has a, alpha, d, theta"),
    ("mass = 2", "", r"arm\.toml:14: link 1 'shoulder': 'mass' is missing; give mass = \.\. in kg"),
    ("mass = 2", "mass = nan", r"arm\.toml:14: link 1 'shoulder': link 'shoulder': mass is nan; give a finite number in kg"),
    ("mass = 2", "maas = 2", r"arm\.toml:20: link 1 'shoulder': unknown key 'maas', and 'mass' is missing; did you mean 'mass'\?"),
    ("com = [0.1, 0, 0]", "", r"arm\.toml:14: link 1 'shoulder': 'com' is missing; give com = \[\.\., \.\., \.\.\], 3 numbers"),
    ("com = [0.1, 0, 0]", 'com = [0.1, "x", 0]', r"arm\.toml:21: .*com\[1\] names 'x', which is no parameter"),
    ("limits = [", "limit = [", r"arm\.toml:24: link 1 'shoulder': unknown key 'limit' \(did you mean 'limits'\?\)"),
    ('"90 deg"]', '"90 deg", 3]', r"arm\.toml:24: .*limits has 3 values; give a list of 2 numbers"),
    # inertia
    ("inertia = { about = \"com\", Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }", "", r"arm\.toml:14: link 1 'shoulder': 'inertia' is missing; give inertia = \{ about = \"com\""),
    ("inertia = { about = \"com\", Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }", "inertia = [0.01, 0.02, 0.02, 0, 0, 0]", r"arm\.toml:22: .*inertia is \[0\.01.*by name, or \"point\": bare numbers have no agreed order"),
    ("{ about = \"com\", Ixx = 0.01, Iyy = 0.02", "{ Ixx = 0.01, Iyy = 0.02", r"arm\.toml:22: link 1 'shoulder', inertia: 'about' is missing; give about = one of \"com\", \"origin\""),
    ("Iyy = 0.02, ", "", r"arm\.toml:22: link 1 'shoulder', inertia: 'Iyy' is missing; give Iyy = \.\. in kg m2"),
    ("Iyy = 0.02, ", "Iyy = 0.02, Ixy = 0.001, ", r"arm\.toml:14: link 1 'shoulder': Inertia\.about_com gives Ixy without saying their sign; add products='tensor'"),
    ("Iyy = 0.02, ", "Iyy = 0.02, ixz = 0.001, ", r"arm\.toml:22: .*inertia: unknown key 'ixz' \(did you mean 'Ixz'\?\)"),
    ("Iyy = 0.02, ", 'Iyy = "0.02 kg", ', r"arm\.toml:22: .*Iyy is '0\.02 kg', but 'kg' is no unit of inertia; units here: kg m2, kg cm2"),
    # drives
    ('side = "motor", ', "", r"arm\.toml:14: link 1 'shoulder': Drive has rotor_inertia 0\.0001 but no side; say side='motor'"),
    ('side = "motor"', 'side = "rotor"', r"arm\.toml:23: link 1 'shoulder', drive: side is 'rotor' \(did you mean 'motor'\?\); give one of"),
    ("gear = 100", "gear = 100, viscous = 0.1", r"arm\.toml:23: link 1 'shoulder', drive: 'friction_side' is missing; give friction_side = one of \"motor\", \"joint\""),
    ("gear = 100", "ratio = 100", r"arm\.toml:23: .*drive: unknown key 'ratio'; keys here: rotor_inertia, gear, side"),
    ("gear = 100", 'gear = "100 deg"', r"arm\.toml:23: .*gear is '100 deg', but 'deg' is no unit of number; units here: none: it is a pure number"),
    # configurations and defects
    ("zero = [0, 0]", "zero = [0, 0, 0]", r"arm\.toml:37: \[configurations\]: zero has 3 values; give a list of 2 numbers"),
    ("zero = [0, 0]", 'zero = [0, "5 deg"]', r"arm\.toml:37: .*zero\[1\] is '5 deg', but 'deg' is no unit of length"),
    ("[configurations]", '[[defect]]\nlink = "sholder"\nkind = "mass"\nreason = ""\n[configurations]', r"arm\.toml:37: defect 1: link is 'sholder' \(did you mean 'shoulder'\?\); give a name \(shoulder, slide\) or 1 to 2"),
    ("[configurations]", '[[defect]]\nlink = 1\nkind = "odd"\nreason = ""\n[configurations]', r"arm\.toml:38: defect 1: kind is 'odd'; give one of \"mass\""),
    ("[configurations]", '[defect]\nlink = 1\n[configurations]', r"arm\.toml:36: defect is .*; give tables headed \[\[defect\]\], two brackets"),
]  # fmt: skip


def test_the_good_file_is_good():
    assert from_toml(GOOD).n == 2


@pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=range(len(BROKEN)))
def test_broken_file_is_refused_with_its_line(old, new, message):
    assert old in GOOD
    with pytest.raises(ReadFault, match=message):
        from_toml(GOOD.replace(old, new, 1), "arm.toml")


def test_a_file_without_links_is_refused():
    with pytest.raises(
        ReadFault, match=r"arm\.toml:1: the file has no links; give each joint a table \[\[link\]\]"
    ):
        from_toml('name = "a"\nconvention = "poses"\n', "arm.toml")


def test_unknown_parameter_of_the_caller_is_refused():
    with pytest.raises(
        ReadFault, match=r"there is no parameter 'm_1' \(did you mean 'm1'\?\); the file has m1, m2, l1"
    ):
        load("rr", parameters={"m_1": 1.0})


def test_positive_definite_but_impossible_tensor_is_refused_with_the_file():
    text = GOOD.replace("Ixx = 0.01, Iyy = 0.02, Izz = 0.02", "Ixx = 0.001, Iyy = 0.002, Izz = 0.02", 1)
    with pytest.raises(
        ArmFault, match=r"(?s)arm\.toml:22: arm 'small', link 1 'shoulder': principal moments .*triangle"
    ):
        from_toml(text, "arm.toml")


def test_a_declared_defect_loads_with_a_note():
    text = GOOD.replace("Ixx = 0.01, Iyy = 0.02, Izz = 0.02", "Ixx = 0.001, Iyy = 0.002, Izz = 0.02", 1)
    text += '\n[[defect]]\nlink = "shoulder"\nkind = "triangle"\nreason = "printed so"\n'
    assert any("declared: printed so" in note for note in from_toml(text).notes)


def test_a_massless_frame_needs_no_inertia():
    text = GOOD.replace("mass = 1\ncom = [0, 0, -0.1]\n", "mass = 0\n").replace(
        "inertia = { about = \"com\", Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }\n", ""
    )  # fmt: skip
    assert from_toml(text).links[1].mass == 0
