"""Verbs to begin with: the demo, shell completion."""

import re
from pathlib import Path
from typing import Literal

from forearm.cli.option_groups import Flag
from forearm.cli.output import PLAIN, Shared, print_json

FOLDER = Path("out")
"""Where the report goes if nobody says where."""


def demo(*, out: Path = FOLDER, force: Flag = False, shared: Shared = PLAIN) -> int:
    """The main job in one minute: a PUMA 560 picks and places; the report lands in a folder.

    Its task is the PUMA's own; for another arm there are forearm torque, verify, count, bench and simulate.
    Exit code 1 if the formulations do not agree.

    Parameters
    ----------
    out
        Folder for report.html and its data (out).
    force
        Write over files of these names that are not of a demo.
    """
    from forearm.cli.inputs import refuse_to_overwrite, refuse_what_leads_away
    from forearm.demo import run_demo
    from forearm.page.document import MARK

    refuse_to_overwrite([out / "report.html"], force, ours=MARK.encode())
    refuse_to_overwrite([out / "demo.json"], force, ours=b'"forearm": ')
    refuse_what_leads_away([*([out] if out == FOLDER else []), out / "report.html", out / "demo.json"], force)
    say = (lambda line: None) if shared.json or shared.quiet else _say
    result = run_demo(out, say)
    if shared.json:
        print_json(result.summary)
    return 0 if result.agreed else 1


def _say(line: str) -> None:
    print(line, flush=True)


def completion(shell: Literal["bash", "zsh", "fish"], /, *, shared: Shared = PLAIN) -> None:
    """Print the completion script of a shell: eval "$(forearm completion bash)".

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from forearm.cli.application import application

    script = application().generate_completion(shell=shell)
    if shell == "bash":
        script = _files_by_bash(script)
    if shared.json:
        print_json({"shell": shell, "script": script})
    else:
        print(script)


def _files_by_bash(script: str) -> str:
    """The script, in which bash itself completes names of files: it quotes what in them would be a command."""
    script = re.sub(r"COMPREPLY=\( \$\(compgen -(?!W).*\) \)", "COMPREPLY=()", script)
    return script.replace("\ncomplete -F", "\ncomplete -o default -F")
