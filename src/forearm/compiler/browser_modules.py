"""Simulations for browsers: an arm under a law as a step graph whose targets and gains are inputs; emit_wasm.

The law is compiled in, what it follows is not: a page hands over the target of the moment and asks for some steps.

    torque            tau                                   held during the steps
    pd                g(q) + kp (goal - q) + kd (rate - qd)
    computed_torque   M(q) (push + kd (rate - qd) + kp (goal - q)) + C qd + g + friction

Laws use the arm that the controller believes in: with a free payload, `believed` is the one it knows of.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.step_rules import RULES
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.free_parameters import PAYLOAD, port_name, port_shape
from forearm.compiler.pipeline import compile
from forearm.compiler.wasm.module_files import write_module
from forearm.compiler.wasm.wasm_rollout import WasmRollout
from forearm.faults import KernelFault, explained_first, names_of, yes_or_no
from forearm.outside.output_files import folder_of_files

LAWS = {"torque": "", "pd": "gravity_torque", "computed_torque": "inverse_dynamics"}
"""Laws, and the quantity of the believed arm that each is built on."""
METHODS = {"rk4": "rk4", "euler": "semi_implicit_euler"}
"""Schemes by the names that `simulate` has for them, and the rules they are."""
STATES = {"q": "qd", "qd": "qdd"}


def law_step(arm: Arm, law: str = "torque", free: Sequence[str] = ()) -> Graph:
    """Accelerations of an arm under a law, as a graph of the state, the law's targets and gains, and free parameters.

    Args:
        arm: The arm.
        law: "torque", "pd" or "computed_torque".
        free: Parameters of the arm that are inputs (see `compiler.model.free_parameters`).
    """
    if law not in LAWS:
        raise KernelFault(f"rollout: law is {law!r}; give {', '.join(map(repr, LAWS))}.")
    n, extra = arm.n, {port_name(path): port_shape(arm, path) for path in free}
    plant = compile(arm, "forward_dynamics", target="wasm", free=free).graph
    model = compile(arm, LAWS[law], target="wasm", free=free).graph if LAWS[law] else None
    targets: dict[str, tuple[int, ...]] = {"tau": (n,)}
    if model is not None:
        targets = {"goal": (n,), "rate": (n,), "push": (n,), "kp": (), "kd": ()}
        if law == "pd":
            del targets["push"]
    believed = {"believed": (10,)} if model is not None and PAYLOAD in extra else {}

    def accelerations(**v: Any) -> Any:
        tau = v.get("tau")
        if model is not None:
            error = v["kp"] * (v["goal"] - v["q"]) + v["kd"] * (v["rate"] - v["qd"])
            known = {**v, **({PAYLOAD: v["believed"]} if believed else {})}
            if law == "pd":
                tau = _only(apply(model, **_taken(model, known))) + error
            else:
                tau = _only(apply(model, **_taken(model, {**known, "qdd": v["push"] + error})))
        return _only(apply(plant, **_taken(plant, {**v, "tau": tau})))

    ports = {"q": (n,), "qd": (n,), **targets, **believed, **extra}
    name = f"{arm.name} under {law.replace('_', ' ')}"
    return lower(trace(accelerations, ports, name=name, outputs=("qdd",)), 0)


def _taken(graph: Graph, values: Mapping[str, Any]) -> dict[str, Any]:
    return {port.name: values[port.name] for port in graph.inputs}


def _only(found: Mapping[str, Any]) -> Any:
    return next(iter(found.values()))


def wasm_rollout(arm: Arm, method: str = "rk4", law: str = "torque", free: Sequence[str] = ()) -> WasmRollout:
    """A simulation of an arm under a law, as a WebAssembly module.

    Args:
        arm: The arm.
        method: "rk4", or "euler" for the semi-implicit scheme.
        law: "torque", "pd" or "computed_torque"; its targets and gains are inputs.
        free: Parameters of the arm that are inputs.

    Returns:
        The rollout; `.bytes` is the module, and a call runs it where wasmtime is installed.
    """
    if method not in METHODS:
        raise KernelFault(f"rollout: method is {method!r}; give {' or '.join(map(repr, METHODS))}.")
    return WasmRollout(law_step(arm, law, free), STATES, method=RULES[METHODS[method]])


@explained_first
def emit_wasm(
    arm: Arm,
    folder: str | Path,
    functions: Sequence[str] = ("inverse_dynamics",),
    *,
    free: Sequence[str] = (),
    rollouts: Sequence[str] = (),
    apart: bool = False,
) -> tuple[Path, Path, Path]:
    """Write WebAssembly of an arm: a module, a loader in plain JavaScript, and types for TypeScript.

    Args:
        arm: The arm; its numbers become constants.
        folder: Where `<arm>.wasm`, `<arm>.js` (with the module inside) and `<arm>.d.ts` go; made if it is not there.
        functions: Quantities: "inverse_dynamics", "mass_matrix", "gravity_torque", "forward_dynamics", ...
        free: Parameters that stay arguments: "payload" (in frame n; of a robot with branches in its tool's),
            "payload@tool", "gravity", "links[2].mass", ...
        rollouts: Simulations, as method and law: "rk4:torque", "rk4:computed_torque", "euler:pd", ...
        apart: Round products and sums apart in what divides by M, too (accelerations, their derivatives): ten times
            faster, with last digits that are not the CPU kernel's.

    Returns:
        Paths of module, loader and types. `import { load } from "./arm.js"; const arm = await load();` gives the
        functions by name; a rollout is called `rk4_torque`.
    """
    with folder_of_files(folder):  # tried before anything is computed for it
        return _emit(arm, folder, functions, free, rollouts, apart)


def _emit(
    arm: Arm,
    folder: str | Path,
    functions: Sequence[str],
    free: Sequence[str],
    rollouts: Sequence[str],
    apart: bool,
) -> tuple[Path, Path, Path]:
    functions, free = names_of(functions, "emit_wasm: functions"), names_of(free, "emit_wasm: free")
    graphs = {name: compile(arm, name, target="wasm", free=free).graph for name in functions}
    rolled = {}
    for words in names_of(rollouts, "emit_wasm: rollouts"):
        method, colon, law = words.partition(":")
        if not colon:
            raise KernelFault(
                f"emit: rollout is {words!r}; give method and law, such as 'rk4:computed_torque'."
            )
        rolled[f"{method}_{law}"] = wasm_rollout(arm, method, law, free)
    title = f"the arm {arm.name!r}, {arm.n} joints: {', '.join([*graphs, *rolled])}"
    return write_module(
        folder, title, arm.name, graphs, rolled, yes_or_no(apart, "emit_wasm: apart", KernelFault)
    )
