"""How far rounding carries a robot's accelerations, and whether they are refined once because of it.

Accelerations are M⁻¹ (tau - h). Elimination rounds M's entries by about ε each, which moves the result x by up to
ε |M⁻¹| |M| |x| (Skeel): little for most robots, too much for long thin trees and light hands on heavy arms. There one
step of refinement follows: which torque is missing is asked of the walk along the tree, which never forms M, and the
accelerations by it are added. What is left is what rounding of the robot's own numbers does.

Which robots are refined is decided once for each, on four states of its own, which are always the same ones: for every
target alike.
"""

from functools import lru_cache

import numpy as np

from forearm.compiler.model.trees.tree_frames import described_tree
from forearm.compiler.model.trees.tree_model import TreeModel
from forearm.robot import Robot

REFINED_FROM = 1e-12
"""Accelerations that elimination may move by this fraction of the largest are refined."""
STATES = 4
"""States of the robot that are looked at."""


@lru_cache(maxsize=64)
def is_refined(robot: Robot) -> bool:
    """Whether elimination costs this robot's accelerations more digits than it may."""
    return robot.dynamics and not moved_by_elimination(robot) < REFINED_FROM


def moved_by_elimination(robot: Robot) -> float:
    """The largest ε |M⁻¹| |M| |x| beside the largest |x|, over a few states; 0 where some M is singular."""
    model, most = TreeModel(robot, described_tree(robot)), 0.0
    for seed in range(STATES):
        q, _, qdd = robot.random_state(seed)
        x = np.abs(qdd)
        with np.errstate(all="ignore"):
            M = np.asarray(model.mass_matrix(q), dtype=float)
            try:
                moved = np.abs(np.linalg.inv(M)) @ (np.abs(M) @ x)
            except np.linalg.LinAlgError:
                return 0.0
        if not np.all(np.isfinite(moved)):
            return 0.0
        most = max(most, float(np.max(moved, initial=0.0) / np.max(x, initial=1.0)))
    return float(np.finfo(float).eps) * most
