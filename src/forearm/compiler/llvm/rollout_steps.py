"""The text of a simulation kernel: the steps of a tile of states, one after the other, in the scratch area.

How a step is made is the rule's to say (graph/step_rules.py); inputs of a step are held during it. Sums are fused
multiply-adds with dt times the coefficient, so the order of roundings is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.step_rules import RK4, Map, SemiImplicitEuler, StepRule, Tableau
from forearm.compiler.llvm.batches import each_tile, move, movers_of, program_of, table_row
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer, fma
from forearm.compiler.llvm.tile_columns import Columns
from forearm.compiler.llvm.tiles import Plan
from forearm.faults import KernelFault


@dataclass(frozen=True)
class Roles:
    """What the ports of a step graph are."""

    graph: Graph
    """The step."""
    states: Mapping[str, str]
    """Each state's rate: an output, or another state. (With `map`: the output that is its next value.)"""
    rule: StepRule = RK4
    """How a step is made."""
    per_step: tuple[str, ...] = ()
    """Inputs that have a value for each step."""
    time: str | None = None
    """The scalar input that is the time, if there is one."""
    observed: tuple[str, ...] = ()
    """Outputs to be recorded beside the states, as they are at the beginning of a step."""

    def __post_init__(self) -> None:
        """Refuse roles that no port can play."""
        where, inputs = self.graph.name, {p.name: p for p in self.graph.inputs}
        outputs = {p.name: p for p in self.graph.outputs}
        for name in (*self.states, *self.per_step, *([self.time] if self.time else [])):
            if name not in inputs:
                raise KernelFault(f"{where}: there is no input {name!r}; it has {', '.join(inputs)}.")
        for name in self.observed:
            if name not in outputs:
                raise KernelFault(f"{where}: there is no output {name!r}; it has {', '.join(outputs)}.")
        for state, rate in self.states.items():
            follows = rate in self.states and not isinstance(self.rule, Map)
            found = outputs.get(rate) or (inputs[rate] if follows else None)
            if found is None or found.shape != inputs[state].shape:
                raise KernelFault(
                    f"{where}: {rate!r} cannot be the rate of {state!r} {inputs[state].shape}; "
                    "name an output (or, but for maps, a state) of the same shape."
                )

    @property
    def given(self) -> list[Port]:
        """Inputs that the caller gives: all but the time."""
        return [p for p in self.graph.inputs if p.name != self.time]

    @property
    def state_ports(self) -> list[Port]:
        """The states, in the order of the graph's inputs."""
        return [p for p in self.graph.inputs if p.name in self.states]

    @property
    def observed_ports(self) -> list[Port]:
        """The outputs recorded, in the order of the graph's outputs."""
        return [p for p in self.graph.outputs if p.name in self.observed]


DOUBLE = Lanes("float64", 1)


def rollout_program(roles: Roles, plan: Plan, triple: str) -> str:
    """The module with `@rollout(table, first, end, scratch)`.

    Three numbers in the table (address, bytes from row to row, bytes from step to step) for each given input,
    for each state's end, for each state's record, for each observed output's record; then the number of steps, after
    how many of them to record (0 for no record), and as doubles the length of a step and the time of the first.
    """
    movers = movers_of(plan, "rows", inward=roles.given, outward=[*roles.state_ports, *roles.observed_ports])
    return program_of(plan, triple, [*movers, _Rolling(roles, plan).function()])


def scratch_size(roles: Roles, plan: Plan) -> int:
    """Bytes of the scratch area: the tile, the state at the step's beginning, the sum of the stages, kept rates."""
    kept = len(roles.rule.kept) if isinstance(roles.rule, Tableau) else 0
    return (plan.columns + (2 + kept) * sum(p.size for p in roles.state_ports)) * plan.pitch


class _Rolling:
    """The text of `@rollout`."""

    def __init__(self, roles: Roles, plan: Plan) -> None:
        self.roles, self.plan, self.lanes, self.w = roles, plan, plan.lanes, Writer()
        self.inputs = {p.name: c for p, c in zip(roles.graph.inputs, plan.inputs, strict=True)}
        self.outputs = {p.name: c for p, c in zip(roles.graph.outputs, plan.outputs, strict=False)}
        self.here: list[int] = []
        self.rates: list[int] = []
        self.by_state: list[bool] = []
        for port in roles.state_ports:
            rate = roles.states[port.name]
            first = self.outputs[rate] if rate in self.outputs else self.inputs[rate]
            self.here += range(self.inputs[port.name], self.inputs[port.name] + port.size)
            self.rates += range(first, first + port.size)
            self.by_state += [rate not in self.outputs] * port.size
        self.base = plan.columns
        self.sums = self.base + len(self.here)

    def function(self) -> str:
        """All tiles, all steps."""
        w, roles = self.w, self.roles
        sizes = [len(roles.given), len(roles.state_ports), len(roles.state_ports), len(roles.observed_ports)]
        rows = iter([table_row(w, i) for i in range(sum(sizes))])
        self.given, self.ends, self.records, self.observed = ([next(rows) for _ in range(n)] for n in sizes)
        for i, (name, kind) in enumerate(
            (("steps", "i64"), ("every", "i64"), ("dt", "double"), ("t0", "double"))
        ):
            w.put(f"%{name} = load {kind}, ptr {w.at('%table', 24 * sum(sizes) + 8 * i)}")
        with each_tile(w, self.plan) as span:
            self.span = span
            for port, row in zip(roles.given, self.given, strict=True):
                self._move(port, self.inputs[port.name], row, "0", inward=True)
            with w.loop("%steps") as step:
                self._step(step)
            for port, row in zip(roles.state_ports, self.ends, strict=True):
                self._move(port, self.inputs[port.name], row, "0", inward=False)
        return w.function("void @rollout(ptr %table, i64 %first, i64 %end, ptr %scratch) nounwind")

    def _step(self, step: str) -> None:
        """Inputs of the step, record, graph, the new state."""
        w, roles = self.w, self.roles
        for port, row in zip(roles.given, self.given, strict=True):
            if port.name in roles.per_step:
                self._move(port, self.inputs[port.name], row, step, inward=True)
        place, due = self._due(step)
        with w.when(due):
            for port, row in zip(roles.state_ports, self.records, strict=True):
                self._move(port, self.inputs[port.name], row, place, inward=False)
        self._stage(step, 0.0)
        if roles.observed_ports:
            with w.when(due):
                for port, row in zip(roles.observed_ports, self.observed, strict=True):
                    self._move(port, self.outputs[port.name], row, place, inward=False)
        match roles.rule:
            case Map():
                self._map()
            case SemiImplicitEuler():
                self._euler()
            case Tableau() as tableau:
                self._update(tableau, 0)
                for stage in range(1, tableau.stages):
                    self._stage(step, tableau.times[stage])
                    self._update(tableau, stage)

    def _move(self, port: Port, column: int, row: list[str], step: str, *, inward: bool) -> None:
        w, (address, stride, between) = self.w, row
        base = w.let(f"inttoptr i64 {address} to ptr")
        offset = w.let(f"mul i64 {self.span.start}, {stride}")
        offset = w.let(f"add i64 {offset}, {w.let(f'mul i64 {step}, {between}')}")
        move(w, self.plan, port, column, w.at(base, offset), f"i64 {stride}", self.span, inward)

    def _due(self, step: str) -> tuple[str, str]:
        """Which row of the record a step belongs to, and whether it is to be written."""
        w = self.w
        recording = w.let("icmp ne i64 %every, 0")
        every = w.let(f"select i1 {recording}, i64 %every, i64 1")
        on_time = w.let(f"icmp eq i64 {w.let(f'urem i64 {step}, {every}')}, 0")
        return w.let(f"udiv i64 {step}, {every}"), w.let(f"and i1 {recording}, {on_time}")

    def _stage(self, step: str, along: float) -> None:
        """Time and graph of one stage, some way along the step."""
        w, roles = self.w, self.roles
        if roles.time:
            number = w.let(f"uitofp i64 {step} to double")
            number = w.let(f"fadd double {number}, {DOUBLE.number(along)}")
            value = self._spread(w.let(fma(DOUBLE, number, "%dt", "%t0")))
            with self._each() as columns:
                columns.store(value, self.inputs[roles.time])
        w.put(f"call void @tile(ptr %scratch, i64 {self.span.count})")

    def _spread(self, number: str) -> str:
        """A double in every lane of a value."""
        w, lanes = self.w, self.lanes
        if lanes.dtype == "float32":
            number = w.let(f"fptrunc double {number} to float")
        if lanes.width == 1:
            return number
        first = w.let(f"insertelement {lanes.type} poison, {lanes.scalar} {number}, i64 0")
        picks = f"<{lanes.width} x i32> zeroinitializer"
        return w.let(f"shufflevector {lanes.type} {first}, {lanes.type} poison, {picks}")

    @contextmanager
    def _each(self) -> Iterator[Columns]:
        """A loop over the vectors of the tile."""
        with self.w.loop(self.span.count, self.lanes.width) as index:
            yield Columns(self.w, self.plan, index)

    def _times_dt(self, factor: float) -> str:
        return self._spread(self.w.let(f"fmul double %dt, {DOUBLE.number(factor)}"))

    def _map(self) -> None:
        """The next state is what the graph gave."""
        with self._each() as columns:
            for x, rate in zip(self.here, self.rates, strict=True):
                columns.store(columns.load(rate), x)

    def _euler(self) -> None:
        """States with computed rates first; the others follow their new values."""
        dt = self._times_dt(1.0)
        with self._each() as columns:
            fresh: dict[int, str] = {}
            for turn in (False, True):
                for x, rate, by_state in zip(self.here, self.rates, self.by_state, strict=True):
                    if by_state is turn:
                        k = fresh[rate] if rate in fresh else columns.load(rate)
                        fresh[x] = self.w.let(fma(self.lanes, k, dt, columns.load(x)))
            for x, value in fresh.items():
                columns.store(value, x)

    def _update(self, tableau: Tableau, stage: int) -> None:
        """Add a stage's rate to the sum and go to where the next stage is."""
        w, lanes, first, n = self.w, self.lanes, stage == 0, len(self.here)
        last = stage == tableau.stages - 1
        rooms = {j: self.sums + n * (k + 1) for k, j in enumerate(tableau.kept)}
        step = self._times_dt(tableau.weights[stage])
        row = () if last else tableau.reaches[stage]
        reaches = {j: self._times_dt(a) for j, a in enumerate(row) if a}
        with self._each() as columns:
            rates = [columns.load(rate) for rate in self.rates]
            for i, (x, k) in enumerate(zip(self.here, rates, strict=True)):
                start = columns.load(x if first else self.base + i)
                total = w.let(fma(lanes, k, step, start if first else columns.load(self.sums + i)))
                if stage in rooms:
                    columns.store(k, rooms[stage] + i)
                if first and not last:
                    columns.store(start, self.base + i)
                columns.store(total, x if last else self.sums + i)
                if not last:
                    place = start
                    for j, reach in reaches.items():
                        rate = k if j == stage else columns.load(rooms[j] + i)
                        place = w.let(fma(lanes, rate, reach, place))
                    columns.store(place, x)
