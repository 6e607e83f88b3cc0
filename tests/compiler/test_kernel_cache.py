"""Object code on disk: kept, found again, never trusted when it is not ours or not whole."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace
from forearm.compiler.store import files

GRAPH = trace(lambda x: [x[0] * x[1] + 2.0, x[0].sin()], {"x": (2,)}, name="small", outputs=("y",))
X = np.array([[3.0, 4.0], [0.5, 2.0]])
WANT = np.array([[14.0, np.sin(3.0)], [3.0, np.sin(0.5)]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def compiled(caplog):
    return [r.getMessage() for r in caplog.records if r.getMessage().startswith("compiled")]


def run(caplog):
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="forearm"):
        found = ProcessorKernel(GRAPH)(X)
    np.testing.assert_allclose(found, WANT, rtol=1e-15)
    return compiled(caplog)


def test_compiles_once_and_says_so_in_one_line(folder, caplog):
    (line,) = run(caplog)
    (path,) = folder.glob("*.kernel")
    assert line.startswith("compiled small in 0.")
    assert line.endswith(f"s, kept in {path}")
    assert run(caplog) == []
    (entry,) = files.list_cache()
    assert (entry.name, entry.path, entry.size) == ("small", path, path.stat().st_size)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")
def test_folder_and_files_are_private(folder, caplog):
    run(caplog)
    (path,) = folder.glob("*.kernel")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def damage(path, how):
    code = path.read_bytes()
    if how == "cut":
        path.write_bytes(code[:-40])
    elif how == "flipped":
        path.write_bytes(code[:-1] + bytes([code[-1] ^ 1]))
    elif how == "other key":
        path.write_bytes(code.replace(code.split(b"\n")[2], b"0" * 64))
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "open to others":
        path.chmod(0o666)
    elif how == "link":
        target = path.with_suffix(".moved")
        path.rename(target)
        path.symlink_to(target)


@pytest.mark.skipif(os.name != "posix", reason="modes and links of files are a matter of POSIX")
@pytest.mark.parametrize("how", ["cut", "flipped", "other key", "empty", "open to others", "link"])
def test_damaged_files_are_made_anew(folder, caplog, how):
    run(caplog)
    (path,) = folder.glob("*.kernel")
    damage(path, how)
    assert len(run(caplog)) == 1
    assert run(caplog) == []
    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="owners of files are a matter of POSIX")
def test_files_of_another_user_are_not_loaded(folder, caplog, monkeypatch):
    run(caplog)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with caplog.at_level(logging.INFO, logger="forearm"):
        assert run(caplog)[0].endswith("not kept")
    assert "belongs to another user or others may write it; it is not used (chmod 700 it)" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="modes of folders are a matter of POSIX")
def test_a_folder_open_to_others_is_not_used(folder, caplog):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert run(caplog)[0].endswith("not kept")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("off", ["", "off", "OFF"])
def test_the_cache_can_be_switched_off(monkeypatch, caplog, off):
    monkeypatch.setenv("FOREARM_CACHE", off)
    assert files.cache_folder() is None
    assert run(caplog)[0].endswith("not kept")
    assert files.list_cache() == []


def test_other_kernels_other_keys(folder, caplog):
    run(caplog)
    for options in ({"dtype": "float32"}, {"layout": "columns"}, {"width": 2}):
        kernel = ProcessorKernel(GRAPH, **options)
        x = X.astype(kernel.dtype)
        kernel(x if kernel.layout == "rows" else x.T)
    assert len(files.list_cache()) == 4
    assert files.clear_cache() == 4
    assert files.list_cache() == []


def test_what_was_used_longest_ago_goes_first(folder, monkeypatch):
    for i in range(4):
        path = files.store(files.key_of(i), f"kernel {i}", bytes(1000))
        os.utime(path, (i, i))
    assert files.load(files.key_of(0)) == bytes(1000)  # used: now the newest
    monkeypatch.setattr(files, "LIMIT_BYTES", 3500)
    files.store(files.key_of(9), "kernel 9", bytes(1000))
    assert {e.name for e in files.list_cache()} == {"kernel 9", "kernel 0", "kernel 3"}


def test_default_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("FOREARM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert files.cache_folder() == tmp_path / "forearm"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert files.cache_folder() == tmp_path / "local" / "forearm"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert files.cache_folder().parts[-3:] == ("Library", "Caches", "forearm")


def test_an_unwritable_place_only_costs_the_cache(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOREARM_CACHE", str(tmp_path / "file" / "kernels"))
    with caplog.at_level(logging.INFO, logger="forearm"):
        assert run(caplog)[0].endswith("not kept")


PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
import numpy as np
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.trace import trace
graph = trace(lambda x: [x[0] * x[1] + 2.0, x[0].sin()], {"x": (2,)}, name="small", outputs=("y",))
print(ProcessorKernel(graph)(np.array([[3.0, 4.0]])).tolist(), ProcessorKernel(graph)(np.array([3.0, 4.0])).tolist())
"""


def test_another_process_finds_the_kernel(folder):
    texts = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
        for _ in "ab"
    ]
    assert texts[0].count("compiled small") == 2  # batch and single
    assert "compiled" not in texts[1]
    assert "[[14.0, 0.1411200080598672]] [14.0, 0.1411200080598672]" in texts[1]


def test_a_new_process_writes_no_text_to_find_its_kernel(folder):
    text = (
        "import sys, numpy as np, forearm as fa\n"
        "q = np.array([0.3, -0.4])\n"
        "fa.inverse_dynamics(fa.load('rr'), q, q, q)\n"
        "heavy = {'forearm.compiler.llvm.nodes', 'forearm.formulations', 'forearm.robot'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    said = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said[0] != "[]\n", "the first one writes it"
    assert said[1] == "[]\n"


def test_other_source_of_ours_writes_the_text_again(folder, caplog, monkeypatch):
    written = []
    monkeypatch.setattr(
        ProcessorKernel,
        "text",
        lambda self, program, text=ProcessorKernel.text: written.append(program) or text(self, program),
    )
    run(caplog)
    run(caplog)
    assert written == ["batch"]
    monkeypatch.setattr(files, "code_version", lambda: "another emitter")
    assert run(caplog) == [], "the text is the same, and so is the object"
    assert written == ["batch", "batch"]


def test_a_changed_file_of_ours_is_another_version(folder, monkeypatch):
    before = files.code_version()
    files.code_version.cache_clear()
    assert files.code_version() == before, "from its note"
    files.code_version.cache_clear()
    monkeypatch.setattr(files, "SOURCES", files.SOURCES[1:])
    assert files.code_version() != before
    files.code_version.cache_clear()


def test_a_changed_file_in_any_room_of_the_compiler_is_another_version(folder, monkeypatch, tmp_path):
    """Torques of robots came from graphs that the files of compiler/model/trees had made before they were changed."""
    home = tmp_path / "forearm"
    shutil.copytree(Path(files.__file__).parents[2], home, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(files, "__file__", str(home / "compiler" / "store" / "files.py"))
    rooms = sorted({path.parent for name in files.SOURCES for path in (home / name).rglob("*.py")})
    assert {home / "compiler" / name for name in ("model/trees", "llvm/loops", "call/entries")} <= set(rooms)
    seen = set()
    for room in (home, *rooms):
        with next(room.glob("*.py")).open("a") as file:
            file.write("# changed\n")
        files.code_version.cache_clear()
        seen.add(files.code_version())
    files.code_version.cache_clear()
    assert len(seen) == 1 + len(rooms)
