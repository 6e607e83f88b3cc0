"""C code of an arm for a controller: choose the quantities, get a header, a source and a self-test."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import forearm
from forearm.arm import Arm
from forearm.compiler.model.base_parameters import reach_of
from forearm.compiler.model.choice import best_graph
from forearm.compiler.model.free_parameters import INERTIAL, current, is_payload, port_name
from forearm.compiler.sources.c99 import write_c
from forearm.compiler.sources.parameter_structs import struct_of
from forearm.faults import KernelFault, explained_first, names_of, precision
from forearm.free_base import PLACE, SPEED
from forearm.inertia import SIX
from forearm.outside.output_files import folder_of_files
from forearm.robot import Robot

STATES = 100
"""Vectors of the self-test."""


@explained_first
def emit_c(
    arm: Arm | Robot,
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
        free: Parameters that stay arguments: "payload" (in frame n; of a robot with branches or a free base in its
            tool's), "payload@tool" (in the frame tool, or any other), "links[2].mass", ... (a struct for those with
            several numbers).

    Returns:
        Paths of header, source and self-test; compile the last two together and run: it says PASS.
    """
    return emit_c_with({}, arm, folder, functions, dtype, free)


def emit_c_with(
    beside: Mapping[str, str],
    arm: Arm | Robot,
    folder: str | Path,
    functions: Sequence[str],
    dtype: str = "float64",
    free: Sequence[str] = (),
) -> tuple[Path, Path, Path]:
    """The same with more files that belong to these, by name; the folder is tried before anything is computed."""
    with folder_of_files(folder):
        return _emit(beside, arm, folder, functions, dtype, free)


def _emit(
    beside: Mapping[str, str],
    arm: Arm | Robot,
    folder: str | Path,
    functions: Sequence[str],
    dtype: str,
    free: Sequence[str],
) -> tuple[Path, Path, Path]:
    graphs, states = {}, {}
    real = precision(dtype, f"C code of {arm.name!r}: dtype", KernelFault).name
    functions, free = names_of(functions, "emit_c: functions"), names_of(free, "emit_c: free")
    for function in functions:
        graph, _ = best_graph(arm, function, free, precision=real)
        graphs[function] = graph
        states[function] = _states(arm, graph, free)
    found = {port_name(path): struct for path in free if (struct := struct_of(arm, path))}
    structs = {name: tuple(members) for name, (_, members) in found.items()}
    meanings = {name: (said, *members.values()) for name, (said, members) in found.items()}
    notes = [
        f"Written by forearm {forearm.__version__} for the arm {arm.name!r}, {arm.n} joints.",
        *(f"{what}: {source}" for what, source in arm.provenance),
        *_numbers_of_a_state(arm),
        *(f"Free: {path}" for path in free),
    ]
    return write_c(folder, graphs, arm.name, real, structs, states, notes, meanings, beside)


def _numbers_of_a_state(arm: Arm | Robot) -> list[str]:
    """What the numbers of q, and of its rates and torques, are, in order."""
    joints = ", ".join(arm.joint_names)
    if isinstance(arm, Arm) or not arm.free:
        return [f"q, qd, qdd, tau: joints {joints}, in this order."]
    return [
        f"q: {', '.join(PLACE)} (in the world), then joints {joints}, in this order.",
        f"qd, qdd, tau: {', '.join(SPEED)} (in the base's own axes; of tau force and moment), then the joints.",
    ]


def _states(arm: Arm | Robot, graph: Any, free: Sequence[str]) -> dict[str, Any]:
    """Inputs of the self-test: random states, free parameters near their own values."""
    rng = np.random.default_rng(0)
    q, qd, qdd = arm.random_state(rng, (STATES,))
    given = {"q": q, "qd": qd, "qdd": qdd, "wrench": rng.uniform(-5, 5, (STATES, 6))}
    given["dt"] = rng.uniform(1e-4, 1e-3, STATES)
    given["point"] = (_reach(arm) or 1.0) * rng.uniform(-1, 1, (STATES, 3))
    for path in free:
        given[port_name(path)] = _bodies(arm, rng) if is_payload(path) else _near(arm, path, rng)
    for port in graph.inputs:  # torques, weights, directions: of the size of accelerations, or of their own
        own = qdd if port.shape == qdd.shape[1:] else rng.uniform(-1, 1, (STATES, *port.shape))
        given.setdefault(port.name, own)
    return {port.name: given[port.name] for port in graph.inputs}


def _bodies(arm: Arm | Robot, rng: np.random.Generator) -> Any:
    """Payloads that a rigid body can have, of masses and lengths like the arm's own (STATES, 10)."""
    size = (_reach(arm) or 1.0) / 10
    mass = (float(arm.total_mass) if arm.dynamics else 1.0) / 10 * rng.uniform(0.5, 1.5, STATES)
    points = size * rng.uniform(-1, 1, (STATES, 4, 3))  # four equal masses
    parts = np.einsum("skc,skc->s", points, points)[:, None, None] * np.eye(3)
    tensor = (parts - np.einsum("ski,skj->sij", points, points)) * mass[:, None, None] / 4
    rows = [tensor[:, i, j] for i, j in SIX]
    return np.column_stack([mass, mass[:, None] * points.mean(axis=1), *rows])


def _reach(arm: Arm | Robot) -> float:
    """The length of all links together [m]."""
    return (
        reach_of(arm)
        if isinstance(arm, Arm)
        else sum(float(np.linalg.norm(x.translation)) for x in arm.mounts)
    )


def _near(arm: Arm | Robot, path: str, rng: np.random.Generator) -> Any:
    """A free parameter within a tenth of its own value; a tensor is only scaled, so that it stays a body's."""
    own = np.asarray(current(arm, path), dtype=float)
    if path.endswith(".inertia") or path == INERTIAL:
        return own * rng.uniform(0.9, 1.1, (STATES, *[1] * own.ndim))
    largest = float(np.max(np.abs(own), initial=0.0)) or 0.1
    return own + 0.1 * largest * rng.uniform(0 if not np.any(own) else -1, 1, (STATES, *own.shape))
