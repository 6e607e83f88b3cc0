"""Stores that say of their columns what xarray says: looked at for every array, whatever it is called, or refused."""

import numpy as np
import pytest

import forearm as fa

pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")
pytestmark = [pytest.mark.more, pytest.mark.filterwarnings("ignore")]  # of xarray's and Zarr's own

ARM = fa.load("ur5e")
NAMES = list(ARM.joint_names)
STATES = dict(zip(("q", "qd", "qdd"), ARM.random_state(0, (6,)), strict=True))
FORMATS = pytest.mark.parametrize("form", [2, 3])


def streamed(folder, form, arrays, coords=None, attrs=None, **more):
    xarray.Dataset(arrays, coords=coords, attrs=attrs).to_zarr(folder / "log.zarr", zarr_format=form, **more)
    done = fa.stream(ARM, "inverse_dynamics", folder / "log.zarr", folder / "tau.npy")
    return done, np.load(folder / "tau.npy")


def of(dims, turn=lambda v: v):
    return {name: (dims, turn(value)) for name, value in STATES.items()}


@FORMATS
def test_as_many_rows_as_joints_the_other_way_round_were_read_as_rows(form, tmp_path):
    for coords in ({"joint": NAMES}, None):
        with pytest.raises(fa.ReadFault, match="its axes are joint, time, and rows are times"):
            streamed(tmp_path, form, of(("joint", "time"), np.transpose), coords, mode="w")


@FORMATS
def test_names_beside_an_axis_of_another_name_were_passed_over(form, tmp_path):
    coords = {"joint_name": ("joint", NAMES[::-1])}
    with pytest.raises(fa.ReadFault, match="its 'joint_name' says that the columns are wrist_3_joint, "):
        streamed(tmp_path, form, of(("time", "joint"), lambda v: v[:, ::-1]), coords)


@FORMATS
def test_names_among_the_attributes_were_passed_over(form, tmp_path):
    with pytest.raises(fa.ReadFault, match="its 'joint_names' says that the columns are"):
        streamed(tmp_path, form, of(("time", "joint")), attrs={"joint_names": NAMES[::-1]})


@FORMATS
def test_names_of_the_second_array_were_passed_over(form, tmp_path):
    arrays = of(("time", "joint"))
    arrays["qd"] = (("time", "motor"), STATES["qd"][:, ::-1])
    with pytest.raises(fa.ReadFault, match="its 'motor' says that the columns are"):
        streamed(tmp_path, form, arrays, {"joint": NAMES, "motor": NAMES[::-1]})


@FORMATS
def test_rows_of_two_clocks_were_taken_by_place(form, tmp_path):
    arrays = of(("time", "joint"))
    arrays["qd"] = (("time_qd", "joint"), STATES["qd"][::-1])
    with pytest.raises(
        fa.ReadFault, match="rows of q go along time, those of qd along time_qd, and rows are"
    ):
        streamed(tmp_path, form, arrays, {"time": np.arange(6) * 0.1, "time_qd": np.arange(6)[::-1] * 0.1})


@FORMATS
def test_names_in_the_arms_order_are_taken_without_a_word(form, tmp_path):
    coords = {"joint": NAMES, "name": ("joint", NAMES), "number": ("joint", range(6)), "time": range(6)}
    done, tau = streamed(tmp_path, form, of(("time", "joint")), coords, {"joint_names": NAMES})
    assert done.notes == ()
    np.testing.assert_array_equal(tau, fa.inverse_dynamics(ARM, **STATES))


@FORMATS
@pytest.mark.parametrize("mark", [-9999.0, -1.0, np.nan])
def test_the_mark_of_missing_numbers_was_a_number_in_the_older_format(form, mark, tmp_path):
    arrays = of(("time", "joint"))
    arrays["qdd"] = (("time", "joint"), np.where(np.arange(6)[:, None] == 3, np.nan, STATES["qdd"]))
    done, tau = streamed(tmp_path, form, arrays, encoding={"qdd": {"_FillValue": mark}})
    assert done.not_finite == 1
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(tau[:, 0])), [3])
