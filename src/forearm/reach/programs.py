"""What an arm keeps for reaching: compiled searches, closed forms and misses, and tables of starts."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from forearm import dynamics, kinematics
from forearm.algebra import Vector, where
from forearm.arm import Arm
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.call.searches import Search, StartTable
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.kernel import KernelSubject
from forearm.compiler.store import graphs
from forearm.compiler.store.files import graph_key
from forearm.faults import StateFault
from forearm.reach.closed_forms import INSIDE, closed_form, geometry, least
from forearm.reach.iteration import GOAL, ROWS, bounds, iteration

THERE = -1e-9
"""A margin above this may be zero: the branch may exist."""
FAR = 1e300
"""The distance of a branch that is no solution."""
STARTS = 256
"""Rows of a table of starts."""
KEYS = {
    "position": tuple((k, 1.0) for k in (9, 10, 11)),
    "turn": tuple((k, 0.5) for k in range(9)),
    "direction": tuple((k, 1.0) for k in (2, 5, 8)),
}
"""Which numbers of a goal say how far it is, with weights that count a radian as a metre."""


def programs_of(arm: Arm, frame: str | int, asked: str) -> "Programs":
    """The arm's programs for a frame, made once and kept on the arm."""
    number, pose = arm.place_of(frame)
    key = ("reach", number, pose, asked)
    found: Programs | None = arm.kernels.get(key)
    if found is None:
        found = arm.kernels[key] = Programs(arm, frame, asked)
    return found


class Programs:
    """Everything that is compiled for one arm, one frame, and what is asked of it."""

    def __init__(self, arm: Arm, frame: str | int, asked: str) -> None:
        """Look at the arm; programs compile when they are first needed."""
        self.arm, self.frame, self.asked = arm, frame, asked
        number, pose = arm.place_of(frame)
        if number == 0:
            raise StateFault(
                f"inverse_kinematics: frame {frame!r} of arm {arm.name!r} rides on the base, which no joint moves; "
                f"give one of {', '.join(map(repr, arm.frame_names[1:]))}."
            )
        if arm.has_symbols:
            raise StateFault(
                f"inverse_kinematics: arm {arm.name!r} has letters in place of numbers; give each its number first "
                "(arm.replace, or load the arm with numbers)."
            )
        self.moving = number
        """Joints that move the frame: the first so many."""
        self.rows = sum({"position": 3, "turn": 3, "direction": 2}[name] for name in ROWS[asked])
        """Numbers that are asked for."""
        self._about = (arm.digest, repr((arm.name, number, pose, asked)))
        self._tables: dict[tuple[int, int], StartTable] = {}

    @cached_property
    def bounds(self) -> tuple[Vector, Vector]:
        """Least and greatest joint values (n,) each, infinite where there is no limit."""
        low, high = np.array(bounds(self.arm)).T
        return np.ascontiguousarray(low), np.ascontiguousarray(high)

    @cached_property
    def endless(self) -> Vector:
        """Joints that turn without limits (n,)."""
        low, high = self.bounds
        turning = np.array([link.revolute for link in self.arm.links])
        found: Vector = turning & np.isinf(low) & np.isinf(high)
        return found

    @cached_property
    def manifold(self) -> Vector:
        """Joints that have one place more than once: revolute, with more than a turn between their limits (n,)."""
        low, high = self.bounds
        found: Vector = np.array([link.revolute for link in self.arm.links]) & (high - low > 2 * np.pi)
        return found

    @cached_property
    def span(self) -> tuple[Vector, Vector]:
        """From where to where starts are drawn: the limits, but a turn at most; two metres where there are none."""
        low, high = self.bounds
        half = np.array([np.pi if link.revolute else 1.0 for link in self.arm.links])
        wide = self.manifold | np.isinf(high - low)
        begin = np.where(wide, np.maximum(low, self.middle - half), low)
        return begin, np.where(wide, np.minimum(high, self.middle + half), high)

    @cached_property
    def middle(self) -> Vector:
        """The middle of the limits (n,); a limit where there is only one, zero where there is none."""
        low, high = self.bounds
        both = np.isfinite(low) & np.isfinite(high)
        one = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        return np.where(both, 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0)), one)

    def table(self, seed: int, part: int = 0) -> StartTable:
        """Starts within the limits, by a generator that counts: the same for every goal and batch."""
        if (seed, part) not in self._tables:
            low, high = self.span
            chance = np.random.Generator(np.random.Philox(key=seed, counter=part << 64))
            states = chance.uniform(low, high, (STARTS, self.arm.n))
            states[:, self.moving :] = self.middle[self.moving :]
            T = dynamics.pose(self.arm, states, self.frame)
            goals = np.concatenate([T[:, :3, :3].reshape(-1, 9), T[:, :3, 3]], axis=1)
            self._tables[seed, part] = StartTable(states, goals)
        return self._tables[seed, part]

    # -- programs -----------------------------------------------------------------------------------------

    @cached_property
    def search(self) -> Search:
        """The search for one solution."""
        return self._search("search", posture=False)

    @cached_property
    def relaxing(self) -> Search:
        """The same, then towards a posture as far as the goal leaves joints free."""
        return self._search("relaxing search", posture=True)

    def _search(self, what: str, *, posture: bool) -> Search:
        n = self.arm.n
        ports: dict[str, tuple[int, ...]] = {"q": (n,), "goal": (GOAL,), "damping": ()}
        ports |= {"posture": (n,), "pull": ()} if posture else {}
        function = iteration(self.arm, self.frame, self.asked, posture=posture)
        graph = self._graph(what, function, ports)
        keys = tuple(key for name in ROWS[self.asked] for key in KEYS[name])
        return Search(graph, keys, graph.name)

    @cached_property
    def branches(self) -> Any:
        """The kernel of all branches of the closed form, with their misses; None where there is none."""
        every = self._closed
        if every is None:
            return None

        def missed(goal: Vector, reference: Vector) -> dict[str, Any]:
            found = every(goal, reference)
            misses = [self._miss(q, goal) for q in found["q"]]
            return found | {name: np.array([m[name] for m in misses]) for name in ("far", "askew")}

        return self._kernel("branches", missed, {"goal": (GOAL,), "reference": (self.arm.n,)})

    @cached_property
    def branch(self) -> Any:
        """The kernel of the branch within limits that is nearest to the reference, and of its miss."""
        every = self._closed
        assert every is not None

        def nearest(goal: Vector, reference: Vector) -> dict[str, Any]:
            found = every(goal, reference)
            q, shortest = found["q"][0], FAR
            for x, margin, slack in zip(found["q"], found["margin"], found["slack"], strict=True):
                away = where(least([margin - THERE, slack + INSIDE]), _squares(x - reference), FAR)
                nearer = shortest - away
                q = np.array([where(nearer, new, old) for new, old in zip(x, q, strict=True)])
                shortest = where(nearer, away, shortest)
            return {"q": q, **self._miss(q, goal), "away": shortest}

        return self._kernel("nearest branch", nearest, {"goal": (GOAL,), "reference": (self.arm.n,)})

    @cached_property
    def _closed(self) -> Any:
        return closed_form(self.arm, self.frame) if self.asked == "pose" else None

    @cached_property
    def unit(self) -> float:
        """What lengths are measured by where margins are judged [m]."""
        return geometry(self.arm, self.frame).unit

    @property
    def closed(self) -> bool:
        """Whether there is a closed form for what is asked."""
        return self._closed is not None

    @cached_property
    def miss(self) -> Any:
        """The kernel of squared distance [m²] and chord (2 sin(θ/2))² between a frame and its goal."""
        return self._kernel("miss", self._miss, {"q": (self.arm.n,), "goal": (GOAL,)})

    def _miss(self, q: Vector, goal: Vector) -> dict[str, Any]:
        R, p = kinematics.frame_pose(self.arm, q, self.frame)
        off, turn = p - goal[9:], R - goal[:9].reshape(3, 3)
        askew = {"turn": 0.5 * _squares(turn.ravel()), "direction": _squares(turn[:, 2])}
        parts = ROWS[self.asked]
        return {
            "far": _squares(off) if "position" in parts else 0.0,
            "askew": next((askew[name] for name in parts if name in askew), 0.0),
        }

    def _kernel(self, what: str, function: Callable[..., Any], ports: dict[str, tuple[int, ...]]) -> Any:
        graph = self._graph(what, function, ports)
        return ProcessorKernel(
            graph, dtype="float64", layout="rows", name=graph.name, subject=KernelSubject()
        )

    def _graph(self, what: str, function: Callable[..., Any], ports: dict[str, tuple[int, ...]]) -> Graph:
        """A graph, from disk where it was made before; folded only, for a tenth more operations in no time."""
        key = graph_key("reach", what, *self._about)
        found = graphs.recall(key)
        if found is not None:
            return found[0]
        made = lower(trace(function, ports, name=f"{what} of {self.arm.name}"), effort=0)
        graphs.keep(key, made, None)
        return made


def _squares(values: Any) -> Any:
    total = values[0] * values[0]
    for x in values[1:]:
        total = total + x * x
    return total
