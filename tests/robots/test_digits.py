"""Accelerations beside fifty digits: what elimination loses is won back, on every robot that needs it and on no other.

Where the last digits of a robot's numbers decide (a light wrist on a long thin tree), nobody has more: not Pinocchio,
whose articulated bodies are measured beside ours. So what is held is: within 1e-11 of the largest acceleration, or as
near to the truth as Pinocchio; and always below what rounding M and the bias by one bit may do.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
# ruff: noqa: E402
import forearm as fa
from forearm.compiler.model.choice import quantity_graph
from forearm.compiler.model.chosen_model import Choice, model_by
from forearm.compiler.model.quantity_graphs import evaluated
from forearm.compiler.model.trees.tree_digits import REFINED_FROM, is_refined, moved_by_elimination
from forearm.readers.urdf import from_urdf
from peers.urdf_arms import ERD, Source
from robots.fifty_digits import ExactTree, exact, exact_accelerations
from robots.pinocchio_trees import Peer
from robots.random_trees import THIN, random_urdf

TOLERANCE = 1e-11
ANY = {"keep_defects": True, "allow_massless": True}


def thin_tree(seed: int) -> tuple[str, fa.Robot]:
    """A tree of 14 to 40 joints; every third is coupled, every fourth on a fixed base."""
    joints = 14 + (seed * 7) % 27
    text = random_urdf(seed, joints=joints, coupled=joints // 4 if seed % 3 == 0 else 0, build=THIN)
    return text, from_urdf(text, **({"base": "free"} if seed % 4 else {}))


def off(found, truth) -> float:
    """The largest error beside the largest acceleration."""
    return float(max(abs(exact(found) - truth)) / max(abs(truth)))


def pinocchios(both: Peer, q, qd, tau) -> np.ndarray:
    """Pinocchio's articulated bodies; where joints are coupled, which they do not know, its M and torques."""
    if both.robot.couplings:
        return np.linalg.solve(both.mass_matrix(q), tau - both.torques(q, qd, 0 * qd))
    T = both.columns  # without couplings, another order of the joints
    return T.T @ pin.aba(both.model, both.model.createData(), both.position(q), T @ qd, T @ tau)


def errors(both: Peer, tree: ExactTree, seed: int, *ways) -> list[float]:
    """Pinocchio's error, what one bit of M and of the bias may do, and the errors of given ways."""
    q, qd, qdd = both.robot.random_state(seed)
    tau = both.torques(q, qd, qdd)
    truth = exact_accelerations(tree, both.robot, q, qd, tau)
    M, h, size = both.mass_matrix(q), both.torques(q, qd, 0 * qd), abs(truth).astype(float)
    bits = np.finfo(float).eps * (np.abs(np.linalg.inv(M)) @ (np.abs(M) @ size + np.abs(h)))
    peers = off(pinocchios(both, q, qd, tau), truth)
    return [peers, bits.max() / size.max(), *(off(way(q, qd, tau), truth) for way in ways)]


def plainly(robot: fa.Robot, **change):
    """The plain function of the model that is compiled."""
    model = replace(model_by(robot, Choice()), **change)
    return lambda *state: evaluated(model, "forward_dynamics", *state)


def test_fifty_digits_there_and_back():
    """Articulated bodies in, torques of what they gave out: nothing is lost between them."""
    text, robot = thin_tree(1)
    tree, (q, qd, _) = ExactTree(text), robot.random_state(1)
    tau = np.arange(1.0, robot.nv + 1)
    qdd = exact_accelerations(tree, robot, q, qd, tau)
    np.testing.assert_allclose(fa.inverse_dynamics(robot, q, qd, qdd.astype(float)), tau, rtol=1e-9)
    rates = tree.torques(dict(zip(robot.joint_names, qdd[6:], strict=True)), qdd[:6] + _up(robot, q))
    found = [*rates[0], *(rates[1][name] for name in robot.joint_names)]
    assert max(abs(np.array(found) - exact(tau))) < 1e-35


def _up(robot, q):
    """What gravity is as an acceleration of the base (6,), in its own axes."""
    from robots.fifty_digits import rotation, zeros

    return np.concatenate([-rotation(exact(q[3:7])).T.dot(exact(robot.gravity)), zeros(3)])


@pytest.mark.parametrize("seeds", [(53, 242), pytest.param((33, 38, 50, 181), marks=pytest.mark.more)])
def test_elimination_costs_a_thin_tree_no_digits(seeds):
    """Without refinement all but one of these are farther than 1e-11 from the truth, and farther than Pinocchio."""
    before, after = [], []
    for seed in seeds:
        text, robot = thin_tree(seed)
        ways = plainly(robot), plainly(robot, refined=False)
        peers, bits, ours, once = errors(Peer.of(text, robot), ExactTree(text), seed, *ways)
        assert ours < max(TOLERANCE, peers), (seed, ours, peers)
        assert ours < bits, (seed, ours, bits)
        before, after = [*before, once], [*after, ours]
    assert np.median(after) < 0.5 * np.median(before), (before, after)


@pytest.mark.more
def test_a_compiled_thin_tree_has_the_same_digits():
    text, robot = thin_tree(33)
    kernel = fa.compile(robot, "forward_dynamics")
    assert kernel.why.chosen.endswith("base parameters, refined once")
    both, tree = Peer.of(text, robot), ExactTree(text)
    peers, bits, ours = found = np.array([errors(both, tree, seed, kernel) for seed in range(33, 38)]).T
    assert np.all(ours < np.maximum(TOLERANCE, bits)), found
    assert np.median(ours) < max(TOLERANCE, np.median(peers)), found


ICUB = Source("icub", ERD, "icub_description/robots/icub.urdf", 32, ANY)


@pytest.mark.more
@pytest.mark.parametrize("base", [{}, {"base": "free"}], ids=["fixed", "free"])
def test_icub_is_as_near_to_the_truth_as_anybody(base):
    """Its file's numbers decide: read twice, in two orders of rounding, they give accelerations 1e-10 apart."""
    robot, text = fa.load(ICUB.path, **ICUB.options, **base).without_drives(), ICUB.path.read_text()
    both, tree = Peer.of(text, robot), ExactTree(text)
    found = np.array([errors(both, tree, seed, plainly(robot)) for seed in range(6)])
    peers, bits, ours = found.T
    assert np.all(ours < np.maximum(TOLERANCE, bits)), found
    assert np.median(ours) < max(TOLERANCE, np.median(peers)), found


@pytest.mark.parametrize(
    ("file", "base", "refined"),
    [
        ("solo_description/robots/solo12.urdf", {"base": "free"}, False),
        ("anymal_b_simple_description/robots/anymal.urdf", {"base": "free"}, False),
        ("baxter_description/urdf/baxter.urdf", {}, False),
        ("talos_data/robots/talos_reduced.urdf", {}, False),
        ("icub_description/robots/icub.urdf", {}, True),
        ("z1_description/urdf/z1.urdf", {"base": "free"}, True),
    ],
)
def test_robots_are_refined_where_elimination_costs_digits(file, base, refined):
    robot = fa.load(Source(file, ERD, file, 0).path, **ANY, **base)
    assert (moved_by_elimination(robot) > REFINED_FROM) is refined
    assert is_refined(robot) is refined


def test_refinement_is_counted_and_told():
    """One walk for torques and one substitution more; nothing but accelerations is refined."""
    robot = fa.load(Source("z1", ERD, "z1_description/urdf/z1.urdf", 7).path, **ANY, base="free")
    graph = quantity_graph(robot.without_drives(), "forward_dynamics")
    assert graph.counts.operations == 3239
    assert "refined once" in graph.name
    assert "refined" not in quantity_graph(robot, "solve_mass").name


def test_a_robot_with_a_singular_mass_matrix_is_not_refined():
    fork = Path(__file__).parents[2] / "examples" / "fork.urdf"
    robot = fa.load(fork, base="free")  # its base weighs nothing
    assert moved_by_elimination(robot) == 0.0
    assert not is_refined(robot)
