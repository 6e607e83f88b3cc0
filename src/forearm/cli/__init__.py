"""The command line: verbs that parse and print. Each calls a public function and adds no mathematics.

    forearm show puma560
    forearm torque puma560 motion.csv > torques.csv

Exit codes: 0 fine, 1 something was found (a failed proof, a difference, an error in the numbers), 2 bad input,
3 a bug of ours, 130 interrupted.
"""

from forearm.cli.running import main

__all__ = ["main"]
