"""Motions: ends, derivatives, tracing, CSV in and out."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.compiler.graph.interpreter import interpret
from forearm.compiler.graph.trace import trace
from forearm.simulation import (
    Fourier,
    PDWithGravity,
    Quintic,
    Trapezoid,
    ViaPoints,
    read_motion,
    simulate,
    write_motion,
)

RR = fa.load("rr")
A, B = np.array([0.2, -0.4]), np.array([1.1, 0.7])
MOTIONS = {
    "quintic": Quintic(A, B, 1.6),
    "trapezoid": Trapezoid(A, B, 1.6, ramp=0.3),
    "triangle": Trapezoid(A, B, 1.6, ramp=0.5),
    "fourier": Fourier(A, [[0.2, 0.1], [0.05, -0.1]], [[0.1, 0.0], [-0.1, 0.2]], 1.6),
    "via": ViaPoints([0.0, 0.5, 0.9, 1.6], [A, B, [0.5, 0.5], [0.0, 1.0]]),
    "faster": Quintic(A, B, 3.2).faster(2.0),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_speeds_and_accelerations_are_the_derivatives(name):
    motion = MOTIONS[name]
    corners = [0.0, 1.6, 0.48, 1.12, 0.8, 0.5, 0.9]
    t = np.array([x for x in np.linspace(0.01, 1.59, 97) if min(abs(x - c) for c in corners) > 1e-4])
    before, here, after = (motion.sample(t + h) for h in (-1e-5, 0, 1e-5))
    assert np.abs((after.q - before.q) / 2e-5 - here.qd).max() < 1e-7
    assert np.abs((after.qd - before.qd) / 2e-5 - here.qdd).max() < 1e-6
    assert motion.duration == 1.6


@pytest.mark.parametrize("name", ["quintic", "trapezoid", "triangle", "faster"])
def test_from_rest_to_rest(name):
    motion = MOTIONS[name]
    for t, where in ((0.0, A), (-1.0, A), (1.6, B), (2.0, B)):
        q, qd, qdd = motion(t)
        assert_close(q, where)
        assert_close(qd, np.zeros(2), scale=1.0)
        if t not in (0.0, 1.6):
            assert_close(qdd, np.zeros(2), scale=1.0)


def test_a_spline_goes_through_its_points_and_rests_at_both_ends():
    motion = MOTIONS["via"]
    for t, point in zip(motion.times, motion.points, strict=True):
        assert_close(motion(float(t))[0], point)
    assert_close(motion(0.0)[1], np.zeros(2), scale=1.0)
    assert_close(motion(1.6 - 1e-12)[1], np.zeros(2), scale=1.0, eps=1e6, because="just before the end")
    assert_close(motion(5.0)[0], [0.0, 1.0], scale=1.0)
    assert_close(motion(5.0)[1], np.zeros(2), scale=1.0)


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_can_be_traced(name):
    motion = MOTIONS[name]
    graph = trace(lambda t: dict(zip(("q", "qd", "qdd"), motion(t), strict=True)), {"t": ()}, name=name)
    for t in (-0.3, 0.2, 0.48, 0.8, 1.3, 1.59, 2.5):
        found = interpret(graph, {"t": t})
        for got, want in zip((found["q"], found["qd"], found["qdd"]), motion(t), strict=True):
            assert_close(got, want, scale=10.0)


def test_a_long_table_runs_in_python_and_says_so():
    t = np.linspace(0, 1, 101)
    motion = ViaPoints(t, np.outer(np.sin(t), [1.0, 0.5]))
    run = simulate(RR, [0.0, 0.0], law=PDWithGravity(RR, motion, 50.0, 5.0), duration=0.02)
    assert "a motion through 101 points is a table" in run.law


def test_csv_there_and_back(tmp_path):
    path = write_motion(MOTIONS["quintic"], RR, tmp_path / "motion.csv", times=161)
    back = read_motion(path, RR)
    want = MOTIONS["quintic"].sample(161)
    for got, right in zip(back.samples, want, strict=True):
        np.testing.assert_array_equal(got, right)
    assert back.tau is None
    assert np.abs(back.motion.sample(want.t).q - want.q).max() < 1e-12
    assert np.abs(back.motion.sample(want.t).qdd - want.qdd)[2:-2].max() < 1e-2
    text = path.read_text().splitlines()
    columns = [line.split(",") for line in text]
    shuffled = "\n".join(",".join([row[2], row[0], row[1]]) for row in columns)
    (tmp_path / "turned.csv").write_text("\ufeff" + shuffled + "\n\n", encoding="utf-8")
    again = read_motion(tmp_path / "turned.csv", RR)
    np.testing.assert_array_equal(again.samples.q, want.q)
    assert np.abs(again.samples.qd - want.qd).max() < 1e-4


def test_a_record_is_read_as_a_motion(tmp_path):
    run = simulate(RR, A, law=[1.0, 0.5], duration=0.1)
    back = read_motion(run.to_csv(tmp_path / "run.csv"), RR)
    np.testing.assert_array_equal(back.samples.qdd, run.qdd)
    np.testing.assert_array_equal(back.tau, run.tau)


NAMES = RR.joint_names
HEAD = f"t,q:{NAMES[0]},q:{NAMES[1]}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}\n0,1,2\n1,x,3\n", r"bad\.csv:3: column 'q:.*' holds 'x'; expected a number"),
        (f"{HEAD}\n0,1,2\n1,nan,3\n", r"bad\.csv:3: column 'q:.*' is nan; expected a finite number"),
        (f"{HEAD}\n0,1,2\n1,1\n", r"bad\.csv:3: 2 cells; expected 3"),
        (f"{HEAD}\n0,1,2\n0,1,2\n", r"bad\.csv:3: t is 0 s after 0 s; expected rising times"),
        (f"{HEAD}\n0,1,2\n", r"bad\.csv:1: 1 rows of numbers; expected a header and at least two"),
        ("", r"bad\.csv:1: the file is empty: 0 rows of numbers"),
        (
            f"t,q:{NAMES[0]}\n0,1\n1,1\n",
            rf"bad\.csv:1: no column q:{NAMES[1]}; give a header with .* q:<joint>",
        ),
        (f"{HEAD},q:{NAMES[0]}\n0,1,2,3\n1,1,1,1\n", r"appears 2 times; expected each column once"),
        (f"{HEAD},speed\n0,1,2,3\n1,1,1,1\n", r"bad\.csv:1: column 'speed'; expected t, q:, qd:"),
    ],
)
def test_bad_csv_names_the_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(fa.ReadFault, match=message):
        read_motion(path, RR)


def test_files_that_are_no_csv(tmp_path):
    with pytest.raises(fa.ReadFault, match=r"none\.csv: cannot be read"):
        read_motion(tmp_path / "none.csv", RR)
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(fa.ReadFault, match="is not text in UTF-8"):
        read_motion(tmp_path / "bytes.csv", RR)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Quintic(A, [1, 2, 3], 1.0), r"quintic: start has shape \(2,\), goal \(3,\); give two"),
        (lambda: Quintic(A, [1, np.nan], 1.0), r"quintic: .* give two finite positions"),
        (lambda: Quintic(A, B, 0.0), r"quintic: duration is 0.0; give a positive time"),
        (lambda: Trapezoid(A, B, -1.0), r"trapezoid: duration is -1.0"),
        (lambda: Trapezoid(A, B, 1.0, ramp=0.7), r"trapezoid: ramp is 0.7; give a share"),
        (lambda: Fourier(A, [[1, 2, 3]], [[1, 2, 3]], 1.0), r"Fourier motion: center has shape \(2,\)"),
        (lambda: Fourier(A, [[1, 2]], [[1, 2]], 0), r"Fourier motion: period is 0"),
        (lambda: ViaPoints([0, 1], [A]), r"via points: times have shape \(2,\), points \(1, 2\)"),
        (lambda: ViaPoints([0, 1, 1], [A, B, A]), r"give rising times that begin with 0"),
        (lambda: ViaPoints([0, 1], [A, [np.nan, 0]]), r"some times or points are not finite"),
        (lambda: MOTIONS["via"].faster(0), r"motion: the factor of faster is 0; give a positive number"),
        (
            lambda: write_motion(MOTIONS["via"], fa.load("puma560"), "x.csv"),
            r"has 2 joints, arm 'puma560' has 6",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(fa.StateFault, match=message):
        make()


def test_more_instants_than_can_be_counted_are_refused():
    motion = fa.point_to_point(fa.load("rr"), [0, 0], [1, 1], speeds=1.0, accelerations=1.0)
    with pytest.raises(fa.StateFault, match="instants or more; give fewer"):
        motion.sample(10**400)


def test_a_time_that_is_no_number_was_the_beginning_or_the_end_of_a_motion():
    arm, a, b = fa.load("ur5e"), np.zeros(6), np.array([1, 0.5, -0.3, 0.2, 0.1, 0.1])
    made = [
        Quintic(a, b, 1.0),
        Trapezoid(a, b, 1.0),
        ViaPoints([0, 1, 2], [a, b, a]),
        Quintic(a, b, 1.0).faster(2.0),
        fa.point_to_point(arm, a, b, accelerations=3, jerks=20),
        fa.via_points(arm, [a, b, a + 0.1], accelerations=3, blend=0.1),
        fa.fastest(arm, [a, b]),
    ]
    for motion in made:
        for ask in (motion, lambda t, motion=motion: motion.sample([0.0, t])):
            with pytest.raises(fa.StateFault, match="motion: a time is nan; give numbers, in seconds"):
                ask(np.nan)
    with pytest.raises(fa.StateFault, match=r"times have shape \(1, 2\); give a number of them, or a row"):
        made[0].sample([[0.1, 0.2]])
