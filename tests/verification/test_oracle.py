"""The oracle: its two ways agree, it agrees with printed closed forms, and it imports nothing of ours."""

import ast
from pathlib import Path

import numpy as np
import pytest

from arms import GOLDEN, golden_states, random_arm
from close import assert_close
from forearm.formulations import FORMULATIONS
from forearm.readers.urdf import read_urdf
from forearm.verification.proof import oracle
from forearm.verification.proof.agreement import plain_numbers
from peers.urdf_arms import SOURCES

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques


def test_the_oracle_imports_nothing_of_this_library():
    tree = ast.parse(Path(oracle.__file__).read_text())
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert names
    assert not [name for name in names if name.startswith("forearm")]


def test_two_links_in_a_plane_by_hand():
    l1, m1, m2, r1, r2, i1, i2 = 0.7, 2.0, 1.5, 0.3, 0.25, 0.05, 0.04
    tensor = lambda i: np.diag([0.0, i, i])
    rows = [
        {
            "kind": "revolute",
            "a": l1,
            "alpha": 0,
            "d": 0,
            "theta": 0,
            "mass": m1,
            "com": [r1 - l1, 0, 0],
            "inertia": tensor(i1),
        },
        {
            "kind": "revolute",
            "a": 0.5,
            "alpha": 0,
            "d": 0,
            "theta": 0,
            "mass": m2,
            "com": [r2 - 0.5, 0, 0],
            "inertia": tensor(i2),
        },
    ]
    chain = oracle.chain_from_dh(rows, "standard", gravity=(0, -9.81, 0))
    q, qd, qdd = np.array([0.4, -1.1]), np.array([1.3, 0.7]), np.array([-0.6, 2.0])
    a, b, c = i1 + i2 + m1 * r1**2 + m2 * (l1**2 + r2**2), m2 * l1 * r2, i2 + m2 * r2**2
    M = np.array([[a + 2 * b * np.cos(q[1]), c + b * np.cos(q[1])], [c + b * np.cos(q[1]), c]])
    h = b * np.sin(q[1])
    velocity = np.array([-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2])
    second = m2 * r2 * 9.81 * np.cos(q.sum())
    weight = np.array([(m1 * r1 + m2 * l1) * 9.81 * np.cos(q[0]) + second, second])
    want = M @ qdd + velocity + weight
    assert_close(oracle.spatial_torques(chain, q, qd, qdd), want)
    assert_close(oracle.lagrange_torques(chain, q, qd, qdd), want)
    assert_close(oracle.lagrange_terms(chain, q, qd)[0], M)


@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_golden_torques(name):
    p = GOLDEN["arms"][name]["params"]
    keys = {"a": "a", "alpha": "alpha", "d": "d", "theta": "theta0", "mass": "m"}
    rows = [
        {k: float(p[v][i]) for k, v in keys.items()}
        | {"kind": "revolute" if kind == "R" else "prismatic"}
        | {"com": np.array(p["r"][i], dtype=float), "inertia": np.array(p["I"][i], dtype=float)}
        for i, kind in enumerate(p["typ"])
    ]
    chain = oracle.chain_from_dh(rows, "standard", gravity=[float(x) for x in p["g"]])
    for state in golden_states(name):
        for way in (oracle.spatial_torques, oracle.lagrange_torques):
            assert_close(
                way(chain, state["q"], state["qd"], state["qdd"]),
                state["tau"],
                scale=100 * np.max(np.abs(state["tau"])),
            )


def test_both_ways_agree_with_newton_euler_on_random_arms():
    for seed in range(6):
        arm = random_arm(6, seed, "RP", general=True, flips=True)
        chain = oracle.chain_from_numbers(*plain_numbers(arm))
        q, qd, qdd = arm.random_state(seed)
        want = torques(arm, q, qd, qdd)
        for way in (oracle.spatial_torques, oracle.lagrange_torques):
            assert_close(way(chain, q, qd, qdd), want, scale=10 * np.max(np.abs(want)))


def test_modified_rows_are_standard_rows_moved():
    from forearm.arm import Arm
    from forearm.inertia import Inertia

    rng = np.random.default_rng(3)
    rows = []
    for kind in ("revolute", "prismatic", "revolute"):
        a, alpha, d, theta, mass = rng.uniform(0.1, 1, 5)
        tensor = np.diag(rng.uniform(0.1, 0.15, 3))
        rows.append(
            dict(
                kind=kind,
                a=a,
                alpha=alpha,
                d=d,
                theta=theta,
                mass=mass,
                com=rng.uniform(-1, 1, 3),
                inertia=tensor,
            )
        )
    ours = [{**row, "com": tuple(row["com"]), "inertia": Inertia.about_com(row["inertia"])} for row in rows]
    arm = Arm.from_dh("modified", ours, convention="modified")
    q, qd, qdd = arm.random_state(1)
    want = torques(arm, q, qd, qdd)
    assert_close(oracle.spatial_torques(oracle.chain_from_dh(rows, "modified"), q, qd, qdd), want)
    standard = Arm.from_dh("standard", ours, convention="standard")
    want = torques(standard, q, qd, qdd)
    assert_close(oracle.lagrange_torques(oracle.chain_from_dh(rows, "standard"), q, qd, qdd), want)


@pytest.mark.parametrize("source", [s for s in SOURCES if "root" not in s.options][::3], ids=str)
def test_urdf_texts_read_by_the_oracle_alone(source):
    if not source.path.exists():
        pytest.skip(f"{source.package} is not installed")
    arm = read_urdf(source.path, **source.options)
    chain = oracle.chain_from_urdf(
        source.path.read_text(encoding="utf-8"), arm.joint_names, source.options.get("lock")
    )
    q, qd, qdd = np.random.default_rng(8).uniform(-2, 2, (3, arm.n))
    want = torques(arm, q, qd, qdd)
    for way in (oracle.spatial_torques, oracle.lagrange_torques):
        assert np.max(np.abs(way(chain, q, qd, qdd) - want)) <= 1e-11 * max(1, np.max(np.abs(want)))
