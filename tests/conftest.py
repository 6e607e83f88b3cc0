"""What all tests share."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("FOREARM_CACHE", str(Path(tempfile.gettempdir()) / f"forearm-tests-{os.getuid()}"))
