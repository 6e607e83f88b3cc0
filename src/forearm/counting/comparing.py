"""All formulations side by side: their polynomials, and from which n one costs more than another."""

from __future__ import annotations

from typing import Any

from forearm.counting.conventions import AS_SET_FORTH, Convention
from forearm.counting.polynomials import Polynomial, Polynomials, polynomial
from forearm.formulations import FORMULATIONS


def quantities_of(stem: str) -> tuple[str, ...]:
    """The quantities that are compared: joint torques where a formulation gives them, what it gives otherwise."""
    gives = FORMULATIONS[stem].gives
    return ("joint_torques",) if "joint_torques" in gives else gives[:1]


def torque_formulations() -> list[str]:
    """Formulations that give joint torques, the costliest at n = 6 first."""
    stems = [stem for stem, row in FORMULATIONS.items() if "joint_torques" in row.gives]
    return sorted(stems, key=lambda stem: -total_at(whole_cost(stem), 6))


def whole_cost(stem: str, quantity: str = "joint_torques") -> Polynomials:
    """All arithmetic of a formulation as set forth, what stands outside its equations included; A_i is given."""
    return polynomial(stem, convention=AS_SET_FORTH, quantity=quantity, bookkeeping=True)


def total_at(costs: Polynomials, n: int) -> int:
    """Multiplications and additions together at n."""
    return int(costs.multiplications(n) + costs.additions(n))


def formulation_rows(convention: Convention = AS_SET_FORTH) -> list[dict[str, Any]]:
    """Plain rows: every formulation, its measured polynomials, and their values at n = 6."""
    rows = []
    for stem, row in FORMULATIONS.items():
        for quantity in quantities_of(stem):
            found = polynomial(stem, convention=convention, quantity=quantity)
            whole = polynomial(stem, convention=convention, quantity=quantity, bookkeeping=True)
            besides = [
                whole.multiplications(6) - found.multiplications(6),
                whole.additions(6) - found.additions(6),
            ]
            rows.append(
                {
                    "formulation": stem,
                    "quantity": quantity,
                    "multiplications": str(found.multiplications),
                    "additions": str(found.additions),
                    "n = 6": f"{int(found.multiplications(6)):,} | {int(found.additions(6)):,}",
                    "besides, n = 6": f"{int(besides[0]):,} | {int(besides[1]):,}",
                    "published": row.published,
                }
            )
    return rows


def first_above(costly: Polynomial, cheap: Polynomial, last: int = 1000) -> int | None:
    """The n from which on, up to `last`, the first costs more than the second; None when it never does."""
    below = [n for n in range(1, last + 1) if costly(n) <= cheap(n)]
    start = max(below, default=0) + 1
    return start if start <= last else None
