"""Questions that sweeps took for other ones: world axes on a turned mount, journals of a changed function."""

import functools
import pickle
import re
import sys
from types import ModuleType

import numpy as np
import pytest

import forearm as fa
from forearm.cli.verbs.sweep_verbs import _pace
from forearm.sweeps.executors import pickled
from forearm.sweeps.fingerprints import fingerprint
from forearm.sweeps.parameters import PARAMETERS
from forearm.sweeps.sweep_run import _problem

factor = 1.0


def scaled(choices):
    return factor * choices["x"]


def sum_of(choices, weight=1.0):
    return sum(weight * choices[name] for name in choices)


def swept(function, journal, values=(1.0, 2.0)):
    return fa.sweep(function, {"x": list(values)}, executor="threads", workers=1, journal=journal)


def test_a_journal_gave_the_results_of_a_function_before_its_constant_changed(tmp_path, monkeypatch):
    journal = tmp_path / "sweep.json"
    assert swept(scaled, journal).greatest == 2.0
    assert swept(scaled, journal).fresh == 0
    monkeypatch.setitem(globals(), "factor", 100.0)
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        swept(scaled, journal)


def test_a_journal_took_one_partial_for_another(tmp_path):
    journal = tmp_path / "sweep.json"
    assert swept(functools.partial(sum_of, weight=1.0), journal).greatest == 2.0
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        swept(functools.partial(sum_of, weight=3.0), journal)


def _make(k, more=None):
    return lambda choices: sum(k * choices[name] for name in choices) + (0 if more is None else more[0])


class Plant:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, choices):
        return self.gain * choices["x"]

    def method(self, choices):
        return self.gain * choices["x"]


HELPERS = """
GAIN = 2.0
def cost(x): return GAIN * x
class Cost:
    unit = 1.0
    def __call__(self, choices): return self.unit * cost(choices["x"])
"""
CALLS = """
import helpers, functools
from helpers import cost, Cost
def by_name(choices): return cost(choices["x"])
def by_module(choices): return helpers.cost(choices["x"])
class Other(Cost): pass
cached = functools.lru_cache(by_name)
by_base, by_cache = Other(), lambda choices: cached(choices)
"""


def _calls(name, helpers):
    """A thing that is swept, in a module that calls another of the same author."""
    made = {module: ModuleType(module) for module in ("helpers", "caller")}
    with pytest.MonkeyPatch.context() as patch:
        for module, text in (("helpers", helpers), ("caller", CALLS)):
            patch.setitem(sys.modules, module, made[module])
            exec(text, vars(made[module]))
        return fingerprint(getattr(made["caller"], name))


@pytest.mark.parametrize("name", ["by_name", "by_module", "Cost", "by_base", "by_cache"])
def test_a_journal_gave_the_results_of_functions_in_another_module_before_they_changed(name):
    same = _calls(name, HELPERS)
    assert _calls(name, HELPERS) == same
    assert _calls(name, HELPERS.replace("GAIN = 2", "GAIN = 3")) != same
    assert _calls(name, HELPERS.replace("GAIN * x", "GAIN + x")) != same
    assert _calls(name, HELPERS + "another = 1") == same


def test_functions_are_told_by_all_that_they_read():
    rr = fa.load("rr")
    long = np.arange(10_000.0)
    changed = long.copy()
    changed[5000] = 0.0
    pairs = [
        (_make(1.0), _make(2.0)),
        (_make(1.0, long), _make(1.0, changed)),
        (_make(1.0, [rr]), _make(1.0, [rr.without_drives().with_payload(1.0, frame="tool")])),
        (Plant(1.0), Plant(2.0)),
        (Plant(1.0).method, Plant(2.0).method),
        ({"a": [1, (2.0, "x")]}, {"a": [1, (2.0, "y")]}),
        ([long], [changed]),
        ([one := _make(1.0), two := _make(2.0), one], [one, two, two]),
    ]
    for one, other in pairs:
        assert fingerprint(one) == fingerprint(one)
        assert fingerprint(one) != fingerprint(other)
    assert fingerprint(_make(1.0)) == fingerprint(_make(1.0))
    assert fingerprint(Plant(1.0)) == fingerprint(Plant(1.0))


@pytest.mark.parametrize(
    "what", ["pose", "jacobian", "center_of_mass", "mount_wrench", "centroidal_momentum"]
)
def test_quantities_in_world_axes_stayed_as_they_were_on_a_turned_mount(what):
    arm = fa.load("rr")
    states = {name: [[0.3, 0.4]] for name in ("q", "qd", "qdd")}
    inputs = fa.compile(arm, what).graph.inputs
    over = {port.name: states[port.name] for port in inputs}
    with pytest.raises(fa.StateFault, match=f"{what} is in world axes, and over\\['mount'\\] turns the base"):
        fa.sweep(what, over | {"mount": [(0.1, 0.2, 0.3)]}, arm=arm)


def test_coordinates_of_a_centre_of_mass_were_called_joints():
    found = fa.sweep("center_of_mass", {"q": [[0.1, 0.2, 0.3]]}, arm=fa.load("generic_3r"))
    assert found.names == ("c[0]", "c[1]", "c[2]")


def test_masked_values_to_visit_were_visited():
    values = np.ma.masked_array([[0.1, 0.2], [0.3, 0.4]], mask=[[0, 0], [0, 1]])
    with pytest.raises(fa.StateFault, match="over\\['q'\\] has 1 masked entries"):
        fa.sweep("gravity_torque", {"q": values}, arm=fa.load("rr"))


def test_what_a_journal_gave_is_not_counted_as_pace():
    """A sweep that goes on at 900 of 1000 samples said ninety times its rate."""
    begun = []
    assert _pace(begun, 5.0, 900, 1000) == "sweeping"
    assert _pace(begun, 6.0, 910, 1000) == "10 samples/s, 9 s left"
    assert _pace(begun, 10.0, 1000, 1000) == "20 samples/s, 0 s left"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("friction", [[1.0, -2.0]]),
        ("viscous", fa.Uniform(-1, 1)),
        ("dry", fa.Normal(0.5, 1.0)),
        ("density", [1.0, -1.0]),
        ("lengths", [-1.0]),
        ("links[0].mass", fa.Normal(1.0, 1.0)),
        ("payload", fa.Uniform(-2.0, 2.0)),
        ("inertial", [-fa.parameters(fa.load("rr")).reshape(2, 10)]),
    ],
)
def test_arms_that_cannot_be_were_swept_without_a_word(name, values):
    over = {"q": [[0.1, 0.2]], "qd": [[1.0, 1.0]], "qdd": [[0.0, 0.0]], name: values}
    with pytest.raises(
        fa.StateFault, match=rf"over\['{re.escape(name)}'\] goes to -.*, and no arm has less than"
    ):
        fa.sweep("inverse_dynamics", over, arm=fa.load("rr"), samples=50)


def test_a_payload_may_be_taken_off():
    arm = fa.load("rr")
    held = arm.with_payload(1.0, frame="tool")
    found = fa.sweep("gravity_torque", {"q": [[0.1, 0.2]], "payload": [-1.0]}, arm=held)
    np.testing.assert_allclose(found.least, fa.gravity_torque(arm, [0.1, 0.2]), rtol=1e-12)


VARIED = {
    "payload": fa.Uniform(0, 1),
    "gravity": [[0.0, 0.0, -9.81]],
    "mount": fa.Uniform([-1, -1, 0], [1, 1, 0]),
    "friction": fa.Uniform([0, 0], [1, 1]),
    "viscous": fa.Uniform(0, 1),
    "dry": fa.Uniform(0, 1),
    "density": fa.Uniform(0.9, 1.1),
    "inertial": [fa.parameters(fa.load("rr")).reshape(2, 10)],
    "lengths": fa.Uniform(0.9, 1.1),
    "geometry": fa.Uniform([0.7, 0.5], [0.8, 0.6]),
    "links[1].mass": fa.Uniform(1, 2),
}


@pytest.mark.parametrize("name", VARIED)
def test_a_quantity_could_not_be_sent_to_other_processes_without_cloudpickle(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    over = {"q": fa.Uniform([-1, -1], [1, 1]), name: VARIED[name]}
    problem = _problem("gravity_torque", over, fa.load("rr"), 3, "extremes", 0, 2)
    again = pickle.loads(pickled(problem))
    np.testing.assert_array_equal(again.values(again.choices(0, 3)), problem.values(problem.choices(0, 3)))


def test_every_name_that_may_vary_is_tried():
    assert {*PARAMETERS} == {*VARIED} - {"links[1].mass"}
