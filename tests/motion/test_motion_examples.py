"""The examples of reaching and of fast motions run, and say what they promise."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, *arguments):
    return runpy.run_path(str(EXAMPLES / name))["main"](*arguments)


def test_reach(capsys):
    run("09_reach.py", 20)
    out = capsys.readouterr().out
    assert "8 ways to one pose" in out
    assert "20 of 20 poses on a line" in out
    assert "out of reach" in out


def test_fastest_motion(capsys):
    run("10_fastest_motion.py")
    out = capsys.readouterr().out
    times = [float(line.split(":")[1].split()[0]) for line in out.splitlines()[:3]]
    assert times[0] > times[1] > times[2]
    assert out.count("within limits: True") == 2
