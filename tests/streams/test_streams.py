"""Files of rows: what is written against one call on all of it, refusals, and nothing half there."""

import csv
import errno
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.motion.limit_excesses import limit_excesses
from forearm.motion.motion_files import read_motion_file
from forearm.streams import row_sinks, row_sources

ARM = fa.load("puma560")
STATE = ARM.random_state(0, (10_000,))
ROWS = np.hstack(STATE)
TAU = fa.inverse_dynamics(ARM, *STATE)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "motion.npy"
    np.save(path, ROWS)
    return path


def test_rows_of_an_array(source, tmp_path):
    target, seen = tmp_path / "tau.npy", []
    done = fa.stream(ARM, "inverse_dynamics", source, target, progress=lambda *told: seen.append(told))
    assert np.array_equal(np.load(target), TAU)
    assert (done.rows, done.not_finite) == (10_000, 0)
    assert seen[-1][:2] == (1.0, 10_000)
    assert seen[-1][2] == 0
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    assert "10000 rows" in str(done)


def test_a_unit_of_time_without_titles_is_not_ignored_in_silence(source, tmp_path):
    with pytest.raises(fa.ReadFault, match="time_unit='ms' is for files whose columns have titles"):
        fa.stream(ARM, "inverse_dynamics", source, tmp_path / "tau.npy", time_unit="ms")
    assert not (tmp_path / "tau.npy").exists()


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_degrees_are_asked_about(tmp_path, suffix):
    source, target = tmp_path / f"motion{suffix}", tmp_path / "tau.npy"
    rows = np.degrees(ROWS[:500])
    if suffix == ".npy":
        np.save(source, rows)
    else:
        titles = ",".join(f"{name}{i}" for name in ("q", "qd", "qdd") for i in range(1, 7))
        np.savetxt(source, rows, delimiter=",", header=titles, comments="")
    with pytest.raises(fa.ReadFault, match=r"looks like degrees. If it is, give --degrees \(degrees=True\)"):
        fa.stream(ARM, "inverse_dynamics", source, target)
    fa.stream(ARM, "inverse_dynamics", source, target, degrees=True)
    np.testing.assert_allclose(np.load(target), TAU[:500], rtol=1e-9, atol=1e-9)
    fa.stream(ARM, "inverse_dynamics", source, target, degrees=False)
    np.testing.assert_allclose(
        np.load(target), fa.inverse_dynamics(ARM, *np.split(rows, 3, axis=1)), rtol=1e-9
    )


@pytest.mark.parametrize("change", ["time", "axes", "float32", ">f8", "int"])
def test_other_arrays(tmp_path, change):
    source, target = tmp_path / "motion.npy", tmp_path / "tau.npy"
    rows = ROWS[:5000]
    t = np.arange(5000.0)
    made = {
        "time": lambda: np.column_stack([t, rows]),
        "axes": lambda: rows.reshape(-1, 3, 6),
        "float32": lambda: rows.astype("f4"),
        ">f8": lambda: rows.astype(">f8"),
        "int": lambda: rows.astype(int),
    }[change]()
    np.save(source, made)
    fa.stream(ARM, "inverse_dynamics", source, target)
    found = np.load(target)
    if change == "time":
        assert np.array_equal(found[:, 0], t)
        found = found[:, 1:]
    seen = np.asarray(made, dtype=float).reshape(5000, -1)[:, -18:]
    assert np.array_equal(found, fa.inverse_dynamics(ARM, seen[:, :6], seen[:, 6:12], seen[:, 12:]))


def test_other_quantities(source, tmp_path):
    fa.stream(ARM, "gravity_torque", source, tmp_path / "g.npy")
    assert np.array_equal(np.load(tmp_path / "g.npy"), fa.gravity_torque(ARM, STATE[0]))
    fa.stream(ARM, "mass_matrix", source, tmp_path / "M.npy")
    assert np.array_equal(np.load(tmp_path / "M.npy").reshape(-1, 6, 6), fa.mass_matrix(ARM, STATE[0]))


def test_text_in_and_out(tmp_path):
    source, target = tmp_path / "motion.csv", tmp_path / "tau.npy"
    titles = ["t", *(f"{k}{j}" for k in ("q", "qd", "qdd") for j in range(1, 7))]
    rows = np.column_stack([np.arange(6000.0), ROWS[:6000]])
    source.write_text("\n".join([",".join(titles), *(",".join(map(repr, r)) for r in rows.tolist())]))
    fa.stream(ARM, "inverse_dynamics", source, target)
    assert np.array_equal(np.load(target)[:, 1:], TAU[:6000])
    fa.stream(ARM, "inverse_dynamics", source, tmp_path / "tau.csv")
    lines = (tmp_path / "tau.csv").read_text().splitlines()
    assert lines[0] == "t,tau1,tau2,tau3,tau4,tau5,tau6"
    assert [float(x) for x in lines[-1].split(",")[1:]] == TAU[5999].tolist()
    with pytest.raises(fa.ReadFault, match="does not say how many rows"):
        fa.stream(ARM, "inverse_dynamics", source, tmp_path / "tau.zarr")


def test_rows_that_are_not_finite_are_kept_and_counted(tmp_path):
    rows = ROWS.copy()
    rows[17, 3], rows[9000, 12] = np.nan, np.inf
    np.save(tmp_path / "motion.npy", rows)
    done = fa.stream(ARM, "inverse_dynamics", tmp_path / "motion.npy", tmp_path / "tau.npy")
    assert done.not_finite == 2
    found = np.load(tmp_path / "tau.npy")
    good = np.isfinite(found).all(axis=1)
    assert np.flatnonzero(~good).tolist() == [17, 9000]
    assert np.array_equal(found[good], TAU[good])
    assert "2 of them not finite" in str(done)


def test_files_that_are_not_as_they_should_be(tmp_path, source):
    target = tmp_path / "tau.npy"

    def refused(told, path=source, to=target, quantity="inverse_dynamics"):
        with pytest.raises((fa.ReadFault, fa.StateFault), match=told):
            fa.stream(ARM, quantity, path, to)
        assert not target.exists()

    def saved(array):
        np.save(tmp_path / "other.npy", array)
        return tmp_path / "other.npy"

    refused("rows have 17 numbers; give 18", saved(ROWS[:, :17]))
    refused("rows have 6 numbers", saved(ROWS[:, :6]))
    refused("in Fortran order", saved(np.asfortranarray(ROWS)))
    refused("of complex128", saved(ROWS.astype(complex)))
    refused("shape \\(10000,\\)", saved(ROWS[:, 0]))
    refused("there is no such file", tmp_path / "none.npy")
    refused("ends with .mat", tmp_path / "a.mat")
    refused("ends with .txt", source, tmp_path / "tau.txt")
    refused("written over itself", source, source)
    refused("give one of", source, target, "pose")
    other = tmp_path / "cut.npy"
    other.write_bytes(source.read_bytes()[:-1000])
    refused("cut off", other)
    other.write_bytes(b"nothing at all")
    refused("no array of NumPy", other)


def test_what_is_stopped_leaves_the_old_file(source, tmp_path):
    target = tmp_path / "tau.npy"
    target.write_bytes(b"old")

    def stop(share, rows, left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fa.stream(ARM, "inverse_dynamics", source, target, progress=stop)
    assert target.read_bytes() == b"old"
    assert {p.name for p in tmp_path.iterdir()} == {"tau.npy", "motion.npy"}


def test_a_full_disk_is_said_and_leaves_nothing(source, tmp_path, monkeypatch):
    target = tmp_path / "tau.npy"

    def full(self, t, values):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(row_sinks._Npy, "put", full)
    with pytest.raises(OSError, match=r"No space left on device: .*tau\.npy"):
        fa.stream(ARM, "inverse_dynamics", source, target)
    assert {p.name for p in tmp_path.iterdir()} == {"motion.npy"}


@pytest.mark.more
def test_a_full_disk_under_a_zarr_store_is_said_with_its_name(source, tmp_path, monkeypatch):
    pytest.importorskip("zarr")

    def full(self, t, values):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(row_sinks._Zarr, "put", full)
    with pytest.raises(OSError, match=r"No space left on device: .*tau\.zarr"):
        fa.stream(ARM, "inverse_dynamics", source, tmp_path / "tau.zarr")
    assert not list(tmp_path.glob("*tau*"))


def test_without_a_library_its_name_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(fa.ReadFault, match=r"needs zarr; install it: pip install 'forearm\[zarr\]'"):
        row_sources.row_source(tmp_path / "a.zarr", ARM, ("q",))


@pytest.mark.more
@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process as Linux tells it")
def test_long_files_in_little_memory(tmp_path):
    """600 MB in, 200 MB out: 300 MB at most for the whole process, and a real limit on files is told."""
    many = 4_000_000
    file = np.lib.format.open_memmap(tmp_path / "motion.npy", "w+", shape=(many, 18))
    for k in range(0, many, 10_000):
        file[k : k + 10_000] = ROWS
    del file
    code = """
        import resource, signal, sys
        import forearm as fa
        if len(sys.argv) > 3:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, 50_000_000))
        print(fa.stream(fa.load("puma560"), "inverse_dynamics", sys.argv[1], sys.argv[2]).rows)
        peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
        print(peak[0].split()[1])
    """
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(code),
        str(tmp_path / "motion.npy"),
        str(tmp_path / "tau.npy"),
    ]
    stopped = subprocess.run([*command, "limited"], capture_output=True, text=True)
    assert "File too large" in stopped.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"motion.npy"}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, kilobytes = map(int, done.stdout.split())
    assert rows == many
    assert kilobytes < 300_000
    assert np.array_equal(np.load(tmp_path / "tau.npy", mmap_mode="r")[-10_000:], TAU)


def test_accelerations_were_read_as_the_torques_of_longer_rows(tmp_path):
    source, target = tmp_path / "motion.npy", tmp_path / "result.npy"
    rows = np.hstack([*ARM.random_state(0, (20,)), np.ones((20, 6))])
    np.save(source, rows)
    with pytest.raises(fa.ReadFault, match=r"rows have 24 numbers; give 18 \(q, qd, tau of 6 joints"):
        fa.stream(ARM, "forward_dynamics", source, target)
    fa.stream(ARM, "inverse_dynamics", source, target)
    assert np.array_equal(np.load(target), fa.inverse_dynamics(ARM, *np.split(rows, 4, axis=1)[:3]))
    for odd in (np.hstack([rows, rows]), rows[:, :18].reshape(2, 10, 18)):
        np.save(source, odd)
        with pytest.raises(fa.ReadFault, match=r"give (18|rows \(N, 18\))"):
            fa.stream(ARM, "inverse_dynamics", source, target)


def test_the_time_of_one_joint_was_read_as_its_position(tmp_path):
    link = fa.Link.dh(
        "revolute", a=0.5, mass=1.0, com=(-0.2, 0, 0), inertia=fa.Inertia.box(1.0, 0.4, 0.1, 0.1)
    )
    arm = fa.Arm("one", (link,), gravity=(0, -9.81, 0))
    t, q = np.arange(10.0)[:, None], arm.random_state(0, (10,))
    want = fa.inverse_dynamics(arm, *q)
    for rows, timed in ((np.hstack([t, *q]), True), (np.hstack(q), False)):
        np.save(tmp_path / "motion.npy", rows)
        done = fa.stream(arm, "inverse_dynamics", tmp_path / "motion.npy", tmp_path / "tau.npy")
        found = np.load(tmp_path / "tau.npy")
        assert np.array_equal(found, np.hstack([t, want]) if timed else want)
        assert f"read as {'t, ' * timed}q, qd, qdd: of one joint" in done.notes[0]


def test_positions_of_one_joint_were_taken_for_times_and_its_speeds_for_positions_without_a_word(tmp_path):
    arm = fa.Arm("one", fa.load("rr").links[:1], gravity=(0, -9.81, 0))
    q = np.linspace(0.0, 1.0, 9)[:, None]
    for rows, told in ((np.hstack([q, 3 * q]), True), (q, False)):
        np.save(tmp_path / "motion.npy", rows)
        done = fa.stream(arm, "gravity_torque", tmp_path / "motion.npy", tmp_path / "g.npy")
        assert [note.partition("read as ")[2][:5] for note in done.notes] == ["t, q:"] * told


def test_speeds_of_other_joints_were_streamed_without_a_word(tmp_path):
    t = np.linspace(0.0, 1.0, 200)[:, None]
    rates = np.arange(1.0, 7.0)
    q, qd, qdd = np.sin(rates * t), rates * np.cos(rates * t), -(rates**2) * np.sin(rates * t)
    for speeds, told in ((qd, ()), (qd[:, ::-1], ("q", "qd"))):
        np.save(tmp_path / "motion.npy", np.hstack([t, q, speeds, qdd]))
        done = fa.stream(ARM, "inverse_dynamics", tmp_path / "motion.npy", tmp_path / "tau.npy")
        assert len(done.notes) == len(told)
        assert all(f"is not the slope of {of}" in note for of, note in zip(told, done.notes, strict=True))


@pytest.mark.parametrize("where", ["last", "anywhere"])
def test_a_number_too_many_was_taken_for_a_time_and_moved_all_columns(tmp_path, where):
    """Time last, or a number that is none: torques of other joints, and not a word."""
    t = np.arange(len(ROWS)) * 1e-3
    np.save(tmp_path / "a.npy", np.c_[ROWS, t] if where == "last" else np.c_[np.sin(9 * t), ROWS])
    with pytest.raises(
        fa.ReadFault, match=r"the first is taken for a time, and it does not rise \(row \d+, and \d+ others"
    ):
        fa.stream(ARM, "inverse_dynamics", tmp_path / "a.npy", tmp_path / "tau.npy")
    assert not (tmp_path / "tau.npy").exists()
    again = np.where(t > 5, t - 5, t)  # two motions, one after the other
    np.save(tmp_path / "a.npy", np.c_[again, ROWS])
    fa.stream(ARM, "inverse_dynamics", tmp_path / "a.npy", tmp_path / "tau.npy")
    assert np.array_equal(np.load(tmp_path / "tau.npy"), np.c_[again, TAU])


def test_a_row_of_empty_cells_was_left_out_and_moved_the_rows_after_it(tmp_path):
    head, row = "q1,q2,qd1,qd2,qdd1,qdd2\n", "1,0,0,0,0,0\n"
    (tmp_path / "a.csv").write_text(head + row + ",,,,,\n" + row)
    with pytest.raises(fa.ReadFault, match=r"a.csv:3: every cell is empty; expected a number"):
        fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "a.csv", tmp_path / "tau.npy")
    (tmp_path / "a.csv").write_text(head + row + "\n" + row + ",,,,,\n,,,,,\n\n")
    assert fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "a.csv", tmp_path / "tau.npy").rows == 2


def test_what_a_titled_file_leaves_open_is_said(tmp_path):
    arm = fa.load("rr")
    titles = "t_ms,position[0],position[1],velocity[0],velocity[1],qdd1,qdd2,foo"
    source = tmp_path / "log.csv"
    source.write_text(titles + "\n" + "\n".join(f"{k},0.1,0.2,0,0,0,0,9" for k in range(5)) + "\n")
    done = fa.stream(arm, "inverse_dynamics", source, tmp_path / "tau.npy")
    assert done.notes[:2] == ("columns ignored: foo", "time read from 't_ms', in units of 0.001 s")
    assert "position[0] … taken in the order of the joints: q1, q2. A JointState message" in done.notes[2]


def test_decimal_commas_of_a_long_file_were_not_said(tmp_path):
    source, titles = (
        tmp_path / "log.csv",
        ";".join(f"{kind}{i}" for kind in ("q", "qd", "qdd") for i in (1, 2)),
    )
    for row, said in (("0,5;0;0;0;0;0", ("decimal commas read as points",)), ("0.5;0;0;0;0;0", ())):
        source.write_text(f"{titles}\n{row}\n")
        assert fa.stream(fa.load("rr"), "inverse_dynamics", source, tmp_path / "tau.npy").notes == said
        np.testing.assert_array_equal(
            np.load(tmp_path / "tau.npy")[0], fa.gravity_torque(fa.load("rr"), [0.5, 0])
        )


def test_degrees_of_a_short_file_that_begins_at_home_were_radians(tmp_path):
    """One row of sixteen was looked at: the first."""
    free = ARM.replace(links=tuple(link.replace(limits=None) for link in ARM.links))
    rows = np.zeros((16, 3 * ARM.n))
    rows[1:, : ARM.n] = 120.0
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(fa.ReadFault, match="looks like degrees"):
        fa.stream(free, "inverse_dynamics", tmp_path / "rows.npy", tmp_path / "tau.npy")


def test_titles_of_joints_with_commas_were_more_than_the_columns(tmp_path):
    rr = fa.load("rr")
    arm = rr.replace(
        links=tuple(x.replace(name=name) for x, name in zip(rr.links, ("a,2", "a,1"), strict=True))
    )
    np.save(tmp_path / "rows.npy", np.zeros((2, 6)))
    fa.stream(arm, "inverse_dynamics", tmp_path / "rows.npy", tmp_path / "tau.csv")
    header = (tmp_path / "tau.csv").read_text().splitlines()[0]
    assert next(csv.reader([header])) == ["tau:a,2", "tau:a,1"]


@pytest.mark.parametrize("degrees", [None, True])
def test_millimetres_of_a_slide_are_asked_about_not_taken_for_metres(tmp_path, degrees):
    arm = fa.load("stanford")
    rows = np.zeros((3, 18))
    rows[:, 2] = 340.0
    titles = [f"{kind}{j}" for kind in ("q", "qd", "qdd") for j in range(1, 7)]
    source = tmp_path / "log.csv"
    source.write_text(",".join(titles) + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    asked = (
        r"'joint3' slides to 340 m, which looks like millimetres\. If it is, say so in the header, q3 \[mm\]"
    )
    with pytest.raises(fa.ReadFault, match=asked):
        fa.stream(arm, "inverse_dynamics", source, tmp_path / "tau.npy", degrees=degrees)
    with pytest.raises(fa.ReadFault, match=asked):
        read_motion_file(source, arm, degrees=degrees)
    assert read_motion_file(source, arm, degrees=False).q[0, 2] == 340
    for title, unit in (("q3", "mm"), ("qd3", "mm/s"), ("qdd3", "mm/s2")):
        source.write_text(source.read_text().replace(f",{title},", f",{title} [{unit}],", 1))
    np.testing.assert_allclose(read_motion_file(source, arm, degrees=degrees).q[0, 2], 0.34)
    if degrees is None:
        np.save(tmp_path / "log.npy", rows)
        with pytest.raises(
            fa.ReadFault, match=r"looks like millimetres\. If it is, write metres; if not, --radians"
        ):
            fa.stream(arm, "inverse_dynamics", tmp_path / "log.npy", tmp_path / "tau.npy")


def test_an_array_with_its_joints_before_its_inputs_is_refused_not_mixed_up(tmp_path):
    arm = fa.load("rr")
    state = arm.random_state(seed=1, batch=(5,))
    np.save(tmp_path / "right.npy", np.stack(state, axis=1))
    np.save(tmp_path / "wrong.npy", np.stack(state, axis=2))
    fa.stream(arm, "inverse_dynamics", tmp_path / "right.npy", tmp_path / "tau.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(arm, *state))
    with pytest.raises(
        fa.ReadFault, match=r"shape \(5, 2, 3\); give rows \(N, 6\), or \(N, 3, 2\): q, qd, qdd one"
    ):
        fa.stream(arm, "inverse_dynamics", tmp_path / "wrong.npy", tmp_path / "tau.npy")


def test_four_values_of_one_joint_were_taken_for_a_time_and_three(tmp_path):
    link = fa.load("rr").links[0]
    arm = fa.Arm("one", [link], gravity=(0, -9.81, 0))
    q, qd, qdd = arm.random_state(seed=1, batch=(5,))
    q = np.sort(q, axis=0)
    np.save(tmp_path / "log.npy", np.stack([q, qd, qdd, qdd], axis=1))
    fa.stream(arm, "inverse_dynamics", tmp_path / "log.npy", tmp_path / "tau.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(arm, q, qd, qdd))
    np.save(tmp_path / "log.npy", np.stack([q] * 5, axis=1))
    with pytest.raises(fa.ReadFault, match=r"shape \(5, 5, 1\); give rows \(N, 3\), or \(N, 3, 1\)"):
        fa.stream(arm, "inverse_dynamics", tmp_path / "log.npy", tmp_path / "tau.npy")


@pytest.mark.parametrize("more", [0, 1, 2])
def test_rows_behind_those_that_an_array_says_were_left_out_without_a_word(tmp_path, more):
    """Two arrays saved into one file, or an appender that ended before it wrote how many rows there are now."""
    arm, path = fa.load("rr"), tmp_path / "log.npy"
    rows = np.hstack(arm.random_state(seed=1, batch=(20,)))
    np.save(path, rows)
    with path.open("ab") as file:
        if more == 1:
            file.write(rows.tobytes())
        if more == 2:
            np.save(file, rows)
    if not more:
        assert fa.stream(arm, "inverse_dynamics", path, tmp_path / "tau.npy").rows == 20
        return
    with pytest.raises(fa.ReadFault, match=r"says 20 rows, 960 bytes, and \d+ are there; .* write it anew"):
        fa.stream(arm, "inverse_dynamics", path, tmp_path / "tau.npy")


@pytest.mark.more
def test_rows_of_a_zarr_store_that_no_chunk_holds_are_said(tmp_path):
    zarr = pytest.importorskip("zarr")
    arm = fa.load("rr")
    store = zarr.create_array(store=str(tmp_path / "log.zarr"), shape=(20, 6), chunks=(5, 6), dtype="f8")
    store[:] = np.hstack(arm.random_state(seed=1, batch=(20,)))
    assert fa.stream(arm, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy").notes == ()
    (tmp_path / "log.zarr" / "c" / "2" / "0").unlink()
    done = fa.stream(arm, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy")
    assert "1 of 4 chunks are not in the store, and their rows are read as 0" in done.notes[0]


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_limits_that_a_long_file_goes_beyond_were_not_said(tmp_path, suffix, capsys):
    arm = fa.load("iiwa14")
    t = np.arange(20_000) * 1e-3
    q, qd, qdd = np.zeros((3, len(t), 7))
    q[:, 1], qd[:, 1] = 3 * np.sin(t), 3 * np.cos(t)
    qdd[9_000, 0] = 4000.0
    q[500] = np.nan if suffix == ".npy" else 0.0
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    want = limit_excesses(arm, t, q, qd, tau)[()]
    assert len(want) == 3
    rows, source = np.hstack([t[:, None], q, qd, qdd]), tmp_path / f"motion{suffix}"
    if suffix == ".npy":
        np.save(source, rows)
    else:
        titles = ",".join(["t", *(f"{name}{i}" for name in ("q", "qd", "qdd") for i in range(1, 8))])
        np.savetxt(source, rows, delimiter=",", header=titles, comments="", fmt="%.17g")
    done = fa.stream(arm, "inverse_dynamics", source, tmp_path / "tau.npy")
    assert sorted(map(str, done.excesses)) == sorted(map(str, want))
    assert set(done.excesses) == set(want)
    words = ("torque", "iiwa14", str(source), "-o", str(tmp_path / "tau.npy"))
    said = forearm(capsys, *words)
    assert said.code == 0
    assert "note: joint 'iiwa_joint_2': position 3 rad at t = " in said.err
    beyond = json.loads(forearm(capsys, *words, "--json").out)["beyond_limits"]
    assert {(e["joint"], e["what"]) for e in beyond} == {(e.joint, e.what) for e in want}


def test_a_stream_without_limits_that_are_passed_says_nothing(tmp_path, source):
    assert fa.stream(ARM, "gravity_torque", source, tmp_path / "g.npy").excesses == ()
