"""Graph -> LLVM IR: straight-line code over vectors, one state in each lane.

The writer makes text; nothing here knows llvmlite. `Lanes` says how wide a value is and what it is made of:
`<4 x double>`, `<8 x float>`, or a bare `double` (width 1: one state, or one thread of a GPU). Arithmetic is
IEEE, without fast-math flags; fused multiply-adds are `llvm.fma` wherever the graph says fma and nowhere
else, so results do not depend on width or target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from forearm.compiler.graph.graph import Graph
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.sines import LIMIT, RECIPES


@dataclass
class Writer:
    """The body of one function, line by line; values are named as they come."""

    lines: list[str] = field(default_factory=list)
    """What has been written."""
    block: str = "entry"
    """Label of the block being written."""
    count: int = 0
    """Names given so far."""

    def put(self, line: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {line}")

    def let(self, expression: str) -> str:
        """An instruction with a result; returns its name."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {expression}")
        return f"%v{self.count}"

    def label(self, name: str) -> None:
        """Start a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def fresh(self, stem: str) -> str:
        """A label that nobody else has."""
        self.count += 1
        return f"{stem}{self.count}"

    def at(self, base: str, offset: str | int) -> str:
        """The address some bytes after another."""
        return base if offset == 0 else self.let(f"getelementptr inbounds i8, ptr {base}, i64 {offset}")

    def load(self, lanes: Lanes, address: str) -> str:
        """One value from memory, aligned for its scalars only."""
        return self.let(f"load {lanes.type}, ptr {address}, align {lanes.itemsize}")

    def store(self, lanes: Lanes, value: str, address: str) -> None:
        """One value to memory, aligned for its scalars only."""
        self.put(f"store {lanes.type} {value}, ptr {address}, align {lanes.itemsize}")

    def stream(self, lanes: Lanes, value: str, address: str) -> None:
        """One value to memory past the caches; its address is a multiple of its size."""
        size = lanes.width * lanes.itemsize
        self.put(f"store {lanes.type} {value}, ptr {address}, align {size}, !nontemporal !1")

    @contextmanager
    def loop(self, end: str | int, step: str | int = 1, start: str | int = 0) -> Iterator[str]:
        """Repeat for i = start, start + step, ... below end; at least once."""
        head, latch, done = self.fresh("head"), self.fresh("latch"), self.fresh("done")
        index, following, before = f"%i{self.count}", f"%j{self.count}", self.block
        self.put(f"br label %{head}")
        self.label(head)
        self.put(f"{index} = phi i64 [ {start}, %{before} ], [ {following}, %{latch} ]")
        yield index
        self.put(f"br label %{latch}")
        self.label(latch)
        self.put(f"{following} = add i64 {index}, {step}")
        more = self.let(f"icmp slt i64 {following}, {end}")
        self.put(f"br i1 {more}, label %{head}, label %{done}")
        self.label(done)

    @contextmanager
    def when(self, condition: str, *, rare: bool = False, leaves: str | None = None) -> Iterator[None]:
        """Only if the condition (an i1) holds; `leaves` ends it with a return."""
        yes, after = self.fresh("yes"), self.fresh("after")
        self.put(f"br i1 {condition}, label %{yes}, label %{after}{', !prof !0' if rare else ''}")
        self.label(yes)
        yield
        self.put(leaves or f"br label %{after}")
        self.label(after)

    def function(self, head: str, result: str = "void") -> str:
        """The finished function."""
        return "\n".join([f"define {head} {{", "entry:", *self.lines, f"  ret {result}", "}", ""])


FETCHED = ("input", "sin", "cos")
"""Operations that are written where they are first used, so that they occupy no register before."""

ONE_WORD = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
"""Operations of two arguments that are one instruction."""


def needed(graph: Graph, wanted: Iterable[int], given: Iterable[int] = ()) -> list[int]:
    """Nodes that the wanted ones need, in order; what is given is not looked behind."""
    known, found, stack = set(given), set(), list(wanted)
    while stack:
        index = stack.pop()
        if index not in found:
            found.add(index)
            if index not in known:
                stack.extend(graph.nodes[index].args)
    return sorted(found)


def emit_nodes(
    w: Writer,
    lanes: Lanes,
    graph: Graph,
    order: Iterable[int],
    fetch: Callable[[int], str | None],
    sincos: Callable[[str], tuple[str, str]],
    made: Callable[[int, str], None] = lambda index, value: None,
    number: Callable[[float], str] | None = None,
) -> dict[int, str]:
    """Write the nodes one after the other.

    Args:
        w: Where to write.
        lanes: The type of every value.
        graph: The graph.
        order: Which nodes, in topological order.
        fetch: Gives the value of an input, or of any other node that need not be computed (None: compute it);
            called where the value is first used.
        sincos: Gives (sin, cos) of a value.
        made: Told each node and its value as it is written, so that outputs are stored early.
        number: Gives a constant in every lane; by default as it is written.

    Returns:
        The name of each node's value.
    """
    values: dict[int, str] = {}
    pairs: dict[int, tuple[str, str]] = {}
    order = list(order)

    def value(index: int) -> str:
        if index not in values:
            found = fetch(index)
            values[index] = compute(index) if found is None else found
        return values[index]

    def compute(index: int) -> str:
        node = graph.nodes[index]
        if node.op == "const":
            return (number or lanes.number)(node.value or 0.0)
        if node.op not in ("sin", "cos"):
            return w.let(operation(lanes, w, node.op, [value(a) for a in node.args]))
        if node.args[0] not in pairs:
            pairs[node.args[0]] = sincos(value(node.args[0]))
        return pairs[node.args[0]][node.op == "cos"]

    for index in order:
        if graph.nodes[index].op not in FETCHED:
            made(index, value(index))
    for index in order:  # an output that is an input, a sine or a cosine
        if graph.nodes[index].op in FETCHED:
            made(index, value(index))
    return values


FOLDED = 32
"""Bytes of a value whose instructions take an operand from memory, but no number that is spread to all lanes on the way
(AVX2; later ones do). There, constants lie in a table, spread, and most cost no instruction of their own (measured:
15 % fewer instructions, 4 % less time)."""


class ConstantTable:
    """Constants of a program, each in every lane, in memory."""

    def __init__(self, lanes: Lanes) -> None:
        """An empty table."""
        self.lanes, self.places = lanes, dict[str, int]()

    def number(self, w: Writer, value: float) -> str:
        """A constant, read by the code that `w` writes."""
        written = self.lanes.number(value)
        if self.lanes.size != FOLDED or value == 0.0:
            return written
        place = self.places.setdefault(written, len(self.places)) * self.lanes.size
        address = f"getelementptr inbounds (i8, ptr @numbers, i64 {place})"
        return w.let(f"load {self.lanes.type}, ptr {address}, align {self.lanes.size}, !invariant.load !2")

    @property
    def text(self) -> str:
        """The table itself; nothing where it is empty."""
        if not self.places:
            return ""
        rows = ", ".join(f"{self.lanes.type} {written}" for written in self.places)
        kind = f"[{len(self.places)} x {self.lanes.type}]"
        return f"@numbers = internal constant {kind} [{rows}], align {self.lanes.size}\n"


def operation(lanes: Lanes, w: Writer, op: str, a: list[str]) -> str:
    """The expression of one operation on values."""
    t = lanes.type
    match op:
        case "neg":
            return f"fneg {t} {a[0]}"
        case "fma":
            return fma(lanes, *a)
        case "sqrt":
            return f"call {t} @llvm.sqrt.{lanes.suffix}({t} {a[0]})"
        case "select":
            test = w.let(f"fcmp ogt {t} {a[0]}, {lanes.number(0.0)}")
            return f"select {lanes.truth} {test}, {t} {a[1]}, {t} {a[2]}"
        case _:
            return f"{ONE_WORD[op]} {t} {a[0]}, {a[1]}"


def fma(lanes: Lanes, a: str, b: str, c: str) -> str:
    """The expression a*b + c, rounded once."""
    t = lanes.type
    return f"call {t} @llvm.fma.{lanes.suffix}({t} {a}, {t} {b}, {t} {c})"


def declarations(*lanes: Lanes) -> str:
    """The intrinsics that the code may call."""
    rows: dict[str, None] = {}
    for a in (*lanes, Lanes("float64", 1)):
        t, s = a.type, a.suffix
        rows[f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"] = None
        rows[f"declare {t} @llvm.sqrt.{s}({t})"] = None
        rows[f"declare {t} @llvm.fabs.{s}({t})"] = None
    rows["declare i64 @llvm.smin.i64(i64, i64)"] = None
    rows["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
    rows["declare i64 @llvm.fshl.i64(i64, i64, i64)"] = None
    return "\n".join([*rows, ""])


def emit_sincos(w: Writer, lanes: Lanes, x: str) -> tuple[str, str]:
    """(sin, cos) of a value by the branch-free path of sines.py."""
    recipe, number = RECIPES[lanes.dtype], lanes.number
    turns = w.let(fma(lanes, x, number(recipe.two_over_pi), number(recipe.magic)))
    k = w.let(f"fsub {lanes.type} {turns}, {number(recipe.magic)}")
    r = x
    for part in recipe.half_pi:
        r = w.let(fma(lanes, k, number(-part), r))
    return evaluate_sincos(w, lanes, r, w.let(f"bitcast {lanes.type} {turns} to {lanes.bits}"))


def evaluate_sincos(w: Writer, lanes: Lanes, r: str, quadrant: str) -> tuple[str, str]:
    """(sin, cos) from the reduced argument and the two low bits of the quadrant."""
    recipe, t, bits, number = RECIPES[lanes.dtype], lanes.type, lanes.bits, lanes.number
    z = w.let(f"fmul {t} {r}, {r}")
    s, c = number(recipe.sine[-1]), number(recipe.cosine[-1])
    for coefficient in recipe.sine[-2::-1]:
        s = w.let(fma(lanes, s, z, number(coefficient)))
    for coefficient in recipe.cosine[-2::-1]:
        c = w.let(fma(lanes, c, z, number(coefficient)))
    rz = w.let(f"fmul {t} {r}, {z}")
    s = w.let(fma(lanes, rz, s, r))
    c = w.let(fma(lanes, z, w.let(fma(lanes, z, c, number(-0.5))), number(1.0)))
    top = 8 * lanes.itemsize - 1
    odd = w.let(f"shl {bits} {quadrant}, {lanes.integer(top)}")
    swap = w.let(f"icmp slt {bits} {odd}, {lanes.integer(0)}")
    sine = w.let(f"select {lanes.truth} {swap}, {t} {c}, {t} {s}")
    cosine = w.let(f"select {lanes.truth} {swap}, {t} {s}, {t} {c}")
    high = w.let(f"shl {bits} {quadrant}, {lanes.integer(top - 1)}")
    turned = w.let(f"xor {bits} {high}, {odd}")  # sign of the cosine: the two low bits differ
    return _signed(w, lanes, sine, high), _signed(w, lanes, cosine, turned)


def _signed(w: Writer, lanes: Lanes, value: str, sign: str) -> str:
    """The value with its sign turned where the top bit of `sign` is set."""
    bits, t = lanes.bits, lanes.type
    mask = w.let(f"and {bits} {sign}, {lanes.integer(-(1 << (8 * lanes.itemsize - 1)))}")
    raw = w.let(f"bitcast {t} {value} to {bits}")
    return w.let(f"bitcast {bits} {w.let(f'xor {bits} {raw}, {mask}')} to {t}")


def is_large(w: Writer, lanes: Lanes, x: str) -> str:
    """Whether any lane is beyond the branch-free path, as an i1."""
    t = lanes.type
    size = w.let(f"call {t} @llvm.fabs.{lanes.suffix}({t} {x})")
    large = w.let(f"fcmp ogt {t} {size}, {lanes.number(LIMIT)}")
    if lanes.width == 1:
        return large
    mask = w.let(f"bitcast {lanes.truth} {large} to i{lanes.width}")
    return w.let(f"icmp ne i{lanes.width} {mask}, 0")
