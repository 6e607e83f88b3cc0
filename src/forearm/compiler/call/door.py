"""The way in: through Python, until the first state or batch has gone through; then past it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from forearm.algebra import AnyArray, States
from forearm.compiler.fork_locks import fork_safe_lock
from forearm.faults import NOT_ABOUT_ARGUMENTS, Given, declared, explanation
from forearm.outside.signal_errors import pass_on_signals

if TYPE_CHECKING:
    from forearm.compiler.call.entries.builtin_functions import Entry
    from forearm.compiler.call.machine import MachineKernel


STATES, THREADS, OUT = declared(States, {}), declared(int, {}), declared(AnyArray | tuple | None, {})
"""What the arguments of a kernel are."""


class Door:
    """Something that is called with arrays and has a kernel on the processor behind it.

    The first state and the first batch go through `general`, with every check. Then the kernel's compiled entries stand
    before it: the entry for one state takes what is plain, the entry for batches what is a plain batch, and only the
    rest comes back to Python. `enter` is what to call at the moment.

    Python looks for `__call__` on the class, not on the object; so each door has a class of its own, whose `__call__`
    is exchanged when an entry opens.
    """

    kernel: MachineKernel
    """Whose machine code serves."""
    enter: Callable[..., Any]
    """The fastest way in at the moment."""

    def __new__(cls, *_given: Any, **_named: Any) -> Any:
        """An object with a class of its own."""
        own = cast(Any, type(cls))(
            cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__}
        )
        door = object.__new__(own)
        door.enter = door.through
        door._entries = {}
        door._opening = fork_safe_lock()
        return door

    def __call__(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute."""
        return self.enter(*inputs, out=out, threads=threads)

    def general(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """The call for arrays of any shape and type, with every check."""
        raise TypeError(f"{type(self).__name__} has no general call")

    def through(self, *inputs: Any, out: Any = None, threads: int = 1) -> Any:
        """Compute in Python; the first of its kind opens an entry."""
        try:
            result = self.general(*inputs, out=out, threads=threads)
        except NOT_ABOUT_ARGUMENTS:
            raise
        except Exception as error:
            pass_on_signals()
            names = [port.name for port in self.kernel.graph.inputs]
            said = [Given(name, value, STATES) for name, value in zip(names, inputs, strict=False)]
            said += [Given("threads", threads, THREADS), Given("out", out, OUT)]
            if (fault := explanation(self.kernel.name, said, error)) is not None:
                raise fault from error
            raise
        if len(self._entries) < 2:
            program = self.program(inputs)
            with self._opening:
                if program is not None and program not in self._entries:
                    self._open(program)
        return result

    def program(self, inputs: Any) -> str | None:
        """Which of the kernel's programs such inputs go to, `single` or `batch`; None for neither."""
        return "single" if self.kernel.is_single(inputs) else "batch"

    _entries: dict[str, Entry | None]
    _opening: Any

    def _open(self, program: str) -> None:
        self._entries[program] = self.kernel.entry(program, self.through)
        single, batch = self._entries.get("single"), self._entries.get("batch")
        if single and batch:
            single.hand_to(batch.function)
        first = single or batch
        if first:
            self.enter = first.function
            type(self).__call__ = first.function  # type: ignore[method-assign]
