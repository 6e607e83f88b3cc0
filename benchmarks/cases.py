"""What is timed: data only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Batch:
    """One comparison: our kernel against peers, at one boundary."""

    arm: str
    quantity: str
    states: int = 100_000


BATCHES = (
    Batch("iiwa14", "inverse_dynamics"),
    Batch("puma560", "inverse_dynamics"),
    Batch("iiwa14", "forward_dynamics"),
    Batch("puma560", "forward_dynamics"),
    Batch("iiwa14", "mass_matrix"),
    Batch("puma560", "mass_matrix"),
    Batch("iiwa14", "derivatives"),
    Batch("panda", "inverse_dynamics"),
    Batch("panda", "forward_dynamics"),
)
"""Arrays (N, n) in C order, one thread, float64: a call of ours against the peer's own batch call or C loop."""

SINGLE = ("iiwa14", "puma560")
"""One state from Python: a call against a call."""

SMALL = (16, 256)
"""A few states in one call."""

CHAINS = (7, 100)
"""Joints of dense random arms: cost for each link."""
