"""A verb at a real terminal: what it writes there, and how it ends."""

import os
import subprocess
import sys

import pytest

FOREARM = [sys.executable, "-m", "forearm"]


def at_a_terminal(*words, stderr=None, cwd=None, **environment) -> tuple[int, str]:
    """The exit code of a verb, and what it writes to a terminal (stdout, and stderr unless that goes elsewhere)."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env = {**kept, "TERM": "xterm-256color", "COLUMNS": "200", **environment}
    errors = theirs if stderr is None else stderr
    with subprocess.Popen([*FOREARM, *words], stdout=theirs, stderr=errors, env=env, cwd=cwd) as process:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # Linux says EIO at the end
            pass
    os.close(ours)
    return process.returncode, text.decode()
