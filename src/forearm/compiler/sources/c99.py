"""Graphs as C99 for a controller: a header, a source and a self-test program.

The code allocates nothing, has no global state and calls nothing but sin, cos and (where a graph has it)
sqrt. Every function reads all its inputs before it writes an output, so arrays may be reused. Arrays are
flat, matrices row by row. Fused multiply-adds are written as a product and a sum: with `-ffp-contract=off`
the results equal, to the bit, the reference interpreter with the same sine and cosine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from forearm import __version__
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.interpreter import arrays, interpret
from forearm.compiler.graph.passes import dead_code, schedule
from forearm.compiler.llvm.lanes import FLT_MAX
from forearm.compiler.sources.identifiers import file_stem, identifier, words
from forearm.faults import KernelFault
from forearm.outside.escapes import block_comment
from forearm.outside.output_files import folder_of_files, write_files

VECTORS = 100
"""States in the self-test."""
TOLERANCE = {"double": 1e-12, "float": 2e-4}
"""How far the self-test lets a number be off, relative to its own largest value, or to what its rounding asks for."""
ROUNDINGS = 32
"""How many roundings of an output's largest value each of its numbers may be off, at least."""
ROOM = 8.0
"""How many times the error that rounding has in NumPy another compiler's may be."""
FORM = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "fma": "{} * {} + {}",
    "sqrt": "sqrt{f}({})",
    "sin": "sin{f}({})",
    "cos": "cos{f}({})",
    "select": "{} > 0 ? {} : {}",
}
"""How C spells an operation."""


States = Mapping[str, npt.ArrayLike]
"""For each input a batch of values (N, *shape)."""


@dataclass(frozen=True)
class Unit:
    """What all three files agree on."""

    name: str
    """Prefix of every name."""
    real: str
    """'double' or 'float'."""
    graphs: Mapping[str, Graph]
    """Functions, by the name that follows the prefix."""
    free: Mapping[str, Sequence[str]]
    """Inputs that are passed as a struct, with the names of its members."""
    meanings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For structs a sentence, and a comment for each member."""

    def number(self, value: float) -> str:
        """A constant; C has no name for what is not finite."""
        kept = float(np.float32(value)) if self.real == "float" and abs(value) <= FLT_MAX else float(value)
        if not math.isfinite(kept) or (self.real == "float" and abs(kept) > FLT_MAX):
            raise KernelFault(
                f"C code of {self.name}: the number {float(value)!r} is not a finite {self.real}, so it cannot be "
                "written; look for masses or lengths out of range with fa.check(arm)."
            )
        return f"{kept!r}f" if self.real == "float" else repr(kept)

    def signature(self, key: str) -> str:
        """The prototype of a function, without the semicolon."""
        graph = self.graphs[key]
        taken, given = names(graph)
        into = [self._parameter(port, name) for port, name in zip(graph.inputs, taken, strict=True)]
        out = [f"{self.real} {name}[{p.size}]" for p, name in zip(graph.outputs, given, strict=True)]
        return f"void {self.name}_{key}({', '.join([*into, *out])})"

    def _parameter(self, port: Port, name: str) -> str:
        if port.name in self.free:
            return f"const {self.name}_{identifier(port.name)} *{name}"
        return f"const {self.real} {name}[{port.size}]" if port.shape else f"{self.real} {name}"

    def element(self, port: Port, name: str, k: int) -> str:
        """Element k of an input that is called so."""
        if port.name in self.free:
            return f"{name}->{self.free[port.name][k]}"
        return f"{name}[{k}]" if port.shape else name


def names(graph: Graph) -> tuple[list[str], list[str]]:
    """What the inputs and the outputs of a function are called in C, no two alike."""
    found = words(port.name for port in (*graph.inputs, *graph.outputs))
    return found[: len(graph.inputs)], found[len(graph.inputs) :]


def write_c(
    folder: str | Path,
    graphs: Mapping[str, Graph],
    arm_name: str,
    dtype: str = "float64",
    free: Mapping[str, Sequence[str]] | None = None,
    states: Mapping[str, States] | None = None,
    notes: Sequence[str] = (),
    meanings: Mapping[str, Sequence[str]] | None = None,
    beside: Mapping[str, str] | None = None,
) -> tuple[Path, Path, Path]:
    """Write `<arm>.h`, `<arm>.c` and `<arm>_selftest.c`.

    Args:
        folder: Where to; made if it is not there.
        graphs: A graph for each function; `inverse_dynamics` becomes `<arm>_inverse_dynamics`.
        arm_name: Prefix of all names, and of the files.
        dtype: "float64" or "float32".
        free: Inputs that are passed as a struct `<arm>_<input>`, with a member name for each element, such as
            {"payload": ("M", "MX", ...)}.
        states: For each function the inputs of the self-test, (N, *shape) each; random states by default.
        notes: Lines for the comment at the top of the header: where the numbers come from.
        meanings: For each struct a sentence above it and a comment for each of its members.
        beside: More files that belong to these, by name.

    Returns:
        The paths of header, source and self-test.
    """
    real = {"float64": "double", "float32": "float"}.get(str(dtype))
    if real is None:
        raise KernelFault(f"C code of {arm_name!r}: dtype={dtype!r}; expected 'float64' or 'float32'.")
    ordered = {identifier(key): schedule(dead_code(graph)) for key, graph in graphs.items()}
    unit = Unit(file_stem(arm_name), real, ordered, dict(free or {}), dict(meanings or {}))
    _check(unit)
    tried = selftest(unit, {identifier(k): v for k, v in (states or {}).items()})
    texts = header(unit, notes), source(unit), tried
    with folder_of_files(folder) as place:
        one, two, three = (place / name for name in file_names(arm_name))
        more = {place / name: text for name, text in (beside or {}).items()}
        all_of_them = dict(zip((one, two, three), texts, strict=True)) | more
        write_files({path: text.encode() for path, text in all_of_them.items()})
    return one, two, three


def file_names(arm_name: str) -> tuple[str, str, str]:
    """What header, source and self-test of an arm are called."""
    name = file_stem(arm_name)
    return f"{name}.h", f"{name}.c", f"{name}_selftest.c"


def _check(unit: Unit) -> None:
    """Structs must name every element, and inputs and outputs be told apart by the letters that C has."""
    for key, graph in unit.graphs.items():
        seen: dict[str, str] = {}
        for port in (*graph.inputs, *graph.outputs):
            word = identifier(port.name)
            if word in seen:
                raise KernelFault(
                    f"C code of {unit.name}_{key}: {seen[word]!r} and {port.name!r} would both be {word} in C; give "
                    "names that differ in letters of ASCII, links by their numbers: 'links[0].mass'."
                )
            seen[word] = port.name
        for port in graph.inputs:
            members = unit.free.get(port.name)
            if members is not None and len(members) != port.size:
                raise KernelFault(
                    f"C code of {unit.name}_{key}: free input {port.name!r} has {port.size} elements, but"
                    f" {len(members)} member names were given ({', '.join(members)}); name every element."
                )


# The files ----------------------------------------------------------------------------------------------


def header(unit: Unit, notes: Sequence[str] = ()) -> str:
    """The header: provenance, structs, prototypes."""
    guard = f"{unit.name.upper()}_H"
    lines = ["/*", f" * {unit.name}: dynamics, generated by forearm {__version__}. Do not edit.", " *"]
    lines.extend(f" * {block_comment(note)}" for note in notes)
    for key, graph in unit.graphs.items():
        lines.extend(_provenance(unit, key, graph))
    lines.extend([" *", f" * {_UNITS}", " */", f"#ifndef {guard}", f"#define {guard}", ""])
    lines.extend(["#ifdef __cplusplus", 'extern "C" {', "#endif", ""])
    for name, members in unit.free.items():
        said, *comments = unit.meanings.get(name, ("",))
        lines.extend([f"/* {block_comment(said)} */"] if said else [])
        lines.append("typedef struct {")
        after = (
            f" /* {block_comment(text)} */" if text else "" for text in (*comments, *[""] * len(members))
        )
        lines.extend(f"    {unit.real} {member};{text}" for member, text in zip(members, after, strict=False))
        lines.extend([f"}} {unit.name}_{identifier(name)};", ""])
    lines.extend(f"{unit.signature(key)};" for key in unit.graphs)
    lines.extend(["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])
    return "\n".join(lines)


_UNITS = "SI units, radians; arrays flat, matrices row by row. No heap, no globals, reentrant."


def _provenance(unit: Unit, key: str, graph: Graph) -> list[str]:
    size = 8 if unit.real == "double" else 4
    called = [op for op in ("sin", "cos", "sqrt") if any(node.op == op for node in graph.nodes)]
    calls = ", ".join(called) or "nothing"
    return [
        f" * {unit.name}_{key}: {block_comment(graph.name)}",
        f" *     {graph.counts}; calls {calls};",
        f" *     at most {graph.max_live} values alive, about {graph.max_live * size} bytes of stack;",
        f" *     graph {graph.digest[:16]}",
    ]


def source(unit: Unit) -> str:
    """The source: one function for each graph."""
    lines = [f"/* Generated by forearm {__version__}; see {unit.name}.h. */"]
    if any(node.op in ("sin", "cos", "sqrt") for graph in unit.graphs.values() for node in graph.nodes):
        lines.append("#include <math.h>")
    lines.extend([f'#include "{unit.name}.h"', ""])
    for key, graph in unit.graphs.items():
        lines.extend([unit.signature(key), "{", *_body(unit, graph), "}", ""])
    return "\n".join(lines)


def _body(unit: Unit, graph: Graph) -> list[str]:
    """One line for each operation, then the outputs."""
    lines: list[str] = []
    values: list[str] = []
    taken, given = names(graph)
    suffix = "f" if unit.real == "float" else ""
    for index, node in enumerate(graph.nodes):
        if node.op == "const":
            text = unit.number(node.value)  # type: ignore[arg-type]
            values.append(f"({text})" if text.startswith("-") else text)
        elif node.at is not None:
            values.append(unit.element(graph.inputs[node.at[0]], taken[node.at[0]], node.at[1]))
        else:
            values.append(f"v{index}")
            text = FORM[node.op].format(*(values[a] for a in node.args), f=suffix)
            lines.append(f"    const {unit.real} v{index} = {text};")
    read = {node.at[0] for node in graph.nodes if node.at is not None}
    unread = [name for k, name in enumerate(taken) if k not in read]
    for r in sorted({r for row in graph.results for r in row if graph.nodes[r].op == "input"}):
        lines.append(f"    const {unit.real} v{r} = {values[r]};")  # read before any output is written
        values[r] = f"v{r}"
    writes = [
        f"    {name}[{k}] = {values[r]};"
        for name, row in zip(given, graph.results, strict=True)
        for k, r in enumerate(row)
    ]
    return [*(f"    (void){name};" for name in unread), *lines, *writes]


def selftest(unit: Unit, states: Mapping[str, States] | None = None) -> str:
    """A program that runs every function on known states and returns 0 when all is well."""
    lines = [
        f"/* Self-test of {unit.name} by forearm {__version__}: prints PASS or FAIL, returns 0 or 1. */",
        "#include <stdio.h>",
        f'#include "{unit.name}.h"',
        "",
    ]
    for key, graph in unit.graphs.items():
        lines.extend(_check_function(unit, key, graph, (states or {}).get(key)))
    lines.extend(["int main(void)", "{", "    int failed = 0;"])
    lines.extend(f"    failed += check_{key}();" for key in unit.graphs)
    lines.extend(['    printf(failed ? "FAIL\\n" : "PASS\\n");', "    return failed ? 1 : 0;", "}", ""])
    return "\n".join(lines)


def _check_function(unit: Unit, key: str, graph: Graph, states: States | None) -> list[str]:
    """Tables of states and expected outputs, and the loop over them."""
    taken, found = _finite(unit, key, graph, _states(unit, graph, states))
    count = len(next(iter(taken.values()))) if taken else 1
    scales = _scales(unit, graph, taken, found)
    lines: list[str] = []
    for port in (*graph.inputs, *graph.outputs):
        values = {**taken, **found}[port.name].reshape(count, -1)
        table = f"static const {unit.real} {key}_{identifier(port.name)}[{count}][{values.shape[1]}] = {{"
        rows = (f"    {{{', '.join(unit.number(x) for x in row)}}}," for row in values)
        lines.extend([table, *rows, "};", ""])
    for port in graph.outputs:
        name, numbers = identifier(port.name), ", ".join(unit.number(x) for x in scales[port.name])
        lines.extend([f"static const {unit.real} {key}_{name}_scale[{port.size}] = {{{numbers}}};", ""])
    lines.extend([f"static int check_{key}(void)", "{", f"    {unit.real} worst_ = 0;", "    int row_, at_;"])
    lines.extend(f"    {unit.real} {identifier(p.name)}[{p.size}];" for p in graph.outputs)
    structs = [identifier(p.name) for p in graph.inputs if p.name in unit.free]
    lines.extend(f"    {unit.name}_{name} {name};" for name in structs)
    lines.append(f"    for (row_ = 0; row_ < {count}; row_++) {{")
    given = [_argument(unit, key, p, lines) for p in graph.inputs]
    given.extend(identifier(p.name) for p in graph.outputs)
    lines.append(f"        {unit.name}_{key}({', '.join(given)});")
    for port in graph.outputs:
        name = identifier(port.name)
        lines.append(f"        for (at_ = 0; at_ < {port.size}; at_++) {{")
        lines.append(
            f"            {unit.real} error_ = ({name}[at_] - {key}_{name}[row_][at_]) / {key}_{name}_scale[at_];"
        )
        lines.append("            error_ = error_ < 0 ? -error_ : error_;")
        lines.append(
            "            if (!(error_ <= worst_) && worst_ == worst_) worst_ = error_; /* a NaN stays */"
        )
        lines.append("        }")
    says = f"{unit.name}_{key}: {count} states, worst error %.1e: %s\\n"
    good = f"worst_ <= {unit.number(TOLERANCE[unit.real])}"
    lines.append("    }")
    lines.append(f'    printf("{says}", (double)worst_, {good} ? "PASS" : "FAIL");')
    return [*lines, f"    return {good} ? 0 : 1;", "}", ""]


def _scales(unit: Unit, graph: Graph, taken: dict[str, Any], found: Any) -> dict[str, Any]:
    """What the error of each number of an output is held against: a wrist's torque is not excused by a shoulder's.

    Its own largest value, or more where its rounding (that of NumPy, in the code's own precision) asks for more.
    """
    kind = np.float32 if unit.real == "float" else np.float64
    beside = taken if unit.real == "float" else {name: np.nextafter(x, np.inf) for name, x in taken.items()}
    with np.errstate(all="ignore"):
        other = interpret(graph, {name: np.asarray(x, kind) for name, x in beside.items()}, arrays)
    scales = {}
    for port in graph.outputs:
        values = np.reshape(found[port.name], (-1, port.size))
        off = np.abs(
            np.reshape(np.broadcast_to(other[port.name], (len(values), *port.shape)), values.shape) - values
        )
        off = ROOM * np.max(np.where(np.isfinite(off), off, 0.0), axis=0, initial=0.0)
        own = np.max(np.abs(values), axis=0, initial=0.0)
        least = np.maximum(off, ROUNDINGS * float(np.finfo(kind).eps) * np.max(own, initial=0.0))
        own = np.maximum(own, least / TOLERANCE[unit.real])
        scales[port.name] = np.where(own > 0, own, 1.0)
    return scales


def _finite(unit: Unit, key: str, graph: Graph, taken: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Inputs and expected outputs, only of states that have one (a mass matrix may be singular somewhere)."""
    with np.errstate(all="ignore"):  # states whose outputs are not finite are left out below
        found = interpret(graph, taken, arrays)
    if not taken:
        return taken, found
    count = len(next(iter(taken.values())))
    rows = {
        p.name: np.broadcast_to(found[p.name], (count, *p.shape)).reshape(count, -1) for p in graph.outputs
    }
    good = np.all([np.all(np.isfinite(values), axis=1) for values in rows.values()], axis=0)
    if not np.any(good):
        raise KernelFault(
            f"C code of {unit.name}_{key}: none of the {count} states of the self-test gives finite outputs; give "
            "states= where the function exists, and look at the arm with fa.check(arm)."
        )
    return {name: values[good] for name, values in taken.items()}, {k: v[good] for k, v in rows.items()}


def _argument(unit: Unit, key: str, port: Port, lines: list[str]) -> str:
    """How the self-test passes an input; a struct is filled first."""
    name = identifier(port.name)
    if port.name in unit.free:
        for i, member in enumerate(unit.free[port.name]):
            lines.append(f"        {name}.{member} = {key}_{name}[row_][{i}];")
        return f"&{name}"
    return f"{key}_{name}[row_]" if port.shape else f"{key}_{name}[row_][0]"


def _states(unit: Unit, graph: Graph, states: States | None) -> dict[str, Any]:
    """Inputs of the self-test, rounded to what the code takes."""
    rng = np.random.default_rng(1)
    taken: dict[str, Any] = {}
    for port in graph.inputs:
        low, high = (0.5, 1.5) if port.name in unit.free or not port.shape else (-np.pi, np.pi)
        given = rng.uniform(low, high, (VECTORS, *port.shape)) if states is None else states[port.name]
        values = np.asarray(given, dtype=float)
        taken[port.name] = values.astype(np.float32).astype(float) if unit.real == "float" else values
    return taken
