"""A graph as a function of a module: run(states, inputs…, outputs…), addresses of rows in memory.

A node that is read once is computed where it is read, on the stack. One that is read more often goes into a local
variable, which is used again when its last reader is done. Products and sums of a fused multiply-add are rounded
apart, because WebAssembly has none; in a graph that divides they are rounded once (module_products).
"""

from collections import defaultdict
from collections.abc import Mapping

from forearm.compiler.graph.graph import Graph
from forearm.compiler.wasm.bytecode import (
    BLOCK,
    DROP,
    END,
    I32,
    I32_ADD,
    I32_EQZ,
    I32_GT_S,
    I32_MUL,
    I32_SHL,
    I32_SUB,
    LOOP,
    branch_if,
    call,
    get,
    i32,
    put,
    tee,
)
from forearm.compiler.wasm.module_products import divides
from forearm.compiler.wasm.shared_functions import SharedFunctions

ITEM = 8
"""Bytes of a double."""
ANGLES = ("sin", "cos")
"""Operations that come in pairs."""
LONGEST = 4000
"""Bytes of code of a node that is read once; one with more goes into a variable."""


def graphs_module(graphs: Mapping[str, Graph], lanes: int, apart: bool = False) -> SharedFunctions:
    """A module with a function for each graph, by name, and what these share.

    Multiply-adds of a graph that divides are rounded once, unless products and sums are to be rounded `apart`.
    """
    shared = SharedFunctions(lanes)
    for name, graph in graphs.items():
        add_graph(shared, graph, name, not apart and divides(graph))
    return shared


def add_graph(shared: SharedFunctions, graph: Graph, name: str, fused: bool) -> int:
    """The function of a graph; gives its number.

    Its parameters: how many states; for each input, then for each output, the address of its rows, one state after
    the other. `fused`: multiply-adds are rounded once, by a function of the module.
    """
    module, dialect = shared.module, shared.dialect
    ports = (*graph.inputs, *graph.outputs)
    rows = range(1, 1 + len(ports))
    two = dialect.lanes == 2
    others = range(1 + len(ports), 1 + 2 * len(ports)) if two else rows
    spread = 1 + 2 * len(ports) if two else 0
    body = _Body(graph, shared, fused, list(rows), list(others), spread + 1 if two else 1 + len(ports))
    code = BLOCK + get(0) + i32(0) + I32_GT_S + I32_EQZ + branch_if(0) + LOOP
    if two:  # an odd last state is computed in both lanes
        code += get(0) + i32(1) + I32_GT_S + i32(3) + I32_SHL + put(spread)
        for port, row, other in zip(ports, rows, others, strict=True):
            code += get(row) + get(spread) + i32(port.size) + I32_MUL + I32_ADD + put(other)
    code += body.code()
    for port, row in zip(ports, rows, strict=True):
        code += get(row) + i32(ITEM * port.size * dialect.lanes) + I32_ADD + put(row)
    code += get(0) + i32(dialect.lanes) + I32_SUB + tee(0) + i32(0) + I32_GT_S + branch_if(0) + END + END
    addresses = [I32] * (len(ports) + 1) if two else []
    return module.add([I32] * (1 + len(ports)), [], addresses + [dialect.kind] * body.variables, code, name)


class _Body:
    """The code of one evaluation, in one walk along the nodes; `texts` leaves each node's value on the stack."""

    def __init__(
        self,
        graph: Graph,
        shared: SharedFunctions,
        fused: bool,
        rows: list[int],
        others: list[int],
        first: int,
    ) -> None:
        self.graph, self.d, self.rows, self.others = graph, shared.dialect, rows, others
        self.fma = call(shared.fma()) if fused else b""
        self.first, self.variables = first, 0
        self.free: list[int] = []
        self.place: dict[int, int] = {}
        self.ending: defaultdict[int, list[int]] = defaultdict(list)
        self.sinks: dict[int, list[tuple[int, int]]] = {}
        for k, row in enumerate(graph.results):
            for e, r in enumerate(row):
                self.sinks.setdefault(r, []).append((k, e))
        size = len(graph.nodes)
        self.texts = [b""] * size
        self.roots, self.last = [False] * size, [-1] * size
        self.angles: dict[int, dict[str, int]] = {}
        self._plan()
        self.sincos = call(shared.sincos(fused)) if self.angles else b""

    def _plan(self) -> None:
        """Find the nodes that are computed on their own (roots), and after which of them a value is not read any more.

        A node that is read once is computed with that root.
        """
        roots, last, sinks = self.roots, self.last, self.sinks
        nodes, uses = self.graph.nodes, self.graph.uses
        backwards = range(len(nodes) - 1, -1, -1)
        for i, (op, args, _, _), used in zip(backwards, reversed(nodes), reversed(uses), strict=True):
            if not args or not used:
                continue
            if used == 1 and i not in sinks and op not in ANGLES:
                root = last[i]
            else:
                roots[i], root = True, i
                if op in ANGLES:
                    self.angles.setdefault(args[0], {})[op] = i
            for a in args:
                if root > last[a]:
                    last[a] = root
        for r in sinks:
            if not roots[r]:
                last[r] = len(nodes)

    def code(self) -> bytes:
        """Every root in the order of the graph, outputs stored as soon as they are there."""
        parts: list[bytes] = []
        texts, roots, last, uses, ops = self.texts, self.roots, self.last, self.graph.uses, self.d.operations
        between, after = (b"", self.fma) if self.fma else (ops["mul"], ops["add"])
        for i, ((op, args, value, at), used, root) in enumerate(
            zip(self.graph.nodes, uses, roots, strict=True)
        ):
            if not used:
                continue
            if op == "fma":  # operands first, what is read here alone with them
                a, b, c = args
                text = texts[a] + texts[b] + between + texts[c] + after
            elif len(args) == 2:
                text = texts[args[0]] + texts[args[1]] + ops[op]
            else:
                text = self._text(op, args) if args else self._operand(value, at)
            if not root:
                texts[i] = text
                if (used == 1 or at is None) and len(text) < LONGEST:
                    continue
            elif op in ANGLES or i in self.sinks:
                parts += self._root(i, op, text)
                continue
            else:
                self.free += self.ending.pop(i, ())
            parts += (text, put(self._take(i, last[i])))
        for r, places in self.sinks.items():
            if not roots[r]:
                parts += [self._stored(place, texts[r]) for place in places]
        return b"".join(parts)

    def _operand(self, value: float | None, at: tuple[int, int] | None) -> bytes:
        """A constant or an input."""
        if at is None:
            return self.d.constant(0.0 if value is None else value)
        return self.d.load(self.rows[at[0]], self.others[at[0]], ITEM * at[1])

    def _text(self, op: str, args: tuple[int, ...]) -> bytes:
        """An operation of one argument, or a choice."""
        if op == "select":
            x, a, b = (self.texts[k] for k in args)
            return self.d.positive(x, a, b)
        return self.texts[args[0]] + (self.sincos if op in ANGLES else self.d.operations[op])

    def _root(self, i: int, op: str, text: bytes) -> list[bytes]:
        """A node that is stored, or a sine with its cosine."""
        sinks, there = self.sinks.get(i, ()), i in self.place
        parts: list[bytes] = []
        self.free += self.ending.pop(i, ())
        if op in ANGLES and not there:
            pair = {**self.angles[self.graph.nodes[i].args[0]], op: i}
            parts = [text]
            for j in (pair.get("cos", -1), pair.get("sin", -1)):
                parts.append(put(self._take(j, self.last[j])) if j >= 0 and j not in self.place else DROP)
        elif len(sinks) == 1 and self.graph.uses[i] == 1 and not there:
            return [self._stored(sinks[0], text)]
        elif not there:
            parts = [text, put(self._take(i, self.last[i]))]
        parts += [self._stored(place, self.texts[i]) for place in sinks]
        if self.last[i] < 0:
            self.free.append(self.place[i])
        return parts

    def _take(self, i: int, last: int) -> int:
        """A local variable for a node, until after a root; the node's text becomes its value."""
        if self.free:
            place = self.free.pop()
        else:
            place = self.first + self.variables
            self.variables += 1
        if last >= 0:
            self.ending[last].append(place)
        self.place[i], self.texts[i] = place, get(place)
        return place

    def _stored(self, place: tuple[int, int], value: bytes) -> bytes:
        port, element = place
        row = len(self.graph.inputs) + port
        free = 0
        if self.d.lanes == 2:
            if not self.free:
                self.free.append(self.first + self.variables)
                self.variables += 1
            free = self.free[-1]
        return self.d.store(self.rows[row], self.others[row], ITEM * element, value, free)
