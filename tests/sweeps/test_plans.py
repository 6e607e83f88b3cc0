"""Schedules that are simulated, against what can be worked out by hand."""

import pytest

import forearm as fa


def test_nothing_in_the_way():
    plan = fa.plan_sweep(1e9, rate=1e7, workers=10, task_seconds=0.1)
    assert plan.seconds == pytest.approx(10.0)
    assert plan.efficiency == pytest.approx(1.0)
    assert (plan.tasks, plan.lost, plan.scheduler) == (1000, 0, 0)


def test_a_last_round_is_waited_for():
    plan = fa.plan_sweep(11, rate=1.0, workers=10, task_seconds=1.0)
    assert plan.seconds == pytest.approx(2.0)
    assert plan.efficiency == pytest.approx(0.55)


def test_the_scheduler_is_the_limit():
    """A thousand workers, tasks of 0.1 s, 2 ms each for the scheduler: 500 tasks a second, whoever waits."""
    plan = fa.plan_sweep(1e5, rate=100.0, workers=1000, task_seconds=0.1, dispatch=2e-3)
    assert plan.tasks == 10_000
    assert plan.seconds == pytest.approx(10_000 * 2e-3 + 0.1)
    assert plan.scheduler > 0.99


def test_slow_workers_take_fewer_tasks_and_the_last_one_is_waited_for():
    plan = fa.plan_sweep(1e4, rate=1.0, workers=10, task_seconds=1.0, slow=0.5, slowness=3.0)
    fair = 1e4 / (5 + 5 / 3)
    assert fair <= plan.seconds <= fair + 3.0


def test_deaths_cost_the_task_and_the_replacement():
    plan = fa.plan_sweep(1e6, rate=1.0, workers=100, task_seconds=10.0, failures=3.6, restart=30.0)
    expected = 1e6 / 3600 * 3.6  # deaths in so many hours of work
    assert plan.lost == pytest.approx(expected, rel=0.2)
    lower = (1e6 + plan.lost * 30.0) / 100
    assert lower <= plan.seconds <= lower + plan.lost * 10.0 / 100 + 100.0
    assert "again" in str(plan)


@pytest.mark.parametrize("name", ["states", "rate", "workers", "slow", "failures"])
def test_refusals(name):
    given = {"states": 1e6, "rate": 1e6, "workers": 2} | {name: -1}
    with pytest.raises(fa.StateFault, match=f"{name} is -1"):
        fa.plan_sweep(**given)
    with pytest.raises(fa.StateFault, match="give task_seconds= of at least"):
        fa.plan_sweep(1e18, rate=1e6, workers=2)
