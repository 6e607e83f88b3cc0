"""A share of `make soak` in the tests: a few rounds always, two minutes in the long ones."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).with_name("soak.py")


@pytest.mark.parametrize(("minutes", "seed"), [(0.02, 1), pytest.param(2, 1000, marks=pytest.mark.more)])
def test_nothing_is_found(minutes, seed):
    done = subprocess.run(
        [sys.executable, str(SOAK), str(minutes), str(seed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
