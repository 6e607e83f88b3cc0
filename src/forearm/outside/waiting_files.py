"""Open files that do not block: a pipe that another process set so, and that we share with it.

Python takes "nothing yet" from such a file for its end, and drops without a word what it does not take at once.
"""

import io
import select
from typing import Any


class WaitingFile(io.FileIO):
    """An open file that is waited for, whether or not it blocks."""

    def read(self, size: int | None = -1) -> bytes:
        """Bytes, when some are there."""
        if size is None or size < 0:
            return self.readall()
        while (found := super().read(size)) is None:
            self._wait(select.POLLIN)
        return found

    def readall(self) -> bytes:
        """All bytes to the end."""
        return io.RawIOBase.readall(self) or b""  # FileIO's own ends where nothing is there yet

    def readinto(self, buffer: Any) -> int:
        """The same, into a buffer."""
        while (count := super().readinto(buffer)) is None:
            self._wait(select.POLLIN)
        return count

    def write(self, content: Any) -> int:
        """Write as much as the file takes, when it takes something."""
        while (count := super().write(content)) is None:
            self._wait(select.POLLOUT)
        return count

    def _wait(self, what: int) -> None:
        """Until that can be done, or the other end is gone."""
        poll = select.poll()
        poll.register(self.fileno(), what)
        poll.poll()
