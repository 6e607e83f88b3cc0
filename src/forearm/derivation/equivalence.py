"""Proof that papers agree: torques of several formulations as formulas, whose differences are zero."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forearm.arm import Arm
from forearm.derivation.closed_form import from_energies, torques_of
from forearm.derivation.expressions.expression import Expression
from forearm.derivation.preparation import prepared, torque_stems
from forearm.faults import explained, needs_chain
from forearm.formulations import FORMULATIONS

ENERGIES = "energies"
"""The name under which the closed form from energies takes part."""


@dataclass(frozen=True)
class Equivalence:
    """Which formulations were evaluated on symbols, and what is left of their differences."""

    arm: str
    """Name of the arm."""
    stems: tuple[str, ...]
    """The formulations; 'energies' is the closed form that they are compared with."""
    differences: tuple[tuple[Expression, ...], ...]
    """Torques of each formulation minus those from energies, as expressions."""
    terms: tuple[int, ...]
    """How many terms the torques of each formulation have, multiplied out."""
    seconds: tuple[float, ...]
    """How long each took."""
    exact: bool
    """Whether coefficients are exact; otherwise round-off was left out."""

    @property
    def holds(self) -> bool:
        """Whether every difference is zero, term by term."""
        return all(x.is_zero for row in self.differences for x in row)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        lines = [f"torques of arm {self.arm!r}, {'exact' if self.exact else 'coefficients are floats'}:"]
        for stem, row, terms, seconds in zip(
            self.stems, self.differences, self.terms, self.seconds, strict=True
        ):
            left = sum(x.size for x in row)
            verdict = "equal, term by term" if not left else f"DIFFERS in {left} terms"
            lines.append(f"  {stem:36} {terms:7} terms  {seconds:6.2f} s  {verdict}")
        return "\n".join(lines)


@explained
def prove_equal(
    arm: Arm, stems: Sequence[str] | None = None, *, coordinates: Any = None, timeout: float | None = None
) -> Equivalence:
    """Show that formulations give the same torques, as formulas.

    Each formulation is evaluated on symbols; expressions are in normal form, so two of them are equal if
    and only if they hold the same terms, and the difference of equal ones has none.

    Args:
        arm: The arm, with symbols where the proof should be general.
        stems: Formulations to take; all that give torques and accept the arm by default.
        coordinates: S with q = S x, as in `derive`.
        timeout: Seconds for all of it.

    Returns:
        An Equivalence, true if every difference is zero.
    """
    needs_chain(arm, "prove_equal")
    p = prepared(arm, None, coordinates, timeout)
    if stems is None:
        stems = [stem for stem in torque_stems() if FORMULATIONS[stem].accepts(arm)]
    started = time.monotonic()
    closed = from_energies(p.arm, p.ring, p.q, p.x, p.S, p.tell)
    reference = torques_of(closed, p.generators(p.xd), p.generators(p.xdd))
    scale = max(tau.largest for tau in reference)
    rows: list[tuple[str, tuple[Expression, ...], int, float]] = []
    terms = sum(tau.size for tau in reference)
    rows.append((ENERGIES, tuple(p.ring.constant(0) for _ in reference), terms, time.monotonic() - started))
    for stem in stems:
        started = time.monotonic()
        p.tell(stem, 0, 1)
        tau = p.torques_by(stem)
        difference = tuple((a - b).without_roundoff(scale) for a, b in zip(tau, reference, strict=True))
        rows.append((stem, difference, sum(t.size for t in tau), time.monotonic() - started))
    names, differences, sizes, seconds = zip(*rows, strict=True)
    return Equivalence(arm.name, names, differences, sizes, seconds, p.ring.exact)
