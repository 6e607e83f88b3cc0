"""Stores that say of their columns what xarray says: looked at for every array, whatever it is called, or refused."""

import numpy as np
import pytest

import forearm as fa

zarr = pytest.importorskip("zarr")
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


@FORMATS
def test_rows_that_were_appended_after_a_store_was_summed_up_were_left_out(form, tmp_path):
    """Metadata of all arrays in one place are as old as the last call that wrote them there."""
    group = zarr.open_group(tmp_path / "log.zarr", mode="w", zarr_format=form)
    for name, rows in STATES.items():
        group.create_array(name, shape=(4, 6), chunks=(2, 6), dtype="f8")[:] = rows[:4]
    zarr.consolidate_metadata(str(tmp_path / "log.zarr"))
    group = zarr.open_group(tmp_path / "log.zarr", mode="r+", use_consolidated=False)
    for name, rows in STATES.items():
        group[name].append(rows[4:])
    assert fa.stream(ARM, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy").rows == 6
    np.testing.assert_array_equal(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(ARM, **STATES))


TITLES = [f"{kind}{i}" for kind in STATES for i in range(1, 7)]
BY_NAME = [f"{name}.{word}" for word in ("position", "velocity", "acceleration") for name in NAMES]


def one_array(folder, form, key, said, times=0):
    rows = np.hstack([np.arange(6.0)[:, None]] * times + list(STATES.values()))
    store = zarr.create_array(str(folder / "log.zarr"), shape=rows.shape, dtype="f8", zarr_format=form)
    store[:] = rows
    store.attrs[key] = said
    return fa.stream(ARM, "inverse_dynamics", folder / "log.zarr", folder / "tau.npy")


@FORMATS
@pytest.mark.parametrize(
    ("said", "times", "odd"),
    [
        (TITLES[::-1], 0, "qdd6"),
        ([*TITLES[6:12], *TITLES[:6], *TITLES[12:]], 0, "qd1"),
        ([*TITLES[:12], *(f"tau{i}" for i in range(1, 7))], 0, "tau1"),
        ([*TITLES, "t"], 1, "q1"),
        ([f"{title} [deg]" for title in TITLES], 0, r"q1 \[deg\]"),
        ([*BY_NAME[1:6], BY_NAME[0], *BY_NAME[6:]], 0, "shoulder_lift_joint.position"),
    ],
)
def test_names_of_the_columns_of_an_array_alone_were_passed_over(form, said, times, odd, tmp_path):
    with pytest.raises(
        fa.ReadFault, match=rf"its 'columns' says that a column is '{odd}', and it is read as "
    ):
        one_array(tmp_path, form, "columns", said, times)


@FORMATS
@pytest.mark.parametrize(
    ("said", "times"),
    [
        (TITLES, 0),
        (["t", *TITLES], 1),
        (BY_NAME, 0),
        ([f"{title} [rad]" for title in TITLES[:6]] + TITLES[6:], 0),
        (["rad"] * 18, 0),
        (NAMES * 3, 0),
        ([f"{'q/' * 400_000}{title}" for title in TITLES], 0),
        ([f"channel {i}" for i in range(18)], 0),
        (TITLES[::-1][:5], 0),
    ],
)
def test_names_of_the_columns_of_an_array_alone_that_fit_are_taken(form, said, times, tmp_path):
    assert not [
        note for note in one_array(tmp_path, form, "columns", said, times).notes if "slope" not in note
    ]
    tau = np.load(tmp_path / "tau.npy")[:, times:]
    np.testing.assert_array_equal(tau, fa.inverse_dynamics(ARM, **STATES))
