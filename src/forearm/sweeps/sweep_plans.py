"""How long a sweep would take on machines that one does not have yet: its schedule, simulated.

Workers ask a scheduler for tasks, one after the other. The scheduler hands out one task at a time and takes a moment
for each; a worker computes at its own speed, some are slow, and now and then one dies and loses what it was at. All
that a plan needs is measured on one machine: the rate of one worker, and what an engine takes for a task.
"""

import heapq
import math
from dataclasses import dataclass

import numpy as np

from forearm.faults import Seed, StateFault, explained, positive, random_numbers, whole

MOST_TASKS = 2_000_000
"""A schedule of more tasks would take minutes to simulate."""
MOST_DEATHS = 5.0
"""Deaths of a worker in one task: with more, a task is begun hundreds of times."""


@dataclass(frozen=True)
class SweepPlan:
    """What a schedule came to."""

    seconds: float
    """From the first task to the last result."""
    efficiency: float
    """Share of all workers' time that was spent on results: 1 where nobody waits and nothing is lost."""
    tasks: int
    """How many tasks there were."""
    lost: int
    """Tasks that a worker took with it, and that were done again."""
    scheduler: float
    """Share of the time in which the scheduler was busy: near 1, it is what everybody waits for."""

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.seconds:.4g} s, {100 * self.efficiency:.0f} % of the workers' time used, {self.tasks} tasks, "
            f"{self.lost} of them again, scheduler busy {100 * self.scheduler:.0f} %"
        )


@explained
def plan_sweep(
    states: float,
    *,
    rate: float,
    workers: int,
    task_seconds: float = 0.3,
    dispatch: float = 0.0,
    start: float = 0.0,
    slow: float = 0.0,
    slowness: float = 2.0,
    failures: float = 0.0,
    restart: float = 30.0,
    seed: Seed = 0,
) -> SweepPlan:
    """Simulate the schedule of a sweep.

    Args:
        states: How many states there are in all.
        rate: States a second of one worker.
        workers: How many workers.
        task_seconds: How long a task is for a worker that is not slow.
        dispatch: Seconds that the scheduler takes for a task, one after the other (Dask: a millisecond or two).
        start: Seconds until a worker is ready: imports, and the kernel from the cache or compiled.
        slow: Share of the workers that are slow.
        slowness: How many times longer they take.
        failures: Deaths of a worker in an hour of its time.
        restart: Seconds until a dead worker is replaced.
        seed: Of the deaths.
    """
    workers = whole(workers, "plan_sweep: workers", 1, MOST_TASKS)
    numbers = {"states": states, "rate": rate, "task_seconds": task_seconds, "slowness": slowness}
    states, rate, task_seconds, slowness = (
        positive(value, f"plan_sweep: {name}") for name, value in numbers.items()
    )
    others = {"dispatch": dispatch, "start": start, "slow": slow, "failures": failures, "restart": restart}
    dispatch, start, slow, failures, restart = (
        positive(value, f"plan_sweep: {name}", zero=True) for name, value in others.items()
    )
    tasks = max(1, math.ceil(states / (rate * task_seconds)))
    if tasks > MOST_TASKS:
        raise StateFault(
            f"plan_sweep: {tasks} tasks of {task_seconds} s; give task_seconds= of at least "
            f"{states / rate / MOST_TASKS:.3g}, which an engine would thank you for too."
        )
    each = states / rate / tasks
    deaths = failures * each * max(slowness, 1.0) / 3600.0
    if deaths > MOST_DEATHS:
        raise StateFault(
            f"plan_sweep: failures is {failures:g} an hour, {deaths:.3g} in one task of a slow worker, so that hardly "
            "one would end; give a shorter task_seconds=, or fewer failures."
        )
    rng = random_numbers(seed, "plan_sweep: seed")
    factor = np.where(np.arange(workers) < round(slow * workers), slowness, 1.0)
    ready = [(start, w) for w in range(workers)]  # when a worker next asks, and who
    heapq.heapify(ready)
    left, free, busy, lost, end = tasks, 0.0, 0.0, 0, 0.0
    waiting: list[float] = []  # when lost tasks are noticed
    while left or waiting:
        at, w = heapq.heappop(ready)
        if not left:  # only tasks that were lost: they can be handed out when that is noticed
            at = max(at, heapq.heappop(waiting))
        elif waiting and waiting[0] <= at:
            heapq.heappop(waiting)
            left += 1
        left = max(0, left - 1)
        free = max(free, at) + dispatch
        busy += dispatch
        length = each * float(factor[w])
        death = float(rng.exponential(3600.0 / failures)) if failures else math.inf
        if death < length:
            lost += 1
            heapq.heappush(waiting, free + death)
            heapq.heappush(ready, (free + death + restart, w))
        else:
            end = max(end, free + length)
            heapq.heappush(ready, (free + length, w))
    used = states / rate / (workers * end) if end else 1.0
    return SweepPlan(end, used, tasks, lost, busy / end if end else 0.0)
