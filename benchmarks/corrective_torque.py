"""What feedback has to supply when a controller ignores Coriolis and centrifugal terms, at low and at high speed.

    python benchmarks/corrective_torque.py

A PUMA 560 follows one path, slowly and fast, under computed torque: with the whole model and without C(q, qd) qd.
Everything else is known exactly, so the corrective torque M (kd de + kp e) is there for the missing terms alone.
Writes benchmarks/results/corrective_torque.json; `python docs/make_feedback.py` makes the page of it. Nothing is timed.
"""

import json
from pathlib import Path

import numpy as np

import forearm as fa
from forearm.simulation import ComputedTorque, Quintic, simulate

RESULT = Path(__file__).parent / "results" / "corrective_torque.json"
GOAL = (1.0, -0.8, 0.9, 0.5, 0.7, -0.6)
"""Where each joint goes from zero [rad]."""
DURATIONS = (8.0, 4.0, 2.0, 1.0, 0.5)
FREQUENCIES = (10.0, 20.0, 40.0, 80.0)
"""Natural frequencies of the feedback [rad/s], critically damped."""
RATE = 60.0
"""Samples a second of the sampled controller."""
TRIED = (24.0, 36.0, 45.0, 54.0, 57.0, 63.0)
"""Natural frequencies that the sampled controller may choose from [rad/s]."""


def velocity_torque(rigid, q, qd):
    """C(q, qd) qd: Coriolis and centrifugal terms together."""
    return fa.bias_torque(rigid, q, qd) - fa.gravity_torque(rigid, q)


def law_of(arm, motion, whole):
    """Computed torque, with or without the terms in question; gains kp, kd by name."""
    law, rigid = ComputedTorque(arm, motion), arm.without_drives()
    if whole:
        return law

    def poor(t, q, qd, kp=None, kd=None):
        """Computed torque, less C(q, qd) qd."""
        return law(t, q, qd, kp=kp, kd=kd) - velocity_torque(rigid, q, qd)

    return poor


def run(arm, motion, frequency, whole, control_dt=None):
    """One motion: (record, feedback part of the torque (steps, n))."""
    gains = {"kp": frequency**2, "kd": 2 * frequency}
    steps = 1000 if control_dt is None else 16 * round(motion.duration / control_dt)
    record = simulate(
        arm,
        motion.start,
        law=law_of(arm, motion, whole),
        duration=motion.duration,
        dt=motion.duration / steps,
        gains=gains,
        control_dt=control_dt,
        limits="ignore",
    )
    wanted = motion.sample(record.t)
    push = gains["kp"] * (wanted.q - record.q) + gains["kd"] * (wanted.qd - record.qd)
    return record, np.einsum("tij,tj->ti", fa.mass_matrix(arm, record.q), push)


def measured(arm, duration, frequency, whole=False):
    """Largest corrective torque, missing term and torque of each joint, and the largest error."""
    motion = Quintic(np.zeros(arm.n), np.array(GOAL), duration)
    record, feedback = run(arm, motion, frequency, whole)
    wanted = motion.sample(record.t)
    needed = fa.inverse_dynamics(arm, wanted.q, wanted.qd, wanted.qdd)
    missing = velocity_torque(arm.without_drives(), wanted.q, wanted.qd)
    return {
        "duration": duration,
        "frequency": frequency,
        "whole": whole,
        "corrective": np.abs(feedback).max(axis=0).tolist(),
        "missing": np.abs(missing).max(axis=0).tolist(),
        "torque": np.abs(needed).max(axis=0).tolist(),
        "error_deg": float(np.degrees(np.abs(wanted.q - record.q).max())),
        "speed": float(np.abs(wanted.qd).max()),
    }


def sampled(arm, duration, whole):
    """The least error that any of the tried gains reaches at RATE samples a second, and that gain."""
    motion, found = Quintic(np.zeros(arm.n), np.array(GOAL), duration), []
    for frequency in TRIED:
        record, _ = run(arm, motion, frequency, whole, 1.0 / RATE)
        error = float(np.degrees(np.abs(motion.sample(record.t).q - record.q).max()))
        found.append((error if np.isfinite(error) else np.inf, frequency))
    error, frequency = min(found)
    return {"duration": duration, "whole": whole, "error_deg": error, "frequency": frequency}


def main():
    arm = fa.load("puma560")
    bare = arm.without_drives()
    runs = [measured(bare, d, f) | {"drives": False} for d in DURATIONS for f in FREQUENCIES]
    runs += [measured(bare, d, FREQUENCIES[1], whole=True) | {"drives": False} for d in DURATIONS]
    runs += [measured(arm, d, FREQUENCIES[1]) | {"drives": True} for d in DURATIONS]
    held = [sampled(bare, d, whole) for d in DURATIONS for whole in (True, False)]
    content = {"arm": arm.name, "goal": GOAL, "rate": RATE, "runs": runs, "sampled": held}
    RESULT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
