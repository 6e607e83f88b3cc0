"""Labels and masks are looked at or refused, in every argument of every public call: see labels_everywhere.py."""

import contextlib
import enum
import warnings

import numpy as np
import pytest

import forearm as fa
from hostile import labels_everywhere
from hostile.good_calls import CALLS, Workshop

pytest.importorskip("xarray")
KEPT = labels_everywhere.KEPT
QUICK = ("fa.gravity_torque(", "fa.via_points(", "fa.feasible(", "fa.Link(", "fa.Drive(", "fa.Coordinates(")


@pytest.fixture(scope="module")
def things():
    return Workshop()


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(
            call, marks=() if call.startswith(QUICK) else pytest.mark.more, id=call.partition("(")[0]
        )
        for call in CALLS
        if not call.startswith(KEPT)
    ],
)
def test_labels_in_another_order_give_the_same_or_a_sentence(call, things):
    """Tables with columns in another order, named tuples, words beside an axis were taken by place in many places."""
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, values, _ in list(labels_everywhere.places(call, things)):
            for kind in labels_everywhere.kinds():
                found, told = labels_everywhere.outcome(call, k, kind, things)
                if found not in ("result", "fault", "none"):
                    wrong.append((found, kind, values.tolist(), told))
    assert not wrong


def test_what_is_kept_is_refused_where_it_is_read():
    """Samples, laws and arcs keep what they are given."""
    import pandas

    import forearm.simulation as sim

    rr, ur5e = fa.load("rr"), fa.load("ur5e")
    turned = pandas.DataFrame([[-0.4, 0.3]] * 3, columns=["q2", "q1"])
    plain = turned[["q1", "q2"]].to_numpy()
    t = [0.0, 0.5, 1.0]
    by_name = fa.feasible(rr, sim.Samples(t, turned, 0 * turned, 0 * turned))
    by_place = fa.feasible(rr, sim.Samples(t, plain, 0 * plain, 0 * plain))
    assert str(by_name) == str(by_place)
    law = sim.PDWithGravity(rr, pandas.Series([-0.4, 0.3], index=["q2", "q1"]), 10.0, 2.0)
    same = sim.PDWithGravity(rr, [0.3, -0.4], 10.0, 2.0)
    state = ([0.1, 0.2], [0.0, 0.0])
    assert list(law(0.0, *state)) == list(same(0.0, *state))
    start = [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
    through = pandas.Series({"z": 0.1, "x": 0.2, "y": 0.3})
    with pytest.raises(fa.StateFault, match="through of the arc to place 0 has labels"):
        fa.tool_path(ur5e, start, [fa.Arc(through, [0.3, 0.3, 0.3])])


@pytest.mark.parametrize("units", ["deg", "degrees", "mm", "rad/min"])
def test_units_beside_an_array_of_xarray_were_passed_over(units):
    xarray = pytest.importorskip("xarray")
    rr = fa.load("rr")
    q = xarray.DataArray([0.3, -0.4], dims="joint", coords={"joint": ["q1", "q2"]}, attrs={"units": units})
    with pytest.raises(fa.StateFault, match=f"q: says units='{units}', and numbers are read in SI units"):
        fa.gravity_torque(rr, q)
    assert fa.gravity_torque(rr, q.assign_attrs(units="rad")).shape == (2,)


class Quantity(np.ndarray):
    """Numbers with a unit, as astropy and unyt have them."""


@pytest.mark.parametrize(("unit", "right"), [("deg", False), ("rad", True), ("radian", True), ("mm", False)])
def test_units_of_arrays_with_units_were_dropped(unit, right):
    q = np.array([0.3, -0.4]).view(Quantity)
    q.unit = unit
    with contextlib.nullcontext() if right else pytest.raises(fa.StateFault, match=f"q: says unit='{unit}'"):
        assert fa.gravity_torque(fa.load("rr"), q).shape == (2,)


def test_words_along_an_axis_called_joint_that_name_no_joints_were_passed_over():
    xarray = pytest.importorskip("xarray")
    q = xarray.DataArray([0.3, -0.4], dims="joint", coords={"joint": ["elbow", "waist"]})
    with pytest.raises(fa.StateFault, match=r"q has labels \(elbow, waist\) that are no joints \(q1, q2\)"):
        fa.gravity_torque(fa.load("rr"), q)


def test_labels_that_are_members_of_an_enumeration_are_words():
    pandas = pytest.importorskip("pandas")
    joint = enum.Enum("joint", {"ELBOW": "q2", "WAIST": "q1"})
    q = pandas.Series([-0.4, 0.3], index=list(joint))
    assert np.array_equal(fa.gravity_torque(fa.load("rr"), q), fa.gravity_torque(fa.load("rr"), [0.3, -0.4]))


def test_a_column_that_is_called_unit_is_no_unit():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"q2": [-0.4], "q1": [0.3], "unit": ["deg"]})
    with pytest.raises(fa.StateFault, match="q by joint name: unknown unit; arm 'rr' has q1, q2"):
        fa.gravity_torque(fa.load("rr"), table)
