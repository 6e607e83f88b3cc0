"""Write docs/cli.md from the verbs themselves.

    python docs/make_cli.py

A test keeps the page in step with the code.
"""

import io
from contextlib import redirect_stdout
from pathlib import Path

from rich.console import Console

from forearm.cli.application import application
from forearm.cli.verbs import VERBS

PAGE = Path(__file__).parent / "cli.md"

HEAD = """# The command line

<!-- written by docs/make_cli.py; do not edit -->

An arm is a name (`forearm arms` lists them), a file (`arm.toml`, `arm.urdf`, `arm.xml`), or `-` for stdin. Results go
to stdout, remarks and progress to stderr. At a terminal tables are ruled and coloured; in a pipe they are plain
columns.

| | |
| --- | --- |
| `--json` | one JSON document on stdout, nothing else |
| `--quiet` | results only, no remarks |
| `--no-color`, `NO_COLOR=1` | no colours |
| `--debug` | the traceback of an error, instead of one sentence |
| `-` | stdin, or stdout |

| exit code | |
| --- | --- |
| 0 | fine |
| 1 | something was found: a failed proof, a difference, an impossible number, a motion that did not end well |
| 2 | bad input, told in one sentence |
| 3 | a bug of forearm |
| 130, 141 | interrupted; the reader of the pipe went away |

Completion for your shell: `eval "$(forearm completion bash)"`, in `~/.bashrc` (likewise zsh, fish).

```sh
forearm simulate rr --q0 0.4 -1.1 --goal 0 0 | forearm torque rr - --summary
forearm convert puma560 - | forearm check -
forearm --json arms | jq -r '.[].name'
```
"""


def usage(words: list[str]) -> str:
    """What `forearm … --help` prints, 100 columns wide."""
    kept = io.StringIO()
    console = Console(file=kept, width=100, no_color=True, color_system=None)
    with redirect_stdout(kept):
        application()([*words, "--help"], console=console, exit_on_error=False, result_action="return_value")
    text = "\n".join(line.rstrip() for line in kept.getvalue().splitlines())
    return text.partition("╭─ Every verb")[0].strip()  # told once, at the top of the page


def page() -> str:
    """The whole page."""
    blocks = [HEAD]
    for title, verbs in VERBS.items():
        blocks.append(f"## {title}\n")
        for verb in verbs:
            blocks.append(f"### {verb}\n\n```text\n{usage(verb.split())}\n```\n")
    return "\n".join(blocks)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
