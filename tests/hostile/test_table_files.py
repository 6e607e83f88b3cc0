"""Files of tables from elsewhere: headers that lie, numbers that changed. One sentence, no memory, no wrong torque."""

import json
import resource

import numpy as np
import pytest

import forearm as fa
from forearm.simulation import read_motion
from forearm.tabulated.log_domains import LogDomain

MAGIC = b"forearm table 1\n"


@pytest.fixture(scope="module", params=[True, False], ids=["compressed", "plain"])
def whole(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "a.table"
    fa.tabulate(fa.load("rr"), points=5).save(path, compressed=request.param)
    return path.read_bytes()


def parts(whole):
    line, _, rest = whole[len(MAGIC) :].partition(b"\n")
    return json.loads(line), rest


def made(header, rest):
    return MAGIC + (header if isinstance(header, bytes) else json.dumps(header).encode()) + b"\n" + rest


def with_axis(header, place, value):
    changed = json.loads(json.dumps(header))
    for grid in changed["grids"]:
        for axis in grid:
            axis[place] = value
    return changed


AXES = [
    *((4, points) for points in (10**400, 10**9, 1, 0, -3, 2.5, "7", True, None)),
    *((2, low) for low in (float("nan"), -1e308, float("-inf"), "0", None)),
    *((3, high) for high in (float("inf"), 1e-320, -9.0)),
    *((1, joint) for joint in (-1, 99, 10**30, 0.5)),
    *((0, what) for what in ("qdd", "\x1b[31m", 3, None)),
    (5, False),
    (5, "x"),
]
SIZES = ["abc", 5, [], [-1] * 3, [10**18] * 3, [10**30] * 3, ["a"] * 3, [1.5] * 3, {"a": 1}]

NOTHING = (
    [[["qd", 0, -1.0, 1.0, 5, False]]],
    [[["qd", 0, -1.0, 1.0, 2**31, False]] * 4],
    [[["qd", 0, -1.0, 1.0, 5, False]]] * 3000,
)
"""Grids over which an arm stores no number."""


def hostile(header, rest):
    yield from (b"[" * 200_000, b'{"a":' * 200_000, [1], None, 7, b"\xff\xfe", b"")
    for name in ("digest", "method", "interpolation", "dtype", "learnt", "grids", "compressed", "checksums"):
        yield {key: value for key, value in header.items() if key != name}
        for value in ([], {}, "\x1b[31m", -1, [[[]]], [[7]], "abc"):
            yield header | {name: value}
    yield {key: value for key, value in header.items() if key != "arm"} | {"digest": "x"}
    yield header | {"digest": "x", "arm": ["\x1b[31m" * 10_000]}
    yield header | {"grids": header["grids"] + header["grids"][:1]}
    yield header | {"grids": header["grids"][:-1] + header["grids"][:1]}
    for nothing in NOTHING:
        for grids in (nothing + header["grids"], header["grids"] + nothing):
            count = len(grids) - len(header["grids"])
            sizes = header["compressed"] and [*header["compressed"], *[8] * count]
            yield header | {
                "grids": grids,
                "checksums": header["checksums"] + [0] * count,
                "compressed": sizes,
            }
    for place, value in AXES:
        yield with_axis(header, place, value)
    for sizes in SIZES:
        yield header | {"compressed": sizes}
        yield header | {"checksums": sizes}


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(fa.ReadFault) as caught:
        fa.open_table(path, fa.load("rr"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_header_that_lies_is_refused_in_a_sentence_and_takes_nothing(whole, tmp_path):
    header, rest = parts(whole)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for changed in hostile(header, rest):
        if changed == header:
            continue
        refused(tmp_path / "h.table", made(changed, rest))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_changed_number_or_a_cut_file_is_refused(whole, tmp_path):
    header, rest = parts(whole)
    first = len(whole) - len(rest)
    for place in np.linspace(first, len(whole) - 1, 40).astype(int):
        content = bytearray(whole)
        content[place] ^= 16
        refused(tmp_path / "f.table", whole[:place])
        if (
            header["compressed"] is not None or rest[place - first]
        ):  # between two grids zeros stand, which nobody reads
            refused(tmp_path / "f.table", bytes(content))


def test_the_file_as_it_was_is_the_table(whole, tmp_path):
    path = tmp_path / "a.table"
    path.write_bytes(whole)
    arm = fa.load("rr")
    table, state = fa.open_table(path, arm), [np.full(2, x) for x in (0.1, 0.2, 0.3)]
    want = fa.tabulate(arm, points=5)
    np.testing.assert_array_equal(table.torques(arm, *state), want.torques(arm, *state))


def test_a_file_written_over_after_it_was_opened_gave_other_torques_or_ended_the_process(whole, tmp_path):
    path = tmp_path / "a.table"
    path.write_bytes(whole)
    arm = fa.load("rr")
    table, state = fa.open_table(path, arm), [np.full(2, x) for x in (0.1, 0.2, 0.3)]
    want = table.torques(arm, *state)
    path.write_bytes(bytes(len(whole)))  # in place, as `cp` does
    assert not any(isinstance(grid, np.memmap) for grid in table.numbers)  # a cut file would end the tests
    np.testing.assert_array_equal(table.torques(arm, *state), want)


@pytest.mark.parametrize(
    "read", [lambda n: fa.open_table(n, fa.load("rr")), lambda n: read_motion(n, fa.load("rr"))]
)
def test_a_number_in_the_place_of_a_path_closes_no_open_file(read, tmp_path):
    with (tmp_path / "log").open("w+") as file:
        with pytest.raises((TypeError, fa.StateFault)):
            read(file.fileno())
        file.write("still open")
        file.flush()


@pytest.mark.parametrize("change", [lambda x: x[:1], lambda x: x.T, lambda x: x.ravel()])
def test_numbers_of_other_shapes_than_the_plan_were_looked_up_beyond_their_end(change):
    table = fa.tabulate(fa.load("rr"), points=5)
    with pytest.raises(fa.StateFault, match="numbers have shapes"):
        fa.LookupTable(table.plan, tuple(change(x) for x in table.numbers))


DOMAINS = {
    "rows": lambda x: x * 5000,
    "errors": lambda x: [x[0] / 10, x[1]],
    "worst": lambda x: x[::-1],
    "reach": lambda x: 2 * x,
    "checksum": lambda x: None,
    "sizes": lambda x: [x[0], float("nan")],
}
"""Of what a table says of its log, each made another."""


@pytest.mark.parametrize("name", DOMAINS)
def test_what_a_table_said_of_its_log_was_of_any_length_and_under_no_checksum(name, tmp_path):
    """Each look-up held its states against all rows at once; a million of them took gigabytes."""
    arm, path = fa.load("rr"), tmp_path / "learnt.table"
    table = fa.tabulate(arm, points=5)
    domain = LogDomain(np.zeros((1, 6)), (1.0, 1.0), 1.0, np.array([0.1, 0.2]), np.array([0.3, 0.5]))
    fa.LookupTable(table.plan, table.numbers, learnt=True, domain=domain).save(path)
    assert fa.open_table(path, arm).domain.header == domain.header
    header, rest = parts(path.read_bytes())
    changed = header["domain"] | {name: DOMAINS[name](header["domain"][name])}
    refused(path, made(header | {"domain": changed}, rest))
    refused(path, made(header | {"learnt": False}, rest))
