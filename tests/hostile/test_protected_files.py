"""Files that may not be written to, or not replaced, though their folder lets everybody in."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from cli.verbs import MOTION, forearm
from forearm.outside.output_files import check_writable, write_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def as_anybody(monkeypatch):
    """Whoever runs the tests has the power of a user who is not root."""
    monkeypatch.setattr(
        os, "access", lambda path, mode: mode != os.W_OK or bool(os.stat(path).st_mode & 0o222)
    )


def _to_be_kept(name):
    path = Path(name)
    path.write_text("to be kept")
    path.chmod(0o444)
    return path


@pytest.mark.parametrize(
    "write", [lambda path: write_text(path, "new"), lambda path: fa.write_toml(fa.load("rr"), path)]
)
def test_a_file_that_may_not_be_written_to_was_replaced(write, as_anybody):
    """`chmod a-w` keeps results from `>` and from editors, and did not keep them from us."""
    path = _to_be_kept("a.toml")
    for try_it in (check_writable, write):
        with pytest.raises(OSError, match="Permission denied") as fault:
            try_it(path)
        assert fault.value.filename == "a.toml"
    assert path.read_text() == "to be kept"
    assert [entry.name for entry in Path().iterdir()] == ["a.toml"]


@pytest.mark.parametrize("words", [("torque", "rr", "log.csv"), ("simulate", "rr", "--duration", "1e5")])
def test_a_file_that_may_not_be_written_to_is_told_before_anything_is_computed(words, capsys, as_anybody):
    Path("log.csv").write_text(MOTION)
    path = _to_be_kept("out.csv")
    said = forearm(capsys, *words, "-o", path)
    assert said.code == 2
    assert "out.csv: Permission denied" in said.err
    assert path.read_text() == "to be kept"


def test_a_disk_without_modes_lost_the_second_result(monkeypatch):
    """Shares, sticks and cameras give every file one mode, and take no other."""

    def refused(path, mode):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), str(path))

    path = write_text("out.csv", "first")
    monkeypatch.setattr(os, "chmod", refused)
    check_writable(path)
    assert write_text(path, "second").read_text() == "second"


def _rows_before_the_fault(target):
    """How many rows were streamed before it was said that they cannot be written."""
    np.save("rows.npy", np.zeros((20, 6)))
    told = [0]
    with pytest.raises(OSError, match=r"not permitted|mounted|denied") as fault:
        fa.stream(
            fa.load("rr"), "inverse_dynamics", "rows.npy", target, progress=lambda *at: told.append(at[1])
        )
    assert fault.value.filename == target
    return told[-1]


def test_rows_for_a_file_of_somebody_else_in_a_folder_for_all_were_computed_first(monkeypatch):
    Path("all").mkdir()
    Path("all/out.csv").write_text("theirs")
    os.chmod("all", 0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert _rows_before_the_fault("all/out.csv") == 0
    assert Path("all/out.csv").read_text() == "theirs"


def _busy(*_):
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


@pytest.mark.more
@pytest.mark.parametrize("why", ["busy", "denied"])
def test_rows_for_a_store_that_cannot_be_replaced_were_computed_first(monkeypatch, why):
    """A store that is a volume of a container cannot be renamed."""
    pytest.importorskip("zarr", reason="stores need zarr")
    np.save("rows.npy", np.zeros((20, 6)))
    fa.stream(fa.load("rr"), "inverse_dynamics", "rows.npy", "out.zarr")
    if why == "busy":
        monkeypatch.setattr(os, "rename", _busy)
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "out.zarr")
    assert _rows_before_the_fault("out.zarr") == 0
    assert sorted(path.name for path in Path().iterdir()) == ["out.zarr", "rows.npy"]
