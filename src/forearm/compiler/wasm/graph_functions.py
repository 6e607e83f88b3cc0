"""A graph as a function of a module: run(states, inputs…, outputs…), addresses of rows in memory.

A node that is read once is computed where it is read, on the stack. One that is read more often goes into a local
variable, which is used again when its last reader is done. Products and sums of a fused multiply-add are rounded
apart, because WebAssembly has none.
"""

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
    Module,
    branch_if,
    call,
    get,
    i32,
    put,
    tee,
)
from forearm.compiler.wasm.dialects import DIALECTS, Dialect
from forearm.compiler.wasm.module_sines import add_sincos

ITEM = 8
"""Bytes of a double."""


def graphs_module(graphs: Mapping[str, Graph], lanes: int) -> tuple[Module, int]:
    """A module with a function for each graph, by name, and the number of its sincos (-1: it has none)."""
    module = Module()
    dialect = DIALECTS[lanes](module)
    sincos = add_sincos(module, dialect) if any(g.counts.sincos for g in graphs.values()) else -1
    for name, graph in graphs.items():
        add_graph(module, dialect, graph, sincos, name)
    return module, sincos


def add_graph(module: Module, dialect: Dialect, graph: Graph, sincos: int, name: str) -> int:
    """The function of a graph; gives its number.

    Its parameters: how many states; for each input, then for each output, the address of its rows, one state after
    the other.
    """
    ports = (*graph.inputs, *graph.outputs)
    rows = range(1, 1 + len(ports))
    two = dialect.lanes == 2
    others = range(1 + len(ports), 1 + 2 * len(ports)) if two else rows
    spread = 1 + 2 * len(ports) if two else 0
    body = _Body(graph, dialect, sincos, list(rows), list(others), spread + 1 if two else 1 + len(ports))
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
    """The code of one evaluation."""

    def __init__(
        self, graph: Graph, dialect: Dialect, sincos: int, rows: list[int], others: list[int], first: int
    ) -> None:
        self.graph, self.d, self.sincos, self.rows, self.others = graph, dialect, sincos, rows, others
        self.first, self.variables = first, 0
        self.free: list[int] = []
        self.place: dict[int, int] = {}
        self.ending: dict[int, list[int]] = {}
        self.wanted = {r for row in graph.results for r in row}
        self.roots, self.last = self._plan()

    def _plan(self) -> tuple[set[int], dict[int, int]]:
        """Nodes that are computed on their own, and after which of them each value is not read any more."""
        nodes, uses = self.graph.nodes, self.graph.uses
        plain = ("const", "input")
        roots = {
            i
            for i, node in enumerate(nodes)
            if uses[i]
            and node.op not in plain
            and (uses[i] > 1 or i in self.wanted or node.op in ("sin", "cos"))
        }
        owner: dict[int, int] = {}
        last: dict[int, int] = {}
        for i in range(len(nodes) - 1, -1, -1):
            root = i if i in roots else owner.get(i, i)
            for a in nodes[i].args:
                owner.setdefault(a, root)
                last[a] = max(last.get(a, -1), root)
        for r in self.wanted:
            if nodes[r].op in plain:
                last[r] = len(nodes)
        return roots, last

    def code(self) -> bytes:
        """Every root in the order of the graph, outputs stored as soon as they are there."""
        parts = []
        sinks: dict[int, list[tuple[int, int]]] = {}
        for k, row in enumerate(self.graph.results):
            for e, r in enumerate(row):
                sinks.setdefault(r, []).append((k, e))
        for i in range(len(self.graph.nodes)):
            if i in self.roots:
                parts.append(self._root(i, sinks.get(i, [])))
        for r, places in sinks.items():
            if r not in self.roots:
                parts += [self._stored(place, self._value(r)) for place in places]
        return b"".join(parts)

    def _root(self, i: int, sinks: list[tuple[int, int]]) -> bytes:
        if i in self.place:  # the cosine of an angle whose sine is there
            code = b""
        elif self.graph.nodes[i].op in ("sin", "cos"):
            code = self._angle(i)
        else:
            value = self._tree(i)
            self._release(i)
            if len(sinks) == 1 and self.graph.uses[i] == 1:
                return self._stored(sinks[0], value)
            code = value + put(self._take(i))
        code += b"".join(self._stored(place, get(self.place[i])) for place in sinks)
        if i not in self.last:
            self.free.append(self.place[i])
        return code

    def _angle(self, i: int) -> bytes:
        """Sine and cosine of an angle, both where both are read."""
        angle = self.graph.nodes[i].args[0]
        found = {"sin": -1, "cos": -1}
        for j in range(i, len(self.graph.nodes)):
            node = self.graph.nodes[j]
            if node.op in found and node.args == (angle,) and j in self.roots and found[node.op] < 0:
                found[node.op] = j
        code = self._value(angle) + call(self.sincos)
        self._release(i)
        for op in ("cos", "sin"):
            code += put(self._take(found[op])) if found[op] >= 0 else DROP
        return code

    def _take(self, i: int) -> int:
        """A local variable for a node."""
        if self.free:
            self.place[i] = self.free.pop()
        else:
            self.place[i] = self.first + self.variables
            self.variables += 1
        if i in self.last:
            self.ending.setdefault(self.last[i], []).append(self.place[i])
        return self.place[i]

    def _release(self, root: int) -> None:
        """Variables that nobody reads after a root."""
        self.free += self.ending.pop(root, [])

    def _value(self, i: int) -> bytes:
        """A node as an operand."""
        node = self.graph.nodes[i]
        if i in self.place:
            return get(self.place[i])
        if node.value is not None:
            return self.d.constant(node.value)
        if node.at is not None:
            port, element = node.at
            code = self.d.load(self.rows[port], self.others[port], ITEM * element)
            return code + tee(self._take(i)) if self.graph.uses[i] > 1 else code
        return self._tree(i)

    def _tree(self, i: int) -> bytes:
        """A node and what is read by it alone, operands first, without recursion: sums may be long."""
        parts: list[bytes] = []
        waiting: list[int | bytes] = [i]
        while waiting:
            item = waiting.pop()
            if isinstance(item, bytes):
                parts.append(item)
            elif item != i and (item in self.place or self.graph.nodes[item].op in ("const", "input")):
                parts.append(self._value(item))
            else:
                waiting += reversed(self._operation(item))
        return b"".join(parts)

    def _operation(self, i: int) -> list[int | bytes]:
        """A node as nodes to compute and bytecode between and after them."""
        node, ops = self.graph.nodes[i], self.d.operations
        if node.op == "fma":
            a, b, c = node.args
            return [a, b, ops["mul"], c, ops["add"]]
        if node.op == "select":
            x, a, b = node.args
            return [a, b, x, self.d.positive(b"", b"", b"")]
        return [*node.args, ops[node.op]]

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
