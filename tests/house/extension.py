"""A copy of the sources with something added, and a fresh interpreter that uses it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forearm

HOME = Path(forearm.__file__).parent


class Extension:
    """The sources in a folder of their own; counts which of their files are touched."""

    def __init__(self, folder):
        self.folder = folder
        self.touched = set()
        shutil.copytree(HOME, folder / "forearm", ignore=shutil.ignore_patterns("__pycache__"))

    def file(self, path, text):
        """Add a file."""
        target = self.folder / "forearm" / path
        assert not target.exists()
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self.touched.add(path)

    def before(self, path, place, text):
        """Put text before a place that occurs once in a file."""
        target = self.folder / "forearm" / path
        old = target.read_text(encoding="utf-8")
        assert old.count(place) == 1, f"{path} has {old.count(place)} places like {place!r}"
        target.write_text(old.replace(place, text + place), encoding="utf-8")
        self.touched.add(path)

    def run(self, code):
        """What a fresh interpreter prints that imports the copy."""
        own = {"PYTHONPATH": str(self.folder), "FOREARM_CACHE": str(self.folder / "cache")}
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=self.folder,
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout
