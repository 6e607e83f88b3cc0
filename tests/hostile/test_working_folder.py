"""The folder where somebody works may be a stranger's: nothing in it runs, or sets anything, because it lies there."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

from forearm.plots import style
from house.sources import FILES

MODEL = """<mujoco><worldbody><body name="a"><joint name="j" axis="0 0 1"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
BY_DOOR = sorted({name for path in FILES for name in re.findall(r'optional\("([\w.]+)"\)', path.read_text())})
"""Libraries that are loaded by name; MuJoCo, and what `compare` and the streams are told, besides."""
LOADING = """
import subprocess, sys
from forearm.outside.libraries.optional_libraries import mujoco, optional
from forearm.outside.libraries.scipy_parts import scipy_part

def told(event, given):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system"):
        begun.append(given)

begun = []
sys.addaudithook(told)
for name in sys.argv[1:]:
    try:
        mujoco() if name == "mujoco" else optional(name)
    except ImportError:
        pass
for name in ("interpolate", "signal", "optimize", "sparse.linalg", "ndimage", "special", "spatial.transform"):
    scipy_part(name)
print(len(begun))
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "strange"
    made.mkdir()
    return made


@pytest.mark.skipif(os.name == "nt", reason="no fork server")
def test_worker_processes_import_nothing_from_the_folder_where_somebody_works(folder):
    """A process that has threads asks a new Python for its workers, which looks into the present folder first."""
    for name in ("multiprocessing", "pickle", "socket", "numpy"):
        (folder / f"{name}.py").write_text(f"open('ran-{name}', 'w')\nraise ImportError\n", encoding="utf-8")
    script = folder.parent / "sweep.py"
    script.write_text(
        textwrap.dedent(
            """
            import threading
            import forearm as fa

            if __name__ == "__main__":
                threading.Thread(target=threading.Event().wait, daemon=True).start()
                over = {"q": fa.Uniform([-1.0] * 2, [1.0] * 2)}
                found = fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=20, executor="processes", workers=1)
                print(found.states)
            """
        ),
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=folder, text=True, capture_output=True, timeout=120
    )
    assert not list(folder.glob("ran-*"))
    assert (ran.returncode, ran.stdout.strip()) == (0, "20"), ran.stderr


def _all_names(folder):
    """A module in the folder for each of Python's own, and what says whether one of them ran."""
    for name in {*sys.stdlib_module_names, "numpy", "sitecustomize", "usercustomize"}:
        (folder / f"{name}.py").write_text(f"open('ran-{name}', 'w')\n", encoding="utf-8")


def test_a_module_beside_a_model_ran_when_mujoco_asked_a_python_for_the_version_of_its_window(folder):
    """`python -c` looks into the present folder first, and what it printed was evaluated here."""
    pytest.importorskip("mujoco")
    _all_names(folder)
    (folder / "m.xml").write_text(MODEL, encoding="utf-8")
    script = folder.parent / "read.py"
    script.write_text(
        "import os\nbefore = dict(os.environ)\nimport forearm as fa\nprint(fa.load('m.xml').n)\n"
        "assert before == dict(os.environ)\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=folder, text=True, capture_output=True, timeout=60
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "1"), ran.stderr
    assert not list(folder.glob("ran-*"))


@pytest.mark.more
@pytest.mark.parametrize(
    "names",
    [["mujoco"], ["pinocchio", "zarr", "pyarrow.parquet", "wasmtime"], BY_DOOR],
    ids=lambda names: names[0],
)
def test_no_library_that_is_loaded_runs_what_lies_in_the_folder(folder, names):
    _all_names(folder)
    script = folder.parent / "load.py"
    script.write_text(LOADING, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script), *names], cwd=folder, text=True, capture_output=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert not list(folder.glob("ran-*"))


SETTINGS = """
text.usetex: True
text.latex.preamble: \\input{secret}
figure.dpi: 100000
savefig.dpi: 100000
"""


@pytest.mark.more
def test_a_matplotlibrc_in_the_folder_sets_nothing(folder):
    pytest.importorskip("matplotlib")
    (folder / "matplotlibrc").write_text(SETTINGS, encoding="utf-8")
    script = folder.parent / "picture.py"
    script.write_text(
        "import numpy as np, forearm as fa\n"
        "from forearm.plots import style, torque_figure\n"
        "t = np.linspace(0, 1, 5)\n"
        "style.save(torque_figure(fa.load('rr'), t, np.zeros((5, 2))), 'torques.png')\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr[-500:]
    assert (folder / "torques.png").stat().st_size < 1e6


def test_the_command_line_loads_matplotlib_as_if_it_stood_elsewhere(folder):
    """Before 3.11 matplotlib evaluates what a matplotlibrc says of colours while it is loaded."""
    pytest.importorskip("matplotlib")
    (folder / "matplotlibrc").write_text("figure.dpi: 77\n", encoding="utf-8")
    code = "import os, matplotlib; print(matplotlib.rcParams['figure.dpi'], os.getcwd())"
    ran = subprocess.run(
        [sys.executable, "-c", f"from forearm.cli.process import run; run(['arms', '--quiet']); {code}"],
        cwd=folder, text=True, capture_output=True, timeout=60,
    )  # fmt: skip
    assert ran.stdout.splitlines()[-1].split() == ["100.0", str(folder)], ran.stderr


def test_a_users_own_settings_do_not_make_commands_of_names():
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"text.usetex": True}), style.styled():
        assert matplotlib.rcParams["text.usetex"] is False
