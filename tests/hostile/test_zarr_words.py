"""Names of columns that a Zarr group has beside its numbers: an array like the others, and looked at like them."""

import json
import shutil
import struct

import numpy as np
import pytest

import forearm as fa
from forearm.faults import ReadFault

KINDS = ("q", "qd", "qdd")


def _group(path, title):
    """A store of three arrays whose columns are named by an array of this title."""
    zarr = pytest.importorskip("zarr")
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.open_group(path, mode="w")
    for kind, values in zip(KINDS, fa.load("rr").random_state(0, (10,)), strict=True):
        group.create_array(kind, shape=(10, 2), dtype="f8")[:] = values
        words = path / kind / "zarr.json"
        words.write_text(json.dumps(json.loads(words.read_text()) | {"dimension_names": ["time", title]}))
    return group


def _notes(path):
    return fa.stream(fa.load("rr"), "inverse_dynamics", path, path.with_name("tau.npy")).notes


@pytest.mark.more
@pytest.mark.parametrize("title", ["../up", ".", "a" * 5000, "a\0b", "\ud800"])
def test_a_title_of_columns_that_is_no_name_of_a_file_was_a_bug_of_ours(title, tmp_path):
    _group(tmp_path / "log.zarr", title)
    assert "names the columns and cannot be read" in " ".join(_notes(tmp_path / "log.zarr"))


@pytest.mark.more
@pytest.mark.parametrize("lie", [None, "a block", "more than there is"])
def test_names_of_columns_packed_by_a_blosc_that_lied_ended_the_process(lie, tmp_path):
    """The library reads where the chunk's head leads it, as in the arrays of numbers, whose chunks were looked at."""
    zarr = pytest.importorskip("zarr")
    names = [name * 300 for name in fa.load("rr").joint_names]
    packed = zarr.codecs.BloscCodec(cname="zstd", typesize=1)
    given = _group(tmp_path / "log.zarr", "joint").create_array(
        "joint", shape=(2,), dtype=str, compressors=packed
    )
    given[:] = np.array(names)
    chunk = tmp_path / "log.zarr" / "joint" / "c" / "0"
    head = bytearray(chunk.read_bytes())
    if lie is not None:
        head[12:16] = struct.pack("<I", 0x7FFFFFF0)
        head[16:20] = struct.pack("<i", 0x7F000000)
    if lie == "more than there is":
        head[4:8] = struct.pack("<I", 0x7FFF0000)
    chunk.write_bytes(head)
    said = "has q1q1" if lie is None else "cannot be read"
    assert f"names the columns and {said}" in " ".join(_notes(tmp_path / "log.zarr"))


@pytest.mark.more
def test_two_names_of_200_million_letters_filled_the_memory(tmp_path):
    _group(tmp_path / "log.zarr", "joint")
    (tmp_path / "log.zarr" / "joint").mkdir()
    told = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [2],
        "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 800_000_000}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "",
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {},
    }
    (tmp_path / "log.zarr" / "joint" / "zarr.json").write_text(json.dumps(told))
    assert "names the columns and cannot be read" in " ".join(_notes(tmp_path / "log.zarr"))


@pytest.mark.more
@pytest.mark.parametrize("packed", ["blosc", "zstd"])
def test_names_of_columns_that_are_packed_soundly_are_read(packed, tmp_path):
    zarr = pytest.importorskip("zarr")
    codec = zarr.codecs.BloscCodec(cname="zstd", typesize=1) if packed == "blosc" else zarr.codecs.ZstdCodec()
    names = list(fa.load("rr").joint_names)
    for order, fine in ((names, True), (names[::-1], False)):
        group = _group(tmp_path / "log.zarr", "joint")
        group.create_array("joint", shape=(2,), dtype=str, compressors=codec)[:] = np.array(order)
        if fine:
            assert not _notes(tmp_path / "log.zarr")
        else:
            with pytest.raises(ReadFault, match="says that the columns are"):
                _notes(tmp_path / "log.zarr")
