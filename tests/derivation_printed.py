"""Comparing derived expressions with printed ones, term by term."""

import numpy as np
import sympy as sp


def terms(x):
    """The set of terms of a SymPy expression, multiplied out; sines and cosines of sums stay as they are."""
    return set(sp.Add.make_args(sp.expand(x))) - {sp.Integer(0)}


def assert_printed(ours, printed, label=""):
    """The derived expression has exactly the terms of the printed one."""
    got, want = terms(ours.to_sympy()), terms(printed)
    assert got == want, f"{label}: derived but not printed {got - want}, printed but not derived {want - got}"


def assert_all_printed(ours, printed, label=""):
    """The same for vectors and matrices."""
    want = np.array(printed, dtype=object)
    assert ours.shape == want.shape
    for place in np.ndindex(want.shape):
        assert_printed(ours[place], sp.sympify(want[place]), f"{label}{list(place)}")
