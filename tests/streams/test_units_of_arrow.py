"""Units that Arrow and pandas keep beside numbers: the same sentence in memory and in a file."""

import numpy as np
import pytest

import forearm as fa

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.more

ARM = fa.load("ur5e")
Q, QD, QDD = ARM.random_state(0, (50,))


def table(unit):
    told = {"units": unit} if unit else None
    fields = [pa.field(name, pa.float64(), metadata=told) for name in ARM.joint_names]
    return pa.Table.from_arrays([pa.array(column) for column in Q.T], schema=pa.schema(fields))


@pytest.mark.parametrize("unit", [None, "rad"])
def test_tables_of_arrow_in_our_units_are_taken(unit):
    np.testing.assert_array_equal(
        fa.inverse_dynamics(ARM, table(unit), QD, QDD), fa.inverse_dynamics(ARM, Q, QD, QDD)
    )


def test_units_of_arrows_fields_were_passed_over_in_memory():
    with pytest.raises(
        fa.StateFault, match="q: says units='deg', and numbers are read in SI units and radians"
    ):
        fa.inverse_dynamics(ARM, table("deg"), QD, QDD)


@pytest.mark.parametrize("unit", [None, "rad", "deg"])
def test_units_that_pandas_keeps_in_a_file_were_passed_over(unit, tmp_path):
    pandas = pytest.importorskip("pandas")
    titles = [f"{kind}{i}" for kind in ("q", "qd", "qdd") for i in range(1, 7)]
    rows = pandas.DataFrame(np.hstack([Q, QD, QDD]), columns=titles)
    if unit:
        rows.attrs["units"] = unit
    rows.to_parquet(tmp_path / "log.parquet")
    where = tmp_path / "log.parquet", tmp_path / "tau.npy"
    if unit == "deg":
        with pytest.raises(fa.ReadFault, match="says units='deg'"):
            fa.stream(ARM, "inverse_dynamics", *where)
        return
    fa.stream(ARM, "inverse_dynamics", *where)
    np.testing.assert_array_equal(np.load(where[1]), fa.inverse_dynamics(ARM, Q, QD, QDD))
