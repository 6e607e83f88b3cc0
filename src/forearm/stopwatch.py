"""Times of one quantity on this machine, the stopwatch around the Python call."""

import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import forearm
from forearm import dynamics
from forearm.arm import Arm
from forearm.compiler.pipeline import compile
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS
from forearm.outside.signal_errors import pass_on_signals
from forearm.robot import Robot

INPUTS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "qdd"),
    "mass_matrix": ("q",),
    "gravity_torque": ("q",),
    "bias_torque": ("q", "qd"),
}
"""What can be timed, and what it is called with (torques for forward dynamics are any numbers)."""
MOST_ROWS, LONGEST = 10**9, 3600
"""Rows of a batch, and seconds of a measurement, beyond which nobody waits."""
PLAIN_NUMPY = "luh_walker_paul_1980"
"""The recursion that stands beside: as the paper writes it, one state at a time, NumPy."""

Tell = Callable[[int, int, str], None]


def timings(
    arm: Arm | Robot,
    quantity: str,
    batch: int,
    seconds: float,
    threads: int = 1,
    tell: Tell | None = None,
    formulation: str | None = None,
) -> dict[str, Any]:
    """Rows with first call, one state and a batch; and the machine they hold for.

    With a `formulation` its kernel is timed instead of the one that the user's functions choose.
    """
    if quantity not in INPUTS:
        raise StateFault(f"bench: {quantity!r} is not timed here; give one of {', '.join(INPUTS)}.")
    if not (1 <= batch <= MOST_ROWS and 0 < seconds <= LONGEST):
        raise StateFault(
            f"bench: a batch of {batch} for {seconds:g} s; give 1 to {MOST_ROWS} rows, and up to {LONGEST} s."
        )
    values = dict(zip(("q", "qd", "qdd"), arm.random_state(0, (batch,)), strict=True))
    many = [values[name] for name in INPUTS[quantity]]
    one = [np.ascontiguousarray(x[0]) for x in many]
    say = tell or (lambda done, of, now: None)
    say(0, 4, "compiling")
    if formulation is not None and quantity != "mass_matrix":
        FORMULATIONS[formulation].giving("joint_torques")
    rows = [_first(arm, quantity, one, formulation)]
    kernel = compile(arm, quantity, formulation=formulation)
    chosen = "" if kernel.why is None else kernel.why.chosen
    function = _called(arm, quantity, formulation)
    say(1, 4, "one state")
    out = np.empty_like(function(*one))
    rows.append(_row("one state, out= given", lambda: function(*one, out=out), 1, seconds, 200))
    say(2, 4, "a batch")
    shared = {} if threads == 1 else {"threads": threads}
    name = f"batch of {batch}" + (f", {threads} threads" if threads > 1 else "")
    result = np.empty_like(function(*many))
    rows.append(_row(name, lambda: function(*many, out=result, **shared), batch, seconds))
    say(3, 4, "a NumPy loop")
    if isinstance(arm, Arm):  # a recursion of a paper is one chain's
        rows += _numpy_loop(arm, quantity, many, seconds, formulation or PLAIN_NUMPY)
    return {
        "arm": arm.name,
        "quantity": quantity,
        "formulation": chosen,
        "operations": kernel.counts.operations,
        "boundary": "around the Python call, arrays ready",
        "rows": rows,
        "machine": machine(),
    }


def _called(arm: Arm | Robot, quantity: str, formulation: str | None) -> Callable[..., Any]:
    """The user's function of an arm, or the kernel of one formulation."""
    if formulation is not None:
        return compile(arm, quantity, formulation=formulation)
    return partial(getattr(dynamics, quantity), arm)


def _first(arm: Arm | Robot, quantity: str, one: list[Any], formulation: str | None) -> dict[str, Any]:
    """The first call on a new arm: trace, simplify, compile or load, run."""
    fresh = arm.replace(name=arm.name)
    start = time.perf_counter()
    _called(fresh, quantity, formulation)(*one)
    took = time.perf_counter() - start
    remark = "traced, simplified, compiled or loaded from disk"
    return {
        "what": "first call",
        "median": duration(took),
        "fastest": duration(took),
        "seconds": took,
        "runs": 1,
        "remark": remark,
    }


def _row(what: str, call: Callable[[], Any], states: int, seconds: float, inner: int = 1) -> dict[str, Any]:
    """Median and fastest time for one state."""
    times = repeated(call, seconds, inner)
    each = [t / states for t in times]
    rate = 1 / statistics.median(each)
    return {
        "what": what,
        "median": duration(statistics.median(each)),
        "fastest": duration(min(each)),
        "seconds": statistics.median(each),
        "runs": len(times),
        "remark": f"{rate / 1e6:.3g} million states a second"
        if rate > 1e5
        else f"{rate:,.0f} states a second",
    }


def repeated(call: Callable[[], Any], seconds: float, inner: int = 1) -> list[float]:
    """Times of one call, repeated for so long, at least three times."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(inner):
            call()
        times.append((time.perf_counter() - start) / inner)
    return times


def _numpy_loop(arm: Arm, quantity: str, many: list[Any], seconds: float, stem: str) -> list[dict[str, Any]]:
    if quantity != "inverse_dynamics":
        return []
    torques, rigid = FORMULATIONS[stem].joint_torques, arm.without_drives()
    few = min(20, len(many[0]))

    def loop() -> None:
        for k in range(few):
            torques(rigid, *(x[k] for x in many))

    row = _row(f"{stem}, a NumPy loop", loop, few, seconds)
    return [row | {"remark": f"{row['remark']}; rigid arm, as the paper writes it"}]


def duration(seconds: float) -> str:
    """A time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def machine() -> dict[str, str]:
    """What the times hold for."""
    return {
        "processor": processor(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "forearm": forearm.__version__,
    }


def processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        if names:
            return names[0]
    except OSError:
        pass_on_signals()
        pass
    return platform.processor() or platform.machine()
