"""What verification says: rows and findings as data, printed as text or JSON."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

WHOLE = 1e-9
"""Part of a difference that a hypothesis may leave and still explain the whole of it."""
LEVELS = ("error", "warning", "note")


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
    """Largest difference met, divided by the largest magnitude met on the way."""
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
class Proof:
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
        rows = [{**asdict(row), "residual": _plain(row.residual), "passed": row.passed} for row in self.rows]
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


@dataclass(frozen=True)
class Finding:
    """One doubt about the numbers of an arm."""

    level: str
    """'error' (no such body exists), 'warning' (hardly so) or 'note' (worth knowing)."""
    kind: str
    """A short word for the kind of doubt."""
    link: int | None
    """Which link, 1 to n; None for the whole arm."""
    name: str
    """Name of the link, or of the arm."""
    value: str
    """What was found, with its unit."""
    threshold: str
    """What it was held against."""
    fix: str
    """The likely cause and what to do."""

    def __str__(self) -> str:
        place = f"link {self.link} {self.name!r}" if self.link else self.name
        return f"{self.level}: {place}: {self.value}; {self.threshold}. {self.fix}"


@dataclass(frozen=True)
class Report:
    """What `check` found in the numbers of one arm."""

    arm: str
    """Name of the arm."""
    findings: tuple[Finding, ...] = ()
    """Doubts, errors first."""
    facts: tuple[tuple[str, str], ...] = ()
    """What was measured on the way: (what, value)."""

    def of(self, level: str) -> tuple[Finding, ...]:
        """The findings of one level."""
        return tuple(f for f in self.findings if f.level == level)

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return not self.of("error")

    @property
    def clean(self) -> bool:
        """Whether there is neither error nor warning."""
        return self.passed and not self.of("warning")

    def to_json(self) -> str:
        """The report as JSON text."""
        findings = [asdict(f) for f in self.findings]
        return json.dumps(
            {"arm": self.arm, "passed": self.passed, "findings": findings, "facts": dict(self.facts)},
            indent=1,
        )

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.of(level))} {level}s" for level in LEVELS)
        lines = [f"{self.arm}: {counts}", *(f"  {finding}" for finding in self.findings)]
        return "\n".join(lines + [f"  {what}: {value}" for what, value in self.facts])


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

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.same and self.written:
            return f"the same, to the digits written (they tell {self.written:.1g} of the largest torque)"
        if self.same:
            return "the same within rounding"
        if self.causes:
            return "; and ".join(self.causes)
        whole = list(dict.fromkeys(e.cause for e in self.evidence if e.explains > 1 - WHOLE))
        return "cannot tell which: " + "; or ".join(whole[:3]) if len(whole) > 1 else "cannot tell"

    def to_json(self) -> str:
        """The comparison as JSON text."""
        content = asdict(self) | {"verdict": self.verdict, "residual": _plain(self.residual)}
        return json.dumps(content, indent=1)

    def __str__(self) -> str:
        lines = [f"{self.one} and {self.other}: {self.verdict}"]
        lines += [f"  {name}: {_apart(size, how)}" for name, size, how in self.terms]
        if not self.same and not self.causes:
            lines += [f"  tested: {e.cause}: leaves {e.residual:.1e}" for e in self.evidence[:8]]
        return "\n".join(lines)


def _size(row: Row) -> float:
    """How badly a row fails; not a number is worst."""
    return math.inf if math.isnan(row.residual) else row.residual / row.tolerance


def _apart(size: float, how: str) -> str:
    """How far two terms are apart, in words."""
    if size < 1e-12:
        return "the same"
    return f"{size:.2e} apart{', ' + how if how else ''}"


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
