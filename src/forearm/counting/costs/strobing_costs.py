"""What strobing and simulating cost: sections 6 and 7 of Turney, Mudge and Lee (1980), with k1, d1, k2, d2 counted.

The report gives forms: k1 n(n+1)/2 + d1 n(n+1)/2 for M, and k2 n(n+1)(2n+1)/6 + d2 n(n+1)/2 for the C^i, where k is the
kinematic and d the dynamic work of one link. Here every response is run on counted scalars with its zeros structural
(qd = 0, qdd = e_j, no gravity): links before joint j do nothing, and only the torques that are asked for are charged.
For C the number of dynamic visits is n^2(n+1)/2: all n torques of each of the n(n+1)/2 responses are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from forearm.counting.as_counted import simulation_steps
from forearm.counting.costs.polynomials import Polynomial, lowest_fit
from forearm.counting.meter.conventions import TURNEY_DIAGONAL
from forearm.counting.meter.counted_arm import generic_arm, run_counted, state_of
from forearm.counting.meter.counted_scalar import Meter, Operation, values
from forearm.counting.meter.tallies import Tally, count, needed, tally
from forearm.faults import StateFault

DEFAULT = "turney_mudge_lee_1980_modified"
STROBED = TURNEY_DIAGONAL.but(
    "strobed",
    "as Turney, Mudge, Lee, diagonal inertia; zeros and ones of the strobed inputs are free, without gravity, and "
    "only what the torques asked for need is charged.",
    free_at_base=frozenset({"matrix", "scaling", "sum", "other"}),
    gravity="none",
)


ZERO = Polynomial(())


@dataclass(frozen=True)
class Cost:
    """One part of strobing or simulating, as polynomials in n."""

    part: str
    """What is done."""
    multiplications: Polynomial
    """Multiplications."""
    additions: Polynomial
    """Additions and subtractions."""
    divisions: Polynomial = ZERO
    """Divisions."""

    def __add__(self, other: Cost) -> Cost:
        """Both, under the first one's name."""
        return Cost(
            self.part,
            self.multiplications + other.multiplications,
            self.additions + other.additions,
            self.divisions + other.divisions,
        )

    def row(self) -> dict[str, str]:
        """As a plain row."""
        return {
            "part": self.part,
            "multiplications": str(self.multiplications),
            "additions": str(self.additions),
            "divisions": str(self.divisions),
        }


def _response(stem: str, n: int, qd: Any, qdd: Any, asked: Iterable[int]) -> tuple[Tally, Tally]:
    """Kinematic (outward) and dynamic (the rest) work for some torques of one response."""
    arm = generic_arm(n, "R", "diagonal", "none")
    meter, result = run_counted(stem, arm, STROBED, arguments=(state_of(arm)[0], qd, qdd))
    wanted = np.array([result[i] for i in asked], dtype=object)
    charged = [o for o in (meter.operations[i] for i in needed(meter.operations, wanted)) if o.tag]
    outward = [o for o in charged if o.direction == "outward"]
    return tally(outward), tally(o for o in charged if o.direction != "outward")


def fitted(part: str, points: Callable[[int], Tally], last: int = 7) -> Cost:
    """A cost from counts at n = 1 … last, proved on more points than it has coefficients."""
    taken = {n: points(n) for n in range(1, last + 1)}
    fits = [lowest_fit({n: getattr(t, kind) for n, t in taken.items()}) for kind in _KINDS]
    if None in fits:
        fits = [lowest_fit({n: getattr(t, kind) for n, t in taken.items() if n > 1}) for kind in _KINDS]
    if None in fits:
        raise StateFault(f"strobing: the cost of {part} is no polynomial in n up to {last}.")
    return Cost(part, *fits)  # type: ignore[arg-type]


_KINDS = ("multiplications", "additions", "divisions")


@lru_cache(256)
def mass_matrix_responses(stem: str, n: int) -> tuple[Tally, Tally]:
    """Kinematic and dynamic work for M by n unit accelerations; symmetry: joint j asks for torques j … n."""
    kinematic, dynamic = Tally(), Tally()
    for j in range(n):
        k, d = _response(stem, n, np.zeros(n), np.eye(n)[j], range(j, n))
        kinematic, dynamic = kinematic + k, dynamic + d
    return kinematic, dynamic


def strobed_value(stem: str, n: int) -> Any:
    """M (n, n) of the generic arm as the counted responses give it, all torques of each."""
    arm = generic_arm(n, "R", "diagonal", "none")
    q, rest = state_of(arm)[0], np.zeros(n)
    columns = [run_counted(stem, arm, STROBED, arguments=(q, rest, np.eye(n)[j]))[1] for j in range(n)]
    return values(np.array(columns)).T


@lru_cache(256)
def coriolis_responses(stem: str, n: int) -> tuple[Tally, Tally]:
    """Kinematic and dynamic work for all C^i by n(n+1)/2 responses to unit velocities."""
    kinematic, dynamic = Tally(), Tally()
    for j in range(n):
        for k in range(j, n):
            rates = np.eye(n)[j] if j == k else np.eye(n)[j] + np.eye(n)[k]
            first, second = _response(stem, n, rates, np.zeros(n), range(n))
            kinematic, dynamic = kinematic + first, dynamic + second
    return kinematic, dynamic


def strobing_costs(stem: str = DEFAULT) -> list[Cost]:
    """The cost of M and of the C^i by strobing, kinematic and dynamic part apart, and their sums."""
    mass = [
        fitted(f"M, {name}", lambda n, which=which: mass_matrix_responses(stem, n)[which])  # type: ignore[misc]
        for which, name in enumerate(("kinematic", "dynamic"))
    ]
    coriolis = [
        fitted(f"C, {name}", lambda n, which=which: coriolis_responses(stem, n)[which])  # type: ignore[misc]
        for which, name in enumerate(("kinematic", "dynamic"))
    ]
    # C^i_jk = (response(j, k) - response(j) - response(k)) / 2 for j < k and all i
    pairs = Polynomial((Fraction(0), Fraction(0), Fraction(-1, 2), Fraction(1, 2)))
    taken_off = Cost("C, single responses taken off, halved", pairs, pairs + pairs)
    return [
        *mass,
        _named("M by strobing", mass[0] + mass[1]),
        *coriolis,
        taken_off,
        _named("C by strobing", coriolis[0] + coriolis[1] + taken_off),
    ]


def visits(cost: Cost, of: Polynomial) -> tuple[Fraction, Fraction]:
    """Leading work for each visit: k or d (multiplications, additions), for the number of visits `of`."""
    lead = of.coefficients[-1]
    return (
        cost.multiplications.coefficient(of.degree) / lead,
        cost.additions.coefficient(of.degree) / lead,
    )


TRIANGLE = Polynomial((Fraction(0), Fraction(1, 2), Fraction(1, 2)))
"""n(n+1)/2: visits of links for M, kinematic and dynamic."""
PYRAMID = Polynomial((Fraction(0), Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)))
"""n(n+1)(2n+1)/6: kinematic visits for the C^i."""
PRISM = Polynomial((Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1, 2)))
"""n²(n+1)/2: dynamic visits for the C^i (the report has n(n+1)/2)."""


def coefficients(stem: str = DEFAULT) -> list[dict[str, str]]:
    """k1, d1, k2, d2 of the report as plain rows: work for each visit of a link, in the limit of long chains."""
    costs = {cost.part: cost for cost in strobing_costs(stem)}
    rows = (
        ("k1", "M, kinematic", TRIANGLE),
        ("d1", "M, dynamic", TRIANGLE),
        ("k2", "C, kinematic", PYRAMID),
        ("d2", "C, dynamic", PRISM),
    )
    found = []
    for name, part, of in rows:
        multiplications, additions = visits(costs[part], of)
        found.append(
            {
                "coefficient": name,
                "visits": str(of),
                "multiplications": str(Polynomial((multiplications,))),
                "additions": str(Polynomial((additions,))),
            }
        )
    return found


# -- section 7 -------------------------------------------------------------------------------------------


def _counted(run: Callable[[Meter], Any]) -> Tally:
    meter = Meter(STROBED)
    run(meter)
    charged: list[Operation] = [o for o in meter.operations if o.tag]
    return tally(charged)


def _bias(stem: str, n: int) -> Tally:
    q, qd, _ = state_of(generic_arm(n))
    return count(stem, n, convention=TURNEY_DIAGONAL, arguments=(q, qd, np.zeros(n))).total


def _elimination(n: int) -> Tally:
    base = np.array([[1.0 / (1 + i + j) for j in range(n)] for i in range(n)]) + n * np.eye(n)
    return _counted(lambda m: simulation_steps.solution(m.array(base), m.array(np.arange(1.0, n + 1))))


def _integration(n: int) -> Tally:
    y, slopes = np.arange(1.0, 2 * n + 1), np.arange(8.0 * n).reshape(4, 2 * n) + 0.5
    return _counted(lambda m: simulation_steps.next_state(m.array(y), m.array(slopes), m.number(0.01)))


def simulation_costs(stem: str = DEFAULT) -> list[Cost]:
    """The cost of one acceleration and of one step of the four point integration, as section 7 does it."""
    bias = fitted("bias C + G, one inverse dynamics without accelerations", lambda n: _bias(stem, n))
    mass = next(cost for cost in strobing_costs(stem) if cost.part == "M by strobing")
    subtract = Cost("tau - bias", Polynomial(()), Polynomial((Fraction(0), Fraction(1))))
    eliminate = fitted("elimination and back substitution", _elimination)
    once = _named("one acceleration", bias + mass + subtract + eliminate)
    integrate = fitted("four point integration, without the accelerations", _integration)
    four = once + once + once + once + integrate
    return [bias, mass, subtract, eliminate, once, integrate, _named("one step", four)]


def _named(part: str, cost: Cost) -> Cost:
    return Cost(part, cost.multiplications, cost.additions, cost.divisions)
