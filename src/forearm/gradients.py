"""Torques and accelerations inside PyTorch and JAX, with our exact derivatives as the rules for theirs.

torque = torch_function(arm, "inverse_dynamics")      # a differentiable function of tensors (..., n)
torque = jax_function(arm, "inverse_dynamics")        # jit, grad and vmap work; computed on the CPU
"""

from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np

from forearm.arm import Arm
from forearm.compiler.pipeline import compile
from forearm.faults import KernelFault, StateFault, joint_shape
from forearm.robot import Robot

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


def _check(arm: Arm | Robot, quantity: str, values: tuple[Any, ...]) -> None:
    """Refuse what is not one array for each input, one number for each joint: these libraries would stretch a (1,)."""
    names, _ = RULES[quantity]
    if len(values) != len(names):
        raise StateFault(f"{quantity} of {arm.name}: got {len(values)} arrays; give 3: {', '.join(names)}.")
    for name, value in zip(names, values, strict=True):
        if not hasattr(value, "shape"):
            raise StateFault(
                f"{name} is a {type(value).__name__}; give an array of PyTorch or JAX (..., {arm.n})."
            )
        joint_shape(arm, name, tuple(value.shape))


def _no_second(quantity: str) -> NoReturn:
    """A derivative of a derivative, for which there is no rule."""
    raise KernelFault(
        f"{quantity}: its second derivative was asked for, and there are rules for the first only; take differences "
        f"of the first one, {RULES[quantity][1]}, or leave create_graph (PyTorch), hessian (JAX) out."
    )


def _slopes(
    arm: Arm | Robot, quantity: str, kernels: dict[str, Any], values: tuple[Any, ...]
) -> tuple[Any, ...]:
    """d output/d input for each of the three inputs, (..., n, n)."""
    by = kernels["slopes"](*values)
    if quantity == "inverse_dynamics":
        return (*by, kernels["mass"](values[0]))
    return tuple(by)


def _no_quaternions(arm: Arm | Robot, quantity: str) -> None:
    """Refuse a free base, whose seven numbers have no gradient of their own."""
    if isinstance(arm, Robot) and arm.free:
        raise KernelFault(
            f"{quantity} of {arm.name}: the seven numbers of a free base have no gradient of their own; take "
            "fa.derivatives, which are by small moves of the base, or fix the base (robot.fixed())."
        )


def _kernels(arm: Arm | Robot, quantity: str, **how: Any) -> dict[str, Any]:
    _, slopes = _rule(quantity)
    found = {"value": compile(arm, quantity, **how), "slopes": compile(arm, slopes, **how)}
    if quantity == "inverse_dynamics":
        found["mass"] = compile(arm, "mass_matrix", **how)
    return found


def torch_function(
    arm: Arm | Robot, quantity: str = "inverse_dynamics", dtype: str = "float64"
) -> Differentiable:
    """A differentiable function of PyTorch tensors (..., n), on the CPU or on the GPU, where the tensors are."""
    _rule(quantity)
    _no_quaternions(arm, quantity)
    import torch

    made: dict[str, dict[str, Any]] = {}

    def kernels(device: str) -> dict[str, Any]:
        if device not in made:
            how = {"target": "cuda", "layout": "rows"} if device == "cuda" else {}
            made[device] = _kernels(arm, quantity, dtype=dtype, **how)
        return made[device]

    def run(kernel: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        plain = tuple(v.detach() for v in values)
        if plain[0].device.type == "cuda":
            found = kernel(*(v.contiguous() for v in plain))
        else:
            found = kernel(*(v.numpy() for v in plain))
        several = found if isinstance(found, tuple) else (found,)
        return tuple(torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in several)

    class Gradient(torch.autograd.Function):  # type: ignore[misc]
        """weightᵀ d output/d input for each input; a function of its own, which refuses to be differentiated."""

        @staticmethod
        def forward(ctx: Any, weight: Any, *values: Any) -> Any:
            have = kernels(values[0].device.type)
            by = run(have["slopes"], values)
            by = (*by, *run(have["mass"], values[:1])) if "mass" in have else by
            return tuple((weight.unsqueeze(-2) @ slope.to(weight.dtype)).squeeze(-2) for slope in by)

        @staticmethod
        def backward(ctx: Any, *_: Any) -> NoReturn:
            _no_second(quantity)

    class Function(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            ctx.save_for_backward(*values)
            return run(kernels(values[0].device.type)["value"], values)[0]

        @staticmethod
        def backward(ctx: Any, weight: Any) -> Any:
            return Gradient.apply(weight, *ctx.saved_tensors)

    def function(*values: Any) -> Any:
        _check(arm, quantity, values)
        return Function.apply(*torch.broadcast_tensors(*values))

    function.__doc__ = f"{quantity} of {arm.name} with exact gradients."
    return function


def jax_function(arm: Arm | Robot, quantity: str = "inverse_dynamics") -> Differentiable:
    """A function of JAX arrays (..., n) that jit, grad and vmap take; it computes on the CPU through a callback."""
    _rule(quantity)
    _no_quaternions(arm, quantity)
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

    def slope_by(k: int) -> Any:
        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def slope(*values: Any) -> Any:
            return call(lambda *v: _slopes(arm, quantity, kernels, v)[k], (n, n), values)

        @slope.defjvp  # type: ignore[untyped-decorator]
        def rule_of_slope(values: Any, rates: Any) -> NoReturn:
            _no_second(quantity)

        return slope

    slopes = [slope_by(k) for k in range(3)]

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*values: Any) -> Any:
        _check(arm, quantity, values)
        return call(kernels["value"], (n,), values)

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(values: Any, rates: Any) -> Any:
        total = 0.0
        for k, rate in enumerate(rates):
            total = total + jnp.einsum("...ij,...j->...i", slopes[k](*values), rate)
        return function(*values), total

    return function  # type: ignore[no-any-return]
