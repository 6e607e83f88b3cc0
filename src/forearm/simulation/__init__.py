"""Simulation: integrators inside the kernel, control laws, motions, records; and which terms may be dropped.

simulate      a motion, or thousands at once; gives a Record with an Outcome for each
advise_step   how long a step may be, checked by halving
significance  how much each term contributes along a motion, and what could be deleted
PDWithGravity, ComputedTorque, FeedforwardPD             control laws (any function law(t, q, qd) is one)
Quintic, Trapezoid, Fourier, ViaPoints, read_motion      motions
"""

from forearm.motion.motion_files import Recorded, read_motion, write_motion
from forearm.motion.motions import Fourier, Motion, Quintic, Retimed, Samples, Trapezoid, ViaPoints
from forearm.simulation.control_laws import ComputedTorque, FeedforwardPD, PDWithGravity, payload_numbers
from forearm.simulation.records import Outcome, Record
from forearm.simulation.run import simulate
from forearm.simulation.schemes import SCHEMES
from forearm.simulation.significant_terms import Significance, SpeedStudy, error_against_speed, significance
from forearm.simulation.step_advice import StepAdvice, advise_step

__all__ = [
    "SCHEMES",
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
