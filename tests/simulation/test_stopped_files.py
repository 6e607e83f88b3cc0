"""What is written of a motion that stopped at a limit."""

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.motion.motion_files import read_motion_file
from forearm.simulation import simulate

RR = fa.load("rr")
LIMITED = RR.replace(links=[RR.links[0].replace(limits=(-1.0, 1.2)), RR.links[1].replace(limits=(-2.0, 2.0))])


@pytest.mark.parametrize("every", [1, 10, 1000])
@pytest.mark.parametrize("method", ["rk4", "euler", "symplectic", "euler with sticking"])
def test_rows_after_a_stop_are_not_written_as_if_the_arm_flew_on_in_place(tmp_path, method, every):
    options = dict(law=[25.0, 4.0], duration=0.15, dt=1e-3, method=method.split()[0], sticking=" " in method)
    run = simulate(LIMITED, [1.1, 0.0], [1.0, 0.0], limits="stop", record_every=every, **options)
    assert run.outcome.kind == "stopped at a limit"
    file = read_motion_file(run.to_csv(tmp_path / "run.csv"), LIMITED)
    whole = simulate(LIMITED, [1.1, 0.0], [1.0, 0.0], limits="ignore", **options)
    steps = np.rint(file.t / 1e-3).astype(int)
    assert_close(file.q, whole.q[steps], eps=1e4, because="another graph")
    assert -1e-9 < file.t[-1] - run.outcome.t < 1.1e-3
    assert np.all(file.q[:-2, 0] < 1.2)


def test_a_motion_that_does_not_stop_is_written_whole(tmp_path):
    run = simulate(LIMITED, [0.0, 0.0], duration=0.05, dt=1e-3, limits="stop")
    assert run.until_stopped() is run


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_limits_are_not_passed_after_a_motion_stopped(every):
    arm = LIMITED.replace(links=[LIMITED.links[0].replace(speed_limit=1.2), LIMITED.links[1]])
    options = dict(law=[25.0, 4.0], duration=0.15, dt=1e-3, limits="stop", record_every=every)
    outcome = simulate(arm, [1.1, 0.0], [1.3, 0.0], **options).outcome
    rows = simulate(arm, [1.1, 0.0], [1.3, 0.0], **options).until_stopped()
    (speed,) = outcome.limits
    assert (speed.t, speed.share) == (rows.t[speed.row], np.mean(np.abs(rows.qd[:, 0]) > 1.2))
    assert speed.t <= outcome.last


def test_a_thinned_motion_keeps_its_outcome_and_its_last_row():
    run = simulate(RR, [0.1, 0.2], duration=0.05, dt=1e-3)
    thin = run.thinned(7)
    assert np.array_equal(thin.q, run.q[[*range(0, 50, 7), 50]])
    assert (thin.t[-1], str(thin.outcome)) == (run.t[-1], str(run.outcome))
    with pytest.raises(fa.StateFault, match="2,"):
        simulate(RR, [[0.1, 0.2]] * 2, duration=0.05, dt=1e-3).thinned(7)
