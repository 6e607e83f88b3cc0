"""significance: shares, deletions that hold what they promise, error against speed."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.simulation import Quintic, error_against_speed, significance, simulate
from forearm.simulation.terms.summands import located_graph, measured, tag_of

PUMA = fa.load("puma560")
MOTION = Quintic(np.zeros(6), np.array([1, -0.8, 0.9, 0.5, 0.7, -0.6]), 2.0)


@pytest.fixture(scope="module")
def study():
    return significance(PUMA, MOTION, 0.02)


def test_deleting_keeps_its_promise(study):
    """What is left is compiled and run between the samples too: the error is within the tolerance, or nearly."""
    rigid = PUMA.without_drives()
    for count, slack in ((201, 1.0), (997, 1.05)):
        _, q, qd, qdd = MOTION.sample(count)
        full = fa.inverse_dynamics(rigid, q, qd, qdd)
        pruned = ProcessorKernel(lower(study.graph))(q, qd, qdd)
        error = np.max(np.abs(pruned - full) / np.abs(full).max(axis=0))
        assert error <= slack * study.tolerance
        if count == 201:
            assert abs(error - study.error) < 1e-6
    assert study.error > 0
    assert study.operations[1] < study.operations[0]
    assert 0.1 < study.saved < 0.9


def test_shares_are_the_terms(study):
    _, q, qd, qdd = MOTION.sample(4001)
    parts = fa.terms(PUMA, q, qd, qdd)
    scale = np.abs(parts.total).max(axis=0)
    for name, share in study.shares.items():
        peaks = np.abs(getattr(parts, name)).max(axis=0)
        np.testing.assert_allclose(share.peak, peaks, rtol=1e-3, atol=1e-15 * scale.max())
        assert share.relative == pytest.approx(np.max(share.peak / scale), rel=1e-3)
    assert study.droppable == ()  # nothing whole can go at 2 %
    loose = significance(PUMA, MOTION, 0.2)
    assert set(loose.droppable) >= {"coriolis", "centrifugal"}
    left_out = sum(getattr(parts, name) for name in loose.droppable)
    assert loose.droppable_error == pytest.approx(np.max(np.abs(left_out) / scale), rel=1e-3)
    assert loose.droppable_error <= 0.2
    assert loose.saved > study.saved


def test_equations_link_by_link(study):
    assert {t.tag for t in study.tagged} <= {f"NE{k}" for k in range(1, 10)} | {"-"}
    assert {t.link for t in study.tagged} <= set(range(7))
    assert all(0 <= t.deleted <= t.summands for t in study.tagged)
    assert any(t.link == 6 and t.tag == "NE6" and t.deleted for t in study.tagged)
    text = str(study)
    assert "puma560, tolerance 0.02" in text
    assert "(NE6) link 6" in text


def test_a_slow_motion_needs_less():
    motion = Quintic([0.1, 0.3], [1.0, -0.5], 40.0)
    slow = significance(fa.load("rr"), motion, 0.01)
    assert {"coriolis", "centrifugal", "inertial"} <= set(slow.droppable)
    assert slow.shares["gravity"].relative == pytest.approx(1.0, abs=1e-2)


def test_tags_and_links_of_a_graph():
    graph, tags, links = located_graph(PUMA, "luh_walker_paul_1980")
    q, qd, qdd = (x[None] for x in PUMA.random_state(1))
    assert_close(
        measured(graph, (q, qd, qdd))[1][0], fa.inverse_dynamics(PUMA.without_drives(), q, qd, qdd)[0]
    )
    for index, node in enumerate(graph.nodes):
        if node.op == "sin":
            assert tags[index] == "-"
            assert (
                links[index] == graph.nodes[node.args[0]].at[1] + 1 if graph.nodes[node.args[0]].at else True
            )
    assert tag_of(*next(o for o, t in zip(graph.origins, tags, strict=True) if t == "NE8")) == "NE8"


def test_other_formulations_can_be_taken_apart():
    rr = fa.load("rr")
    for stem in ("newton_euler_notes", "turney_mudge_lee_1980_newton_euler"):
        found = significance(rr, (np.ones((5, 2)), np.ones((5, 2)), np.ones((5, 2))), 0.05, formulation=stem)
        assert found.formulation == stem
        assert found.error <= 0.05


def test_records_are_motions():
    run = simulate(fa.load("rr"), [0.4, -1.1], [0.7, 1.3], duration=0.1)
    found = significance(fa.load("rr"), run, 0.05)
    assert found.shares["friction"].relative == 0


def test_rows_that_are_dense_at_the_start_counted_for_more_than_their_time(study):
    """Half of the samples in a tenth of the time: means are over time, as those of the motion itself."""
    samples = MOTION.sample(
        np.concatenate([np.linspace(0, 0.2, 200, endpoint=False), np.linspace(0.2, 2.0, 200)])
    )
    shares = significance(PUMA, samples, 0.02).shares
    for name, share in study.shares.items():
        assert_close(
            shares[name].mean,
            share.mean,
            scale=max(share.mean.max(), 1e-9),
            eps=1e12,
            because="sums over time",
        )
    with pytest.raises(fa.StateFault, match=r"its times do not rise"):
        significance(PUMA, samples._replace(t=samples.t[::-1]), 0.02)


def test_states_that_are_not_finite_are_not_left_out_in_silence(caplog):
    rr, rows = fa.load("rr"), np.random.default_rng(0).normal(size=(3, 9, 2))
    rows[0, 3] = np.nan
    fa.significance(rr, rows)
    assert "significance: 1 of 9 states are not finite, and left out" in caplog.text


def test_ignoring_coriolis_works_only_at_slow_speed():
    arm = PUMA
    study = error_against_speed(arm, MOTION, [0.02, 0.1, 1.0, 10.0])
    errors = study.errors["Coriolis and centrifugal"]
    assert np.all(np.diff(errors) > 0)
    assert errors[0] < 0.001 < 0.2 < errors[-1]
    rr = error_against_speed(fa.load("rr"), Quintic([0.1, 0.3], [1.0, -0.5], 2.0), [0.02, 0.1])
    ratio = rr.errors["Coriolis and centrifugal"][1] / rr.errors["Coriolis and centrifugal"][0]
    assert ratio == pytest.approx(25, rel=0.05)  # quadratic while gravity dominates
    _, q, qd, qdd = MOTION.sample(201)
    parts = fa.terms(arm, q, qd, qdd)
    scale = np.abs(parts.total).max(axis=0)
    assert errors[2] == pytest.approx(np.max(np.abs(parts.coriolis + parts.centrifugal) / scale))
    assert_close(study.top_speeds[2], np.abs(qd).max())
    pytest.importorskip("matplotlib")
    assert len(study.plot().axes[0].lines) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: significance(PUMA, MOTION, 0), r"tolerance is 0; give a share"),
        (
            lambda: significance(PUMA, MOTION, formulation="walker"),
            r"no formulation 'walker' that gives joint torques \(did you mean .*\); give one of",
        ),
        (lambda: significance(PUMA, 3.0), r"motion: give a motion, a record, or three arrays"),
        (lambda: significance(PUMA, (np.full(6, np.nan),) * 3), r"it has no finite states"),
        (lambda: significance(PUMA, (np.zeros(5),) * 3), r"q has shape \(5,\)"),
        (lambda: error_against_speed(PUMA, MOTION, [-1.0]), r"factors is .*; give positive numbers"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(fa.StateFault, match=message):
        call()


def test_inertia_that_acts_between_the_samples_was_to_be_left_out():
    """A slow motion accelerates for a hundredth of a second; 201 samples of ten seconds do not meet that."""
    arm = fa.load("ur5e")
    motion = fa.point_to_point(
        arm, [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0.5, 0.5, 0.5], speeds=0.1, accelerations=10
    )
    study = fa.significance(arm, motion)
    assert "inertial" not in study.droppable
    assert study.shares["inertial"].relative > 0.9
    t = (np.arange(20000) + 0.5) / 20000 * motion.duration
    _, q, qd, qdd = motion.sample(t)
    inertial = fa.terms(arm, q, qd, qdd).inertial
    np.testing.assert_allclose(
        study.shares["inertial"].mean, np.sqrt(np.mean(inertial**2, axis=0)), rtol=0.02
    )
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    left = ProcessorKernel(lower(study.graph))(q, qd, qdd)
    assert np.max(np.abs(left - tau) / np.abs(tau).max(axis=0)) < 0.011
