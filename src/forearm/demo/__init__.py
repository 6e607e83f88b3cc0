"""The main job in one minute: a PUMA 560 picks and places, and a report tells what forearm does on the way.

task      what the arm is to do
control   computed torque at 1 kHz along it
tour      all of it in order, and the page
"""

from forearm.demo.tour import Result, run_demo

__all__ = ["Result", "run_demo"]
