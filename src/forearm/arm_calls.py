"""From the user's functions to kernels: which kernel, for which arrays; the first look that anybody takes at an arm.

An arm keeps two things. `arm.calls` has, for each quantity (with its frame, where it has one), what the user's function
enters; `arm.kernels` has the kernels behind, by quantity and how they were compiled. Both are found in one look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from forearm import faults
from forearm.algebra import is_number
from forearm.arm import Arm
from forearm.compiler.call.arguments import JOINT_INPUTS, check_threads, precisions, without_traced
from forearm.compiler.call.door import Door
from forearm.compiler.call.foreign_arrays import Foreign, follower, foreign_kind, library_of
from forearm.outside.running_log import LOG
from forearm.outside.signal_errors import pass_on_signals

if TYPE_CHECKING:
    from forearm.robot import Robot


STATES = ("q", "qd", "qdd", "tau")
"""Inputs whose sizes are looked at."""
SEEN = 64
"""So many rows of them."""
DOUBLE = np.dtype(np.float64)
"""The usual precision, of which NumPy has one."""


class KernelKey(NamedTuple):
    """Under which an arm keeps a kernel."""

    quantity: str
    """What it computes."""
    how: tuple[tuple[str, Any], ...]
    """What `compile` was told besides."""


def kernel_of(arm: Arm | Robot, quantity: str, **how: Any) -> Any:
    """The arm's kernel for a quantity, compiled once and kept on the arm."""
    key = KernelKey(quantity, tuple(how.items()))
    try:
        kernel = arm.kernels.get(key)
    except AttributeError:
        faults.no_arm(arm)
    if kernel is None:
        from forearm.compiler.pipeline import compile

        kernel = arm.kernels[key] = compile(arm, quantity, **how)
    return kernel


def kept_call(arm: Arm | Robot, quantity: str) -> Any:
    """What an arm enters for a quantity without options, or None."""
    try:
        return arm.calls.get(quantity)
    except Exception:  # also what an object's own __getattr__ raises
        pass_on_signals()
        faults.no_arm(arm)


def arm_call(arm: Arm | Robot, quantity: str, frame: Any = None, local: bool | None = None) -> Any:
    """What an arm enters for a quantity: `arm_call(...).enter(q, qd)` is the fastest way into its kernel."""
    key = quantity if frame is None else (quantity, frame) if local is None else (quantity, frame, local)
    try:
        call = arm.calls.get(key)
    except Exception:  # no arm, or a list, which names nothing
        pass_on_signals()
        faults.needs_arm(arm)
        if not hasattr(arm, "frame_names"):
            faults.no_arm(arm)
        faults.unknown_frame(frame, arm.frame_names, arm.name)
    if call is None:
        ask_about_units(arm)
        given = {"frame": frame, "local": local}
        options = {name: value for name, value in given.items() if value is not None}
        call = arm.calls[key] = (LetteredCall if arm.has_symbols else ArmCall)(arm, quantity, options)
    return call


class LetteredCall:
    """A quantity of an arm with letters in place of numbers: a closed form, or a fault that says where to get it."""

    def __init__(self, arm: Any, quantity: str, options: dict[str, Any]) -> None:
        from forearm.derivation.symbolic_states import closed_function

        self.enter = closed_function(arm, quantity, options.get("frame"))


class ArmCall(Door):
    """A quantity of an arm for arrays of any kind: what is plain goes to machine code, all else through the checks."""

    def __init__(self, arm: Arm | Robot, quantity: str, options: dict[str, Any]) -> None:
        self.arm, self.quantity, self.options = arm, quantity, options
        self.kernel = kernel_of(arm, quantity, **options)
        self.names = [port.name for port in self.kernel.graph.inputs]
        self.followed: dict[str, Any] = {}

    def general(self, *values: Any, out: Any = None, threads: int = 1) -> Any:
        """The call for arrays of any kind, shape and type, with every check."""
        library = follower(values)
        if library is not None:
            return self._followed(library, values, out)
        kind = foreign_kind(self.kernel.name, self.names, values)
        if kind is not None:
            return self._foreign(kind, values, out, threads)
        if _other_scalars(values):
            return self._on_other_scalars(values, out, threads)
        precision = {} if not single_precision(values) else {"dtype": "float32"}
        kernel = kernel_of(self.arm, self.quantity, **self.options, **precision)
        for name, value in zip(self.names, values, strict=False):
            if name in STATES:
                hint_sizes(self.arm, name, value)
        return kernel.general(*values, out=out, threads=threads)

    def program(self, inputs: Any) -> str | None:
        """Plain arrays open an entry; other kinds have their own way."""
        kinds = all(isinstance(v, (np.ndarray, np.generic, list, tuple, int, float)) for v in inputs)
        plain = kinds and not any(library_of(v) for v in inputs) and not _other_scalars(inputs)
        return super().program(inputs) if plain and not single_precision(inputs) else None

    def beside(self, q: Any, numbers: Any) -> Any:
        """Numbers that go with an array of any kind: an array of ours beside ours, plain numbers beside others."""
        if library_of(q):
            return numbers
        return np.array(numbers, dtype=np.float32 if single_precision((q,)) else np.float64)

    def _foreign(self, kind: Foreign, values: Any, out: Any, threads: int) -> Any:
        """Arrays of another library: on its device, in its precision, and back as its kind."""
        if kind.gpu:
            dtype = next(str(v.dtype).rpartition(".")[2] for v in values if library_of(v))
            how = {"dtype": dtype, "target": "cuda", "layout": "rows"}
            result = kernel_of(self.arm, self.quantity, **self.options, **how)(*values, out=kind.natives(out))
            return result if out is None else out
        into = kind.natives(out)
        result = self.general(*map(kind.native, values), out=into, threads=threads)
        return kind.back(result) if out is None else out

    def _followed(self, library: str, values: Any, out: Any) -> Any:
        """Arrays whose derivatives a library follows: by a function that it sees through, kept with the call."""
        if out is not None:
            raise faults.StateFault(
                f"{self.kernel.name}: out is given, and {library} follows the derivatives of what is computed, which "
                "an array that is written into does not have; leave it out."
            )
        if library not in self.followed:
            from forearm import frameworks

            make = frameworks.torch_function if library == "PyTorch" else frameworks.jax_function
            self.followed[library] = make(self.arm, self.quantity, **self.options)
        return self.followed[library](*values)

    def _on_other_scalars(self, values: Any, out: Any, threads: int) -> Any:
        """The graph on traced scalars (a law that is being compiled), mpmath numbers or symbols: one state."""
        from forearm.compiler.graph.interpreter import apply

        check_threads(self.kernel.name, threads)
        ports = self.kernel.graph.inputs
        arrays = {p.name: self._objects(p, v) for p, v in zip(ports, values, strict=True)}
        if out is not None:
            for array in arrays.values():
                without_traced(array)
        faults.no_out(self.kernel.name, out)
        try:
            results = apply(self.kernel.graph, **arrays)
        except TypeError as error:
            kinds = sorted({type(x).__name__ for array in arrays.values() for x in array.flat})
            raise faults.StateFault(
                f"{', '.join(arrays)} hold {', '.join(kinds)}, which cannot be computed with ({error}); give floats."
            ) from error
        if len(results) == 1:
            return next(iter(results.values()))
        from forearm.results import (
            results_of,
        )  # a dozen classes, which the first torque of a process can do without

        return results_of(results)(**results)

    def _objects(self, port: Any, value: Any) -> Any:
        """One argument as an array of objects for one state, its labels and masks looked at like those of floats."""
        if port.name in JOINT_INPUTS:
            array = faults.joint_values(self.arm, port.name, value).astype(object)
        else:
            faults.not_masked(value, port.name)
            faults.not_labelled(value, port.name)
            array = np.asarray(value, dtype=object)
        if array.ndim != len(port.shape):
            raise faults.StateFault(
                f"{port.name} has shape {array.shape} and type object; traced values, symbols and "
                "mpmath numbers go one state at a time: give (n,)."
            )
        if port.name in JOINT_INPUTS:  # a letter has no value that could be looked at
            faults.finite_state(self.arm, port.name, np.array([faults.number_of(x) or 0.0 for x in array]))
        return array


def _other_scalars(values: Any) -> bool:
    """Whether any value is made of symbols, traced scalars or fifty-digit numbers."""
    return any(_holds_others(v) for v in values)


def _holds_others(value: Any) -> bool:
    """Whether an array of the value holds what is no plain number; not where it is no array: the checks will say so."""
    if isinstance(value, dict):
        return _other_scalars(value.values())
    try:
        array = np.asarray(value)
    except Exception:  # also what an object's own __array__ raises
        pass_on_signals()
        return False
    return array.dtype.kind == "O" and not all(map(is_number, array.flat))


def single_precision(values: Any) -> bool:
    """Whether all arrays are float32; plain numbers have no precision of their own."""
    types = {kind for value in values for kind in precisions(value)}
    return types == {np.dtype(np.float32)}


def as_exact_as(arm: Arm | Robot, q: Any, *others: Any) -> Any:
    """Positions in the precision of a call that takes the others too: what is added to its result is no rougher."""
    if getattr(q, "dtype", None) is DOUBLE or not single_precision((q,)) or single_precision((q, *others)):
        return q
    if library_of(q) == "PyTorch":
        return q.double()
    return (q if library_of(q) else faults.joint_values(arm, "q", q)).astype(float)


def addend(arm: Arm | Robot, tau: Any, outside: Any) -> Any:
    """Torques to which `outside` is added; plain numbers, which have no precision, in that of `outside`."""
    if library_of(tau):
        return tau
    values = faults.joint_values(arm, "tau", tau)
    return values if library_of(outside) or precisions(tau) else values.astype(outside.dtype)


def hint_sizes(arm: Arm | Robot, name: str, given: Any, kind: str | None = None) -> None:
    """Log a warning when states look like another unit; `kind` is what they are where the name does not say it."""
    values = faults.joint_values(arm, kind or name, given)
    hint = faults.size_hint(arm, kind or name, values.reshape(-1, values.shape[-1])[:SEEN], name)
    if hint:
        LOG.warning("%s: %s", arm.name, hint)


def ask_about_units(arm: Arm | Robot, **states: Any) -> None:
    """Log what states look like, and, once for an arm, what its notes ask about its units: nobody may have looked."""
    if "_asked" not in arm.__dict__:
        arm.__dict__["_asked"] = True
        for doubt in faults.unit_notes(arm):
            LOG.warning("%s: %s", arm.name, doubt)
    for name, given in states.items():
        hint_sizes(arm, name, given)


def wrench_call(arm: Arm | Robot, wrench: Any, at: Any, point: Any) -> Any:
    """The call for a wrench at a point of a frame; what is doubtful about its size is logged."""
    call = arm_call(arm, "wrench_torque", at, wrench.frame == "local")
    for doubt in faults.wrench_doubts(arm, wrench.force, wrench.moment, point):
        LOG.warning("%s: %s", arm.name, doubt)
    return call


def mark_rows_not_finite(result: Any, status: Any) -> None:
    """Set `status` to True for the rows of a result that hold NaN or infinities, whatever kind of arrays they are."""
    rows = tuple(result.shape[:-1])
    has = faults.attribute(status, "shape")
    shape = f" of shape {has}" if isinstance(has, tuple) else ""
    if not str(faults.attribute(status, "dtype", "")).endswith("bool") or not shape or tuple(has) != rows:
        raise faults.StateFault(
            f"status is {faults.a_or_an(type(status).__name__)}{shape}; give a bool array of the batch's shape: "
            f"np.empty({rows}, bool)."
        )
    result = (
        result.detach() if library_of(result) == "PyTorch" else result
    )  # whether it is finite has no slope
    kind = foreign_kind("status", ("qdd",), (result,))
    if kind is None:
        rows = ~np.isfinite(result).all(axis=-1)
    else:
        rows = kind.back(~kind.xp.isfinite(kind.native(result)).all(axis=-1))
    try:
        status[...] = rows
    except Exception as error:
        pass_on_signals()
        raise faults.StateFault(
            f"status is {faults.shown(status)}; give an array of bool of the batch's shape {tuple(rows.shape)}."
        ) from error
