"""The command line: verbs that parse and print. Each calls a public function and adds no mathematics.

    forearm show puma560
    forearm torque puma560 motion.csv > torques.csv

    verbs/         the table of verbs, and the verbs by purpose
    application    the table as the parser knows it
    process        from words to an exit code (exit_codes)
    stop_signals   Ctrl-C, SIGTERM and SIGHUP, heard whatever is being done
    standard_streams  closed and full ones, characters that a terminal lacks
    hyphens        where - stands for stdin or stdout
    inputs output  what verbs are given, what they print; measures: numbers with units
    option_groups  options that several verbs share
    citations      what `cite` knows; diagnosis: what `doctor` finds out

Exit codes: 0 fine, 1 something was found (a failed proof, a difference, an error in the numbers), 2 bad input,
3 a bug of ours, 130 interrupted (128 and its number for other signals).
"""

from forearm.cli.process import main

__all__ = ["main"]
