"""What happens while the library works, for Python's `logging` under the name `forearm`.

A new process should reach its first torque soon, and `logging` with what it imports is a hundredth of that way. So
it is loaded by the first warning. Where nobody has loaded it, nobody has asked for more than warnings.
"""

import sys
from typing import Any


class RunningLog:
    """The two levels that the library uses, with the arguments of `logging`."""

    @staticmethod
    def info(message: str, *values: Any, for_a_person: bool = False) -> None:
        """For those who follow the work: nothing is written unless the program set `logging` up.

        Args:
            message: As for `logging`.
            *values: What fills it in.
            for_a_person: Whether the command line shows it to who waits.
        """
        if "logging" in sys.modules:
            import logging

            logging.getLogger("forearm").info(
                message, *values, stacklevel=2, extra={"for_a_person": for_a_person}
            )

    @staticmethod
    def warning(message: str, *values: Any) -> None:
        """Something was not as expected, and the result is still right."""
        import logging

        logging.getLogger("forearm").warning(message, *values, stacklevel=2)


LOG = RunningLog()
