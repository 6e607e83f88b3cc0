"""Words of the command line that say nothing, or two things: refused in one sentence, never taken for the default."""

import inspect
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from cli.verbs import MOTION, forearm
from forearm.cli.verbs import VERBS

LOG = "t,q1,q2,tau1,tau2\n" + "".join(f"{0.01 * k},{0.1 * k},{-0.1 * k},1,1\n" for k in range(20))
MESH = """<robot name="m"><link name="base"/><link name="l"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial><collision><geometry>
<mesh filename="{mesh}"/></geometry></collision></link><joint name="j" type="revolute"><parent link="base"/>
<child link="l"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with an arm, a motion and a log, to see what is written into it."""
    monkeypatch.chdir(tmp_path)
    Path("motion.csv").write_text(MOTION)
    Path("log.csv").write_text(LOG)
    Path("arm.toml").write_text((Path(import_module("forearm").__file__).parent / "arms/rr.toml").read_text())
    return tmp_path


def refused(capsys, *words) -> str:
    """The one sentence; nothing is written, nothing is on stdout."""
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    said = forearm(capsys, *words)
    assert said.code == 2, said
    assert said.out == ""
    assert len([line for line in said.err.splitlines() if not line.startswith("note: ")]) == 1
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
    assert len(list(Path().iterdir())) == len(before), "a folder was made"
    return said.err


@pytest.mark.parametrize(
    "words",
    [
        "reach rr --pose 0.4 0.3 0 --attempts 2.5",
        "reach rr --pose 0.4 0.3 0 --seed 0.5",
        "move rr --to 1 1 --speeds 1 --accelerations 1 --rows 10.6",
        "simulate rr --every 0x10",
        "simulate rr --duration 1_0",
        "simulate rr --duration ١",
        "count --schedule --processors 2.5",
        "compare rr rr --tolerance none",
        "watch rr log.csv --gains 1_0 1",
    ],
)
def test_no_number_is_rounded_or_guessed(capsys, words):
    *rest, last = words.split()
    option = next(word for word in reversed(words.split()) if word.startswith("--"))
    assert f"{option} has " in refused(capsys, *rest, last)


def test_every_number_of_a_verb_is_read_by_our_own_converters():
    for home, verb in ((home, verb) for group in VERBS.values() for verb, home in group.items()):
        function = getattr(import_module(f"forearm.cli.verbs.{home}"), verb.replace(" ", "_"))
        for name, hint in get_type_hints(function, include_extras=True).items():
            given = {name: hint}
            if inspect.isclass(hint) and hasattr(hint, "__dataclass_fields__"):
                given = get_type_hints(hint, include_extras=True)
            bare = [
                key
                for key, kind in given.items()
                if kind in (int, float) or {int, float} & set(get_args(kind)[:2])
            ]
            bare = [key for key in bare if key != "return" and not hasattr(given[key], "__metadata__")]
            assert not bare, (verb, bare)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("torque", "rr", "--payload"), "--payload"),
        (("torque", "rr", "--payload", "--json"), "--payload"),
        (("simulate", "rr", "--q0"), "--q0"),
        (("show", "rr", "--lock"), "--lock"),
        (("view", "rr", "--formulations"), "--formulations"),
        (("torque", "rr", "--payload", ""), "--payload"),
        (("show", "arm.toml", "--tip", ""), "--tip"),
        (("show", "arm.toml", "--tip="), "--tip"),
        (("convert", "rr", "x.toml", "--to", ""), "--to"),
        (("torque", ""), "there is a word that"),
    ],
)
def test_an_option_without_a_value_is_not_the_default(capsys, words, option):
    assert refused(capsys, *words).startswith(f"forearm: {option}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("excite rr - --generations 2", "TARGET has -"),
        ("identify rr log.csv --out -", "--out has -"),
        ("identify rr log.csv --report -", "--report has -"),
        ("identify rr -", "LOG has -"),
        ("watch rr log.csv --untouched -", "--untouched has -"),
        ("sweep rr - --payload 0 1", "MOTIONS has -"),
        ("sweep rr motion.csv --payload 0 1 --journal -", "--journal has -"),
        ("move rr --via -", "--via has -"),
        ("show rr --plot -", "--plot has -"),
        ("demo --out -", "--out has -"),
        ("emit rr --out -", "--to c writes a folder"),
        ("emit rr --wasm --out -", "--to wasm writes a folder"),
        ("torque - -", "ARM and MOTION have -, and there is one stdin"),
        ("compare - -", "ARM and OTHER have -"),
        ("count --csv - --latex -", "--csv and --latex have -, and there is one stdout"),
        ("convert rr - --json", "both be on stdout"),
        ("view rr --out - --json", "both be on stdout"),
        ("count --csv - --json", "both say what stdout gets"),
    ],
)
def test_a_hyphen_is_no_file_called_stdio_and_stands_once_for_a_stream(capsys, words, sentence):
    assert sentence in refused(capsys, *words.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("show rr --q 0.1 0.2", "--q is where the drawing stands"),
        ("reactions rr --link 2", "--link is what --plot cuts free"),
        ("view rr --degrees", "--degrees goes with a file of a motion"),
        ("convert rr x.toml --lossy", "--lossy is for URDF"),
        ("convert rr x.urdf --to toml", "its name says .urdf"),
        ("simulate rr --out x.parquet", "x.parquet would hold CSV"),
        ("move rr --to 1 0 --accelerations 1 --speeds 1 -o x.npy", "its name says .npy"),
        ("excite rr x.json", "its name says .json"),
        ("torque rr motion.csv --out x.csv.gz", "its name says .gz"),
        ("torque rr motion.csv --terms --summary --plot x.png", "--terms would be seen nowhere"),
        ("compare rr torques.csv --states 5", "--states chooses random states"),
        ("compare rr torques.csv --seed 0", "--seed chooses random states"),
        ("emit rr --wasm --to llvm", "--wasm and --to llvm"),
        ("derive rr --json --as latex", "--as is for text"),
        ("derive rr --group --formulation luh_walker_paul_1980", "--group makes base parameters"),
        ("count luh_walker_paul_1980 --json --as csv", "--as and --json"),
        ("count --convention list --n 3", "leave --n out"),
        ("show arm.urdf --lock j=1 j=2", "--lock has 'j' twice"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(capsys, words, sentence):
    assert sentence in refused(capsys, *words.split())


@pytest.mark.parametrize(
    "words",
    [
        "identify rr log.csv --out log.csv --force",
        "identify rr motion.csv --validate log.csv --report log.csv --force",
        "view rr motion.csv --out motion.csv --force",
        "view arm.toml --out arm.toml --force",
        "report rr motion.csv --out motion.csv --force",
        "excite arm.toml arm.toml --force",
        "count luh_walker_paul_1980 --arm arm.toml --csv arm.toml",
        "emit arm.toml --to llvm --out arm.toml --force",
    ],
)
def test_what_is_read_is_not_written_over(capsys, words):
    assert "is what is read here" in refused(capsys, *words.split())


@pytest.mark.parametrize("verb", ["simulate rr --duration 1e5", "torque rr motion.csv", "show rr", "count"])
def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_computed(capsys, verb):
    assert "pictures are not written as '.gfi'" in refused(capsys, *verb.split(), "--plot", "a.gfi")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (f"bench rr --batch {10**22}", "a batch of"),
        ("bench rr --seconds inf", "for inf s"),
        ("bench rr --seconds nan", "for nan s"),
        (f"verify rr --states {10**22}", "states is"),
    ],
)
def test_work_without_end_is_refused(capsys, words, sentence):
    assert sentence in refused(capsys, *words.split())


@pytest.mark.parametrize("words", ["--instants 0", "--instants -1", "--instants 99999999999999999999"])
def test_sweep_refuses_instants_that_are_none(capsys, words):
    sentence = refused(capsys, "sweep", "rr", "motion.csv", "--payload", 0, 1, "--samples", 3, *words.split())
    assert "--instants" in sentence


@pytest.mark.parametrize(
    "words", ["--tolerance nan", "--tolerance -1", "--tolerance 0", "--tolerance inf", f"--states {10**22}"]
)
def test_compare_refuses_numbers_that_mean_nothing(capsys, words):
    assert "compare: " in refused(capsys, "compare", "rr", "rr", *words.split())


def test_a_wide_tolerance_is_not_called_rounding(capsys):
    Path("heavy.toml").write_text(Path("arm.toml").read_text().replace('mass = "m1"', 'mass = "1.1 * m1"'))
    said = forearm(capsys, "compare", "arm.toml", "heavy.toml", "--tolerance", "0.5")
    assert said.code == 0, said
    assert "the same within the tolerance, 0.5 of the largest torque" in said.out
    assert "rounding" not in said.out


def test_a_urdf_file_opens_no_other_file_through_mujoco(capsys):
    pytest.importorskip("mujoco")
    os.mkfifo("mesh.stl")  # whoever opens it waits for ever
    Path("m.urdf").write_text(MESH.replace("{mesh}", str(Path("mesh.stl").absolute())))
    said = forearm(capsys, "compare", "m.urdf", "mujoco")
    assert said.code == 0, said.err
    assert "the same" in said.out


ONE = '<worldbody><body><joint name="j" axis="0 1 0"/><geom type="box" size=".1 .2 .1" pos="1 0 0"/></body></worldbody>'
BOMBS = {
    "a picture of gigabytes": '<asset><texture type="2d" name="t" builtin="flat" width="60000" height="60000"/>'
    "</asset>",
    "a height field": '<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>',
    "frames without end": '<size nkey="2000000000"/>',
    "a sensor": '<sensor><user name="u" dim="2000000000"/></sensor>',
    "a simulation of years": '<compiler><lengthrange mode="all" inttotal="1e12"/></compiler>'
    '<actuator><muscle joint="j"/></actuator>',
    "a memory of what was told": '<actuator><motor joint="j" nsample="2000000000" delay="1"/></actuator>',
}


@pytest.mark.parametrize("what", BOMBS)
def test_mujoco_is_not_told_sizes_by_what_changes_no_torque(capsys, what):
    pytest.importorskip("mujoco")
    Path("m.xml").write_text(f"<mujoco>{BOMBS[what]}<!-- -->{ONE}</mujoco>")
    said = forearm(capsys, "compare", "m.xml", "mujoco")
    assert said.code == 0, said.err
    assert "the same" in said.out


def test_a_urdf_file_tells_mujoco_no_sizes(capsys):
    pytest.importorskip("mujoco")
    Path("m.urdf").write_text(
        MESH.replace("</robot>", '<mujoco><size nkey="2000000000"/></mujoco></robot>').replace(
            "{mesh}", "m.stl"
        )
    )
    assert forearm(capsys, "compare", "m.urdf", "mujoco").code == 0


@pytest.mark.parametrize(
    "what",
    [
        '<tendon><fixed stiffness="5" springlength="1"><joint joint="j" coef="1"/></fixed></tendon>',
        '<default><motor armature="3"/><position kp="2"/></default><actuator><motor joint="j"/></actuator>',
        '<tendon><fixed frictionloss="2"><joint joint="j" coef="-3"/></fixed></tendon>',
    ],
)
def test_what_an_arm_leaves_out_and_mujoco_has_still_differs(capsys, what):
    pytest.importorskip("mujoco")
    Path("m.xml").write_text(f"<mujoco>{what}{ONE}</mujoco>")
    assert forearm(capsys, "compare", "m.xml", "mujoco").code == 1


RESISTING = ("armature", "damping", "frictionloss")


@pytest.mark.parametrize(
    "what",
    [
        *(
            f'<tendon><fixed {size}="2"><joint joint="j" coef="1"/></fixed></tendon>{ONE}'
            for size in RESISTING
        ),
        *(f'<actuator><motor joint="j" {size}="2"/></actuator>{ONE}' for size in RESISTING[:2]),
        ONE.replace("<joint", '<joint damping="2 3" armature="1" frictionloss="1"'),
    ],
)
def test_compare_rigid_left_rotors_and_friction_in_what_joints_do_not_carry(capsys, what):
    mujoco = pytest.importorskip("mujoco")
    text = f"<mujoco>{what}</mujoco>"
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this version of MuJoCo has no such attribute")
    Path("m.xml").write_text(text)
    assert forearm(capsys, "compare", "m.xml", "mujoco").code == 1
    assert forearm(capsys, "compare", "m.xml", "mujoco", "--rigid").code == 0


def test_links_that_hang_on_each_other_by_thousands_end_no_process_through_pinocchio(capsys):
    pytest.importorskip("pinocchio")
    links = "".join(
        f'<link name="f{k}"/><joint name="w{k}" type="fixed"><parent link="{f"f{k - 1}" if k else "l"}"/>'
        f'<child link="f{k}"/></joint>'
        for k in range(1100)
    )
    Path("m.urdf").write_text(MESH.replace("</robot>", f"{links}</robot>").replace("{mesh}", "m.stl"))
    assert "hang on each other" in refused(capsys, "compare", "m.urdf", "pinocchio")


def test_what_mujoco_refuses_is_no_bug_of_ours(capsys):
    pytest.importorskip("mujoco")
    forearm(capsys, "convert", "rr", "thin.urdf", "--lossy")  # a rod without thickness
    assert "MuJoCo refuses it" in refused(capsys, "compare", "thin.urdf", "mujoco")


def test_an_error_that_names_no_file_is_not_blamed_on_stdout(capsys, monkeypatch):
    def failing():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("forearm.readers.known_arms", failing)
    said = forearm(capsys, "arms")
    assert said.code == 2
    assert "stdout" not in said.err
    assert "Too many open files" in said.err


def test_an_error_of_stdout_is_called_so(capsys, monkeypatch):
    def full(text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.stdout, "write", full)
    code, err = forearm_code("arms"), None
    monkeypatch.undo()
    err = capsys.readouterr().err
    assert (code, err) == (2, "forearm: stdout: No space left on device.\n")


def forearm_code(*words) -> int:
    from forearm.cli.process import run

    return run(list(words))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize(
    "words",
    [
        ("compare", "arm.urdf", "pinocchio"),
        ("compare", "arm.urdf", "mujoco"),
        ("show", "arm.xml", "--allow-files"),
    ],
)
def test_a_pipe_that_would_be_read_twice_was_waited_for(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(words[1])
    said = forearm(capsys, *words)
    assert said.code == 2
    assert "is a pipe, and " in said.err
    assert "reads the file once more; give a plain file" in said.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("identify rr log.csv --out arm.urdf", "arm.urdf would hold an arm as TOML, and its name says .urdf"),
        ("identify rr log.csv --report page.csv", "page.csv would hold a page, and its name says .csv"),
        ("view rr --out rr.toml", "rr.toml would hold a page, and its name says .toml"),
        ("report rr log.csv --out page.png", "page.png would hold a page, and its name says .png"),
        ("derive rr --out x.html", "x.html would hold equations as text, and its name says .html"),
        ("derive rr --as latex --out x.SVG", "x.SVG would hold equations as text, and its name says .svg"),
        ("simulate rr --out x.xhtml", "x.xhtml would hold CSV, and its name says .xhtml"),
        ("move rr --to 1 1 --accelerations 1 --out x.htm", "x.htm would hold CSV, and its name says .htm"),
        ("emit rr --to numpy --out x.html", "x.html would hold a source for numpy, and its name says .html"),
        ("convert rr --to toml x.html", "x.html would hold an arm as TOML, and its name says .html"),
    ],
)
def test_a_file_held_something_else_than_its_name_says(capsys, words, sentence):
    assert sentence in refused(capsys, *words.split())
    assert not Path(words.split()[-1]).exists()
