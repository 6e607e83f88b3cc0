"""Long lists of cases: a fixed share in the long tests (`more`), the rest for `make soak`."""

import zlib

import pytest


def shared_out(cases, one_in, of=str, always=frozenset()):
    """Parameters with their marks: one in so many, told by the text of a case (or of what `of` gives), is `more`."""
    found = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        name = of(case)
        soon = name in always or zlib.crc32(name.encode()) % one_in == 0
        found.append(pytest.param(*values, marks=pytest.mark.more if soon else pytest.mark.soak))
    return found
