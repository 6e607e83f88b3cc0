"""Values that nobody should give: each is made anew, because some of them change when they are looked at."""

import datetime
import decimal
import fractions
import io
import tempfile
import types

import numpy as np

import forearm as fa


class OwnError(Exception):
    """What the objects below raise: nobody's kind of error."""


def raising(*names):
    """An object of which these special methods raise."""

    def refuse(self, *given, **more):
        raise OwnError("an object of the zoo")

    return type("Raising", (), dict.fromkeys((f"__{name}__" for name in names), refuse))()


def lying(**answers):
    """An object whose special methods answer what they should not."""
    methods = {
        f"__{name}__": lambda self, *_, answer=answer, **__: answer for name, answer in answers.items()
    }
    return type("Lying", (), methods)()


def within_itself():
    """A list that holds itself."""
    rows = [1.0]
    rows.append(rows)
    return rows


def holding_itself():
    """A dict that holds itself."""
    found = {}
    found["q"] = found
    return found


def closed():
    """A file that was closed."""
    with tempfile.TemporaryFile("w") as file:
        return file


def of_objects(*values):
    """An array of objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def mpf():
    import mpmath

    return mpmath.mpf("0.5")


def symbol():
    import sympy

    return sympy.Symbol("x")


ZOO = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "-1": lambda: -1,
    "3": lambda: 3,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**64 + 1": lambda: 2**64 + 1,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "0.5": lambda: 0.5,
    "nan": lambda: np.nan,
    "inf": lambda: np.inf,
    "-inf": lambda: -np.inf,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "1j": lambda: 1j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Decimal": lambda: decimal.Decimal("0.1"),
    "Decimal sNaN": lambda: decimal.Decimal("sNaN"),
    "mpf": mpf,
    "symbol": symbol,
    "empty text": lambda: "",
    "text": lambda: "nobody",
    "NUL": lambda: "a\0b",
    "lone surrogate": lambda: "a\udc80",
    "long text": lambda: "x" * 10_000,
    "number as text": lambda: "1.0",
    "bytes": lambda: b"abc",
    "../x": lambda: "../x/y",
    "a folder": lambda: "/tmp",
    "empty list": lambda: [],
    "empty tuple": lambda: (),
    "uneven rows": lambda: [[1.0, 2.0], [3.0]],
    "list of None": lambda: [None, None],
    "list of texts": lambda: ["a", "b"],
    "list of lists of texts": lambda: [["a"], ["b"]],
    "within itself": within_itself,
    "pair of huge": lambda: [10**400, 1],
    "pair of nan": lambda: [np.nan, 1.0],
    "pair of bool": lambda: [True, False],
    "three": lambda: [1.0, 2.0, 3.0],
    "0-d": lambda: np.array(1.0),
    "empty array": lambda: np.zeros((0, 2)),
    "no columns": lambda: np.zeros((2, 0)),
    "3-d": lambda: np.zeros((2, 2, 2)),
    "many axes": lambda: np.zeros((1,) * 40),
    "matrix": lambda: np.array([[1.0, 2.0]]).view(np.matrix),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "masked, a scalar": lambda: np.ma.masked,
    "objects": lambda: of_objects(None, "x"),
    "object arrays inside": lambda: of_objects(np.zeros(3), np.zeros(2)),
    "complex": lambda: np.array([1j, 2.0]),
    "float16": lambda: np.array([1, 2], dtype="f2"),
    "longdouble": lambda: np.array([1, 2], dtype=np.longdouble),
    "dates": lambda: np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "spans": lambda: np.array([1, 2], dtype="m8[s]"),
    "a date": lambda: datetime.datetime(2020, 1, 1),
    "structured": lambda: np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]),
    "texts": lambda: np.array(["a", "b"]),
    "void": lambda: np.void(b"abc"),
    "read-only": lambda: np.broadcast_to(np.zeros(2), (4, 2)),
    "huge, of no memory": lambda: np.broadcast_to(np.zeros(2), (10**12, 2)),
    "million": lambda: np.zeros(1_000_000),
    "generator": lambda: (x for x in (1.0, 2.0)),
    "huge range": lambda: range(10**15),
    "dict": dict,
    "dict of odd keys": lambda: {None: 1, (1, 2): [3], 1.5: "x"},
    "dict of q": lambda: {"q": [0.0, 0.0], "t": None},
    "dict within itself": holding_itself,
    "set": lambda: {1.0, 2.0},
    "frozenset": lambda: frozenset(["q"]),
    "a class": lambda: int,
    "Arm, the class": lambda: fa.Arm,
    "lambda of none": lambda: lambda: 1,
    "lambda of many": lambda: lambda a, b, c, d, e, f, g: 1,
    "lambda of any": lambda: lambda *a, **k: None,
    "a module": lambda: np,
    "NotImplemented": lambda: NotImplemented,
    "Ellipsis": lambda: ...,
    "slice": lambda: slice(0, 2),
    "object": object,
    "namespace": lambda: types.SimpleNamespace(links=None, n=None, name=None, q=3, dtype=4, shape="x"),
    "exception": lambda: ValueError("x"),
    "an arm": lambda: fa.load("rr"),
    "another arm": lambda: fa.load("puma560"),
    "a robot": lambda: fa.Robot("two", [fa.Link("revolute", name=name, mass=1.0) for name in "ab"], (0, 0)),
    "a pose": lambda: fa.Pose(),
    "a link": lambda: fa.Link("revolute"),
    "a Wrench": lambda: fa.Wrench(force=(1, 0, 0)),
    "an open file": lambda: io.StringIO("t,q1,q2\n"),
    "a closed file": closed,
    "Generator": lambda: np.random.default_rng(0),
    "RandomState": lambda: np.random.RandomState(0),
    "__array__ raises": lambda: raising("array"),
    "__len__ raises": lambda: raising("len", "getitem"),
    "__len__ is negative": lambda: lying(len=-1, getitem=1.0),
    "__len__ is huge": lambda: lying(len=2**62, getitem=1.0),
    "__iter__ raises": lambda: raising("iter"),
    "__iter__ is none": lambda: lying(iter=3),
    "__float__ raises": lambda: raising("float"),
    "__float__ is text": lambda: lying(float="x"),
    "__index__ raises": lambda: raising("index"),
    "__index__ is huge": lambda: lying(index=10**30),
    "__eq__ raises": lambda: raising("eq"),
    "__hash__ raises": lambda: raising("hash"),
    "__bool__ raises": lambda: raising("bool"),
    "__repr__ raises": lambda: raising("repr", "str"),
    "__fspath__ raises": lambda: raising("fspath"),
    "__fspath__ is a number": lambda: lying(fspath=3),
    "__getattr__ raises": lambda: raising("getattr"),
    "everything raises": lambda: raising(
        *(
            "array",
            "len",
            "iter",
            "float",
            "index",
            "eq",
            "hash",
            "bool",
            "repr",
            "str",
            "getattr",
            "fspath",
            "int",
        )
    ),
    "__array__ is a list": lambda: lying(array=[1.0, 2.0]),
}
"""By name; a name is what a report of a failure says."""

ODD = frozenset(
    (
        "1j;Decimal sNaN;NUL;bytes;uneven rows;list of None;list of lists of texts;within itself;pair of bool;masked;"
        "objects;object arrays inside;complex;dates;spans;a date;structured;huge range;dict of odd keys;dict of q;"
        "dict within itself;set;a module;NotImplemented;Ellipsis;slice;object;namespace;exception;a closed file;"
        "RandomState;lambda of none;lambda of many"
    ).split(";")
) | frozenset(name for name in ZOO if name.startswith("__") and name != "__index__ is huge")
"""What stands for no number, name, choice or thing of ours anywhere: a call that takes it has misread it."""
