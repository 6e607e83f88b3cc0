"""Motions that show an arm's parameters: periodic Fourier series, made so that the base regressor is well conditioned.

A finite Fourier series per joint is periodic and smooth, its derivatives are known exactly, and its noise can be
averaged over periods (Swevers, Ganseman, Tükel, De Schutter, Van Brussel, IEEE Trans. Robotics and Automation 13 (1997)
730-740). Its first instant is at rest, so that a controller can begin with it. Coefficients are searched for by an
evolution strategy with covariance matrix (Hansen, Ostermeier 2001), each candidate scaled into the limits of positions,
speeds and accelerations; torques beyond the limits of the drives, of the given arm, count against it.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.dynamics import inverse_dynamics, regressor
from forearm.faults import StateFault
from forearm.faults.call_arguments import whole
from forearm.identification.base_columns import base_parameters
from forearm.identification.drive_columns import DriveColumns
from forearm.identification.least_squares import autocorrelation_factor
from forearm.identification.measured.filters import filtered
from forearm.identification.measured.logs import Log
from forearm.identification.torque_rows import equations_of
from forearm.motion.feasibility import feasible
from forearm.motion.motions import Fourier
from forearm.outside.whole_process.blas_threads import ONE_BLAS_THREAD

PHASES = 5
"""Places of the encoders' steps that are tried: where a joint rests it matters where the next step lies."""
INSTANTS = 16
"""Instants of the shortest wave at which a candidate is looked at: between them it goes 2 % higher at most."""
FEWEST = 80
"""Instants of a period, at least."""
LONGEST = 1e6
"""A period is shorter [s], and no shorter than one over this."""
MOST_HARMONICS = 50
"""Beyond these it is noise, and the search has no end."""
MOST_GENERATIONS = 1_000_000
"""An hour or more; nothing gets better after some thousand."""
RANDOM = 256
"""Random motions, the best of which is the start."""
MARGIN = 0.95
"""Share of a limit that is used."""
SPEED, ACCELERATION = 2.0, 10.0
"""Limits where the arm and the user name none [rad/s, rad/s²; m/s, m/s²]."""


@dataclass(frozen=True, eq=False)
class Excitation(Fourier):
    """An exciting motion, and what it is good for."""

    condition: float = math.nan
    """Condition number of the base regressor along it."""
    start_condition: float = math.nan
    """That of the best of the random motions that were the start."""
    arm: Any = None
    """The arm that it was made for."""

    @ONE_BLAS_THREAD.inside()
    def deviations(
        self, noise: Any, rate: float, *, periods: int = 1, cutoff: float | None = None, tick: Any = 0.0
    ) -> tuple[tuple[str, ...], Vector]:
        """Names of base parameters, and the standard deviations that `identify` will find for them.

        The motion goes through the very filters of `identify`, so what they take away from a column that is quick (dry
        friction turning over) is not counted on.

        Args:
            noise: Standard deviation of each joint's torque (n,), white.
            rate: Rows a second [Hz].
            periods: How often the motion is played.
            cutoff: Cut-off of the filters [Hz]; chosen as `identify` chooses it otherwise.
            tick: Step of the encoders [rad or m], one or for each joint (n,). It tells most where a joint rests for a
                while: there dry friction, which must be in the arm to be seen here, has any sign.
        """
        base = base_parameters(self.arm)
        t = np.arange(0.0, periods * self.period, 1.0 / rate)
        played = Log("excite", t, self.sample(t).q, None, np.zeros((len(t), self.arm.n)))
        motion = filtered(played, cutoff)
        X = equations_of(self.arm, base.drives, motion).X[:, :, list(base.kept)]
        # what the filters leave of white noise: rows a lag apart have so much in common
        every = round(float(motion.t[1] - motion.t[0]) * rate)
        w, step = motion.thinning.weights, motion.thinning.factor
        common = [float(w[lag:] @ w[: len(w) - lag]) / every for lag in range(0, len(w), step)]
        power = np.broadcast_to(faults.for_joints(self.arm, "noise", noise) ** 2, (self.arm.n,))
        stray = np.zeros(self.arm.n)
        if np.any(tick):
            for phase in np.random.default_rng(0).uniform(size=(PHASES, self.arm.n)):
                read = replace(played, q=(np.round(played.q / tick + phase) - phase) * tick)
                misread = equations_of(self.arm, base.drives, filtered(read, motion.cutoff)).X
                wrong = (misread[:, :, list(base.kept)] - X) @ base.of(self.arm)
                stray += np.mean(wrong**2, axis=0) * autocorrelation_factor(wrong, 0) / PHASES
        X = X / np.sqrt(power * common[0] + stray)[:, None]
        inverse = np.linalg.inv(np.einsum("kij,kil->jl", X, X))
        share = power / (power * common[0] + stray)
        spread = np.einsum("kij,kil->jl", X, X)
        for lag, part in enumerate(common[1:], 1):
            apart = part * np.einsum("kij,i,kil->jl", X[lag:], share, X[:-lag])
            spread += apart + apart.T
        return base.names, np.sqrt(np.diag(inverse @ spread @ inverse))


@dataclass(frozen=True, eq=False)
class Limits:
    """What a motion must stay within."""

    low: Vector
    high: Vector
    speed: Vector
    acceleration: Vector
    effort: Vector


@ONE_BLAS_THREAD.inside()
@faults.explained
def excite(
    arm: Arm,
    *,
    duration: float = 10.0,
    harmonics: int = 5,
    speed: float | None = None,
    acceleration: float | None = None,
    generations: int = 600,
    seed: faults.Seed = 0,
) -> Excitation:
    """A periodic motion that shows the arm's base parameters, within its limits; its first instant is at rest.

    Args:
        arm: The arm; its limits of position, speed and torque hold, ±π (±1 m) where there are none.
        duration: One period [s].
        harmonics: Frequencies 1 / duration to harmonics / duration.
        speed: Limit of every joint's speed beside the arm's own.
        acceleration: Limit of every joint's acceleration.
        generations: How long to search; 0 for the best of some hundred random motions.
        seed: Which random numbers.
    """
    faults.needs_arm(arm)
    faults.needs_chain(arm, "excite")
    faults.needs_dynamics(arm, "excite")
    if not LONGEST > duration > 1 / LONGEST or not 2 <= harmonics <= MOST_HARMONICS:
        raise StateFault(
            f"excite: duration is {duration!r}, harmonics {harmonics!r}; give a positive time in seconds, and "
            f"2 to {MOST_HARMONICS}."
        )
    for name, limit in (("speed", speed), ("acceleration", acceleration)):
        if limit is not None and not 0 < limit < math.inf:
            raise StateFault(f"excite: {name} is {limit!r}; give a positive number, or leave it out.")
    generations = whole(generations, "excite: generations", 0, MOST_GENERATIONS)
    search = _Search(arm, _limits(arm, speed, acceleration), float(duration), int(harmonics))
    rng = faults.random_numbers(seed, "excite: seed")
    tried = (
        rng.normal(size=(RANDOM, search.size)) / search.orders
    )  # slow waves wide: so limits leave more of all
    costs = search.costs(tried)
    start = tried[int(np.argmin(costs))]
    best = _evolved(search, start, generations, rng)
    motion = search.coefficients(best[None])[0]
    _refuse_beyond(arm, Fourier(*motion, float(duration)))
    first = search.condition(search.coefficients(start[None])[0])
    return Excitation(*motion, float(duration), search.condition(motion), first, arm)


def _limits(arm: Arm, speed: float | None, acceleration: float | None) -> Limits:
    low, high = [], []
    for link in arm.links:
        wide = math.pi if link.revolute else 1.0
        a, b = link.limits or (-wide, wide)
        low.append(min(-wide, b - wide) if not math.isfinite(a) else a)
        high.append(max(wide, a + wide) if not math.isfinite(b) else b)
    own = [link.speed_limit or math.inf for link in arm.links]
    fast = np.minimum(own, SPEED if speed is None and not np.all(np.isfinite(own)) else speed or math.inf)
    sharp = np.full(arm.n, ACCELERATION if acceleration is None else acceleration)
    effort = np.array([link.effort_limit or math.inf for link in arm.links])
    return Limits(np.array(low), np.array(high), np.asarray(fast, dtype=float), sharp, effort)


class _Search:
    """Candidates: numbers without unit that become coefficients within the limits."""

    def __init__(self, arm: Arm, limits: Limits, duration: float, harmonics: int) -> None:
        self.arm, self.limits, self.duration, self.harmonics = arm, limits, duration, harmonics
        none = DriveColumns((), np.full(arm.n, 1e-3), np.zeros((0, arm.n)), ())
        self.kept = list(base_parameters(arm, drives=none).kept)
        self.size = arm.n * (2 * harmonics + 2)
        k = np.arange(1.0, harmonics + 1)
        self.orders = np.repeat(np.concatenate([k, k, np.ones(2)]), arm.n)
        instants = max(FEWEST, INSTANTS * harmonics)
        t = np.arange(instants) * duration / instants
        w = 2 * math.pi * np.arange(1, harmonics + 1) / duration
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        self.q, self.qd, self.qdd = (
            np.hstack([s, c]),
            np.hstack([w * c, -w * s]),
            np.hstack([-w * w * s, -w * w * c]),
        )

    def coefficients(self, x: Matrix) -> list[tuple[Vector, Matrix, Matrix]]:
        """Centre, sines and cosines of each candidate: (P, n), (P, K, n) twice."""
        n, K = self.arm.n, self.harmonics
        parts = x.reshape(len(x), 2 * K + 2, n)
        k = np.arange(1, K + 1)
        waves = parts[:, : 2 * K].copy()
        # at rest at t = 0: Σ k a_k = 0 and Σ k² b_k = 0
        waves[:, :K] -= (np.einsum("k,pkn->pn", k, waves[:, :K]) / (k @ k))[:, None] * k[:, None]
        waves[:, K:] -= (np.einsum("k,pkn->pn", k**2, waves[:, K:]) / (k**2 @ k**2))[:, None] * (k**2)[
            :, None
        ]
        q, v, a = (np.einsum("tk,pkn->ptn", m, waves) for m in (self.q, self.qd, self.qdd))
        lim = self.limits
        room = MARGIN * (lim.high - lim.low)
        span = q.max(axis=1) - q.min(axis=1)
        most = np.minimum.reduce(
            [
                room / span,
                MARGIN * lim.speed / np.abs(v).max(axis=1),
                MARGIN * lim.acceleration / np.abs(a).max(axis=1),
            ]
        )
        scale = most * (0.5 + 0.5 / (1 + np.exp(-2.0 - parts[:, 2 * K])))  # no joint may fall asleep
        # the centre moves within the room that the waves leave
        left = np.maximum(room - span * scale, 0.0)
        low = lim.low + (1 - MARGIN) / 2 * (lim.high - lim.low) - scale * q.min(axis=1)
        center = low + left / (1 + np.exp(-parts[:, 2 * K + 1]))
        waves = waves * scale[:, None]
        return [(c, w[:K], w[K:]) for c, w in zip(center, waves, strict=True)]

    def states(self, motion: tuple[Vector, Matrix, Matrix]) -> tuple[Matrix, Matrix, Matrix]:
        """Positions, speeds and accelerations along a motion, each (instants, n)."""
        center, sines, cosines = motion
        waves = np.vstack([sines, cosines])
        return center + self.q @ waves, self.qd @ waves, self.qdd @ waves

    def condition(self, motion: tuple[Vector, Matrix, Matrix]) -> float:
        """Condition number of the base regressor along a motion."""
        Y = regressor(self.arm, *self.states(motion))[:, :, self.kept]
        return float(np.linalg.cond(Y.reshape(-1, len(self.kept))))

    def costs(self, x: Matrix) -> Vector:
        """Logarithm of the condition number of each candidate, and what its torques are beyond the limits."""
        states = [self.states(m) for m in self.coefficients(x)]
        q, qd, qdd = (np.stack([s[k] for s in states]) for k in range(3))
        flat = [v.reshape(-1, self.arm.n) for v in (q, qd, qdd)]
        Y = regressor(self.arm, *flat)[:, :, self.kept].reshape(len(x), -1, len(self.kept))
        values = np.linalg.eigvalsh(np.swapaxes(Y, 1, 2) @ Y)
        cost = 0.5 * np.log(values[:, -1] / np.maximum(values[:, 0], 1e-14 * values[:, -1]))
        if np.any(np.isfinite(self.limits.effort)):
            tau = np.abs(inverse_dynamics(self.arm, *flat)).reshape(len(x), -1, self.arm.n).max(axis=1)
            cost = cost + 20 * np.maximum(tau / (MARGIN * self.limits.effort) - 1, 0.0).sum(axis=1)
        return cost


def _refuse_beyond(arm: Arm, motion: Fourier) -> None:
    """Refuse a motion whose torques are beyond the limits, between the instants of the search too."""
    for link, load in zip(arm.links, feasible(arm, motion).loads, strict=True):
        if link.effort_limit is not None and load.peak > link.effort_limit:
            raise StateFault(
                f"excite: joint {link.name!r} would need {load.peak:.4g}, more than its {link.effort_limit:g}; give a "
                "longer duration, a lower speed= or acceleration=, or more generations."
            )


def _evolved(search: _Search, start: Vector, generations: int, rng: Any) -> Vector:
    """The best candidate that an evolution strategy with covariance matrix finds."""
    n = search.size
    many = 8 + int(4 * math.log(n))
    half = many // 2
    w = math.log(half + 0.5) - np.log(np.arange(1, half + 1))
    w /= w.sum()
    worth = 1 / np.sum(w**2)
    cc, cs = 4 / (n + 4), (worth + 2) / (n + worth + 5)
    c1 = 2 / ((n + 1.3) ** 2 + worth)
    cm = min(1 - c1, 2 * (worth - 2 + 1 / worth) / ((n + 2) ** 2 + worth))
    damping = 1 + cs + 2 * max(0.0, math.sqrt((worth - 1) / (n + 1)) - 1)
    usual = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    mean, sigma, C = start.copy(), 0.3, np.eye(n)
    path, pace = np.zeros(n), np.zeros(n)
    best, least = start, float(search.costs(start[None])[0])
    for g in range(generations):
        if g % 10 == 0:
            values, axes = np.linalg.eigh(C)
            root = axes * np.sqrt(np.maximum(values, 1e-20))
        z = rng.normal(size=(many, n))
        y = z @ root.T
        costs = search.costs(mean + sigma * y)
        order = np.argsort(costs)[:half]
        if costs[order[0]] < least:
            best, least = mean + sigma * y[order[0]], float(costs[order[0]])
        step = w @ y[order]
        mean = mean + sigma * step
        pace = (1 - cs) * pace + math.sqrt(cs * (2 - cs) * worth) * (axes @ (w @ z[order]))
        path = (1 - cc) * path + math.sqrt(cc * (2 - cc) * worth) * step
        C = (1 - c1 - cm) * C + c1 * np.outer(path, path) + cm * (y[order].T * w) @ y[order]
        sigma *= math.exp(cs / damping * (float(np.linalg.norm(pace)) / usual - 1))
    return best
