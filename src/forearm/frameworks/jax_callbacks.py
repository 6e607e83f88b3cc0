"""Torques and accelerations inside JAX by our kernels, on the CPU: values and first derivatives through a callback.

Derivatives of the first derivatives are JAX's own, of the same graph as jax.numpy operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.graph import Port
from forearm.compiler.pipeline import compile, ready_graph
from forearm.compiler.sources.jax_operations import to_jax
from forearm.faults import KernelFault
from forearm.frameworks.framework_inputs import Differentiable
from forearm.robot import Robot

RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "inverse_dynamics": (("derivatives", "dq"), ("derivatives", "dqd"), ("mass_matrix", "M")),
    "forward_dynamics": tuple(("forward_derivatives", by) for by in ("dq", "dqd", "dtau")),
}
"""For each input of a quantity, which output of which quantity is the derivative by it."""


def callback_function(
    arm: Arm | Robot, quantity: str, free: tuple[str, ...], options: dict[str, Any]
) -> tuple[Differentiable, Sequence[Port]]:
    """A quantity as a function of JAX arrays that calls our kernels on the CPU, and its inputs."""
    if quantity not in RULES or free or options:
        raise KernelFault(
            f"jax_function of {arm.name}: compiled=True is for {' and '.join(RULES)}, without free= and options; "
            "leave compiled= out."
        )
    import jax
    import jax.numpy as jnp

    kernel = compile(arm, quantity)
    ports, n = kernel.graph.inputs, arm.n

    def call(compute: Any, shape: tuple[int, ...], values: tuple[Any, ...]) -> Any:
        lead = jnp.broadcast_shapes(*(v.shape[:-1] for v in values))
        kind = jax.ShapeDtypeStruct(lead + shape, jnp.result_type(float, *values))

        def on_host(*arrays: Any) -> Any:
            return np.asarray(compute(*(np.asarray(a, dtype=np.float64) for a in arrays)), dtype=kind.dtype)

        return jax.pure_callback(on_host, kind, *values, vmap_method="expand_dims")

    def slope_by(name: str, output: str) -> Any:
        slopes, native = compile(arm, name), to_jax(ready_graph(arm, name))
        needed = len(slopes.graph.inputs)

        def chosen(found: Any) -> Any:
            return getattr(found, output) if isinstance(found, tuple) else found

        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def slope(*values: Any) -> Any:
            return call(lambda *v: chosen(slopes(*v[:needed])), (n, n), values)

        @slope.defjvp  # type: ignore[untyped-decorator]
        def rule_of_slope(values: Any, rates: Any) -> Any:
            return jax.jvp(lambda *v: _stretched(jnp, chosen(native(*v[:needed])), v), values, rates)

        return slope

    slopes = [slope_by(*row) for row in RULES[quantity]]

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*values: Any) -> Any:
        return call(kernel, (n,), values)

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(values: Any, rates: Any) -> Any:
        total: Any = 0.0
        for slope, rate in zip(slopes, rates, strict=True):
            total = total + jnp.einsum("...ij,...j->...i", slope(*values), rate)
        return function(*values), total

    return function, ports


def _stretched(jnp: Any, slope: Any, values: tuple[Any, ...]) -> Any:
    """A slope with the leading axes of all inputs, though it may not depend on all."""
    lead = jnp.broadcast_shapes(*(v.shape[:-1] for v in values))
    return jnp.broadcast_to(slope, (*lead, *slope.shape[-2:]))
