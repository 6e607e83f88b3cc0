"""Whether code that this process makes may run: LLVM ends the process where it may not."""

import ctypes
import mmap
from functools import cache

from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals

WHY_NOT = (
    "the system lets no memory become executable (systemd's MemoryDenyWriteExecute, SELinux's execmem, "
    "a filter of system calls)"
)
"""What is said where it may not."""


@cache
def may_run_made_code() -> bool:
    """Whether the system lets memory that was written become executable, as a compiler in the process needs it.

    Services may be begun without that right, and policies may take it away: a page is tried, and given back.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return True
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:  # no memory: told by who needs more of it
        pass_on_signals()
        return True
    with page:
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        start = ctypes.c_char.from_buffer(page)
        refused = protect(ctypes.addressof(start), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC)
        del start  # the page cannot be given back while it is held
    if refused:
        LOG.warning("kernels run on NumPy, because %s", WHY_NOT)
    return not refused
