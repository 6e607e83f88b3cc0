"""The numbers of a real arm from measurements: identification, exciting motions, payloads, watching.

procedure          `identify`, step by step; identified is what it gives, report its page
measured/          logs and filters
broken_logs/       what is wrong with a log: refused, or mended on request
torque_rows        the rows of the fit: torques and columns, filtered alike
drive_columns      friction, offsets and rotors as columns of the regressor
base_columns       which combinations of parameters torques can tell, by numbers
least_squares      ordinary and weighted, with honest intervals
consistent_fit     the convex problem: bodies that can be, near the given arm, checked exactly
payload            what is in the gripper
resting_joints     where joints rest, and what their dry friction may hide then
excitation         motions that show the parameters
drive_gains        gains of drives, where a second log has a known load
observation        what pushes the arm, online and in a log
"""

from forearm.identification.base_columns import BaseColumns, base_parameters
from forearm.identification.excitation import Excitation, excite
from forearm.identification.identified import Identified
from forearm.identification.observation.momentum_observer import MomentumObserver, observer
from forearm.identification.observation.pushes import Push, Watched, watch
from forearm.identification.payload import Payload, identify_payload
from forearm.identification.procedure import identify

__all__ = [
    "BaseColumns",
    "Excitation",
    "Identified",
    "MomentumObserver",
    "Payload",
    "Push",
    "Watched",
    "base_parameters",
    "excite",
    "identify",
    "identify_payload",
    "observer",
    "watch",
]
