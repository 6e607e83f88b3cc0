"""What the numbers of one body look like: its size, its density, what would make an impossible one possible."""

import itertools
from collections.abc import Iterator

import numpy as np

from forearm.algebra import Matrix, Vector, parallel_axis
from forearm.faults import gyration

SLACK = 1e-9


def possible(tensor: Matrix) -> bool:
    """Whether some body has this tensor about its centre of mass."""
    low, middle, high = np.linalg.eigvalsh((tensor + tensor.T) / 2)
    slack = SLACK * max(abs(low), abs(high))
    return bool(low >= -slack and low + middle >= high - slack)


def corrections(mass: float, com: Vector, tensor: Matrix, size: float) -> Iterator[str]:
    """Slips that would explain an impossible tensor: each one tried, those that give a possible body named."""
    names = ("Ixx", "Iyy", "Izz")
    for i, power in itertools.product(range(3), (-3, -2, -1, 1, 2, 3, -6, 6)):
        other = tensor.copy()
        other[i, i] = tensor[i, i] * 10.0**power
        if possible(other) and _fits(mass, other, size):
            yield f"a decimal point: {names[i]} = {other[i, i]:g} instead of {tensor[i, i]:g} would be possible"
            break
    for order, other in _reordered(tensor):
        if possible(other) and _fits(mass, other, size):
            yield f"the order of the six numbers: read as {order} they would be possible"
            break
    shifted = tensor + parallel_axis(mass, com)
    if possible(shifted) and not possible(tensor):
        yield "the parallel axis taken off twice: about the origin as it stands it would be possible"


def _reordered(tensor: Matrix) -> Iterator[tuple[str, Matrix]]:
    """The six numbers xx xy xz yy yz zz, taken for another order."""
    six = [tensor[0, 0], tensor[0, 1], tensor[0, 2], tensor[1, 1], tensor[1, 2], tensor[2, 2]]
    orders = {
        "xx yy zz xy xz yz": (0, 3, 4, 1, 5, 2),
        "xx yy zz xy yz xz": (0, 3, 5, 1, 4, 2),
        "xx xy yy xz yz zz": (0, 1, 3, 2, 4, 5),
    }
    for name, (xx, xy, xz, yy, yz, zz) in orders.items():
        v = [six[k] for k in (xx, xy, xz, yy, yz, zz)]
        yield name, np.array([[v[0], v[1], v[2]], [v[1], v[3], v[4]], [v[2], v[4], v[5]]])


def _fits(mass: float, tensor: Matrix, size: float) -> bool:
    return mass <= 0 or size <= 0 or gyration(mass, tensor) < 2 * size
