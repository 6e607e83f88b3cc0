"""The adapter for Crocoddyl's users gives what Crocoddyl's own dynamics give, and the same costs at convergence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "15_crocoddyl.py"
PYTHON = os.environ.get("CROCODDYL_PYTHON") or str(Path(sys.prefix) / "crocoddyl" / "bin" / "python")

pytestmark = pytest.mark.more


def run(*arguments):
    try:
        there = (
            subprocess.run([PYTHON, "-c", "import crocoddyl, forearm"], capture_output=True).returncode == 0
        )
    except OSError:
        there = False
    if not there:
        pytest.skip(
            "no crocoddyl in an environment of its own: tests/install_crocoddyl.sh makes it, or "
            "CROCODDYL_PYTHON names its interpreter"
        )
    done = subprocess.run([PYTHON, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def found():
    done = run(str(HERE / "crocoddyl_side.py"), str(EXAMPLE))
    assert "diverged?" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_node_is_expanded_as_crocoddyl_expands_it(found):
    assert len(found["apart"]) == 14
    assert max(found["apart"].values()) < 1e-11, found["apart"]


def test_the_reach_costs_the_same_at_convergence(found):
    own, ours = found["solved"]
    assert ours == pytest.approx(own, rel=1e-9)


def test_a_step_too_far_is_not_a_number_and_another_arm_is_refused(found):
    quiet, said = found["diverged"]
    assert quiet
    assert "the state has 7 numbers for joints ['iiwa_joint_1', " in said
    assert "arm 'panda' one for each of ['panda_joint1', " in said
    assert "give continuous joints (two numbers in Pinocchio) limits" in said


def test_the_example_shows_equal_costs_and_what_drives_add(found):
    lines = run("-c", f"import runpy; runpy.run_path({str(EXAMPLE)!r})['main'](40)").stdout.splitlines()
    own, ours, driven = (float(line.split("cost ")[1].split()[0]) for line in lines[-3:])
    assert ours == pytest.approx(own, rel=1e-8)
    assert driven > 1.01 * own
