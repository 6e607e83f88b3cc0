"""Simulation: integrators inside the kernel, control laws, motions, records; and which terms may be dropped.

simulate      a motion, or thousands at once; gives a Record with an Outcome for each
advise_step   how long a step may be, checked by halving
significance  how much each term contributes along a motion, and what could be deleted
PDWithGravity, ComputedTorque, FeedforwardPD             control laws (any function law(t, q, qd) is one)
Quintic, Trapezoid, Fourier, ViaPoints, read_motion      motions

    run          simulate, from the arguments to the record; interrupts: what Ctrl-C does meanwhile
    request      what is asked, checked and brought to one batch; double_meanings: shapes that are not guessed at
    plant        the arm, its law, limits and energies as one graph of rates
    schemes/     one file for each integration scheme, and their registry; engines carries states along,
                 row_blocks in blocks that stay short
    control_laws, traced_laws          laws ready made; a user's law as a graph
    law_gradients                      how a motion's number depends on the gains of its law
    records, outcomes, stability       what comes out, how each motion ended, how stiff it was
    step_advice                        how long a step may be
    terms/                             which terms matter, and life without them
"""

from forearm.motion.motion_files import Recorded, read_motion, write_motion
from forearm.motion.motions import Fourier, Motion, Quintic, Retimed, Samples, Trapezoid, ViaPoints
from forearm.simulation.control_laws import ComputedTorque, FeedforwardPD, PDWithGravity, payload_numbers
from forearm.simulation.records import Outcome, Record
from forearm.simulation.run import simulate
from forearm.simulation.schemes import SCHEMES
from forearm.simulation.step_advice import StepAdvice, advise_step
from forearm.simulation.terms.significant_terms import (
    Significance,
    SpeedStudy,
    error_against_speed,
    significance,
)

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
