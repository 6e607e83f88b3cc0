"""What no bodies, gravity and drives can take away, however the joints are seen: it spares most pairs of causes.

Torques are linear in the numbers of all links, with and without gravity, and in those of the drives. Where a fit of
all of them at once leaves more than counts as none, every cause that is one of them does.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forearm.verification.difference.causes.hypotheses import Bench, Cause, OtherView, all_columns

ENOUGH = 3
"""Times as many torques as unknowns are looked at, where there are so many."""
SEEN = ("order", "signs", "units", "shift", "negated", "swapped", "modified")
"""What changes how joints are seen; all else is a change of numbers in which torques are linear."""


@dataclass
class Bounds:
    """The least that is left, for each way to see the joints that was asked for."""

    bench: Bench
    known: dict[Any, float] = field(default_factory=dict)

    def exclude(self, pair: tuple[Cause, ...]) -> bool:
        """Whether a pair cannot explain the difference; two changes of how joints are seen are quicker tried."""
        seen = [cause for cause in pair if any(name in cause.change for name in SEEN)]
        if len(seen) > 1:
            return False
        view = seen[0].apply(self.bench.plain) if seen else self.bench.plain
        key = tuple(getattr(view, name) for name in SEEN)
        if key not in self.known:
            self.known[key] = least(self.bench, view)
        return self.known[key] > 1


def least(bench: Bench, view: OtherView) -> float:
    """The least root mean square that any numbers leave, relative to what counts as none in each joint."""
    n, links = bench.arm.n, len(bench.arm.links)
    wanted = ENOUGH * (40 * links // n + 8)
    if len(bench.q) > wanted:
        bench = bench.of_rows(np.linspace(0, len(bench.q) - 1, wanted).astype(int))
    tau = bench.seen(view)[3]
    weights = 1 / bench.room[:, bench.columns(view)]
    wide = (all_columns(bench, view) * weights[:, :, None]).reshape(tau.size, -1)
    if not np.all(np.isfinite(wide)):
        return 0.0
    wide = wide / np.maximum(np.linalg.norm(wide, axis=0), 1e-300)
    target = (tau * weights).ravel()
    left = target - wide @ np.linalg.lstsq(wide, target, rcond=1e-13)[0]
    return float(np.sqrt(np.mean(left**2)))
