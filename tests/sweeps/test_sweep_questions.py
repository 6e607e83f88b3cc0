"""Questions that sweeps took for other ones: world axes on a turned mount, journals of a changed function."""

import functools
import json
import logging
import math
import pickle
import re
import sys
import threading
import types
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import forearm as fa
from forearm.cli.verbs.sweep_verbs import _pace
from forearm.sweeps.fingerprints import fingerprint
from forearm.sweeps.parameters import PARAMETERS
from forearm.sweeps.sweep_run import _problem
from forearm.sweeps.task_carriers import pickled

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


def test_a_journal_of_another_version_was_gone_on_with(tmp_path, monkeypatch):
    journal = tmp_path / "sweep.json"
    assert swept(scaled, journal).fresh == 2
    monkeypatch.setattr(fa, "__version__", "0.0.1")
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        swept(scaled, journal)


def test_a_journal_of_a_function_that_has_no_module_was_told_as_an_error_of_ours(tmp_path):
    """What sympy.lambdify makes of a formula belongs to none."""
    journal = tmp_path / "sweep.json"

    def made(text):
        given = eval(f"lambda x: {text}", {"__name__": None})
        assert given.__module__ is None
        return lambda choices: given(choices["x"])

    assert swept(made("x + 1.0"), journal).greatest == 3.0
    assert swept(made("x + 1.0"), journal).fresh == 0
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        swept(made("x + 2.0"), journal)


def test_values_that_hold_themselves_ended_in_numpys_words():
    values = []
    values.append(values)
    with pytest.raises(fa.StateFault, match="give"):
        fa.sweep("gravity_torque", {"q": values}, arm=fa.load("rr"))
    with pytest.raises(fa.StateFault, match="give an array of numbers"):
        fa.sweep(lambda choices: choices["x"], {"x": values}, executor="threads", workers=1)


def test_a_journal_took_one_partial_for_another(tmp_path):
    journal = tmp_path / "sweep.json"
    assert swept(functools.partial(sum_of, weight=1.0), journal).greatest == 2.0
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        swept(functools.partial(sum_of, weight=3.0), journal)


def test_a_journal_gave_the_results_of_before_whatever_a_function_reads_changed(tmp_path):
    """A file, a service, a clock: no look at the function's text sees them."""
    journal, gains = tmp_path / "sweep.json", tmp_path / "gains.txt"
    gains.write_text("1.0")

    def from_a_file(choices):
        return float(gains.read_text()) * choices["x"]

    assert swept(from_a_file, journal).greatest == 2.0
    assert swept(from_a_file, journal).fresh == 0
    gains.write_text("5.0")
    with pytest.raises(fa.StateFault, match="the function gives other numbers now than when this journal"):
        swept(from_a_file, journal)


@pytest.mark.parametrize(("now", "goes_on"), [(1.0 + 1e-14, True), (math.nan, False), (-1.0, False)])
def test_results_of_another_machine_may_differ_by_rounding(tmp_path, now, goes_on):
    journal = tmp_path / "sweep.json"
    swept(scaled, journal)
    kept = json.loads(journal.read_text())
    journal.write_text(json.dumps(kept | {"probes": [[now * x for x in row] for row in kept["probes"]]}))
    if goes_on:
        assert swept(scaled, journal).fresh == 0
    else:
        with pytest.raises(fa.StateFault, match="gives other numbers now"):
            swept(scaled, journal)


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
        (np.vectorize(_make(1.0)), np.vectorize(_make(2.0))),
        (Plant(Plant(1.0)), Plant(Plant(2.0))),
        (SimpleNamespace(k=1.0, f=_make(1.0)), SimpleNamespace(k=2.0, f=_make(1.0))),
        ({"a", "b"}, {"a", "c"}),
        (type("C", (), {"arm": rr}), type("C", (), {"arm": rr.with_payload(1.0, frame="tool")})),
        ([one := _make(1.0), two := _make(2.0), one], [one, two, two]),
    ]
    for one, other in pairs:
        assert fingerprint(one) == fingerprint(one)
        assert fingerprint(one) != fingerprint(other)
    assert fingerprint(_make(1.0)) == fingerprint(_make(1.0))
    assert fingerprint(Plant(1.0)) == fingerprint(Plant(1.0))


HIDDEN = {
    "inner object": "class Inner:\n def __call__(self, x): return K * x\n"
    "class Outer:\n def __init__(self): self.inner = Inner()\n"
    " def __call__(self, v): return self.inner(v['x'])\nwhat = Outer()",
    "function of an object": "def cost(x): return K * x\n"
    "class Outer:\n def __init__(self, f): self.g = f\n def __call__(self, v): return self.g(v['x'])\n"
    "what = Outer(cost)",
    "vectorize": "g = np.vectorize(lambda x: K * x, otypes=[float])\ng([1.0])\ndef what(v): return g(v['x'])",
    "namespace": "n = types.SimpleNamespace(k=K, f=lambda x: x)\ndef what(v): return n.f(n.k * v['x'])",
    "lock": "class Plant:\n def __init__(self): self.k, self.lock = K, threading.Lock()\n"
    " def __call__(self, v): return self.k * v['x']\nwhat = Plant()",
    "lock in a namespace": "class Plant:\n def __init__(self): self.k, self.lock = K, threading.Lock()\n"
    "n = types.SimpleNamespace(plant=Plant())\ndef what(v): return n.plant.k * v['x']",
    "circle": "class Node:\n def __init__(self): self.k, self.next, self.lock = K, [self], threading.Lock()\n"
    "node = Node()\ndef what(v): return node.k * v['x']",
    "class": "class Set: pass\nSet.arm = fa.load('rr').with_payload(K, frame='tool')\n"
    "def what(v): return Set.arm.total_mass * v['x']",
    "closure of ours": "f = fa.derive(fa.load('rr').with_payload(K, frame='tool')).lambdify()\n"
    "def what(v): return f([v['x'], 0], [0, 0], [0, 0])",
    "named position": "arm = fa.load('rr').replace(configurations=(('home', (K, 0.0)),))\n"
    "def what(v): return dict(arm.configurations)['home'][0] * v['x']",
    "set": "known = {'a', 'b', 'cc', K}\ndef what(v): return len(known) * v['x']",
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_journal_gave_the_results_of_what_a_function_held_before_it_changed(kind):
    """Code and numbers that stand inside objects, classes and closures were told by their names alone."""

    def told(value):
        names = {"__name__": "caller", "fa": fa, "np": np, "types": types, "threading": threading}
        exec(HIDDEN[kind].replace("K", value), names)
        return fingerprint(names["what"])

    assert told("1.0") == told("1.0") != told("2.0")


def test_an_unchanged_sweep_that_reads_a_set_was_another_in_the_next_process():
    """The order of a set's words changes with the process, as that of these numbers with how they came in."""
    one, other = {0, 8}, {8, 0}
    assert list(one) != list(other)
    assert fingerprint([one]) == fingerprint([other])
    assert fingerprint(types.SimpleNamespace(x=one)) == fingerprint(types.SimpleNamespace(x=other))


def test_what_belongs_to_a_process_does_not_make_a_sweep_another():
    """A log, a file or a clock of an installed class is no part of the question."""
    assert fingerprint(logging.getLogger("a")) == fingerprint(logging.getLogger("a"))
    assert fingerprint(threading.Event()) == fingerprint(threading.Event())


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
    problem = _problem("gravity_torque", over, fa.load("rr"), 3, "extremes", 0, None)
    again = pickle.loads(pickled(problem))
    np.testing.assert_array_equal(again.values(again.choices(0, 3)), problem.values(problem.choices(0, 3)))


def test_every_name_that_may_vary_is_tried():
    assert {*PARAMETERS} == {*VARIED} - {"links[1].mass"}
