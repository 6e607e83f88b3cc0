"""What all tests share."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
for library in (
    "OPENBLAS",
    "OMP",
    "MKL",
):  # tests run side by side: more threads each would only wait for each other
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("FOREARM_CACHE", str(Path(tempfile.gettempdir()) / f"forearm-tests-{os.getuid()}"))
