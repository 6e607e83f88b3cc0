"""Simulation: integrators inside the kernel, control laws, motions, records; and which terms may be dropped.

simulate      a motion, or thousands at once; gives a Record with an Outcome for each
advise_step   how long a step may be, checked by halving
significance  how much each term contributes along a motion, and what could be deleted
PDWithGravity, ComputedTorque, FeedforwardPD             control laws (any function law(t, q, qd) is one)
Quintic, Trapezoid, Fourier, ViaPoints, read_motion      motions
"""

from forearm.simulation.advising import StepAdvice, advise_step
from forearm.simulation.deleting import Significance, SpeedStudy, error_against_speed, significance
from forearm.simulation.laws import ComputedTorque, FeedforwardPD, PDWithGravity, payload_numbers
from forearm.simulation.motions import Fourier, Motion, Quintic, Retimed, Samples, Trapezoid, ViaPoints
from forearm.simulation.records import Outcome, Record
from forearm.simulation.running import simulate
from forearm.simulation.tables import Recorded, read_motion, write_motion

__all__ = [
    "ComputedTorque",
    "FeedforwardPD",
    "Fourier",
    "Motion",
    "Outcome",
    "PDWithGravity",
    "Quintic",
    "Record",
    "Recorded",
    "Retimed",
    "Samples",
    "Significance",
    "SpeedStudy",
    "StepAdvice",
    "Trapezoid",
    "ViaPoints",
    "advise_step",
    "error_against_speed",
    "payload_numbers",
    "read_motion",
    "significance",
    "simulate",
    "write_motion",
]
