"""Ctrl-C in a simulation: heard soon, and what was reached is in the record."""

import json
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import PDWithGravity, advise_step, row_blocks, run, simulate

RUN = """
import json, os, signal, threading, time
import numpy as np
import forearm as fa

arm, clock = fa.load("ARM"), time.thread_time
q0 = np.random.default_rng(0).uniform(-1, 1, (ROWS, arm.n))
options = dict(dt=1e-3, limits="ignore", OPTIONS)
if ROWS == 1:
    q0 = q0[0]
fa.simulate(arm, q0[:4], duration=0.02, **options)  # compiled beforehand
told, sent = [clock()], []

def progress(share):
    told.append(clock())
    if len(told) == 2:
        threading.Thread(target=press, args=(time.process_time() + 0.7,)).start()

def press(when):
    while time.process_time() < when:
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)

def hear(number, frame):
    sent.append((clock(), time.time()))
    return heard(number, frame)

def listening(number, handler, setting=signal.signal):
    global heard
    if getattr(handler, "__name__", "") == "_hear":
        heard, handler = handler, hear
    return setting(number, handler)

signal.signal = listening
record = fa.simulate(arm, q0, duration=1000.0, progress=progress, **options)
took, wall = clock() - sent[0][0], time.time() - sent[0][1]
flat = record.q.reshape(-1, len(record.t), arm.n)
print(json.dumps({
    "took": took, "wall": wall, "kinds": sorted({o.kind for o in np.ravel(record.outcomes)}), "t": record.t.tolist(),
    "moved": float(np.abs(flat[:, -1] - q0).max()), "finite": bool(np.all(np.isfinite(record.q))),
    "gap": max(np.diff(told)), "shapes": sorted({np.shape(getattr(record, n)) for n in ("q", "qd", "qdd", "tau")}),
}))
"""


def interrupted(arm, rows, options=""):
    """What a process says that was told to stop when it has worked for a while."""
    text = RUN.replace("ARM", arm).replace("ROWS", str(rows)).replace("OPTIONS", options)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CASES = {
    "free": ("puma560", 20_000, ""),
    "sampled": ("puma560", 20_000, "control_dt=10.0, law=lambda t, q, qd: -qd"),
    "law in Python": ("rr", 30_000, "law=lambda t, q, qd: -float(qd[0]) * q"),
    "adaptive": ("rr", 1, "method='dop853'"),
    "papers": ("rr", 2000, "method='papers'"),
}
MANY = {
    "a million": ("rr", 1_000_000, ""),
    "a million, threads": ("puma560", 1_000_000, "threads=2"),
    "a million, law in Python": ("rr", 1_000_000, "law=lambda t, q, qd: -float(qd[0]) * q"),
    "a million, much recorded": ("rr", 1_000_000, "record_every=10**5"),
}


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.more) for case in MANY)])
def test_a_batch_answers_within_half_a_second_with_what_it_reached(case):
    """Times are those of the thread itself: others may keep it waiting."""
    said = interrupted(*(CASES | MANY)[case])
    assert said["kinds"] == ["interrupted"]
    assert said["took"] < 0.5
    assert said["finite"]
    if case in ("free", "sampled", "adaptive"):
        assert said["t"][-1] > 0
        assert said["moved"] > 0
    assert said["gap"] < 0.5, "progress is told several times a second"
    assert len(said["shapes"]) == 1, "torques and accelerations are there when they are asked for"


def test_chunks_that_end_between_records_change_nothing():
    """Steps are cut by the clock; records are where they were asked for, whatever the cut."""
    arm = fa.load("rr")
    q0 = np.random.default_rng(1).uniform(-1, 1, (3000, 2))
    options = dict(duration=0.3, dt=1e-3, record_every=70, limits="ignore")
    for law in (None, PDWithGravity(arm, [0.2, 0.1], 20.0, 3.0)):
        many = simulate(arm, q0, law=law, **options)
        few = simulate(arm, q0[:5], law=law, **options)
        assert many.t.tolist() == few.t.tolist()
        np.testing.assert_array_equal(many.q[:5], few.q)
    held = simulate(arm, q0, law=PDWithGravity(arm, [0.2, 0.1], 20.0, 3.0), control_dt=0.05, **options)
    alone = simulate(arm, q0[7], law=PDWithGravity(arm, [0.2, 0.1], 20.0, 3.0), control_dt=0.05, **options)
    np.testing.assert_array_equal(held.q[7], alone.q)
    np.testing.assert_array_equal(held.tau[7], alone.tau)


def test_the_handler_of_before_is_back_afterwards():
    before = signal.getsignal(signal.SIGINT)
    simulate(fa.load("rr"), [0.1, 0.2], duration=0.01)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_within_progress_is_a_record_too():
    def progress(share):
        raise KeyboardInterrupt

    run = simulate(fa.load("rr"), np.zeros((50, 2)), duration=50.0, dt=1e-3, progress=progress)
    assert run.outcome.kind in ("interrupted", "finished")
    assert run.t[-1] > 0


def test_ctrl_c_after_the_last_step_is_not_swallowed():
    def progress(share):
        if share == 1.0:
            signal.raise_signal(signal.SIGINT)

    run = simulate(fa.load("rr"), np.zeros((5, 2)), duration=0.05, progress=progress)
    assert {outcome.kind for outcome in run.outcomes} == {"interrupted"}
    assert run.t[-1] == pytest.approx(0.05)
    assert run.outcomes[0].advice == "all steps were done; Ctrl-C came while the record was made."


@pytest.mark.parametrize("shape", [(97,), (3, 41), (1, 60), (50, 2)], ids=str)
def test_rows_in_blocks_give_the_same_bits(monkeypatch, shape):
    arm, rng = fa.load("rr"), np.random.default_rng(3)
    q0 = rng.uniform(-1, 1, (*shape, 2))
    law = rng.uniform(-1, 1, (*shape, 20, 2))
    payload = np.zeros((shape[-1], 10))
    payload[:, 0] = rng.uniform(0, 1, shape[-1])
    options = dict(duration=0.02, law=law, payload=payload, record_every=3, limits="stop")
    whole = simulate(arm, q0, **options)
    monkeypatch.setattr(row_blocks, "FIRST", 17)
    monkeypatch.setattr(row_blocks, "PATIENCE", 1e-7)
    monkeypatch.setattr(run, "PATIENCE", 0.0)
    told = []
    split = simulate(arm, q0, progress=told.append, **options)
    assert len(told) > 30
    assert told == sorted(told)
    for name in ("t", "q", "qd", "qdd", "tau", "work", "dissipated"):
        np.testing.assert_array_equal(getattr(split, name), getattr(whole, name))


def test_a_step_of_many_rows_is_given_up_between_two_blocks(monkeypatch):
    arm, told = fa.load("rr"), []
    monkeypatch.setattr(row_blocks, "FIRST", 10)
    monkeypatch.setattr(row_blocks, "PATIENCE", 1e-7)
    monkeypatch.setattr(run, "PATIENCE", 0.0)

    def progress(share):
        told.append(share)
        if share < 1.0:
            signal.raise_signal(signal.SIGINT)

    found = simulate(arm, np.full((40, 2), 0.3), duration=0.01, progress=progress)
    assert {outcome.kind for outcome in found.outcomes} == {"interrupted"}
    assert len(told) == 1, "heard between the first block and the second"
    assert found.t.tolist() == [0.0]
    assert (found.q == 0.3).all()


def test_an_interrupted_motion_advises_no_step():
    def progress(share):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        advise_step(fa.load("rr"), [0.5, 0.3], duration=0.5, progress=progress)


LOOSE = fa.load("rr").replace(gravity=(0, 0, 0))
NARROW = LOOSE.replace(links=[link.replace(limits=(-1.0, 1.0)) for link in LOOSE.links])


def pressed_once(share):
    """Progress in which somebody presses Ctrl-C at the first call, and thinks no more of it."""
    if not pressed_once.done:
        pressed_once.done = True
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def press():
    pressed_once.done = False
    return pressed_once


@pytest.mark.parametrize("limits", ["note", "stop"])
def test_an_interrupted_motion_beyond_a_limit_was_told_as_a_whole_one(press, limits, monkeypatch):
    monkeypatch.setattr(run, "PATIENCE", 0.0)
    monkeypatch.setattr(row_blocks, "PATIENCE", 0.0)  # told at every step, however long the first takes

    def progress(share):
        if share > 0.02:  # after the first chunk, which Ctrl-C gives up; the limit is left at 0.004
            press(share)

    found = simulate(NARROW, [0.9, 0.0], [5.0, 0.0], duration=5.0, progress=progress, limits=limits)
    assert found.interrupted
    assert found.t[-1] < 5.0
    if limits == "stop":
        assert found.outcome.kind == "stopped at a limit"
        return
    assert (found.outcome.kind, found.outcome.t) == ("interrupted", found.t[-1])
    assert found.outcome.joint == found.outcome.limits[0].joint == "q1"
    assert "was computed until then. Before, joint 'q1' left its limits at t = 0.02" in str(found.outcome)
    assert not found.outcome.within_limits
    assert not found.outcome.finished
    assert found.thinned(2).interrupted


def test_a_motion_that_nobody_interrupts_says_so():
    assert not simulate(LOOSE, [0.1, 0.2], duration=0.01).interrupted


@pytest.mark.parametrize(
    ("arm", "law"),
    [(NARROW, None), (LOOSE, lambda t, q, qd: 1e4 * qd)],
    ids=["beyond a limit", "running away"],
)
def test_ctrl_c_was_lost_while_a_step_was_sought_for_a_motion(press, arm, law):
    """The advice was then worked out from half a motion and a whole one."""
    with pytest.raises(KeyboardInterrupt):
        advise_step(arm, [0.9, 0.0], [5.0, 0.0], duration=0.5, law=law, progress=press)


def test_a_pickle_of_an_interrupted_record_has_everything():
    def progress(share):
        raise KeyboardInterrupt

    found = simulate(fa.load("rr"), np.zeros((50, 2)), duration=50.0, progress=progress)
    again = pickle.loads(pickle.dumps(found))
    for name in ("t", "q", "qd", "qdd", "tau", "work"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert again.outcome == found.outcome


@pytest.mark.parametrize("method", ["rk4", "euler", "papers"])
def test_ctrl_c_in_the_first_seconds_of_a_slow_law_in_python_lost_sixty_steps(method, monkeypatch):
    monkeypatch.setattr(run, "PATIENCE", 1e-9)  # as if every call of the law took long

    pressed = []

    def law(t, q, qd):
        if t > 0.0101 and not pressed:
            pressed.append(t)
            raise KeyboardInterrupt
        return [0.0, 0.0]

    record = simulate(fa.load("rr"), [0.4, -1.1], law=law, duration=0.1, trace=False, method=method)
    assert record.outcomes.item().kind == "interrupted"
    assert record.t[-1] > 0.0099
