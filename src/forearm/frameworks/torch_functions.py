"""Quantities of an arm as functions of PyTorch tensors: compiled kernels that autograd and torch.func see through.

Values come from the same kernels as plain calls, on the CPU or on the GPU, where the tensors are, in their precision. A
derivative, backwards or forwards, is a kernel too, written from the graph; so is the derivative of that one, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.call.foreign_arrays import refuse_packed
from forearm.compiler.kernel import PRECISIONS
from forearm.compiler.pipeline import compile, ready_graph
from forearm.faults import KernelFault, StateFault, explained, names_of
from forearm.frameworks.derivative_kernels import DerivativeKernels, flat
from forearm.frameworks.framework_inputs import (
    Differentiable,
    check_arm,
    check_inputs,
    check_kind,
    plain_numbers,
    refuse_quaternions,
)
from forearm.outside.libraries.optional_libraries import optional
from forearm.results import results_of
from forearm.robot import Robot


@explained
def torch_function(
    arm: Arm | Robot, quantity: str = "inverse_dynamics", *, free: Sequence[str] = (), **options: Any
) -> Differentiable:
    """A quantity as a function of PyTorch tensors, on the CPU or on the GPU, where the tensors are.

    Gradients of any order work, backwards and forwards: `backward`, `torch.autograd.grad`, forward mode, and
    `torch.func` with `grad`, `jacrev`, `jacfwd`, `hessian` and `vmap`. Each new order compiles once.

    Args:
        arm: The arm; its numbers are folded into the code.
        quantity: What to compute, as in `compile`: "inverse_dynamics", "mass_matrix", "energy", ...
        free: Parameters that are inputs after the state, with gradients like it: "inertial", "payload", "gravity", ...
        **options: Of the quantity: `frame=` for pose and jacobian.

    Returns:
        A function of tensors (..., *shape), one for each input, leading axes broadcast: float64 or float32.
    """
    check_arm(arm)
    refuse_quaternions(arm, quantity)
    try:
        optional("torch")
    except ImportError:
        raise KernelFault(
            f"torch_function of {arm.name}: PyTorch is not installed. Install it with: pip install 'forearm[torch]'"
        ) from None
    return TorchFunction(arm, quantity, names_of(free, "torch_function: free"), options)


class TorchFunction:
    """A quantity of an arm as a function of tensors."""

    def __init__(
        self, arm: Arm | Robot, quantity: str, free: tuple[str, ...], options: dict[str, Any]
    ) -> None:
        self.arm, self.quantity, self.free, self.options = arm, quantity, free, options
        self.name = f"{quantity} of {arm.name}"
        described = compile(arm, quantity, free=free, **options).graph
        self.inputs, self.outputs = described.inputs, described.outputs
        self.program = DerivativeKernels(
            self.name,
            lambda: flat(ready_graph(arm, quantity, free, **options)),
            partial(compile, arm, quantity, free=free, **options),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from: models are saved and copied."""
        return TorchFunction, (self.arm, self.quantity, self.free, self.options)

    def __repr__(self) -> str:
        """What it computes, of what."""
        takes = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        return f"<TorchFunction {self.name}: ({takes})>"

    def __call__(self, *values: Any) -> Any:
        """The quantity; a named tuple where it has several outputs."""
        tensors = self._tensors(values)
        lead = check_inputs(self.arm, self.quantity, self.inputs, tensors)
        # PyTorch sums gradients over the axes that are stretched here
        stretched = [t.expand((*lead, *p.shape)) for p, t in zip(self.inputs, tensors, strict=True)]
        found = _kernel_function().apply(self.program, *stretched)
        parts = _parts(found, [port.shape for port in self.outputs])
        return parts[0] if len(parts) == 1 else results_of(p.name for p in self.outputs)(*parts)

    def _tensors(self, values: Sequence[Any]) -> list[Any]:
        """Tensors of one precision on one device; plain numbers beside them join them."""
        import torch

        names = [port.name for port in self.inputs]
        for name, value in zip(names, values, strict=False):
            check_kind(self.name, name, value, (torch.Tensor,), "PyTorch")
            if isinstance(value, torch.Tensor):
                refuse_packed(self.name, name, value)
        given = [v for v in values if isinstance(v, torch.Tensor)]
        if not given:
            raise StateFault(f"{self.name}: there is no tensor among its arguments; give PyTorch's tensors.")
        dtype = given[0].dtype
        for other in given[1:]:
            dtype = torch.promote_types(dtype, other.dtype)
        if str(dtype).rpartition(".")[2] not in PRECISIONS:
            raise StateFault(
                f"{self.name}: tensors are {dtype}; give torch.float64 or torch.float32 ({names[0]}.double())."
            )
        devices = {v.device for v in given}
        if len(devices) > 1 or given[0].device.type not in ("cpu", "cuda"):
            told = " and ".join(sorted(map(str, devices)))
            raise StateFault(
                f"{self.name}: tensors are on {told}; give all on one device, the CPU or a CUDA GPU."
            )
        device = given[0].device
        joined = partial(torch.tensor, dtype=dtype, device=device)
        return [
            v.to(dtype) if isinstance(v, torch.Tensor) else plain_numbers(self.name, name, v, joined)
            for name, v in zip([*names, *[""] * len(values)], values, strict=False)
        ]


def _parts(found: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """A flat result (..., total) as arrays (..., *shape) that follow each other in it."""
    sizes = [math.prod(shape) for shape in shapes]
    pieces = found.split(sizes, dim=-1) if len(sizes) > 1 else [found]
    return [x.reshape((*found.shape[:-1], *shape)) for x, shape in zip(pieces, shapes, strict=True)]


def _run(program: DerivativeKernels, values: Sequence[Any]) -> Any:
    """The kernel on plain tensors that have the same leading axes: (..., total)."""
    import torch

    device, dtype = values[0].device.type, str(values[0].dtype).rpartition(".")[2]
    kernel = program.kernel(device, dtype)
    # zeros that PyTorch only pretends to have are made real; so are numbers that it only pretends to have negated
    plain = [v.detach().clone() if v._is_zerotensor() else v.detach().resolve_neg() for v in values]
    lead = tuple(plain[0].shape[: plain[0].dim() - len(kernel.graph.inputs[0].shape)])
    if (
        program.first is None and not lead
    ):  # what is no state, but a rate or a weight, may be NaN: as in a batch
        plain = [v.unsqueeze(0) for v in plain]
    found = kernel(*(plain if device == "cuda" else [v.numpy() for v in plain]))
    several = found if isinstance(found, tuple) else (found,)
    shapes = [(*lead, math.prod(port.shape)) for port in kernel.graph.outputs]
    if device == "cuda":
        rows = [x.reshape(shape) for x, shape in zip(several, shapes, strict=True)]
    else:
        rows = [torch.from_numpy(np.reshape(x, shape)) for x, shape in zip(several, shapes, strict=True)]
    # a view that is made in here could not be written into later
    return torch.cat(rows, dim=-1) if len(rows) > 1 or rows[0]._is_view() else rows[0]


@cache
def _kernel_function() -> Any:
    """The class that PyTorch's transformations see: one for all graphs, the graph its first argument."""
    import torch

    class KernelFunction(torch.autograd.Function):  # type: ignore[misc]
        """A graph of inputs with the same leading axes; its derivatives are such functions, too."""

        @staticmethod
        def forward(program: DerivativeKernels, *values: Any) -> Any:
            return _run(program, values)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.program, *values = inputs
            ctx.save_for_backward(*values)
            ctx.save_for_forward(*values)

        @staticmethod
        def backward(ctx: Any, weight: Any) -> Any:
            values = ctx.saved_tensors
            wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
            found = KernelFunction.apply(ctx.program.pulled(tuple(wanted)), *values, weight)
            shapes = [port.shape for port in ctx.program.graph.inputs]
            slopes: list[Any] = [None] * len(values)
            for k, slope in zip(wanted, _parts(found, [shapes[k] for k in wanted]), strict=True):
                slopes[k] = slope
            return None, *slopes

        @staticmethod
        def jvp(ctx: Any, _: Any, *rates: Any) -> Any:
            moving = [k for k, rate in enumerate(rates) if rate is not None]
            program = ctx.program.pushed(tuple(moving))
            return KernelFunction.apply(program, *ctx.saved_tensors, *(rates[k] for k in moving))

        @staticmethod
        def vmap(info: Any, in_dims: Any, program: DerivativeKernels, *values: Any) -> Any:
            pairs = zip(values, in_dims[1:], strict=True)
            rows = [v.movedim(dim, 0) if dim is not None else v.unsqueeze(0) for v, dim in pairs]
            # every input has the same leading axes already: the new one comes before them
            return KernelFunction.apply(program, *(v.expand(info.batch_size, *v.shape[1:]) for v in rows)), 0

    return KernelFunction
