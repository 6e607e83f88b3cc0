"""Which joints stick in a step, and the friction torques that hold them, for scalars of any kind.

A joint that turns has its full dry friction against it; one that sticks has whatever torque within its bounds keeps it
still. Which of them do which is a complementarity problem with one solution (M is positive definite). Sweeps over the
joints guess it; then each round solves the equations for a guess exactly and corrects the joints that contradict it,
all of them while they become fewer, else the first alone, which comes to an end whatever M is (Murty 1974; the blocks
are of Judice and Pires 1994). A fixed number of rounds, so that a step costs the same always; what is not settled by
then is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, where
from forearm.factorisation import factor, solve_factored

SWEEPS = 2
"""Sweeps over the joints for a first guess."""
MOST_ROUNDS = 8
"""Rounds of correction; motions of six links without rotors need five, in one step of a thousand."""
SLACK = 1e-9
"""Share of its bounds by which rounding may put the torque of a joint that sticks beyond them."""


@dataclass(frozen=True, eq=False)
class StuckJoints:
    """One step's problem."""

    bounds: Mapping[int, tuple[Any, Any]]
    """Largest torques against motion forth and back [N m or N], of each joint that has dry friction."""
    M: Matrix
    """Mass matrix."""
    inverse: Matrix
    """Its inverse."""
    free: Vector
    """Speeds after the step, were there no dry friction."""
    h: Any
    """The step [s]."""

    def settled(self) -> tuple[Vector, Vector, Any]:
        """Friction torques (n,), speeds after the step (n,), and 1 where these are not settled, else 0."""
        side = self._guess()
        fewest: Any = len(self.bounds) + 1.0
        for left in range(min(2 * len(self.bounds), MOST_ROUNDS), 0, -1):
            dry, speed = self._solved(side)
            better = self._corrected(side, dry, speed)
            wrong = {i: _square(better[i] - side[i]) for i in side}  # more than 0 where it is
            count = sum(where(x, 1.0, 0.0) for x in wrong.values())
            if left > 1:
                side = _chosen(side, better, wrong, fewest - count)
                fewest = where(fewest - count, count, fewest)
        held = np.array([self._bounded(i, dry[i]) for i in range(len(self.free))])
        other = self.free - self.h * (held @ self.inverse)
        unsettled = where(count, 1.0, 0.0)
        return held, np.array([where(count, b, a) for a, b in zip(speed, other, strict=True)]), unsettled

    def _guess(self) -> dict[int, Any]:
        """1 for a joint that seems to turn forth, -1 for back, 0 for one that sticks."""
        stopping, h = self.M @ self.free / self.h, self.h
        dry = np.array([self._bounded(i, torque) for i, torque in enumerate(stopping)])
        speed = self.free - h * (dry @ self.inverse)
        for _ in range(SWEEPS):
            for i in self.bounds:
                better = self._bounded(i, dry[i] + speed[i] / (h * self.inverse[i][i]))
                speed = speed - h * self.inverse[i] * (better - dry[i])
                dry[i] = better
        wish = {i: dry[i] + speed[i] / (h * self.inverse[i][i]) for i in self.bounds}
        return {i: self._beyond(i, wish[i], 0.0) for i in self.bounds}

    def _solved(self, side: Mapping[int, Any]) -> tuple[Vector, Vector]:
        """Torques and speeds where these joints turn, and the others stick whatever torque that takes."""
        n, momentum = len(self.free), self.M @ self.free
        turns = [_square(side[i]) if i in side else 1.0 for i in range(n)]
        full = [where(side[i], self.bounds[i][0], -self.bounds[i][1]) if i in side else 0.0 for i in range(n)]
        block = [
            [turns[i] * turns[j] * self.M[i][j] + (1.0 - turns[i] if i == j else 0.0) for j in range(n)]
            for i in range(n)
        ]
        given = np.array([turns[i] * (momentum[i] - self.h * full[i]) for i in range(n)])
        speed = solve_factored(*factor(np.array(block)), given)
        holding = (momentum - self.M @ speed) / self.h
        return np.array([where(turns[i], full[i], holding[i]) for i in range(n)]), speed

    def _corrected(self, side: Mapping[int, Any], dry: Vector, speed: Vector) -> dict[int, Any]:
        """The guess, but for joints that turn against it, and those that nothing within bounds would hold."""
        found = {}
        for i in self.bounds:
            level = sum(self.bounds[i])  # without friction a joint may turn either way
            turning = where(-speed[i] * side[i] * level, 0.0, side[i])
            found[i] = where(_square(side[i]), turning, self._beyond(i, dry[i], SLACK))
        return found

    def _beyond(self, i: int, torque: Any, slack: float) -> Any:
        forth, back = self.bounds[i]
        room = slack * (forth + back)
        return where(torque - forth - room, 1.0, where(-back - room - torque, -1.0, 0.0))

    def _bounded(self, i: int, torque: Any) -> Any:
        if i not in self.bounds:
            return 0.0
        forth, back = self.bounds[i]
        return where(torque - forth, forth, where(-back - torque, -back, torque))


def _chosen(side: Mapping[int, Any], better: Mapping[int, Any], wrong: Mapping[int, Any], fewer: Any) -> Any:
    """The next guess: all corrections where they have become fewer, else the first of them."""
    found, before = {}, 0.0
    for i, old in side.items():
        alone = where(before, old, better[i])
        found[i] = where(fewer, better[i], alone)
        before = before + wrong[i]
    return found


def _square(x: Any) -> Any:
    return x * x
