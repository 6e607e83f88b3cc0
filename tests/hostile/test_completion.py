"""A stranger's folder, TAB and Enter: the name of a file is one word of the command, and no command."""

import os
import select
import shutil
import subprocess
import sys
import time

import pytest

pytest.importorskip("pty")

WORST = [
    *("$(touch${IFS}RAN)", "`touch RAN`", ";touch RAN;", " two words", "\ntouch RAN\n", "&touch RAN&", ">RAN"),
    *("|touch RAN", "'x'$(touch RAN)", '"$(touch RAN)"', "{RAN,b}", "!!", "-x", "$HOME", "${HOME}", "<(touch RAN)"),
    *("$'\\n'", "\\\n", "é"),
]  # fmt: skip
ALL = [*WORST, *(chr(code) for code in range(1, 128) if chr(code) != "/")]
FEW = WORST[:5]
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {script}\n"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source {script}\n"),
    "fish": (["fish", "--no-config", "-i"], "source {script}\n"),
}
AT_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Begins a command whose terminal is its standard input; a copy of this process would take JAX's threads with it."""
LONG = 10.0
"""Seconds after which a shell does not answer any more."""


def script(shell):
    """The completion script, as the command prints it."""
    words = [sys.executable, "-m", "forearm", "completion", shell]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def answered(terminal, told):
    """What the command was given, once it was: words that each end with a NUL, and an empty one at the end."""
    end, given = time.monotonic() + LONG, b""
    while not given.endswith(b"\0\0") and time.monotonic() < end:
        if select.select([terminal], [], [], 0.002)[0]:
            os.read(terminal, 65536)  # what the shell shows, lest it wait
        given = told.read_bytes() if told.exists() else b""
    told.unlink(missing_ok=True)
    return [os.fsdecode(word) for word in given.split(b"\0")[:-2]]


@pytest.mark.parametrize(
    ("shell", "before", "parts"),
    [
        ("bash", "--via ", FEW),
        *(pytest.param("bash", f"--via{end}", ALL, marks=pytest.mark.more) for end in (" ", "=", ' "', " '")),
        *(pytest.param(shell, "--via ", ALL, marks=pytest.mark.more) for shell in ("zsh", "fish")),
    ],
)
def test_a_file_was_called_by_a_command_that_ran_at_tab_and_enter(tmp_path, shell, before, parts):
    import pty

    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder, told, command = tmp_path / "strange", tmp_path / "told", tmp_path / "forearm"
    folder.mkdir()
    command.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" '' > ../told\n")
    command.chmod(0o755)
    (tmp_path / "script").write_text(script(shell))
    names = [f"n{k:03}{name}.csv" for k, name in enumerate(parts) if (shell, name) != ("fish", "\t")]
    for name in names:
        (folder / name).touch()
    begin, ready = SHELLS[shell]
    terminal, its_end = pty.openpty()
    found = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-c", AT_A_TERMINAL, *begin],
        **dict.fromkeys(("stdin", "stdout", "stderr"), its_end),
        cwd=folder,
        env={**found, "LC_ALL": "C.UTF-8", "HISTFILE": "/dev/null"},
        start_new_session=True,
    )
    os.close(its_end)
    try:
        os.write(terminal, f"{ready.format(script=tmp_path / 'script')}forearm ready\n".encode())
        assert answered(terminal, told) == ["ready"]
        wrong = {}
        for name in names:
            os.write(terminal, f"forearm move rr {before}{name[:4]}\t\n".encode())
            given = answered(terminal, told)
            if given not in (["move", "rr", "--via", name], ["move", "rr", f"--via={name}"]):
                wrong[name] = given
        assert not wrong
    finally:
        os.close(terminal)
        child.kill()
        child.wait()
    assert not (folder / "RAN").exists()
