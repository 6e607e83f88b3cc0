"""Where a kernel runs: 'cpu', 'cuda', or 'auto' (the GPU for arrays that live there, the CPU otherwise)."""

from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.cuda.gpu import missing_gpu
from forearm.compiler.pipeline import compile
from forearm.faults import KernelFault

TARGETS = ("cpu", "cuda", "auto")


def on_gpu(values: tuple[Any, ...]) -> bool:
    """Whether any of the arrays lives on a GPU (CuPy, or a DLPack array that says so)."""
    for value in values:
        device = getattr(value, "__dlpack_device__", None)
        if device is not None and int(device()[0]) == 2:  # kDLCUDA
            return True
    return False


def resolve(target: str, values: tuple[Any, ...]) -> str:
    """'cpu' or 'cuda'."""
    if target not in TARGETS:
        raise KernelFault(f"target is {target!r}; give one of {', '.join(TARGETS)}.")
    if target != "auto":
        return target
    return "cuda" if on_gpu(values) and missing_gpu() is None else "cpu"


def on_cuda(arm: Arm, quantity: str, values: tuple[Any, ...], out: Any) -> Any:
    """A quantity of GPU arrays (..., n), by the arm's own kernel for their precision."""
    if (why := missing_gpu()) is not None:
        raise KernelFault(f"{quantity} of {arm.name}: target 'cuda' is not to be had: {why}.")
    values = tuple(value if hasattr(value, "dtype") else np.asarray(value, dtype=float) for value in values)
    dtype = str(values[0].dtype).rpartition(".")[2]
    key = (quantity, "cuda", dtype)
    kernel = arm.kernels.get(key)
    if kernel is None:
        kernel = arm.kernels[key] = compile(arm, quantity, dtype=dtype, target="cuda", layout="rows")
    return kernel(*values, out=out)
