"""The builder: hash-consed nodes through constructors that fold as they go.

Every graph is built here, by the tracer and by each pass, so the same few identities hold everywhere:

- one node for one expression: operands of + and * in one order, `a - b` reused as `-(b - a)`;
- constants folded: c1 + (c2 + x), c1 * (c2 * x), c1*x + c2*x; x + 0, x * 1, x * 0, x - x, 0 / x, x / 2^k;
- signs outside: (-a) * b = -(a * b), a + (-b) = a - b, constants times something are positive;
- sine and cosine: sin(-x), cos(-x), right angles added to the argument.

0 * x is 0 whatever x is. Dropping a NaN in x is meant: an operand that is multiplied by a constant zero is
not part of the function, and rows with NaN are dealt with at the border of the library, from the inputs.

A careful builder is for functions that are not ours: there 0 / 0, and the root of a number below 0, stay what they
are for inputs that are numbers. It folds x / x and 0 / x for no x, and 0 * x and x - x for none with a pole: a quotient
by what is not known, or a root, in it. An arm's own functions have no such states, and fewer operations without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.faults import KernelFault, TraceFault

RIGHT_ANGLE = math.pi / 2
SMALLEST = 1e-300
"""Constants that are smaller, or larger than its inverse, are not multiplied beforehand: nothing would be left."""

MOST_NODES = 1_000_000
"""Nodes of a graph; as many take seconds and a third of a gigabyte, and what is made of them ten times that."""


class Builder:
    """Nodes under construction, as parallel lists; every method takes and returns node indices."""

    __slots__ = (
        "args",
        "at",
        "careful",
        "inputs",
        "op",
        "origin",
        "origins",
        "poles",
        "refused",
        "table",
        "value",
    )

    def __init__(self, inputs: Sequence[Port] = (), careful: bool = False) -> None:
        """Start with no nodes and the given input ports."""
        self.inputs = list(inputs)
        self.careful = careful
        self.poles: list[bool] = []
        """Of each node, where the builder is careful, whether it has a pole."""
        self.op: list[str] = []
        self.args: list[tuple[int, ...]] = []
        self.value: list[float | None] = []
        self.at: list[tuple[int, int] | None] = []
        self.table: dict[object, int] = {}
        self.origin: tuple[str, int] | None = None
        self.refused = ""
        """What a traced scalar would not answer: said again at the end, where somebody caught it."""
        self.origins: list[tuple[str, int] | None] = []

    # Leaves ---------------------------------------------------------------------------------------

    def const(self, value: float) -> int:
        """A constant; one node for each value."""
        value = float(value) + 0.0  # -0.0 becomes 0.0
        found = self.table.get(value)
        if found is not None:
            return found
        if not math.isfinite(value):
            raise TraceFault(
                f"tracing: a constant came out as {value}; graphs hold finite numbers only."
                " Look for a division by zero, or NaN, among the numbers of the arm."
            )
        index = self._append("const", (), value, None)
        self.table[value] = index
        return index

    def input(self, which: int, element: int) -> int:
        """Flat element of input number `which`."""
        key = ("input", which, element)
        found = self.table.get(key)
        if found is None:
            found = self.table[key] = self._append("input", (), None, (which, element))
        return found

    def _append(self, op: str, args: tuple[int, ...], value: float | None, at: tuple[int, int] | None) -> int:
        self.op.append(op)
        self.args.append(args)
        self.value.append(value)
        self.at.append(at)
        if self.careful:
            pole = op == "sqrt" or (op == "div" and self.value[args[1]] is None)
            self.poles.append(pole or any([self.poles[a] for a in args]))
        self.origins.append(self.origin)
        if len(self.op) > MOST_NODES:
            raise KernelFault(
                f"compile: one function of more than {MOST_NODES:,} operations, which would take many minutes and "
                "gigabytes; ask for a quantity that takes fewer (torques rather than M or accelerations), or for a "
                "part of the robot: one chain, fewer joints."
            )
        return len(self.op) - 1

    def _node(self, op: str, *args: int) -> int:
        key = (op, args)
        found = self.table.get(key)
        if found is None:
            found = self.table[key] = self._append(op, args, None, None)
        return found

    # Arithmetic -----------------------------------------------------------------------------------

    def neg(self, i: int) -> int:
        """-x."""
        op = self.op[i]
        if op == "neg":
            return self.args[i][0]
        if op == "const":
            return self.const(-self.value[i])  # type: ignore[operator]
        return self._node("neg", i)

    def add(self, i: int, j: int) -> int:
        """Sum x + y."""
        op = self.op
        if op[j] == "const":
            i, j = j, i
        oi, oj = op[i], op[j]
        if oi == "const":
            return self._add_const(i, j)
        if oi == "neg":
            if oj == "neg":
                return self.neg(self.add(self.args[i][0], self.args[j][0]))
            return self.sub(j, self.args[i][0])
        if oj == "neg":
            return self.sub(i, self.args[j][0])
        if oi == "mul" or oj == "mul" or i == j:
            (ci, xi), (cj, xj) = self._term(i), self._term(j)
            if xi == xj:
                return self.mul(self.const(ci + cj), xi)
        return self._node("add", i, j) if i < j else self._node("add", j, i)

    def _add_const(self, i: int, j: int) -> int:
        """Constant i plus anything j."""
        c, oj = self.value[i], self.op[j]
        assert c is not None
        if oj == "const":
            return self.const(c + self.value[j])  # type: ignore[operator]
        if c == 0.0:
            return j
        if oj == "neg":
            return self.sub(i, self.args[j][0])
        if oj in ("add", "sub"):
            first, rest = self.args[j]
            inner = self.value[first]
            if inner is not None:  # c + (c2 ± x)
                outer = self.const(c + inner)
                return self.add(outer, rest) if oj == "add" else self.sub(outer, rest)
        return self._node("add", i, j)

    def sub(self, i: int, j: int) -> int:
        """Difference x - y; a constant y becomes an addition."""
        if i == j:
            return self.mul(self.const(0.0), i)
        oi, oj = self.op[i], self.op[j]
        if oj == "const":
            return self.add(self.const(-self.value[j]), i)  # type: ignore[operator]
        if oi == "const":
            return self._const_sub(i, j)
        if oj == "neg":
            if oi == "neg":
                return self.sub(self.args[j][0], self.args[i][0])
            return self.add(i, self.args[j][0])
        if oi == "neg":
            return self.neg(self.add(self.args[i][0], j))
        if oi == "mul" or oj == "mul":
            (ci, xi), (cj, xj) = self._term(i), self._term(j)
            if xi == xj:
                return self.mul(self.const(ci - cj), xi)
        swapped = self.table.get(("sub", (j, i)))
        if swapped is not None:
            return self.neg(swapped)
        return self._node("sub", i, j)

    def _const_sub(self, i: int, j: int) -> int:
        """Constant i minus anything j that is no constant."""
        c, oj = self.value[i], self.op[j]
        assert c is not None
        if c == 0.0:
            return self.neg(j)
        if oj == "neg":
            return self.add(i, self.args[j][0])
        if oj in ("add", "sub"):
            first, rest = self.args[j]
            inner = self.value[first]
            if inner is not None:  # c - (c2 ± x)
                outer = self.const(c - inner)
                return self.sub(outer, rest) if oj == "add" else self.add(outer, rest)
        return self._node("sub", i, j)

    def _term(self, i: int) -> tuple[float, int]:
        """A node as (constant, node): c*x is (c, x), anything else (1, itself)."""
        if self.op[i] == "mul":
            first, rest = self.args[i]
            c = self.value[first]
            if c is not None:
                return c, rest
        return 1.0, i

    def mul(self, i: int, j: int) -> int:
        """Product x * y."""
        op = self.op
        if op[j] == "const":
            i, j = j, i
        oi, oj = op[i], op[j]
        if oj == "neg":
            return self.neg(self.mul(i, self.args[j][0]))
        if oi == "const":
            c = self.value[i]
            assert c is not None
            if oj == "const":
                return self.const(c * self.value[j])  # type: ignore[operator]
            if c == 0.0:
                return self._node("mul", i, j) if self.careful and self.poles[j] else i
            if c == 1.0:
                return j
            if c < 0.0:
                return self.neg(self.mul(self.const(-c), j))
            inner, rest = self._term(j)
            if rest != j and SMALLEST < abs(c * inner) < 1.0 / SMALLEST:
                return self.mul(self.const(c * inner), rest)
            return self._node("mul", i, j)
        if oi == "neg":
            return self.neg(self.mul(self.args[i][0], j))
        return self._node("mul", i, j) if i < j else self._node("mul", j, i)

    def div(self, i: int, j: int) -> int:
        """Quotient x / y; by a power of two it is the exact multiplication."""
        oi, oj = self.op[i], self.op[j]
        if oj == "const":
            c = self.value[j]
            assert c is not None
            if c == 0.0:
                raise TraceFault(
                    "tracing: a division by the constant 0. The path may depend on the arm:"
                    " test the number first."
                )
            if oi == "const":
                return self.const(self.value[i] / c)  # type: ignore[operator]
            if abs(math.frexp(c)[0]) == 0.5 and math.isfinite(1.0 / c):
                return self.mul(self.const(1.0 / c), i)
            if c < 0.0:
                return self.neg(self.div(i, self.const(-c)))
        if oj == "neg":
            return self.neg(self.div(i, self.args[j][0]))
        if oi == "neg":
            return self.neg(self.div(self.args[i][0], j))
        if oi == "const":
            c = self.value[i]
            assert c is not None
            if c == 0.0 and not self.careful:
                return i
            if c < 0.0:
                return self.neg(self.div(self.const(-c), j))
        return self.const(1.0) if i == j and not self.careful else self._node("div", i, j)

    def fma(self, i: int, j: int, k: int) -> int:
        """x*y + z rounded once; where a factor or the product is known, the plain operations."""
        op = self.op
        if op[j] == "const":
            i, j = j, i
        c = self.value[i]
        if (c is not None and (op[j] == "const" or abs(c) in (0.0, 1.0))) or self.value[k] == 0.0:
            return self.add(self.mul(i, j), k)
        if op[i] == "neg" and op[j] == "neg":
            i, j = self.args[i][0], self.args[j][0]
        if c is None and j < i:
            i, j = j, i
        return self._node("fma", i, j, k)

    # Functions ------------------------------------------------------------------------------------

    def sqrt(self, i: int) -> int:
        """Square root."""
        c = self.value[i]
        if c is None:
            return self._node("sqrt", i)
        if c < 0.0:
            raise TraceFault(
                f"tracing: the square root of the constant {c}; a number not below 0 was expected."
            )
        return self.const(math.sqrt(c))

    def sin(self, i: int) -> int:
        """Sine; right angles in the argument are taken out."""
        return self._circular(i, 0)

    def cos(self, i: int) -> int:
        """Cosine; right angles in the argument are taken out."""
        return self._circular(i, 1)

    def _circular(self, i: int, quarter: int) -> int:
        """sin(x + quarter * 90 degrees), the argument brought to x or x + c."""
        c = self.value[i]
        if c is not None:
            turns = quarter_turns(c)
            if turns is None:
                return self.const(math.cos(c) if quarter else math.sin(c))
            return self.const((0.0, 1.0, 0.0, -1.0)[(turns + quarter) % 4])
        negative = False
        op = self.op[i]
        if op == "sub" and self.value[self.args[i][0]] is not None:  # c - x = -(x - c)
            first, rest = self.args[i]
            i, op = self.neg(self.add(self.const(-self.value[first]), rest)), "neg"  # type: ignore[operator]
        if op == "neg":
            i, negative = self.args[i][0], quarter == 0
        if self.op[i] == "add" and (shift := self.value[self.args[i][0]]) is not None:
            turns = quarter_turns(shift)
            if turns is not None:
                i, quarter = self.args[i][1], quarter + turns
                negative ^= quarter % 4 >= 2
        found = self._node("cos" if quarter % 2 else "sin", i)
        return self.neg(found) if negative else found

    def select(self, x: int, a: int, b: int) -> int:
        """A where x > 0, else b."""
        c = self.value[x]
        if c is not None:
            return a if c > 0.0 else b
        return a if a == b else self._node("select", x, a, b)

    def apply(self, op: str, args: Sequence[int]) -> int:
        """The named operation through its folding constructor."""
        found: int = getattr(self, op)(*args)
        return found

    # Whole graphs ---------------------------------------------------------------------------------

    def copy(self, node: Node, args: Sequence[int]) -> int:
        """A node of another graph (with the same inputs) made anew from translated arguments."""
        if node.op == "const":
            return self.const(node.value)  # type: ignore[arg-type]
        if node.op == "input":
            return self.input(*node.at)  # type: ignore[misc]
        return self.apply(node.op, args)

    def finish(self, name: str, outputs: Sequence[Port], results: Sequence[Sequence[int]]) -> Graph:
        """The graph of what the results need, numbered anew in the order of construction."""
        needed = bytearray(len(self.op))
        stack = [r for row in results for r in row]
        while stack:
            index = stack.pop()
            if not needed[index]:
                needed[index] = 1
                stack.extend(self.args[index])
        number: dict[int, int] = {}
        nodes: list[Node] = []
        origins: list[tuple[str, int] | None] = []
        for index in range(len(self.op)):
            if needed[index]:
                number[index] = len(nodes)
                args = tuple([number[a] for a in self.args[index]])
                nodes.append(Node(self.op[index], args, self.value[index], self.at[index]))
                origins.append(self.origins[index])
        return Graph(
            name,
            tuple(self.inputs),
            tuple(nodes),
            tuple(outputs),
            tuple(tuple(number[r] for r in row) for row in results),
            tuple(origins) if any(origins) else (),
            careful=self.careful
            and any(pole and used for pole, used in zip(self.poles, needed, strict=True)),
        )


def quarter_turns(angle: float) -> int | None:
    """How many right angles the number is, to 1e-15 each; None when it is no multiple."""
    turns = round(angle / RIGHT_ANGLE)
    return turns if abs(angle - turns * RIGHT_ANGLE) <= 1e-15 * max(1, abs(turns)) else None


def rebuild(graph: Graph) -> tuple[Builder, list[int]]:
    """A builder that holds the graph made anew, and the new index of each old node."""
    builder = Builder(graph.inputs, graph.careful)
    new: list[int] = []
    for index, node in enumerate(graph.nodes):
        builder.origin = graph.origins[index] if graph.origins else None
        new.append(builder.copy(node, [new[a] for a in node.args]))
    builder.origin = None
    return builder, new
