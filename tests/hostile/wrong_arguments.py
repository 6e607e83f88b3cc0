"""Spoil good calls one argument at a time: `python tests/hostile/wrong_arguments.py [BEGINNING_OF_A_CALL …]`.

Each call gives a result or one Fault with a message of a screen, in five seconds of the processor and a gibibyte
beyond what its good form took first; for a value that nothing takes for a number, a name or a choice, no result.
Calls run in a process of their own, which begins anew behind a call that ended it.
"""

import ast
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import warnings
from pathlib import Path

HERE = Path(__file__)
SECONDS, MEGABYTES, LONGEST = 5, 1000, 3100
"""Budget of a call, and of the letters of a message."""


RIGHT = ("result", "fault", "refused")
"""What may become of a call."""


class TooLong(BaseException):
    """Five seconds of the processor are over."""


def cases(words=()):
    """(call, place of the argument, member of the zoo), in order."""
    from hostile.good_calls import CALLS
    from hostile.zoo import ZOO

    for call in CALLS:
        if not words or any(call.startswith(word) for word in words):
            tree = ast.parse(call, mode="eval").body
            places = [*range(len(tree.args)), *(word.arg for word in tree.keywords)]
            yield from ((call, place, kind) for place in places for kind in ZOO)


def spoiled(call, place, value, things):
    """The function of a call, and its arguments with one of them exchanged."""
    tree = ast.parse(call, mode="eval").body

    def of(node):
        return eval(compile(ast.Expression(node), "call", "eval"), {}, things)

    given = [value if k == place else of(node) for k, node in enumerate(tree.args)]
    named = {word.arg: value if word.arg == place else of(word.value) for word in tree.keywords}
    return lambda: of(tree.func)(*given, **named)


def outcome(call, place, kind, things):
    """What became of one call, and what it said."""
    from forearm import Fault
    from hostile.good_calls import LIKE_MATH, LONG, UNREAD
    from hostile.zoo import ODD, ZOO

    if (call.partition("(")[0], place, kind) in LONG:
        return "refused", "takes as long as it says"
    things.warm(call)
    run = spoiled(call, place, ZOO[kind](), things)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
        odd = kind in ODD and not call.startswith(tuple(UNREAD))
        found = ("odd", "accepted") if odd else ("result", "")
    except Fault as fault:
        text = str(fault)
        found = ("fault", text) if len(text) <= LONGEST else ("long", f"{len(text)} letters: {text[:200]}")
    except TooLong:
        found = ("slow", _where(sys.exc_info()[2]))
    except MemoryError as error:  # which NumPy says before it takes any
        found = ("refused", str(error))
    except OSError as error:  # of the system, which names the file
        found = (
            "raw" if error.filename is None else "refused",
            f"{_said(error)} {_where(error.__traceback__)}",
        )
    except (TypeError, ValueError, ArithmeticError) as error:
        math = call.startswith(LIKE_MATH)
        found = ("refused" if math else "raw", f"{_said(error)} {_where(error.__traceback__)}")
    except BaseException as error:
        found = ("raw", f"{_said(error)} {_where(error.__traceback__)}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return ("memory", f"{grown:.0f} MB") if grown > MEGABYTES else found


def _said(error):
    try:
        return f"{type(error).__name__}: {error}"[:200]
    except Exception:
        return type(error).__name__


def _where(trace):
    """The last line of ours."""
    found = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if "forearm/" in path and "/tests/" not in path:
            found = f"[{path.rpartition('forearm/')[2]}:{trace.tb_lineno}]"
        trace = trace.tb_next
    return found


def work(first, words):
    """The cases from `first` on, a line for each."""
    from hostile.good_calls import Workshop

    def over(*_):
        raise TooLong

    things = Workshop()
    os.chdir(things.folder)
    signal.signal(signal.SIGPROF, over)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for k, case in enumerate(cases(words)):
        if k >= first:
            print(json.dumps([k, "begins", ""]), file=out, flush=True)
            print(json.dumps([k, *outcome(*case, things)]), file=out, flush=True)


def run_all(words=(), patience=120, tell=lambda *_: None):
    """Every case with what became of it; a case that ended its process, or that nothing ended, is told as such."""
    every, found, first = list(cases(words)), {}, 0
    while first < len(every):
        command = [sys.executable, str(HERE), "--from", str(first), *words]
        path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path}
        ) as process:
            try:
                last = _heard(process, found, patience, tell)
            finally:
                process.kill()
        if last is None and first not in found:
            raise RuntimeError(f"{command} said nothing")
        if found[last][0] == "begins":
            found[last] = ("crash", f"exit code {process.returncode}")
            tell(last, *found[last])
        first = last + 1
    return [(*case, *found[k]) for k, case in enumerate(every)]


def _heard(process, found, patience, tell):
    """Lines of a worker until it ends, or says nothing for too long; the last case that it spoke of."""
    chosen, last, rest = selectors.DefaultSelector(), None, b""
    chosen.register(process.stdout, selectors.EVENT_READ)
    while True:
        if not chosen.select(patience + 30 * (last is None)):
            found[last] = ("hang", "")
            tell(last, "hang", "")
            return last
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            process.wait()
            return last
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            last, kind, said = json.loads(line)
            found[last] = (kind, said)
            tell(last, kind, said)


def main(words):
    """Print what is neither a result nor a fault, as it comes."""
    every = list(cases(words))

    def tell(k, what, said):
        if what not in (*RIGHT, "begins"):
            call, place, kind = every[k]
            print(f"{what:7}{call.partition('(')[0]} | {place} | {kind} | {said}", flush=True)

    rows = run_all(words, tell=tell)
    bad = sum(row[3] not in RIGHT for row in rows)
    print(f"{len(rows)} calls, {bad} bad")
    return bool(bad)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--from"]:
        work(int(sys.argv[2]), sys.argv[3:])
    else:
        sys.path.insert(0, str(HERE.parents[1]))
        sys.exit(main(sys.argv[1:]))
