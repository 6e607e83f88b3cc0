"""C code of an arm for a controller: choose the quantities, get a header, a source and a self-test."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import forearm
from forearm.arm import Arm
from forearm.compiler.model.choice import best_graph
from forearm.compiler.model.free_parameters import INERTIA_ORDER, PAYLOAD, current, port_name, port_shape
from forearm.compiler.sources.c99 import write_c
from forearm.inertia import TEN

STATES = 100
"""Vectors of the self-test."""


def emit_c(
    arm: Arm,
    folder: str | Path,
    functions: Sequence[str] = ("inverse_dynamics",),
    *,
    dtype: str = "float64",
    free: Sequence[str] = (),
) -> tuple[Path, Path, Path]:
    """Write C99 for a controller: no malloc, no globals, no libm beyond sin, cos and sqrt.

    Args:
        arm: The arm; its numbers become constants.
        folder: Where `<arm>.h`, `<arm>.c` and `<arm>_selftest.c` go; made if it is not there.
        functions: Quantities: "inverse_dynamics", "mass_matrix", "gravity_torque", "forward_dynamics", ...
        dtype: "float64" (double) or "float32" (float).
        free: Parameters that stay arguments: "payload", "links[2].mass", ... (a struct for those with several numbers).

    Returns:
        Paths of header, source and self-test; compile the last two together and run: it says PASS.
    """
    graphs, states = {}, {}
    for function in functions:
        graph, _ = best_graph(arm, function, tuple(free))
        graphs[function] = graph
        states[function] = _states(arm, graph, free)
    structs = {port_name(path): names for path in free if (names := _members(arm, path))}
    notes = [
        f"Written by forearm {forearm.__version__} for the arm {arm.name!r}, {arm.n} joints.",
        *(f"{what}: {source}" for what, source in arm.provenance),
        *(f"Free: {path}" for path in free),
    ]
    return write_c(folder, graphs, arm.name, dtype, structs, states, notes)


def _members(arm: Arm, path: str) -> tuple[str, ...]:
    """Names of the numbers of a free parameter; none for a single number."""
    if path == PAYLOAD:
        return TEN
    size = int(np.prod(port_shape(arm, path), dtype=int))
    if size == len(INERTIA_ORDER):
        return INERTIA_ORDER
    return ("x", "y", "z") if size == 3 else tuple(f"v{k}" for k in range(size)) if size > 1 else ()


def _states(arm: Arm, graph: Any, free: Sequence[str]) -> dict[str, Any]:
    """Inputs of the self-test: random states, free parameters near their own values."""
    rng = np.random.default_rng(0)
    q, qd, qdd = arm.random_state(rng, (STATES,))
    given = {"q": q, "qd": qd, "qdd": qdd}
    for path in free:
        own = np.asarray(current(arm, path), dtype=float)
        scale = np.where(own == 0, 0.1, np.abs(own))
        given[port_name(path)] = own + 0.1 * scale * rng.uniform(-1, 1, (STATES, *own.shape))
    return {port.name: given.get(port.name, qdd) for port in graph.inputs}
