"""What a report measures: agreement of the formulations, counts beside the published ones, times."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Vector
from forearm.arm import Arm
from forearm.counting import customised, published
from forearm.formulations import FORMULATIONS
from forearm.stopwatch import timings
from forearm.strobing import torques_of
from forearm.verification.proof import oracle
from forearm.verification.proof.agreement import plain_numbers, relative
from forearm.verification.proof.magnitudes import TOLERANCE, magnitudes

MOST_JOINTS = {"n^4": 8, "n^3": 12}
"""Beyond so many joints a formulation of this order takes too long in plain NumPy."""


@dataclass(frozen=True)
class Agreement:
    """One way to the torques, held against the median of all."""

    name: str
    """Stem, or what else it is."""
    paper: str
    """Where it is published."""
    difference: float
    """Largest difference met, relative to what is added up for that joint's torque."""
    microseconds: float
    """Time for one state, in plain NumPy."""

    @property
    def verdict(self) -> str:
        """PASS or FAIL."""
        return "PASS" if self.difference <= TOLERANCE else "FAIL"


def agreement(arm: Arm, q: Vector, qd: Vector, qdd: Vector) -> list[Agreement]:
    """Torques of the rigid arm along the motion by every formulation, and by the oracle, which shares no code."""
    rigid = arm.without_drives()
    chain = oracle.chain_from_numbers(*plain_numbers(rigid))
    ways: dict[str, Any] = {
        row.stem: torques_of(row.stem)
        for row in FORMULATIONS.values()
        if "joint_torques" in row.gives and row.accepts(arm) and arm.n <= MOST_JOINTS.get(row.order, 1000)
    }
    found, spent = {}, {}
    for stem, torques in ways.items():
        torques(rigid, q[0], qd[0], qdd[0])
        start = time.perf_counter()
        found[stem] = np.array(
            [torques(rigid, *state) for state in zip(q, qd, qdd, strict=True)], dtype=float
        )
        spent[stem] = 1e6 * (time.perf_counter() - start) / len(q)
    start = time.perf_counter()
    second = "oracle"
    found[second] = np.array(
        [oracle.spatial_torques(chain, *state) for state in zip(q, qd, qdd, strict=True)]
    )
    spent[second] = 1e6 * (time.perf_counter() - start) / len(q)
    middle = np.median(list(found.values()), axis=0)
    scale = np.array([magnitudes(rigid, at[0]).torques(*at[1:]) for at in zip(q, qd, qdd, strict=True)])
    papers = {stem: FORMULATIONS[stem].paper for stem in ways} | {
        second: "spatial vectors; shares no code with the rest"
    }
    return [
        Agreement(name, papers[name], relative(value - middle, scale), spent[name])
        for name, value in found.items()
    ]


def cost_rows(arm: Arm) -> list[tuple[Any, ...]]:
    """Published counts at n = 6 beside ours; the last row is what is compiled for this arm."""
    rows: list[tuple[Any, ...]] = []
    for row in published("hollerbach_1980", "II"):
        m, a = row.multiplications, row.additions
        status = m.status if m.status == a.status else f"{m.status} | {a.status}"
        rows.append(
            (
                row.measured,
                f"{_count(m.published)} | {_count(a.published)}",
                f"{_count(m.ours)} | {_count(a.ours)}",
                status,
            )
        )
    own = customised(arm)
    rows.append(
        (
            f"compiled for {arm.name}, with its tool",
            "",
            f"{own.multiplications} | {own.additions}",
            own.by.replace("_", " ") + ("" if "origins" in own.by else ", origins not searched"),
        )
    )
    return rows


def _count(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def speed(arm: Arm, seconds: float = 0.4) -> dict[str, Any]:
    """First call, one state, a batch, and the paper's recursion in a NumPy loop."""
    return timings(arm, "inverse_dynamics", 100_000, seconds)
