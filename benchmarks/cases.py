"""What is timed: data only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One comparison: our kernel against peers, at one boundary."""

    arm: str
    quantity: str
    states: int = 100_000


BATCHES = (
    Case("iiwa14", "inverse_dynamics"),
    Case("puma560", "inverse_dynamics"),
    Case("iiwa14", "forward_dynamics"),
    Case("puma560", "forward_dynamics"),
    Case("iiwa14", "mass_matrix"),
    Case("puma560", "mass_matrix"),
    Case("iiwa14", "derivatives"),
    Case("panda", "inverse_dynamics"),
    Case("panda", "forward_dynamics"),
)
"""Arrays (N, n) in C order, one thread, float64: a call of ours against the peer's own batch call or C loop."""

SINGLE = ("iiwa14", "puma560")
"""One state from Python: a call against a call."""

SMALL = (16, 256)
"""A few states in one call."""

CHAINS = (7, 100)
"""Joints of dense random arms: cost for each link."""
