"""`sweep`: a quantity or a function over everything that is varied, by as many workers as there are."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from forearm.arm import Arm
from forearm.arm_calls import hint_sizes
from forearm.compiler.model.quantities import QUANTITIES
from forearm.faults import StateFault, explained, no_arm, seed_number, whole
from forearm.motion.motions import Samples
from forearm.robot import Robot
from forearm.sweeps.axes import SweepAxis, axis_of
from forearm.sweeps.executors import Workforce
from forearm.sweeps.journal import Journal
from forearm.sweeps.parameters import MOTION, checked_parameters, farthest, motion_axis
from forearm.sweeps.problem import Problem
from forearm.sweeps.reductions import Reduction, reductions_of
from forearm.sweeps.swept import Swept

MOST_SAMPLES = 2**62
"""Samples are counted in 64 bits."""
LONGEST, LONGEST_OF_SLOW, SHARES = 32, 4, 4
"""Blocks of a task at most: a second or two, where nothing is known of a block few; and tasks that what is left is cut
into for each worker."""


INSTANTS = 101
"""Into how many instants a motion is sampled, where nobody says."""


@explained
def sweep(
    what: str | Callable[..., Any],
    over: Mapping[str, Any],
    *,
    arm: Arm | Robot | None = None,
    samples: int = 1,
    keep: str | Reduction | Sequence[str | Reduction] = ("extremes",),
    seed: int = 0,
    instants: int | None = None,
    executor: Any = None,
    workers: int | None = None,
    journal: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Swept:
    """Compute a quantity for every combination of what is varied, and keep what is asked for.

    Args:
        what: A quantity's name ("inverse_dynamics", …), or a function: of a mapping from axes to arrays
            (samples, ...), giving an array (samples, ...).
        over: What is varied: a list of values (all are visited), `fa.Uniform(low, high)` or `fa.Normal(mean,
            deviation)` (drawn for every sample). For a quantity the names are its inputs (`q`, `qd`, …), or "motion"
            for whole motions, and what may vary on the arm: "payload", "mount", "gravity", "friction", "viscous",
            "dry", "density", "inertial", "lengths", "geometry", or any field such as "links[2].mass".
        arm: Whose quantity.
        samples: How often every combination of listed values is visited, with random numbers of its own.
        keep: What to keep: "extremes", "moments", "quantiles", `fa.Extremes(worst)`, `fa.Histogram(low, high, bins)`.
        seed: Of the random numbers: the same seed, the same results, to the bit, whoever computes them.
        instants: Into how many instants a motion is sampled (101 by default): evenly, but for those next to a break in
            its acceleration, which are moved to both sides of it. Samples are taken as they are.
        executor: "threads" (a quantity's default), "processes" (a function's), or anything with the interface of
            concurrent.futures: loky, MPI pools, a Dask client or its `get_executor()`.
        workers: How many; by default what the executor has, or one on each processor.
        journal: A file in which progress is kept: the same call goes on from there after Ctrl-C or a crash.
        progress: Called with samples done and samples in all.

    Returns:
        What was kept: extremes with the samples that gave them, and what those were made of.
    """
    problem = _problem(what, over, arm, samples, keep, seed, instants)
    begun = Journal(problem, journal)
    started, tell = time.perf_counter(), progress or (lambda done, of: None)
    by_function = not isinstance(what, str)
    if begun.blocks_done < problem.blocks:
        _checked_workers(workers)
        begun.write()  # where that is not possible, nothing is computed in vain
        with Workforce(problem, executor, workers, by_function) as force:
            longest = LONGEST_OF_SLOW if problem.may_be_slow else LONGEST
            stretches = _stretches(begun.missing(), force.workers, longest)
            try:
                for first, end, found in force.results(stretches):
                    begun.add(first, end, found)
                    tell(min(problem.samples, begun.blocks_done * problem.block), problem.samples)
            finally:
                begun.keep()
    fresh = (problem.blocks - begun.resumed) * problem.block * problem.instants
    return Swept(
        problem, begun.total, time.perf_counter() - started, min(fresh, problem.samples * problem.instants)
    )


def _checked_workers(workers: Any) -> None:
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise StateFault(f"sweep: workers is {workers!r}; give a whole number, 1 or more.")


def _stretches(missing: list[tuple[int, int]], workers: int, longest: int) -> Iterator[tuple[int, int]]:
    """Blocks to be done, in tasks: a share of what is left for each worker, so that the last ones end together."""
    left = sum(b - a for a, b in missing)
    for a, b in missing:
        while a < b:
            size = min(b - a, longest, -(-left // (SHARES * workers)))
            yield a, a + size
            a, left = a + size, left - size


def _problem(what: Any, over: Any, arm: Any, samples: Any, keep: Any, seed: Any, instants: Any) -> Problem:
    """The question, checked."""
    if not isinstance(over, Mapping) or not over:
        raise StateFault(
            "sweep: over says what is varied, by name, and nothing was given; "
            "give over={'payload': fa.Uniform(0, 5), …}."
        )
    samples = whole(samples, "sweep: samples", 1)
    if instants is not None:
        whole(instants, "sweep: instants", 2)
        _refuse_unsampled(over.get(MOTION))
    seed = seed_number(seed, "sweep: seed", 64)
    kept = reductions_of(keep)
    if isinstance(what, str):
        found = _of_quantity(what, over, arm, INSTANTS if instants is None else instants)
    elif callable(what):
        if arm is not None:
            raise StateFault(
                "sweep: arm= goes with a quantity; a function has its arms itself, or over={'arm': […]}."
            )
        axes = {name: axis_of(name, given) for name, given in over.items()}
        found = axes, (), {}, ("result", ())
    else:
        raise StateFault(
            f"sweep: what to compute is {type(what).__name__}; give a quantity's name or a function."
        )
    axes, states, parameters, output = found
    many = samples * math.prod(axis.length for axis in axes.values())
    if many > MOST_SAMPLES:
        raise StateFault(f"sweep: {many} samples; give fewer values or samples, 2^62 in all at most.")
    problem = Problem(what, arm, axes, states, parameters, many, seed, kept, output)
    if not isinstance(what, str):
        problem.output = ("result", _result_shape(problem))
    return problem


def _result_shape(problem: Problem) -> tuple[int, ...]:
    """What a function gives for one sample, found by trying the first."""
    found = problem.asked(problem.choices(0, 1))
    if found.dtype.kind not in "fiub" or found.shape[:1] != (1,) or not found.size:
        raise StateFault(
            f"sweep: for one sample the function gave {found.dtype} of shape {found.shape}; give an array of numbers "
            "with one row for each sample."
        )
    return found.shape[1:]


def _refuse_unsampled(motions: Any) -> None:
    """Refuse a number of instants where no motion is sampled; a single-use iterable is not looked into."""
    several = isinstance(motions, (list, tuple)) and not isinstance(motions, Samples)
    given = motions if several else [motions]
    if all(one is None or isinstance(one, Samples) for one in given):
        raise StateFault(
            "sweep: instants= is into how many a motion is sampled, and over has none that is (samples are taken as "
            "they are); leave it out."
        )


def _of_quantity(what: str, over: Mapping[str, Any], arm: Any, instants: int) -> Any:
    """Axes, which of them are inputs, which set parameters, and the output's name and shape."""
    if what not in QUANTITIES:
        raise StateFault(
            f"sweep: no quantity {what!r}; there are {', '.join(QUANTITIES)}; or give a function."
        )
    if not isinstance(arm, (Arm, Robot)):
        no_arm(arm)
    quantity, axes = QUANTITIES[what], dict[str, SweepAxis]()
    inputs = quantity.inputs
    for name, given in over.items():
        axes[name] = motion_axis(arm, given, instants) if name == MOTION else axis_of(name, given)
    for name, width in (("q", arm.nq), ("qd", arm.nv), ("qdd", arm.nv), ("tau", arm.nv)):
        if name in axes and axes[name].shape == (width,):
            hint_sizes(arm, name, farthest(axes[name])[None])
    states = tuple(n for n in inputs if n in axes or (MOTION in axes and n in ("q", "qd", "qdd")))
    missing = [n for n in inputs if n not in states]
    twice = [n for n in inputs if n in axes and MOTION in axes]
    if missing or twice:
        raise StateFault(
            f"sweep: {what} takes {', '.join(inputs)}; "
            + (
                f"over lacks {', '.join(missing)}"
                if missing
                else f"over has a motion and {', '.join(twice)} too"
            )
            + ": give each of them, or motions that have them."
        )
    if len(quantity.outputs) != 1:
        raise StateFault(
            f"sweep: {what} gives {', '.join(quantity.outputs)}; give a function that picks one of them."
        )
    parameters = checked_parameters(
        what, arm, {n: a for n, a in axes.items() if n not in inputs and n != MOTION}
    )
    from forearm.compiler.pipeline import compile

    kernel = compile(arm, what, free=tuple(row.path for row in parameters.values()))
    for port in kernel.graph.inputs:
        if port.name in axes and port.name in inputs and axes[port.name].shape != port.shape:
            raise StateFault(
                f"sweep: values of over[{port.name!r}] have shape {axes[port.name].shape}; give {port.shape}."
            )
    output = kernel.graph.outputs[0]
    return axes, states, parameters, (output.name, output.shape)
