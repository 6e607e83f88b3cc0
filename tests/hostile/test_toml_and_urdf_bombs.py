"""TOML and URDF from a stranger: nesting, long keys and formulas, long integers and long files get one sentence."""

import gzip
import re
import resource
import time

import pytest

import forearm as fa
from forearm.faults import Fault
from forearm.identification.measured.logs import read_log
from forearm.readers import from_toml, load, xml

HEAD = 'name = "x"\nconvention = "standard"\n'
LINK = (
    '[[link]]\njoint = "revolute"\na = 0\nalpha = 0\nd = 0.1\ntheta = 0\nmass = 1\ncom = [0, 0, 0]\n'
    'inertia = { about = "com", Ixx = 1, Iyy = 1, Izz = 1 }\n'
)


def mass(value):
    return HEAD + LINK.replace("mass = 1", f"mass = {value}")


TOML = {
    "long hexadecimal": (mass("0x" + "f" * 5000), "an integer of thousands of digits"),
    "long name": ("name = 0x" + "f" * 5000 + "\n" + LINK, "an integer of thousands of digits"),
    "nested arrays": (HEAD + "remarks = " + "[" * 50_000 + "]" * 50_000, "stand hundreds deep in each other"),
    "dotted key": (HEAD + "a" + ".a" * 100_000 + " = 1", "arm.toml:3: a key of 100001 parts"),
    "dotted key in a table": (HEAD + "x = { a" + ".a" * 100_000 + " = 1 }", "a key of 100001 parts"),
    "dotted header": (HEAD + "[a" + ".a" * 100_000 + "]", "a key of 100001 parts"),
    "spaces in a header": (HEAD + "[a" + " " * 200_000 + "]", "no links"),
    "long sum": (
        mass('"' + "+".join("1" * 50_000) + '"'),
        "mass is a formula of 99999 letters; give 500 at most",
    ),
    "parentheses": (mass('"' + "(" * 240 + "1" + ")" * 240 + '"'), "neither a number nor arithmetic"),
    "400 digits": (mass("9" * 400), "mass is an integer of 400 digits; give a number in kg"),
    "400 digits in a formula": (mass('"' + "9" * 400 + '"'), "mass is an integer of 400 digits"),
    "5000 digits": (mass("9" * 5000), "not valid TOML: .*Write numbers with fewer digits"),
    "a root of -1": (mass('"(-1)**0.5"'), "no real number"),
    "long file": (HEAD + "#" * 2**20, "the file has 1 MiB; TOML files up to 256 KiB are read"),
    "many links": (HEAD + "[[link]]\n" * 1001, "the file has 1001 links; arms of up to 1000"),
    "many parameters": (
        HEAD + "[parameters]\n" + "".join(f"p{i} = 1\n" for i in range(2000)),
        "2000 parameters",
    ),
    "long value": (HEAD + "units = [" + "1," * 100_000 + "]", "units is .* …$"),
}


@pytest.mark.parametrize("name", TOML)
def test_a_toml_bomb_gets_a_sentence_in_two_seconds(tmp_path, name):
    text, words = TOML[name]
    path = tmp_path / "arm.toml"
    path.write_text(text)
    start = time.process_time()
    with pytest.raises(Fault, match=words) as caught:
        load(path)
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 2000


def test_a_urdf_of_a_hundred_thousand_links_gets_a_sentence(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r">' + "".join(f'<link name="{i}"/>' for i in range(100_000)) + "</robot>")
    start = time.process_time()
    with pytest.raises(Fault, match="100000 elements in <robot>"):
        load(path)
    assert time.process_time() - start < 2


def test_a_chain_of_too_many_joints_gets_a_sentence(tmp_path):
    joint = '<joint name="j{0}" type="continuous"><parent link="{0}"/><child link="{1}"/></joint>'
    links = "".join(f'<link name="{i}"/>' for i in range(400))
    joints = "".join(joint.format(i, i + 1) for i in range(399))
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    with pytest.raises(Fault, match="399 joints move; robots of up to 300 are read from files"):
        load(path)


@pytest.mark.parametrize("device", ["/dev/zero", "gz"])
def test_a_line_without_an_end_is_refused(device, tmp_path):
    if device == "gz":
        path = tmp_path / "log.csv.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"t,q1,q2,tau1,tau2\n")
            for _ in range(40):
                file.write(b"0," * 500_000)
    else:
        path = tmp_path / "m.csv"
        path.symlink_to(device)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        fa.ReadFault, match=r"does not end|letters|UTF-8|header|titles|columns|is empty"
    ) as caught:
        read_log(path, fa.load("rr"))
    assert len(str(caught.value)) < 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_half_a_million_elements_are_refused_before_they_are_looked_at(tmp_path):
    path = tmp_path / "many.urdf"
    path.write_text("<robot name='r'>" + "<link name='a'/>" * 500_000 + "</robot>")
    with pytest.raises(fa.ReadFault, match="the file has 500002 tags; up to 200000 are read"):
        fa.load(path)


MANY = {
    "elements within one": "<link name='l'>" + "<a/>" * 1_000_000 + "</link>",
    "comments": "<link name='l'>" + "<!---->" * 1_000_000 + "</link>",
    "attributes of one": "<link name='l' " + " ".join(f"a{i}=''" for i in range(900_000)) + "/>",
    "attributes of many": ("<a " + " ".join(f"a{i}=''" for i in range(60)) + "/>") * 16_000,
}


@pytest.mark.parametrize("what", MANY)
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_tags_and_attributes_beyond_count_are_read_or_refused_in_two_seconds(what, suffix, tmp_path):
    path, root = tmp_path / f"many.{suffix}", {"urdf": "robot", "xml": "mujoco"}[suffix]
    path.write_text(f"<{root} name='r'>{MANY[what]}</{root}>")
    start = time.process_time()
    with pytest.raises(fa.ReadFault) as caught:
        fa.load(path)
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 1000


LONG = "u" * 3_000_000
NAMESPACES = {
    "of a prefix": f"<a:b xmlns:a='{LONG}'>{'<a:c/>' * 20_000}</a:b>",
    "of all in it": f'<gazebo xmlns="{LONG}">{"<c/>" * 20_000}</gazebo>',
    "of attributes": f"<b xmlns:a='{LONG}'>" + "<c a:d='1'/>" * 20_000 + "</b>",
    "behind quotes": f"""' x="<a:b xmlns:a='{LONG}'>{"<a:c/>" * 20_000}</a:b>""",
    "with a long prefix": f"<b\nxmlns:{'a' * 40_000}\n =\n '{LONG}'>{'<c/>' * 20_000}</b>",
}


@pytest.mark.parametrize("what", NAMESPACES)
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_a_long_namespace_was_copied_for_each_name_in_it_for_an_hour(what, suffix, tmp_path):
    path, root = tmp_path / f"far.{suffix}", {"urdf": "robot", "xml": "mujoco"}[suffix]
    path.write_text(f"<{root} name='r'>{NAMESPACES[what]}</{root}>")
    start = time.process_time()
    with pytest.raises(fa.ReadFault, match=r"far.\w+:\d: a namespace \(xmlns\) of more than 300 letters"):
        fa.load(path)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("mark", ["=\"'", '="', "='\"", "<", "= "])
def test_looking_for_long_namespaces_takes_a_time_that_grows_with_the_length(mark):
    content = (mark * 16_000_000)[:16_000_000].encode()
    start = time.process_time()
    xml._refuse_long_namespaces(content, "x")
    assert time.process_time() - start < 2


@pytest.mark.parametrize("uri", ["http://www.ros.org/wiki/xacro", "u" * 300])
def test_a_namespace_of_any_usual_length_is_no_matter(uri, tmp_path):
    path = tmp_path / "arm.urdf"
    fa.write_urdf(fa.load("rr").replace(gravity=(0, 0, -9.81)), path, lossy=True)
    text = path.read_text().replace("<robot ", f'<robot xmlns:x="{uri}" ')
    path.write_text(text.replace("</robot>", f"<gazebo reference='{'x' * 5000}'/></robot>"))
    assert fa.load(path).n == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("<{}/>", "not read: <n0> in <robot>, .* and 9980 more"),
        ("<gazebo reference='{}'><gravity>0</gravity></gazebo>", "and so it is in 9980 more parts"),
    ],
)
def test_thousands_of_odd_elements_were_told_one_by_one(row, said, tmp_path):
    path = tmp_path / "arm.urdf"
    fa.write_urdf(fa.load("rr").replace(gravity=(0, 0, -9.81)), path, lossy=True)
    rows = "".join(row.format(f"n{i}") for i in range(10_000))
    path.write_text(path.read_text().replace("</robot>", f"{rows}</robot>"))
    notes = fa.load(path).notes
    assert re.search(said, "\n".join(notes))
    assert len("\n".join(notes)) < 4000


BRANCH = '[[link]]\nname = "l{0}"\nparent = "{1}"\njoint = "revolute"\nmass = 1\ncom = [0, 0, 0]\ninertia = "point"\n'


def test_a_tree_of_a_thousand_joints_gets_a_sentence(tmp_path):
    path = tmp_path / "tree.toml"
    links = "".join(BRANCH.format(i, f"l{i - 1}" if i else "base") for i in range(1000))
    path.write_text(f'name = "t"\nconvention = "tree"\n{links}')
    with pytest.raises(fa.ReadFault, match="1000 links; robots of up to 300 are read from files"):
        fa.load(path)


@pytest.mark.parametrize("number", ["1e308", "-1e60", '"1e100 mm"', '"2 * 1e200"'])
def test_a_length_whose_products_overflow_gets_a_sentence(number, tmp_path):
    path = tmp_path / "tree.toml"
    path.write_text(f'name = "t"\nconvention = "tree"\n{BRANCH.format(1, "base")}xyz = [{number}, 0, 0]\n')
    with pytest.raises(fa.ReadFault, match=r"beyond 1e\+50; give a number in m"):
        fa.load(path)


def filled(text, row):
    """A TOML file filled up to its greatest length with rows, each from its number."""
    rows, room = [], 2**18 - len(text)
    while (room := room - len(line := row(len(rows)))) > 0:
        rows.append(line)
    return text + "".join(rows)


TREE = 'name = "t"\nconvention = "tree"\n'
LEADERS = '[[coupling]]\njoint = "l3"\n[coupling.leaders]\n'
CROWDS = {
    "leaders": (LEADERS, lambda i: f"m{i:x}=1\n"),
    "leaders with long names": (LEADERS, lambda i: f"m{i:x}{'m' * 240}=1\n"),
    "couplings": ("", lambda i: f'[[coupling]]\njoint="m{i}"\nleaders={{m=1}}\n'),
    "configurations": ("[configurations]\n", lambda i: f"m{i}=[{'0,' * 4}]\n"),
    "configurations of another length": ("[configurations]\n", lambda i: f"m{i}=[]\n"),
    "tools": ("", lambda i: f'[[tool]]\nname="m{i}"\nlink=1\n'),
}


@pytest.mark.parametrize("joints", [4, 100])
@pytest.mark.parametrize("what", CROWDS)
def test_a_file_full_of_names_is_read_or_refused_in_two_seconds(what, joints, tmp_path):
    """22,000 unknown leaders took 11 s and 1.2 GB, for a message of 527 MB; 22,000 configurations took 7 s."""
    head, row = CROWDS[what]
    links = "".join(BRANCH.format(i, f"l{i - 1}" if i else "base") for i in range(joints))
    path = tmp_path / "crowd.toml"
    path.write_text(filled(TREE + links + head, row))
    start = time.process_time()
    said = ""
    try:
        fa.load(path)
    except Fault as fault:
        said = str(fault)
    assert time.process_time() - start < 2
    assert len(said) < 2_000


def test_many_impossible_links_get_a_message_of_a_screen(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(mass(-1) + LINK.replace("mass = 1", "mass = -1") * 900)
    with pytest.raises(fa.ArmFault, match=r"\(900 more\b.*below\)") as caught:
        fa.load(path)
    assert len(str(caught.value)) < 10_000


PART = '<gazebo reference="{}">{}</gazebo>'
JOINED = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
<child link="b"/>{}</joint>{}</robot>"""
LONG_WORDS = {
    "gravity": JOINED.format("", PART.format("a" * 10**6, "<gravity>0</gravity>" * 3000)),
    "rotors": JOINED.format("", PART.format("a" * 10**6, '<rotor_inertia value="1"/>' * 3000)),
    "dynamics": JOINED.format(f'<dynamics friction="1" stiffness="{"a" * 10**6}"/>', ""),
}


@pytest.mark.parametrize("what", LONG_WORDS)
def test_a_long_word_was_written_into_a_note_for_each_element_in_it(what, tmp_path):
    """9 MB with 60,000 elements took hundreds of gigabytes; one note of 4 MB took seconds to print."""
    path = tmp_path / "arm.urdf"
    path.write_text(LONG_WORDS[what])
    start = time.process_time()
    robot = fa.load(path)
    assert time.process_time() - start < 2
    assert sum(map(len, robot.notes)) < 3_000


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


@pytest.mark.parametrize("tip", [None, "l4900"])
def test_thousands_of_joints_that_mimic_one_another_get_a_sentence_in_two_seconds(tip, tmp_path):
    """Each walked to the first of them: 2.7 s."""
    links = "".join(f'<link name="l{i}"/>' for i in range(4901))
    joints = "".join(
        f"<joint name='j{i}' type='revolute'><parent link='l{i - 1}'/><child link='l{i}'/>{LIMIT}"
        + (f"<mimic joint='j{i - 1}'/></joint>" if i > 1 else "</joint>")
        for i in range(1, 4901)
    )
    path = tmp_path / "mimics.urdf"
    path.write_text(f"<robot name='r'>{links}{joints}</robot>")
    start = time.process_time()
    with pytest.raises(fa.ReadFault, match=r"more than 300 joints mimic one another|mimics 'j1'"):
        fa.load(path, tip=tip)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "formula", ["~" * 400 + "1", "-" * 400 + "[1]", "1if 1else 1", "0xfor 1", "1.if 1 else 2", "1jin 2"]
)
def test_a_formula_of_other_operations_is_refused_in_a_sentence(formula, recwarn):
    """A message that unparsed it came to a RecursionError; Python's parser warned of it on stderr."""
    with pytest.raises(
        fa.ReadFault, match=r"a formula may have numbers, pi, parameters|neither a number nor arithmetic"
    ):
        from_toml(mass(f'"{formula}"'))
    assert not recwarn.list


MANY_STOPS = (
    "Weighed. Turned. Swung. Read. Copied. Checked. Filed. Found. Typed. Kept.",
    "1.2.3.4.5.6.7.8.9.10.11",
    "and so on ...........",
    "A. B. and C. D. and E. F. and G. H. and I. J. = the authors",
)


@pytest.mark.parametrize("text", MANY_STOPS)
def test_a_text_with_many_stops_is_no_key_of_many_parts(text, tmp_path):
    """Such a source was refused as a dotted key, also where forearm itself had written it."""
    arm = fa.load("rr").replace(name=text, provenance=(("title", text), ("mass", text)), remarks=(text,))
    assert fa.load(fa.write_toml(arm, tmp_path / "arm.toml")) == arm
    quoted = HEAD + f"remarks = ['{text}']  # {text}\n" + LINK
    assert from_toml(quoted).remarks == (text,)


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", '"\\""'])
@pytest.mark.parametrize("line", ["{}=1", "x={{{}=1}}", 'x={{a="b",{}=1}}', "[{}]", "[[{}]]"])
def test_keys_of_many_parts_are_found_wherever_they_stand(line, part):
    with pytest.raises(fa.ReadFault, match="a key of 100 parts"):
        from_toml(HEAD + line.format(".".join([part] * 100)))


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\u2029"])
@pytest.mark.parametrize("line", ["{}=1", "[{}]"])
def test_no_separator_of_unicode_hides_a_key_of_many_parts(line, sign):
    """TOML's lines end with newlines alone; others cut the key where we looked: more than 10 s and 1.5 GB."""
    start = time.process_time()
    with pytest.raises(fa.ReadFault, match=r"arm.toml:3: a key of 30000 parts"):
        from_toml(HEAD + line.format(".".join([f'"{sign}"'] * 30_000)), "arm.toml")
    assert time.process_time() - start < 2


def test_lines_are_counted_as_toml_counts_them():
    with pytest.raises(fa.ReadFault, match=r"arm.toml:4: "):
        from_toml(HEAD + 'remarks = ["a\u2028b\x85c"]\nunknown = 1\n' + LINK, "arm.toml")


@pytest.mark.parametrize("part", ["b", '","', '"="', "'#'", '"{"', "'\\'", "'[]'"])
@pytest.mark.parametrize(
    "text", ['"""\n"""', "'''\n'''", '"""\n"""""', '"""\\"""\n"""', '"\\""', """ '"' """]
)
def test_no_text_hides_a_key_of_many_parts(text, part):
    with pytest.raises(fa.ReadFault, match=r"arm.toml:\d: a key of 5000 parts"):
        from_toml(HEAD + f"x = {{a = {text}, {'.'.join([part] * 5000)}=1}}", "arm.toml")


@pytest.mark.parametrize("text", ['"\\"' * 60_000, "'" * 200_000, '"' * 200_000, "." * 9 + '\\"' * 100_000])
def test_quotes_without_end_are_looked_at_once(text):
    start = time.process_time()
    with pytest.raises(fa.ReadFault):
        from_toml("x = " + text + "........." * 2)
    assert time.process_time() - start < 2


BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TWO = f'<robot name="r"><link name="b"/><link name="l">{BODY}</link><link name="x">{BODY}</link>{{}}</robot>'


def _joint(name, parent, child, kind="fixed"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            TWO.format(_joint("q", "b", "l", "continuous") + _joint("f", "l", "x") + _joint("g", "x", "l")),
            "'l' is",
        ),
        (TWO.format(_joint("q", "b", "l", "continuous") + _joint("f", "l", "l")), "'l' is the child of two"),
        (TWO.format(_joint("f", "b", "l") + _joint("g", "l", "x")), "it has other joints"),
        (TWO.format(_joint("q", "b", "nobody", "continuous")), "nobody"),
        ("", "no element found"),
        ("<robot>", "no element found"),
    ],
)
def test_a_source_that_the_oracle_would_walk_for_ever_gets_a_sentence(text, why, tmp_path):
    good, path = TWO.format(_joint("q", "b", "l", "continuous") + _joint("f", "l", "x")), tmp_path / "a.urdf"
    path.write_text(good)
    arm = fa.load(path)
    path.write_text(text)
    with pytest.raises(fa.StateFault, match=f"cannot be read .*{why}.*; give the URDF file that arm 'r'"):
        fa.verify(arm, source=path, states=1)


@pytest.mark.parametrize(
    "formula",
    [
        "(l/l + 1)**999999999",
        "(l - l + 3)**(99999999)/7",
        "((((l/l + 1)**999)**999)**999)**999",
        "2**(l - l + 3**30)",
    ],
)
def test_an_exact_power_of_what_was_a_symbol_took_all_memory(formula):
    sympy = pytest.importorskip("sympy")
    text = HEAD + "[parameters]\nl = 1\n" + LINK.replace("a = 0\n", f'a = "{formula}"\n', 1)
    started = time.process_time()
    with pytest.raises(fa.ReadFault, match=r"power beyond 1000|more than 400 digits"):
        from_toml(text, "arm.toml", {"l": sympy.Symbol("l")})
    assert time.process_time() - started < 2


def test_powers_of_symbols_are_still_powers():
    sympy = pytest.importorskip("sympy")
    length = sympy.Symbol("l")
    text = HEAD + "[parameters]\nl = 1\n" + LINK.replace("mass = 1\n", 'mass = "(l + 1)**2 / 2**0.5"\n', 1)
    arm = from_toml(text, "arm.toml", {"l": length})
    assert arm.links[0].ten.mass.subs(length, 1) == pytest.approx(4 / 2**0.5)
