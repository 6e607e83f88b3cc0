"""Arrays whose axes have names: a joint's number is found by its name, whatever the order."""

import enum
from collections import namedtuple
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import forearm as fa
from forearm.simulation import PDWithGravity, Quintic

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

arm = fa.load("generic_3r")
q, qd, qdd = arm.random_state(3, batch=(3,))
names = list(arm.joint_names)
back = names[::-1]


def test_a_series_by_joint_in_another_order_gave_another_torque():
    state = pd.Series(q[0], index=names)[back]
    assert np.array_equal(fa.gravity_torque(arm, state), fa.gravity_torque(arm, q[0]))


def test_joints_of_a_dataarray_in_another_order_gave_another_torque():
    log = xr.DataArray(q, dims=("time", "joint"), coords={"joint": names})
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    for given in (log, log[:, ::-1], log.T, log[:, ::-1].T):
        assert np.array_equal(fa.inverse_dynamics(arm, given, qd, qdd), want)


def test_an_axis_called_joint_is_the_joints_wherever_it_stands():
    log = xr.DataArray(q, dims=("time", "joint"))
    want = fa.gravity_torque(arm, q)
    assert np.array_equal(fa.gravity_torque(arm, log), want)
    assert np.array_equal(fa.gravity_torque(arm, log.T), want)


def test_labels_that_name_no_joint_are_rows_as_ever():
    state = pd.Series(q[0], index=[7, 8, 9])
    assert np.array_equal(fa.gravity_torque(arm, state), fa.gravity_torque(arm, q[0]))


def test_rows_of_two_tables_in_another_order_were_taken_by_place():
    first, second = (pd.DataFrame(x, columns=names, index=[0.1, 0.2, 0.3]) for x in (q, qd))
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    assert np.array_equal(fa.inverse_dynamics(arm, first, second, qdd), want)
    with pytest.raises(
        fa.StateFault, match=r"row 1 along index is 0.1 in q and 0.3 in qd, and rows are taken by place"
    ):
        fa.inverse_dynamics(arm, first, second[::-1], qdd)


PUSH = fa.Wrench(force=(0, 0, 1))
"""Beside it, torques are added up before they go anywhere."""


@pytest.mark.parametrize(
    "call",
    [
        lambda q, qd, x: fa.terms(arm, q, qd, x),
        lambda q, qd, x: fa.task(arm, q, qd, damping=0.1),
        lambda q, qd, x: fa.forward_dynamics(arm, x, q, qd, wrench=PUSH),
        lambda q, qd, x: fa.compile(arm, "inverse_dynamics")(q, qd, x),
        lambda q, qd, x: fa.compile_function(lambda a, b: a + b, {"a": 3, "b": 3})(
            q.set_axis([1, 2, 3], axis=1), qd.set_axis([1, 2, 3], axis=1)
        ),
        lambda q, qd, x: fa.simulate(arm, q, qd, duration=0.001),
        lambda q, qd, x: fa.tabulate(arm, points=4).torques(arm, q, qd, x),
        lambda q, qd, x: fa.significance(arm, (q, qd, x)),
        lambda q, qd, x: fa.observer(arm).run(q, qd, x),
    ],
    ids=[
        "terms",
        "task",
        "wrench",
        "kernel",
        "function",
        "simulate",
        "table",
        "significance",
        "observer",
    ],
)
def test_only_functions_of_one_quantity_looked_at_the_order_of_rows(call):
    first, second = (pd.DataFrame(x, columns=names, index=[0.1, 0.2, 0.3]) for x in (q, qd))
    call(first, second, qdd)
    with pytest.raises(
        fa.StateFault, match=r"row 1 along index is 0.1 in \w+ and 0.3 in \w+, and rows are taken"
    ):
        call(first, second[::-1], qdd)
    with pytest.raises(fa.StateFault, match=r"learn_table: row 1 along index is 0.1 in q and 0.3 in qd"):
        fa.learn_table(arm, first, second[::-1], qdd, qdd, points=2)


def test_axes_of_two_arrays_in_another_order_were_taken_by_place():
    runs = xr.DataArray(np.tile(q, (3, 1, 1)), dims=("run", "time", "joint"), coords={"joint": names})
    speeds = xr.DataArray(np.tile(qd, (3, 1, 1)), dims=("time", "run", "joint"), coords={"joint": names})
    assert fa.bias_torque(arm, runs, speeds.rename(time="run", run="time")).shape == (3, 3, 3)
    with pytest.raises(
        fa.StateFault, match=r"axes of q are run, time, those of qd time, run, and rows are taken by"
    ):
        fa.bias_torque(arm, runs, speeds)
    later = runs.assign_coords(time=[0.0, 0.1, 0.2])
    with pytest.raises(fa.StateFault, match=r"row 1 along time is 0.0 in q and 0.1 in qd"):
        fa.bias_torque(arm, later, later.assign_coords(time=[0.1, 0.2, 0.3]))


@pytest.mark.parametrize("joints", [{}, {"joint": names}], ids=["axis named", "joints named"])
def test_rows_whose_labels_are_words_were_taken_for_joints_and_by_place(joints):
    first, second = (
        xr.DataArray(x, dims=("run", "joint"), coords={"run": runs, **joints})
        for x, runs in ((q, ["a", "b", "c"]), (qd, ["c", "b", "a"]))
    )
    with pytest.raises(fa.StateFault, match="row 1 along run is a in q and c in qd"):
        fa.bias_torque(arm, first, second)
    assert np.array_equal(fa.bias_torque(arm, first, second[::-1]), fa.bias_torque(arm, q, qd[::-1]))


def test_labels_that_name_some_joints_only_are_refused():
    with pytest.raises(fa.StateFault, match="missing joint3 and unknown wrist"):
        fa.gravity_torque(arm, pd.Series(q[0], index=["joint1", "joint2", "wrist"]))
    odd = xr.DataArray(q, dims=("time", "joint"), coords={"joint": ["joint1", "joint2", "wrist"]})
    with pytest.raises(fa.StateFault, match="missing joint3 and unknown wrist"):
        fa.gravity_torque(arm, odd)


def test_a_wrench_was_added_to_the_columns_of_a_table_in_their_own_order():
    push = fa.Wrench(force=(3.0, -20.0, 5.0))
    tau = pd.DataFrame(qdd, columns=names)
    want = fa.forward_dynamics(arm, q, qd, qdd, wrench=push)
    assert np.allclose(fa.forward_dynamics(arm, q, qd, tau, wrench=push), want, rtol=1e-13)
    assert np.allclose(fa.forward_dynamics(arm, q, qd, tau[back], wrench=push), want, rtol=1e-13)


def shuffled(values):
    return pd.Series(values, index=names)[back]


def test_limits_and_gains_of_a_series_were_taken_by_place():
    sizes = np.array([50.0, 1.0, 0.2])
    limited = [
        fa.simulate(
            arm, q[0], duration=0.1, dt=1e-3, law=PDWithGravity(arm, q[1], kp, 1.0), torque_limits=most
        )
        for kp, most in (
            (sizes, sizes),
            (shuffled(sizes), shuffled(sizes)),
            (sizes, dict(zip(names, sizes, strict=True))),
        )
    ]
    for other in limited[1:]:
        assert np.array_equal(other.q, limited[0].q)
    seen = [fa.observer(arm, gain=g, offset=g).run(q, qd, qdd) for g in (sizes, shuffled(sizes))]
    assert np.array_equal(*seen)


def test_labels_that_nobody_looks_at_are_refused():
    state = shuffled(q[0])
    with pytest.raises(fa.StateFault, match="has labels"):
        fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques(arm, state, state, state)
    columns = fa.compile(arm, "gravity_torque", layout="columns")
    with pytest.raises(fa.StateFault, match="has labels"):
        columns(pd.DataFrame(q.T, index=names).loc[back])
    with pytest.raises(fa.StateFault, match="has labels"):
        Quintic(state, state, 1.0)
    with pytest.raises(fa.StateFault, match="has labels"):
        fa.simulate(arm, q[0], duration=0.1, dt=1e-3, law=PDWithGravity(arm, q[1], 1, 1), gains={"kp": state})


def test_labels_that_are_other_words_than_the_joints_were_taken_by_place():
    fa.gravity_torque(arm, pd.DataFrame(q, columns=["q1", "q2", "q3"]))
    with pytest.raises(fa.StateFault, match=r"has labels \(q2, q1, q3\) that are no joints"):
        fa.gravity_torque(arm, pd.DataFrame(q, columns=["q2", "q1", "q3"]))
    with pytest.raises(fa.StateFault, match="that are no joints"):
        fa.gravity_torque(arm, pd.Series(q[0], index=["waist", "elbow", "shoulder"]))


def test_a_joint_that_stands_there_twice_gave_the_torque_of_the_last():
    twice = pd.Series([*q[0], 9.0], index=[*names, names[0]])
    table = pd.DataFrame(np.ones((3, 4)), columns=[*names, names[0]])
    array = xr.DataArray([*q[0], 9.0], dims="joint", coords={"joint": [*names, names[0]]})
    for given in (twice, table, array):
        with pytest.raises(fa.StateFault, match=f"q has the label {names[0]} more than once"):
            fa.gravity_torque(arm, given)


def test_a_table_with_the_joints_as_its_rows_was_read_across():
    table = pd.DataFrame(q, index=names)  # as many states as joints
    with pytest.raises(
        fa.StateFault, match=r"q has the joints as its rows; give one row for each state: q\.T"
    ):
        fa.gravity_torque(arm, table)
    assert np.array_equal(fa.gravity_torque(arm, table.T), fa.gravity_torque(arm, q.T))


def test_a_vector_with_labels_in_another_order_was_taken_by_place():
    assert fa.Link("revolute", com=pd.Series([1, 2, 3], index=list("xyz"))).com == (1, 2, 3)
    with pytest.raises(fa.ArmFault, match=r"com has labels \(z, y, x\), and is taken by place"):
        fa.Link("revolute", com=pd.Series([3, 2, 1], index=list("zyx")))


def by_joint(values, index, joints=names):
    return {name: pd.Series(values[:, names.index(name)], index=index) for name in joints}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            by_joint(q, [0, 1, 2]) | by_joint(q[::-1], [2, 1, 0], names[:1]),
            "row 1 along index is 2 in joint1",
        ),
        (
            {name: xr.DataArray(q[:, i], dims="t", coords={"t": [i, 1, 2]}) for i, name in enumerate(names)},
            "row 1 along t is 0 in joint1",
        ),
        (pd.DataFrame(q, columns=[2, 1, 0]), "joints in the order 2, 1, 0 along columns"),
        (pd.DataFrame(q, columns=[0.0, 0.01, 0.02]), "times along its last axis"),
        (pd.Series(q[0], index=pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"])), "times along"),
        (xr.DataArray(q, dims=("run", "time")), r"times along its last axis \(time\)"),
        (xr.DataArray(q, dims=("a", "b"), coords={"b": [0.0, 0.1, 0.2]}), "times along its last axis"),
        (xr.DataArray(q, dims=("time", "dof"), coords={"dof": [2, 1, 0]}), "joints in the order 2, 1, 0"),
    ],
)
def test_labels_beside_the_numbers_were_passed_over(given, message):
    with pytest.raises(fa.StateFault, match=message):
        fa.gravity_torque(arm, given)


def test_rows_of_two_dicts_of_series_in_another_order_were_taken_by_place():
    with pytest.raises(fa.StateFault, match="row 1 along index is 0 in q and 2 in qd"):
        fa.bias_torque(arm, by_joint(q, [0, 1, 2]), by_joint(qd, [2, 1, 0]))


def test_joints_were_taken_by_place_out_of_lists_of_series_and_other_tables():
    want = fa.gravity_torque(arm, q)
    rows = [pd.Series(row, index=names)[order] for row, order in zip(q, (names, back, back), strict=True)]
    log = xr.DataArray(q.T, dims=("dof", "time"))
    data = xr.Dataset({name: ("t", q[:, names.index(name)]) for name in back})
    for given in (rows, log, log.T, data, by_joint(q, [5, 6, 7])):
        assert np.array_equal(fa.gravity_torque(arm, given), want)


@pytest.mark.more
def test_joints_were_taken_by_place_out_of_arrow_tables():
    arrow, want = pytest.importorskip("pyarrow"), fa.gravity_torque(arm, q)
    assert np.array_equal(fa.gravity_torque(arm, arrow.table({n: q[:, names.index(n)] for n in back})), want)


def test_numbered_labels_of_joints_whose_names_have_other_numbers_were_taken_by_place():
    links = [link.replace(name=n) for link, n in zip(arm.links, ("left1", "right1", "left2"), strict=True)]
    with pytest.raises(fa.StateFault, match=r"has labels \(q1, q2, q3\) that are no joints \(left1, right1"):
        fa.gravity_torque(arm.replace(links=links), pd.DataFrame(q, columns=["q1", "q2", "q3"]))


Side = enum.Enum("Side", {name: i for i, name in enumerate(names)})


@pytest.mark.parametrize(
    "labels",
    [
        pd.MultiIndex.from_tuples([("q", name) for name in back]),
        [name.encode() for name in back],
        [Side[name] for name in back],
    ],
    ids=["levels", "bytes", "enum"],
)
def test_titles_that_are_no_texts_were_passed_over_and_joints_taken_by_place(labels):
    want = fa.gravity_torque(arm, q)
    assert np.array_equal(fa.gravity_torque(arm, pd.DataFrame(q[:, ::-1], columns=labels)), want)
    assert np.array_equal(fa.gravity_torque(arm, pd.Series(q[0, ::-1], index=labels)), want[0])


def test_a_named_tuple_by_joint_in_another_order_was_taken_by_place():
    state = namedtuple("State", back)(*q[0, ::-1])
    assert np.array_equal(fa.gravity_torque(arm, state), fa.gravity_torque(arm, q[0]))


def test_names_in_a_second_coordinate_were_passed_over():
    log = xr.DataArray(q[:, ::-1], dims=("time", "joint"), coords={"name": ("joint", back)})
    assert np.array_equal(fa.gravity_torque(arm, log), fa.gravity_torque(arm, q))
    other = log.assign_coords(name=("joint", ["a", "b", "c"]))
    with pytest.raises(fa.StateFault, match=r"a, b, c.* that are no joints"):
        fa.gravity_torque(arm, other)


def test_words_along_an_axis_called_joint_that_name_none_were_taken_by_place():
    log = xr.DataArray(q, dims=("time", "joint"), coords={"joint": ["waist", "elbow", "shoulder"]})
    with pytest.raises(fa.StateFault, match=r"has labels \(waist, elbow, shoulder\) that are no joints"):
        fa.gravity_torque(arm, log)
    assert np.array_equal(
        fa.gravity_torque(arm, log.assign_coords(joint=["q1", "q2", "q3"])), fa.gravity_torque(arm, q)
    )


class Measured(np.ndarray):
    """An array with a unit, as astropy and unyt make them: NumPy's functions drop it."""

    unit = "deg"


@pytest.mark.parametrize(
    "given",
    [
        xr.DataArray(q, dims=("time", "joint"), attrs={"units": "degrees"}),
        xr.DataArray(q.T, dims=("joint", "time"), coords={"joint": names}, attrs={"units": "mrad"}),
        q.view(Measured),
        {name: q[:, i].view(Measured) for i, name in enumerate(names)},
    ],
    ids=["attributes", "by name", "array", "dict"],
)
def test_degrees_that_an_array_says_of_itself_were_taken_for_radians(given):
    with pytest.raises(fa.StateFault, match=r"says units?='(degrees|mrad|deg)', and numbers are read in SI"):
        fa.gravity_torque(arm, given)


def test_units_of_si_are_no_other_unit():
    for unit in ("rad", "radian", "N m", "rad/s", ""):
        log = xr.DataArray(q, dims=("time", "joint"), attrs={"units": unit})
        assert np.array_equal(fa.gravity_torque(arm, log), fa.gravity_torque(arm, q))


MOTION = Quintic(q[0], q[1], 1.0).sample(20)
LIMITS = {"torques": 100.0, "speeds": 10.0}


def test_feasible_judged_the_columns_of_a_table_by_place():
    tables = {k: pd.DataFrame(getattr(MOTION, k), columns=names)[back] for k in ("q", "qd", "qdd")}
    found = fa.feasible(arm, SimpleNamespace(t=MOTION.t, **tables), **LIMITS)
    assert str(found) == str(fa.feasible(arm, MOTION, **LIMITS))
    with pytest.raises(fa.StateFault, match="row 1 along index is 0 in q and 19 in qd"):
        fa.feasible(arm, SimpleNamespace(t=MOTION.t, **tables | {"qd": tables["qd"][::-1]}), **LIMITS)


def test_times_with_a_unit_were_taken_for_seconds():
    milliseconds = (MOTION.t * 1000).astype("timedelta64[ms]")
    with pytest.raises(fa.StateFault, match=r"feasible: t is .*give numbers"):
        fa.feasible(arm, MOTION._replace(t=milliseconds), **LIMITS)


def test_values_of_a_sweep_with_labels_were_taken_by_place():
    for what, over in (
        ("gravity_torque", {"q": [shuffled(q[0]), shuffled(q[1])]}),
        ("inverse_dynamics", {"motion": [Quintic(q[0], q[1], 1.0)], "viscous": [shuffled(q[0])]}),
    ):
        with pytest.raises(fa.StateFault, match=r"sweep: over\['\w+'\] has labels"):
            fa.sweep(what, over, arm=arm)


def test_a_page_began_at_positions_taken_by_place():
    page = fa.view(arm, q=shuffled(q[0]), formulations=())
    assert page.html == fa.view(arm, q=q[0], formulations=()).html


def test_a_point_with_labels_in_another_order_was_taken_by_place():
    point = pd.Series(fa.pose(arm, q[0])[:3, 3], index=list("xyz"))
    assert fa.inverse_kinematics(arm, point, q0=q[0]).solved
    with pytest.raises(fa.StateFault, match=r"pose has labels \(z, y, x\), and is taken by place"):
        fa.inverse_kinematics(arm, point[::-1])


def test_rows_of_a_log_in_another_order_were_taken_by_place():
    t, turned = np.arange(200) * 0.01, np.zeros((200, 3))
    tables = {k: pd.DataFrame(turned, columns=names, index=t) for k in ("q", "tau")}
    with pytest.raises(fa.StateFault, match=r"log: row 1 along index is 0.0 in q and 1.99 in tau"):
        fa.watch(arm, {"t": t, **tables, "tau": tables["tau"][::-1]})


def test_labels_units_and_masks_of_objects_were_passed_over():
    """A row of a table that holds words, too, is an array of objects, and so are mpmath numbers."""
    want = fa.inverse_dynamics(arm, q[0], qd[0], qdd[0])
    row = pd.Series(dict(zip(back, q[0][::-1], strict=True)), dtype=object)
    assert np.array_equal(fa.inverse_dynamics(arm, row, qd[0], qdd[0]), want)
    table = pd.DataFrame(q[:, ::-1], columns=back, dtype=object)
    assert np.array_equal(fa.gravity_torque(arm, table), fa.gravity_torque(arm, q))
    digits = row.map(mpmath.mpf)
    assert np.allclose(fa.inverse_dynamics(arm, digits, qd[0], qdd[0]).astype(float), want, rtol=1e-13)
    for numbers in (row, digits):
        with pytest.raises(fa.StateFault, match="that are no joints"):
            fa.gravity_torque(arm, numbers.set_axis(["waist", "elbow", "shoulder"]))
        with pytest.raises(fa.StateFault, match="says units='deg'"):
            fa.gravity_torque(arm, xr.DataArray(numbers.to_numpy(), dims="joint", attrs={"units": "deg"}))
        with pytest.raises(fa.StateFault, match="1 masked entries"):
            fa.gravity_torque(arm, np.ma.array(numbers.to_numpy(), mask=[1, 0, 0]))
        order = namedtuple("order", back)
        assert np.allclose(
            fa.gravity_torque(arm, order(*numbers)).astype(float), fa.gravity_torque(arm, q[0]), rtol=1e-13
        )


def test_a_law_that_asks_by_name_is_compiled():
    def by_name(t, q, qd):
        return fa.gravity_torque(arm, dict(zip(back, q[::-1], strict=True))) - qd

    def of_series(t, q, qd):
        return fa.gravity_torque(arm, pd.Series(q[::-1], index=back)) - qd

    runs = [fa.simulate(arm, q[0], law=law, duration=0.02) for law in (by_name, of_series)]
    python = fa.simulate(arm, q[0], law=by_name, duration=0.02, trace=False)
    for run in runs:
        assert run.law.endswith("traced")
        assert np.allclose(run.q, python.q, rtol=0, atol=1e-12)
