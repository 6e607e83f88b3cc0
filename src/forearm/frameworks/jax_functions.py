"""Quantities of an arm as functions of JAX arrays: jax.numpy operations, which JAX differentiates itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.pipeline import ready_graph
from forearm.compiler.sources.jax_operations import to_jax
from forearm.faults import KernelFault, explained, names_of, yes_or_no
from forearm.frameworks.framework_inputs import (
    Differentiable,
    check_arm,
    check_inputs,
    check_kind,
    plain_numbers,
    refuse_quaternions,
)
from forearm.frameworks.jax_callbacks import callback_function
from forearm.outside.libraries.optional_libraries import optional
from forearm.robot import Robot


@explained
def jax_function(
    arm: Arm | Robot,
    quantity: str = "inverse_dynamics",
    *,
    free: Sequence[str] = (),
    compiled: bool = False,
    **options: Any,
) -> Differentiable:
    """A quantity as a function of JAX arrays that jit, vmap, grad, jacfwd, hessian and lax.scan take.

    Args:
        arm: The arm; its numbers are constants of the function.
        quantity: What to compute, as in `compile`: "inverse_dynamics", "mass_matrix", "energy", ...
        free: Parameters that are inputs after the state, with gradients like it: "inertial", "payload", "gravity", ...
        compiled: Whether values and first derivatives of inverse_dynamics and forward_dynamics come from our own
            kernels, on the CPU through a callback: for large batches there. Otherwise everything is JAX's, on the
            CPU, the GPU or a TPU, without a callback.
        **options: Of the quantity: `frame=` for pose and jacobian.

    Returns:
        A function of arrays (..., *shape), one for each input, leading axes broadcast.
    """
    check_arm(arm)
    free = names_of(free, "jax_function: free")
    refuse_quaternions(arm, quantity)
    try:
        jax = optional("jax")
    except ImportError:
        raise KernelFault(
            f"jax_function of {arm.name}: JAX is not installed. Install it with: pip install 'forearm[jax]'"
        ) from None
    if yes_or_no(compiled, "jax_function: compiled", KernelFault):
        inner, ports = callback_function(arm, quantity, free, options)
    else:
        graph = ready_graph(arm, quantity, free, **options)
        inner, ports = to_jax(graph), graph.inputs
    # outside jit JAX compiles derivatives and callbacks anew at every call, and keeps them all
    kept = jax.jit(inner)
    where = f"{quantity} of {arm.name}"

    def function(*values: Any) -> Any:
        for port, value in zip(ports, values, strict=False):
            check_kind(where, port.name, value, (jax.Array, np.ndarray), "JAX")
        names = [*(port.name for port in ports), *[""] * len(values)]
        arrays = [plain_numbers(where, n, v, jax.numpy.asarray) for n, v in zip(names, values, strict=False)]
        check_inputs(arm, quantity, ports, arrays)
        return kept(*arrays)

    function.__name__, function.__doc__ = quantity, f"{quantity} of {arm.name}."
    return function
