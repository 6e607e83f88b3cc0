"""Whether bodies are bodies, in exact arithmetic: the solver's word is not taken for it."""

from fractions import Fraction

import numpy as np

from forearm.arm import Arm
from forearm.faults import KernelFault
from forearm.inertia import Ten


def exact_minors(ten: Ten) -> list[Fraction]:
    """Leading minors' pivots of a pseudo-inertia, exact: all positive says positive definite (Sylvester)."""
    mass, h, inertia = ten
    tensor = [[Fraction(float(x)) for x in row] for row in np.asarray(inertia)]
    half = (tensor[0][0] + tensor[1][1] + tensor[2][2]) / 2
    J = [
        [(half if i == j else Fraction(0)) - tensor[i][j] for j in range(3)] + [Fraction(float(h[i]))]
        for i in range(3)
    ]
    J.append([*(Fraction(float(x)) for x in h), Fraction(float(mass))])
    pivots: list[Fraction] = []
    for k in range(4):
        pivots.append(J[k][k])
        if J[k][k] == 0:
            return [*pivots, *[Fraction(0)] * (3 - k)]
        for i in range(k + 1, 4):
            factor = J[i][k] / J[k][k]
            J[i] = [a - factor * b for a, b in zip(J[i], J[k], strict=True)]
    return pivots


def exactly_consistent(arm: Arm) -> list[float]:
    """The smallest eigenvalue of each link's pseudo-inertia; what is not positive definite exactly is refused."""
    found = []
    for link in arm.links:
        if min(exact_minors(link.ten)) <= 0:
            raise KernelFault(
                f"identify: link {link.name!r} came out as no body, by rounding; believe in the given arm more: "
                "prior=0.3."
            )
        found.append(float(np.linalg.eigvalsh(np.asarray(link.pseudo_inertia, dtype=float))[0]))
    return found
