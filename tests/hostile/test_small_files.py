"""Small files that say much of themselves: what they say is bounded before memory is taken for it."""

import json
import resource
import struct
import time
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


@pytest.mark.more
@pytest.mark.parametrize("packing", ["plain", "zstd", "sharded", "version 2"])
def test_a_chunk_of_holes_was_read_whole(tmp_path, taken, packing):
    """An archive of some megabytes holds any number of zeros: 2 GB for 1.6 kB of rows."""
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "q.zarr"
    told = {"zstd": {}, "sharded": {"shards": (200, 2)}, "version 2": {"zarr_format": 2}}.get(
        packing, {"compressors": None}
    )
    array = zarr.create_array(str(store), shape=(200, 2), chunks=(100, 2), dtype="f8", **told)
    array[:] = 0.1
    held = store / {"sharded": "c/0/0", "version 2": "1.0"}.get(packing, "c/1/0")
    with held.open("r+b") as file:
        file.truncate(1 << 29)
    with pytest.raises(fa.ReadFault, match=r"a file has 512 MiB, and its numbers take 1(\.01)? MiB at most"):
        fa.stream(ARM, "gravity_torque", store, tmp_path / "tau.npy")
    assert taken() < MEMORY


@pytest.mark.more
def test_rows_that_do_not_become_shorter_when_they_are_packed_are_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    q = np.random.default_rng(1).uniform(-1, 1, (5000, 2))
    for shards in (None, (5000, 2)):
        store = tmp_path / f"{shards is None}.zarr"
        zarr.create_array(str(store), shape=q.shape, chunks=(1, 2), shards=shards, dtype="f8")[:] = q
        fa.stream(ARM, "gravity_torque", store, tmp_path / "tau.npy")
        assert np.array_equal(np.load(tmp_path / "tau.npy"), fa.gravity_torque(ARM, q))


@pytest.mark.more
def test_a_parquet_file_of_holes_was_read_to_its_beginning(tmp_path):
    pytest.importorskip("pyarrow")
    path, size = tmp_path / "q.parquet", 1 << 31
    with path.open("wb") as file:
        file.write(b"PAR1")
        file.truncate(size - 8)
        file.seek(0, 2)
        file.write(struct.pack("<I", size - 20) + b"PAR1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(fa.ReadFault, match="it says that its last 2147483628 bytes tell what it holds"):
        fa.stream(ARM, "gravity_torque", path, tmp_path / "tau.npy")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


CROWDED = {
    "codecs": lambda told: told["codecs"].extend([{"name": "crc32c"}] * 300_000),
    "codecs of a shard": lambda told: told.update(
        codecs=[{"name": "sharding_indexed", "configuration": {"codecs": ["crc32c"] * 300_000}}]
    ),
    "axes": lambda told: told.update(
        shape=[1] * 300_000,
        chunk_grid={"name": "regular", "configuration": {"chunk_shape": [1] * 300_000}},
    ),
    "digits": lambda told: told["shape"].__setitem__(0, 10**4200),
}


@pytest.mark.more
@pytest.mark.parametrize("what", CROWDED)
def test_codecs_without_number_kept_a_reader_busy_for_minutes(tmp_path, what):
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "q.zarr"
    zarr.create_array(str(store), shape=(10, 2), chunks=(10, 2), dtype="f8")[:] = 0.1
    told = json.loads((store / "zarr.json").read_text())
    CROWDED[what](told)
    (store / "zarr.json").write_text(json.dumps(told))
    start = time.process_time()
    with pytest.raises(fa.ReadFault, match=r"names more than 100 codecs|a size that no array has") as caught:
        fa.stream(ARM, "gravity_torque", store, tmp_path / "tau.npy")
    assert time.process_time() - start < 5
    assert len(str(caught.value)) < 1000


def test_a_table_that_says_gigabytes_of_packed_numbers_took_them(tmp_path):
    """Where numbers of 2 kB stand; most_bytes was looked at for what they become alone."""
    path = tmp_path / "a.table"
    fa.tabulate(ARM, points=5).save(path)
    magic, header, rest = path.read_bytes().split(b"\n", 2)
    told = json.loads(header)
    told["compressed"][-1] = 1 << 29
    path.write_bytes(magic + b"\n" + json.dumps(told).encode() + b"\n" + rest)
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(fa.ReadFault, match="numbers are not all there"):
        fa.open_table(path, ARM, most_bytes=1e6)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
