"""The errata: every row has its test, every misprint that we name has its row; and the slips without a home."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import forearm as fa
from arms import random_arm
from close import assert_close
from forearm.algebra import skew
from forearm.counting import polynomial
from forearm.counting.published_tables.printed import TABLES

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_errata = script("make_errata")
ROWS = make_errata.errata()
IDS = [row["id"] for row in ROWS]


def test_the_page_is_that_of_the_data():
    assert make_errata.PAGE.read_text(encoding="utf-8") == make_errata.page(), (
        "run python docs/make_errata.py"
    )


def test_ids_are_all_there_and_once():
    wanted = [*(f"H{k}" for k in range(1, 17)), *(f"T{k}" for k in range(24))]
    wanted += [*(f"N{k}" for k in range(1, 7)), *(f"G{k}" for k in range(1, 12))]
    assert sorted(IDS) == sorted(wanted)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_row_is_whole_and_its_test_exists(row):
    assert set(row) == {"id", "paper", "class", "place", "printed", "corrected", "size", "test"}
    assert row["class"] in "ABC"
    assert row["paper"] in make_errata.PAPERS
    file, _, name = row["test"].partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), row["test"]


@pytest.mark.parametrize("folder", ["src/forearm/formulations", "docs/papers"])
def test_every_misprint_that_we_name_has_a_row(folder):
    for path in sorted((ROOT / folder).glob("*")):
        if path.suffix in (".py", ".md"):
            named = set(re.findall(r"\((?:[^()]*\W)?([HTNG]\d{1,2})\)", path.read_text(encoding="utf-8")))
            assert named <= set(IDS), (
                f"{path.name}: {sorted(named - set(IDS))} have no row in docs/errata.toml"
            )


# -- slips that no other test is about ---------------------------------------------------------------------


def test_h10_the_force_of_the_last_link_is_its_own():
    """f_n = F_n: what the line gives when its left side is read as f."""
    arm = random_arm(3, 3)
    q, qd, qdd = arm.random_state(4)
    force = fa.reactions(arm, q, qd, qdd).force[-1]

    def center(t):
        """The centre of mass and the axes of the last link, along the motion."""
        T = fa.pose(arm, q + qd * t + qdd * t * t / 2, frame=arm.n)
        return (T @ np.array([*arm.links[-1].com, 1.0]))[:3], T[:3, :3]

    h = 1e-4
    acceleration = (center(h)[0] - 2 * center(0)[0] + center(-h)[0]) / h**2
    want = center(0)[1].T @ (arm.links[-1].mass * (acceleration - np.array(arm.gravity)))
    assert np.abs(force - want).max() < 1e-5 * np.abs(want).max()


def test_t0_where_the_dots_belong():
    """d²T/dt² = Σ ∂T/∂ϑ_j ϑ̈_j + ΣΣ ∂²T/∂ϑ_j∂ϑ_k ϑ̇_j ϑ̇_k, by differences."""
    arm = random_arm(3, 1)
    q, qd, qdd = arm.random_state(2)

    h, unit = 1e-4, np.eye(3)

    def T(change):
        return fa.pose(arm, q + change)

    def along(t):
        return T(qd * t + qdd * t * t / 2)

    def second(a, b):
        return (T(h * (a + b)) - T(h * (a - b)) - T(h * (b - a)) + T(-h * (a + b))) / (4 * h * h)

    right = sum((T(h * e) - T(-h * e)) / (2 * h) * x for e, x in zip(unit, qdd, strict=True))
    right = right + sum(second(unit[j], unit[k]) * qd[j] * qd[k] for j in range(3) for k in range(3))
    left = (along(h) - 2 * along(0.0) + along(-h)) / h**2
    assert np.abs(left - right).max() < 1e-5 * np.abs(left).max()


def test_t17_the_joint_axis_rests_in_both_frames():
    """z_{i-1} is constant in frame i-1 and in frame i, so the slip in the text of 3.4 changes nothing."""
    link = random_arm(2, 5).links[0]
    for angle in (0.0, 0.7, -2.0):
        assert_close(link.rotation(angle).T @ link.z, link.axis)


def test_t21_the_totals_are_those_of_table_2():
    """The larger total is that of the multiplications, as table 2 has it and as counts have it."""
    total = next(row for row in TABLES["turney_mudge_lee_1980"]["2"] if row.row == "Total")
    assert (total.multiplications, total.additions) == (
        "81/6 n^3 + 165/2 n^2 + 5n",
        "40/3 n^3 + 58n^2 - 64/3 n",
    )
    printed = [round(81 / 6 * 216 + 165 / 2 * 36 + 30), round(40 / 3 * 216 + 58 * 36 - 128)]
    assert printed == [5916, 4840]
    ours = polynomial("turney_mudge_lee_1980_lagrange")
    assert ours.multiplications(6) > ours.additions(6)


def test_n6_equation_2_needs_the_velocity_in_the_inertial_frame():
    """d/dt (R I Rᵀ ω_0) = R (I ω̇ + ω × I ω), (1) to (4); with ω in place of ω_0 it is not."""
    rng = np.random.default_rng(6)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = R * np.sign(np.linalg.det(R))
    a = rng.normal(size=(3, 3))
    inertia, w, wd = a @ a.T, rng.normal(size=3), rng.normal(size=3)
    Rd = R @ skew(w)  # ω in the body's axes

    def rate(velocity, change):
        """d/dt of R I Rᵀ v."""
        return Rd @ inertia @ R.T @ velocity + R @ inertia @ Rd.T @ velocity + R @ inertia @ R.T @ change

    right = R @ (inertia @ wd + np.cross(w, inertia @ w))
    assert_close(rate(R @ w, R @ wd + Rd @ w), right)
    assert np.abs(rate(w, wd) - right).max() > 0.1 * np.abs(right).max()


def test_every_paper_has_a_row():
    assert {row["paper"] for row in ROWS} == set(make_errata.PAPERS)
