"""A module with what calls it: a loader in plain JavaScript with the module inside, and its types for TypeScript."""

import base64
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from forearm import __version__
from forearm.compiler.graph.graph import Graph
from forearm.compiler.sources.identifiers import file_stem, identifier
from forearm.compiler.wasm.graph_functions import graphs_module
from forearm.compiler.wasm.wasm_rollout import WasmRollout, add_rollouts
from forearm.faults import KernelFault
from forearm.outside.escapes import block_comment
from forearm.outside.output_files import folder_of_files, write_files

Graphs = Mapping[str, Graph]
Rollouts = Mapping[str, WasmRollout]


def joint_module(graphs: Graphs, rollouts: Rollouts, lanes: int = 1, apart: bool = False) -> bytes:
    """Graphs and rollouts by name in one module, with one memory; `apart` as in `emit_wasm`."""
    shared = graphs_module(graphs, 1 if rollouts else lanes, apart)
    add_rollouts(shared, rollouts)
    return shared.module.binary()


def interface(graphs: Graphs, rollouts: Rollouts) -> dict[str, dict[str, object]]:
    """What the loader must know of each function: names and shapes of inputs and outputs, the scheme of a rollout."""
    found: dict[str, dict[str, object]] = {}
    for name, graph in graphs.items():
        found[name] = {
            "inputs": [[p.name, list(p.shape)] for p in graph.inputs],
            "outputs": [[p.name, list(p.shape)] for p in graph.outputs],
        }
    for name, rollout in rollouts.items():
        found[name] = {
            "inputs": [[p.name, list(p.shape)] for p in rollout.roles.given],
            "outputs": [[p.name, list(p.shape)] for p in rollout.roles.state_ports],
            "rollout": rollout.roles.rule.name,
        }
    return found


def loader_source() -> str:
    """The part of the loader that is the same for every module."""
    return (resources.files("forearm") / "compiler" / "wasm" / "loader.js").read_text(encoding="utf-8")


def loader_text(title: str, module: bytes, graphs: Graphs, rollouts: Rollouts) -> str:
    """The loader of a module, an ES module with the bytes inside: no fetch, so it works from a file too."""
    ports = json.dumps(interface(graphs, rollouts))
    return (
        f"/* Written by forearm {__version__}: {block_comment(title)}. */\n{loader_source()}\n"
        f"const INTERFACE = {ports};\n"
        f'const MODULE = "{base64.b64encode(module).decode("ascii")}";\n\n'
        "/** The functions of the module, by name. */\n"
        "export function load() {\n  return instantiate(fromBase64(MODULE), INTERFACE);\n}\n"
    )


def types_text(title: str, module: bytes, graphs: Graphs, rollouts: Rollouts) -> str:
    """Types of the loader for TypeScript."""
    lines = [
        f"/* Written by forearm {__version__}: {block_comment(title)}; {len(module)} bytes of WebAssembly. */",
        "type Numbers = Float64Array | readonly number[];",
        "interface Steps { dt: number; steps: number; every?: number; start?: number; }",
        "export interface Functions {",
    ]
    for name, graph in graphs.items():
        taken = ", ".join(f"{_word(p.name)}: Numbers" for p in graph.inputs)
        given = "; ".join(f"{_word(p.name)}: Float64Array" for p in graph.outputs)
        result = "Float64Array" if len(graph.outputs) == 1 else f"{{ {given} }}"
        lines.append(f"  {name}({taken}): {result};")
    for name, rollout in rollouts.items():
        taken = "; ".join(f"{_word(p.name)}: Numbers" for p in rollout.roles.given)
        states = "; ".join(f"{_word(p.name)}: Float64Array" for p in rollout.roles.state_ports)
        record = f"{{ {states} }} | null"
        lines.append(f"  {name}(inputs: {{ {taken} }}, how: Steps): {{ {states}; record: {record} }};")
    return "\n".join([*lines, "}", "export function load(): Promise<Functions>;", ""])


def _word(name: str) -> str:
    return identifier(name)


def write_module(
    folder: str | Path, title: str, stem: str, graphs: Graphs, rollouts: Rollouts, apart: bool = False
) -> tuple[Path, Path, Path]:
    """Write `<stem>.wasm`, `<stem>.js` and `<stem>.d.ts` into a folder; gives their paths."""
    for name in (*graphs, *rollouts):
        if not name.isidentifier() or not name.isascii():
            raise KernelFault(f"emit: {name!r} cannot be the name of a function; give letters, digits and _.")
    module = joint_module(graphs, rollouts, 2, apart)
    with folder_of_files(folder) as there:
        one, two, three = (there / name for name in file_names(stem))
        loader = loader_text(title, module, graphs, rollouts).encode()
        write_files({one: module, two: loader, three: types_text(title, module, graphs, rollouts).encode()})
    return one, two, three


def file_names(stem: str) -> tuple[str, str, str]:
    """Names of module, loader and types."""
    word = file_stem(stem)
    return f"{word}.wasm", f"{word}.js", f"{word}.d.ts"
