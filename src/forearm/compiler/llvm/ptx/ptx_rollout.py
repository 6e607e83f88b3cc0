"""The steps of a simulation on a GPU: all of them in one launch, the state of a thread in its registers.

Parameters of `rollout`:

    for each given input:              address, state, element, step      (step: 0 where it has no value for each step)
    for each state's end:              address, state, element
    for each state's and observed output's record:  address, state, element, row
    count, steps, every                (every: 0 for no record)
    dt, t0                             doubles

rollout_steps.py is the same for the processor; what a scheme does within a step is in graph/step_rules.py for both.
"""

from __future__ import annotations

from collections.abc import Callable

from forearm.compiler.graph.step_rules import Map, Tableau
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.nodes import Writer, fma
from forearm.compiler.llvm.ptx.ptx_batches import (
    DEFAULT_GPU,
    Global,
    evaluate,
    kernel_function,
    ptx_text,
    start_thread,
)
from forearm.compiler.llvm.rollout_steps import DOUBLE, Roles


def ptx_rollout(roles: Roles, dtype: str = "float64", gpu: str = DEFAULT_GPU) -> str:
    """The PTX text of `rollout`: the steps of a simulation, the state in registers, stages in a loop."""
    return _Rollout(roles, Lanes(dtype, 1)).text(gpu)


class _Rollout:
    """The text of `rollout`."""

    def __init__(self, roles: Roles, lanes: Lanes) -> None:
        self.roles, self.lanes, self.w = roles, lanes, Writer()
        self.graph = roles.graph
        self.inputs = [p.name for p in self.graph.inputs]
        self.given = [Global(f"in{i}", p, True) for i, p in enumerate(roles.given)]
        self.ends = [Global(f"end{i}", p) for i, p in enumerate(roles.state_ports)]
        kept = [*roles.state_ports, *roles.observed_ports]
        self.records = [Global(f"record{i}", p, True) for i, p in enumerate(kept)]
        self.sizes = [p.size for p in roles.state_ports]

    def text(self, gpu: str) -> str:
        """The kernel, as PTX."""
        w = self.w
        start_thread(w)
        first = {
            a.port.name: a.load(w, self.lanes) for a in self.given if a.port.name not in self.roles.per_step
        }
        states = [v for p in self.roles.state_ports for v in first[p.name]]
        last = self._loop("%steps", states, lambda step, now: self._step(step, now, first))
        for array, values in zip(self.ends, self._split(last), strict=True):
            array.store(w, self.lanes, values)
        parameters = [p for a in (*self.given, *self.ends, *self.records) for p in a.parameters]
        numbers = ["i64 %count", "i64 %steps", "i64 %every", "double %dt", "double %t0"]
        return ptx_text(self.graph, self.lanes, gpu, kernel_function(w, "rollout", parameters + numbers))

    def _split(self, values: list[str]) -> list[list[str]]:
        """State values by port."""
        rest = iter(values)
        return [[next(rest) for _ in range(size)] for size in self.sizes]

    def _loop(self, end: str, values: list[str], body: Callable[[str, list[str]], list[str]]) -> list[str]:
        """Repeat from 0 to `end`, values carried from turn to turn in registers; gives the last ones."""
        w, t = self.w, self.lanes.type
        head, done, stem, before = w.fresh("head"), w.fresh("done"), w.fresh("carried"), w.block
        index, now = f"%{stem}.index", [f"%{stem}.{i}" for i in range(len(values))]
        w.put(f"br label %{head}")
        w.label(head)
        place = len(w.lines)
        found = body(index, now)
        following = w.let(f"add i64 {index}, 1")
        rows = zip([index, *now], ["0", *values], [following, *found], strict=True)
        w.lines[place:place] = [
            f"  {name} = phi {'i64' if name == index else t} [ {first}, %{before} ], [ {later}, %{w.block} ]"
            for name, first, later in rows
        ]
        w.put(f"br i1 {w.let(f'icmp slt i64 {following}, {end}')}, label %{head}, label %{done}")
        w.label(done)
        return found

    def _step(self, step: str, now: list[str], first: dict[str, list[str]]) -> list[str]:
        w, roles = self.w, self.roles
        held = dict(first)
        for array in self.given:
            if array.port.name in roles.per_step:
                held[array.port.name] = array.load(w, self.lanes, step)
        row, due = self._due(step)
        states = self.records[: len(self.sizes)]
        with w.when(due):
            for array, values in zip(states, self._split(now), strict=True):
                array.store(w, self.lanes, values, row)
        if isinstance(roles.rule, Tableau):
            runge_kutta = self._unrolled if roles.rule.kept else self._looped
            return runge_kutta(roles.rule, step, now, held, row, due)
        rates = self._rates(step, DOUBLE.number(0.0), now, held, row, due)
        return rates if isinstance(roles.rule, Map) else self._euler(now, rates)

    def _due(self, step: str) -> tuple[str, str]:
        """Which row of the record a step belongs to, and whether it is to be written."""
        w = self.w
        recording = w.let("icmp ne i64 %every, 0")
        every = w.let(f"select i1 {recording}, i64 %every, i64 1")
        on_time = w.let(f"icmp eq i64 {w.let(f'urem i64 {step}, {every}')}, 0")
        return w.let(f"udiv i64 {step}, {every}"), w.let(f"and i1 {recording}, {on_time}")

    def _rates(
        self, step: str, along: str, now: list[str], held: dict[str, list[str]], row: str, due: str
    ) -> list[str]:
        """The graph on a state, some way along a step; observed outputs are recorded where that is due."""
        w, roles, lanes = self.w, self.roles, self.lanes
        here = dict(held) | {p.name: v for p, v in zip(roles.state_ports, self._split(now), strict=True)}
        if roles.time:
            number = w.let(f"fadd double {w.let(f'uitofp i64 {step} to double')}, {along}")
            time = w.let(fma(DOUBLE, number, "%dt", "%t0"))
            here[roles.time] = [
                time if lanes.dtype == "float64" else w.let(f"fptrunc double {time} to float")
            ]
        found = evaluate(w, lanes, self.graph, [here[name] for name in self.inputs])
        outputs = {p.name: v for p, v in zip(self.graph.outputs, found, strict=True)}
        if roles.observed_ports:
            with w.when(due):
                for array in self.records[len(self.sizes) :]:
                    array.store(w, lanes, outputs[array.port.name], row)
        rate_of = {s: outputs[r] if r in outputs else here[r] for s, r in roles.states.items()}
        return [v for p in roles.state_ports for v in rate_of[p.name]]

    def _number(self, double: str) -> str:
        return double if self.lanes.dtype == "float64" else self.w.let(f"fptrunc double {double} to float")

    def _euler(self, now: list[str], rates: list[str]) -> list[str]:
        w, lanes, roles = self.w, self.lanes, self.roles
        dt = self._number("%dt")
        fresh: dict[str, list[str]] = {}
        old = {p.name: v for p, v in zip(roles.state_ports, self._split(now), strict=True)}
        slope = {p.name: v for p, v in zip(roles.state_ports, self._split(rates), strict=True)}
        for turn in (False, True):
            for port in roles.state_ports:
                rate = roles.states[port.name]
                if (rate in old) is turn:
                    ks = fresh.get(rate, slope[port.name]) if turn else slope[port.name]
                    pairs = zip(ks, old[port.name], strict=True)
                    fresh[port.name] = [w.let(fma(lanes, k, dt, y)) for k, y in pairs]
        return [v for p in roles.state_ports for v in fresh[p.name]]

    def _scaled(self, factor: float) -> str:
        """dt times a factor, in the kernel's precision."""
        return self._number(self.w.let(f"fmul double %dt, {DOUBLE.number(factor)}"))

    def _looped(
        self,
        tableau: Tableau,
        step: str,
        now: list[str],
        held: dict[str, list[str]],
        row: str,
        due: str,
    ) -> list[str]:
        """Stages in a loop, so that the graph is written once: what differs between them is chosen by their number.

        For schemes in which a stage needs only the rate before it; nothing else is carried round.
        """
        w, lanes, n = self.w, self.lanes, len(now)
        known = {f: self._scaled(f) for f in dict.fromkeys([*tableau.weights, *_reach(tableau)])}

        def stage(index: str, carried: list[str]) -> list[str]:
            at, total = carried[:n], carried[n:]
            start = w.let(f"icmp eq i64 {index}, 0")
            weight = self._chosen(index, lanes.type, [known[f] for f in tableau.weights])
            reach = self._chosen(index, lanes.type, [known[f] for f in _reach(tableau)])
            along = self._chosen(index, "double", [DOUBLE.number(t) for t in tableau.times])
            first = w.let(f"and i1 {start}, {due}")
            rates = self._rates(step, along, at, held, row, first)
            sums = [w.let(fma(lanes, k, weight, s)) for k, s in zip(rates, total, strict=True)]
            following = [w.let(fma(lanes, k, reach, y)) for k, y in zip(rates, now, strict=True)]
            return following + sums

        return self._loop(str(tableau.stages), now + now, stage)[n:]

    def _chosen(self, index: str, kind: str, values: list[str]) -> str:
        """The value of a stage, by its number; equal neighbours are one choice."""
        w, found = self.w, values[-1]
        for k in range(len(values) - 2, -1, -1):
            if values[k] != values[k + 1]:
                before = w.let(f"icmp ule i64 {index}, {k}")
                found = w.let(f"select i1 {before}, {kind} {values[k]}, {kind} {found}")
        return found

    def _unrolled(
        self,
        tableau: Tableau,
        step: str,
        now: list[str],
        held: dict[str, list[str]],
        row: str,
        due: str,
    ) -> list[str]:
        """Stages one after the other, for schemes that come back to earlier rates."""
        w, lanes = self.w, self.lanes
        rates: list[list[str]] = []
        total, place = now, now
        for i, (when, weight) in enumerate(zip(tableau.times, tableau.weights, strict=True)):
            rates.append(self._rates(step, DOUBLE.number(when), place, held, row, due if i == 0 else "false"))
            share = self._scaled(weight)
            total = [w.let(fma(lanes, k, share, s)) for k, s in zip(rates[i], total, strict=True)]
            place = now
            for j, a in enumerate(tableau.reaches[i] if i + 1 < tableau.stages else ()):
                if a:
                    reach = self._scaled(a)
                    place = [w.let(fma(lanes, k, reach, y)) for k, y in zip(rates[j], place, strict=True)]
        return total


def _reach(tableau: Tableau) -> list[float]:
    """How far along its rate the stage after each stage lies; anything after the last, whose place nobody reads."""
    found = [row[-1] for row in tableau.reaches]
    return [*found, *(found[-1:] or [1.0])]
