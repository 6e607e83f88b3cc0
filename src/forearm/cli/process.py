"""From the command line to an exit code: errors in one sentence, quiet ends of pipes, interrupts."""

import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TextIO

from forearm.cli import stop_signals
from forearm.cli.exit_codes import BAD_INPUT, CLOSED_PIPE, INTERRUPTED, OK, OUR_BUG
from forearm.cli.standard_streams import Stdout, complain, hearing, make_ready, remark, tell_of_long_work
from forearm.outside import option_names
from forearm.outside.escapes import terminal

ANYWHERE = ("--json", "--quiet", "--no-color", "--debug")
"""Flags of every verb, which may also stand before the verb."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    stop_signals.heed()
    tell_of_long_work(sys.argv)
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """Run the command line; gives the exit code. Messages name flags while it runs."""
    words = _flags_last(argv)
    with option_names.of_the_shell(), hearing(words):
        return _guarded(words)


def _guarded(words: list[str]) -> int:
    make_ready()
    kept = sys.stdout
    sys.stdout = Stdout(kept)  # type: ignore[assignment]
    try:
        return _exit_code(words)
    finally:
        sys.stdout = kept


def _exit_code(words: list[str]) -> int:
    try:
        code = _answered(words)
        sys.stdout.flush()  # here a signal is heard, and not when the interpreter goes
        return code
    except BrokenPipeError:
        _forget(sys.stdout)
        return CLOSED_PIPE
    except stop_signals.Ended:
        _let_go()
        raise
    except KeyboardInterrupt:
        stop_signals.done_in_time(partial(complain, "interrupted"))
        _let_go()
        return INTERRUPTED
    except Exception as error:
        return _told(error, words)


def _answered(words: list[str]) -> int:
    try:
        return _run(words)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _told(error, words)


def _told(error: Exception, words: list[str]) -> int:
    if "--debug" not in words:
        return _explained(error, complain)
    remark(terminal("".join(traceback.format_exception(error)).rstrip()))
    return _explained(error, lambda sentence: None)


def _run(words: list[str]) -> int:
    from forearm.cli.application import application
    from forearm.cli.hyphens import STDIO
    from forearm.cli.measures import guarded

    _refuse_empty(words)
    if os.path.exists("matplotlibrc"):
        _load_apart()
    words = [STDIO if word == "-" else guarded(word) for word in words]
    result = application()(words, exit_on_error=False, print_error=False, result_action="return_value")
    return result if isinstance(result, int) else OK


def _refuse_empty(words: list[str]) -> None:
    """An empty word is a variable of the shell that has no value: nobody means the default by it."""
    for before, word in zip(["", *words], words, strict=False):
        option = word if word.startswith("--") and word.endswith("=") else before if word == "" else None
        if option is not None:
            from forearm.faults import StateFault

            where = f"{option.rstrip('=')} is" if option.startswith("-") else "there is a word that is"
            raise StateFault(f"{where} empty; give it a value, or leave it out.")


def _load_apart() -> None:
    """No file sets how pictures are made only because it lies where somebody works."""
    from forearm.plots.style import NoMatplotlib, load_apart

    with suppress(NoMatplotlib):
        load_apart()


def _flags_last(argv: Sequence[str]) -> list[str]:
    """Flags before the verb go behind it, so that `forearm --json arms` works too."""
    words = list(argv)
    first = []
    while words and words[0] in ANYWHERE:
        first.append(words.pop(0))
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], *first, *words[at:]] if words else first


def _plainly(sentence: str) -> str:
    """What the parser says, and how numbers are written where that was the mistake."""
    sentence = re.sub(r"^Invalid value for (--\S+): (?=\1 has )", "", sentence)
    if found := re.search(r"parameter (-\S+) requires (?:at least 1 element|an argument)", sentence):
        return f"{found[1]} has nothing behind it; give its value, or leave it out."
    if (
        found := re.search(r"for (--\S+): unable to convert \"([^\"]*)\" into (float|int)", sentence)
    ) is None:
        return sentence
    option, given, kind = found.groups()
    if "," in given:
        return (
            f"{option} has {given!r}; give numbers with spaces between: {option} {given.replace(',', ' ')}."
        )
    wanted = "a whole number" if kind == "int" else "a number"
    return f"{option} has {given!r}; give {wanted}."


def _explained(error: Exception, tell: Callable[[str], None]) -> int:
    """One sentence, and the exit code."""
    from cyclopts import CycloptsError

    from forearm.faults import Fault

    if isinstance(error, CycloptsError):
        verb = " ".join(["forearm", *(error.command_chain or ())])
        tell(f"{_plainly(' '.join(str(error).split()))} See {verb} --help.")
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno is not None:
        tell(_refused_by_the_system(error))
        return BAD_INPUT
    if isinstance(error, Fault):
        tell(str(error))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        said = str(error)  # ours is a sentence that says what to do
        mend = f": {said}" if said.endswith(".") else f" ({said}); ask for less at a time."
        tell(f"this does not fit into memory{mend}")
        return BAD_INPUT
    tell(
        f"this is a bug of forearm: {type(error).__name__}: {error}. Run it again with --debug and report it."
    )
    return OUR_BUG


def _refused_by_the_system(error: OSError) -> str:
    if error.filename is None:
        return f"the system says {error.strerror!r} and names no file; --debug shows where it was."
    if error.filename == "stdout":
        _forget(sys.stdout)
    return f"{error.filename}: {error.strerror}."


def _let_go() -> None:
    """What streams still hold goes within seconds, or nowhere: who was to read it may have stopped, and stays."""
    for stream in (sys.stdout, sys.stderr):
        if not stop_signals.done_in_time(stream.flush):
            _forget(stream)


def _forget(stream: TextIO) -> None:
    """Let the interpreter's last flush of a closed pipe or a full disk, or of one that nobody reads, go nowhere."""
    with suppress(OSError):  # one that was closed from the start has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
