"""Arrays at the border of a kernel: what is accepted, how it is described to the machine code.

The one place where arguments are checked, for every kind of kernel. Where the kernel is an arm's, messages speak of its
joints by name.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from forearm.compiler.call.entries import builtin_functions
from forearm.compiler.call.foreign_arrays import library_of
from forearm.compiler.graph.graph import Graph, Port
from forearm.compiler.graph.traced_scalar import Traced
from forearm.compiler.kernel import PRECISIONS, Kernel, KernelSubject
from forearm.faults import (
    StateFault,
    coordinates,
    finite_state,
    joint_shape,
    joint_values,
    no_array,
    not_labelled,
    not_masked,
    rows_alike,
    shown,
)
from forearm.outside.signal_errors import pass_on_signals, suppressed

Array = npt.NDArray[Any]


class Taker(Protocol):
    """What takes arrays: a kernel, or a rollout."""

    name: str
    """What messages call it."""
    dtype: np.dtype[Any]
    """What it computes in."""
    layout: str
    """How states lie in its arrays."""
    subject: KernelSubject
    """Whose joints its inputs belong to."""


def taken(kernel: Kernel, inputs: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
    """All arguments of a call as NumPy arrays of the kernel's dtype, and the axes of the batch."""
    ports = kernel.graph.inputs
    check_number(kernel, inputs)
    rows_alike(kernel.name, [port.name for port in ports], inputs)
    arrays = [accept(kernel, p, v) for p, v in zip(ports, inputs, strict=True)]
    batch = batch_shape(kernel.name, ports, arrays, kernel.layout)
    if not batch:
        for port, array in zip(ports, arrays, strict=True):
            check_finite(kernel, port, array)
    return arrays, batch


def check_number(kernel: Kernel, inputs: Sequence[Any]) -> None:
    """As many arrays as the kernel has inputs."""
    ports = kernel.graph.inputs
    if len(inputs) != len(ports):
        names = ", ".join(p.name for p in ports)
        raise StateFault(f"{kernel.name}: got {len(inputs)} arrays; give {len(ports)}: {names}.")


def of_joints(kernel: Taker, port: Port) -> bool:
    """Whether an input has one number for each joint of an arm, so that messages can name the joints."""
    arm = kernel.subject.arm
    if arm is None or kernel.layout != "rows" or port.name not in JOINT_INPUTS:
        return False
    return port.shape == (len(coordinates(arm, port.name)),)


JOINT_INPUTS = (
    *("q", "qd", "qdd", "tau", "b", "v"),
    *("weights", "weights_q", "weights_qd", "along_q", "along_qd", "along_qdd", "along_tau"),
)
"""Inputs that have one number for each joint."""


def accept(kernel: Taker, port: Port, value: Any) -> Array:
    """One argument as an array of the kernel's dtype, the port's shape at its end (columns: at its start)."""
    array, dtype = numbers_for(kernel, port, value), kernel.dtype
    if array.dtype == dtype:
        return array if array.flags.aligned else array.copy()
    wider = [kind for kind in precisions(value) if kind.itemsize > dtype.itemsize]
    check_precision(kernel, port, array.dtype, given=bool(wider))
    return array.astype(dtype)


def precisions(value: Any) -> set[np.dtype[Any]]:
    """What the arrays in a value hold: of a table, or of a dict of columns, too; plain numbers have no precision."""
    if isinstance(value, np.ndarray):
        return {value.dtype}
    if isinstance(value, dict):
        return {kind for column in value.values() for kind in precisions(column)}
    if isinstance(value, (list, tuple, int, float, np.generic)):
        return set()
    try:  # an array that a library follows, or that lies on a GPU, is none of NumPy's, but says what it holds
        return {
            np.dtype(str(value.dtype).rpartition(".")[2]) if library_of(value) else np.asarray(value).dtype
        }
    except Exception:  # whatever an object's own __array__ raises; the checks will say it
        pass_on_signals()
        return set()


def numbers_for(kernel: Taker, port: Port, value: Any) -> Array:
    """One argument as an array in its own precision, of the port's shape."""
    if of_joints(kernel, port):
        return joint_values(kernel.subject.arm, port.name, value)
    array = _numbers(kernel.name, port, value, kernel.layout)
    check_shape(kernel, port, array.shape)
    return array


def _numbers(where: str, port: Port, value: Any, layout: str) -> Array:
    not_masked(value, f"{where}: {port.name}")
    not_labelled(value, f"{where}: {port.name}")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise StateFault(
            f"{where}: {port.name} is no array of numbers ({error}); give {shape_text(port, layout)}."
        ) from None
    except Exception as error:  # whatever an object's own __array__ raises
        pass_on_signals()
        raise no_array(f"{where}: {port.name}", value, error) from error
    if array.dtype.kind == "O":
        without_traced(array)
    if array.dtype.kind not in "fiu":
        kind = "complex" if array.dtype.kind == "c" else f"of type {array.dtype}"
        raise StateFault(
            f"{where}: {port.name} is {kind}; give real numbers, shape {shape_text(port, layout)}."
        )
    return array


def without_traced(array: Array) -> None:
    """Refuse traced values as tracing does, so that a law that needs numbers is known to run in Python alone."""
    for value in array.flat:
        if isinstance(value, Traced):
            float(value)


def check_shape(kernel: Taker, port: Port, shape: tuple[int, ...]) -> None:
    """Refuse an array whose axes are not the port's, with its states before them (columns: after them)."""
    k, columns = len(port.shape), kernel.layout == "columns"
    own = shape[:k] if columns else shape[len(shape) - k :]
    if len(shape) < k or own != port.shape or (columns and len(shape) > k + 1):
        if of_joints(kernel, port):
            joint_shape(kernel.subject.arm, port.name, shape)
        raise StateFault(
            f"{kernel.name}: {port.name} has shape {shape}; give {shape_text(port, kernel.layout)}."
        )


def check_precision(kernel: Taker, port: Port, dtype: Any, *, given: bool) -> None:
    """Refuse to round somebody's array in silence."""
    if given and dtype.kind == "f" and dtype.itemsize > kernel.dtype.itemsize:
        other = f" or compile with dtype='{dtype}'" if dtype.name in PRECISIONS else ""
        raise StateFault(
            f"{kernel.name}: {port.name} is {dtype}, but the kernel computes in {kernel.dtype}; "
            f"round it yourself ({port.name}.astype('{kernel.dtype}')){other}."
        )


def shape_text(port: Port, layout: str) -> str:
    """The shapes that a port takes, as messages say it."""
    inner = ", ".join(map(str, port.shape))
    if layout == "rows":
        alone = f"({inner},)" if len(port.shape) == 1 else f"({inner})"
        return f"{alone} or a batch (...{', ' if inner else ''}{inner})"
    return (
        f"({inner}{',' if len(port.shape) == 1 else ''}) for all states or ({inner}{', ' if inner else ''}N)"
    )


def batch_shape(where: str, ports: tuple[Port, ...], arrays: list[Array], layout: str) -> tuple[int, ...]:
    """The axes of the batch: the leading axes broadcast against each other (columns: the last axis)."""
    leads = []
    for port, array in zip(ports, arrays, strict=True):
        k = len(port.shape)
        leads.append(array.shape[: array.ndim - k] if layout == "rows" else array.shape[k:])
    if all(lead == leads[0] for lead in leads):
        return leads[0] if leads else ()
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        given = ", ".join(f"{p.name} {tuple(a.shape)}" for p, a in zip(ports, arrays, strict=True))
        raise StateFault(
            f"{where}: the batch axes of {given} do not broadcast; "
            "make them equal, or 1 where a value is shared."
        ) from None


def describe(port: Port, array: Array, batch: tuple[int, ...], layout: str) -> tuple[Array, int, int]:
    """The array (copied if it must be), bytes from state to state, bytes from element to element."""
    k, item = len(port.shape), array.itemsize
    if layout == "columns":
        return _describe_columns(array, k, batch)
    lead = array.shape[: array.ndim - k]
    if all(n == 1 for n in lead):
        array = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        return array, 0, item
    if lead == batch:
        if array.flags.c_contiguous:
            return array, port.size * item, item
        if len(lead) == 1 and array[0].flags.c_contiguous:
            return array, array.strides[0], item
    array = np.ascontiguousarray(np.broadcast_to(array, batch + port.shape))
    return array, port.size * item, item


def _describe_columns(array: Array, k: int, batch: tuple[int, ...]) -> tuple[Array, int, int]:
    """As `describe`, for (k, N) arrays; a missing or single last axis is shared by all states."""
    item = array.itemsize
    if not array.flags.c_contiguous:
        rows_apart = k == 1 and array.ndim == 2 and array.strides[1] == item and array.shape[1] > 1
        if not rows_apart:
            array = np.ascontiguousarray(array)
    if array.ndim == k or array.shape[-1] == 1:
        return array, 0, item
    pitch = array.strides[0] if k == 1 else batch[-1] * item
    return array, item, pitch


def check_outs(kernel: Kernel, out: Any, batch: tuple[int, ...]) -> list[Array]:
    """What the caller gave as `out`, one plain array for each output, apart from each other."""
    given = zip(kernel.graph.outputs, kernel.given_outputs(out), kernel.shapes(batch), strict=True)
    outs = [_check_out(kernel.name, port, o, shape, kernel.dtype) for port, o, shape in given]
    for i, a in enumerate(outs):
        if any(np.may_share_memory(a, b) for b in outs[:i]):
            raise StateFault(f"{kernel.name}: two of the arrays in out overlap; give separate ones.")
    return outs


def _check_out(where: str, port: Port, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A result array given by the caller, as NumPy knows it: what a subclass says of its shape is not believed."""
    if not isinstance(out, np.ndarray):
        raise StateFault(
            f"{where}: out for {port.name} is {type(out).__name__}; give a NumPy array of shape {shape}."
        )
    if type(out) is not np.ndarray and hasattr(out, "mask"):
        raise StateFault(
            f"{where}: out for {port.name} is {type(out).__name__}, whose mask would hide results; give out.data."
        )
    out = np.asarray(out)
    if out.shape != shape or out.dtype != dtype:
        raise StateFault(
            f"{where}: out for {port.name} is {out.dtype} of shape {out.shape}; give {dtype} of shape {shape}."
        )
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise StateFault(
            f"{where}: out for {port.name} must be writable, contiguous in C order and aligned; "
            f"give np.empty({shape}, '{dtype}')."
        )
    return out


def address(array: Array) -> int:
    """Where the first element lies."""
    if builtin_functions.usable():  # the fields of arrays are known: five times faster than asking
        return ctypes.c_void_p.from_address(id(array) + builtin_functions.DATA).value or 0
    found: int = array.__array_interface__["data"][0]
    return found


def table_numbers(
    graph: Graph, taken: list[Array], outs: list[Array], batch: tuple[int, ...], layout: str
) -> tuple[Any, list[Array]]:
    """The table that machine code reads (three numbers for each array), and the arrays that must live meanwhile."""
    rows = table(graph, taken, outs, batch, layout)
    numbers = [n for a, stride, pitch in rows for n in (address(a), stride, pitch)]
    return (ctypes.c_int64 * len(numbers))(*numbers), [a for a, _, _ in rows]


def probe_arrays(
    inputs: Sequence[Port], outputs: Sequence[Port], dtype: np.dtype[Any]
) -> tuple[list[Array], list[Array]]:
    """The state that programs are tried on, small numbers that are all different, and outputs full of NaN."""
    taken = [
        ((np.arange(p.size) + 1.0) / (7.0 + i)).astype(dtype).reshape(p.shape) for i, p in enumerate(inputs)
    ]
    return taken, [np.full(p.shape, np.nan, dtype) for p in outputs]


def table(
    graph: Graph, taken: list[Array], outs: list[Array], batch: tuple[int, ...], layout: str
) -> list[tuple[Array, int, int]]:
    """Every input and output as the machine code is told of it; inputs that results would overwrite are copied."""
    sinks = [describe(p, o, batch, layout) for p, o in zip(graph.outputs, outs, strict=True)]
    sources = []
    for port, array in zip(graph.inputs, taken, strict=True):
        row = describe(port, array, batch, layout)
        if not _apart(row, sinks, layout):
            row = describe(port, array.copy(), batch, layout)
        sources.append(row)
    return sources + sinks


def _apart(source: tuple[Array, int, int], sinks: list[tuple[Array, int, int]], layout: str) -> bool:
    """Whether results may be written while this input is read: no common memory, or row on the same row.

    (Columns are read where they are needed, perhaps after others were written.)
    """
    array, stride, _ = source
    for out, step, _ in sinks:
        in_place = layout == "rows" and stride == step and array.size == out.size
        same = in_place and address(array) == address(out)
        if not same and np.may_share_memory(array, out):
            return False
    return True


def check_finite(kernel: Taker, port: Port, array: Array) -> None:
    """Refuse NaN and infinities in a single state, naming the element."""
    if of_joints(kernel, port):
        finite_state(kernel.subject.arm, port.name, array)
    elif not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array))
        raise StateFault(
            f"{kernel.name}: {port.element(int(bad[0]))} is {array.ravel()[bad[0]]}; give finite numbers. "
            "(In a batch a NaN would stay in its own row.)"
        )


def check_threads(where: str, threads: Any) -> int:
    """A positive whole number, of whatever type of integers."""
    with suppressed(Exception):  # also what an object's own __index__ raises
        if not isinstance(threads, bool) and (count := operator.index(threads)) >= 1:
            return count
    raise StateFault(f"{where}: threads is {shown(threads)}; give a whole number of threads, 1 or more.")
