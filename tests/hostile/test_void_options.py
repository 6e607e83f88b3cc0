# ruff: noqa: E501  (one call per line reads as a table)
"""No option without effect: another value changes the result, or is refused, or cannot matter by its meaning.

Each row is a good call with the sign … where options go, and for each option another value. Alone and beside every other
option of the row, an option that changes nothing was passed over in silence, unless a row of IDLE says why.
"""

import ast
import dataclasses
import inspect
import warnings

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motions import Motion
from forearm.simulation import payload_numbers
from hostile.good_calls import CALLS, Workshop

LOG = dict(
    gains="[1.0, 2.0]",
    coupling="[1.0, 1.1]",
    zero="[0.1, 0.1]",
    degrees="True",
    time_unit="'ms'",
    cutoff="3.0",
)
HOW = dict(dtype="'float32'", target="'wasm'", layout="'columns'", free="('payload',)")
TABLE = dict(interpolation="'cubic'", speeds="1.0", accelerations="2.0", dtype="'float32'")
RUN = dict(
    qd0="[0.5, 0.3]",
    dt="2e-3",
    method="'euler'",
    control_dt="1e-2",
    payload="load",
    free="{'links[0].mass': 3.0}",
    wrench="push",
    torque_limits="[0.5, 0.2]",
    limits="'stop'",
    sticking="True",
    record_every="5",
    trace="False",
    rtol="1e-5",
    atol="1e-3",
    target="'cuda'",
)
ROWS = {
    "simulate": ("fa.simulate(driven, q, duration=0.05, law=sprung_law, gains={'kp': 5.0}, …)", RUN),
    "simulate, free": ("fa.simulate(driven, q, duration=0.05, …)", {**RUN, "gains": "{'kp': 5.0}"}),
    "dop853": (
        "fa.simulate(driven, q, duration=0.05, law=sprung_law, gains={'kp': 5.0}, method='dop853', …)",
        {k: v for k, v in RUN.items() if k != "method"},
    ),
    "point_to_point": (
        "fa.point_to_point(driven, q, [0.9, -0.7], speeds=[0.2, 5.0], accelerations=[2.0, 3.0], …)",
        dict(jerks="15.0", straight="True"),
    ),
    "via_points": (
        "fa.via_points(driven, [q, [0.6, 0.5], [0.2, 0.9]], accelerations=2.0, …)",
        dict(speeds="0.2", jerks="2.0", blend="0.2"),
    ),
    "fastest": (
        "fa.fastest(driven, [q, [0.6, 0.5], [0.2, 0.9]], …)",
        dict(speeds="0.5", accelerations="2.0", torques="25.0", grid="77", ease="0.1"),
    ),
    "feasible": (
        "fa.feasible(driven, motion, …)",
        dict(samples="31", torques="3.0", speeds="0.01", rms_torques="2.0", powers="0.1", tolerance="5.0"),
    ),
    "count": (
        "fa.count('newton_euler_notes', …)",
        dict(n="4", arm="rr", convention="'as set forth, base at rest'", quantity="'reactions'", kinds="'P'"),
    ),
    "compile": ("fa.compile(rr, 'inverse_dynamics', …)", {**HOW, "formulation": "'newton_euler_notes'"}),
    "compile, M": ("fa.compile(rr, 'mass_matrix', …)", {**HOW, "formulation": "'newton_euler_notes'"}),
    "compile, pose": (
        "fa.compile(rr, 'pose', …)",
        {**HOW, "formulation": "'newton_euler_notes'", "frame": "1", "local": "True"},
    ),
    "plan_table": ("fa.plan_table(rr, …)", {**TABLE, "method": "'raibert'", "points": "9"}),
    "tabulate": (
        "fa.tabulate(rr, 'albus', points=5, speeds=2.0, accelerations=5.0, …)",
        dict(interpolation="'cubic'", dtype="'float32'", most_bytes="1e3", most_seconds="1e-9"),
    ),
    "sweep": (
        "fa.sweep('gravity_torque', {'q': fa.Uniform([0, 0], [1, 1])}, arm=rr, …)",
        dict(samples="7", keep="('moments',)", seed="5", instants="7"),
    ),
    "sweep of a motion": (
        "fa.sweep('inverse_dynamics', {'motion': motion, 'payload': fa.Uniform(0, 1)}, arm=rr, …)",
        dict(samples="7", keep="('moments',)", seed="5", instants="7"),
    ),
    "payload_numbers": (
        "payload_numbers(1.0, …)",
        dict(com="(0, 0.1, 0)", inertia="0.1 * np.eye(3)", arm="held_arm", frame="'tool'"),
    ),
    "identify": (
        "fa.identify(rr, log, …)",
        {**LOG, "loaded": "held", "load": "1.0", "rotors": "False", "directions": "True", "smoothing": "0.3", "prior": "100.0"},
    ),
    "load": ("fa.load('rr', …)", dict(parameters="{'l1': 0.3}", tip="'q2'", root="'q1'", right_angles="1e-3", tipp="'a'")),
    "load a file": ("fa.load(urdf, …)", dict(base="'free'", lock="{'elbow_joint': 0.2}", tipp="'a'", name="'other'")),
    "task": ("fa.task(ur5e, start, start, …)", dict(frame="4", damping="0.5")),
    "emit_c": ("fa.emit_c(rr, folder / 'void', …)[1].read_text()", dict(functions="['mass_matrix']", free="('payload',)")),
}  # fmt: skip
"""By name: a call, and another value of each option."""

IDLE = {
    ("simulate", "limits"): "no limit of position is reached",
    ("dop853", "limits"): "no limit of position is reached",
    ("simulate, free", "limits"): "no limit of position is reached",
    ("simulate, free", "control_dt"): "there is no torque to be held",
    ("simulate, free", "torque_limits"): "there is no torque to be limited",
    ("simulate, free", "trace"): "there is no law to be traced",
    ("feasible", "tolerance"): "nothing is beyond a limit",
    ("plan_table", "speeds"): "where speeds are an axis, as the page says",
    ("plan_table", "accelerations"): "where accelerations are an axis, as the page says",
}
"""Options that change nothing alone, and why."""
BESIDE = {
    ("simulate", "trace", "*"): "a law gives the same, compiled or not",
    ("dop853", "trace", "*"): "a law gives the same, compiled or not",
}
"""Options that change nothing beside another."""


class Shop(Workshop):
    """What the calls speak of."""

    def __init__(self):
        super().__init__()
        drives = [
            fa.Drive(0.01, gear=3.0, side="motor", viscous=0.2, coulomb=(0.3, 0.4)),
            fa.Drive(viscous=0.1),
        ]
        bounds = {"limits": (-2.0, 2.0), "speed_limit": 3.0, "effort_limit": 30.0}
        links = tuple(link.replace(**bounds) for link in self.rr.links)
        self["driven"] = self.rr.replace(links=links).with_drives(drives)
        self["push"] = fa.Wrench((3, -5, 0))
        self["load"] = payload_numbers(1.0, (0, 0.1, 0))
        self["payload_numbers"] = payload_numbers
        self["held_arm"] = self.rr.with_tool(fa.Pose.at((0.1, 0, 0)))
        self["sprung_law"] = sprung_law


def sprung_law(t, q, qd, kp=3.0):
    """A law with a gain."""
    return -kp * q - 0.1 * qd + 0.05 * t


def told(found, depth=0):
    """All that a result says, to be compared."""
    if isinstance(found, fa.Kernel):
        kinds = [found.dtype.name, found.layout, type(found).__name__, found.why.chosen]
        return [*kinds, *(port.name for port in found.graph.inputs), str(found.counts)]
    if isinstance(found, Motion):
        return told(tuple(found.sample(23)))
    if isinstance(found, (np.ndarray, np.generic)):
        return [found.shape, found.dtype.name, found.tolist()]
    if isinstance(found, dict):
        return [x for name, value in found.items() for x in (name, *told(value, depth + 1))]
    if isinstance(found, (list, tuple)):
        return [len(found), *(x for value in found for x in told(value, depth + 1))]
    if dataclasses.is_dataclass(found) and depth < 7:
        fields = [f.name for f in dataclasses.fields(found) if f.name != "seconds"]
        return [x for name in fields for x in told(getattr(found, name), depth + 1)]
    text = str(found)
    return [type(found).__name__ if " at 0x" in text else text]


def outcome(row, chosen, things):
    """What a call with some of its options says, or its fault."""
    call, options = ROWS[row]
    more = ", ".join(f"{name}={options[name]}" for name in chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "result", repr(told(eval(call.replace("…", more), {}, things)))
        except fa.Fault as fault:
            return "fault", str(fault)


@pytest.fixture(scope="module")
def things():
    return Shop()


SOON = ("count", "payload_numbers", "load", "plan_table", "sweep", "point_to_point")


@pytest.mark.parametrize("row", [r if r in SOON else pytest.param(r, marks=pytest.mark.more) for r in ROWS])
def test_an_option_changes_the_result_or_is_refused(row, things):
    plain = outcome(row, (), things)
    assert plain[0] == "result", plain
    void = [x for x in ROWS[row][1] if outcome(row, (x,), things) == plain and (row, x) not in IDLE]
    assert not void


@pytest.mark.soak
@pytest.mark.parametrize("row", ROWS)
def test_an_option_beside_another_changes_the_result_or_is_refused(row, things):
    """What alone has an effect, or is refused, and beside another option has none and is not refused."""
    options, void = ROWS[row][1], []
    for one in options:
        alone = outcome(row, (one,), things)
        for other in options:
            if other == one or alone[0] == "fault" or (row, other) in IDLE:
                continue
            if outcome(row, (one, other), things) == alone and not {
                (row, other, one),
                (row, other, "*"),
            } & set(BESIDE):
                void.append(f"{other} beside {one}")
    assert not void


UNASKED = {
    *("out", "threads", "progress", "status", "executor", "workers", "journal", "timeout", "patience"),
    *("quiet", "check", "compiled", "most_bytes", "most_seconds"),
}
"""Options that say where a result goes, who works, for how long and how much, not which it is."""


def test_tolerances_of_schemes_with_fixed_steps_were_passed_over(things):
    with pytest.raises(
        fa.StateFault, match=r"rtol=1e-12 with method='rk4', whose steps are dt whatever the error"
    ):
        fa.simulate(things.rr, things.q, duration=0.01, rtol=1e-12)


@pytest.mark.more
def test_tolerances_of_dop853_are_looked_at(things):
    runs = [
        fa.simulate(things.rr, things.q, duration=0.1, method="dop853", rtol=r).q[-1]
        for r in (None, 1e-10, 1e-3)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_a_number_of_joints_beside_an_arm_was_passed_over(things):
    with pytest.raises(fa.StateFault, match="n=4 is for the generic arm"):
        fa.count("newton_euler_notes", 4, arm=things.ur5e)
    with pytest.raises(fa.StateFault, match="kinds='P' is for the generic arm"):
        fa.count("newton_euler_notes", arm=things.ur5e, kinds="P")
    same = [fa.count("newton_euler_notes", n, arm=things.ur5e).total for n in (None, 6)]
    assert same[0] == same[1]


def test_the_arm_of_payload_numbers_was_passed_over(things):
    with pytest.raises(fa.StateFault, match="give frame= too"):
        payload_numbers(1.0, arm=things.held_arm)


def test_instants_of_what_is_no_motion_were_passed_over(things):
    samples = things.motion.sample(9)
    for motions in (samples, [samples], (samples, samples)):
        with pytest.raises(fa.StateFault, match="instants= is into how many a motion is sampled"):
            fa.sweep("inverse_dynamics", {"motion": motions}, arm=things.rr, instants=5)
    for motions in (things.motion, [things.motion], iter([things.motion])):
        assert fa.sweep("inverse_dynamics", {"motion": motions}, arm=things.rr, instants=5).states == 5


def test_an_option_that_no_reader_has_ended_in_a_type_error(things):
    with pytest.raises(fa.ReadFault, match=r"there is no option tipp= \(did you mean 'tip'\?\)"):
        fa.load(things.urdf, tipp="wrist_3")
    assert fa.load(things.urdf, name="other").name == "other"


def test_every_option_of_the_rows_is_one_of_the_function(things):
    """And what rows there are goes through every option of its function."""
    for row in (
        "simulate, free",
        "feasible",
        "fastest",
        "point_to_point",
        "via_points",
        "count",
        "payload_numbers",
    ):
        call, options = ROWS[row]
        tree = ast.parse(call.replace("…", "")).body[0].value
        function = eval(ast.unparse(tree.func), {}, things)
        named = {word.arg for word in tree.keywords} | set(options)
        wanted = [p.name for p in inspect.signature(function).parameters.values() if p.default is not p.empty]
        assert not set(wanted) - named - UNASKED - {"law", "arguments"}, row
        assert any(ast.unparse(tree.func) in good for good in CALLS) or row == "payload_numbers"
