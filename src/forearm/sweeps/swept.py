"""What a sweep gives: extremes with their causes, moments, quantiles, histograms."""

import math
from typing import Any, NamedTuple

import numpy as np

from forearm.algebra import Vector
from forearm.faults import StateFault, coordinates, explained
from forearm.outside.text_table import text_table
from forearm.sweeps.parameters import IN_WORLD_AXES, MOTION, MotionAxis
from forearm.sweeps.problem import Problem
from forearm.sweeps.reductions import Extremes, Histogram, Moments, Quantiles, Reduction, moments, quantile


class Case(NamedTuple):
    """A sample that gave an extreme."""

    value: float
    """What it gave."""
    sample: int
    """Its number; `swept.choices(sample)` says what it was made of."""
    instant: int
    """At which instant of its motion; 0 without one."""
    time: float | None
    """When that is [s]; None without a motion."""
    choices: dict[str, Any]
    """What it was made of, by axis."""


class Swept:
    """What was kept of a sweep."""

    def __init__(self, problem: Problem, total: dict[str, Any], seconds: float, fresh: int) -> None:
        """Made by `sweep`."""
        self.problem, self._total = problem, total
        self.samples: int = problem.samples
        self.states: int = problem.samples * problem.instants
        self.seconds, self.fresh = seconds, fresh

    def _state(self, kind: type[Reduction], told: str) -> dict[str, Any]:
        for reduction, state in zip(self.problem.keep, self._total["states"], strict=True):
            if isinstance(reduction, kind):
                return state  # type: ignore[no-any-return]
        raise StateFault(f"the sweep did not keep {told}; ask for it: keep=({told!r}, …).")

    @property
    def rate(self) -> float:
        """States a second, those from a journal not counted."""
        return self.fresh / self.seconds if self.seconds else math.inf

    @property
    def names(self) -> tuple[str, ...]:
        """Of the numbers of a result: joints where they belong to them."""
        name, shape = self.problem.output
        arm = self.problem.arm
        if arm is not None and shape == (arm.nv,) and self.problem.what not in IN_WORLD_AXES:
            return tuple(coordinates(arm, name))
        if not shape:
            return (name,)
        return tuple(f"{name}[{','.join(map(str, k))}]" for k in np.ndindex(*shape))

    def _shaped(self, numbers: Any) -> Vector:
        return np.array(numbers, dtype=float).reshape(self.problem.output[1])

    # -- extremes --------------------------------------------------------------------------------------------

    def _side(self, side: str) -> Vector:
        kept = self._state(Extremes, "extremes")[side]
        return self._shaped([cases[0][0] if cases else math.nan for cases in kept])

    @property
    def least(self) -> Vector:
        """Least value of each number of a result."""
        return self._side("low")

    @property
    def greatest(self) -> Vector:
        """Greatest."""
        return self._side("high")

    @explained
    def cases(self, which: int | str, side: str = "high") -> tuple[Case, ...]:
        """The worst samples for a number of a result, by place or name; side 'high' or 'low'."""
        if side not in ("high", "low"):
            raise StateFault(f"cases: side is {side!r}; give 'high' or 'low'.")
        place = self.names.index(which) if which in self.names else which
        kept = self._state(Extremes, "extremes")[side]
        if not isinstance(place, int) or not -len(kept) <= place < len(kept):
            raise StateFault(
                f"cases: {which!r} is no number of a result; give one of {', '.join(self.names)}."
            )
        return tuple(self._case(place, value, sample) for value, sample in kept[place])

    @property
    def worst(self) -> tuple[Case, ...]:
        """For each number of a result the sample in which it was largest, whatever its sign."""
        state, found = self._state(Extremes, "extremes"), []
        for j in range(self.problem.size):
            ends = [state[side][j][0] for side in ("high", "low") if state[side][j]]
            if not ends:
                raise StateFault(f"the sweep gave no finite number for {self.names[j]}.")
            found.append(self._case(j, *max(ends, key=lambda case: (abs(case[0]), -case[1]))))
        return tuple(found)

    def _case(self, place: int, value: float, sample: int) -> Case:
        """A sample computed again, to see when it was."""
        problem = self.problem
        motion = problem.axes.get(MOTION)
        if not isinstance(motion, MotionAxis):
            return Case(value, sample, 0, None, self.choices(sample))
        row = problem.values(problem.choices(sample, 1))[0, :, place % problem.size]
        instant = int(np.nanargmin(np.abs(row - value)))
        number = int(problem.choices(sample, 1)[MOTION][0])
        return Case(value, sample, instant, float(motion.times[number, instant]), self.choices(sample))

    @explained
    def choices(self, sample: int) -> dict[str, Any]:
        """What a sample was made of: the value of each axis; of a motion its number."""
        if not 0 <= sample < self.samples:
            raise StateFault(f"choices: no sample {sample!r}; there are 0 to {self.samples - 1}.")
        found = self.problem.choices(sample, 1)
        return {
            name: v[0].item() if np.ndim(v[0]) == 0 and hasattr(v[0], "item") else v[0]
            for name, v in found.items()
        }

    # -- the rest --------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Vector:
        """Mean of each number of a result."""
        return self._shaped(moments(self._state(Moments, "moments"))[0])

    @property
    def deviation(self) -> Vector:
        """Standard deviation."""
        return self._shaped(moments(self._state(Moments, "moments"))[1])

    @explained
    def quantile(self, share: float) -> Vector:
        """The value below which a share of all results lies, within 0.4 %: 0.5 for the median; inf beyond 1.8e19."""
        if not 0 <= share <= 1:
            raise StateFault(f"quantile: share is {share!r}; give a number from 0 to 1.")
        return self._shaped(
            [quantile(cells, share) for cells in self._state(Quantiles, "quantiles")["cells"]]
        )

    @property
    def histogram(self) -> tuple[Vector, Vector]:
        """Counts (..., bins + 2), the first and last beyond the bounds, and the edges (bins + 1,)."""
        counts = np.array(self._state(Histogram, "histogram")["counts"])
        row = next(r for r in self.problem.keep if isinstance(r, Histogram))
        return counts.reshape(*self.problem.output[1], -1), row.edges

    @property
    def not_finite(self) -> Vector:
        """How many results were NaN or infinite; they are left out of everything else."""
        return np.array(self._total["not_finite"]).reshape(self.problem.output[1])

    def __str__(self) -> str:
        """A table: extremes of each number, and what gave them."""
        what = self.problem.what if isinstance(self.problem.what, str) else "a function"
        of = f" of {self.problem.arm.name}" if self.problem.arm is not None else ""
        lines = [f"{what}{of}: {self.samples} samples, {self.states} states"]
        if any(self._total["not_finite"]):
            lines.append(
                f"not finite: {sum(self._total['not_finite'])} results, left out; the first in sample "
                f"{self._total['spoiled']}"
            )
        if any(isinstance(r, Extremes) for r in self.problem.keep) and all(
            self._state(Extremes, "extremes")["high"]
        ):
            lines += self._extremes_table()
        if any(isinstance(r, Moments) for r in self.problem.keep):
            pairs = zip(self.names, self.mean.ravel(), self.deviation.ravel(), strict=True)
            lines += text_table(("", "mean", "deviation"), [(n, f"{a:.6g}", f"{b:.6g}") for n, a, b in pairs])
        return "\n".join(lines)

    __repr__ = __str__

    def _extremes_table(self) -> list[str]:
        rows = []
        low, high = self.least.ravel(), self.greatest.ravel()
        for name, case, a, b in zip(self.names, self.worst, low, high, strict=True):
            when = [] if case.time is None else [f"t={case.time:.4g}"]
            causes = [f"{k}={told(v)}" for k, v in case.choices.items()]
            rows.append((name, f"{a:.6g}", f"{b:.6g}", " ".join(causes + when)))
        return text_table(("", "least", "greatest", "worst at"), rows, left=(0, 3))


def told(value: Any) -> str:
    """A value of an axis in few words."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        numbers = value.ravel()
        more = ",…" if numbers.size > 4 else ""
        return f"({','.join(f'{x:.4g}' for x in numbers[:4])}{more})"
    return getattr(value, "name", None) or str(value)
