"""Sweeps on other engines: Dask's scheduler and workers, loky; workers killed, Ctrl-C; larger sizes."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import forearm as fa
from forearm.sweeps import problem as problems
from sweeps import questions

pytestmark = pytest.mark.more
KEEP = (fa.Extremes(2), "moments", "quantiles")


PATH = os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH", "")])


@pytest.fixture
def imported_by_workers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PATH)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_bits_and_survives_a_killed_worker(imported_by_workers, monkeypatch):
    monkeypatch.setattr(problems, "BLOCK_STATES", 20_000)
    distributed = pytest.importorskip("distributed")
    arm, over = fa.load("iiwa14"), questions.question(5)
    want = fa.sweep("inverse_dynamics", over, arm=arm, samples=6000, keep=KEEP, workers=1)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        killed = []

        def kill_one(done, of):
            if not killed and done < of:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        found = fa.sweep(
            "inverse_dynamics",
            over,
            arm=arm,
            samples=6000,
            keep=KEEP,
            executor=client.get_executor(),
            workers=2,
            progress=kill_one,
        )
        by_client = fa.sweep("inverse_dynamics", over, arm=arm, samples=6000, keep=KEEP, executor=client)
    assert killed
    assert found._total == want._total
    assert by_client._total == want._total


def test_loky_gives_the_same_bits(imported_by_workers):
    loky = pytest.importorskip("loky")
    arm, over = fa.load("iiwa14"), questions.question(5)
    want = fa.sweep("inverse_dynamics", over, arm=arm, samples=2000, keep=KEEP, workers=1)
    with loky.ProcessPoolExecutor(2) as pool:
        found = fa.sweep("inverse_dynamics", over, arm=arm, samples=2000, keep=KEEP, executor=pool)
    assert found._total == want._total


SCRIPT = """
    import sys
    import forearm as fa
    from forearm.sweeps import journal, problem
    from sweeps import questions

    problem.BLOCK_SAMPLES, journal.EVERY = 2000, 0.1

    if __name__ == "__main__":
        over = {"x": fa.Uniform(0, 1), "y": [1.0, 2.0]}
        found = fa.sweep(
            questions.slow, over, samples=60_000, keep=("extremes", "moments"),
            executor="processes", workers=2, journal=sys.argv[1],
            progress=lambda done, of: print(done, flush=True),
        )
        print(found.fresh, found.mean.tolist(), found.greatest.tolist())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_from_outside_and_started_again(tmp_path, imported_by_workers, monkeypatch, how):
    monkeypatch.setattr("forearm.sweeps.problem.BLOCK_SAMPLES", 2000)  # sums of blocks are compared, too
    script, journal = tmp_path / "script.py", tmp_path / "sweep.json"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(journal)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not journal.exists() and first.poll() is None and how == signal.SIGKILL:
        time.sleep(0.1)  # what a kill leaves is what was written by then
    first.stdout.readline()
    first.send_signal(how)
    _, told = first.communicate(timeout=60)
    assert first.returncode != 0
    if how == signal.SIGINT:
        assert told.count("Traceback") == 1  # its workers say nothing
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    last = again.stdout.splitlines()[-1]
    want = fa.sweep(
        questions.squares,
        {"x": fa.Uniform(0, 1), "y": [1.0, 2.0]},
        samples=60_000,
        keep=("extremes", "moments"),
        executor="threads",
    )
    fresh, rest = last.split(" ", 1)
    assert rest == f"{want.mean.tolist()} {want.greatest.tolist()}"
    assert int(fresh) < want.states


def test_workers_that_start_together_compile_once(tmp_path, imported_by_workers):
    """Four processes, one empty cache: the kernel is made by one of them."""
    code = """
        import logging, sys
        logging.basicConfig(level=logging.INFO, stream=sys.stdout)
        import forearm as fa
        from sweeps import questions
        arm = fa.load("iiwa14")
        fa.sweep("inverse_dynamics", questions.question(1), arm=arm, samples=2, workers=1)
    """
    env = os.environ | {"FOREARM_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(4)]
    told = [p.communicate(timeout=300)[0] for p in started]
    assert all(p.returncode == 0 for p in started)
    assert sum("compiled inverse_dynamics of iiwa14, groups summed up" in text for text in told) == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory of processes")
def test_many_states_in_little_memory(tmp_path):
    """Ten million states on two processes: 500 MB at most, for all of them together."""
    code = """
        import multiprocessing
        import re
        from pathlib import Path
        import forearm as fa
        from sweeps import questions

        def most(pid):  # getrusage would tell of the process that started this one, too
            return int(re.search(r"VmHWM:\\s*([0-9]+)", Path(f"/proc/{pid}/status").read_text())[1])

        def look(done, of):
            seen.update({child.pid: most(child.pid) for child in multiprocessing.active_children()})

        if __name__ == "__main__":
            arm, seen = fa.load("iiwa14"), {}
            over = questions.question(1000)
            found = fa.sweep(
                "inverse_dynamics", over, arm=arm, samples=250, executor="processes", workers=2, progress=look
            )
            assert len(seen) == 2, seen
            print(found.states, most("self") + sum(seen.values()))
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    env = os.environ | {"PYTHONPATH": PATH}
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=env, check=True, timeout=300
    )
    states, kilobytes = map(int, found.stdout.split())
    assert states == 10_000_000
    assert kilobytes < 500_000


def test_ten_thousand_arms_in_one_call():
    """Arms that differ in lengths and masses; a few of them against a loop in plain floats."""
    arm = fa.load("iiwa14")
    motion = questions.motions(arm, 1, 100)
    rng = np.random.default_rng(0)
    density = rng.uniform(0.5, 2.0, (10_000, 7))
    found = fa.sweep(
        "inverse_dynamics", {"motion": motion, "density": density, "lengths": fa.Uniform(0.7, 1.3)}, arm=arm
    )
    assert found.states == 10**6
    from forearm.compiler.model.free_parameters import current, freed

    for j, case in enumerate(found.worst[:3]):
        rows = current(arm, "inertial") * case.choices["density"][:, None]
        lengths = [float(x) for x in current(arm, "geometry") * case.choices["lengths"]]
        other = freed(arm.with_parameters(rows.ravel()), {"geometry": lengths})
        s, k = motion[0], case.instant
        tau = fa.FORMULATIONS["luh_walker_paul_1980"].joint_torques(other, s.q[k], s.qd[k], s.qdd[k])
        assert tau[j] == pytest.approx(case.value, rel=1e-11)
