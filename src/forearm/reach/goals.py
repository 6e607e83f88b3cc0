"""What is to be reached: poses, positions or directions as a caller gives them, checked, as rows of twelve numbers."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, product, where
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.kernel import KernelSubject
from forearm.faults import StateFault, a_or_an, all_of, did_you_mean, not_labelled, not_masked
from forearm.frames import Pose
from forearm.reach.iteration import GOAL, ROWS

WHERE = "inverse_kinematics"
SKEWED = 1e-6
"""A rotation may be this far from orthonormal: as far as six digits take it."""
SHAPES = {
    "pose": ((4, 4),),
    "position": ((4, 4), (3,)),
    "orientation": ((4, 4), (3, 3)),
    "pointing": ((4, 4), (3,)),
    "position and pointing": ((4, 4),),
}
"""What a goal may look like, for each thing that can be asked."""
TEXTS = {
    (4, 4): "4x4 poses (..., 4, 4), as fa.pose gives them",
    (3, 3): "3x3 rotations (..., 3, 3)",
    (3,): "three numbers (..., 3)",
}


@dataclass(frozen=True)
class Goals:
    """Goals as the search takes them."""

    numbers: Vector
    """(N, 12): rotation, row by row, and position; what is not asked for is the unit matrix, or zero."""
    batch: tuple[int, ...]
    """Leading axes as they were given."""
    asked: str
    """A key of `iteration.ROWS`."""

    @property
    def finite(self) -> Vector:
        """Which rows are numbers (N,)."""
        return np.asarray(np.isfinite(self.numbers).all(axis=-1))


def goals_of(pose: Any, only: str | None) -> Goals:
    """Check what was given; a single goal that is not finite is a fault, in a batch it stays in its own row."""
    asked = _asked(only)
    array = _numbers(pose)
    shape = next((s for s in SHAPES[asked] if array.shape[-len(s) :] == s), None)
    if shape is None and only is None and array.shape[-1:] == (3,):
        asked, shape = "position", (3,)
    if shape is None:
        wanted = " or ".join(TEXTS[s] for s in SHAPES[asked])
        also = ", or positions (..., 3)" if only is None else ""
        raise StateFault(f"{WHERE}: pose has shape {array.shape}; give {wanted}{also}.")
    batch = array.shape[: array.ndim - len(shape)]
    if not batch and not np.isfinite(array).all():
        raise StateFault(
            f"{WHERE}: pose holds {_first_bad(array)}; give finite numbers. (In a batch it stays in its row.)"
        )
    rows = array.reshape(-1, *shape)
    if shape == (3,):
        numbers = _of_triples(rows, asked, batch)
    else:
        numbers = _of_matrices(rows, asked, batch)
    return Goals(numbers, batch, asked)


def _asked(only: Any) -> str:
    if only is None:
        return "pose"
    if not isinstance(only, str) or only not in ROWS or only == "pose":
        known = [name for name in ROWS if name != "pose"]
        hint = did_you_mean(only, known) if isinstance(only, str) else ""
        raise StateFault(
            f"{WHERE}: only is {only!r}{hint}; give one of {', '.join(map(repr, known))}, or leave it out."
        )
    return only


def _numbers(pose: Any) -> Vector:
    value = pose.matrix if isinstance(pose, Pose) else all_of(pose)
    if isinstance(value, (list, tuple)) and any(isinstance(x, Pose) for x in value):
        value = [x.matrix if isinstance(x, Pose) else all_of(x) for x in value]
    not_masked(value, "pose")
    not_labelled(value, f"{WHERE}: pose", known="xyz")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise StateFault(f"{WHERE}: pose is no array of numbers ({error}); give {TEXTS[4, 4]}.") from None
    if array.dtype.kind not in "fiu":
        given = a_or_an(type(pose).__name__) if array.dtype.kind in "OUS" else f"of type {array.dtype}"
        raise StateFault(f"{WHERE}: pose is {given}; give real numbers: {TEXTS[4, 4]}, or a Pose.")
    return np.ascontiguousarray(array, dtype=np.float64)


def _first_bad(array: Vector) -> str:
    return str(array[~np.isfinite(array)][0])


def _named(index: int, batch: tuple[int, ...]) -> str:
    """pose, or pose[3], or pose[2, 3]."""
    if not batch:
        return "pose"
    return f"pose[{', '.join(str(int(i)) for i in np.unravel_index(index, batch))}]"


def _of_triples(rows: Vector, asked: str, batch: tuple[int, ...]) -> Vector:
    numbers = np.zeros((len(rows), GOAL))
    if asked == "position":
        numbers[:, [0, 4, 8]] = 1.0
        numbers[:, 9:] = rows
        return numbers
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    short = np.flatnonzero(length[:, 0] < 1e-12)
    if len(short):
        raise StateFault(
            f"{WHERE}: {_named(short[0], batch)} is a direction of length zero; give where z shall point."
        )
    numbers[:, 2:9:3] = rows / length  # the third column: only it is looked at
    return numbers


def _of_matrices(rows: Matrix, asked: str, batch: tuple[int, ...]) -> Vector:
    position = np.zeros((len(rows), 3))
    if rows.shape[-1] == 4:
        position = rows[:, :3, 3]
        ends = rows[:, 3]
        wrong = np.flatnonzero((np.abs(ends - (0.0, 0.0, 0.0, 1.0)) > SKEWED).any(axis=-1))
        if len(wrong):
            told = ", ".join(f"{x:g}" for x in ends[wrong[0]])
            raise StateFault(
                f"{WHERE}: {_named(wrong[0], batch)} has the last row ({told}); it must be (0, 0, 0, 1). Transposed?"
            )
    if asked == "position":
        return _of_triples(position, asked, batch)
    R, skewed, volume = _squaring()(np.ascontiguousarray(rows[:, :3, :3]))
    wrong = np.flatnonzero((skewed > SKEWED) | (volume < 0))
    if len(wrong):
        row = wrong[0]
        raise StateFault(
            f"{WHERE}: the 3x3 part of {_named(row, batch)} is not a rotation (R Rᵀ differs from the unit matrix by "
            f"{skewed[row]:.2g}, determinant {volume[row]:.3g}); give an orthonormal right-handed matrix."
        )
    return np.concatenate([R.reshape(-1, 9), position], axis=1)


@cache
def _squaring() -> Any:
    """The kernel that makes rotations of nearly orthonormal matrices, and says how near they were."""

    def squared(R: Matrix) -> dict[str, Any]:
        found, skewed = R, None
        for _ in range(2):  # R (3 - RᵀR)/2: the polar factor, by Newton's method
            gram = product(found.T, found)
            off = gram - np.eye(3)
            skewed = _largest(off.ravel()) if skewed is None else skewed
            found = product(found, np.eye(3) - 0.5 * off)
        a, b, c = R.T
        volume = sum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2]) for i in range(3))
        return {"R": found, "skewed": skewed, "volume": volume}

    graph = lower(trace(squared, {"R": (3, 3)}, name="rotations made orthonormal"), effort=0)
    return ProcessorKernel(graph, dtype="float64", layout="rows", name=graph.name, subject=KernelSubject())


def _largest(values: Any) -> Any:
    """The largest absolute value."""
    largest: Any = 0.0
    for x in values:
        size = where(x, x, -x)
        largest = where(size - largest, size, largest)
    return largest
