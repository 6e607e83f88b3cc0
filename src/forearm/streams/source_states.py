"""Whether all rows came from one file: somebody may write it anew, or take it away, while it is read.

A file that is replaced by renaming is read on as it was. One that is written over in place would give some rows of
the old one and some of the new; of a Zarr store, a folder, each chunk is looked for by its name when its turn comes,
and one that is gone would be read as zeros. Rows that are appended meanwhile do no harm.
"""

import os
import stat
from pathlib import Path
from typing import Any

from forearm.faults import ReadFault
from forearm.outside.signal_errors import pass_on_signals
from forearm.streams.row_files import RowSource
from forearm.streams.row_sources import RowsInDegrees, TextRows
from forearm.streams.zarr_rows import ZarrRows
from forearm.streams.zarr_stores import chunks_written


class SourceState:
    """A file of rows as it is found, before the first of them is read."""

    def __init__(self, path: Any, rows: RowSource) -> None:
        """Look at it."""
        self._path, self._rows = Path(path), rows.source if isinstance(rows, RowsInDegrees) else rows
        self._found = self._look()

    def refuse_changed(self) -> None:
        """Refuse rows of a file that was written, or taken away, since it was looked at."""
        if self._is_another(self._look()):
            raise ReadFault(
                f"{self._path}: was written or removed while it was read, so its rows are not those of one motion; "
                "read it again when nobody writes it."
            )

    def _look(self) -> Any:
        if isinstance(self._rows, ZarrRows):
            arrays = [part for part in (*self._rows.parts, self._rows.times) if part is not None]
            return [chunks_written(self._path, array) for array in arrays]
        try:
            return os.stat(self._path)
        except OSError:  # renamed or removed: what is open stays what it was
            pass_on_signals()
            return None

    def _is_another(self, now: Any) -> bool:
        before = self._found
        if isinstance(before, list):
            return any(b.there > n.there or b.digest != n.digest for b, n in zip(before, now, strict=True))
        if before is None or now is None or not stat.S_ISREG(before.st_mode):
            return False
        if (before.st_dev, before.st_ino) != (now.st_dev, now.st_ino):
            return False
        if (
            isinstance(self._rows, TextRows) and now.st_size > before.st_size
        ):  # a log that is still being written?
            return not self._rows.read_bytes.is_beginning_of(self._path)
        return (before.st_mtime_ns, before.st_size) != (now.st_mtime_ns, now.st_size)
