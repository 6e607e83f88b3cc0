"""Small files that say much of themselves: what they say is bounded before memory is taken for it."""

import struct
import tracemalloc

import numpy as np
import pytest

import forearm as fa
from forearm.streams.zarr_stores import MOST_MARKS

ARM = fa.load("rr")
ROWS = 100_000
MEMORY = 100 << 20
"""Bytes that suffice; each of these files took gigabytes."""


@pytest.fixture
def taken():
    """Bytes that were taken at once since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("length", [300_000_000, 2_000_000_000, 2**32 - 1])
def test_a_header_of_4_kb_on_disk_took_gigabytes(tmp_path, taken, length):
    path = tmp_path / "q.npy"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", length))
        file.truncate(12 + length)  # holes: nothing of it is on the disk
    with pytest.raises(fa.ReadFault, match=f"a header of {length} letters"):
        fa.stream(ARM, "gravity_torque", path, tmp_path / "tau.npy")
    assert taken() < MEMORY


def test_a_header_of_version_2_is_read(tmp_path):
    q = np.random.default_rng(1).uniform(-1, 1, (7, 2))
    with (tmp_path / "q.npy").open("wb") as file:
        np.lib.format.write_array(file, q, version=(2, 0))
    fa.stream(ARM, "gravity_torque", tmp_path / "q.npy", tmp_path / "tau.npy")
    assert np.array_equal(np.load(tmp_path / "tau.npy"), fa.gravity_torque(ARM, q))


@pytest.mark.more
@pytest.mark.parametrize("count", [MOST_MARKS, MOST_MARKS + 1, 100_000])
@pytest.mark.parametrize("key", ["_FillValue", "missing_value"])
def test_thousands_of_numbers_that_stand_for_none_took_gigabytes(tmp_path, taken, key, count):
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "q.zarr"
    array = zarr.create_array(str(store), shape=(ROWS, 2), chunks=(ROWS, 2), dtype="f8")
    array.attrs[key] = [7.0] * count
    if count > MOST_MARKS:
        with pytest.raises(fa.ReadFault, match=f"says {count} numbers in {key}, and one is usual"):
            fa.stream(ARM, "gravity_torque", store, tmp_path / "tau.npy")
    else:
        assert fa.stream(ARM, "gravity_torque", store, tmp_path / "tau.npy").rows == ROWS
    assert taken() < MEMORY
