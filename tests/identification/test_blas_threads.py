"""Linear algebra is held to one thread while an arm is identified, and let go afterwards."""

import ctypes
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from forearm.outside.whole_process.blas_threads import ONE_BLAS_THREAD, _controls
from identification.synthetic import log_of, motion_of


@pytest.fixture
def asked():
    """The number of threads of each library, two of them while the test runs."""
    np.linalg.qr(np.eye(2))
    if not _controls():
        pytest.skip("NumPy carries no OpenBLAS here")
    before = [ask() for ask, _ in _controls()]
    for _, give in _controls():
        give(2)
    yield lambda: {ask() for ask, _ in _controls()}
    for (_, give), number in zip(_controls(), before, strict=True):
        give(number)


def test_one_within_and_the_same_as_before_after(asked):
    with ONE_BLAS_THREAD.inside():
        assert asked() == {1}
        with ONE_BLAS_THREAD.inside():
            assert asked() == {1}
        assert asked() == {1}
    assert asked() == {2}
    with pytest.raises(ZeroDivisionError), ONE_BLAS_THREAD.inside():
        _ = 1 / 0
    assert asked() == {2}


def test_the_last_of_several_threads_lets_go(asked):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with ONE_BLAS_THREAD.inside():
            inside.set()
            leave.wait(10)

    worker = threading.Thread(target=other)
    with ONE_BLAS_THREAD.inside():
        worker.start()
        inside.wait(10)
    assert asked() == {1}  # the other one is still inside
    leave.set()
    worker.join()
    assert asked() == {2}


def test_identify_holds_them(asked, monkeypatch):
    seen = set()
    qr = np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda *a, **k: (seen.update(asked()), qr(*a, **k))[1])
    arm = fa.load("rr")
    fa.identify(arm, log_of(arm, motion_of(arm, duration=10.0, seed=1)))
    assert seen == {1}
    assert asked() == {2}


def test_no_library_is_loaded_from_the_folder_where_somebody_works(tmp_path, monkeypatch):
    for name in ("scipy.libs/libopenblas.so", "numpy.libs/libopenblas.so", ".dylibs/libopenblas.dylib"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"a stranger's")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "scipy", raising=False)
    loaded, load = [], ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", lambda path: (loaded.append(Path(path).resolve()), load(path))[1])
    _controls.__wrapped__()
    assert not [path for path in loaded if path.is_relative_to(tmp_path)]
