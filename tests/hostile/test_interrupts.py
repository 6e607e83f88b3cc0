"""Ctrl-C at any moment of a threaded batch or a simulation: no hang, no late write, no wrong number, no lost record."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CREW = "call/threads.py,/threading.py"
WAY_IN = f"{CREW},forearm/dynamics.py,call/processor.py,call/arguments.py,ctypes/__init__.py"


def ran(program, *words, seconds=120):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / program), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, slowest = map(int, done.stdout.split()[:2])
    assert slowest < 500, f"an interrupt was answered after {slowest} ms"
    return count


@pytest.mark.parametrize("start", ["cold", "warm"])
def test_an_interrupt_at_every_bytecode_of_crew_and_pool(start):
    assert ran("every_opcode.py", start, CREW) > {"cold": 300, "warm": 100}[start]


@pytest.mark.parametrize(
    "times", [pytest.param(1, marks=pytest.mark.more), pytest.param(5, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("start", ["cold", "warm"])
def test_an_interrupt_at_every_bytecode_of_the_way_in(start, times):
    for _ in range(times):
        assert ran("every_opcode.py", start, WAY_IN, seconds=600) > 150


@pytest.mark.parametrize(
    "case",
    ["batch", *(pytest.param(case, marks=pytest.mark.soak) for case in ("one", "law", "sampled"))],
)
def test_an_interrupt_at_every_bytecode_of_a_simulation(case):
    assert ran("simulation_interrupts.py", "opcodes", case, seconds=600) > 1000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt here")
@pytest.mark.parametrize(
    "count", [60, pytest.param(300, marks=pytest.mark.more), pytest.param(1000, marks=pytest.mark.soak)]
)
def test_interrupts_of_simulations_at_random_moments(count):
    assert ran("simulation_interrupts.py", "timed", count, 1, seconds=600) == count


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt here")
@pytest.mark.parametrize(
    "count", [pytest.param(5, marks=pytest.mark.more), pytest.param(100, marks=pytest.mark.soak)]
)
def test_interrupts_of_a_million_motions(count):
    assert ran("simulation_interrupts.py", "large", count, 1, seconds=900) == count


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt here")
def test_interrupts_at_random_moments():
    assert ran("timed_interrupts.py", 200, 1) == 200


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt here")
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=pytest.mark.soak if s else pytest.mark.more) for s in range(10)]
)
def test_thousands_of_interrupts_and_every_process_ends(seed):
    assert ran("timed_interrupts.py", 1000, 100 + seed) == 1000
