"""What `check` says: findings as data, printed as text or JSON."""

import json
from dataclasses import asdict, dataclass

LEVELS = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One doubt about the numbers of an arm."""

    level: str
    """'error' (no such body exists), 'warning' (hardly so) or 'note' (worth knowing)."""
    kind: str
    """A short word for the kind of doubt."""
    link: int | None
    """Which link, 1 to n; 0 for a free base, None for the whole arm."""
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
