"""Zarr stores whose chunks lie together in shards, from a stranger."""

import json

import numpy as np
import pytest

import forearm as fa


@pytest.mark.more
def test_a_shard_of_no_rows_gets_one_sentence(tmp_path):
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "a.zarr"
    zarr.create_array(str(store), shape=(8, 2), chunks=(4, 2), shards=(8, 2), dtype="f8")[:] = np.ones((8, 2))
    told = json.loads((store / "zarr.json").read_text())
    told["chunk_grid"]["configuration"]["chunk_shape"] = [0, 2]
    (store / "zarr.json").write_text(json.dumps(told))
    with pytest.raises(fa.ReadFault):
        fa.stream(fa.load("rr"), "gravity_torque", store, tmp_path / "b.npy")
