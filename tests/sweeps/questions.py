"""Questions that the tests of sweeps ask, and functions that worker processes can import."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np

import forearm as fa


def motions(arm, count, instants=40):
    """Smooth motions between random places."""
    found = []
    for k in range(count):
        (a, _, _), (b, _, _) = arm.random_state(2 * k), arm.random_state(2 * k + 1)
        t = np.linspace(0.0, 2.0, instants)[:, None]
        s, c = np.sin(np.pi * t / 2), np.cos(np.pi * t / 2)
        half = np.pi / 2
        q, qd, qdd = a + (b - a) * s, (b - a) * half * c, -(b - a) * half**2 * s
        from forearm.motion.motions import Samples

        found.append(Samples(t[:, 0], q, qd, qdd))
    return found


def question(count=3, arm=None):
    """Axes of a sweep with a payload, a mount and friction."""
    arm = arm or fa.load("iiwa14")
    return {
        "motion": motions(arm, count),
        "payload": fa.Uniform([0, -0.05, -0.05, 0], [14, 0.05, 0.05, 0.2]),
        "mount": fa.Uniform([-np.pi, -1, 0], [np.pi, 1, 0]),
        "friction": fa.Uniform([0, 0], [2, 5]),
    }


def squares(choices):
    """A function of a block."""
    return np.stack([choices["x"] ** 2, choices["x"] + choices["y"]], axis=1)


def the_same(choices):
    """The sample itself."""
    return choices["x"]


def positive(choices):
    """Samples above zero; the others are hidden by a mask."""
    return np.ma.masked_less_equal(choices["x"], 0.0)


def roots(choices):
    """Square roots, complex ones of what is below zero."""
    return np.emath.sqrt(choices["x"])


def nothing(choices):
    """No number for a sample."""
    return np.zeros((len(choices["x"]), 0))


def deadly(choices, mark):
    """Kills its process, once: a file `mark` is there afterwards."""
    if choices["x"].max() > 0.999 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return squares(choices)


def always_deadly(choices, unless):
    """Kills its process, every time, unless it is the one that asks."""
    if os.getpid() != unless:
        os.kill(os.getpid(), signal.SIGKILL)
    return squares(choices)


def slow(choices):
    """Takes its time."""
    time.sleep(0.05)
    return squares(choices)


def failing(choices):
    """Cannot do some samples."""
    if len(choices["x"]) > 1:
        raise ZeroDivisionError("no such thing")
    return choices["x"]


def slow_squares(values):
    """Squares that take their time, a block at a time."""
    time.sleep(0.05)
    return np.asarray(values["x"]) ** 2


class Picky(Exception):
    """An error that cannot travel: it wants two arguments and keeps one, and it holds a lock."""

    def __init__(self, what, value):
        super().__init__(f"{what} is {value}")
        self.lock = threading.Lock()  # libraries there are that teach pickle errors of any arguments


def stopped(choices):
    """Stops every process that is not the first, as somebody may from outside, or a disk that does not answer."""
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGSTOP)
    return choices["x"]


def picky(choices):
    """Refuses the last sample."""
    if choices["x"][-1] > 6:
        raise Picky("x", choices["x"][-1])
    return choices["x"]


def forgetful(values):
    """A function that looks up what is not there."""
    if values["x"].max() > 5:
        return {}["mass of the gripper"]
    return values["x"]
