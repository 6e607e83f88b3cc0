"""Ways to run a kernel, each held against the same quantity interpreted."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from forearm import arm_calls, dynamics
from forearm.arm import Arm
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.sources.numpy_source import to_numpy
from forearm.robot import Robot
from forearm.verification.proof.agreement import scale_of
from forearm.verification.proof.magnitudes import TOLERANCE, Magnitudes

COMPILED = (
    "inverse_dynamics",
    "mass_matrix",
    "gravity_torque",
    "bias_torque",
    "coriolis_matrix",
    "forward_dynamics",
)


SINGLE = 64 * float(np.finfo(np.float32).eps)
"""The tolerance in single precision."""


def targets(arm: Arm | Robot, quantity: str) -> Iterator[tuple[str, float, Callable[[list[Any]], Any]]]:
    """Ways to run a kernel: name, tolerance, function of a batch of inputs."""
    function = getattr(dynamics, quantity)
    yield "machine code, a batch", TOLERANCE, lambda batch: function(arm, *batch)
    yield (
        "machine code, one by one",
        TOLERANCE,
        lambda batch: [function(arm, *one) for one in zip(*batch, strict=True)],
    )
    yield "NumPy", TOLERANCE, lambda batch: to_numpy(arm_calls.kernel_of(arm, quantity).graph)(*batch)
    if quantity == "inverse_dynamics":
        yield "machine code, float32", SINGLE, lambda batch: _single_precision(arm, quantity, batch)


def _single_precision(arm: Arm | Robot, quantity: str, batch: list[Any]) -> Any:
    kernel = arm_calls.kernel_of(arm, quantity, dtype="float32")
    return np.asarray(kernel(*(values.astype(np.float32) for values in batch)), dtype=float)


def kernel_scale(sizes: Magnitudes, model: Any, quantity: str, at: Any, want: Any) -> Any:
    """The magnitudes that are added up for each element of what a kernel gives, drives included, at a state."""
    q, qd, qdd = at
    M = np.asarray(evaluated(model, "mass_matrix", q), dtype=float)
    return scale_of(quantity, sizes, M, qd, want if quantity == "forward_dynamics" else qdd)
