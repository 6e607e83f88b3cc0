"""What `verify` says: rows as data, printed as text or JSON."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One check of one piece of code on one arm."""

    group: str
    """'agreement', 'oracle', 'law' or 'compiled'."""
    check: str
    """What must hold."""
    subject: str
    """Whose numbers were checked: a formulation, 'user functions', a kernel."""
    residual: float
    """Largest difference of any element, each divided by the magnitudes that are added up for it."""
    tolerance: float
    """What the residual may be."""
    state: int
    """Which of the proof's states was worst."""
    shares: str
    """Which code both sides of the comparison have in common."""
    why: str = ""
    """What happened, where a number cannot say it."""

    @property
    def passed(self) -> bool:
        """Whether the check holds (a residual that is not a number does not)."""
        return self.residual <= self.tolerance

    @property
    def verdict(self) -> str:
        """PASS or FAIL."""
        return "PASS" if self.passed else "FAIL"


@dataclass(frozen=True)
class Verification:
    """What `verify` found out about the code, on one arm."""

    arm: str
    """Name of the arm."""
    rows: tuple[Row, ...]
    """Every check."""
    states: tuple[dict[str, list[float]], ...]
    """The states that were used: q, qd, qdd."""
    skipped: tuple[str, ...] = ()
    """Checks that this arm does not allow, with the reason."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return bool(self.rows) and all(row.passed for row in self.rows)

    @property
    def failures(self) -> tuple[Row, ...]:
        """The checks that do not hold, worst first."""
        return tuple(sorted((r for r in self.rows if not r.passed), key=lambda r: -_size(r)))

    def worst(self) -> Iterator[tuple[Row, int]]:
        """For each check its worst row, and of how many."""
        checks = dict.fromkeys((row.group, row.check) for row in self.rows)
        for key in checks:
            rows = [row for row in self.rows if (row.group, row.check) == key]
            yield max(rows, key=_size), len(rows)

    def to_json(self) -> str:
        """The whole proof as JSON text."""
        rows = [
            {
                **asdict(row),
                "residual": row.residual if math.isfinite(row.residual) else None,
                "passed": row.passed,
            }
            for row in self.rows
        ]
        content = {"arm": self.arm, "passed": self.passed, "seconds": self.seconds, "rows": rows}
        return json.dumps(
            {**content, "skipped": self.skipped, "states": self.states}, indent=1, allow_nan=False
        )

    def __str__(self) -> str:
        head = f"{self.arm}: {'PASS' if self.passed else 'FAIL'}, {len(self.rows)} checks in {self.seconds:.1f} s"
        lines = [head, ""]
        for row, count in self.worst():
            who = row.subject if count == 1 else f"worst of {count}: {row.subject}"
            lines.append(
                f"{row.verdict}  {row.residual:8.1e} / {row.tolerance:.0e}  {row.check}  ({who}; shares "
                f"{row.shares})"
            )
        lines += [f"skipped  {reason}" for reason in self.skipped]
        for row in self.failures[:20]:
            lines.append(
                f"FAIL  {row.check}: {row.subject}, {row.residual:.2e}, state "
                f"{row.state}{'; ' + row.why if row.why else ''}"
            )
        return "\n".join(lines)


def _size(row: Row) -> float:
    """How badly a row fails; not a number is worst."""
    return math.inf if math.isnan(row.residual) else row.residual / row.tolerance
