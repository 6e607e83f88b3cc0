"""The project's own papers: what sp-repo-review asks of a scientific package, hooks and workflow in step with make."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
IGNORED = PYPROJECT["tool"]["repo-review"]["ignore"]


@pytest.mark.more
@pytest.mark.skipif(
    importlib.util.find_spec("repo_review") is None, reason="sp-repo-review is not installed (make test-more)"
)
def test_repo_review_reports_no_failure():
    command = [sys.executable, "-m", "repo_review", str(ROOT), "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    checks = json.loads(run.stdout)["checks"]
    assert len(checks) > 40
    failed = {code: check["description"] for code, check in checks.items() if check["result"] is False}
    assert failed == {}
    assert set(IGNORED) <= set(checks), "a check that is switched off is no longer there"


def test_what_is_switched_off_says_why():
    assert all(isinstance(reason, str) and len(reason) > 5 for reason in IGNORED.values())


@pytest.mark.parametrize(("package", "hook"), [("ruff", "ruff-pre-commit"), ("mypy", "mirrors-mypy")])
def test_hooks_have_the_versions_of_the_tests(package, hook):
    pinned = next(
        p for p in PYPROJECT["project"]["optional-dependencies"]["test"] if p.startswith(f"{package}==")
    )
    rev = re.search(rf"{hook}\n    rev: v(\S+)", HOOKS)
    assert pinned == f"{package}=={rev[1]}"


def test_the_workflow_runs_what_a_contributor_runs():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"run: (.*)", workflow) == ["make ${{ matrix.target }}"]
    assert set(re.findall(r"target: \[?([\w-]+)", workflow)) == {"test", "test-more"}
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'"{oldest}"' in workflow


def test_security_says_how_to_report_and_what_is_promised():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "## Report" in text
    assert "## What is promised, and which test holds it" in text
