"""Versions agree, the citation is complete, and the set-up script is harmless where it cannot help."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import forearm

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_agree():
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert PROJECT["version"] == forearm.__version__ == citation[1] == newest[1]


def test_licences_agree():
    citation = re.search(r"^license: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert PROJECT["license"] == citation[1] == "BSD-3-Clause"
    assert "Redistribution and use in source and binary forms" in (ROOT / "LICENSE").read_text()


def test_citation_has_what_the_format_asks_for():
    text = (ROOT / "CITATION.cff").read_text()
    keys = set(re.findall(r"^([a-z-]+):", text, re.M))
    assert {"cff-version", "message", "title", "authors"} <= keys
    assert "cff-version: 1.2.0" in text


@pytest.mark.skipif(os.name != "posix", reason="the script is for a POSIX shell")
def test_set_up_script_leaves_quietly_without_apt(tmp_path):
    """On a machine that has none of the programs it needs, it says what is missing and succeeds."""
    for name in ("sh", "id", "command"):
        where = shutil.which(name)
        if where:
            (tmp_path / name).symlink_to(where)
    script = ROOT / "tests" / "install_debian_packages.sh"
    run = subprocess.run(
        [shutil.which("sh"), str(script)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "no apt-get here" in run.stdout
    assert "chromium" in run.stdout
