"""The compiled look-up: the bits of the one in NumPy, for every method, interpolation, width and batch."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm.tabulated import lookup_tables
from forearm.tabulated.programs.lookup_kernels import LookupKernel
from forearm.tabulated.stencils import MARGIN, ORDERS

POINTS = {"q": 6, "qd": 5, "qdd": 4}
RANGE = dict(speeds=2.0, accelerations=5.0)
CASES = [
    ("rr", "albus"),
    ("rr", "raibert"),
    ("rr", "horn_raibert"),
    ("puma560", "horn_raibert"),
    ("stanford", "raibert"),
]


def arm_named(name):
    arm = fa.load(name)
    return arm.replace(links=arm.links[:3], configurations=()) if name == "stanford" else arm


def table_of(name, method, interpolation="linear", **options):
    return fa.tabulate(
        arm_named(name), method, **{"points": POINTS, "interpolation": interpolation, **RANGE, **options}
    )


def by_numpy(table, *state):
    """The look-up that is written in NumPy, called past the compiled one."""
    rows = [np.ascontiguousarray(x) for x in state]
    return table._plain(dict(zip(("q", "qd", "qdd"), rows, strict=True)))


def awkward_states(table, count):
    """Random states; then some at the ends of their axes, on points, between two, and on circles turns away."""
    rng = np.random.default_rng(3)
    state = dict(zip(("q", "qd", "qdd"), table.plan.arm.random_state(5, (count,)), strict=True))
    for axis in {axis for grid in table.plan.grids for axis in grid.axes}:
        column = state[axis.what][:, axis.joint]
        column[::5] = rng.choice(axis.values, len(column[::5]))
        column[1::5] = rng.choice(axis.values[:-1], len(column[1::5])) + axis.step / 2
        column[2::10] = axis.low
        column[7::10] = axis.high + (0 if axis.circular else MARGIN * axis.step / 2)
        if axis.circular:
            column[3::5] += 2 * np.pi * rng.integers(-9, 9, len(column[3::5]))
            column[4::10] = -1e-17
    return tuple(state.values())


@pytest.mark.parametrize("interpolation", ORDERS)
@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_compiled_look_up_has_the_bits_of_numpy(name, method, interpolation):
    table = table_of(name, method, interpolation)
    state = awkward_states(table, 203)
    want = by_numpy(table, *state)
    np.testing.assert_array_equal(table.torques(table.plan.arm, *state), want)
    assert np.isfinite(want).all()
    assert np.ptp(want) > 0


@pytest.mark.parametrize(
    ("width", "interpolation", "dtype"),
    [(1, "linear", "float32"), (2, "cubic", "float64"), (4, "nearest", "float32"), (8, "linear", "float64")],
)
def test_registers_of_any_width_give_the_same_bits(width, interpolation, dtype):
    table = table_of("generic_3r", "horn_raibert", interpolation, dtype=dtype)
    state = [np.ascontiguousarray(x) for x in awkward_states(table, 37)]
    tau = np.full_like(state[0], np.nan)
    kernel = LookupKernel(table.plan, table.numbers, width)
    assert kernel(dict(zip(("q", "qd", "qdd"), state, strict=True)), tau)
    np.testing.assert_array_equal(tau, by_numpy(table, *state))


def test_batches_of_any_size_on_any_number_of_threads():
    table = table_of("puma560", "horn_raibert")
    arm = table.plan.arm
    state = arm.random_state(2, (3000,))
    want = by_numpy(table, *state)
    for count in (0, 1, 2, 15, 16, 17, 3000):
        np.testing.assert_array_equal(table.torques(arm, *(x[:count] for x in state)), want[:count])
    np.testing.assert_array_equal(table.torques(arm, *(x[7] for x in state)), want[7])
    np.testing.assert_array_equal(table.torques(arm, *state, threads=3), want)
    shaped = table.torques(arm, *(x.reshape(30, 100, 6) for x in state))
    np.testing.assert_array_equal(shaped, want.reshape(30, 100, 6))
    rates = table.torques(arm, state[0][0], state[1], np.zeros(6))  # shapes that broadcast
    np.testing.assert_array_equal(rates[4], table.torques(arm, state[0][0], state[1][4], np.zeros(6)))
    with pytest.raises(fa.StateFault, match="table: threads is 0; give a whole number"):
        table.torques(arm, *state, threads=0)


def test_tables_of_all_sizes_share_one_program():
    texts = {
        LookupKernel(t.plan, t.numbers).text("x86_64-unknown-linux-gnu")
        for t in (table_of("rr", "horn_raibert", points=k) for k in (6, 7, 40))
    }
    assert len(texts) == 1


def test_a_state_that_is_not_a_number_keeps_to_its_row():
    table = table_of("rr", "horn_raibert", "cubic")
    q, qd, qdd = table.plan.arm.random_state(4, (20,))
    want = table.torques(table.plan.arm, q, qd, qdd)
    q[3, 1], q[11, 0], q[12, 0] = np.nan, np.inf, -np.inf
    got = table.torques(table.plan.arm, q, qd, qdd)
    assert np.isnan(got[[3, 11, 12]]).any(axis=1).all()
    np.testing.assert_array_equal(np.delete(got, [3, 11, 12], 0), np.delete(want, [3, 11, 12], 0))


@pytest.mark.parametrize("compiled", [True, False])
def test_the_number_of_a_state_outside_counts_the_whole_batch(compiled, monkeypatch):
    """A batch is looked up in pieces, and the message told the number within the piece."""
    monkeypatch.setattr(lookup_tables, "have_llvm", lambda: compiled)
    table = table_of("puma560", "horn_raibert")
    q = np.zeros((9000, 6))
    q[[8123, 8500], 2], q[8999, 1] = 9.0, np.nan
    with pytest.raises(fa.StateFault, match=r"q3 is 9 in state 8123 \(2 are outside\)"):
        table.torques(table.plan.arm, q, 0 * q, 0 * q)
    q[:, 2] = 0
    with pytest.raises(fa.StateFault, match=r"q2 is nan in state 8999 \(1 are outside\)"):
        table.torques(table.plan.arm, q, 0 * q, 0 * q)


MISSING = """
import sys
sys.modules["llvmlite"] = None
import forearm as fa
arm = fa.load("rr")
table = fa.tabulate(arm, "raibert", points=5, speeds=2.0)
print(table.torques(arm, *arm.random_state(1, (20,))).tobytes().hex())
"""


def test_without_llvmlite_numpy_serves():
    table = table_of("rr", "raibert", points=5)
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True)
    got = np.frombuffer(bytes.fromhex(done.stdout), float).reshape(20, 2)
    want = table.torques(table.plan.arm, *table.plan.arm.random_state(1, (20,)))
    assert_close(got, want, because="filled by NumPy too, which fuses no products")


def test_tables_from_files_from_logs_and_from_other_processes(tmp_path):
    table = table_of("rr", "horn_raibert", points=24)
    arm = table.plan.arm
    state = arm.random_state(6, (40,))
    want = table.torques(arm, *state)
    mapped = fa.open_table(table.save(tmp_path / "plain.table", compressed=False), arm)
    again = pickle.loads(pickle.dumps(table))
    for other in (mapped, again):
        np.testing.assert_array_equal(other.torques(arm, *state), want)
    q, qd, qdd = arm.random_state(1, (400,))
    learnt = fa.learn_table(arm, q, qd, qdd, fa.inverse_dynamics(arm, q, qd, qdd), points=6)
    np.testing.assert_array_equal(learnt.torques(arm, *state), by_numpy(learnt, *state))
