"""Sweeps: what they give against a loop, and the same bits whoever computes."""

import functools
import json
import multiprocessing
import os
import re
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import forearm as fa
from forearm.compiler.model.free_parameters import lengths_of
from forearm.motion.motions import Samples, Trapezoid
from forearm.sweeps import own_workers
from forearm.sweeps import problem as problems
from sweeps import questions

KEEP = (fa.Extremes(3), "moments", "quantiles", fa.Histogram(-50, 50, 20))


@pytest.fixture(scope="module")
def arm():
    return fa.load("iiwa14")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(problems, "BLOCK_STATES", 400)
    monkeypatch.setattr(problems, "BLOCK_SAMPLES", 64)
    monkeypatch.setattr(problems, "FUNCTION_BLOCKS", 1)


LUH = fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques


def torques(arm, motion):
    """Torques of the rigid arm along a motion, by a paper, in plain floats: nothing compiled."""
    return np.array([LUH(arm, *state) for state in zip(*motion[1:], strict=True)], dtype=float)


def by_hand(arm, swept, sample, motion):
    """Torques of one sample: the arm with its payload on its mount, friction added."""
    c = swept.choices(sample)
    mass, *com = c["payload"]
    other = arm.with_payload(mass, com, frame="tool").with_base(fa.Pose.at(rpy=c["mount"]) @ arm.base)
    viscous, dry = c["friction"]
    return torques(other, motion) + viscous * motion.qd + dry * motion.qd / np.hypot(motion.qd, 1e-3)


def test_a_sweep_is_what_a_loop_over_arms_gives(arm, small_blocks):
    over = questions.question()
    found = fa.sweep("inverse_dynamics", over, arm=arm, samples=4, keep=KEEP, workers=1)
    assert found.samples == 12
    assert found.states == 12 * 40
    every = np.concatenate(
        [by_hand(arm, found, k, over["motion"][found.choices(k)["motion"]]) for k in range(12)]
    )
    np.testing.assert_allclose(found.least, every.min(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.greatest, every.max(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.mean, every.mean(axis=0), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.deviation, every.std(axis=0), rtol=1e-11)
    for share in (0.01, 0.5, 0.99):
        want = np.quantile(every, share, axis=0, method="lower")
        np.testing.assert_allclose(found.quantile(share), want, rtol=2**-8)
    counts, edges = found.histogram
    for j in range(7):
        inside, _ = np.histogram(every[:, j], edges)
        assert counts[j, 1:-1].tolist() == inside.tolist()
        assert counts[j].sum() == len(every)
    for j, case in enumerate(found.worst):
        place = np.argmax(np.abs(every[:, j]))
        assert (case.sample, case.instant) == divmod(place, 40)
        assert case.value == pytest.approx(every[place, j], rel=1e-12)
        assert case.time == over["motion"][case.choices["motion"]].t[case.instant]
    assert [case.value for case in found.cases(2)] == sorted(
        (case.value for case in found.cases("iiwa_joint_3")), reverse=True
    )
    assert "iiwa_joint_7" in str(found)


def test_the_same_bits_for_any_workers_and_any_order(arm, small_blocks):
    over = questions.question()
    want = fa.sweep("inverse_dynamics", over, arm=arm, samples=40, keep=KEEP, workers=1)._total
    for workers in (2, 5):
        assert (
            fa.sweep("inverse_dynamics", over, arm=arm, samples=40, keep=KEEP, workers=workers)._total == want
        )
    with ThreadPoolExecutor(3) as pool:
        found = fa.sweep("inverse_dynamics", over, arm=arm, samples=40, keep=KEEP, executor=pool)
    assert found._total == want


def test_machine_code_sums_up_what_numpy_does(arm, small_blocks):
    over = questions.question()
    fast = fa.sweep(
        "inverse_dynamics", over, arm=arm, samples=20, keep=(fa.Extremes(2), "moments"), workers=1
    )
    slow = fa.sweep(
        "inverse_dynamics",
        over,
        arm=arm,
        samples=20,
        keep=(fa.Extremes(2), "moments", "quantiles"),
        workers=1,
    )
    assert fast._total["states"][0] == slow._total["states"][0]
    np.testing.assert_allclose(fast.mean, slow.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(fast.deviation, slow.deviation, rtol=1e-9)


def test_a_deviation_far_below_the_mean_keeps_its_digits(arm, small_blocks):
    tilted = arm.with_base(fa.Pose.at(rpy=(0.4, 0.5, 0)))
    t = np.linspace(0.0, 2.0, 40)
    q = 0.3 + 1e-9 * np.sin(np.outer(t, np.arange(1, 8)))
    motions = [Samples(t, q * k, 0 * q, 0 * q) for k in (1, 1 + 1e-8)]
    over = {"motion": motions, "payload": fa.Normal([2.0, 0.05, 0, 0.1], [1e-9, 0, 0, 0])}
    asked = {"arm": tilted, "samples": 40, "workers": 1}
    for keep in (("extremes", "moments"), ("extremes", "moments", "quantiles")):
        found = fa.sweep("inverse_dynamics", over, keep=keep, **asked)
        every = found.problem.values(found.problem.choices(0, found.samples)).reshape(-1, 7)
        want = [statistics.pstdev(map(Fraction, column)) for column in every.T.tolist()]
        assert max(want / np.abs(found.mean)) < 1e-6
        np.testing.assert_allclose(found.deviation, want, rtol=1e-13)


@pytest.mark.parametrize("size", [1.7e308, 1e160, 1e-170])
def test_a_deviation_whose_square_is_no_float_took_the_means_with_it(size):
    found = fa.sweep(questions.the_same, {"x": [-size, size]}, samples=9, keep=("moments",), workers=1)
    assert (float(found.mean), float(found.deviation)) == (0.0, size)
    assert f"{size:.5g}" in str(found)


def test_what_a_mask_hides_was_counted():
    over = {"x": [1.0, -50.0, 2.0, -7.0]}
    for keep in (("extremes", "moments"), ("extremes", "moments", "quantiles")):
        found = fa.sweep(questions.positive, over, keep=keep, workers=1)
        assert (float(found.least), float(found.greatest), float(found.mean)) == (1.0, 2.0, 1.5)
        assert "not finite: 2 results, left out; the first in sample 1" in str(found)


def test_a_function_without_a_number_for_a_sample_is_refused():
    with pytest.raises(fa.StateFault, match=r"gave float64 of shape \(1, 0\); give an array of numbers"):
        fa.sweep(questions.nothing, {"x": [1.0, 2.0]}, workers=1)


def test_numbers_that_became_complex_on_the_way_lost_their_imaginary_part():
    with pytest.raises(fa.StateFault, match="gave complex128 of shape"):
        fa.sweep(questions.roots, {"x": [4.0, -1.0]}, keep=("extremes",), workers=1)


def test_results_all_alike_have_no_deviation(small_blocks):
    found = fa.sweep(questions.squares, {"x": [0.1], "y": [0.3]}, samples=900, keep=("moments",), workers=1)
    assert found.deviation.tolist() == np.zeros(found.deviation.shape).tolist()


def test_values_on_an_edge_are_counted_in_the_cell_that_begins_there(small_blocks):
    values = [k / 100 for k in range(-20, 520)]
    found = fa.sweep(
        lambda choices: choices["x"],
        {"x": values},
        keep=(fa.Histogram(0, 5, 100),),
        executor="threads",
        workers=1,
    )
    counts, edges = found.histogram
    assert counts[1:-1].tolist() == np.histogram(values, edges)[0].tolist()
    assert (counts[0], counts[-1]) == (20, 19)


def test_quantiles_beyond_their_table_are_infinite_not_its_last_cell(small_blocks):
    found = fa.sweep(
        lambda choices: choices["x"],
        {"x": [-1e25, -3.0, 2.0, 1e30]},
        keep=("quantiles",),
        executor="threads",
        workers=1,
    )
    assert found.quantile(0) == -np.inf
    assert found.quantile(1) == np.inf
    assert found.quantile(0.4) == pytest.approx(-3, rel=0.004)


def test_viscous_friction_that_varies_left_no_dry_friction(small_blocks):
    drives = [fa.Drive(viscous=0.5, coulomb=(1.0, 2.0)), fa.Drive(coulomb=(3.0, 3.0))]
    arm = fa.load("rr").without_drives().with_drives(drives)
    q, qd, qdd = ([x] for x in ([0.3, 0.4], [1.0, -2.0], [0.0, 0.0]))
    rigid = fa.inverse_dynamics(arm.without_drives(), q, qd, qdd)[0]
    asked = {"q": q, "qd": qd, "qdd": qdd}
    found = fa.sweep("inverse_dynamics", asked | {"viscous": [0.25]}, arm=arm)
    np.testing.assert_allclose(found.least - rigid, [0.25 + 1.0, -0.5 - 3.0], rtol=1e-5)
    found = fa.sweep("inverse_dynamics", asked | {"dry": [0.25]}, arm=arm)
    np.testing.assert_allclose(found.least - rigid, [0.5 + 0.25, -0.25], rtol=1e-5)


def test_degrees_of_a_sweep_are_asked_about(small_blocks, caplog):
    arm, q = fa.load("rr"), fa.Uniform([0, 0], [90, 90])
    with pytest.raises(fa.StateFault, match=r"goes to 30 rad, 4\.8 turns: degrees"):
        fa.sweep("gravity_torque", {"q": [[0.1, 0.2]], "mount": fa.Uniform([0, 0, 0], [30, 30, 0])}, arm=arm)
    fa.sweep("gravity_torque", {"q": q}, arm=arm)
    assert "q reaches 90 rad, 14.3 turns: degrees?" in caplog.text


def test_processes_give_the_same_bits(small_blocks):
    over = {"x": fa.Uniform(0, 1), "y": [1.0, 2.0, 5.0]}
    want = fa.sweep(questions.squares, over, samples=500, keep=KEEP, executor="threads", workers=1)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = fa.sweep(questions.squares, over, samples=500, keep=KEEP, executor=pool)
    assert found._total == want._total
    assert found.choices(7)["y"] == 2.0


def test_a_killed_worker_is_survived(tmp_path, small_blocks, caplog):
    over = {"x": fa.Uniform(0, 1), "y": [1.0, 2.0, 5.0]}
    want = fa.sweep(questions.squares, over, samples=3000, executor="threads", workers=1)
    deadly = functools.partial(questions.deadly, mark=tmp_path / "mark")
    found = fa.sweep(deadly, over, samples=3000, executor="processes", workers=2)
    assert (tmp_path / "mark").exists()
    assert "a worker died" in caplog.text
    assert found._total == want._total


def test_workers_that_always_die_end_it_with_a_sentence(small_blocks):
    over = {"x": fa.Uniform(0, 1), "y": [1.0]}
    always_deadly = functools.partial(questions.always_deadly, unless=os.getpid())
    with pytest.raises(fa.StateFault, match="workers died 4 times without a result"):
        fa.sweep(always_deadly, over, samples=300, executor="processes", workers=2)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="processes are never copies there")
def test_a_process_with_threads_is_not_copied(monkeypatch):
    monkeypatch.setattr(own_workers.threading, "active_count", lambda: 2)
    assert own_workers._processes().get_start_method() != "fork"
    monkeypatch.setattr(own_workers.threading, "active_count", lambda: 1)
    monkeypatch.setitem(sys.modules, "jax", None)
    assert own_workers._processes().get_start_method() != "fork"


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path, small_blocks):
    journal = tmp_path / "sweep.json"
    over = {"x": fa.Uniform(0, 1), "y": [1.0, 2.0, 5.0]}
    want = fa.sweep(questions.squares, over, samples=2000, keep=KEEP, executor="threads", workers=1)

    def stop(done, of):
        if done > of / 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fa.sweep(
            questions.squares,
            over,
            samples=2000,
            keep=KEEP,
            executor="threads",
            workers=2,
            journal=journal,
            progress=stop,
        )
    begun = json.loads(journal.read_text())
    done = sum(b - a for a, b in begun["done"])
    assert 0 < done < begun["blocks"]
    seen = []
    found = fa.sweep(
        questions.squares,
        over,
        samples=2000,
        keep=KEEP,
        executor="threads",
        journal=journal,
        progress=lambda done, of: seen.append(done),
    )
    assert found._total == want._total
    assert len(seen) <= begun["blocks"] - done
    again = fa.sweep(questions.squares, over, samples=2000, keep=KEEP, executor="threads", journal=journal)
    assert again._total == want._total
    assert again.fresh == 0
    with pytest.raises(fa.StateFault, match="is of another sweep"):
        fa.sweep(questions.squares, over, samples=2001, keep=KEEP, journal=journal)
    journal.write_text('{"kind": "forearm sweep 2"}')
    with pytest.raises(fa.StateFault, match="is no journal of a sweep"):
        fa.sweep(questions.squares, over, samples=2000, keep=KEEP, journal=journal)
    begun["done"] = [[0, 10**9]]
    journal.write_text(json.dumps(begun))
    with pytest.raises(fa.StateFault, match="is damaged"):
        fa.sweep(questions.squares, over, samples=2000, keep=KEEP, journal=journal)


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.more)])
def test_ctrl_c_in_a_sweep_is_answered_after_a_block_not_after_a_task(executor, small_blocks):
    told = []

    def stop(done, of):
        told.append(time.monotonic())
        raise KeyboardInterrupt

    over = {"x": fa.Uniform(0, 1)}
    samples = 32 * 8 * problems.BLOCK_SAMPLES  # tasks of 32 blocks
    with pytest.raises(KeyboardInterrupt):
        fa.sweep(questions.slow_squares, over, samples=samples, executor=executor, workers=1, progress=stop)
    assert time.monotonic() - told[0] < 0.8


def test_what_is_not_finite_is_counted_and_left_out(arm, small_blocks):
    over = questions.question()
    spoiled = over["motion"][1].qd.copy()
    spoiled[5, 2], spoiled[6, 2] = np.nan, np.inf
    over["motion"][1] = over["motion"][1]._replace(qd=spoiled)
    found = fa.sweep("inverse_dynamics", over, arm=arm, samples=3, keep=("extremes", "moments"), workers=1)
    assert np.isfinite(found.least).all()
    assert np.isfinite(found.mean).all()
    assert (found.not_finite == 3 * 2).all()
    assert "the first in sample 1" in str(found)


def test_states_may_be_varied_without_a_motion(arm, small_blocks):
    low, high = np.array([link.limits for link in arm.links]).T
    found = fa.sweep(
        "gravity_torque", {"q": fa.Uniform(low, high), "payload": [0.0, 5.0]}, arm=arm, samples=300
    )
    for j, case in enumerate(found.worst):
        held, rest = arm.with_payload(case.choices["payload"], frame="tool"), np.zeros(7)
        assert LUH(held, case.choices["q"], rest, rest)[j] == pytest.approx(case.value, rel=1e-12, abs=1e-12)
    assert found.states == found.samples == 600


@pytest.mark.parametrize(
    "name",
    ["iiwa14", *(pytest.param(name, marks=pytest.mark.more) for name in ("puma560", "stanford"))],
)
def test_arms_of_one_structure_differ_by_the_row(name):
    arm = fa.load(name).without_drives()
    rng = np.random.default_rng(1)
    many, states, lengths = 6, 5, lengths_of(arm)
    q, qd, qdd = arm.random_state(3, (states,))
    density = rng.uniform(0.5, 2.0, (many, arm.n))
    scale = rng.uniform(0.7, 1.3, (many, len(lengths)))
    from forearm.motion.motions import Samples

    motion = [Samples(np.arange(float(states)), q, qd, qdd)]
    every = []
    for row, factors in zip(density, scale, strict=True):
        links = []
        for i, (link, f) in enumerate(zip(arm.links, row, strict=True)):
            step = list(link.pose.translation)
            d = link.d
            for field, factor in zip(lengths, factors, strict=True):
                if field.startswith(f"links[{i}]."):
                    axis = field[-1]
                    if axis == "d":
                        d = d * factor
                    else:
                        step["xyz".index(axis)] *= factor
            body = fa.Inertia.about_com(link.about_com.inertia * f)
            links.append(
                link.replace(mass=link.mass * f, inertia=body, pose=fa.Pose(link.pose.rotation, step), d=d)
            )
        every.append(torques(arm.replace(links=tuple(links)), motion[0]))
    for k in range(many):
        over = {"motion": motion, "density": density[k : k + 1], "lengths": scale[k : k + 1]}
        found = fa.sweep("inverse_dynamics", over, arm=arm, workers=1)
        tight = {"rtol": 1e-10, "atol": 1e-10 * np.abs(every[k]).max()}
        np.testing.assert_allclose(found.greatest, every[k].max(axis=0), **tight)
        np.testing.assert_allclose(found.least, every[k].min(axis=0), **tight)


def test_refusals(arm, tmp_path):
    over = questions.question()
    cases = [
        (("inverse_dynamics", {}), {"arm": arm}, "nothing was given"),
        (("inverse_dynamic", over), {"arm": arm}, "no quantity"),
        (("inverse_dynamics", {"payload": fa.Uniform(0, 1)}), {"arm": arm}, "over lacks q, qd, qdd"),
        (("inverse_dynamics", over | {"q": [np.zeros(7)]}), {"arm": arm}, "a motion and q too"),
        (("inverse_dynamics", over | {"gravity": [(0, 0, -9.81)]}), {"arm": arm}, "set the same"),
        (("inverse_dynamics", over | {"mount": fa.Uniform(0, 1)}), {"arm": arm}, "roll, pitch, yaw"),
        (("inverse_dynamics", over | {"motion": [3]}), {"arm": arm}, "give motions"),
        (("inverse_dynamics", over | {"motion": 3}), {"arm": arm}, r"\['motion'\] is int; give motions"),
        (("inverse_dynamics", over), {"arm": arm, "samples": 0}, "samples is 0"),
        (("inverse_dynamics", over), {"arm": arm, "keep": ("mode",)}, "keep has 'mode'"),
        (("inverse_dynamics", over), {"arm": arm, "executor": "grid"}, "executor is 'grid'"),
        (("inverse_dynamics", over), {"arm": arm, "executor": 3}, "has no submit"),
        (("inverse_dynamics", over), {"arm": arm, "workers": 0}, "workers is 0"),
        (("energy", {"q": [np.zeros(7)], "qd": [np.zeros(7)]}), {"arm": arm}, "gives kinetic, potential"),
        ((3, over), {}, "what to compute is int"),
        ((questions.squares, {"x": [1.0], "y": [2.0]}), {"arm": arm}, "arm= goes with a quantity"),
    ]
    for args, named, told in cases:
        with pytest.raises(fa.StateFault, match=told):
            fa.sweep(*args, **named)


def test_an_executor_that_refuses_loses_nothing(tmp_path, small_blocks):
    pool, journal = ThreadPoolExecutor(1), tmp_path / "sweep.json"
    pool.shutdown()
    over = {"x": fa.Uniform(0, 1), "y": [1.0]}
    with pytest.raises(fa.StateFault, match="refused a task"):
        fa.sweep(questions.squares, over, samples=300, executor=pool, journal=journal)
    assert json.loads(journal.read_text())["done"] == []


def test_an_error_of_the_function_says_which_samples(small_blocks):
    with pytest.raises(ZeroDivisionError) as caught:
        fa.sweep(questions.failing, {"x": fa.Uniform(0, 1)}, samples=300, executor="threads", workers=1)
    assert "in samples 0 to" in caught.value.__notes__[0]


def test_a_function_that_cannot_travel_says_so(small_blocks, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    from forearm.sweeps.sweep_run import _problem
    from forearm.sweeps.task_carriers import pickled

    problem = _problem(lambda c: c["x"], {"x": [1.0, 2.0]}, None, 1, "extremes", 0, None)
    with pytest.raises(fa.StateFault, match="define the function in a module"):
        pickled(problem)


def test_the_example_runs(capsys):
    import runpy
    from pathlib import Path

    script = Path(__file__).parents[2] / "examples" / "12_worst_torques.py"
    runpy.run_path(str(script), run_name="imported")["main"](samples=20)
    assert "the same bits with one worker: True" in capsys.readouterr().out


def test_a_motion_that_accelerates_between_two_instants_is_said_to(caplog):
    """The worst torque of ten slow seconds lies in a hundredth of a second, and was a thousandth of what it is."""
    arm = fa.load("ur5e")
    slow = fa.point_to_point(arm, [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0, 0, 0], speeds=0.1, accelerations=10)
    fa.sweep("inverse_dynamics", {"motion": [slow]}, arm=arm)
    assert "has a piece of 0.00998 s, and its 101 instants are 0.1 s apart" in caplog.text
    wanted = int(re.search(r"give instants=(\d+)", caplog.text)[1])
    caplog.clear()
    found = fa.sweep("inverse_dynamics", {"motion": [slow]}, arm=arm, instants=wanted)
    assert caplog.text == ""
    assert found.greatest[0] > 20 or found.least[0] < -20


@pytest.mark.parametrize("name", ["trapezoid", "spline", "point to point"])
def test_the_worst_torque_of_a_motion_lay_between_its_instants(name):
    """At the end of a ramp, or right after a spline sets out: torques were up to 8 % too small."""
    arm = fa.load("ur5e").without_drives()
    points = np.random.default_rng(3).uniform(-1.2, 1.2, (4, 6))
    motion = {
        "trapezoid": lambda: Trapezoid(points[0], points[1], 0.7, ramp=0.27),
        "spline": lambda: fa.via_points(arm, points, accelerations=20),
        "point to point": lambda: fa.point_to_point(arm, points[0], points[1], accelerations=20),
    }[name]()
    worst = [load.peak for load in fa.feasible(arm, motion).loads]
    found = fa.sweep("inverse_dynamics", {"motion": [motion]}, arm=arm)
    assert [abs(case.value) for case in found.worst] == pytest.approx(worst, rel=2e-3)
    assert all(0 < np.diff(found.problem.axes["motion"].times[0]))
