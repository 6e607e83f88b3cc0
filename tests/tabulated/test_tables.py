"""Tables of torques: exact at their points, of the order they claim, as large as foretold, and refused when void."""

import ctypes
import re
import shutil
import subprocess
import tracemalloc

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.tabulated import table_files
from forearm.tabulated.memory_answers import all_numbers, needed_numbers
from forearm.tabulated.methods import entries_of, frictionless
from forearm.tabulated.stencils import ORDERS

METHODS = ["albus", "raibert", "horn_raibert"]
FEW = {
    "albus": {"q": 5, "qd": 4, "qdd": 4},
    "raibert": {"q": 6, "qd": 5, "qdd": 4},
    "horn_raibert": {"q": 9, "qd": 4, "qdd": 4},
}
RANGE = dict(speeds=2.0, accelerations=5.0)


def table_of(arm, method, interpolation="linear", **options):
    return fa.tabulate(
        arm, method, **{"points": FEW[method], "interpolation": interpolation, **RANGE, **options}
    )


def points_of(table, count=300):
    """States that lie on points of every grid of a table; what is no axis is anything."""
    rng = np.random.default_rng(7)
    arm = table.plan.arm
    state = {name: x for name, x in zip(("q", "qd", "qdd"), arm.random_state(3, (count,)), strict=True)}
    for axis in {axis for grid in table.plan.grids for axis in grid.axes}:
        state[axis.what][:, axis.joint] = rng.choice(axis.values, count)
    return state["q"], state["qd"], state["qdd"]


@pytest.mark.parametrize("interpolation", ORDERS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["rr", "generic_3r"])
def test_exact_at_the_points_of_the_grid(name, method, interpolation):
    arm = fa.load(name)
    table = table_of(arm, method, interpolation)
    state = points_of(table)
    assert_close(table.torques(arm, *state), fa.inverse_dynamics(arm, *state))


@pytest.mark.parametrize("method", ["raibert", "horn_raibert"])
def test_exact_at_the_points_with_drives_and_sliding_joints(method):
    for name in ("stanford", "puma560"):
        arm = fa.load(name)
        table = table_of(arm, method, points={"q": 4, "qd": 2, "qdd": 2})
        state = points_of(table, 50)
        want = fa.inverse_dynamics(arm, *state)
        assert_close(table.torques(arm, *state), want, eps=256, because="sums of up to 6 + 21 products")


def errors(arm, method, interpolation, points):
    """Root mean square error of a look-up relative to the greatest torque, for several numbers of points."""
    q, qd, qdd = arm.random_state(11, (400,))
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    found = []
    for each in points:
        table = fa.tabulate(arm, method, points=each, interpolation=interpolation, **RANGE)
        found.append(np.sqrt(np.mean((table.torques(arm, q, qd, qdd) - want) ** 2)) / np.abs(want).max())
    return np.array(found)


SIZES = {
    ("horn_raibert", "nearest"): (16, 24, 32, 48, 64, 96),
    ("horn_raibert", "linear"): (16, 24, 32, 48, 64, 96),
    ("horn_raibert", "cubic"): (16, 24, 32, 48, 64, 96),
    ("raibert", "nearest"): (6, 8, 11, 15),
    ("raibert", "linear"): (6, 8, 11, 15),
    ("raibert", "cubic"): (16, 24, 32, 48, 64),
    ("albus", "nearest"): (5, 7, 9, 11),
    ("albus", "linear"): (8, 11, 15, 20),
    ("albus", "cubic"): (16, 24, 32, 48),
}
"""Points on an axis of positions, coarse to fine."""
FINE = {"nearest": ("q", "qd", "qdd"), "linear": ("q", "qd"), "cubic": ("q",)}
"""What must be refined too: torques are quadratic in qd and linear in qdd, so a cubic, and a line, are exact there."""


@pytest.mark.parametrize(("method", "interpolation"), SIZES)
def test_error_falls_with_the_order_of_the_interpolation(method, interpolation):
    sizes = np.array(SIZES[method, interpolation])
    points = [{k: int(size) if k in FINE[interpolation] else 4 for k in ("q", "qd", "qdd")} for size in sizes]
    if interpolation == "linear":
        points = [each | {"qdd": 2} for each in points]
    arm = fa.load("rr" if method == "albus" else "generic_3r")
    # an angle goes round in as many steps as points, a speed from end to end in one less
    steps = sizes if FINE[interpolation] == ("q",) or method == "horn_raibert" else sizes - 1
    slope = np.polyfit(np.log(steps), np.log(errors(arm, method, interpolation, points)), 1)[0]
    assert -slope == pytest.approx(ORDERS[interpolation], abs=0.25 if method == "horn_raibert" else 0.35)


def test_joints_that_do_not_matter_are_no_axes():
    puma = frictionless(fa.load("puma560"))
    over = {place for entry in entries_of(puma, "horn_raibert") for place in entry.over}
    assert over == {("q", 1), ("q", 2), ("q", 3), ("q", 4)}  # not the waist, not the flange


def test_no_entry_is_stored_twice_or_for_nothing():
    arm = frictionless(fa.load("rr"))
    entries = entries_of(arm, "horn_raibert")
    assert [(e.quantity, e.place) for e in entries if e.quantity == "mass_matrix"] == [
        ("mass_matrix", 0),
        ("mass_matrix", 1),
        ("mass_matrix", 3),
    ]
    assert len([e for e in entries if e.quantity == "christoffel"]) == 3  # C112, C122, C211


@pytest.mark.parametrize("method", METHODS)
def test_memory_foretold_is_memory_used(method, tmp_path):
    arm = fa.load("generic_3r")
    points = {"albus": {"q": 6, "qd": 5, "qdd": 5}, "raibert": 13, "horn_raibert": 400}[method]
    plan = fa.plan_table(arm, method, points=points, **RANGE)
    fa.tabulate(arm, method, points=points, **RANGE)  # kernels are there
    tracemalloc.start()
    table = fa.tabulate(arm, method, points=points, **RANGE)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert table.nbytes == plan.bytes
    assert used == pytest.approx(plan.bytes, rel=0.01)
    written = table.save(tmp_path / "plain.table", compressed=False).stat().st_size
    assert written == pytest.approx(plan.bytes, rel=0.01)


def test_time_to_fill_is_foretold():
    plan = fa.plan_table(fa.load("rr"), points=300)
    assert 0 < plan.seconds < 5


def test_a_table_too_large_is_refused_before_it_is_filled():
    arm = fa.load("puma560")
    with pytest.raises(
        fa.StateFault, match=r"albus table of puma560.*GiB, linear, more than the 1 GiB allowed; give"
    ):
        fa.tabulate(arm, "albus", points=4, **RANGE)
    with pytest.raises(fa.StateFault, match=r"takes about \d+ s here, more than the 1e-06 s allowed"):
        fa.tabulate(arm, points=9, most_seconds=1e-6)


def test_a_load_picked_up_voids_the_table():
    arm = fa.load("puma560")
    table = fa.tabulate(arm, points=4)
    loaded = arm.with_payload(1.0, frame="flange")
    with pytest.raises(
        fa.StateFault, match=r"link 6 'wrist_twist' has 1.09 kg, and had 0.09 kg \(a load\?\).*void"
    ):
        table.torques(loaded, np.zeros(6), np.zeros(6), np.zeros(6))
    tilted = arm.replace(gravity=(0.0, 1.0, -9.0))
    with pytest.raises(fa.StateFault, match="masses are the same"):
        table.torques(tilted, np.zeros(6), np.zeros(6), np.zeros(6))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "cmac"}, "give one of albus, raibert, horn_raibert"),
        ({"interpolation": "spline"}, "give one of nearest, linear, cubic"),
        ({"points": 3, "interpolation": "cubic"}, "needs at least 4"),
        ({"points": {"qddd": 4}}, "give a whole number, or one for each of q, qd, qdd"),
        ({"dtype": "float16"}, "give 'float64' or 'float32'"),
        ({"method": "raibert"}, "has qd of joint 1 as an axis.*give speeds="),
        (
            {"method": "raibert", "speeds": [1.0, -1.0]},
            "give a positive number, or one for each of the 2 joints",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_tabulated_is_refused(options, says):
    with pytest.raises(fa.StateFault, match=says):
        fa.tabulate(fa.load("rr"), **options)


def test_a_state_outside_is_refused():
    arm = fa.load("puma560")
    table = fa.tabulate(arm, points=4)
    q = np.zeros((3, 6))
    q[2, 1] = 4.5
    with pytest.raises(
        fa.StateFault, match=r"q2 is 4.5 in state 2 \(1 are outside\), and the table ends at -0.785"
    ):
        table.torques(arm, q, 0 * q, 0 * q)


def test_a_sliding_joint_without_limits_has_no_axis():
    arm = fa.load("stanford")
    bare = arm.replace(links=tuple(link.replace(limits=None) for link in arm.links))
    with pytest.raises(fa.StateFault, match="slides and has no limits"):
        fa.tabulate(bare, points=4)


@pytest.mark.parametrize("kind", ["compressed", "plain", "mapped"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_table_comes_back_from_its_file(kind, dtype, tmp_path, monkeypatch):
    if kind == "mapped":
        monkeypatch.setattr(table_files, "LARGEST_CHECKED", 0)
    arm = fa.load("puma560")
    table = fa.tabulate(arm, points=5, interpolation="cubic", dtype=dtype)
    path = table.save(tmp_path / "puma.table", compressed=kind == "compressed")
    again = fa.open_table(path, arm)
    state = arm.random_state(5, (20,))
    np.testing.assert_array_equal(again.torques(arm, *state), table.torques(arm, *state))
    assert isinstance(again.numbers[-1], np.memmap) is (kind == "mapped")
    with pytest.raises(fa.ReadFault, match="every number in it is void"):
        fa.open_table(path, arm.with_payload(1.0, frame="flange"))


def test_files_that_are_no_tables_are_refused(tmp_path):
    arm = fa.load("rr")
    table = fa.tabulate(arm, points=40)
    plain = table.save(tmp_path / "plain", compressed=False).read_bytes()
    packed = table.save(tmp_path / "packed").read_bytes()
    cases = {
        b"hello": "no table",
        plain[:-8]: "not all there",
        packed[:-8]: "not all there",
        plain[:40]: "header of the table cannot be read",
        plain.replace(b'"horn_raibert"', b'"albus",     "x":1'[:14], 1): "cannot be read",
    }
    for k, (content, says) in enumerate(cases.items()):
        path = tmp_path / f"broken{k}"
        path.write_bytes(content)
        with pytest.raises(fa.ReadFault, match=says):
            fa.open_table(path, arm)
    with pytest.raises(fa.ReadFault, match="bytes allowed; give most_bytes="):
        fa.open_table(tmp_path / "packed", arm, most_bytes=100)


def test_horn_and_raibert_s_formulation_reads_the_table():
    from forearm.formulations.horn_raibert_1978 import joint_torques

    arm = fa.load("generic_3r")
    table = fa.tabulate(arm, points=64, interpolation="cubic")
    q, qd, qdd = arm.random_state(9)
    got = joint_torques(arm, q, qd, qdd, coefficients=table.coefficients(q))
    assert_close(got, table.torques(arm, q, qd, qdd))
    with pytest.raises(fa.StateFault, match="does not store M, C and g"):
        table_of(arm, "raibert").coefficients(q)


@pytest.mark.parametrize("method", METHODS)
def test_a_table_is_learnt_from_a_log(method):
    """The log comes from a table, so its torques can be met exactly, and the learnt table gives them back."""
    arm = fa.load("rr")
    points = {"q": 6, "qd": 3, "qdd": 3} if method != "albus" else {"q": 4, "qd": 2, "qdd": 2}
    teacher = fa.tabulate(arm, method, points=points, **RANGE)
    q, qd, qdd = arm.random_state(1, (4000,))
    log = teacher.torques(arm, q, qd, qdd)
    learnt = fa.learn_table(arm, q, qd, qdd, log, method, points=points, **RANGE)
    new = arm.random_state(2, (200,))
    got, want = learnt.torques(arm, *new), teacher.torques(arm, *new)
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()


def test_cells_that_a_log_never_met_are_refused():
    arm = fa.load("rr")
    q, qd, qdd = arm.random_state(1, (100,))
    q = np.abs(q) / 4
    table = fa.learn_table(arm, q, qd, qdd, fa.inverse_dynamics(arm, q, qd, qdd), points=12)
    with pytest.raises(fa.StateFault, match="1 of 2 states lie in cells that the log never"):
        table.torques(arm, [[0.3, 0.3], [-2.0, -2.0]], np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(fa.StateFault, match="rows q 100, qd 100, qdd 100, tau 99"):
        fa.learn_table(arm, q, qd, qdd, qdd[:99])
    with pytest.raises(fa.StateFault, match="GiB of equations"):
        fa.learn_table(arm, q, qd, qdd, qdd, most_bytes=1 << 16)
    with pytest.raises(fa.StateFault, match="tau is not finite in 1 rows"):
        fa.learn_table(arm, q, qd, qdd, np.where(np.arange(len(q))[:, None] == 3, np.nan, qdd))
    with pytest.raises(
        fa.StateFault, match=r"5 samples are 10 equations for the \d+ numbers that they touch"
    ):
        fa.learn_table(arm, q[:5], qd[:5], qdd[:5], qdd[:5])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_gave_nan_and_no_word_in_cells_that_a_log_never_met(tmp_path):
    arm = fa.load("rr")
    q, qd, qdd = arm.random_state(1, (100,))
    q = np.abs(q) / 4
    table = fa.learn_table(arm, q, qd, qdd, fa.inverse_dynamics(arm, q, qd, qdd), points=12)
    (tmp_path / "table.c").write_text(table.to_c())
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(tmp_path / "table.c"), "-o", str(tmp_path / "c.so"), "-lm"], check=True)
    look_up = ctypes.CDLL(str(tmp_path / "c.so")).forearm_rr_table
    numbers, tau = table.flat(), np.full(2, 7.0)
    for place, answer in ((-2.0, -1), (0.3, 0)):
        state = np.full((3, 2), place)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (numbers, *state, tau)]
        assert look_up(*pointers) == answer
        assert tau.tolist() == ([7.0, 7.0] if answer else table.torques(arm, *state).tolist())


@pytest.mark.parametrize("slow", [True, False])
def test_numbers_that_a_log_touches_and_does_not_determine_are_unknown(slow, caplog):
    """A slow log tells gravity alone, one path tells sums alone; torques of thousands of N m were looked up."""
    arm, rng = fa.load("rr"), np.random.default_rng(0)
    q, qd, qdd = arm.random_state(0, (1000,))
    if slow:
        qd, qdd = 0.005 * qd, 0.005 * qdd
    else:
        at = np.linspace(0.0, 20.0, 1000)[:, None] * [0.9, 1.4]
        q, qd, qdd = np.sin(at), [0.9, 1.4] * np.cos(at), -np.square([0.9, 1.4]) * np.sin(at)
    tau = fa.inverse_dynamics(arm, q, qd, qdd) + 0.02 * rng.normal(size=q.shape)
    table = fa.learn_table(arm, q, qd, qdd, tau, points=9)
    assert "does not determine" in caplog.text
    with pytest.raises(fa.StateFault, match="does not determine"):
        table.torques(arm, *arm.random_state(1, (300,)))


def test_a_learnt_table_says_how_wrong_it_is_near_its_log_and_each_time_that_it_is_asked_elsewhere(
    tmp_path, caplog
):
    """Beside its path a table was off by more than a joint's torque, after one warning when it was learnt."""
    arm, rng = fa.load("rr"), np.random.default_rng(1)
    t, size, rate, phase = np.linspace(0, 60, 3000)[:, None], *rng.uniform(0.5, 2.5, (3, 3, 2))
    parts = [(a, w, w * t + p) for a, w, p in zip(size / 4, rate, phase, strict=True)]
    q = sum(a * np.sin(x) for a, _, x in parts)
    qd, qdd = sum(a * w * np.cos(x) for a, w, x in parts), -sum(a * w * w * np.sin(x) for a, w, x in parts)
    table = fa.learn_table(arm, q, qd, qdd, fa.inverse_dynamics(arm, q, qd, qdd), points=9)
    table.save(tmp_path / "table")
    for one in (table, fa.open_table(tmp_path / "table", arm)):
        assert one.domain.errors.tolist() == table.domain.errors.tolist()
        assert one.domain.reach == table.domain.reach
        caplog.clear()
        on = slice(500, 600)
        error = one.torques(arm, q[on], qd[on], qdd[on]) - fa.inverse_dynamics(arm, q[on], qd[on], qdd[on])
        assert np.all(np.abs(error) <= 2 * one.domain.worst)
        assert caplog.text == ""
        for _ in range(2):
            caplog.clear()
            one.torques(arm, q[on], 5 * qd[on], qdd[on])
            assert "of 100 states are farther from the log than errors were measured" in caplog.text
    assert "errors near the log" in str(table)
    header, rest = (tmp_path / "table").read_bytes().split(b"\n", 2)[1:]
    broken = header.replace(b'"reach":', b'"reach":-')
    (tmp_path / "table").write_bytes(b"forearm table 1\n" + broken + b"\n" + rest)
    with pytest.raises(fa.ReadFault, match="header of the table cannot be read"):
        fa.open_table(tmp_path / "table", arm)


def test_a_log_of_a_load_that_the_table_has_no_room_for_is_said(caplog):
    """What the arm's own masses make zero is not stored; a load far out was learnt with all its torque left over."""
    arm = fa.load("planar_3r")
    last = arm.links[2].replace(com=(-arm.links[2].pose.translation[0], 0, 0))
    bare = arm.replace(links=(*arm.links[:2], last))
    q, qd, qdd = arm.random_state(0, (2000,))
    tau = fa.inverse_dynamics(arm.with_payload(2.0, frame="flange"), q, qd, qdd)
    fa.learn_table(arm, q, qd, qdd, tau, points=7)
    assert "not in the table" not in caplog.text
    fa.learn_table(bare, q, qd, qdd, tau, points=7)
    assert "of the torque of joint 3 'q3' is not in the table" in caplog.text


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("interpolation", ORDERS)
@pytest.mark.parametrize(
    ("name", "method"), [("puma560", "horn_raibert"), ("rr", "albus"), ("stanford", "raibert")]
)
def test_the_look_up_in_c_is_the_same(name, method, interpolation, tmp_path):
    arm = fa.load(name)
    if name == "stanford":  # all six joints would be a table over ten coordinates
        arm = arm.replace(links=arm.links[:3], configurations=())
    points = {"q": 5, "qd": 4, "qdd": 4}
    table = table_of(arm, method, interpolation, points=points)
    source = tmp_path / "table.c"
    source.write_text(table.to_c())
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(tmp_path / "table.so"), "-lm"], check=True)
    entry = re.search(r"int (\w+_batch)\(", table.to_c()).group(1)
    look_up = getattr(ctypes.CDLL(str(tmp_path / "table.so")), entry)
    state = [np.ascontiguousarray(x) for x in arm.random_state(4, (30,))]
    for axis in {axis for grid in table.plan.grids for axis in grid.axes if axis.what == "q"}:
        state[0][:9, axis.joint] = (
            np.resize(axis.values[:-1], 9) + axis.step / 2
        )  # as near to one point as to the next
    tau, numbers = np.full((30, arm.n), np.nan), table.flat()
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*state, tau)]
    assert look_up(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_long(30), *pointers) == 0
    want = table.torques(arm, *state)
    assert_close(tau, want, eps=1024, because="other order of sums, contracted products")


def test_formulas_of_memory_are_those_of_the_plans():
    """A generic arm has no zeros beyond those of symmetry: the plan is the formula, but for what depends on less."""
    arm = fa.load("generic_3r")
    for method in METHODS:
        plan = fa.plan_table(arm, method, points=8, **RANGE)
        assert plan.bytes // 8 <= needed_numbers(method, 3, 8) <= all_numbers(method, 3, 8)
    assert all_numbers("horn_raibert", 6, 10) == 258 * 10**6
    assert fa.plan_table(arm, "albus", points=8, **RANGE).bytes // 8 == needed_numbers("albus", 3, 8)


@pytest.mark.parametrize("interpolation", ["nearest", "linear", "cubic"])
def test_what_is_no_number_is_not_looked_up(interpolation):
    """The nearest entry to NaN was some entry: a finite torque came back."""
    arm = fa.load("rr")
    table = fa.tabulate(arm, points=9, interpolation=interpolation)
    q = np.array([[0.1, 0.2], [np.nan, 0.2], [0.1, np.inf]])
    tau = table.torques(arm, q, np.zeros((3, 2)), np.zeros((3, 2)))
    assert np.isfinite(tau).all(axis=1).tolist() == [True, False, False]
    with pytest.raises(fa.StateFault, match="q of joint 1 'q1' is nan; give finite numbers"):
        table.torques(arm, [np.nan, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_many_turns_are_taken_off_exactly():
    arm = fa.load("rr")
    table = fa.tabulate(arm, points=65, interpolation="cubic")
    zero = np.zeros(2)
    for turned in ([1e16, 0.3], [-3e8, 1e300]):
        want = fa.inverse_dynamics(arm, turned, zero, zero)
        np.testing.assert_allclose(table.torques(arm, turned, zero, zero), want, atol=1e-3)


def test_shapes_and_files_that_cannot_be_are_faults(tmp_path):
    arm = fa.load("rr")
    table = fa.tabulate(arm, points=5)
    with pytest.raises(
        fa.StateFault, match=r"table: the batch axes of q \(3, 2\), qd \(4, 2\).* do not broadcast"
    ):
        table.torques(arm, np.zeros((3, 2)), np.zeros((4, 2)), np.zeros((4, 2)))
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(fa.ReadFault, match=r"give a file that table\.save wrote"):
            fa.open_table(path, arm)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("interpolation", ORDERS)
def test_the_look_up_in_c_does_not_read_beside_the_table(interpolation, tmp_path):
    """On an axis that goes round, NaN and 1e300 became an index far away from the table."""
    table = fa.tabulate(fa.load("rr"), points=9, interpolation=interpolation)
    source = tmp_path / "table.c"
    source.write_text(table.to_c())
    subprocess.run(
        ["cc", "-std=c99", "-O1", "-shared", "-fPIC", source, "-o", tmp_path / "t.so", "-lm"], check=True
    )
    entry = re.search(r"int (\w+_batch)\(", table.to_c()).group(1)
    look_up, numbers, zero = getattr(ctypes.CDLL(str(tmp_path / "t.so")), entry), table.flat(), np.zeros(2)
    for odd in (np.nan, np.inf, -np.inf, 1e300, -1e300):
        q, tau = np.array([0.1, odd]), np.full(2, 7.0)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (numbers, q, zero, zero, tau)]
        assert look_up(pointers[0], ctypes.c_long(1), *pointers[1:]) > 0
        assert tau.tolist() == [7.0, 7.0]
