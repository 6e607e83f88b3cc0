"""How much memory this machine has, and gives: what needs more is refused before it begins."""

import math
import mmap
import os
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from forearm.outside.signal_errors import pass_on_signals, suppressed


@cache
def machine_memory() -> float:
    """Bytes of memory that this machine has, or gives to the container that this is; infinite where nobody says."""
    try:
        has = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        has = math.inf
    return min(has, group_memory())


def group_memory(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> float:
    """Bytes that Linux gives to the processes that this one is counted with; who takes more is killed.

    A group has the limits of those around it too. Within a container its own group stands at the root.
    """
    least = math.inf
    with suppressed(OSError, ValueError):
        for line in ["0::/", "0:memory:/", *own.read_text().splitlines()]:
            _, kinds, path = line.split(":", 2)
            if kinds and "memory" not in kinds.split(","):
                continue
            top = groups / "memory" if kinds else groups
            name = "memory.limit_in_bytes" if kinds else "memory.max"
            here = top / path.strip("/")
            for folder in (here, *(above for above in here.parents if above.is_relative_to(top))):
                with suppressed(OSError, ValueError):  # not there, or "max"
                    least = min(least, float(int((folder / name).read_text())))
    return least


def own_memory() -> float:
    """Bytes of memory that this process holds, those of mapped files aside; zero where nobody says."""
    with suppressed(OSError, AttributeError, ValueError):
        _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
        return float(os.sysconf("SC_PAGE_SIZE")) * (int(resident) - int(shared))
    return 0.0


MAPS = 32
"""Maps of memory to be had, too: what is loaded takes a few, of which Linux gives a process 65530."""


def refuse_without_room(what: str, need: int, mend: str = "raise the limit") -> None:
    """Raise MemoryError where the system does not give so many bytes, or maps, and a library would end the process.

    They are asked for and given back untouched, which takes a fraction of a millisecond.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return
    try:
        with ExitStack() as taken:
            _take(taken, need)
    except (OSError, OverflowError):
        pass_on_signals()
        raise MemoryError(
            f"{what} needs up to {math.ceil(need / 1e6)} MB, which the system does not give ({_left()}); {mend}."
        ) from None
    try:
        with ExitStack() as taken:
            for _ in range(MAPS // 2):  # neighbours of one kind would be one map
                _take(taken, mmap.PAGESIZE)
                _take(taken, mmap.PAGESIZE, mmap.PROT_READ)
    except OSError:
        pass_on_signals()
        raise MemoryError(
            f"{what} needs {MAPS} maps of memory, which the system does not give ({_maps()}); let go of arms and "
            "kernels that are not needed any more, or raise the limit."
        ) from None


def _take(taken: ExitStack, need: int, kind: int | None = None) -> None:
    """Memory that nobody else has, until all that was taken is given back."""
    prot = mmap.PROT_READ | mmap.PROT_WRITE if kind is None else kind
    taken.enter_context(mmap.mmap(-1, need, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=prot))


def _maps() -> str:
    """How many maps of memory this process has, in words."""
    with suppressed(OSError, ValueError):
        most = int(Path("/proc/sys/vm/max_map_count").read_text())
        taken = len(Path("/proc/self/maps").read_bytes().splitlines())
        return f"{taken} of {most} are taken, vm.max_map_count"
    return "a limit such as vm.max_map_count?"


def _left() -> str:
    """What is left of this process's address space, in words."""
    with suppressed(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            return f"ulimit -v leaves {max(0, most - taken) // 10**6} MB of {most // 10**6} MB"
    return "a limit such as ulimit -v?"
