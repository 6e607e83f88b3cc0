"""What M costs by strobing depends on small choices of structure: each choice counted, joint j asked for torques j … n.

The least and the most natural choices differ by a few operations for each visit of a link, and two different sets of
choices cost the same; so a number for "strobed M" alone does not tell how it was counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from forearm.counting.costs.strobing_costs import DEFAULT, STROBED, Cost, fitted, mass_matrix_responses
from forearm.counting.meter.counted_arm import generic_arm, run_counted, state_of
from forearm.counting.meter.tallies import Tally, tally

MOMENT = "turney_mudge_lee_1980_table_4_moment"
TABLE_3, TABLE_3_LAST = "turney_mudge_lee_1980_table_3", "turney_mudge_lee_1980_table_3_last"


@dataclass(frozen=True)
class Structure:
    """One way to strobe M."""

    what: str
    """The choices in words."""
    stem: str
    """Formulation or variant that is strobed."""
    every_link: bool = False
    """Charge all that is written for links j … n, instead of what torques j … n need: f_j as well."""


STRUCTURES = (
    Structure("modified set, only what the torques need", DEFAULT),
    Structure("modified set, I α instead of Tr{A K σᵗ}", MOMENT),
    Structure("modified set, I α, and f_j of the accelerated joint formed", MOMENT, every_link=True),
    Structure("table 3 (I α, ā from a), only what the torques need", TABLE_3),
    Structure("table 3 without a_n, only what the torques need", TABLE_3_LAST),
)
"""The ways that are counted."""


def visited(stem: str, n: int) -> Tally:
    """All that is written for links j … n in the n unit accelerations, whether a torque needs it or not."""
    arm = generic_arm(n, "R", "diagonal", "none")
    q, rest = state_of(arm)[0], np.zeros(n)
    total = Tally()
    for j in range(n):
        meter, _ = run_counted(stem, arm, STROBED, arguments=(q, rest, np.eye(n)[j]))
        total = total + tally(o for o in meter.operations if o.tag and o.link > j)
    return total


@cache
def structure_costs() -> tuple[tuple[Structure, Cost], ...]:
    """Each way to strobe M with its cost, proved on more points than it has coefficients."""

    def cost(way: Structure) -> Cost:
        def points(n: int) -> Tally:
            if way.every_link:
                return visited(way.stem, n)
            kinematic, dynamic = mass_matrix_responses(way.stem, n)
            return kinematic + dynamic

        return fitted(way.what, points)

    return tuple((way, cost(way)) for way in STRUCTURES)


def structure_rows() -> list[dict[str, Any]]:
    """The same as plain rows."""
    return [
        {
            "M by strobing": way.what,
            "multiplications": str(cost.multiplications),
            "additions": str(cost.additions),
        }
        for way, cost in structure_costs()
    ]
