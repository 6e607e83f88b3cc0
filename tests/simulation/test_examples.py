"""The examples of this part run, and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, *arguments):
    return runpy.run_path(str(EXAMPLES / name))["main"](*arguments)


def test_first_torque(capsys):
    run("01_first_torque.py")
    out = capsys.readouterr().out
    assert "they add up         True" in out
    assert "accelerations back  [ 1.2  0.3 -0.6  0.9 -1.4  2. ]" in out


@pytest.mark.more
def test_controlled_motion(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    run("02_controlled_motion.py", str(tmp_path))
    assert capsys.readouterr().out.count("finished at t = 1.5 s") == 3
    assert (tmp_path / "controlled_motion.png").exists()


@pytest.mark.more
def test_ignoring_coriolis(capsys):
    run("03_ignoring_coriolis.py")
    slow, fast = (float(line.split(",")[1].split()[0]) for line in capsys.readouterr().out.splitlines()[:2])
    assert slow < 0.05 < 1.0 < fast


@pytest.mark.more
def test_payload_monte_carlo(capsys):
    run("04_payload_monte_carlo.py", 300)
    out = capsys.readouterr().out
    assert "300 motions of 1 s" in out
    assert "all finished: True" in out


def test_my_own_law(capsys):
    run("07_my_own_law.py")
    out = capsys.readouterr().out
    assert "soft_spring: traced" in out
    assert float(out.split("the same motion to ")[1].split()[0]) < 1e-12
    assert "bang_bang: runs in Python, because it cannot be traced: 07_my_own_law.py" in out
