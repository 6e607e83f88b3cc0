"""The command line as a process: start-up, pipes, colours, completion."""

import io
import os
import subprocess
import sys

import pytest

from cli.test_verbs import QUICK
from cli.verbs import MOTION, forearm
from forearm.cli.process import run
from forearm.cli.verbs import VERBS
from terminals import FOREARM, at_a_terminal

OPTIONAL = (
    "sympy",
    "matplotlib",
    "mujoco",
    "viser",
    "cupy",
    "xarray",
    "casadi",
    "numpy",
    "scipy",
    "llvmlite",
    "lxml",
)


def ran(*words, **keywords):
    return subprocess.run([*FOREARM, *words], capture_output=True, text=True, check=False, **keywords)


def test_help_loads_no_package_that_it_does_not_need():
    probe = (
        "import sys, time; start = time.process_time()\n"
        "from forearm.cli.process import run\n"
        "code = run(['--help'])\n"
        "print('took', time.process_time() - start, sorted({m.split('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    last = run.stdout.strip().splitlines()[-1]
    assert not [name for name in OPTIONAL if f"'{name}'" in last]
    assert float(last.split()[1]) < 0.8, "about 0.3 s of processor time is the promise"
    for verbs in VERBS.values():
        for verb in verbs:
            assert f" {verb.split()[0]} " in run.stdout


@pytest.mark.parametrize(
    "words", [("arms",), ("show", "puma560"), ("torque", "rr", "-"), ("show", "rr", "--json")]
)
def test_a_closed_pipe_ends_quietly(words):
    """`forearm … | head -1`, with a reader that leaves before anything is written."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        run = subprocess.run(
            [*FOREARM, *words], stdout=pipe, stderr=subprocess.PIPE, input=MOTION.encode(), check=False
        )
    assert run.returncode == 141
    assert b"Traceback" not in run.stderr
    assert b"BrokenPipe" not in run.stderr


class Gone(io.TextIOBase):
    """A stdout whose reader has left."""

    def __init__(self, descriptor):
        self.descriptor = descriptor

    def write(self, text):
        raise BrokenPipeError

    def fileno(self):
        return self.descriptor


@pytest.mark.parametrize("verb", QUICK)
def test_every_verb_ends_quietly_when_the_reader_leaves(verb, monkeypatch, capsys):
    descriptor = os.open(os.devnull, os.O_WRONLY)
    monkeypatch.setattr("sys.stdout", Gone(descriptor))
    code = run([verb, *map(str, QUICK[verb])])
    monkeypatch.undo()
    os.close(descriptor)
    assert code == 141
    assert "Traceback" not in capsys.readouterr().err


def test_no_colours_when_asked():
    """Even at a terminal."""
    for words, environment, colours in (
        (("check", "puma560"), {}, True),
        (("check", "puma560", "--no-color"), {}, False),
        (("check", "puma560"), {"NO_COLOR": "1"}, False),
    ):
        assert ("\x1b[" in at_a_terminal(*words, stderr=subprocess.DEVNULL, **environment)[1]) is colours


@pytest.mark.parametrize("columns", [40, 80, 100, 120])
def test_a_number_was_broken_in_two_where_a_terminal_is_narrow(columns):
    """-2.15678e-06 N m stood there as -2.156, with 78e-06 in the line below."""
    state = ("--q", "0.12", "0.3", "1.57079632", "0", "0", "0", "--qd", "0.001", "0", "0.002", "0", "0", "0")
    _, text = at_a_terminal("torque", "ur5e", *state, "--terms", COLUMNS=str(columns))
    for number in ("-2.15678e-06", "-3.51783e-07", "-32.2792", "-5.54647e-13"):
        assert number in text


def test_columns_that_have_room_stand_beside_each_other_at_a_terminal():
    _, text = at_a_terminal("reactions", "ur5e", COLUMNS="80")
    row = next(line for line in text.splitlines() if "173.637" in line)
    assert {"-14.2775", "-59.7564"} < set(row.split())


def test_version():
    assert ran("--version").stdout.strip() == __import__("forearm").__version__


def test_completion_is_a_script_that_bash_accepts():
    script = ran("completion", "bash").stdout
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "torque" in script


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("torque", "rr", "--q", "1,2"), "--q has '1,2'; give numbers with spaces between: --q 1 2."),
        (("torque", "rr", "--q", "1", "x"), "--q has 'x'; give a number."),
        (("simulate", "rr", "--duration", "long"), "--duration has 'long'; give a number."),
    ],
)
def test_numbers_that_are_none(capsys, words, sentence):
    said = forearm(capsys, *words)
    assert said.code == 2
    assert sentence in said.err
    assert f"See forearm {words[0]} --help." in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("torque", "rr", "--q", "90", "45"),
        ("simulate", "rr", "--q0", "90", "45"),
        ("simulate", "rr", "--goal", "90", "45", "--duration", "0.01"),
        ("move", "rr", "--to", "90", "45", "--speeds", "1", "--accelerations", "1"),
    ],
)
def test_degrees_are_asked_about(words):
    said = ran(*words)
    assert said.returncode == 0
    assert " reaches 90 rad" in said.stderr
    assert "degrees?" in said.stderr
