"""From an arm and a quantity to a kernel: choose the formulation, trace it, simplify, compile.

What the choice (choice.py) and the passes make of an arm is kept on disk, beside the object code: a new process
finds the graph there by the arm's fingerprint and loads neither formulations nor passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from forearm.arm import Arm
from forearm.compiler.graph.graph import Counts, Graph
from forearm.compiler.kernel import SEARCH, Kernel, KernelSubject, Why
from forearm.compiler.store import graphs
from forearm.compiler.store.files import graph_key
from forearm.faults import KernelFault, explained, names_of, needs_arm, precision, shown
from forearm.outside.running_log import LOG

if TYPE_CHECKING:
    from forearm.robot import Robot

LONG = 30
"""Joints of a chain beyond which torques, accelerations and M are loops over links instead of straight-line code."""

PATIENT = 20
"""Joints beyond which making straight-line code takes long enough to be told beforehand."""

TARGETS = {
    "cpu": "forearm.compiler.call.processor",
    "cuda": "forearm.compiler.cuda.gpu_kernel",
    "wasm": "forearm.compiler.wasm.wasm_kernel",
}
"""Where kernels can run: each module has `make_kernel(graph, *, dtype, name, subject, layout=its own)`."""


@explained
def compile(
    arm: Arm | Robot,
    quantity: str,
    *,
    dtype: str = "float64",
    target: str = "cpu",
    layout: str | None = None,
    free: Sequence[str] = (),
    formulation: str | None = None,
    **options: Any,
) -> Kernel:
    """A kernel for a quantity of an arm.

    Args:
        arm: The arm; its numbers are folded into the code.
        quantity: What to compute: a key of `compiler.model.quantities.QUANTITIES`, such as "inverse_dynamics".
        dtype: "float64", or "float32" where asked for (`kernel.accuracy` measures what it costs).
        target: "cpu", "cuda" for a kernel of GPU arrays (see `cuda`), or "wasm" for browsers (see `wasm`; `.bytes`).
        layout: "rows" for arrays (..., n), the default on the CPU; "columns" for (n, N), the default on the GPU.
        free: Parameters that stay inputs, after the state: "inertial", "payload", "links[2].mass", ...
            (see `compiler.model.free_parameters`).
        formulation: A stem to use for torques, or "search" to trace all and keep the cheapest.
        **options: Of the quantity: `frame=` for pose, jacobian and wrench_torque, `local=` for wrench_torque.

    Returns:
        The kernel. `kernel.why` tells what was chosen from what, `kernel.counts` what it costs.
    """
    needs_arm(arm)
    if target not in TARGETS:
        raise KernelFault(f"compile: target is {shown(target)}; give {' or '.join(map(repr, TARGETS))}.")
    free = names_of(free, "compile: free", kind=KernelFault)
    name = f"{quantity} of {arm.name}"
    chain = isinstance(arm, Arm)
    if chain and arm.n > LONG and target == "cpu" and not free and not options and arm.dynamics:
        looped = _looped(arm, quantity, name, dtype, layout or "rows", formulation)  # type: ignore[arg-type]
        if looped is not None:
            return looped
    real = precision(dtype, f"{name}: dtype", KernelFault).name
    lowered, why, solves = _ready(arm, quantity, tuple(free), formulation, options, real)
    subject = KernelSubject(arm, solves, why)
    how = {"layout": layout} if layout else {}
    make = import_module(TARGETS[target]).make_kernel
    kernel: Kernel = make(lowered, dtype=dtype, name=name, subject=subject, **how)
    return kernel


def ready_graph(arm: Arm | Robot, quantity: str, free: Sequence[str] = (), **options: Any) -> Graph:
    """The graph that `compile` would turn into straight-line code, for those who write it down otherwise."""
    return _ready(arm, quantity, names_of(free, "free", kind=KernelFault), None, options)[0]


def graph_kernel(graph: Graph, *, target: str = "cpu", **how: Any) -> Kernel:
    """A kernel for a graph of its own, fused and ordered; `how` as in `compile`, and `name`."""
    from forearm.compiler.graph.passes import form_fma, schedule

    made: Kernel = import_module(TARGETS[target]).make_kernel(schedule(form_fma(graph)), **how)
    return made


PLAIN = (str, int, float, tuple, type(None))
"""Types of options whose text says all about them."""


def _ready(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...],
    formulation: str | None,
    options: dict[str, Any],
    real: str = "float64",
) -> tuple[Graph, Why, bool]:
    """The graph to compile, why this one, and whether it divides by M; from disk where it was made before."""
    key = None
    if formulation != SEARCH and all(isinstance(value, PLAIN) for value in options.values()):
        # repr: None is not 'None', and no name runs into the next
        asked = repr((arm.name, quantity, free, formulation, sorted(options.items()), real))
        key = graph_key("ready", arm.digest, asked)
        found = graphs.recall(key)
        if found is not None:
            graph, (chosen, candidates, source, solves) = found
            ranked = tuple((label, Counts(*counts)) for label, counts in candidates)
            return graph, Why(chosen, ranked, source), solves
    from forearm.compiler.graph.passes import form_fma, schedule
    from forearm.compiler.model.choice import best_graph
    from forearm.compiler.model.quantities import QUANTITIES

    if len(arm.links) > PATIENT:  # joints that follow others are work as well
        LOG.info(
            "%s of %s, %d joints, is written out as straight-line code: this may take minutes, once",
            *(quantity, arm.name, len(arm.links)),
            for_a_person=True,
        )
    graph, why = best_graph(arm, quantity, free, formulation, options, real)
    lowered, solves = schedule(form_fma(graph)), QUANTITIES[quantity].solves
    if key is not None:
        candidates = [(label, counts.numbers) for label, counts in why.candidates]
        graphs.keep(key, lowered, (why.chosen, candidates, why.source, solves))
    return lowered, why, solves


def _looped(
    arm: Arm, quantity: str, name: str, dtype: str, layout: str, formulation: str | None
) -> Kernel | None:
    """A quantity of a long chain as loops over its links; None where it, or the chain, does not repeat itself."""
    from forearm.compiler.call.chain_kernel import ChainKernel
    from forearm.compiler.model.chains.chain_sections import NoLoop
    from forearm.compiler.model.chains.long_chains import RECURSIONS, rolled

    if quantity not in RECURSIONS:
        return None
    try:
        chain = rolled(arm, formulation, quantity)
    except NoLoop as reason:
        LOG.info("%s of %s is compiled as straight-line code: %s", quantity, arm.name, reason)
        return None
    label = f"{chain.stem}, base parameters, loops over {arm.n} links"
    why = Why(label, ((label, chain.counts),), "long chain")
    subject = KernelSubject(arm, RECURSIONS[quantity].divides, why)
    kernel = ChainKernel(chain, dtype=dtype, layout=layout, name=name, subject=subject)
    return kernel if kernel.compiled else None  # the NumPy emitter knows no loops
