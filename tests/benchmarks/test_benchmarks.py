"""A short run of the benchmark scripts, so that the folder cannot rot; times are not looked at."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("case", ["puma560 inverse_dynamics", "iiwa14 single"])
def test_a_quick_run_agrees_with_the_peers(case, tmp_path):
    out = tmp_path / "result.json"
    done = run("benchmarks/run.py", "--quick", "--filter", f"^{case}$", "--out", str(out))
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(out.read_text())["rows"]
    for peer in row.get("peers", ()):
        assert peer["difference"] < 1e-12, peer


@pytest.mark.more
def test_a_quick_run_of_everything(tmp_path):
    out = tmp_path / "result.json"
    done = run("benchmarks/run.py", "--quick", "--out", str(out))
    assert done.returncode == 0, done.stderr
    done = run("benchmarks/run.py", "--quick", "--filter", "puma560 inv", "--again", str(out))
    assert done.returncode == 0, done.stderr
    assert '"runs": {"count": 2' in done.stdout
    done = run("benchmarks/simulation.py", "--rows", "16", "--steps", "2", "--rounds", "1")
    assert done.returncode == 0, done.stderr


@pytest.mark.more
def test_identification_runs_without_logs():
    done = run("benchmarks/identification.py", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["regressor"]["ratios"]["slices"]["ratio"] > 0


@pytest.mark.more
def test_much_runs_on_little(tmp_path):
    out = tmp_path / "large.json"
    sizes = ("--states", "1e5", "--rows", "20000", "--only", "files", "sweeps", "--out", str(out))
    done = run("benchmarks/large.py", *sizes)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["sweeps"]["states"] == 100_000
    assert found["files"]["peak_mb"] < 300


@pytest.mark.more
def test_counts_have_not_grown():
    done = run("benchmarks/counts.py", "--check")
    assert done.returncode == 0, done.stdout


def test_the_page_is_what_the_results_say(tmp_path):
    page = ROOT / "docs" / "benchmarks.md"
    before = page.read_text()
    try:
        done = run("benchmarks/report.py")
        assert done.returncode == 0, done.stderr
        assert page.read_text() == before, "docs/benchmarks.md is stale; run benchmarks/report.py"
    finally:
        page.write_text(before)
