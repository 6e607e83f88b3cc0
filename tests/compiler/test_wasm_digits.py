"""WebAssembly modules beside the CPU kernel: the bits of what divides, elsewhere 8 eps of the largest value met."""

import numpy as np
import pytest

import forearm as fa
from arms import seed_of
from compiler.module_inputs import inputs_of
from forearm.compiler.graph.graph import Graph, Node, Port
from forearm.compiler.graph.interpreter import arrays, interpret, node_values
from forearm.compiler.llvm.sines import PROBES, exact_fma
from forearm.compiler.model.quantities import QUANTITIES
from forearm.compiler.pipeline import ready_graph
from forearm.compiler.wasm.module_products import divides
from forearm.compiler.wasm.module_sines import fused
from forearm.compiler.wasm.wasm_kernel import WasmKernel
from peers.urdf_arms import ERD, SOURCES, Source
from shares import shared_out

pytest.importorskip("wasmtime")
EPS = np.finfo(float).eps
ROWS = 20
SHORT = ("panda", "stanford", "rr")
BRIEF = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "energy", "pose", "jacobian")
ILL = ("kinova_gen3", "double_pendulum", "planar_3r", "puma560")
"""Arms whose accelerations differed by more than 8 eps when products were rounded apart."""
LARGE = 8000
"""Operations from which a kernel takes LLVM long: there the interpreter stands for it, which it equals to the bit."""
HELD_BACK = [
    *(s for s in SOURCES if s.package == ERD and s.n > 2),
    Source("tiago pro", ERD, "tiago_pro_description/robots/tiago_pro.urdf", 8, {"tip": "arm_left_7_link"}),
]


def cases(joints, one_in):
    """Every arm with every quantity; those of tens of thousands of operations for `make soak`."""
    light, heavy = [], []
    for arm, n in joints:
        for name, quantity in QUANTITIES.items():
            steps = (
                quantity.derivative is not None and quantity.derivative.twofold
            ) or "dt" in quantity.inputs
            if n <= 8 or not steps:
                (heavy if n > 3 and steps else light).append((arm, name))
    return [*shared_out(light, one_in), *(pytest.param(*case, marks=pytest.mark.soak) for case in heavy)]


def hold_near(arm, quantity, rows=ROWS, slowest=1.0):
    """The module against the CPU kernel: bits where it divides, 8 eps of the largest value on the way elsewhere."""
    graph = ready_graph(arm, quantity)
    large = graph.counts.operations > LARGE
    rows = 2 if large else rows
    rng = np.random.default_rng(seed_of(arm.name + quantity))
    given = inputs_of(graph, rng, rows)
    for port, speeds in zip(graph.inputs, given, strict=True):
        if port.name == "qd":
            speeds *= slowest ** rng.uniform(0, 1, (rows, 1))
    got = WasmKernel(graph)(*given)
    if large:
        states = [{p.name: x[k] for p, x in zip(graph.inputs, given, strict=True)} for k in range(rows)]
        found = [interpret(graph, state, fused) for state in states]
        want = tuple(np.stack([f[p.name].astype(float) for f in found]) for p in graph.outputs)
    else:
        want = fa.compile(arm, quantity)(*given)
    got, want = (list(v) if isinstance(v, tuple) else [v] for v in (got, want))
    if QUANTITIES[quantity].solves:
        assert divides(graph), "the rule finds what divides by M"
    if divides(graph):
        assert all(np.array_equal(g, w) for g, w in zip(got, want, strict=True)), f"{quantity} of {arm.name}"
        return
    met = node_values(graph, [np.moveaxis(x.reshape(rows, -1), -1, 0) for x in given], arrays)
    largest = np.max([np.broadcast_to(np.abs(v), (rows,)) for v in met], axis=0)
    for g, w in zip(got, want, strict=True):
        off = np.abs(g - w).reshape(rows, -1).max(axis=1)
        assert np.all(off <= 8 * EPS * largest), (
            f"{quantity} of {arm.name}: {(off / largest / EPS).max():.1f} eps"
        )


@pytest.mark.parametrize("quantity", BRIEF)
@pytest.mark.parametrize("name", SHORT)
def test_a_module_is_near_the_processor(name, quantity):
    hold_near(fa.load(name), quantity)


@pytest.mark.parametrize("quantity", ["forward_dynamics", "solve_mass"])
@pytest.mark.parametrize("name", ILL)
def test_accelerations_have_the_bits_of_the_processor(name, quantity):
    hold_near(fa.load(name), quantity, rows=200)


def test_what_divides():
    """Pivots of M, and slopes of friction near standstill (1 mrad/s); torques with friction do not."""
    assert divides(ready_graph(fa.load("rr"), "forward_dynamics"))
    assert divides(ready_graph(fa.load("puma560"), "derivatives"))
    for name in (*SHORT, *ILL):
        for quantity in ("inverse_dynamics", "bias_torque", "mass_matrix", "center_of_mass", "pose"):
            assert not divides(ready_graph(fa.load(name), quantity)), (name, quantity)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "bias_torque", "derivatives"])
def test_friction_near_standstill(quantity):
    """Its slope changes within a milliradian a second: speeds of any size."""
    hold_near(fa.load("puma560"), quantity, rows=200, slowest=1e-5)


@pytest.mark.parametrize(
    ("name", "quantity"), cases([(name, fa.load(name).n) for name in fa.known_arms()], one_in=5)
)
def test_every_arm_and_quantity(name, quantity):
    arm = fa.load(name)
    if arm.dynamics or not QUANTITIES[quantity].dynamics:
        hold_near(arm, quantity)


@pytest.mark.parametrize(("source", "quantity"), cases([(s, s.n) for s in HELD_BACK], one_in=20))
def test_an_arm_of_a_urdf_file(source, quantity):
    if not source.path.exists():
        pytest.skip("example-robot-data is not installed")
    hold_near(fa.load(source.path, **source.options), quantity)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "solve_mass", "forward_dynamics"])
def test_joints_as_unlike_as_a_lift_and_a_wrist(quantity):
    """A mass matrix of condition 10,000 magnifies every last digit; modules have those of the processor."""
    heavy, light = (
        {"mass": m, "com": (0.0, 0.0, 0.0), "inertia": fa.Inertia.about_com(np.diag([i, i, i]))}
        for m, i in ((40.0, 1.0), (0.1, 1e-4))
    )
    lift = fa.Link.dh("prismatic", a=0.1, alpha=0.3, d=0.2, theta=0.0, **heavy)
    wrist = [fa.Link.dh("revolute", a=0.05, alpha=1.2, d=0.1, theta=0.0, **light) for _ in range(4)]
    arm = fa.Arm("lift and wrist", links=[lift, *wrist])
    assert np.linalg.cond(fa.mass_matrix(arm, np.zeros(5))) > 1e4
    hold_near(arm, quantity, rows=200)


def some_numbers(kind, rng, count):
    """Factors and addends: of any size; cancelling; of few bits, which makes ties; zeros of both signs."""

    def any_size():
        return rng.uniform(1, 2, count) * rng.choice([-1, 1], count) * 2.0 ** rng.integers(-300, 300, count)

    def few_bits():
        near = 1 + 2.0 ** -rng.integers(1, 53, count)
        return near * rng.choice([-1, 1], count) * 2.0 ** rng.integers(-60, 60, count)

    if kind == "any size":
        a, b = any_size(), any_size()
        return a, b, a * b * 2.0 ** rng.integers(-110, 110, count) * rng.uniform(-2, 2, count)
    if kind == "cancelling":
        a, b = any_size(), any_size()
        return a, b, -a * b * (1 + EPS * rng.integers(-4, 5, count))
    if kind == "ties":
        a, b = few_bits(), few_bits()
        return a, b, a * b * 2.0 ** rng.integers(-110, 60, count)
    return tuple(rng.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], (3, count)))


@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("kind", ["any size", "cancelling", "ties", "zeros and infinities"])
def test_a_multiply_add_is_rounded_once(kind, lanes):
    """To the bit, and where two roundings would be another number, or where a tie would be broken the wrong way."""
    nodes = [
        *(Node("input", (), None, (k, 0)) for k in range(3)),
        Node("fma", (0, 1, 2)),
        Node("div", (3, 0)),
    ]
    ports = tuple(Port(name, ()) for name in "abc")
    graph = Graph("fma", ports, tuple(nodes), (Port("y", ()), Port("z", ())), ((3,), (4,)))
    rng = np.random.default_rng(len(kind))
    a, b, c = (
        np.append(x, p) for x, p in zip(some_numbers(kind, rng, 5001), np.transpose(PROBES[:4]), strict=True)
    )
    got = WasmKernel(graph, lanes=lanes)(a, b, c)[0]
    fma = exact_fma()
    want = np.array([fma(*map(float, row)) for row in zip(a, b, c, strict=True)])
    same = (got.view("int64") == want.view("int64")) | (np.isnan(got) & np.isnan(want))
    assert same.all(), [(a[k], b[k], c[k], got[k], want[k]) for k in np.flatnonzero(~same)[:3]]
    with np.errstate(all="ignore"):
        assert kind.startswith("zeros") or np.any(a * b + c != want), "two roundings would do"
