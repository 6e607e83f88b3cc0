"""What the tests of the command line share: running it in this process, and a small motion."""

import json
from dataclasses import dataclass
from typing import Any

from forearm.cli.process import run

MOTION = "t,q1,q2\n" + "\n".join(f"{0.1 * k},{0.02 * k * k},{-0.01 * k * k}" for k in range(8)) + "\n"


@dataclass(frozen=True)
class Said:
    """What a run of the command line said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def forearm(capsys, *words) -> Said:
    """Run the command line here."""
    capsys.readouterr()
    code = run([str(word) for word in words])
    heard = capsys.readouterr()
    return Said(code, heard.out, heard.err)
