"""Sweeps: a quantity or a function over many parameters, past one memory and one machine.

axes            what is varied: grids and random numbers, each drawn from the number of its sample alone
fingerprints    what tells one function or thing of the caller's from another, for journals
parameters      from what is varied to the inputs of a kernel: payloads, mounts, friction, inertias, lengths, motions
problem         the whole question, as it travels to workers: any block of samples can be computed anywhere
summaries       least, greatest and sum of a block of results, in machine code
reductions      what is kept of the results: extremes, moments, quantiles, histograms; all merge exactly
journal         how far a sweep has come, on disk
task_carriers   how tasks get to an executor: one by one, or many at once
own_workers     threads and processes of our own, begun for a sweep and ended with it
executors       who works: threads, processes, or anything with the interface of concurrent.futures
sweep_run       `sweep` itself
swept           what it gives
sweep_plans     how long it would take on more machines
"""

from forearm.sweeps.axes import Normal, Uniform
from forearm.sweeps.reductions import Extremes, Histogram, Moments, Quantiles
from forearm.sweeps.sweep_plans import SweepPlan, plan_sweep
from forearm.sweeps.sweep_run import sweep
from forearm.sweeps.swept import Case, Swept

__all__ = [
    "Case",
    "Extremes",
    "Histogram",
    "Moments",
    "Normal",
    "Quantiles",
    "SweepPlan",
    "Swept",
    "Uniform",
    "plan_sweep",
    "sweep",
]
