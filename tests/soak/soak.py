"""Fuzz readers, calls and the cache for as long as asked: `make soak MINUTES=10`, or `python soak.py MINUTES [SEED]`.

A file, however spoiled, is read or refused by a Fault within its budget of time and memory; a call with whatever
arguments gives an array or a Fault, and the call after it is right; a cache whose files were spoiled gives right
torques. Each round has a seed, which is printed when it fails: `python soak.py 0 SEED` runs that round again.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.faults import Fault
from forearm.writers.toml import to_toml
from forearm.writers.urdf import to_urdf

SECONDS, MEGABYTES = 2.0, 500
"""Budget of one file."""
START = 4.0
"""Seconds that a process may take to start and to import, on a machine that is busy."""

ARMS = ("rr", "puma560", "ur5e", "panda")
ALPHABET = [
    "\n",
    "\0",
    '"',
    "'",
    "^^5c",
    "</script>",
    "\x1b[31m",
    "\u202e",
    "1e999",
    "-" * 9,
    "[" * 300,
    "9" * 400,
    "é",
]
READ = """
import resource, sys, time
import forearm as fa
from forearm.simulation import read_motion
fa.load("rr")
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
for path in sys.argv[1:]:
    began = time.process_time()
    try:
        read_motion(path, fa.load("rr")) if path.endswith("csv") else fa.load(path)
    except fa.Fault:
        pass
    print(time.process_time() - began, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def spoiled(text, rng):
    """A text with a few accidents: cut, repeated, swapped, or with something hostile in it."""
    for _ in range(rng.randint(1, 6)):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in "ab")
        b = min(b, a + rng.choice([1, 5, 60, 3000]))
        what = rng.choice(["cut", "repeat", "hostile", "number", "truncate"])
        if what == "cut":
            text = text[:a] + text[b:]
        elif what == "repeat":
            text = text[:b] + text[a:b] * rng.choice([1, 3, 200]) + text[b:]
        elif what == "hostile":
            text = text[:a] + rng.choice(ALPHABET) + text[a:]
        elif what == "number":
            text = text.replace(str(rng.randrange(10)), rng.choice(["nan", "1e308", "-0", "1e-320", "x"]), 1)
        elif rng.random() < 0.2:
            text = text[:a]
    return text


def mjcf(arm):
    """An MJCF file with as many joints."""
    body = "<body name='{0}' pos='0 0 0.{1}'><joint name='j{0}' axis='0 1 0' damping='0.1'/><geom size='0.1' mass='1'/>"
    inside = "".join(body.format(name, k) for k, name in enumerate(arm.joint_names, 1))
    return (
        "<mujoco><compiler angle='radian'/><default><default class='c'><geom density='3'/></default></default>"
        f"<worldbody>{inside}{'</body>' * arm.n}</worldbody></mujoco>"
    )


def motion(arm):
    """A motion of two joints."""
    return "t,q1,q2,note\n" + "".join(f"{0.1 * k},{0.02 * k * k},{-0.01 * k},{k}\n" for k in range(40))


WRITERS = {"toml": to_toml, "urdf": lambda arm: to_urdf(arm, lossy=True), "xml": mjcf, "csv": motion}


def read_files(rng, folder):
    """A dozen spoiled files, each within its budget."""
    paths = []
    for k in range(12):
        form = rng.choice(list(WRITERS))
        path = folder / f"{k}.{form}"
        path.write_bytes(
            spoiled(WRITERS[form](fa.load(rng.choice(ARMS))), rng).encode("utf-8", "surrogatepass")
        )
        paths.append(path)
    limit = len(paths) * SECONDS + START
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=10 * limit,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    costs = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(costs) == len(paths)
    for path, (seconds, megabytes) in zip(paths, costs, strict=True):
        assert seconds <= SECONDS, f"{path.name} took {seconds:.1f} s"
        assert megabytes <= MEGABYTES, f"{path.name} took {megabytes:.0f} MB"


def odd(rng, n):
    """Something in the place of an array of states."""
    count = rng.choice([0, 1, 2, 7, 600])
    array = np.random.default_rng(rng.randrange(10**6)).uniform(-4, 4, (count, n))
    return rng.choice(
        [
            array,
            array[::-1],
            array[:, ::-1],
            array.astype(rng.choice(["f4", ">f8", "i8", "c16", "O", "U8"])),
            np.asfortranarray(array),
            array * rng.choice([1e307, np.nan, 1e-310]),
            array[0] if count else None,
            array.tolist(),
            array[..., :-1],
            np.broadcast_to(np.ones(n), (3, count, n)),
            rng.choice([None, "q", 3.0, {}, object(), [[1], [2, 3]]]),
        ]
    )


def call(rng, folder):
    """Calls with odd arguments: an array or a Fault, and the next call is right."""
    arm = fa.load(rng.choice(ARMS))
    q = np.linspace(-1, 1, 700 * arm.n).reshape(700, arm.n)
    want = fa.inverse_dynamics(arm, q, q, q)
    for _ in range(40):
        given = [odd(rng, arm.n) for _ in "abc"]
        more = {"threads": rng.choice([1, 2, 3, np.int64(2), 0, "x"])} if rng.random() < 0.5 else {}
        if rng.random() < 0.3:
            more["out"] = odd(rng, arm.n)
        try:
            with np.errstate(all="ignore"):
                found = fa.inverse_dynamics(arm, *given, **more)
            assert isinstance(found, np.ndarray)
        except Fault:
            pass
        np.testing.assert_array_equal(fa.inverse_dynamics(arm, q, q, q, threads=2), want)


def spoil_the_cache(rng, folder):
    """Files of a cache, spoiled in every way: torques are right in the next process."""
    environment = {**os.environ, "FOREARM_CACHE": str(folder / "kernels")}
    program = (
        "import numpy as np, forearm as fa; q = np.array([0.3, -0.4]);"
        "print(fa.inverse_dynamics(fa.load('rr'), q, q, q).tolist())"
    )
    words = [sys.executable, "-c", program]
    said = [subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout]
    for path in (folder / "kernels").glob("*.kernel"):
        content = bytearray(path.read_bytes())
        if rng.random() < 0.5:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        else:
            del content[rng.randrange(len(content)) :]
        path.write_bytes(content)
    said.append(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]


JOBS = (read_files, call, call, spoil_the_cache)


def one_round(seed):
    """One job, chosen by its seed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        rng.choice(JOBS)(rng, Path(folder))


def main(minutes, seed):
    """Rounds until the time is over; at least one."""
    end, rounds = time.monotonic() + 60 * minutes, 0
    while True:
        try:
            one_round(seed + rounds)
        except BaseException:
            print(f"round {seed + rounds} failed; run it again: python tests/soak/soak.py 0 {seed + rounds}")
            raise
        rounds += 1
        if time.monotonic() >= end:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rounds} rounds from seed {seed}, nothing found; peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()))
