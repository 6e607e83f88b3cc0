"""What `compare` says: causes and evidence as data, printed as text or JSON."""

import json
import math
from dataclasses import asdict, dataclass, field

WHOLE = 1e-9
"""Part of a difference that a hypothesis may leave and still explain the whole of it."""
TOLERANCE = 1e-7
"""Difference of a joint's torques, relative to its largest, that counts as none."""
SHOWN = 4
"""How many causes are printed where it could be any of them."""


@dataclass(frozen=True)
class Evidence:
    """A hypothesis about the cause of a difference, tested."""

    cause: str
    """The hypothesis."""
    explains: float
    """Which part of the difference it takes away, 1 for all of it."""
    residual: float
    """What is left, relative to the torques."""


@dataclass(frozen=True)
class Comparison:
    """How two descriptions differ, term by term, and why."""

    one: str
    """Name of the arm."""
    other: str
    """What it was compared with."""
    same: bool
    """Whether torques agree within the tolerance."""
    causes: tuple[str, ...]
    """The named causes, each tested; empty if they are the same, or if nothing tested explains the difference."""
    terms: tuple[tuple[str, float, str], ...]
    """Each term: name, largest relative difference, what it looks like."""
    evidence: tuple[Evidence, ...] = field(default=())
    """Hypotheses that were tested, best first."""
    residual: float = math.nan
    """Relative difference of torques that is left after the named causes."""
    keys: tuple[str, ...] = ()
    """Short names of the causes."""
    written: float = 0.0
    """Relative accuracy of torques in a file, as far as its digits tell; 0 where that is not what decided."""
    tolerance: float = 0.0
    """Tolerance that was asked for and decided, relative to the largest torque; 0 without one."""
    either: tuple[str, ...] = ()
    """Causes each of which explains the whole difference, so that none is named."""
    notes: tuple[str, ...] = ()
    """What a file of torques leaves open: columns ignored or converted, speeds that are not those of its positions."""

    beside: tuple[str, ...] = ()
    """What else differs of two descriptions and changes no torque: limits, names, tools' places."""

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.same and self.tolerance > self.residual > WHOLE:
            told = f"{self.tolerance:g} of the largest torque; {self.residual:.1g} apart"
            return f"torques: the same within the tolerance, {told}"
        if self.same and self.written:
            return f"torques: the same, to the digits written (they hide {self.written:.1g} of the largest torque)"
        if self.same and WHOLE < self.residual <= TOLERANCE:
            return f"torques: the same within {self.residual:.1g} of the largest torque"
        if self.same:
            return "torques: the same within rounding"
        if self.causes:
            return "; and ".join(self.causes)
        return "cannot tell which: " + "; or ".join(self.either[:3]) if self.either else "cannot tell"

    def to_json(self) -> str:
        """The comparison as JSON text."""
        content = asdict(self) | {
            "verdict": self.verdict,
            "residual": self.residual if math.isfinite(self.residual) else None,
        }
        return json.dumps(content, indent=1)

    def __str__(self) -> str:
        lines = [f"{self.one} and {self.other}: {self.verdict}"]
        lines += [f"  {name}: {_apart(size, how)}" for name, size, how in self.terms]
        if self.beside:
            lines.append(f"  no torque tells, but these differ: {'; '.join(self.beside)}")
        if not self.same and not self.causes:
            lines += [f"  tested: {e.cause}: leaves {e.residual:.1e}" for e in self.evidence[:8]]
        return "\n".join(lines)


def _apart(size: float, how: str) -> str:
    """How far two terms are apart, in words."""
    if size < 1e-12:
        return "the same"
    return f"{size:.2e} apart{', ' + how if how else ''}"
