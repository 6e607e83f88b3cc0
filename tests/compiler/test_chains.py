"""Long chains as loops over links: the same torques, from the same source."""

import pickle

import numpy as np
import pytest

import forearm as fa
from arms import random_arm, random_body
from close import assert_close
from forearm.compiler.call.chain_kernel import ChainKernel
from forearm.compiler.call.machine import MachineKernel
from forearm.compiler.llvm.lanes import Lanes
from forearm.compiler.llvm.loops.chain_loops import ChainPlan
from forearm.compiler.model.chains.chain_sections import TRACED_LINKS, NoLoop
from forearm.compiler.model.chains.long_chains import rolled
from forearm.compiler.pipeline import LONG, compile
from forearm.faults import KernelFault, StateFault
from forearm.formulations import FORMULATIONS
from forearm.link import Drive

TORQUES = FORMULATIONS["luh_walker_paul_1980"].joint_torques


@pytest.mark.parametrize("n", [9, 10, 12, 40])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_loops_give_the_torques_of_the_formulation(n, layout):
    arm = random_arm(n, n, "R")
    kernel = ChainKernel(rolled(arm), layout=layout)
    q, qd, qdd = arm.random_state(1, (37,))
    out = np.full((37, n) if layout == "rows" else (n, 37), np.nan)
    given = (q, qd, qdd) if layout == "rows" else (np.ascontiguousarray(x.T) for x in (q, qd, qdd))
    kernel(*given, out=out)
    tau = out if layout == "rows" else out.T
    for row in (0, 17, 36):
        want = TORQUES(arm, q[row], qd[row], qdd[row])
        assert_close(tau[row], want, eps=64 * n, because="round-off adds up along the chain")


def articulated(arm, q, qd, tau):
    return FORMULATIONS["featherstone_1983"].joint_accelerations(arm, q, qd, tau)


def composite(arm, q, *_):
    return FORMULATIONS["walker_orin_1982"].mass_matrix(arm, q)


def at_no_acceleration(arm, q, qd, _):
    return TORQUES(arm, q, qd, np.zeros(arm.n))


OTHERS = {
    "forward_dynamics": (3, articulated, 2000),
    "mass_matrix": (1, composite, 200),
    "bias_torque": (2, at_no_acceleration, 200),
}
"""Quantity -> how many of q, qd, x it takes, the same by a formulation, and the bound in eps for each link."""


@pytest.mark.parametrize("n", [9, 12, 13, 35])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("quantity", OTHERS)
def test_loops_give_accelerations_mass_and_bias(quantity, layout, n):
    taken, formulation, bound = OTHERS[quantity]
    arm, count = random_arm(n, 3 * n, "R"), 11  # no whole number of vectors
    state = arm.random_state(1, (count,))
    kernel = ChainKernel(rolled(arm, None, quantity), layout=layout)
    given = state[:taken] if layout == "rows" else [np.ascontiguousarray(x.T) for x in state[:taken]]
    got = kernel(*given) if layout == "rows" else np.moveaxis(kernel(*given), -1, 0)
    for row in (0, 7, 10):
        want = formulation(arm, *(x[row] for x in state))
        assert_close(got[row], want, eps=bound * n, because="round-off adds up along the chain")


def chain_of(kind, n=12):
    """A chain whose axes stand to each other in one way all along."""
    rng = np.random.default_rng(3)
    links = []
    for i in range(n):
        shape = {"a": rng.uniform(0.1, 0.5), "alpha": rng.uniform(-3, 3), "d": rng.uniform(-0.5, 0.5)}
        right = np.pi / 2 if i % 2 else -np.pi / 2
        shape |= {
            "parallel": {"alpha": 0.0},
            "snake": {"alpha": right, "d": 0.0},
            "meeting": {"a": 0.0},
            "nearly parallel": {"alpha": rng.uniform(0, 1e-9)},
            "flipped": {},
        }[kind]
        links.append(
            fa.Link.dh("revolute", theta=0.2 * i, flip=kind == "flipped", **shape, **random_body(rng))
        )
    return fa.Arm(kind, links)


@pytest.mark.parametrize("kind", ["parallel", "snake", "meeting", "nearly parallel", "flipped"])
@pytest.mark.parametrize("quantity", ["forward_dynamics", "mass_matrix"])
def test_chains_of_every_kind_are_loops(kind, quantity):
    taken, formulation, bound = OTHERS[quantity]
    arm = chain_of(kind)
    state = arm.random_state(5)
    got = ChainKernel(rolled(arm, None, quantity))(*state[:taken])
    assert_close(
        got, formulation(arm, *state), eps=bound * arm.n, because="round-off adds up along the chain"
    )


def test_accelerations_of_a_chain_by_the_formulation_that_is_asked_for():
    arm = random_arm(12, 4, "R")
    state = arm.random_state(5)
    asked = rolled(arm, "featherstone_1983", "forward_dynamics")
    got = ChainKernel(asked)(*state)
    assert_close(got, articulated(arm, *state), eps=24000, because="round-off adds up along the chain")
    assert rolled(arm, None, "forward_dynamics").counts.operations < 0.7 * asked.counts.operations


def test_what_only_the_next_link_reads_takes_one_column():
    one, two = (
        ChainPlan(rolled(random_arm(n, 1, "R"), None, "forward_dynamics"), Lanes("float64", 4)).columns
        for n in (20, 21)
    )
    assert (
        two - one == 3 + 1 + 3 + 14
    )  # inputs, output, angle with sine and cosine, and what the other walks read


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_mass_matrix_is_written_in_rows_by_any_width_of_vectors(width):
    arm = random_arm(14, 8, "R")
    q = arm.random_state(2, (2 * width + 1,))[0]
    chain = rolled(arm, None, "mass_matrix")
    out = np.full((len(q), arm.n, arm.n), np.nan)
    ChainKernel(chain, width=width)(q, out=out)
    np.testing.assert_allclose(
        out, ChainKernel(chain, width=4, layout="columns")(q.T.copy()).transpose(2, 0, 1)
    )
    np.testing.assert_array_equal(out, out.transpose(0, 2, 1))
    single = ChainKernel(chain, width=width, dtype="float32")(q.astype(np.float32))
    np.testing.assert_allclose(single, out, rtol=2e-4, atol=2e-5 * np.abs(out).max())


def test_accelerations_of_a_long_chain_undo_its_torques():
    arm = random_arm(LONG + 5, 6, "R")
    q, qd, qdd = arm.random_state(3, (5,))
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    assert isinstance(compile(arm, "forward_dynamics"), ChainKernel)
    assert isinstance(compile(arm, "mass_matrix"), ChainKernel)
    back = fa.forward_dynamics(arm, q, qd, tau)
    M, h = fa.mass_matrix(arm, q), fa.bias_torque(arm, q, qd)
    np.testing.assert_allclose(
        np.einsum("nij,nj->ni", M, qdd) + h, tau, rtol=0, atol=1e-12 * np.abs(tau).max()
    )
    again = fa.inverse_dynamics(arm, q, qd, back)
    np.testing.assert_allclose(again, tau, rtol=0, atol=1e-10 * np.abs(tau).max())


def test_a_link_without_inertia_keeps_the_check_for_singular_mass():
    arm = random_arm(10, 1, "R")
    thin = arm.links[4].replace(inertia=fa.Inertia.about_com(np.zeros((3, 3))))
    with pytest.raises(NoLoop, match="may make M singular"):
        rolled(arm.replace(links=(*arm.links[:4], thin, *arm.links[5:])), None, "forward_dynamics")


@pytest.mark.parametrize(
    "stem", [s for s, r in FORMULATIONS.items() if r.view == "ten" and "joint_torques" in r.gives]
)
def test_every_ten_formulation_repeats_itself_or_says_why_not(stem):
    arm = random_arm(10, 3, "R")
    try:
        chain = rolled(arm, stem)
    except NoLoop:
        chain = None
    if stem == "khalil_kleinfinger_1987":
        assert chain is not None
    if chain is None:
        return
    state = arm.random_state(2)
    assert_close(ChainKernel(chain)(*state), TORQUES(arm, *state), eps=1000, because="round-off adds up")


def test_a_long_arm_is_compiled_as_loops_by_itself():
    arm = random_arm(LONG + 1, 5, "R")
    kernel = compile(arm, "inverse_dynamics")
    assert isinstance(kernel, ChainKernel)
    assert f"loops over {arm.n} links" in str(kernel.why)
    state = arm.random_state(4)
    got = fa.inverse_dynamics(arm, *state)
    assert got.shape == (arm.n,)
    assert_close(got, TORQUES(arm, *state), eps=64 * arm.n, because="round-off adds up along the chain")


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_one_state_of_a_long_chain_is_a_kernel_call_like_any_other(layout):
    arm = random_arm(9, 4, "R")
    kernel = ChainKernel(rolled(arm), layout=layout)
    state = arm.random_state(7)
    want = kernel(*state)
    assert_close(want, TORQUES(arm, *state), eps=1000, because="round-off adds up")
    out = np.full(arm.n, np.nan)
    assert kernel(*state, out=out) is out
    np.testing.assert_array_equal(out, want)
    with pytest.raises(StateFault, match="give finite numbers"):
        kernel(state[0] * np.nan, *state[1:])
    again = pickle.loads(pickle.dumps(kernel))
    assert isinstance(again, ChainKernel)
    np.testing.assert_array_equal(again(*state), want)


def test_without_llvm_a_long_arm_is_straight_line_code(monkeypatch):
    monkeypatch.setattr(MachineKernel, "compiled", False)
    arm = random_arm(LONG + 1, 5, "R")
    state = arm.random_state(4)
    got = compile(arm, "inverse_dynamics")(*state)
    assert_close(got, TORQUES(arm, *state), eps=64 * arm.n, because="round-off adds up along the chain")


def test_code_grows_with_the_body_not_with_the_chain():
    sizes = []
    for n in (40, 80):
        text = ChainKernel(rolled(random_arm(n, 1, "R"))).source("llvm")
        sizes.append(sum("fmul" in line or "fma" in line for line in text.splitlines()))
    assert sizes[0] == sizes[1]


def test_counts_are_those_of_the_real_chain():
    one, two = (rolled(random_arm(n, 1, "R")).counts for n in (20, 21))
    body = two.operations - one.operations
    assert 140 <= body <= 165  # 82 multiplications and 71 additions for a general link
    assert two.sincos - one.sincos == 1


def test_a_link_more_costs_accelerations_a_link_more():
    one, two = (rolled(random_arm(n, 1, "R"), None, "forward_dynamics").counts for n in (20, 21))
    assert two.mul + two.div - one.mul - one.div == 217
    assert two.add - one.add == 188


@pytest.mark.parametrize(
    ("arm", "reason"),
    [
        (random_arm(TRACED_LINKS, 1, "R"), "the chain is short"),
        (random_arm(9, 1, "RRRRPRRRR"), "prismatic"),
        (random_arm(9, 1, "R", flips=True), "flipped"),
        (
            (lambda a: a.replace(links=tuple(x.replace(drive=Drive(viscous=0.1)) for x in a.links)))(
                random_arm(9, 1, "R")
            ),
            "there are drives",
        ),
    ],
)
def test_what_does_not_repeat_says_so(arm, reason):
    with pytest.raises(NoLoop, match=reason):
        rolled(arm)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", *OTHERS])
def test_a_long_chain_whose_joints_turn_about_one_line_is_no_raw_stop_iteration(quantity):
    body = {"mass": 1.0, "com": (0, 0, 0), "inertia": fa.Inertia.about_com(Ixx=0.01, Iyy=0.01, Izz=0.01)}
    arm = fa.Arm("shaft", [fa.Link.dh("revolute", a=0, alpha=0, d=0, theta=0.7, **body)] * (LONG + 1))
    q, qd, x = arm.random_state(2)
    given = {"mass_matrix": (q,), "bias_torque": (q, qd)}.get(quantity, (q, qd, x))
    got = compile(arm, quantity)(*given)
    mass = 0.01 * np.minimum.outer(np.arange(arm.n, 0, -1), np.arange(arm.n, 0, -1))
    want = {"mass_matrix": mass, "bias_torque": 0 * q, "inverse_dynamics": mass @ x}
    assert np.allclose(got, want[quantity] if quantity in want else np.linalg.solve(mass, x), atol=1e-9)


def test_what_loops_cannot_say_is_refused_in_a_sentence():
    kernel = compile(random_arm(LONG + 1, 1, "R"), "inverse_dynamics")
    assert "@tile" in kernel.source("llvm")
    with pytest.raises(KernelFault, match=r"a long chain is compiled as loops; ask for llvm or asm"):
        kernel.source("c")
    with pytest.raises(KernelFault, match=r"those run in no wider precision here"):
        kernel.accuracy(*random_arm(LONG + 1, 1, "R").random_state(0))
