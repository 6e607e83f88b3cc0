"""A fused multiply-add for modules, which WebAssembly has not: a*b + c rounded once, from products and sums.

    p + e = a*b         exactly: the factors are cut in halves, whose products are exact (Dekker 1971)
    s + t = p + c       exactly (Knuth 1969)
    z = t + e           rounded to odd: a last bit that was cut off leaves its trace
    a*b + c = s + z     rounded once (Boldo and Melquiond 2008)

If t is not zero, p and c did not cancel and z is far below s, where a number rounded to odd is rounded as the exact one
would be; if t is zero, z is e. A sum of s and z that does not lie halfway between two doubles needs no rounding to odd:
that is nearly every one, and the rest comes after a branch. All this holds for factors and products between 1e-290 and
1e290; beyond, products and sums are rounded apart or overflow.

It costs some thirty operations instead of two, so it is used where a last digit grows: in graphs that divide by what
can be a small difference of large numbers, as the pivots of M are. There a module has the bits of the CPU kernel.
"""

from forearm.compiler.graph.graph import Graph, Node
from forearm.compiler.wasm.bytecode import END, IF, RETURN, Module, get, put, tee
from forearm.compiler.wasm.dialects import Dialect

SPLIT = 2.0**27 + 1.0
"""Times this, a double falls into an upper and a lower half of 26 bits."""


def divides(graph: Graph) -> bool:
    """Whether something is divided by more than a constant, except for v/√(v² + c), which is never large.

    The pivots of M are such divisors, and the roots by which derivatives of a friction curve are divided.
    """
    nodes = graph.nodes
    return any(
        node.op == "div" and nodes[node.args[1]].op != "const" and not _is_sign(nodes, *node.args)
        for node in nodes
    )


def _is_sign(nodes: tuple[Node, ...], v: int, divisor: int) -> bool:
    """Whether a divisor is √(v² + c), with a constant c."""
    if nodes[divisor].op != "sqrt":
        return False
    within = nodes[nodes[divisor].args[0]]
    *square, c = within.args if within.op in ("fma", "add") else (v,)
    if within.op == "add":
        square, c = (square, c) if nodes[c].op == "const" else ([c], square[0])
        square = list(nodes[square[0]].args) if nodes[square[0]].op == "mul" else []
    return square == [v, v] and nodes[c].op == "const"


def add_fma(module: Module, dialect: Dialect) -> int:
    """The function (a, b, c) -> a*b + c of a module; gives its number."""
    d = dialect
    add, sub, mul = (d.operations[name] for name in ("add", "sub", "mul"))
    a, b, c, p, e, s, t, z, r, upper, lower, turn = range(12)

    def halves(x: int, high: int) -> bytes:
        """The upper half of x into a variable; x becomes its lower half."""
        scaled = d.constant(SPLIT) + get(x) + mul + tee(turn)
        return scaled + get(turn) + get(x) + sub + sub + put(high) + get(x) + get(high) + sub + put(x)

    def error(total: int, x: int, y: int) -> bytes:
        """What the sum of x and y, rounded to `total`, leaves."""
        back = get(total) + get(x) + sub + put(turn)
        return back + get(x) + get(total) + get(turn) + sub + sub + get(y) + get(turn) + sub + add

    body = get(a) + get(b) + mul + put(p) + halves(a, upper) + halves(b, lower)
    body += get(upper) + get(lower) + mul + get(p) + sub + get(upper) + get(b) + mul + add
    body += get(a) + get(lower) + mul + add + get(a) + get(b) + mul + add + put(e)
    body += get(p) + get(c) + add + put(s) + error(s, p, c) + put(t)
    body += get(t) + get(e) + add + put(z)
    body += get(s) + get(z) + add + put(r) + get(z) + get(r) + get(s) + sub + sub + tee(turn)
    body += get(turn) + add + put(turn)
    no_tie = get(r) + get(turn) + add + get(r) + sub + get(turn) + sub
    body += d.all_nonzero(no_tie) + IF + get(r) + RETURN + END
    body += error(z, t, e) + put(e) + d.odd(get(z), get(e)) + put(z)
    body += d.nonzero(get(z), get(s) + get(z) + add, get(s))
    return module.add([d.kind] * 3, [d.kind], [d.kind] * 9, body)
