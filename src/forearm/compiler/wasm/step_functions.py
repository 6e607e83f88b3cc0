"""A step graph with its loop, inside a module: Runge-Kutta schemes and semi-implicit Euler, one state after the other.

    roll(states, steps, every, dt, start, inputs…, ends…, records…)

Inputs are rows in memory, one for each state, the time excepted, which the loop keeps. `ends` are the states after the
last step. Where `every` is not zero, every k-th state from the first on goes to the records, (states, rows, size).
"""

from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.step_rules import SemiImplicitEuler, Tableau
from forearm.compiler.llvm.rollout_steps import Roles
from forearm.compiler.wasm.bytecode import (
    BLOCK,
    END,
    F64,
    F64_CONVERT_I32_S,
    I32,
    I32_ADD,
    I32_EQZ,
    I32_GE_S,
    I32_GT_S,
    I32_REM_U,
    I32_SUB,
    LOOP,
    Module,
    branch_if,
    call,
    f64,
    get,
    i32,
    load,
    put,
    store,
    tee,
)
from forearm.compiler.wasm.graph_functions import ITEM
from forearm.faults import KernelFault

ADD, MUL = b"\xa0", b"\xa2"


def rates_of(roles: Roles) -> Graph:
    """The step graph with one output, the rates of all states side by side; a rate may be another state."""
    graph = roles.graph
    if not isinstance(roles.rule, (Tableau, SemiImplicitEuler)):
        raise KernelFault(
            f"{graph.name}: no {roles.rule.name!r} in WebAssembly; give 'rk4' or 'semi_implicit_euler'."
        )
    if isinstance(roles.rule, Tableau) and roles.rule.kept:
        raise KernelFault(f"{graph.name}: {roles.rule.name!r} keeps rates of earlier stages; give 'rk4'.")
    nodes = list(graph.nodes)
    inputs = {p.name: k for k, p in enumerate(graph.inputs)}
    outputs = {p.name: row for p, row in zip(graph.outputs, graph.results, strict=True)}
    there = {node.at: i for i, node in enumerate(nodes) if node.at is not None}
    rates: list[int] = []
    for port in roles.state_ports:
        rate = roles.states[port.name]
        if rate in outputs:
            rates += outputs[rate]
            continue
        for e in range(port.size):
            at = (inputs[rate], e)
            if at not in there:
                there[at] = len(nodes)
                nodes.append(nodes[0]._replace(op="input", args=(), value=None, at=at))
            rates.append(there[at])
    return Graph(graph.name, graph.inputs, tuple(nodes), (Port("rates", (len(rates),)),), (tuple(rates),))


def add_rollout(module: Module, roles: Roles, evaluate: int, name: str) -> int:
    """The loop around an evaluation, function number `evaluate` of the module; gives its number."""
    return _Loop(module, roles, evaluate).add(name)


class _Loop:
    """The code of a rollout; `here`, `now`, `rate` and `total` are rows of scratch memory."""

    COUNT, STEPS, EVERY, DT, START = range(5)

    def __init__(self, module: Module, roles: Roles, evaluate: int) -> None:
        self.module, self.roles, self.evaluate = module, roles, evaluate
        self.size = sum(p.size for p in roles.state_ports)
        row = ITEM * self.size
        self.here, self.now, self.rate, self.total = (module.reserve(row) for _ in range(4))
        self.time = module.reserve(ITEM)
        given, states = len(roles.given), len(roles.state_ports)
        self.inputs = list(range(5, 5 + given))
        self.ends = list(range(5 + given, 5 + given + states))
        self.records = list(range(5 + given + states, 5 + given + 2 * states))
        first = 5 + given + 2 * states
        self.step, self.index = first, first + 1

    def add(self, name: str) -> int:
        """The function itself."""
        params = [I32, I32, I32, F64, F64] + [I32] * (len(self.inputs) + len(self.ends) + len(self.records))
        states = {p.name: k for k, p in enumerate(self.roles.state_ports)}
        code = BLOCK + get(self.COUNT) + i32(0) + I32_GT_S + I32_EQZ + branch_if(0) + LOOP
        code += b"".join(
            self._copy(get(row), i32(self._offset(self.here, port.name)), port.size)
            for port, row in zip(self.roles.given, self.inputs, strict=True)
            if port.name in states
        )
        code += i32(0) + put(self.step)
        code += BLOCK + LOOP + self._recorded() + get(self.step) + get(self.STEPS) + I32_GE_S + branch_if(1)
        rule = self.roles.rule
        code += self._stages(rule) if isinstance(rule, Tableau) else self._semi_implicit()
        code += get(self.step) + i32(1) + I32_ADD + put(self.step) + b"\x0c\x00" + END + END
        for port, end in zip(self.roles.state_ports, self.ends, strict=True):
            code += self._copy(i32(self._offset(self.here, port.name)), get(end), port.size)
            code += self._moved(end, port.size)
        for port, row in zip(self.roles.given, self.inputs, strict=True):
            code += self._moved(row, port.size)
        code += (
            get(self.COUNT)
            + i32(1)
            + I32_SUB
            + tee(self.COUNT)
            + i32(0)
            + I32_GT_S
            + branch_if(0)
            + END
            + END
        )
        return self.module.add(params, [], [I32, I32], code, name)

    def _offset(self, base: int, state: str) -> int:
        """Where a state lies in a row of scratch memory."""
        for port in self.roles.state_ports:
            if port.name == state:
                return base
            base += ITEM * port.size
        raise AssertionError(state)

    def _moved(self, row: int, size: int) -> bytes:
        """On to the next state's row."""
        return get(row) + i32(ITEM * size) + I32_ADD + put(row)

    @staticmethod
    def _copy(source: bytes, target: bytes, size: int) -> bytes:
        return b"".join(target + source + load(ITEM * e) + store(ITEM * e) for e in range(size))

    def _each(self, size: int, at: int, value: bytes) -> bytes:
        """For every element: value, which may read `index` (bytes from a row's start), into the row at `at`."""
        code = i32(0) + put(self.index) + LOOP + get(self.index) + value + store(at)
        return (
            code
            + get(self.index)
            + i32(ITEM)
            + I32_ADD
            + tee(self.index)
            + i32(ITEM * size)
            + b"\x48"
            + branch_if(0)
            + END
        )

    def _recorded(self) -> bytes:
        """The state into the records, where it is time for it."""
        code = BLOCK + get(self.EVERY) + I32_EQZ + branch_if(0)
        code += get(self.step) + get(self.EVERY) + I32_REM_U + branch_if(0)
        for port, record in zip(self.roles.state_ports, self.records, strict=True):
            code += self._copy(i32(self._offset(self.here, port.name)), get(record), port.size)
            code += self._moved(record, port.size)
        return code + END

    def _evaluated(self, at: int, part: float) -> bytes:
        """Rates of the states in a row of scratch memory, `part` of a step after its beginning."""
        code = b""
        if self.roles.time:
            when = (
                get(self.step)
                + F64_CONVERT_I32_S
                + f64(part)
                + ADD
                + get(self.DT)
                + MUL
                + get(self.START)
                + ADD
            )
            code += i32(self.time) + when + store(0)
        code += i32(1)
        given = {p.name: row for p, row in zip(self.roles.given, self.inputs, strict=True)}
        for port in self.roles.graph.inputs:
            if port.name == self.roles.time:
                code += i32(self.time)
            elif port.name in self.roles.states:
                code += i32(self._offset(at, port.name))
            else:
                code += get(given[port.name])
        return code + i32(self.rate) + call(self.evaluate)

    def _stages(self, rule: Tableau) -> bytes:
        """A step of a Runge-Kutta scheme whose stages need the one before them only."""
        code, at = b"", self.here
        rate, here, total = (get(self.index) + load(row) for row in (self.rate, self.here, self.total))
        for k, weight in enumerate(rule.weights):
            code += self._evaluated(at, rule.times[k])
            share = rate + f64(weight) + MUL
            code += self._each(self.size, self.total, share if k == 0 else total + share + ADD)
            if k + 1 < rule.stages:
                reach = get(self.DT) + f64(rule.reaches[k][k]) + MUL
                code += self._each(self.size, self.now, here + reach + rate + MUL + ADD)
                at = self.now
        return code + self._each(self.size, self.here, here + get(self.DT) + total + MUL + ADD)

    def _semi_implicit(self) -> bytes:
        """States whose rate is computed, then those that follow another state."""
        code = self._evaluated(self.here, 0.0)
        for follows in (False, True):
            for port in self.roles.state_ports:
                rate = self.roles.states[port.name]
                if (rate in self.roles.states) is not follows:
                    continue
                mine = self._offset(self.here, port.name)
                by = self._offset(self.here, rate) if follows else self._offset(self.rate, port.name)
                step = get(self.DT) + get(self.index) + load(by) + MUL
                code += self._each(port.size, mine, get(self.index) + load(mine) + step + ADD)
        return code
