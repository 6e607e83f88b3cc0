"""Every public call in several threads at once, on the same arms, kernels and tables: each gets its own numbers."""

import random
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from forearm import Fault, load
from hostile.good_calls import CALLS, Workshop
from hostile.labels_everywhere import numbers_in

LEFT_OUT = (
    *("fa.compare(", "fa.derive(", "fa.excite(", "fa.identify(", "fa.plan_sweep(", "fa.prove_equal("),
    *("fa.stream(", "fa.sweep(", "fa.tabulate(", "fa.verify(", "sim.advise_step("),
)
"""What takes long or has workers of its own (tests/sweeps)."""
SERIAL = ("watcher.",)
"""What remembers its last row."""
SHARED = (
    *("rr", "ur5e", "robot", "kernel", "table", "absolute", "found", "urdf", "run", "motion", "log", "held"),
    *("swept", "page", "pose", "eye", "spring", "wrench"),
)
"""What all threads have in common; states and the folder are each thread's own."""
CROWD, ROUNDS = 4, 2


def workshops():
    common, made = Workshop(), []
    for k in range(CROWD):
        rng = np.random.default_rng(k)
        own = Workshop()
        own.update({name: common[name] for name in SHARED})
        own["q"], own["goal"] = np.round(rng.uniform(-1, 1, (2, 2)), 3).tolist()
        own["many"] = rng.uniform(-1, 1, (50, 2))
        made.append(own)
    return made


def numbers_of(call, things):
    try:
        return numbers_in(eval(call, {}, things))
    except Fault as fault:  # a library that is not here
        return [hash(str(fault))]


@pytest.mark.more
def test_calls_in_several_threads_get_their_own_numbers():
    calls = [call for call in CALLS if not call.startswith((*LEFT_OUT, *SERIAL))]
    assert len(calls) > 150
    odd, shops = [], workshops()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = [{call: numbers_of(call, shop) for call in calls} for shop in shops]
        fresh = {name: load(name) for name in ("rr", "ur5e")}  # whose kernels all threads want first
        for shop in shops:
            shop.update(fresh)

        def work(k):
            chosen = random.Random(k)
            for call in (call for _ in range(ROUNDS) for call in chosen.sample(calls, len(calls))):
                if not np.array_equal(numbers_of(call, shops[k]), alone[k][call], equal_nan=True):
                    odd.append(call)

        with ThreadPoolExecutor(CROWD) as crowd:
            list(crowd.map(work, range(CROWD)))
    assert not odd
