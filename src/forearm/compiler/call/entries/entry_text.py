"""The text of the builtin functions that Python calls: `@entry` for one state here, for a batch in batch_entry_text.py.

An entry looks at its arguments as C code compiled against NumPy does, through the fields of the array object:
exact `ndarray`s of the kernel's dtype and shape, C order, aligned; `out` and `threads` by keyword. If all fits it
computes and returns `out`, or new arrays (several outputs: the named tuple); anything else it hands, as it came,
to the next function, `rest`. builtin_functions.py loads these texts and says on which interpreters they may run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from forearm.compiler.call.entries.builtin_functions import (
    ALIGNED,
    CONTIGUOUS,
    DATA,
    DESCR,
    DIMENSIONS,
    FLAGS,
    FLOAT_VALUE,
    HELD,
    LIST_ITEMS,
    NAMES,
    NDIM,
    TUPLE_ITEMS,
    TUPLE_SIZE,
    TYPE,
    TYPE_NUMBER,
    WRITEABLE,
)
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.llvm.lanes import ITEMSIZE
from forearm.compiler.llvm.nodes import Writer


def single_entry(graph: Graph, dtype: str) -> str:
    """The text of `@entry` for one state, to go with `@one`."""
    return "\n".join([*entry_globals(graph), SingleText(graph, dtype).function()])


def entry_globals(graph: Graph) -> list[str]:
    """What an entry has outside its function: the table of addresses, the shapes of new arrays."""
    found = [f"@python = global [{len(NAMES)} x ptr] zeroinitializer"]
    for i, port in enumerate(graph.outputs):
        numbers = f"[{', '.join(f'i64 {n}' for n in port.shape)}]" if port.shape else "zeroinitializer"
        found.append(f"@shape{i} = private constant [{len(port.shape)} x i64] {numbers}")
    return found


class EntryText(ABC):
    """What the two entries have in common."""

    def __init__(self, graph: Graph, dtype: str) -> None:
        self.graph, self.dtype, self.w = graph, dtype, Writer()
        self.several = len(graph.outputs) > 1
        self.item = ITEMSIZE[dtype]

    def function(self) -> str:
        """Look at the arguments, compute, return; or hand over to `rest`."""
        w, n = self.w, len(self.graph.inputs)
        self._rooms()
        w.put("%keywords = alloca [2 x ptr]")
        self._require(f"icmp eq i64 %nargs, {n}")
        out, threads = self._read_keywords()
        self._look(threads)
        w.put(f"br i1 {w.let(f'icmp eq ptr {out}, null')}, label %make, label %given")
        w.label("given")
        self._into_out(out, threads)
        w.label("make")
        self._into_new(threads)
        w.label("general")
        call = self._known("vectorcall")
        given = f"ptr {self._held('rest')}, ptr %args, i64 %nargs, ptr %kwnames"
        result = w.let(f"call ptr {call}({given})")
        return w.function("ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)", f"ptr {result}")

    # What the two do differently -------------------------------------------------------------------------

    def _rooms(self) -> None:
        """Room on the stack."""
        if self.several:
            self.w.put(f"%made = alloca [{len(self.graph.outputs)} x ptr]")

    @abstractmethod
    def _look(self, threads: str) -> None:
        """Find the data of the inputs."""

    @abstractmethod
    def _into_out(self, out: str, threads: str) -> None:
        """The branch with `out`: an array, or a tuple of them."""

    @abstractmethod
    def _into_new(self, threads: str) -> None:
        """The branch without: new arrays."""

    # Keywords --------------------------------------------------------------------------------------------

    def _read_keywords(self) -> tuple[str, str]:
        """What was given as `out` and `threads`; null for nothing, None, or 1."""
        w = self.w
        places = [w.at("%keywords", 0), w.at("%keywords", 8)]
        for place in places:
            w.put(f"store ptr null, ptr {place}")
        with w.when(w.let("icmp ne ptr %kwnames, null")):
            size = self._integer("%kwnames", TUPLE_SIZE)
            self._require(f"icmp ule i64 {size}, 2")
            for i in range(2):
                with w.when(w.let(f"icmp ugt i64 {size}, {i}")):
                    name = self._pointer("%kwnames", TUPLE_ITEMS + 8 * i)
                    value = self._pointer("%args", 8 * (len(self.graph.inputs) + i))
                    is_out = w.let(f"icmp eq ptr {name}, {self._known('out')}")
                    is_threads = w.let(f"icmp eq ptr {name}, {self._known('threads')}")
                    self._require(f"or i1 {is_out}, {is_threads}")
                    w.put(
                        f"store ptr {value}, ptr {w.let(f'select i1 {is_out}, ptr {places[0]}, ptr {places[1]}')}"
                    )
        found = []
        for place, usual in zip(places, ("none", "one"), strict=True):
            value = w.let(f"load ptr, ptr {place}")
            plain = w.let(f"icmp eq ptr {value}, {self._known(usual)}")
            found.append(w.let(f"select i1 {plain}, ptr null, ptr {value}"))
        return found[0], found[1]

    # Outputs ---------------------------------------------------------------------------------------------

    def _arrays_of(self, out: str) -> list[str]:
        """The arrays in `out`."""
        if not self.several:
            return [out]
        kind = self._pointer(
            out, TYPE
        )  # any tuple, or what an earlier call gave: its items lie where a tuple's do
        plain, named = (self.w.let(f"icmp eq ptr {kind}, {self._known(t)}") for t in ("tuple", "results"))
        self._require(f"or i1 {plain}, {named}")
        self._require(f"icmp eq i64 {self._integer(out, TUPLE_SIZE)}, {len(self.graph.outputs)}")
        return [self._pointer(out, TUPLE_ITEMS + 8 * i) for i in range(len(self.graph.outputs))]

    def _return_out(self, out: str) -> None:
        if self.several:
            self.w.put(f"ret ptr {self._results(self.w.at(out, TUPLE_ITEMS))}")
        else:
            self.w.put(f"call void {self._known('incref')}(ptr {out})")
            self.w.put(f"ret ptr {out}")

    def _new_arrays(self) -> list[str]:
        w, new = self.w, [self._new(i) for i in range(len(self.graph.outputs))]
        missing = "false"
        for array in new:
            missing = w.let(f"or i1 {missing}, {w.let(f'icmp eq ptr {array}, null')}")
        with w.when(missing, leaves="ret ptr null"):
            self._forget(new)
        return new

    def _return_new(self, new: list[str]) -> None:
        w, leaves = self.w, f"ret ptr {new[0]}"
        if self.several:
            for i, array in enumerate(new):
                w.put(f"store ptr {array}, ptr {w.at('%made', 8 * i)}")
            leaves = f"ret ptr {self._results('%made')}"
            self._forget(new)
        w.put(leaves)

    def _shape(self, which: int) -> tuple[int, str]:
        """Number of axes of a new array, and where its shape lies."""
        return len(self.graph.outputs[which].shape), f"@shape{which}"

    def _new(self, which: int) -> str:
        axes, shape = self._shape(which)
        kind = f"i32 {axes}, ptr {shape}, i32 {TYPE_NUMBER[self.dtype]}"
        rest = "ptr null, ptr null, i32 0, i32 0, ptr null"
        return self.w.let(f"call ptr {self._known('new')}(ptr {self._known('ndarray')}, {kind}, {rest})")

    def _forget(self, objects: list[str]) -> None:
        """Give back references; what is null may be given back too."""
        for thing in objects:
            self.w.put(f"call void {self._known('decref')}(ptr {thing})")

    def _results(self, items: str) -> str:
        """The named tuple of several results."""
        call, kind, count = self._known("vectorcall"), self._known("results"), len(self.graph.outputs)
        return self.w.let(f"call ptr {call}(ptr {kind}, ptr {items}, i64 {count}, ptr null)")

    # Words -----------------------------------------------------------------------------------------------

    def _known(self, name: str) -> str:
        """An address that the loader has filled in."""
        return self._pointer("@python", 8 * NAMES.index(name))

    def _held(self, name: str) -> str:
        """An object that belongs to this entry."""
        return self._pointer(self._pointer("%self", LIST_ITEMS), 8 * HELD.index(name))

    def _pointer(self, base: str, offset: int) -> str:
        return self.w.let(f"load ptr, ptr {self.w.at(base, offset)}")

    def _integer(self, base: str, offset: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.at(base, offset)}")

    def _require(self, test: str) -> None:
        """Go on if the test (an expression or a value) holds; otherwise to the general call."""
        after = self.w.fresh("fits")
        truth = test if test.startswith("%") else self.w.let(test)
        self.w.put(f"br i1 {truth}, label %{after}, label %general")
        self.w.label(after)

    def _require_apart(self, a: str, a_end: str, b: str, b_end: str) -> None:
        """Two areas of memory do not overlap."""
        above, below = self.w.let(f"icmp uge ptr {a}, {b_end}"), self.w.let(f"icmp uge ptr {b}, {a_end}")
        self._require(f"or i1 {above}, {below}")

    def _plain_array(self, given: str, flags: int) -> str:
        """Require an exact array of the kernel's dtype with these flags; its number of axes."""
        w = self.w
        self._require(f"icmp eq ptr {self._pointer(given, TYPE)}, {self._known('ndarray')}")
        self._require(f"icmp eq ptr {self._pointer(given, DESCR)}, {self._known('descr')}")
        found = w.let(f"and i32 {w.let(f'load i32, ptr {w.at(given, FLAGS)}')}, {flags}")
        self._require(f"icmp eq i32 {found}, {flags}")
        return w.let(f"load i32, ptr {w.at(given, NDIM)}")

    def _require_shape(self, dimensions: str, shape: tuple[int, ...]) -> None:
        for axis, size in enumerate(shape):
            self._require(f"icmp eq i64 {self._integer(dimensions, 8 * axis)}, {size}")


class SingleText(EntryText):
    """`@entry` for one state."""

    def _look(self, threads: str) -> None:
        self._require(f"icmp eq ptr {threads}, null")
        self.places = []
        for i, port in enumerate(self.graph.inputs):
            given = self._pointer("%args", 8 * i)
            if port.shape or self.dtype != "float64":
                self.places.append(self._array(given, port, CONTIGUOUS | ALIGNED))
            else:
                self.places.append(self._number(given, port))

    def _into_out(self, out: str, threads: str) -> None:
        w, ports = self.w, self.graph.outputs
        flags = CONTIGUOUS | ALIGNED | WRITEABLE
        places = [self._array(a, p, flags) for a, p in zip(self._arrays_of(out), ports, strict=True)]
        ends = [w.at(a, p.size * self.item) for a, p in zip(places, ports, strict=True)]
        for i, place in enumerate(places):
            for j in range(i):
                self._require_apart(place, ends[i], places[j], ends[j])
        self._require(self._compute("i1 false", places))
        self._return_out(out)

    def _into_new(self, threads: str) -> None:
        w, new = self.w, self._new_arrays()
        finite = w.let(self._compute("i1 true", [self._pointer(array, DATA) for array in new]))
        with w.when(w.let(f"xor i1 {finite}, true"), leaves="br label %general"):
            self._forget(new)
        self._return_new(new)

    def _compute(self, anyway: str, places: list[str]) -> str:
        return f"call i1 @one({', '.join([anyway, *(f'ptr {p}' for p in self.places + places)])})"

    def _number(self, given: str, port: Port) -> str:
        """The data of a Python float, or of an array without axes."""
        w, is_float, other, found = self.w, *(self.w.fresh(s) for s in ("float", "other", "found"))
        test = w.let(f"icmp eq ptr {self._pointer(given, TYPE)}, {self._known('float')}")
        w.put(f"br i1 {test}, label %{is_float}, label %{other}")
        w.label(is_float)
        inside = w.at(given, FLOAT_VALUE)
        w.put(f"br label %{found}")
        w.label(other)
        data = self._array(given, port, CONTIGUOUS | ALIGNED)
        last = w.block
        w.put(f"br label %{found}")
        w.label(found)
        return w.let(f"phi ptr [ {inside}, %{is_float} ], [ {data}, %{last} ]")

    def _array(self, given: str, port: Port, flags: int) -> str:
        """The data of an array that is exactly what the port wants."""
        axes = self._plain_array(given, flags)
        self._require(f"icmp eq i32 {axes}, {len(port.shape)}")
        if port.shape:
            self._require_shape(self._pointer(given, DIMENSIONS), port.shape)
        return self._pointer(given, DATA)
