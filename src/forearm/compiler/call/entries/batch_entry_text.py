"""The text of `@entry` for batches: it makes the table of arrays on the stack and calls `@batch`."""

from __future__ import annotations

from forearm.compiler.call.entries.builtin_functions import ALIGNED, CONTIGUOUS, DATA, DIMENSIONS, WRITEABLE
from forearm.compiler.call.entries.entry_text import EntryText, entry_globals
from forearm.compiler.graph.graph import Graph, Port

ALONE = 512
"""States from which other Python threads may run meanwhile; below, letting go of the GIL costs more than it gives."""


def batch_entry(graph: Graph, dtype: str, layout: str, scratch: int, most: int) -> str:
    """The text of `@entry` for many states, to go with `@batch`, which wants so many bytes of scratch area.

    Batches of more than `most` states go to `share` in any case, which hears Ctrl-C meanwhile.
    """
    return "\n".join([*entry_globals(graph), BatchText(graph, dtype, layout, scratch, most).function()])


class BatchText(EntryText):
    """`@entry` for many states: one axis of them, equally long in all arrays; inputs without it are shared."""

    def __init__(self, graph: Graph, dtype: str, layout: str, scratch: int, most: int) -> None:
        super().__init__(graph, dtype)
        self.rows, self.scratch, self.most = layout == "rows", scratch, most

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
            before = 8 if self.rows else 0
            place = 0 if self.rows else w.let(f"select i1 {many}, i64 {8 * k}, i64 0")
            length = w.let(f"load i64, ptr {w.at(dimensions, place)}")
            same = w.let(f"icmp eq i64 {length}, {count}")
            new = w.let(f"icmp eq i64 {count}, -1")
            self._require(f"or i1 {same}, {w.let(f'or i1 {new}, {alone}')}")
            count = w.let(f"select i1 {many}, i64 {length}, i64 {count}")
            if k:
                shift = w.let(f"select i1 {many}, i64 {before}, i64 0")
                self._require_shape(w.at(dimensions, shift), port.shape)
            stride = w.let(f"select i1 {many}, i64 {self._step(port)}, i64 0")
            self.sources.append((self._pointer(given, DATA), stride, port.size))
        self._require(f"icmp sge i64 {count}, 1")
        self.count = count

    def _step(self, port: Port) -> int:
        """Bytes from state to state."""
        return port.size * self.item if self.rows else self.item

    def _into_out(self, out: str, threads: str) -> None:
        w, sinks, ends = self.w, [], []
        for given, port in zip(self._arrays_of(out), self.graph.outputs, strict=True):
            axes = self._plain_array(given, CONTIGUOUS | ALIGNED | WRITEABLE)
            self._require(f"icmp eq i32 {axes}, {len(port.shape) + 1}")
            dimensions = self._pointer(given, DIMENSIONS)
            place = w.at(dimensions, 0 if self.rows else 8 * len(port.shape))
            self._require(f"icmp eq i64 {w.let(f'load i64, ptr {place}')}, {self.count}")
            self._require_shape(w.at(dimensions, 8 if self.rows else 0), port.shape)
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
        """An input that results do not overwrite before it is read: apart from them, or row on the same row.

        (Columns are read where they are needed, perhaps after others were written.)
        """
        w = self.w
        rows = w.let(f"icmp ne i64 {stride}, 0")
        whole = w.let(f"mul i64 {self.count}, {size * self.item}")
        length = w.let(f"select i1 {rows}, i64 {whole}, i64 {size * self.item}")
        end = w.at(source, length)
        above, below = w.let(f"icmp uge ptr {source}, {sink_end}"), w.let(f"icmp uge ptr {sink}, {end}")
        apart = w.let(f"or i1 {above}, {below}")
        if self.rows and size == port.size:
            same = w.let(f"icmp eq ptr {source}, {sink}")
            apart = w.let(f"or i1 {apart}, {w.let(f'and i1 {same}, {rows}')}")
        self._require(apart)

    def _shape(self, which: int) -> tuple[int, str]:
        w, port = self.w, self.graph.outputs[which]
        for axis, size in enumerate((self.count, *port.shape) if self.rows else (*port.shape, self.count)):
            w.put(f"store i64 {size}, ptr {w.at(f'%shape{which}', 8 * axis)}")
        return len(port.shape) + 1, f"%shape{which}"

    def _into_new(self, threads: str) -> None:
        new = self._new_arrays()
        self._compute([self._pointer(array, DATA) for array in new], threads, new)
        self._return_new(new)

    def _compute(self, sinks: list[str], threads: str, new: list[str]) -> None:
        """Fill the table and run: here, or shared among threads by the Python function `share`."""
        w, item = self.w, self.item
        steps = [self._step(p) for p in self.graph.outputs]
        rows = [(a, s) for a, s, _ in self.sources] + list(zip(sinks, steps, strict=True))
        for i, (data, step) in enumerate(rows):
            address, apart = w.let(f"ptrtoint ptr {data} to i64"), str(item)
            if not self.rows:
                many = w.let(f"icmp ne i64 {step}, 0")
                apart = w.let(f"select i1 {many}, i64 {w.let(f'mul i64 {self.count}, {item}')}, i64 {item}")
            for j, number in enumerate((address, step, apart)):
                w.put(f"store i64 {number}, ptr {w.at('%table', 24 * i + 8 * j)}")
        alone, shared, done = (w.fresh(s) for s in ("alone", "shared", "computed"))
        few = w.let(f"icmp sle i64 {self.count}, {self.most}")
        nobody = w.let(f"icmp eq ptr {threads}, null")
        w.put(f"br i1 {w.let(f'and i1 {few}, {nobody}')}, label %{alone}, label %{shared}")
        w.label(shared)
        self._share(w.let(f"select i1 {nobody}, ptr {self._known('one')}, ptr {threads}"), new)
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
