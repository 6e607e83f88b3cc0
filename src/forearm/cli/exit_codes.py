"""Exit codes of the command line."""

OK, FOUND, BAD_INPUT, OUR_BUG, CLOSED_PIPE, INTERRUPTED = 0, 1, 2, 3, 141, 130
"""Fine; something was found; bad input; a bug of ours; 128 + signal for the last two, as shells have it."""
