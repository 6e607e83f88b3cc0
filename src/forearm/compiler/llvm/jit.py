"""LLVM in the process: text to object code, object code to addresses.

Optimisation is left to the code generator: the text is already what the passes over graphs made of it, and
LLVM's own passes over straight-line code of a thousand operations cost time and gain nothing.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from forearm.compiler.store import files as cached
from forearm.faults import KernelFault
from forearm.outside.executable_memory import WHY_NOT, may_run_made_code
from forearm.outside.memory_size import refuse_without_room
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals
from forearm.outside.whole_process.forks import hold_in_forks

try:
    import llvmlite
    import llvmlite.binding as llvm
except (ImportError, OSError) as error:
    pass_on_signals()
    raise KernelFault(
        f"machine code, rollouts and PTX need llvmlite, which cannot be imported ({error}); install llvmlite. "
        "Without it kernels run on NumPy."
    ) from error
if not may_run_made_code():
    raise KernelFault(f"machine code, rollouts and PTX are not to be had: {WHY_NOT}. Kernels run on NumPy.")


_LOCK = threading.RLock()
hold_in_forks(
    _LOCK
)  # a fork waits until no other thread is in LLVM, whose state the child would inherit half done
hold_in_forks(llvm.ffi.lib._lock._lock)

DIGEST = hashlib.sha256().digest_size
"""Bytes of a probe's answer, which lie before the code."""


class Host(NamedTuple):
    """What the code generator is told about this machine."""

    triple: str
    """Architecture, system, binary format."""
    cpu: str
    """LLVM's name of the processor."""
    features: str
    """What it can do, as LLVM writes it."""

    def width(self, dtype: str) -> int:
        """Lanes of the widest vector that the machine computes on, for float64 or float32."""
        have = set(self.features.split(","))
        doubles = 8 if "+avx512f" in have else 4 if "+avx" in have else 2
        return doubles if dtype == "float64" else 2 * doubles

    @property
    def llvm(self) -> str:
        """Versions of the code generator."""
        return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


@cache
def host() -> Host:
    """The machine at hand."""
    with _LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    if sys.platform == "win32":
        triple += "-elf"  # LLVM's loader does not find the constants of objects in Windows' own format
    return Host(triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


@cache
def _machine(level: int) -> Any:
    here = host()
    return llvm.Target.from_triple(here.triple).create_target_machine(
        cpu=here.cpu, features=here.features, opt=level, reloc="pic", codemodel="default", jit=True
    )


def other_machine(triple: str, cpu: str) -> Any:
    """A code generator for another machine than this one."""
    with _LOCK:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        return llvm.Target.from_triple(triple).create_target_machine(
            cpu=cpu, opt=3, reloc="pic", codemodel="default"
        )


ROOM, PER_BYTE = 24_000_000, 60
"""Bytes to be had before LLVM begins, and so many for each of a text: more than it takes, or it ends the process."""


def _parsed(text: str, name: str) -> Any:
    refuse_without_room(f"compiling {name}", ROOM + PER_BYTE * len(text))
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        pass_on_signals()
        raise KernelFault(
            f"{name}: LLVM refused the code that forearm wrote: {error}. Please report it."
        ) from error
    return module


LEVEL = 1
"""Optimisation level of the code generator (0 to 3): higher ones take longer and give the same speed (measured)."""

LONG_TEXT = 10_000_000
"""Letters of a module for which LLVM takes a quarter of a minute: some seven thousand numbers in and out."""


def object_code(text: str, name: str, level: int = LEVEL) -> bytes:
    """Compile a module for this machine."""
    if len(text) > LONG_TEXT:
        megabytes = len(text) / 1e6
        LOG.info(
            "%s is %.0f MB of text for LLVM: this may take minutes, once", name, megabytes, for_a_person=True
        )
    with _LOCK:
        found: bytes = _machine(level).emit_object(_parsed(text, name))
    return found


def assembly(text: str, name: str, machine: Any = None) -> str:
    """The machine code of a module, readable; for this machine unless another code generator is given."""
    host()
    with _LOCK:
        found: str = (machine or _machine(LEVEL)).emit_assembly(_parsed(text, name))
    return found


class Loaded:
    """Object code in memory; it stays there as long as this object."""

    def __init__(self, code: bytes, name: str) -> None:
        """Load the code."""
        self._name = name
        host()
        with _LOCK:
            refuse_without_room(f"loading {name}", ROOM // 2 + PER_BYTE * len(code))
            empty = llvm.parse_assembly("")
            machine = llvm.Target.from_triple(host().triple).create_target_machine(jit=True)
            # sections side by side: code reaches its constants within 2 GiB, wherever memory is free
            engine = llvm.create_mcjit_compiler(empty, machine, use_lmm=True)
            try:
                engine.add_object_file(llvm.ObjectFileRef.from_data(code))
                engine.finalize_object()
            except RuntimeError as error:
                pass_on_signals()
                raise KernelFault(
                    f"{name}: the object code could not be loaded: {error}. Please report it."
                ) from error

        # who collects garbage does not look into arrays: he cannot end the engine, and the code with it, before an
        # object of the same garbage whose __del__ calls it
        self._engines = np.array([engine], dtype=object)

    def address(self, function: str) -> int:
        """Where a function starts."""
        return self._there(function, self._engines[0].get_function_address(function))

    def variable(self, name: str) -> int:
        """Where a global variable lies."""
        return self._there(name, self._engines[0].get_global_value_address(name))

    def _there(self, symbol: str, address: int) -> int:
        """The address, which is zero where LLVM knows no such symbol: nobody may call that."""
        if not address:
            raise KernelFault(f"{self._name}: the object code has no {symbol!r}. Please report it.")
        return address


Probe = Callable[[Loaded], bytes]
"""Runs a program in memory on one fixed state and tells what came out, to the last bit."""


def load_program(
    name: str,
    text: str | Callable[[], str],
    probe: Probe,
    *,
    keep: bool = True,
    recipe: tuple[object, ...] = (),
) -> Loaded:
    """A program in memory: from the cache on disk, or compiled and kept there.

    The key on disk is a digest of the very text that was compiled, so an object can never stand for another text.
    Beside the object lies what the probe gave when it was new; one from disk must give the same bits.

    Args:
        name: What it computes, for the log.
        text: The module, as LLVM takes it, or what writes it.
        probe: Tries the program on one state.
        keep: Whether to use the cache.
        recipe: All that the text is made from, if that is quicker to tell: the text's digest is then kept under it,
            and under forearm's own source, and a new process need not write the text to find the object.
    """
    here, started = host(), time.perf_counter()
    machine = (here.llvm, here.triple, here.cpu, here.features, LEVEL)
    shortcut = cached.graph_key("text", recipe, *machine) if keep and recipe else None
    digest = cached.recall_digest(shortcut) if shortcut else None
    found = _kept(digest, name, probe) if digest else None
    if found is not None:
        return found
    written = text if isinstance(text, str) else text()
    digest = cached.key_of("object", written, *machine)
    if shortcut:
        cached.keep_digest(shortcut, digest)
    found = _kept(digest, name, probe) if keep else None
    if found is not None:
        return found
    code = object_code(written, name)
    made = Loaded(code, name)
    answer = hashlib.sha256(probe(made)).digest()
    where = cached.store(digest, name, answer + code) if keep else None
    seconds = time.perf_counter() - started
    LOG.info("compiled %s in %.2f s, %s", name, seconds, f"kept in {where}" if where else "not kept")
    return made


def _kept(digest: str, name: str, probe: Probe) -> Loaded | None:
    """The program on disk under the digest of its text, if it is there and can be trusted."""
    kept = cached.load(digest)
    if kept is None:
        return None
    found = _proved(kept, name, probe)
    if found is None:
        LOG.warning("the kept code of %s does not do what it did when it was made; it is built anew", name)
    return found


def _proved(kept: bytes, name: str, probe: Probe) -> Loaded | None:
    """The program of a file, if it answers its probe as it did when it was made."""
    answer, code = kept[:DIGEST], kept[DIGEST:]
    try:
        found = Loaded(code, name)
        return found if hashlib.sha256(probe(found)).digest() == answer else None
    except KernelFault:
        return None
