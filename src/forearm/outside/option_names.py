"""How a message names an option: as a Python argument, or as a flag where the command line is speaking.

A reader refuses a file and says which option would help; the same sentence is read by somebody who called
`load(..., keep_defects=True)` and by somebody who typed `--keep-defects`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FLAGS = {
    "tip": "--tip",
    "root": "--root",
    "lock": "--lock",
    "base": "--base",
    "right_angles": "--snap-right-angles",
    "keep_defects": "--keep-defects",
    "allow_massless": "--allow-massless",
    "check_units": "--any-units",
    "allow_files": "--allow-files",
}
"""Argument of a reader -> flag of the command line."""
OF_SIMULATE = {
    "limits": "--limits",
    "sticking": "--sticking",
    "method": "--method",
    "record_every": "--every",
}
"""Argument of simulate -> flag of the verb."""
OF_REACH = {"attempts": "--attempts", "posture": "--posture", "q0": "--q0", "every": "--every"}
"""Argument of inverse_kinematics -> flag of the verb."""
OF_MOVE = {name: f"--{name}" for name in ("speeds", "accelerations", "jerks", "torques", "blend")}
"""Argument of what makes motions -> flag of move."""
OF_SWEEP = {"executor": "--executor", "workers": "--workers"}
"""Argument of sweep -> flag of the verb."""
OF_FILES = {"degrees": "--degrees", "time_unit": "--time-unit"}
"""Argument of what reads motions -> flag of the verbs."""

_in_shell: ContextVar[bool] = ContextVar("in_shell", default=False)


@contextmanager
def of_the_shell() -> Iterator[None]:
    """Within this, options are named as flags."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)


def option(name: str, value: str = "", shell: str | None = None) -> str:
    """An option of a reader, simulate, reach, move or sweep: `tip='hand'` or `--tip hand`; True and False are bare.

    `shell` is the value as a shell has it, where that is not the Python value without quotes.
    """
    if not _in_shell.get():
        return f"{name}={value}"
    given = shell if shell is not None else "" if value in ("True", "False") else _word(value)
    return (
        f"{(FLAGS | OF_SIMULATE | OF_REACH | OF_MOVE | OF_SWEEP | OF_FILES).get(name, name)} {given}".rstrip()
    )


def held(joints: dict[str, float]) -> str:
    """The option that holds joints: `lock={'finger': 0.0}`, or `--lock finger=0.0`."""
    import shlex  # for messages alone

    return option("lock", str(joints), shlex.join(f"{name}={value}" for name, value in joints.items()))


def _word(value: str) -> str:
    """A Python value as a shell takes it: names from a file may have quotes, spaces and arrows in them."""
    import ast
    import shlex

    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return shlex.quote(given) if isinstance(given, str) else value
