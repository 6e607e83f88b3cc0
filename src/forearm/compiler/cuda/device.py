"""The GPU at hand: whether there is one, what it is, programs in its memory, whose stream to take."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

from forearm.compiler.llvm.ptx.ptx_batches import DEFAULT_GPU
from forearm.faults import KernelFault

REGISTERS, LOCAL_BYTES = 4, 3  # CUfunction_attribute numbers of the driver


@cache
def missing_gpu() -> str | None:
    """Why the GPU cannot be used, in one sentence; None when it can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed; pip install 'forearm[gpu]' (and an NVIDIA driver) brings it"
    except Exception as error:
        return f"CuPy does not load: {error}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no NVIDIA GPU answers ({error})"
    return None if count else "there is no NVIDIA GPU"


def need_gpu(where: str) -> Any:
    """CuPy, or a fault that says what is missing."""
    why = missing_gpu()
    if why:
        raise KernelFault(f"{where}: target 'cuda' is not to be had: {why}.")
    import cupy

    return cupy


@cache
def device_name() -> str:
    """What LLVM calls this GPU's architecture: sm_90 and the like, no newer than LLVM knows."""
    import cupy

    major, minor = (int(x) for x in divmod(int(cupy.cuda.Device().compute_capability), 10))
    return f"sm_{major}{minor}" if (major, minor) <= (9, 0) else DEFAULT_GPU


class GpuProgram:
    """PTX in the GPU's memory."""

    def __init__(self, text: str, entry: str, where: str) -> None:
        cupy = need_gpu(where)
        self.module = cupy.cuda.function.Module()
        try:
            self.module.load(text.encode())
        except cupy.cuda.driver.CUDADriverError as error:
            raise KernelFault(
                f"{where}: the driver refused the PTX ({error}); it was written for {device_name()}."
            ) from None
        self.function = self.module.get_function(entry)

    @property
    def registers(self) -> int:
        """Registers of a thread, as the driver assembled it."""
        return self._attribute(REGISTERS)

    @property
    def spilled_bytes(self) -> int:
        """Bytes of a thread that did not fit into registers (local memory)."""
        return self._attribute(LOCAL_BYTES)

    def _attribute(self, number: int) -> int:
        """A number that the driver knows about the function."""
        from cupy.cuda import driver

        return int(driver.funcGetAttribute(number, self.function.ptr))


def stream_of(inputs: Sequence[Any]) -> Any:
    """The stream to launch on: PyTorch's current one for its arrays, CuPy's otherwise."""
    import cupy

    if any(type(v).__module__.partition(".")[0] == "torch" for v in inputs):
        import torch

        theirs = torch.cuda.current_stream()
        adopt = getattr(cupy.cuda.Stream, "from_external", None)
        return adopt(theirs) if adopt else cupy.cuda.ExternalStream(theirs.cuda_stream)
    return nullcontext()
