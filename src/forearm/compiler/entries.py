"""The text of the builtin functions that Python calls: `@entry` for one state, `@entry` for a batch.

An entry looks at its arguments as C code compiled against NumPy does, through the fields of the array object:
exact `ndarray`s of the kernel's dtype and shape, C order, aligned; `out` and `threads` by keyword. If all fits it
computes and returns `out`, or new arrays (several outputs: the named tuple); anything else it hands, as it came,
to the next function, `rest`. fastcall.py loads these texts and says on which interpreters they may run.
"""

from __future__ import annotations

from forearm.compiler.emit_llvm import ITEMSIZE, Writer
from forearm.compiler.graph import Graph, Port

# Fields of PyObject, PyTupleObject, PyListObject, PyFloatObject, PyArrayObject: bytes from the start.
TYPE, TUPLE_SIZE, LIST_ITEMS, FLOAT_VALUE = 8, 16, 24, 16
TUPLE_ITEMS = tuple.__basicsize__  # differs between versions of Python
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 16, 24, 32, 56, 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
TYPE_NUMBER = {"float64": 12, "float32": 11}

NAMES = (
    *("results", "ndarray", "descr", "float", "tuple", "none", "one"),
    *("out", "threads", "vectorcall", "incref", "decref", "new", "integer", "get", "free", "leave", "return"),
)
"""What `@python` holds, in order: filled by the loader, since addresses differ from process to process."""

HELD = ("rest", "share")
"""The first items of the list that is the function's `self`: they differ from entry to entry of one kernel."""

ALONE = 512
"""States from which other Python threads may run meanwhile; below, letting go of the GIL costs more than it gives."""


def single_entry(graph: Graph, dtype: str) -> str:
    """The text of `@entry` for one state, to go with `@one`."""
    return "\n".join([*_globals(graph), _Single(graph, dtype).function()])


def batch_entry(graph: Graph, dtype: str, scratch: int) -> str:
    """The text of `@entry` for rows of states, to go with `@batch`, which wants so many bytes of scratch area."""
    return "\n".join([*_globals(graph), _Batch(graph, dtype, scratch).function()])


def _globals(graph: Graph) -> list[str]:
    found = [f"@python = global [{len(NAMES)} x ptr] zeroinitializer"]
    for i, port in enumerate(graph.outputs):
        numbers = f"[{', '.join(f'i64 {n}' for n in port.shape)}]" if port.shape else "zeroinitializer"
        found.append(f"@shape{i} = private constant [{len(port.shape)} x i64] {numbers}")
    return found


class _Entry:
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

    def _look(self, threads: str) -> None:
        """Find the data of the inputs."""
        raise NotImplementedError

    def _into_out(self, out: str, threads: str) -> None:
        """The branch with `out`: an array, or a tuple of them."""
        raise NotImplementedError

    def _into_new(self, threads: str) -> None:
        """The branch without: new arrays."""
        raise NotImplementedError

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
        self._require(f"icmp eq ptr {self._pointer(out, TYPE)}, {self._known('tuple')}")
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


class _Single(_Entry):
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


class _Batch(_Entry):
    """`@entry` for rows of states: one leading axis, equally long in all arrays; inputs without it are shared."""

    def __init__(self, graph: Graph, dtype: str, scratch: int) -> None:
        super().__init__(graph, dtype)
        self.scratch = scratch

    def _rooms(self) -> None:
        super()._rooms()
        ports = len(self.graph.inputs) + len(self.graph.outputs)
        self.w.put(f"%table = alloca [{3 * ports} x i64]")
        self.w.put("%three = alloca [3 x ptr]")
        for i, port in enumerate(self.graph.outputs):
            self.w.put(f"%shape{i} = alloca [{len(port.shape) + 1} x i64]")

    def _look(self, threads: str) -> None:
        w, count = self.w, "-1"
        self.sources = []
        for i, port in enumerate(self.graph.inputs):
            given, k = self._pointer("%args", 8 * i), len(port.shape)
            axes = self._plain_array(given, CONTIGUOUS | ALIGNED)
            many = w.let(f"icmp eq i32 {axes}, {k + 1}")
            alone = w.let(f"icmp eq i32 {axes}, {k}") if k else "false"
            self._require(f"or i1 {many}, {alone}")
            dimensions = self._pointer(given, DIMENSIONS)
            first = w.let(f"load i64, ptr {dimensions}")
            same = w.let(f"icmp eq i64 {first}, {count}")
            new = w.let(f"icmp eq i64 {count}, -1")
            self._require(f"or i1 {same}, {w.let(f'or i1 {new}, {alone}')}")
            count = w.let(f"select i1 {many}, i64 {first}, i64 {count}")
            self._require_shape(
                w.at(dimensions, w.let(f"select i1 {many}, i64 8, i64 0")) if k else dimensions, port.shape
            )
            stride = w.let(f"select i1 {many}, i64 {port.size * self.item}, i64 0")
            self.sources.append((self._pointer(given, DATA), stride, port.size))
        self._require(f"icmp sge i64 {count}, 1")
        self.count = count

    def _into_out(self, out: str, threads: str) -> None:
        w, sinks, ends = self.w, [], []
        for given, port in zip(self._arrays_of(out), self.graph.outputs, strict=True):
            axes = self._plain_array(given, CONTIGUOUS | ALIGNED | WRITEABLE)
            self._require(f"icmp eq i32 {axes}, {len(port.shape) + 1}")
            dimensions = self._pointer(given, DIMENSIONS)
            self._require(f"icmp eq i64 {w.let(f'load i64, ptr {dimensions}')}, {self.count}")
            self._require_shape(w.at(dimensions, 8) if port.shape else dimensions, port.shape)
            sinks.append(self._pointer(given, DATA))
            ends.append(w.at(sinks[-1], w.let(f"mul i64 {self.count}, {port.size * self.item}")))
        for i, sink in enumerate(sinks):
            for j in range(i):
                self._require_apart(sink, ends[i], sinks[j], ends[j])
            for source, stride, size in self.sources:
                self._require_readable(source, stride, size, sink, ends[i], self.graph.outputs[i])
        self._compute(sinks, threads, [])
        self._return_out(out)

    def _require_readable(
        self, source: str, stride: str, size: int, sink: str, sink_end: str, port: Port
    ) -> None:
        """An input that results do not overwrite before it is read: apart from them, or row on the same row."""
        w = self.w
        rows = w.let(f"icmp ne i64 {stride}, 0")
        whole = w.let(f"mul i64 {self.count}, {stride}")
        length = w.let(f"select i1 {rows}, i64 {whole}, i64 {size * self.item}")
        end = w.at(source, length)
        above, below = w.let(f"icmp uge ptr {source}, {sink_end}"), w.let(f"icmp uge ptr {sink}, {end}")
        apart = w.let(f"or i1 {above}, {below}")
        if size == port.size:
            same = w.let(f"icmp eq ptr {source}, {sink}")
            apart = w.let(f"or i1 {apart}, {w.let(f'and i1 {same}, {rows}')}")
        self._require(apart)

    def _shape(self, which: int) -> tuple[int, str]:
        w, port = self.w, self.graph.outputs[which]
        for axis, size in enumerate((self.count, *port.shape)):
            w.put(f"store i64 {size}, ptr {w.at(f'%shape{which}', 8 * axis)}")
        return len(port.shape) + 1, f"%shape{which}"

    def _into_new(self, threads: str) -> None:
        new = self._new_arrays()
        self._compute([self._pointer(array, DATA) for array in new], threads, new)
        self._return_new(new)

    def _compute(self, sinks: list[str], threads: str, new: list[str]) -> None:
        """Fill the table and run: here, or shared among threads by the Python function `share`."""
        w, item = self.w, self.item
        steps = [p.size * item for p in self.graph.outputs]
        rows = [(a, s) for a, s, _ in self.sources] + list(zip(sinks, steps, strict=True))
        for i, (data, step) in enumerate(rows):
            address = w.let(f"ptrtoint ptr {data} to i64")
            for j, number in enumerate((address, step, item)):
                w.put(f"store i64 {number}, ptr {w.at('%table', 24 * i + 8 * j)}")
        alone, shared, done = (w.fresh(s) for s in ("alone", "shared", "computed"))
        w.put(f"br i1 {w.let(f'icmp eq ptr {threads}, null')}, label %{alone}, label %{shared}")
        w.label(shared)
        self._share(threads, new)
        w.put(f"br label %{done}")
        w.label(alone)
        self._run(new)
        w.put(f"br label %{done}")
        w.label(done)

    def _share(self, threads: str, new: list[str]) -> None:
        """Call `share(table, count, threads)`; a fault there is a fault here."""
        w, make = self.w, self._known("integer")
        table = w.let(f"call ptr {make}(i64 {w.let('ptrtoint ptr %table to i64')})")
        count = w.let(f"call ptr {make}(i64 {self.count})")
        for i, thing in enumerate((table, count, threads)):
            w.put(f"store ptr {thing}, ptr {w.at('%three', 8 * i)}")
        call = f"ptr {self._held('share')}, ptr %three, i64 3, ptr null"
        found = w.let(f"call ptr {self._known('vectorcall')}({call})")
        self._forget([table, count, found])
        with w.when(w.let(f"icmp eq ptr {found}, null"), leaves="ret ptr null"):
            self._forget(new)

    def _run(self, new: list[str]) -> None:
        """Call `@batch` with a scratch area of its own; for many states without the GIL."""
        w = self.w
        area = w.let(f"call ptr {self._known('get')}(i64 {self.scratch + 64})")
        with w.when(w.let(f"icmp eq ptr {area}, null"), leaves="br label %general"):
            self._forget(new)
        number = w.let(f"ptrtoint ptr {area} to i64")
        aligned = w.let(f"and i64 {w.let(f'add i64 {number}, 63')}, -64")
        scratch = w.let(f"inttoptr i64 {aligned} to ptr")
        call = f"call void @batch(ptr %table, i64 0, i64 {self.count}, ptr {scratch})"
        few, many, after = (w.fresh(s) for s in ("few", "many", "after"))
        w.put(f"br i1 {w.let(f'icmp slt i64 {self.count}, {ALONE}')}, label %{few}, label %{many}")
        w.label(few)
        w.put(call)
        w.put(f"br label %{after}")
        w.label(many)
        state = w.let(f"call ptr {self._known('leave')}()")
        w.put(call)
        w.put(f"call void {self._known('return')}(ptr {state})")
        w.put(f"br label %{after}")
        w.label(after)
        w.put(f"call void {self._known('free')}(ptr {area})")
