"""What all tests share."""

import os
import signal
import tempfile
import threading
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
# tests run side by side: more threads each would only wait for each other
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("FOREARM_CACHE", str(Path(tempfile.gettempdir()) / f"forearm-tests-{os.getuid()}"))
if threading.current_thread() is threading.main_thread():
    # a shell lets what it starts in the background ignore Ctrl-C, nohup SIGHUP; their processes, too, and some test it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
