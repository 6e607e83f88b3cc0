"""A simulation on the GPU for arrays on the host: the same call as `rollout.Rollout`, rows in and rows out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from forearm.compiler.call import arguments
from forearm.compiler.call.rollout import Rolled
from forearm.compiler.cuda.gpu_rollout import GpuRollout
from forearm.compiler.graph.graph import Graph, Port


class HostRollout:
    """Sends rows over as columns, runs all steps in one launch, and brings rows back."""

    def __init__(
        self, graph: Graph, states: Mapping[str, str], *, dtype: str = "float64", **how: Any
    ) -> None:
        """Describe the simulation: arguments as for `GpuRollout`, in double precision unless told otherwise."""
        self.inner = GpuRollout(graph, states, dtype=dtype, **how)
        self.roles, self.name, self.dtype = self.inner.roles, self.inner.name, self.inner.dtype

    def __call__(
        self, *inputs: Any, dt: float, steps: int, every: int = 0, start: float = 0.0, threads: int = 1
    ) -> Rolled:
        """Run the simulation; `threads` is of no use here."""
        roles = self.roles
        taken = [np.asarray(value, dtype=self.dtype) for value in inputs]
        ports = [
            Port(p.name, (steps, *p.shape) if p.name in roles.per_step else p.shape) for p in roles.given
        ]
        batch = arguments.batch_shape(self.name, tuple(ports), taken, "rows")
        columns = [_columns(port, array, batch) for port, array in zip(ports, taken, strict=True)]
        end, record = self.inner(*columns, dt=dt, steps=steps, every=every, start=start)
        last = type(end)(*(_rows(x.get(), batch) for x in end))
        if record is None:
            return Rolled(last, None, np.empty(0))
        kept = type(record)(*(_recorded(x.get(), batch) for x in record))
        times = start + dt * every * np.arange(record[0].shape[0])
        return Rolled(last, kept, times)


def _columns(port: Port, array: Any, batch: tuple[int, ...]) -> Any:
    """(*batch, *shape) as (*shape, N); what is shared stays as it is."""
    if array.ndim == len(port.shape) and (batch or not port.shape):
        return array
    full = np.broadcast_to(array, (*batch, *port.shape)).reshape(-1, *port.shape)
    return np.ascontiguousarray(np.moveaxis(full, 0, -1))


def _rows(array: Any, batch: tuple[int, ...]) -> Any:
    """(*shape, N) as (*batch, *shape)."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 0)).reshape((*batch, *array.shape[:-1]))


def _recorded(array: Any, batch: tuple[int, ...]) -> Any:
    """(K, *shape, N) as (*batch, K, *shape)."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 0)).reshape((*batch, *array.shape[:-1]))
