"""Labels and masks in every argument of every public call: looked at or refused, never passed over.

`python tests/hostile/labels_everywhere.py [BEGINNING_OF_A_CALL …]` tries all. Numbers of a good call are given again
with labels, in another order: a result must be the good call's own (labels were looked at), or a Fault.
"""

import ast
import collections
import copy
import dataclasses
import sys
import warnings

import numpy as np

KEPT = ("fa.Arc(", "sim.PDWithGravity(", "sim.Samples(", "sim.ViaPoints(")
"""What keeps numbers as they are, until they are read."""
LABELS = {2: ("q1", "q2"), 3: ("x", "y", "z"), 6: None}
"""What each of so many numbers may be called: joints of rr, axes, joints of ur5e."""


def kinds():
    """How numbers (..., n) come with labels, in another order; and one with a mask."""
    import pandas
    import xarray

    def turned(names):
        return [*names[1:], names[0]]

    def moved(values):
        return np.roll(values, -1, axis=-1)

    def series(values, names, dtype=object):
        return pandas.Series(moved(values), index=np.array(turned(names), dtype=dtype))

    def table(values, names):
        return pandas.DataFrame(moved(values), columns=turned(names))

    def levels(values, names):
        titles = pandas.MultiIndex.from_product([["position"], turned(names)])
        return pandas.DataFrame(moved(values), columns=titles)

    def array(values, names, axis="joint", beside=None):
        dims = (*(f"row{k}" for k in range(values.ndim - 1)), axis)
        return xarray.DataArray(moved(values), dims=dims, coords={beside or axis: (axis, turned(names))})

    def fields(values, names):
        row = collections.namedtuple("Row", turned(names))
        rows = [row(*one.tolist()) for one in moved(values).reshape(-1, values.shape[-1])]
        return rows[0] if values.ndim == 1 else rows

    def second(values, names):
        return [values[0], *(pandas.Series(moved(row), index=turned(names)) for row in values[1:])]

    def masked(values, names):
        return np.ma.masked_array(values, np.arange(values.size).reshape(values.shape) == 0)

    return {
        "series": (1, series),
        "series of bytes": (1, lambda values, names: series(values, [x.encode() for x in names], "S20")),
        "table": (2, table),
        "table of two levels": (2, levels),
        "array of xarray": (0, array),
        "array of xarray, names beside": (0, lambda values, names: array(values, names, "dof", "name")),
        "named tuples": (0, fields),
        "series after a plain row": (2, second),
        "masked": (0, masked),
    }


def numbers_given(call, things):
    """Arrays and lists of numbers in the arguments of a call, wherever they stand: (number of the node, values)."""
    for k, node in enumerate(_inner(ast.parse(call, mode="eval").body)):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            value = _evaluated(node, things)
            if not isinstance(value, (list, tuple, np.ndarray)):
                continue
            try:
                values = np.array(value, dtype=float)
            except (TypeError, ValueError):
                continue
            if values.ndim:
                yield k, values


def places(call, things):
    """Numbers that could have labels in another order: (number of the node, values, names)."""
    for k, values in numbers_given(call, things):
        if values.size > 1 and values.shape[-1] in LABELS and not _same_when_turned(values):
            names = LABELS[values.shape[-1]] or things["ur5e"].joint_names
            yield k, values, names


def _inner(tree):
    """What stands in the arguments of a call, but for those of NumPy's own functions."""
    parts = [*tree.args, *(word.value for word in tree.keywords)]
    return [n for part in parts if not ast.unparse(part).startswith("np.") for n in ast.walk(part)]


def _same_when_turned(values):
    return np.array_equal(values, np.roll(values, -1, axis=-1))


def _evaluated(node, things):
    try:
        return eval(compile(ast.Expression(node), "call", "eval"), {}, things)
    except NameError:
        return None


def with_value(call, k, value, things):
    """The call with one node in its arguments exchanged, run."""
    tree = ast.parse(call, mode="eval").body
    node = None if k is None else _inner(tree)[k]
    new = ast.Name("exchanged", ast.Load())
    for parent in ast.walk(tree):
        for field, old in ast.iter_fields(parent):
            if node is not None and old is node:
                setattr(parent, field, new)
            elif isinstance(old, list):
                setattr(parent, field, [new if one is node else one for one in old])
    whole = ast.fix_missing_locations(ast.Expression(tree))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(
            compile(whole, "call", "eval"), {}, {**things, "exchanged": value, **_needed(tree, things)}
        )


def _needed(tree, things):
    from hostile.good_calls import MADE

    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return {name: things[name] for name in names if name in MADE or name in things}


def numbers_in(result, depth=0):
    """Every number of a result, in order; a page is its text."""
    if hasattr(result, "html"):
        return [hash(result.html)]
    if (
        depth > 6
        or result is None
        or isinstance(result, (str, bytes))
        or (callable(result) and not dataclasses.is_dataclass(result))
    ):
        return []
    if isinstance(result, (bool, int, float, np.generic, np.ndarray)):
        try:
            return np.asarray(result, dtype=float).ravel().tolist()
        except (TypeError, ValueError):
            return []
    if isinstance(result, dict):
        return [x for value in result.values() for x in numbers_in(value, depth + 1)]
    if isinstance(result, (list, tuple)):
        return [x for value in result for x in numbers_in(value, depth + 1)]
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return [x for f in dataclasses.fields(result) for x in numbers_in(getattr(result, f.name), depth + 1)]
    return []


def outcome(call, k, kind, things):
    """'result' (the good call's own), 'fault', 'odd' (another result) or 'opaque' (one without numbers)."""
    from forearm import Fault

    least, make = kinds()[kind]
    values, names = next((v, n) for at, v, n in places(call, things) if at == k)
    if values.ndim < least or (least == 1 and values.ndim != 1):
        return "none", ""
    try:
        made = with_value(call, k, make(values, names), copy.copy(things))
    except Fault as fault:
        return "fault", str(fault)[:150]
    except Exception as error:
        return "raw", f"{type(error).__name__}: {error}"[:150]
    good = numbers_in(with_value(call, None, None, copy.copy(things)))
    found = numbers_in(made)
    if not good:
        return "opaque", ""
    same = len(good) == len(found) and np.allclose(good, found, rtol=1e-9, atol=1e-12, equal_nan=True)
    return ("result" if same and kind != "masked" else "odd"), ""


def main(words):
    """Try all calls that begin with one of these words, and print what is not right."""
    from hostile.good_calls import CALLS, Workshop

    things, tally = Workshop(), collections.Counter()
    for call in CALLS:
        if (words and not call.startswith(tuple(words))) or call.startswith(KEPT):
            continue
        for k, values, _ in list(places(call, things)):
            for kind in kinds():
                found, told = outcome(call, k, kind, things)
                tally[found] += 1
                if found in ("odd", "raw", "opaque"):
                    print(
                        f"{found:7} {kind:30} node {k} {values.tolist()!s:.40} of {call[:90]}  {told}",
                        flush=True,
                    )
    print(dict(tally))


if __name__ == "__main__":
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1:])
