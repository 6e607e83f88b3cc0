"""Files of rows from elsewhere, and folders of others: one sentence, no memory, no code, nothing lost."""

import json
import os
import pickle
import shutil
import struct
import sys
import threading
import warnings
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pytest

import forearm as fa
from forearm.faults import ReadFault, StateFault
from forearm.outside import exchanged_places
from forearm.streams import row_sinks
from forearm.streams.zarr_stores import check_replaceable

ARM = fa.load("rr")
ROWS = np.linspace(-1, 1, 60).reshape(10, 6)
HEADER = "{'descr': %s, 'fortran_order': False, 'shape': %s, }"


def streamed(source, target):
    return fa.stream(ARM, "inverse_dynamics", source, target)


def array_file(path, header):
    text = header.encode("latin1")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY" + bytes((1, 0)) + struct.pack("<H", len(text)) + text + ROWS.tobytes())
    return path


LYING_HEADERS = {
    "thousands of signs": HEADER % ("'<f8'", f"({'-' * 9000}10, 6)"),
    "hundreds of signs": HEADER % ("'<f8'", f"({'-' * 2000}10, 6)"),
    "a list for a key": "{[]: 1}",
    "rows below none": HEADER % ("'<f8'", "(-10, 6)"),
    "columns below none": HEADER % ("'<f8'", "(10, -2, -3)"),
    "no row, wider than memory": HEADER % ("'<f8'", "(0, 20000000000)"),
    "no row, wider than a size": HEADER % ("'<f8'", "(0, 2000000000000000)"),
    "more rows than bytes": HEADER % ("'<f8'", f"(1{'0' * 30}, 6)"),
    "more digits than Python prints": HEADER % ("'<f8'", f"(0x{'f' * 9000}, 6)"),
    "objects": HEADER % ("'|O'", "(10, 6)"),
    "a bracket left open": HEADER % ("'<f8'", "(10, 6"),
    "an escape sequence": HEADER % ("'\\x1b[31m'", "(10, 6)"),
}


@pytest.mark.parametrize("what", LYING_HEADERS)
def test_an_array_whose_header_lies_gets_one_sentence(what, tmp_path):
    path = array_file(tmp_path / "a.npy", LYING_HEADERS[what])
    with pytest.raises(fa.ReadFault) as caught:
        streamed(path, tmp_path / "tau.npy")
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()
    assert not (tmp_path / "tau.npy").exists()


@pytest.mark.more
@pytest.mark.parametrize("kind", ["bool", "decimal", "dictionary", "duration", "timestamp", "list"])
def test_a_parquet_column_of_yes_and_no_was_read_as_ones_and_zeros(kind, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    held = {
        "bool": arrow.array([True, False]),
        "decimal": arrow.array([Decimal("0.25"), Decimal("-1.5")]),
        "dictionary": arrow.array([0.25, -1.5]).dictionary_encode(),
        "duration": arrow.array([1, 2], arrow.duration("ms")),
        "timestamp": arrow.array([1, 2], arrow.timestamp("ms", tz="UTC")),
        "list": arrow.array([[0.25], [-1.5]]),
    }[kind]
    rest = {f"{name}{i}": np.ones(2) for name in ("q", "qd", "qdd") for i in (1, 2)}
    path, target = tmp_path / "a.parquet", tmp_path / "tau.npy"
    parquet.write_table(arrow.table({**rest, "q2": held}), path)
    if kind in ("decimal", "dictionary"):
        streamed(path, target)
        want = fa.inverse_dynamics(fa.load("rr"), [[1, 0.25], [1, -1.5]], np.ones((2, 2)), np.ones((2, 2)))
        np.testing.assert_array_equal(np.load(target), want)
    else:
        with pytest.raises(fa.ReadFault, match=rf"column 'q2' holds {kind}.*; give numbers"):
            streamed(path, target)


@pytest.mark.more
def test_a_damaged_page_gets_one_sentence(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table(
        {f"{kind}{i}": ROWS[:, i] for kind in ("q", "qd", "qdd") for i in (1, 2)}
    )
    path, raw = tmp_path / "rows.parquet", 0
    parquet.write_table(table, path, compression="zstd")
    whole = path.read_bytes()
    for at in range(4, 400, 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        with suppress(fa.Fault):
            streamed(path, tmp_path / "tau.npy")
            continue
        raw += 1
    assert raw  # some of them were refused, none with another error


@pytest.mark.more
@pytest.mark.parametrize("title", [" " * 200_000, f"q{'_' * 200_000}x", f"q1 [{' ' * 100_000}"])
def test_a_title_of_a_parquet_file_without_end_gets_one_sentence(title, tmp_path):
    """What looks for joints in a title takes the square of its length: minutes."""
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"{kind}{i}": ROWS[:, i] for kind in ("q", "qd", "qdd") for i in (1, 2)}
    parquet.write_table(
        pytest.importorskip("pyarrow").table({**columns, title: ROWS[:, 0]}), tmp_path / "a.parquet"
    )
    with pytest.raises(fa.ReadFault, match="letters; expected 200 at most"):
        streamed(tmp_path / "a.parquet", tmp_path / "tau.npy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_an_arrays_place_gets_one_sentence(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    other = threading.Thread(target=lambda: pipe.read_bytes())
    other.start()
    with pytest.raises(fa.StateFault, match="is a pipe, and an array says first how long it is"):
        streamed(tmp_path / "a.npy", pipe)
    other.join()

    def offer():
        with suppress(BrokenPipeError):
            pipe.write_bytes(b"x")

    other = threading.Thread(target=offer)
    other.start()
    with pytest.raises(fa.ReadFault, match="is a pipe, and arrays are read from files"):
        streamed(pipe, tmp_path / "tau.npy")
    other.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_rows_through_a_pipe_are_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    text = "q1,q2,qd1,qd2,qdd1,qdd2\n" + "".join(",".join(map(repr, row)) + "\n" for row in ROWS.tolist())
    other = threading.Thread(target=lambda: pipe.write_text(text))
    other.start()
    assert streamed(pipe, tmp_path / "tau.npy").rows == 10
    other.join()


# -- Zarr: a store names the code that unpacks it ------------------------------------------------------------


class Touch:
    """What a stranger's pickle does."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


ARRAY = dict(zarr_format=2, shape=[10, 6], chunks=[10, 6], dtype="<f8", compressor=None, filters=None)
ODD_STORES = {
    "a pickle": dict(dtype="|O", filters=[{"id": "vlen-utf8"}, {"id": "pickle"}], fill_value=""),
    "a packed pickle": dict(
        dtype="|O", filters=[{"id": "vlen-utf8"}], compressor={"id": "pickle"}, fill_value=""
    ),
    "a chunk like a disk": dict(shape=[10**9, 6], chunks=[10**9, 6]),
    "an empty chunk": dict(chunks=[0, 6]),
    "complex numbers": dict(dtype="<c16"),
    "times": dict(dtype="<M8[s]"),
    "fields": dict(dtype=[["a", "<f8"]], fill_value=None),
    "a chunk that is none": dict(compressor={"id": "zlib", "level": 1}),
}


def store(folder, **changes):
    folder.mkdir()
    described = {**ARRAY, "fill_value": None, "order": "C", **changes}
    (folder / ".zarray").write_text(json.dumps(described))
    return folder


@pytest.mark.more
@pytest.mark.parametrize("what", ODD_STORES)
def test_a_store_of_a_stranger_runs_nothing_and_gets_one_sentence(what, tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    pickles = pytest.importorskip("numcodecs.pickles")
    monkeypatch.setattr(pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)  # as it was for years
    folder = store(tmp_path / "a.zarr", **ODD_STORES[what])
    (folder / "0.0").write_bytes(pickle.dumps(Touch(tmp_path / "ran")))
    with pytest.raises(fa.ReadFault) as caught:
        streamed(folder, tmp_path / "tau.npy")
    assert len(str(caught.value)) < 600
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def rows(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store=str(tmp_path / "a.zarr"), shape=(10, 6), dtype="f8")
    array[:] = ROWS
    return tmp_path / "a.zarr"


@pytest.mark.more
def test_a_folder_that_is_no_array_is_not_written_over(rows, tmp_path):
    zarr = pytest.importorskip("zarr")
    work = tmp_path / "work.zarr"
    (work / "years").mkdir(parents=True)
    (work / "years" / "thesis.txt").write_text("all of it")
    zarr.open_group(str(tmp_path / "group.zarr"), mode="w").create_array("x", shape=(3,), dtype="f8")
    (tmp_path / "file.zarr").write_text("a file")
    for target in (work, tmp_path / "group.zarr", tmp_path / "file.zarr"):
        with pytest.raises(fa.StateFault, match="is not a Zarr array alone"):
            streamed(rows, target)
    assert (work / "years" / "thesis.txt").read_text() == "all of it"
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]


@pytest.mark.more
def test_a_store_is_not_written_over_the_folder_that_holds_its_rows(rows, tmp_path):
    holder = tmp_path / "all.zarr"
    streamed(rows, holder)  # an array, as we write it
    rows.rename(holder / "a.zarr")
    with pytest.raises(fa.StateFault, match="written over itself"):
        streamed(holder / "a.zarr", holder)
    assert (holder / "a.zarr").is_dir()


@pytest.mark.more
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux changes two folders' places")
def test_a_killed_process_left_a_store_beside_its_place(rows, tmp_path, monkeypatch):
    """Between two renames there was none in it; now they change places, also under a Ctrl-C."""
    target = tmp_path / "tau.zarr"
    streamed(rows, target)
    zarr = pytest.importorskip("zarr")
    zarr.open(str(target), mode="r+")[:] = 0.0

    def killed(one, other, *, rename=os.rename):
        rename(one, other)  # one that is tried first fails, and may
        pytest.fail("a process may be killed before the next one")

    monkeypatch.setattr(os, "rename", killed)
    streamed(rows, target)
    assert np.any(zarr.open(str(target), mode="r")[:])

    def pressed(one, other):
        assert exchanged_places.exchanged(one, other)
        raise KeyboardInterrupt

    monkeypatch.setattr(row_sinks, "exchanged", pressed)
    with pytest.raises(KeyboardInterrupt):
        streamed(rows, target)
    assert np.any(zarr.open(str(target), mode="r")[:])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zarr", "tau.zarr"]


@pytest.mark.more
@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_while_a_store_takes_its_place_leaves_the_old_one(rows, tmp_path, monkeypatch, at):
    """Where places cannot be exchanged, two renames do it."""
    target, real, calls = tmp_path / "tau.zarr", os.rename, []
    monkeypatch.setattr(row_sinks, "exchanged", lambda one, other: False)
    streamed(rows, target)
    before = sorted(p.relative_to(target) for p in target.rglob("*"))

    def renamed(one, other):
        calls.append(one)
        if len(calls) == at:
            raise KeyboardInterrupt
        real(one, other)

    monkeypatch.setattr(os, "rename", renamed)
    with pytest.raises(KeyboardInterrupt):
        streamed(rows, target)
    assert sorted(p.relative_to(target) for p in target.rglob("*")) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zarr", "tau.zarr"]


@pytest.mark.more
@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_to_a_store_stays_a_link(rows, tmp_path):
    streamed(rows, tmp_path / "tau.zarr")
    (tmp_path / "link.zarr").symlink_to("tau.zarr")
    streamed(rows, tmp_path / "link.zarr")
    assert (tmp_path / "link.zarr").is_symlink()


def _link_to_another_file(store):
    (store / "c/0/0").unlink()
    (store / "c/0/0").symlink_to(store.parent / "secret")


def _link_to_another_folder(store):
    (store / "c").rename(store.parent / "elsewhere")
    (store / "c").symlink_to(store.parent / "elsewhere")


def _pipe(store):
    (store / "c/0/0").unlink()
    os.mkfifo(store / "c/0/0")


def _pipe_for_its_description(store):
    (store / "zarr.json").unlink()
    os.mkfifo(store / "zarr.json")


def _no_end(store):
    (store / "zarr.json").unlink()
    (store / "zarr.json").symlink_to("/dev/zero")


def _rows_beyond_count(store):
    told = json.loads((store / "zarr.json").read_text())
    told["shape"][0] = 2**62
    (store / "zarr.json").write_text(json.dumps(told))


def _chunks_beyond_count(store):
    told = json.loads((store / "zarr.json").read_text())
    told["shape"][0] = 5 * 10**7
    told["chunk_grid"]["configuration"]["chunk_shape"] = [1, 1]
    (store / "zarr.json").write_text(json.dumps(told))


def _odd_index(store):
    told = json.loads((store / "zarr.json").read_text())
    inner = {"name": "bytes", "configuration": {"endian": "little"}}
    index = [inner, {"name": "numcodecs.zlib", "configuration": {"level": 1}}, {"name": "numcodecs.pcodec"}]
    about = {"chunk_shape": [5, 6], "codecs": [inner], "index_codecs": index, "index_location": "end"}
    told["codecs"] = [{"name": "sharding_indexed", "configuration": about}]
    (store / "zarr.json").write_text(json.dumps(told))


STRANGE_FOLDERS = (
    _link_to_another_file,
    _link_to_another_folder,
    _pipe,
    _pipe_for_its_description,
    _no_end,
    _rows_beyond_count,
    _chunks_beyond_count,
    _odd_index,
)


@pytest.mark.more
@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
@pytest.mark.filterwarnings("ignore:Numcodecs codecs")
@pytest.mark.parametrize("spoil", STRANGE_FOLDERS)
def test_a_store_leads_to_no_other_file_and_to_no_wait_without_end(spoil, tmp_path):
    zarr = pytest.importorskip("zarr")
    (tmp_path / "secret").write_bytes(ROWS[:5].tobytes())
    store = tmp_path / "rows.zarr"
    zarr.create_array(store=str(store), shape=ROWS.shape, chunks=(5, 6), dtype="f8", compressors=None)[:] = (
        ROWS
    )
    streamed(store, tmp_path / "before.npy")
    spoil(store)
    with pytest.raises(fa.ReadFault, match=r"is no Zarr store|no plain file|says|not let through"):
        streamed(store, tmp_path / "tau.npy")
    assert not (tmp_path / "tau.npy").exists()


@pytest.mark.more
@pytest.mark.parametrize("chunks", [(1, 1), (3, 2), (10, 6), (100, 6)])
def test_a_store_in_very_small_chunks_is_read_some_at_a_time_and_gives_the_same(
    chunks, tmp_path, monkeypatch
):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr("forearm.streams.zarr_stores.PIECES", 12)
    store = str(tmp_path / "rows.zarr")
    zarr.create_array(store=store, shape=ROWS.shape, chunks=chunks, dtype="f8")[:] = ROWS
    np.save(tmp_path / "rows.npy", ROWS)
    assert not streamed(store, tmp_path / "a.npy").notes
    streamed(tmp_path / "rows.npy", tmp_path / "b.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


@pytest.mark.more
def test_rows_without_chunks_and_without_a_number_for_them_get_a_note(tmp_path):
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "rows.zarr"
    zarr.create_array(store=str(store), shape=ROWS.shape, chunks=(5, 6), dtype="f8", zarr_format=2)[:5] = 1.0
    told = json.loads((store / ".zarray").read_text())
    (store / ".zarray").write_text(json.dumps(told | {"fill_value": None}))
    assert "1 of 2 chunks are not in the store" in streamed(store, tmp_path / "a.npy").notes[0]


@pytest.mark.more
@pytest.mark.parametrize("rows", [10, 63, -1], ids="{} rows".format)
def test_a_parquet_file_that_lies_about_its_rows_lost_some_of_a_store_or_added_zeros(rows, tmp_path):
    pytest.importorskip("zarr")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    titles = [f"{kind}{joint}" for kind in ("q", "qd", "qdd") for joint in (1, 2)]
    parquet.write_table(
        arrow.table({title: np.linspace(0, 1, 50) for title in titles}), tmp_path / "a.parquet"
    )
    content = (tmp_path / "a.parquet").read_bytes()
    foot = content[: -8 - int.from_bytes(content[-8:-4], "little")]
    at = (
        content.index(bytes([0x16, 2 * 50]), len(foot)) + 1
    )  # a 64-bit number, zigzag: rows of the whole file
    lie = 2 * rows if rows >= 0 else -2 * rows - 1
    (tmp_path / "a.parquet").write_bytes(content[:at] + bytes([lie]) + content[at + 1 :])
    for target in ("out.zarr", "out.npy"):
        with pytest.raises(fa.ReadFault, match=rf"says {rows} rows, and .* are there; write the file anew"):
            fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "a.parquet", tmp_path / target)
        assert os.listdir(tmp_path) == ["a.parquet"]


@pytest.mark.more
def test_chunks_that_are_not_there_were_not_said_of_rows_in_degrees(tmp_path):
    zarr = pytest.importorskip("zarr")
    store = zarr.create_array(store=str(tmp_path / "a.zarr"), shape=(20, 6), chunks=(5, 6), dtype="f8")
    store[:10] = 1.0
    done = fa.stream(
        fa.load("rr"), "inverse_dynamics", tmp_path / "a.zarr", tmp_path / "out.npy", degrees=True
    )
    assert "2 of 4 chunks are not in the store" in done.notes[0]


@pytest.mark.more
def test_a_page_that_says_more_bytes_than_there_is_memory_gets_one_sentence(tmp_path, monkeypatch):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    titles = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
    parquet.write_table(arrow.table({title: np.zeros(9) for title in titles}), tmp_path / "a.parquet")

    def batches(*_, **__):
        raise MemoryError("malloc of size 17179869056 failed")  # as the library's own is

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", batches)
    with pytest.raises(
        fa.ReadFault, match=r"a page cannot be unpacked \(malloc of size 17179869056 failed\)"
    ):
        fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "a.parquet", tmp_path / "tau.npy")
    assert os.listdir(tmp_path) == ["a.parquet"]


@pytest.mark.more
@pytest.mark.parametrize("held", ["list", "string"])
def test_a_column_of_lists_or_texts_is_refused_before_it_is_unpacked(held, tmp_path, monkeypatch):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {title: np.zeros(9) for title in ("q2", "qd1", "qd2", "qdd1", "qdd2")}
    odd = {"list": [[0.0] * 5] * 9, "string": ["1_0"] * 9}[held]  # a few bytes are lists of any length
    parquet.write_table(arrow.table({"q1": odd, **columns}), tmp_path / "a.parquet")
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(fa.ReadFault, match=f"column 'q1' holds {held}.*; give numbers"):
        fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "a.parquet", tmp_path / "tau.npy")


@pytest.mark.more
def test_categories_of_numbers_are_numbers(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {title: np.full(9, 0.5) for title in ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    columns["q1"] = arrow.array(columns["q1"]).dictionary_encode()
    parquet.write_table(arrow.table(columns), tmp_path / "b.parquet")
    for name in "ab":
        fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / f"{name}.parquet", tmp_path / f"{name}.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


@pytest.mark.more
def test_ctrl_c_while_an_old_store_is_taken_away_left_it_beside_the_new_one(rows, tmp_path, monkeypatch):
    target, remove, pressed = tmp_path / "tau.zarr", shutil.rmtree, []
    streamed(rows, target)

    def interrupted(folder, **options):
        if not pressed:
            pressed.append(folder)
            raise KeyboardInterrupt
        remove(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        streamed(rows, target)
    assert pressed
    assert [path.name for path in tmp_path.iterdir() if path != rows] == ["tau.zarr"]


@pytest.mark.more
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_a_target_says_of_itself_was_read_from_a_pipe_or_a_device(kind, tmp_path):
    """A pipe waited for ever, /dev/zero filled the memory."""
    target = tmp_path / "there.zarr"
    target.mkdir()
    if kind == "pipe":
        os.mkfifo(target / "zarr.json")
    else:
        (target / "zarr.json").symlink_to("/dev/zero")
    with pytest.raises(StateFault, match="is not a Zarr array alone"):
        check_replaceable(target)


@pytest.mark.more
@pytest.mark.parametrize(
    ("joints", "said"),
    [("given", ""), ("turned", "refused"), ("others", "names the columns and has left, right")],
)
def test_a_group_that_names_its_joints_was_taken_in_another_order_without_a_word(joints, said, tmp_path):
    """As xarray writes it: torques were 36 N m off."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    arm = fa.load("rr")
    q, qd, qdd = arm.random_state(0, (50,))
    names = list(arm.joint_names)
    names = {"given": names, "turned": names[::-1], "others": ["left", "right"]}[joints]
    data = {name: (("time", "joint"), values) for name, values in {"q": q, "qd": qd, "qdd": qdd}.items()}
    store = xarray.Dataset(data, coords={"time": 0.01 * np.arange(50), "joint": names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts in this format, by the library
        store.to_zarr(tmp_path / "log.zarr")
    if said == "refused":
        with pytest.raises(ReadFault, match="says that the columns are"):
            fa.stream(arm, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy")
        return
    done = fa.stream(arm, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy")
    assert any(said in note for note in done.notes) if said else not done.notes
    assert np.allclose(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(arm, q, qd, qdd))


@pytest.mark.more
@pytest.mark.parametrize("rows", [200, 1_800_000])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_chunk_of_blosc_that_lied_about_its_length_ended_the_process_or_gave_bytes_of_the_heap(
    rows, grouped, tmp_path
):
    """80 bytes whose head says 259 million, stored as they are: the library copies what lies behind them."""
    zarr = pytest.importorskip("zarr")
    arm = fa.load("puma560")
    names = ["q", "qd", "qdd"] if grouped else [None]
    for name in names:
        shape = (rows, 18 // len(names))
        path = tmp_path / "log.zarr"
        packed = zarr.codecs.BloscCodec(cname="lz4")
        where = {"store": path, "name": name} if grouped else {"store": path}
        zarr.create_array(**where, shape=shape, chunks=shape, dtype="f8", compressors=packed)
        size = 8 * rows * shape[1]
        chunk = (path / name if name else path) / "c" / "0" / "0"
        chunk.parent.mkdir(parents=True)
        head = bytes([2, 1, 0x23, 8]) + struct.pack("<iii", size, size, size + 16)
        chunk.write_bytes(head + bytes(64))
    with pytest.raises(ReadFault, match="a chunk of blosc says"):
        fa.stream(arm, "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy")


@pytest.mark.more
def test_chunks_of_blosc_that_say_the_truth_are_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    arm = fa.load("rr")
    states = arm.random_state(0, (500,))
    rows = np.concatenate(states, axis=1)
    packed = zarr.codecs.BloscCodec(cname="zstd")
    for form in (2, 3):
        kept = {} if form == 3 else {"filters": None}
        given = packed if form == 3 else __import__("numcodecs").Blosc(cname="zstd")
        store = zarr.create_array(
            tmp_path / f"{form}.zarr",
            shape=rows.shape,
            chunks=(64, 6),
            dtype="f8",
            compressors=given,
            zarr_format=form,
            **kept,
        )
        store[:] = rows
        fa.stream(arm, "inverse_dynamics", tmp_path / f"{form}.zarr", tmp_path / "tau.npy")
        assert np.allclose(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(arm, *states))
    store = zarr.create_array(
        tmp_path / "s.zarr", shape=rows.shape, chunks=(64, 6), shards=(128, 6), dtype="f8", compressors=packed
    )
    store[:] = rows
    with pytest.raises(ReadFault, match="blosc within something else"):
        fa.stream(arm, "inverse_dynamics", tmp_path / "s.zarr", tmp_path / "tau.npy")


@pytest.mark.more
@pytest.mark.parametrize("attributes", ["x", 3, ["units"]])
def test_attributes_that_are_no_table_were_a_bug_of_ours(attributes, tmp_path):
    zarr = pytest.importorskip("zarr")
    store = zarr.create_array(tmp_path / "log.zarr", shape=(5, 6), chunks=(5, 6), dtype="f8")
    store[:] = 0.5
    words = tmp_path / "log.zarr" / "zarr.json"
    words.write_text(json.dumps(json.loads(words.read_text()) | {"attributes": attributes}))
    with pytest.raises(ReadFault, match="is no Zarr store"):
        fa.stream(fa.load("rr"), "inverse_dynamics", tmp_path / "log.zarr", tmp_path / "tau.npy")


def _rows_of_a_file(path, rows):
    """A file of so many rows in several pieces, written over the one that is there."""
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        titles = [f"{kind}{j}" for kind in ("q", "qd", "qdd") for j in (1, 2)]
        table = arrow.table(dict(zip(titles, rows.T, strict=True)))
        parquet.write_table(table, path, row_group_size=10_000)
    else:
        zarr = pytest.importorskip("zarr")
        shutil.rmtree(path, ignore_errors=True)
        zarr.create_array(str(path), shape=rows.shape, chunks=(10_000, 6), dtype="f8")[:] = rows
    return path


def _streamed_while(happens, source, target, monkeypatch):
    """A stream in whose beginning something happens to the source."""
    monkeypatch.setattr("forearm.streams.file_stream.TOLD", 0.0)
    monkeypatch.setattr("forearm.streams.row_sources.READ", 1)
    events = [happens]
    return fa.stream(
        ARM, "inverse_dynamics", source, target, progress=lambda *_: events and events.pop()(source)
    )


MANY_ROWS = np.hstack(ARM.random_state(seed=3, batch=(100_000,)))


@pytest.mark.parametrize(
    "suffix",
    [".npy", pytest.param(".parquet", marks=pytest.mark.more), pytest.param(".zarr", marks=pytest.mark.more)],
)
def test_rows_of_a_file_that_was_written_anew_meanwhile_were_read_after_those_of_the_old(
    suffix, tmp_path, monkeypatch
):
    source = _rows_of_a_file(tmp_path / f"motion{suffix}", MANY_ROWS)
    with pytest.raises(ReadFault, match="was written or removed while it was read"):
        _streamed_while(
            lambda path: _rows_of_a_file(path, -MANY_ROWS), source, tmp_path / "tau.csv", monkeypatch
        )
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.more
@pytest.mark.parametrize("other", [False, True])
def test_a_store_that_was_removed_or_replaced_meanwhile_was_read_as_zeros_or_as_the_other(
    other, tmp_path, monkeypatch
):
    source = _rows_of_a_file(tmp_path / "motion.zarr", MANY_ROWS)
    _rows_of_a_file(tmp_path / "other.zarr", -MANY_ROWS)

    def happens(path):
        shutil.rmtree(path)
        if other:
            os.rename(tmp_path / "other.zarr", path)

    with pytest.raises(ReadFault, match="was written or removed while it was read"):
        _streamed_while(happens, source, tmp_path / "tau.npy", monkeypatch)
    assert not (tmp_path / "tau.npy").exists()


@pytest.mark.parametrize("suffix", [".npy", pytest.param(".parquet", marks=pytest.mark.more)])
def test_a_file_that_is_replaced_or_removed_meanwhile_is_read_on_as_it_was(suffix, tmp_path, monkeypatch):
    source = _rows_of_a_file(tmp_path / f"motion{suffix}", MANY_ROWS)
    _rows_of_a_file(tmp_path / f"other{suffix}", -MANY_ROWS)
    _streamed_while(
        lambda path: os.replace(tmp_path / f"other{suffix}", path), source, tmp_path / "tau.npy", monkeypatch
    )
    q, qd, qdd = np.split(MANY_ROWS, 3, axis=1)
    assert np.array_equal(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(ARM, q, qd, qdd))


@pytest.mark.more
def test_rows_that_are_appended_to_a_store_meanwhile_do_no_harm(tmp_path, monkeypatch):
    store = _rows_of_a_file(tmp_path / "motion.zarr", MANY_ROWS[:25_000])
    grow = pytest.importorskip("zarr").open(str(store), mode="r+")
    _streamed_while(lambda _: grow.append(MANY_ROWS[25_000:50_000]), store, tmp_path / "tau.npy", monkeypatch)
    q, qd, qdd = np.split(MANY_ROWS[:25_000], 3, axis=1)
    assert np.array_equal(np.load(tmp_path / "tau.npy"), fa.inverse_dynamics(ARM, q, qd, qdd))


def test_a_log_that_grows_while_it_is_read_does_no_harm(tmp_path, monkeypatch):
    log, rows = tmp_path / "log.csv", "0,1,2,3,4,5\n"
    log.write_text("q1,q2,qd1,qd2,qdd1,qdd2\n" + rows * 30_000)

    def append(path):
        with path.open("a") as file:
            file.write(rows)

    assert _streamed_while(append, log, tmp_path / "tau.npy", monkeypatch).rows >= 30_000


def test_a_text_that_was_written_over_with_a_longer_one_was_taken_for_one_that_grew(tmp_path, monkeypatch):
    log, titles = tmp_path / "log.csv", "q1,q2,qd1,qd2,qdd1,qdd2\n"
    log.write_text(titles + "0,1,2,3,4,5\n" * 30_000)
    with pytest.raises(ReadFault, match="was written or removed while it was read"):
        _streamed_while(
            lambda path: path.write_text(titles + "9,1,2,3,4,5\n" * 40_000),
            log,
            tmp_path / "tau.npy",
            monkeypatch,
        )
    assert not (tmp_path / "tau.npy").exists()
