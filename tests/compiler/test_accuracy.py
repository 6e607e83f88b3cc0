"""Compiled torques of every built-in arm against the formulation in fifty digits."""

import importlib.util
from pathlib import Path

import pytest

from forearm.readers import known_arms, load

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
spec = importlib.util.spec_from_file_location("benchmarks_accuracy", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

ARMS = [name for name in known_arms() if load(name).dynamics]
QUICK = ("rr", "stanford")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.more) for name in ARMS]
)
def test_within_64_eps_of_the_largest_intermediate(name):
    found = script.accuracy(name, count=2)
    assert found["eps_of_largest_intermediate"] <= 64, found
    assert found["relative"] <= 1e-13, found
    assert found["relative_float32"] <= 5e-6, found
