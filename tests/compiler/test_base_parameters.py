"""Better frames and base parameters leave torques, M and accelerations as they are."""

import numpy as np
import pytest

from arms import golden_arm, random_arm
from close import assert_close
from forearm.compiler.model.base_parameters import pattern, reframed, regrouped
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import TEN as NAMES
from forearm.inertia import moved_ten, numbers_of, ten_from
from forearm.readers import load

TORQUES = FORMULATIONS["luh_walker_paul_1980"].joint_torques
TEN = [row for row in FORMULATIONS.values() if row.view == "ten" and "joint_torques" in row.gives]
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])


def arms():
    yield golden_arm("G6R")
    yield golden_arm("STAN")
    for seed in range(6):
        yield random_arm(5, seed, "RP" if seed % 2 else "R", general=seed > 2, flips=True)
    yield random_arm(4, 11, "PRRP")


CASES = [(row, arm) for row in TEN for arm in arms() if row.accepts(arm)]


@pytest.mark.parametrize(("row", "arm"), CASES, ids=lambda x: getattr(x, "stem", None) or x.name)
@pytest.mark.parametrize("change", [reframed, regrouped])
def test_torques_are_unchanged(arm, change, row):
    q, qd, qdd = arm.random_state(3)
    want = TORQUES(arm, q, qd, qdd, tip_wrench=WRENCH)
    got = row.joint_torques(change(arm), q, qd, qdd, tip_wrench=WRENCH)
    assert_close(got, want, eps=1000, because="sums of moved parameters cancel", label=row.stem)


@pytest.mark.parametrize("arm", list(arms()), ids=lambda a: a.name)
def test_mass_matrix_and_accelerations_are_unchanged(arm):
    q, qd, qdd = arm.random_state(4)
    M = FORMULATIONS["walker_orin_1982"].mass_matrix
    assert_close(M(regrouped(arm), q), M(arm, q), eps=1000, because="sums of moved parameters cancel")
    tau = TORQUES(arm, q, qd, qdd)
    got = FORMULATIONS["featherstone_1983"].joint_accelerations(regrouped(arm), q, qd, tau)
    condition = np.linalg.cond(M(arm, q))
    assert_close(got, qdd, eps=64 * condition, because="times the condition number of M")


def test_puma_has_36_base_parameters_panda_and_iiwa_43():
    """The ranks of their regressors (PEERS); of link 1 only ZZ is ever read when gravity is along its axis."""
    for name, rank in (("puma560", 36), ("panda", 43), ("iiwa14", 43)):
        rows = pattern(load(name))
        assert sum(sum(row) for row in rows[1:]) + 1 == rank
        assert rows[0][NAMES.index("ZZ")]


def test_mass_first_moment_along_the_axis_and_yy_of_revolute_links_vanish():
    for link in regrouped(golden_arm("G6R")).links:
        numbers = dict(zip(NAMES, numbers_of(link.ten_at_joint), strict=True))
        assert numbers["M"] == numbers["MZ"] == numbers["YY"] == 0.0


def test_a_body_moved_there_and_back_is_the_same():
    rng = np.random.default_rng(5)
    ten = ten_from(rng.normal(size=10))
    step = Pose.at(rng.normal(size=3), rng.normal(size=3))
    back = moved_ten(moved_ten(ten, step), step.inverse())
    assert_close(numbers_of(back), numbers_of(ten), scale=20)


def test_nearly_parallel_axes_are_left_alone():
    """A common normal that runs away is worse than a general pose."""
    from forearm.arm import Arm
    from forearm.link import Link

    body = dict(mass=1.0, com=(0.1, 0.2, 0.3))
    skewed = Pose.at((0.5, 0.1, 0.0), (1e-5, 0.0, 0.0))
    arm = Arm("nearly parallel", [Link("revolute", skewed, **body), Link("revolute", Pose(), **body)])
    chain = reframed(arm)
    assert max(abs(x) for x in chain.links[0].pose.translation) < 1.0
    q, qd, qdd = arm.random_state(0)
    got = FORMULATIONS["khalil_kleinfinger_1987"].joint_torques(chain, q, qd, qdd)
    assert_close(got, TORQUES(arm, q, qd, qdd))
