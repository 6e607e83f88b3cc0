"""Torques and accelerations inside PyTorch and JAX, with our exact derivatives as the rules for theirs.

torque = torch_function(arm, "inverse_dynamics")      # a differentiable function of tensors (..., n)
torque = jax_function(arm, "inverse_dynamics")        # jit, grad and vmap work; computed on the CPU
"""

from typing import Any, Protocol, TypeVar

import numpy as np

from forearm.arm import Arm
from forearm.compiler.pipeline import compile
from forearm.faults import KernelFault

Tensor = TypeVar("Tensor")


class Differentiable(Protocol):
    """A function of arrays of one library, three of them (..., n), that gives one of the same library."""

    def __call__(self, *values: Tensor) -> Tensor:
        """The torques, or accelerations."""


RULES = {
    "inverse_dynamics": (("q", "qd", "qdd"), "derivatives"),
    "forward_dynamics": (("q", "qd", "tau"), "forward_derivatives"),
}
"""Inputs of each differentiable quantity, and the quantity that holds its derivatives."""


def _rule(quantity: str) -> tuple[tuple[str, ...], str]:
    if quantity not in RULES:
        raise KernelFault(f"no derivative rule for {quantity!r}; there are {', '.join(RULES)}.")
    return RULES[quantity]


def _slopes(arm: Arm, quantity: str, kernels: dict[str, Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """d output/d input for each of the three inputs, (..., n, n)."""
    by = kernels["slopes"](*values)
    if quantity == "inverse_dynamics":
        return (*by, kernels["mass"](values[0]))
    return tuple(by)


def _kernels(arm: Arm, quantity: str, **how: Any) -> dict[str, Any]:
    _, slopes = _rule(quantity)
    found = {"value": compile(arm, quantity, **how), "slopes": compile(arm, slopes, **how)}
    if quantity == "inverse_dynamics":
        found["mass"] = compile(arm, "mass_matrix", **how)
    return found


def torch_function(arm: Arm, quantity: str = "inverse_dynamics", dtype: str = "float64") -> Differentiable:
    """A differentiable function of PyTorch tensors (..., n), on the CPU or on the GPU, where the tensors are."""
    _rule(quantity)
    import torch

    made: dict[str, dict[str, Any]] = {}

    def kernels(device: str) -> dict[str, Any]:
        if device not in made:
            how = {"target": "cuda", "layout": "rows"} if device == "cuda" else {}
            made[device] = _kernels(arm, quantity, dtype=dtype, **how)
        return made[device]

    def run(kernel: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if values[0].device.type == "cuda":
            found = kernel(*(v.contiguous() for v in values))
        else:
            found = kernel(*(v.numpy() for v in values))
        several = found if isinstance(found, tuple) else (found,)
        return tuple(torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in several)

    class Function(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            ctx.save_for_backward(*values)
            plain = tuple(v.detach() for v in values)
            return run(kernels(values[0].device.type)["value"], plain)[0]

        @staticmethod
        def backward(ctx: Any, weight: Any) -> Any:
            values = tuple(v.detach() for v in ctx.saved_tensors)
            have = kernels(values[0].device.type)
            wrapped = {k: (lambda *v, kernel=kernel: run(kernel, v)) for k, kernel in have.items()}
            by = wrapped["slopes"](*values)
            by = (*by, *wrapped["mass"](values[0])) if "mass" in wrapped else by
            return tuple((weight.unsqueeze(-2) @ slope).squeeze(-2) for slope in by)

    def function(*values: Any) -> Any:
        return Function.apply(*torch.broadcast_tensors(*values))

    function.__doc__ = f"{quantity} of {arm.name} with exact gradients."
    return function


def jax_function(arm: Arm, quantity: str = "inverse_dynamics") -> Differentiable:
    """A function of JAX arrays (..., n) that jit, grad and vmap take; it computes on the CPU through a callback."""
    _rule(quantity)
    import jax
    import jax.numpy as jnp

    kernels = _kernels(arm, quantity)

    def call(kernel: Any, shape: tuple[int, ...], values: tuple[Any, ...]) -> Any:
        lead = jnp.broadcast_shapes(*(v.shape[:-1] for v in values))
        kind = jax.ShapeDtypeStruct(lead + shape, values[0].dtype)

        def compute(*arrays: Any) -> Any:
            found = kernel(*(np.asarray(a, dtype=np.float64) for a in arrays))
            return np.asarray(found, dtype=kind.dtype)

        return jax.pure_callback(compute, kind, *values, vmap_method="expand_dims")

    n = arm.n

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*values: Any) -> Any:
        return call(kernels["value"], (n,), values)

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(values: Any, rates: Any) -> Any:
        total = 0.0
        for k, rate in enumerate(rates):
            slope = call(lambda *v, k=k: _slopes(arm, quantity, kernels, v)[k], (n, n), values)
            total = total + jnp.einsum("...ij,...j->...i", slope, rate)
        return function(*values), total

    return function  # type: ignore[no-any-return]
