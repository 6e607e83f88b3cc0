"""Zarr, Parquet, xarray and Dask: files and arrays of theirs, and nothing copied that need not be."""

import base64
from contextlib import nullcontext

import numpy as np
import pytest

import forearm as fa
from close import assert_close

pytestmark = pytest.mark.more
ARM = fa.load("puma560")
STATE = ARM.random_state(0, (70_000,))
TAU = fa.inverse_dynamics(ARM, *STATE)


def test_zarr_in_and_out(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        store=str(tmp_path / "a.zarr"), shape=(70_000, 18), chunks=(5000, 18), dtype="f8"
    )
    array[:] = np.hstack(STATE)
    done = fa.stream(ARM, "inverse_dynamics", tmp_path / "a.zarr", tmp_path / "tau.zarr")
    assert done.rows == 70_000
    assert np.array_equal(zarr.open(str(tmp_path / "tau.zarr"), mode="r")[:], TAU)
    fa.stream(ARM, "inverse_dynamics", tmp_path / "a.zarr", tmp_path / "tau.zarr")  # over the old one
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    for name, values in zip(("q", "qd", "qdd"), STATE, strict=True):
        group.create_array(name, data=values)
    fa.stream(ARM, "inverse_dynamics", tmp_path / "g.zarr", tmp_path / "tau.npy")
    assert np.array_equal(np.load(tmp_path / "tau.npy"), TAU)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    with pytest.raises(fa.ReadFault, match="has no array tau"):
        fa.stream(ARM, "forward_dynamics", tmp_path / "g.zarr", tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"units": "degrees"}, "q: says units='degrees', and numbers are read in SI"),
        ({"scale_factor": 1e-3}, "q: says scale_factor=0.001, which is not read"),
        ({"add_offset": 0.5}, "q: says add_offset=0.5, which is not read"),
        ({"units": ["rad", "deg", "rad", "rad", "rad", "rad"]}, "q: says units='deg'"),
        ({"Units": "deg"}, "q: says Units='deg'"),
        ({"units": "rad", "scale_factor": 1.0, "add_offset": 0.0, "long_name": "position"}, ""),
    ],
)
def test_units_beside_the_numbers_of_a_store_were_passed_over(tmp_path, said, told):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    group.create_array("q", data=np.full((3, 6), 5.0)).attrs.update(said)
    with pytest.raises(fa.ReadFault, match=told) if told else nullcontext():
        fa.stream(ARM, "gravity_torque", tmp_path / "g.zarr", tmp_path / "g.npy")


def test_units_of_a_whole_store_or_table_were_passed_over(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    group.create_array("q", data=np.full((3, 6), 5.0))
    group.attrs["units"] = "deg"
    with pytest.raises(fa.ReadFault, match=r"g\.zarr: says units='deg'"):
        fa.stream(ARM, "gravity_torque", tmp_path / "g.zarr", tmp_path / "g.npy")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for title, told in (("q{}", r"a\.parquet: says units='deg'"), ("q{} [deg]", "")):
        table = pyarrow.table({title.format(j + 1): [5.0] for j in range(6)})
        parquet.write_table(table.replace_schema_metadata({"units": "deg"}), tmp_path / "a.parquet")
        with pytest.raises(fa.ReadFault, match=told) if told else nullcontext():
            fa.stream(ARM, "gravity_torque", tmp_path / "a.parquet", tmp_path / "g.npy")


def test_units_beside_the_columns_of_a_table_were_passed_over(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, tau = tmp_path / "a.parquet", tmp_path / "g.npy"
    for unit, title in (("deg", "q{}"), ("rad", "q{}"), ("deg", "q{} [deg]")):
        fields = [
            pyarrow.field(title.format(j + 1), pyarrow.float64(), metadata={"unit": unit}) for j in range(6)
        ]
        columns = [pyarrow.array([5.0])] * 6
        parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), path)
        silent = (unit, title) == ("deg", "q{}")
        with pytest.raises(fa.ReadFault, match="column 'q1': says unit='deg'") if silent else nullcontext():
            fa.stream(ARM, "gravity_torque", path, tau)
    assert fa.stream(ARM, "gravity_torque", path, tau, degrees=True).rows == 1
    angle = np.full((1, 6), np.deg2rad(5.0))
    np.testing.assert_allclose(np.load(tau), fa.gravity_torque(ARM, angle), rtol=1e-12)


@pytest.mark.parametrize("unit", ["Nmm", "N mm", "mN m"])
def test_the_unit_beside_torques_of_a_table_was_never_looked_at(tmp_path, unit):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    fields = [
        pyarrow.field(f"{kind}{j + 1}", pyarrow.float64(), metadata={"unit": unit} if kind == "tau" else None)
        for kind in ("q", "qd", "tau")
        for j in range(6)
    ]
    columns = [pyarrow.array([0.5])] * 18
    parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), tmp_path / "a.parquet")
    with pytest.raises(fa.ReadFault, match=f"column 'tau1': says unit='{unit}'"):
        fa.stream(ARM, "forward_dynamics", tmp_path / "a.parquet", tmp_path / "qdd.npy")


def test_parquet_in_and_out(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"time_ms": np.arange(70_000.0)}
    for kind, values in zip(("position", "velocity", "acceleration"), STATE, strict=True):
        columns |= {f"{kind}[{j}]": values[:, j] for j in range(6)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    fa.stream(ARM, "inverse_dynamics", tmp_path / "a.parquet", tmp_path / "tau.parquet")
    found = parquet.read_table(tmp_path / "tau.parquet")
    assert np.array_equal(np.column_stack([found[f"tau{j}"] for j in range(1, 7)]), TAU)
    np.testing.assert_allclose(found["t"].to_numpy(), np.arange(70_000) * 1e-3, rtol=1e-15)


@pytest.mark.parametrize(("title", "held"), [("t", r"timestamp\[ns\]"), ("qd2", "string")])
def test_the_column_that_holds_no_numbers_was_not_named(tmp_path, title, held):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    titles = ["t", *(f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(ARM.n))]
    columns = {name: [0.0, 1.0] for name in titles}
    columns[title] = pyarrow.array([0, 1], pyarrow.timestamp("ns")) if title == "t" else ["0", "one"]
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    with pytest.raises(
        fa.ReadFault, match=f"a.parquet: column '{title}' holds {held}; give numbers, in seconds"
    ):
        fa.stream(ARM, "inverse_dynamics", tmp_path / "a.parquet", tmp_path / "tau.npy")
    assert not (tmp_path / "tau.npy").exists()


def test_xarray_with_dask_underneath():
    xarray, array = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    names = [f"joint{k}" for k in range(1, 7)]
    given = [
        xarray.DataArray(
            array.from_array(x, chunks=(10_000, 6)), dims=("t", "joint"), coords={"joint": names}
        )
        for x in STATE
    ]
    tau = xarray.apply_ufunc(
        lambda *state: fa.inverse_dynamics(ARM, *state),
        *given,
        input_core_dims=[["joint"]] * 3,
        output_core_dims=[["joint"]],
        dask="parallelized",
        output_dtypes=[float],
    )
    assert tau.chunks is not None
    assert np.array_equal(tau.compute().values, TAU)


def test_dask_arrays_block_by_block():
    array = pytest.importorskip("dask.array")
    q, qd, qdd = (array.from_array(x, chunks=(10_000, 6)) for x in STATE)
    tau = array.map_blocks(lambda *state: fa.inverse_dynamics(ARM, *state), q, qd, qdd, dtype=float)
    assert np.array_equal(tau.compute(), TAU)
    assert np.array_equal(abs(tau).max(axis=0).compute(), np.abs(TAU).max(axis=0))


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ({"_FillValue": -9999.0}, -9999.0),
        ({"missing_value": [1e20, -9999]}, 1e20),
        ({"_FillValue": base64.b64encode(np.float64(-7.5).tobytes()).decode()}, -7.5),
        ({"_FillValue": "AAAAAAAA+H8="}, np.nan),
    ],
)
def test_numbers_that_a_store_marks_as_missing_were_angles(tmp_path, said, marked):
    """What xarray and netCDF write where nothing was measured: -9999 rad gave torques."""
    zarr = pytest.importorskip("zarr")
    q = np.full((3, 6), 0.5)
    q[1, 2] = marked
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    group.create_array("q", data=q).attrs.update(said)
    fa.stream(ARM, "gravity_torque", tmp_path / "g.zarr", tmp_path / "g.npy")
    found = np.load(tmp_path / "g.npy")
    assert np.isnan(found[1]).any()
    assert_close(found[[0, 2]], fa.gravity_torque(ARM, q[[0, 2]]))


def test_a_mark_of_missing_numbers_that_is_none_is_told(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    group.create_array("q", data=np.full((3, 6), 0.5)).attrs.update({"_FillValue": "none"})
    with pytest.raises(fa.ReadFault, match=r"q: says _FillValue='none', which is no number; write the array"):
        fa.stream(ARM, "gravity_torque", tmp_path / "g.zarr", tmp_path / "g.npy")
