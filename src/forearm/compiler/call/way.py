"""The way into a kernel: through Python first, then past it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forearm.compiler.call.builtin_functions import Entry
    from forearm.compiler.call.processor import Kernel


class Way:
    """The way into a kernel: through Python, until the first state or batch has gone through; then past it.

    From then on the compiled entry takes what is plain (builtin_functions.py), the entry for batches
    what is a plain batch, and only the rest comes back here.
    """

    def __init__(self, kernel: Kernel, general: Callable[..., Any], use: Callable[[Any], None]) -> None:
        """Lead to a kernel.

        Args:
            kernel: Which.
            general: Takes everything, with every check.
            use: Is told what to call from now on, when that changes.
        """
        self._kernel, self._general, self._use = kernel, general, use
        self._open: dict[str, Entry | None] = {}
        self._lock = threading.Lock()

    def __call__(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute; the first of its kind opens an entry."""
        found = self._general(*inputs, out=out, threads=threads)
        if len(self._open) < 2:
            program = "single" if self._kernel.is_single(inputs) else "batch"
            with self._lock:
                if program not in self._open:
                    self._add(program)
        return found

    def _add(self, program: str) -> None:
        self._open[program] = self._kernel.entry(program, self)
        single, batch = self._open.get("single"), self._open.get("batch")
        if single and batch:
            single.hand_to(batch.function)
        first = single or batch
        if first:
            self._use(first.function)
