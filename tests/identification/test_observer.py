"""A push, seen in time and at the right joint; the same in C."""

import shutil
import subprocess

import numpy as np
import pytest

import forearm as fa
from identification.synthetic import motion_of, with_drives

ARM = with_drives(fa.load("ur5e"))


@pytest.fixture(scope="module")
def pushed():
    s = motion_of(ARM, seed=1).sample(np.arange(0.0, 4.0, 1e-3))
    push = np.zeros_like(s.q)
    push[2000:2500, 2] = 8.0
    return s, push, fa.inverse_dynamics(ARM, s.q, s.qd, s.qdd) - push


def test_a_push_is_seen_when_and_where_it_is(pushed):
    s, push, tau = pushed
    found = fa.observer(ARM, gain=100.0, dt=1e-3).run(s.q, s.qd, tau)
    assert np.max(np.abs(found[:2000])) < 0.05
    assert np.max(np.abs(found[2100:2500] - push[2100:2500])) < 0.1
    assert np.argmax(np.abs(found[2400])) == 2


def test_steps_are_the_run(pushed):
    s, _, tau = pushed
    run = fa.observer(ARM, gain=100.0, dt=1e-3).run(s.q[:50], s.qd[:50], tau[:50])
    watch = fa.observer(ARM, gain=100.0, dt=1e-3)
    steps = [watch.step(*row) for row in zip(s.q[:50], s.qd[:50], tau[:50], strict=True)]
    assert np.allclose(steps, run, rtol=0, atol=1e-12)


def test_a_log_without_rows_lost_its_joints():
    none = np.zeros((0, ARM.n))
    assert fa.observer(ARM).run(none, none, none).shape == (0, ARM.n)


def test_a_caller_who_changed_what_a_step_gave_changed_the_observer(pushed):
    """A dead band, say, was summed up with the rest; gains and offsets stayed the caller's arrays."""
    s, _, tau = pushed
    gain, offset = np.full(6, 100.0), np.full(6, 0.1)
    whole = fa.observer(ARM, gain=gain, dt=1e-3, offset=offset).run(s.q[:50], s.qd[:50], tau[:50])
    watch, steps = fa.observer(ARM, gain=gain, dt=1e-3, offset=offset), []
    gain[:], offset[:] = 1.0, 5.0
    for row in zip(s.q[:50], s.qd[:50], tau[:50], strict=True):
        found = watch.step(*row)
        steps.append(found.copy())
        found += 3.0
    assert np.allclose(steps, whole, rtol=0, atol=1e-12)


HOLES = {"q": 3, "qd": 4, "tau": 5}
"""Which column of which array holds no number in a row of its own."""


def with_holes(pushed, rows):
    """A log with one row without a number for each array, and two in a row; and which rows these are."""
    s, _, tau = pushed
    given = {"q": s.q[rows].copy(), "qd": s.qd[rows].copy(), "tau": tau[rows].copy()}
    for row, (name, column) in zip((40, 70, 100), HOLES.items(), strict=True):
        given[name][row, column] = np.nan
    given["tau"][101, 0] = np.inf
    return given, [40, 70, 100, 101]


def test_one_row_without_numbers_spoilt_the_observer_for_ever(pushed):
    given, holes = with_holes(pushed, slice(1900, 2600))
    found = fa.observer(ARM, gain=100.0, dt=1e-3).run(**given)
    _, push, _ = pushed
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == holes
    seen = np.delete(found, holes, axis=0)
    assert np.max(np.abs(seen[:90])) < 0.05  # no push where there is none, also after a row that is skipped
    assert np.max(np.abs(found[200:599] - push[2100:2499])) < 0.1


def test_a_step_without_numbers_is_told_and_skipped(pushed):
    given, holes = with_holes(pushed, slice(1900, 2100))
    run = fa.observer(ARM, gain=100.0, dt=1e-3).run(**given)
    watch = fa.observer(ARM, gain=100.0, dt=1e-3)
    for k, row in enumerate(zip(*given.values(), strict=True)):
        if k in holes:
            with pytest.raises(
                fa.StateFault,
                match=r"observer: (q|qd|tau) of joint .* is (nan|inf).*skipped: go on with the next",
            ):
                watch.step(*row)
        else:
            assert np.allclose(watch.step(*row), run[k], rtol=0, atol=1e-12)


def in_c(watch, rows, folder):
    """What the observer in C gives of rows (K, 18): whether each was taken, and external torques."""
    paths = watch.emit_c(folder)
    name = paths[0].stem
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "{name}_observer.h"\n'
        "int main(void) { double x[18]; "
        f'{name}_observer o = {{0}}; for (;;) {{ for (int i = 0; i < 18; i++) if (scanf("%lf", &x[i]) != 1) return 0; '
        f'printf("%d ", {name}_observer_step(&o, x, x + 6, x + 12)); '
        'for (int i = 0; i < 6; i++) printf("%.17g ", o.external[i]); } }\n'
    )
    program = folder / "watch"
    subprocess.run(
        ["cc", "-std=c99", "-O1", "main.c", f"{name}.c", "-lm", "-o", program], cwd=folder, check=True
    )
    text = "\n".join(" ".join(repr(float(x)) for x in row) for row in rows)
    out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    got = np.array(out.split(), dtype=float).reshape(-1, 7)
    return got[:, 0], got[:, 1:]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_agrees_to_rounding_and_skips_what_is_no_number(pushed, tmp_path):
    given, holes = with_holes(pushed, slice(1900, 2210))
    watch = fa.observer(ARM, gain=100.0, dt=1e-3, offset=0.1)
    taken, got = in_c(watch, np.hstack(list(given.values())), tmp_path)
    want = watch.run(**given)
    assert np.flatnonzero(taken == 0).tolist() == holes
    assert np.array_equal(got[40], got[39])
    assert np.array_equal(got[101], got[99])
    good = taken == 1
    assert np.max(np.abs(got[good] - want[good])) < 1e-10 * np.max(np.abs(want[good]))


@pytest.mark.parametrize("options", [{"gain": -1.0}, {"dt": 0.0}, {"gain": [1.0, 2.0]}])
def test_arguments(options):
    with pytest.raises(fa.StateFault, match="observer: "):
        fa.observer(ARM, **options)


@pytest.mark.parametrize("shape", [(6,), (2, 10, 6), (9, 6)])
def test_rows_of_another_shape_are_refused(shape):
    rows = np.zeros((10, 6))
    with pytest.raises(fa.StateFault, match=r"give \(K, 6\)"):
        fa.observer(ARM).run(rows if shape == (9, 6) else np.zeros(shape), np.zeros(shape), np.zeros(shape))
    with pytest.raises(fa.StateFault, match=r"give \(6,\)"):
        fa.observer(ARM).step(rows, rows, rows)
