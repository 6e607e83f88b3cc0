"""The physically consistent fit: the best parameters among those that bodies and drives can have.

    minimise  ½ ‖W (X theta - tau)‖² + Σ_links d(J, J₀) / s² + ½ Σ_drives ((u - u₀) / (s size))²
    with      every pseudo-inertia J positive definite, friction and rotors not negative

J is the 4x4 pseudo-inertia of a link (Wensing, Kim, Slotine, IEEE RA-L 3 (2018) 60-67): positive definite says mass
> 0, moments > 0 and the triangle inequality at once (Sousa, Cortesão, Int. J. Robotics Research 33 (2014) 931-944).
d(J, J₀) = tr(J₀⁻¹ J) - log det(J₀⁻¹ J) - 4 is the entropic distance from the arm that was given (Lee, Wensing, Park,
IEEE Trans. Robotics 36 (2020) 348-365): it does not depend on frames or units and grows without bound where J becomes
singular. W is one over the noise, so the first term is a likelihood; near J₀ the second is ½ of the relative change
squared over s²: s is how well the given inertias are believed, 1 for within about their own size. What the data tell
outweighs that by far; what they do not tell stays where it was.

Only the triangular factor of the rows enters, so the problem is as small as the arm. With J = L₀ K L₀ᵀ, J₀ = L₀ L₀ᵀ all
unknowns are near 1. log det K is the sum of logarithms of the diagonal of a triangular Z with
[[K, Z], [Zᵀ, diag Z]] ≥ 0.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, second_moment
from forearm.arm import Arm
from forearm.faults import KernelFault, StateFault
from forearm.identification.drive_columns import NEVER_NEGATIVE, DriveColumns
from forearm.identification.torque_rows import TorqueEquations
from forearm.inertia import Ten, numbers_of, ten_from
from forearm.outside.libraries.optional_libraries import optional
from forearm.outside.libraries.scipy_parts import scipy_part

LEAST_RADIUS = 0.01
"""A given link that is thinner is believed to be so thick, as its root of second moment over mass [m]."""
LEAST_THICKNESS = 0.05
"""The same as a share of how far the largest link's mass is from its frame, where that is less: arms may be small."""
LEAST_SHARE = 0.01
"""A given link that is lighter is believed to have this share of the mean mass."""
PAIRS = tuple((i, j) for j in range(4) for i in range(j + 1))
"""Upper triangle of a 4x4 matrix, column by column: the ten unknowns of a link."""


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """The optimum, and how it was found."""

    theta: Vector
    """All parameters: ten for each link, then the drives."""
    std: Vector
    """Standard deviation of each, from data and prior together."""
    prior_std: Vector
    """Standard deviation of each, from the prior alone."""
    iterations: int
    """Steps of the solver."""
    corrected: tuple[int, ...]
    """Links, from 1, whose given inertia was none of a body, and was made one to be believed in."""


def pseudo_inertia(ten: Ten) -> Matrix:
    """The 4x4 matrix ∫ (x, 1)(x, 1)ᵀ dm of ten parameters."""
    mass, h, inertia = ten
    h = np.asarray(h, dtype=float)
    second = np.asarray(second_moment(np.asarray(inertia)), dtype=float)
    return np.block([[second, h[:, None]], [h[None, :], np.array([[float(mass)]])]])


def ten_of_pseudo(J: Matrix) -> Vector:
    """Ten parameters in the order of `TEN` of a pseudo-inertia."""
    second = J[:3, :3]
    tensor = np.trace(second) * np.eye(3) - second
    return np.array(numbers_of(Ten(J[3, 3], J[:3, 3], tensor)), dtype=float)


def believed(tens: Matrix) -> tuple[list[Matrix], tuple[int, ...]]:
    """Positive definite pseudo-inertias near ten parameters of each link (n, 10), and which had to be changed."""
    mean = float(np.mean(np.maximum(tens[:, 0], 0.0))) or 1.0
    least = min(LEAST_RADIUS, LEAST_THICKNESS * _largest_radius(tens)) or LEAST_RADIUS
    found, changed = [], []
    for number, row in enumerate(tens, 1):
        mass = max(float(row[0]), LEAST_SHARE * mean)
        center = row[1:4] / row[0] if row[0] > 0 else np.zeros(3)
        second = pseudo_inertia(ten_from(row))[:3, :3] - max(row[0], 0.0) * np.outer(center, center)
        values, axes = np.linalg.eigh(second)
        raised = np.maximum(values, mass * least**2)
        if row[0] != mass or np.any(values < 0):
            changed.append(number)
        about = (axes * raised) @ axes.T + mass * np.outer(center, center)
        h = mass * center
        found.append(np.block([[about, h[:, None]], [h[None, :], np.array([[mass]])]]))
    return found, tuple(changed)


def _largest_radius(tens: Matrix) -> float:
    """Root mean square of how far a link's mass is from its frame's origin, of the one where it is farthest [m]."""
    squares = [np.trace(pseudo_inertia(ten_from(row))[:3, :3]) / row[0] for row in tens if row[0] > 0]
    return float(np.sqrt(max([0.0, *squares])))


def consistent_fit(
    arm: Arm,
    equations: TorqueEquations,
    weights: Vector,
    drives: DriveColumns,
    prior: Vector,
    strength: float,
    known: tuple[Matrix, Vector] | None = None,
) -> ConsistentFit:
    """Solve the problem above; `prior` are all parameters that are believed in, `strength` is s.

    `known` are R and z with ½ ‖R theta - z‖² for what the data say, where that is more than these rows.
    """
    n = arm.n
    if known is None:
        X, tau = equations.rows(weights)
        factor: Matrix = np.asarray(np.linalg.qr(np.column_stack([X, tau]), mode="r"))
        width = factor.shape[1] - 1
        known = factor[:width, :width], factor[:width, width]
    sizes = _drive_sizes(drives, prior[10 * n :], equations)
    return _nearest(*known, n, drives, prior, sizes, strength)


def consistent_body(R: Matrix, z: Vector, prior: Vector) -> Vector:
    """Ten parameters of one body, the best for ½ ‖R theta - z‖², near those that are believed in (10,)."""
    none = DriveColumns((), np.zeros(0), np.zeros((0, 0)), ())
    return _nearest(R, z, 1, none, prior, np.zeros(0), 1.0).theta


def _nearest(
    R: Matrix, z: Vector, n: int, drives: DriveColumns, prior: Vector, sizes: Vector, strength: float
) -> ConsistentFit:
    given, corrected = believed(prior[: 10 * n].reshape(n, 10))
    roots = [np.linalg.cholesky(J) for J in given]
    T = np.zeros((len(prior), len(prior)))
    for i, L in enumerate(roots):
        T[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = _ten_of_unknowns(L)
    T[10 * n :, 10 * n :] = np.diag(sizes)
    x, iterations = _solve(R @ T, z, n, drives, prior[10 * n :] / sizes, sizes, strength)
    std, before = _deviations(R @ T, T, x, n, strength)
    return ConsistentFit(T @ x, std, before, iterations, corrected)


def _ten_of_unknowns(L: Matrix) -> Matrix:
    """The ten parameters of J = L K Lᵀ, as a matrix on the upper triangle of K."""
    columns = []
    for i, j in PAIRS:
        K = np.zeros((4, 4))
        K[i, j] = K[j, i] = 1.0
        columns.append(ten_of_pseudo(L @ K @ L.T))
    return np.array(columns).T


def _drive_sizes(drives: DriveColumns, values: Vector, equations: TorqueEquations) -> Vector:
    """How large each number of a drive may be: as given, or what makes a fifth of the joint's torque."""
    columns = equations.X[:, :, -len(values) :] if len(values) else equations.X[:, :, :0]
    usual = np.sqrt(np.mean(columns**2, axis=0))
    scale = np.maximum(equations.scale, 1e-6 * np.max(equations.scale))
    share = 0.2 * scale[:, None] / np.maximum(usual, 1e-12)
    return np.maximum(np.abs(values), np.min(np.where(usual > 1e-9, share, np.inf), axis=0, initial=1e6))


GOOD = ("Solved", "AlmostSolved")
"""How the solver ends where it has found the best."""
STEPS = (0.99, 0.9, 0.7)
"""Shares of the way to the edge of the cones that it goes: on some processors rounding stops the longest ones early."""


def _solve(
    A: Matrix, z: Vector, n: int, drives: DriveColumns, u0: Vector, sizes: Vector, strength: float
) -> tuple[Vector, int]:
    """Unknowns: x (10 n + drives), then Z (10 n), t (4 n), e (rows of A) with e = A x - z."""
    clarabel = _solver()
    sparse = scipy_part("sparse")
    p, m, u = A.shape[1], A.shape[0], len(u0)
    total = p + 10 * n + 4 * n + m
    weight = 1.0 / strength**2
    square = np.concatenate([np.zeros(10 * n), np.full(u, weight), np.zeros(14 * n), np.ones(m)])
    linear = np.zeros(total)
    trace = [k for k, (i, j) in enumerate(PAIRS) if i == j]
    for i in range(n):
        linear[[10 * i + k for k in trace]] = weight
    linear[10 * n : p] = -weight * u0
    linear[p + 10 * n : p + 14 * n] = -weight
    equal = sparse.hstack([sparse.csc_array(A), sparse.csc_array((m, 14 * n)), -sparse.eye_array(m)])
    lower, bounds = _drive_bounds(drives, n, sizes, total)
    big = _determinant_blocks(n, p, total)
    logs = _logarithm_rows(n, p, total)
    matrix = sparse.csc_array(sparse.vstack([equal, lower, big, logs]))
    right = np.concatenate([z, bounds, np.zeros(big.shape[0]), np.tile([0.0, 1.0, 0.0], 4 * n)])
    cones = [clarabel.ZeroConeT(m)]
    cones += [clarabel.NonnegativeConeT(len(bounds))] if len(bounds) else []
    cones += [clarabel.PSDTriangleConeT(8)] * n + [clarabel.ExponentialConeT()] * (4 * n)
    for fraction in STEPS:
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_step_fraction = False, fraction
        found = clarabel.DefaultSolver(
            sparse.csc_array(sparse.diags_array(square)), linear, matrix, right, cones, settings
        ).solve()
        if str(found.status) in GOOD:
            break
    if str(found.status) not in GOOD:
        raise KernelFault(
            f"identify: the solver ends with {found.status} after {found.iterations} steps; look at the log's units, "
            "or believe in the given arm more: prior=0.3."
        )
    return np.array(found.x[:p]), int(found.iterations)


def _drive_bounds(drives: DriveColumns, n: int, sizes: Vector, total: int) -> tuple[Any, Vector]:
    """-u ≤ 0 for friction and rotors, |FD| ≤ FC; unknowns are scaled with sizes above zero."""
    sparse = scipy_part("sparse")
    kinds = drives.kind_of
    rows = [[(10 * n + k, -1.0)] for k, kind in enumerate(kinds) if kind in NEVER_NEGATIVE]
    if "FD" in kinds:
        mean, apart = kinds.index("FC"), kinds.index("FD")
        for i in range(drives.n):
            a, b = mean + i, apart + i
            rows += [
                [(10 * n + a, -float(sizes[a])), (10 * n + b, sign * float(sizes[b]))] for sign in (1.0, -1.0)
            ]
    entries = [(value, row, column) for row, parts in enumerate(rows) for column, value in parts]
    data, places, columns = zip(*entries, strict=True) if entries else ((), (), ())
    found = sparse.coo_array((data, (places, columns)), shape=(len(rows), total))
    return found, np.zeros(len(rows))


def _triangle(i: int, j: int) -> int:
    """Place of an entry (i ≤ j) of a symmetric matrix in its upper triangle, column by column."""
    return j * (j + 1) // 2 + i


def _determinant_blocks(n: int, p: int, total: int) -> Any:
    """-[[K, Z], [Zᵀ, diag Z]] of each link, as the solver wants triangles: off-diagonals times √2."""
    sparse = scipy_part("sparse")
    rows, columns, data = [], [], []
    for link in range(n):
        for k, (i, j) in enumerate(PAIRS):
            entries = [(_triangle(i, j), 10 * link + k, i == j)]
            # Z is lower triangular: entry (j, i) of it stands at (j, 4 + i); its diagonal again at (4 + i, 4 + i)
            entries.append((_triangle(j, 4 + i), p + 10 * link + k, False))
            if i == j:
                entries.append((_triangle(4 + i, 4 + i), p + 10 * link + k, True))
            for row, column, diagonal in entries:
                rows.append(36 * link + row)
                columns.append(column)
                data.append(-1.0 if diagonal else -np.sqrt(2.0))
    return sparse.coo_array((data, (rows, columns)), shape=(36 * n, total))


def _logarithm_rows(n: int, p: int, total: int) -> Any:
    """(t, 1, Z_ii) in the exponential cone: t ≤ log Z_ii."""
    sparse = scipy_part("sparse")
    trace = [k for k, (i, j) in enumerate(PAIRS) if i == j]
    rows, columns = [], []
    for link in range(n):
        for place, k in enumerate(trace):
            row = 3 * (4 * link + place)
            rows += [row, row + 2]
            columns += [p + 10 * n + 4 * link + place, p + 10 * link + k]
    return sparse.coo_array((-np.ones(len(rows)), (rows, columns)), shape=(12 * n, total))


def _deviations(A: Matrix, T: Matrix, x: Vector, n: int, strength: float) -> tuple[Vector, Vector]:
    """Standard deviations of T x from data and prior, and from the prior alone: curvatures at the optimum."""
    weight = 1.0 / strength**2
    here = np.diag(np.concatenate([np.zeros(10 * n), np.full(len(x) - 10 * n, weight)]))
    start = here.copy()
    for link in range(n):
        span = slice(10 * link, 10 * link + 10)
        K = np.zeros((4, 4))
        for value, (i, j) in zip(x[span], PAIRS, strict=True):
            K[i, j] = K[j, i] = value
        here[span, span] = weight * _curvature(np.linalg.inv(K))
        start[span, span] = weight * _curvature(np.eye(4))
    after = np.linalg.solve(A.T @ A + here, T.T)
    before = np.linalg.solve(start, T.T)
    return np.sqrt(np.maximum(np.sum(T.T * after, axis=0), 0)), np.sqrt(np.sum(T.T * before, axis=0))


def _curvature(inverse: Matrix) -> Matrix:
    """Second derivatives of -log det K by the entries of its upper triangle."""
    basis = []
    for i, j in PAIRS:
        E = np.zeros((4, 4))
        E[i, j] = E[j, i] = 1.0
        basis.append(inverse @ E)
    return np.array([[np.trace(a @ b) for b in basis] for a in basis])


def _solver() -> Any:
    try:
        return optional("clarabel")
    except ImportError:
        raise StateFault(
            "identify: the consistent fit needs Clarabel, which is not installed; pip install 'forearm[identify]'."
        ) from None


# -- the result's consistency: the solver's word is not taken for it ---------------------------------------


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
