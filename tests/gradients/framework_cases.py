"""What the tests of PyTorch and JAX share: quantities, their values by plain calls, one loss of all outputs."""

import importlib.util

import pytest

import forearm as fa

QUANTITIES = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "coriolis_matrix": 2,
    "gravity_torque": 1,
    "pose": 1,
    "jacobian": 1,
    "energy": 2,
}
"""Quantities, and how many of q, qd and the third array they take."""

FREE = ("inertial", "payload", "gravity")

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")


def state(arm, quantity, lead=(), seed=3):
    return arm.random_state(seed, lead)[: QUANTITIES[quantity]]


def plain(arm, quantity, *values):
    """What the plain call gives, as a tuple of arrays."""
    found = getattr(fa, quantity)(arm, *values)
    return tuple(found) if isinstance(found, tuple) else (found,)


def parts(found):
    return tuple(found) if isinstance(found, tuple) else (found,)


def weighed(function):
    """A loss that no output and no element is missing from: sums of squares, weighed."""

    def loss(*values):
        return sum((k + 1.5) * (x * x).sum() for k, x in enumerate(parts(function(*values))))

    return loss


torch_of_old_words = pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning")
"""PyTorch's forward mode uses a part of PyTorch that warns."""
