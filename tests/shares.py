"""Long lists of cases: a fixed share in the long tests (`more`), the rest for `make soak`."""

import zlib

import pytest


def shared_out(cases, one_in, of=str, always=frozenset()):
    """Parameters with their marks: one in so many, told by the text of a case (or of what `of` gives), is `more`."""
    found = []
    for case in cases:
        named = hasattr(case, "marks")  # a pytest.param
        values = case.values if named else case if isinstance(case, tuple) else (case,)
        name = of(values if named else case)
        soon = name in always or zlib.crc32(name.encode()) % one_in == 0
        mark = pytest.mark.more if soon else pytest.mark.soak
        found.append(pytest.param(*values, marks=mark, id=case.id if named else None))
    return found


def quickly(cases, quick, one_in=1, more=pytest.mark.more):
    """Parameters, of which those that `quick` says are in the quick tests, one in so many; the others are `more`."""
    found = []
    for case in cases:
        values = case.values if hasattr(case, "marks") else (case,)
        name = case.id if hasattr(case, "marks") else getattr(case, "name", str(case))
        soon = quick(*values) and zlib.crc32(name.encode()) % one_in == 0
        found.append(pytest.param(*values, marks=() if soon else more, id=name))
    return found
