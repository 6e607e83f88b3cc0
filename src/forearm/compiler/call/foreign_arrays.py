"""Arrays of other libraries: CuPy, PyTorch, JAX. Where they live decides where the work is done.

Arrays are taken where they lie, without a copy: on the host as NumPy arrays, on the GPU as CuPy arrays; results go
back as the kind that came in. Numbers, lists and tuples may stand beside any kind. Two kinds, or two devices, in one
call are refused: which one should the result be?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from forearm.faults import StateFault, no_array, not_emptied, rows_alike
from forearm.outside.signal_errors import pass_on_signals

HOMES = {"cupy": "CuPy", "torch": "PyTorch", "jax": "JAX", "jaxlib": "JAX"}
"""Libraries whose arrays are known, by the first word of their module."""

DLPACK_CUDA = 2  # kDLCUDA


@dataclass(frozen=True)
class Foreign:
    """The kind of array that a call was given."""

    library: str
    """'CuPy', 'PyTorch' or 'JAX'."""
    gpu: bool
    """Whether it lives on a GPU."""
    device: Any = field(default=None, compare=False)
    """Which device, where the library must be told (JAX)."""

    @property
    def xp(self) -> Any:
        """NumPy, or its counterpart for arrays on the GPU."""
        if not self.gpu:
            return np
        import cupy

        return cupy

    def native(self, value: Any) -> Any:
        """An array of ours on the same memory: NumPy's, or CuPy's on the GPU; what is no array stays as it is."""
        if library_of(value) is None or (self.library == "CuPy"):
            return value
        if self.gpu:
            return self.xp.from_dlpack(value.detach() if self.library == "PyTorch" else value)
        try:
            return value.detach().resolve_neg().numpy() if self.library == "PyTorch" else np.asarray(value)
        except Exception as error:  # a dtype that NumPy does not have (bfloat16), memory that is given back
            pass_on_signals()
            raise no_array(f"an array of {self.library}", value, error) from error

    def natives(self, out: Any) -> Any:
        """`out` as arrays of ours on the same memory."""
        if out is None:
            return None
        if self.library == "JAX":
            raise StateFault("out is a JAX array, which cannot be written into; leave it out.")
        given = out if isinstance(out, tuple) else (out,)
        for x in given:
            if library_of(x) != self.library:
                raise StateFault(
                    f"out is {type(x).__name__}; give what {self.library} makes, as the states are."
                )
            not_emptied(x, "out")
        if self.library == "PyTorch" and any(x.is_neg() for x in given):
            raise StateFault("out is a tensor whose sign is put off (is_neg); give one of its own memory.")
        return tuple(map(self.native, out)) if isinstance(out, tuple) else self.native(out)

    def back(self, result: Any) -> Any:
        """A result as the kind that came in: arrays, tuples of them, and values that hold them."""
        if is_dataclass(result) and not isinstance(result, type):
            return replace(result, **{f.name: self.back(getattr(result, f.name)) for f in fields(result)})
        if isinstance(result, tuple):
            parts = [self.back(x) for x in result]
            return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        return self._returned()(result) if hasattr(result, "dtype") else result

    def _returned(self) -> Callable[[Any], Any]:
        if self.library == "PyTorch":
            import torch

            # of one state, an energy or a verdict is a NumPy scalar, which is no array to PyTorch
            return torch.from_dlpack if self.gpu else lambda array: torch.from_numpy(np.asarray(array))
        if self.library == "JAX":
            import jax

            return jax.dlpack.from_dlpack if self.gpu else lambda array: jax.device_put(array, self.device)
        return lambda array: array


def library_of(value: Any) -> str | None:
    """The library that an array is from; None for NumPy's, and for what is no array."""
    home = HOMES.get(type(value).__module__.partition(".")[0])
    asked = type(value) if home == "PyTorch" else value  # a nested tensor has none of its own
    return home if home and hasattr(asked, "shape") else None


def foreign_kind(where: str, names: Sequence[str], values: Sequence[Any]) -> Foreign | None:
    """The one kind of array among the values; None where all are NumPy's, or plain numbers."""
    kinds: dict[Foreign | str, str] = {}
    for name, value in zip(names, values, strict=True):
        library = library_of(value)
        if library is not None:
            _refuse_followed(where, name, value, library)
            if library == "PyTorch":
                refuse_packed(where, name, value)
                _refuse_elsewhere(where, name, value)
            elif library == "JAX":
                _refuse_gone_or_spread(where, name, value)
            kinds.setdefault(Foreign(library, _on_gpu(value), getattr(value, "device", None)), name)
        elif isinstance(value, np.ndarray):
            kinds.setdefault("NumPy", name)
    if len(kinds) > 1:
        told = ", ".join(f"{name} is {_told(kind)}" for kind, name in kinds.items())
        raise StateFault(f"{where}: {told}; give arrays of one library, on one device.")
    kind = next(iter(kinds), None)
    return kind if isinstance(kind, Foreign) else None


def on_natives(where: str, given: Mapping[str, Any], compute: Callable[..., Any]) -> Any:
    """`compute(xp, *arrays)` on arrays of ours, NumPy's or CuPy's; what it gives goes back as the kind that came in."""
    rows_alike(where, tuple(given), tuple(given.values()))
    kind = foreign_kind(where, tuple(given), tuple(given.values()))
    if kind is None:
        return compute(np, *given.values())
    return kind.back(compute(kind.xp, *map(kind.native, given.values())))


def on_host(where: str, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Values as NumPy's (copied from a GPU), and where they lived: 'cpu' or 'cuda'."""
    rows_alike(where, tuple(given), tuple(given.values()))
    kind = foreign_kind(where, tuple(given), tuple(given.values()))
    if kind is None:
        return *given.values(), "cpu"
    natives = map(kind.native, given.values())
    if not kind.gpu:
        return *natives, "cpu"
    return *(x.get() if hasattr(x, "get") and hasattr(x, "dtype") else x for x in natives), "cuda"


def _told(kind: Foreign | str) -> str:
    if isinstance(kind, str):
        return f"a {kind} array"
    return f"a {kind.library} array on the {'GPU' if kind.gpu else 'processor'}"


def _on_gpu(value: Any) -> bool:
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == DLPACK_CUDA


def follower(values: Sequence[Any]) -> str | None:
    """The library that follows what is done to any of the values, to differentiate, map or trace it; None for none."""
    for value in values:
        library = library_of(value)
        if library is not None and _followed(value, library):
            return library
    return None


def _followed(value: Any, library: str) -> bool:
    """Whether a plain call would lose what the library is doing: gradients, rates, a mapped axis, a trace."""
    if library == "JAX":
        import jax

        return isinstance(value, jax.core.Tracer)
    if library != "PyTorch":
        return False
    import torch
    from torch.autograd import forward_ad

    if value.requires_grad and torch.is_grad_enabled():
        return True
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        return True
    return forward_ad.unpack_dual(value).tangent is not None


def refuse_packed(where: str, name: str, value: Any) -> None:
    """Refuse tensors of PyTorch that are not plain rows of numbers in memory."""
    if value.is_nested or value.is_quantized or str(value.layout) != "torch.strided":
        kind = "nested" if value.is_nested else "quantized" if value.is_quantized else str(value.layout)
        raise StateFault(f"{where}: {name} is {kind}; give a dense tensor ({name}.to_dense()).")
    not_emptied(value, f"{where}: {name}")
    if str(value.dtype) == "torch.bfloat16":  # NumPy has none
        raise StateFault(
            f"{where}: {name} is {value.dtype}; give torch.float64 or torch.float32 ({name}.double())."
        )


def _refuse_elsewhere(where: str, name: str, value: Any) -> None:
    if value.device.type not in ("cpu", "cuda"):
        raise StateFault(f"{where}: {name} is on {value.device}; give it on the CPU or a CUDA GPU.")


def _refuse_gone_or_spread(where: str, name: str, value: Any) -> None:
    if value.is_deleted():
        raise StateFault(
            f"{where}: {name} is an array of JAX whose memory was given back (deleted, or donated to a call); give "
            "one that has it."
        )
    if len(value.devices()) > 1:
        raise StateFault(
            f"{where}: {name} is spread over {len(value.devices())} devices of JAX; call it in jax.jit, or give "
            f"jax.device_put({name}, jax.devices()[0])."
        )


def _refuse_followed(where: str, name: str, value: Any, library: str) -> None:
    """A derivative that would be lost in silence is refused."""
    if not _followed(value, library):
        return
    kept = "the functions of one quantity (fa.inverse_dynamics, fa.mass_matrix, ...) keep them"
    if library == "PyTorch":
        raise StateFault(
            f"{where}: {name} is followed by PyTorch (it requires gradients, or torch.func is at work), and this call "
            f"would lose its derivatives; {kept}, or give {name}.detach()."
        )
    raise StateFault(
        f"{where}: {name} is being traced by JAX (jit, grad or vmap), and this call would lose its derivatives; "
        f"{kept}, or call it outside."
    )
