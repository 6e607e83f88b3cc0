"""The main job in one minute: a PUMA 560 picks and places, and a report tells what forearm does on the way."""

from forearm.demo.tour import Result, run_demo

__all__ = ["Result", "run_demo"]
