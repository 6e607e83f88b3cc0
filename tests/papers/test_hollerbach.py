"""Hollerbach (1980): its matrices, sums and energies, each against something that does not come from the paper."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.algebra import one_based, second_moment, skew
from forearm.counting import polynomial
from forearm.energies import kinetic_energy, potential_energy
from forearm.formulations import FORMULATIONS, hollerbach_1980_4x4, uicker_kahn_1969
from forearm.kinematics import frame_jacobian, frame_motion, link_poses
from forearm.link import Link
from forearm.strobing import strobe, torques_of

RIGHT = torques_of("luh_walker_paul_1980")


def arm_and_state(seed, kinds="R", n=5):
    arm = random_arm(n, seed, kinds, tilted=True)
    return arm, *arm.random_state(seed)


def rotations(arm, q, qd, qdd):
    """W_j, Ẇ_j, Ẅ_j and p_j, ṗ_j, p̈_j of links 1 … n, world axes, from kinematics."""
    found = []
    for j, (W, p) in enumerate(link_poses(arm, q)):
        V, A = frame_motion(arm, q, qd, qdd, frame=j)
        spin, grow = skew(V[3:]), skew(A[3:])
        found.append((W, spin @ W, (grow + spin @ spin) @ W, p, V[:3], A[:3]))
    return found


def slopes(arm, q, i, j):
    """∂p_j/∂q_i and ∂W_j/∂q_i (i ≤ j), world axes, from the Jacobian."""
    column = frame_jacobian(arm, q, j)[:, i - 1]
    return column[:3], skew(column[3:]) @ link_poses(arm, q)[j][0]


def test_equation_2_is_our_matrix():
    a, alpha, s, theta = 0.3, 0.7, -0.2, 0.5
    link = Link.dh("revolute", a=a, alpha=alpha, d=s, theta=0.2)
    c, t, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    # fmt: off
    printed = np.array([
        [1,     0, 0,       0],
        [a * c, c, -t * ca, t * sa],
        [a * t, t, c * ca,  -c * sa],
        [s,     0, sa,      ca],
    ])
    # fmt: on
    assert_close(hollerbach_1980_4x4._transform(link, 0.3)[0], printed)


@pytest.mark.parametrize("kinds", ["R", "RP"])
def test_equation_7_expands_the_acceleration(kinds):
    """Ẅ_j = Σ ∂W_j/∂q_k q̈_k + ΣΣ ∂²W_j/∂q_k∂q_l q̇_k q̇_l, against the motion of the frames."""
    arm, q, qd, qdd = arm_and_state(3, kinds)
    dW, ddW, _ = uicker_kahn_1969._derivatives(arm, one_based(q))
    turn = arm.base.R.T
    for j, (_, _, Wdd, _, _, pdd) in enumerate(rotations(arm, q, qd, qdd)):
        links = range(1, j + 1)
        expanded = sum((dW[j, k] * qdd[k - 1] for k in links), np.zeros((4, 4)))
        expanded = expanded + sum(ddW[j, k, m] * qd[k - 1] * qd[m - 1] for k in links for m in links)
        assert_close(expanded[1:, 1:], turn @ Wdd, scale=np.max(np.abs(Wdd)) + 1)
        assert_close(expanded[1:, 0], turn @ pdd, scale=np.max(np.abs(pdd)) + 1)


@pytest.mark.parametrize("kinds", ["R", "RP"])
def test_equation_15_as_a_direct_sum(kinds):
    """With n_j = m_j r*_j, J_j about origin j, and ∂(p_j + W_j r*_j)/∂q_i in the gravity term (H2, H3, H5)."""
    arm, q, qd, qdd = arm_and_state(4, kinds)
    motion, g = rotations(arm, q, qd, qdd), np.array(arm.gravity)
    F = []
    for i in range(1, arm.n + 1):
        total = 0.0
        for j in range(i, arm.n + 1):
            m, n, inertia = arm.links[j - 1].ten
            J, (_, _, Wdd, _, _, pdd) = second_moment(inertia), motion[j]
            dp, dW = slopes(arm, q, i, j)
            total += np.trace(
                m * np.outer(dp, pdd) + np.outer(dp, Wdd @ n) + np.outer(dW @ n, pdd) + dW @ J @ Wdd.T
            )
            total -= g @ (m * dp + dW @ n)
        F.append(total)
    assert_close(F, RIGHT(arm, q, qd, qdd))


def test_the_printed_gravity_of_equation_15_is_not_enough():
    """-m_j gᵀ ∂W_j/∂q_i r*_j forgets that origin j rises too (H5)."""
    arm, q, _, _ = arm_and_state(4)
    g = np.array(arm.gravity)
    printed = [
        -sum(g @ slopes(arm, q, i, j)[1] @ arm.links[j - 1].ten.first_moment for j in range(i, arm.n + 1))
        for i in range(1, arm.n + 1)
    ]
    want = strobe(arm, q).g
    assert np.max(np.abs(printed - want)) > 0.3 * np.max(np.abs(want))


@pytest.mark.parametrize("kinds", ["R", "RP"])
def test_energies_of_appendix_a(kinds):
    """(A4), (A5) with Ẇᵀ as last factor, (A6) with p_j + W_j r*_j (H11)."""
    arm, q, qd, qdd = arm_and_state(5, kinds)
    K = P = 0.0
    for link, (W, Wd, _, p, pd, _) in zip(arm.links, rotations(arm, q, qd, qdd)[1:], strict=True):
        m, n, inertia = link.ten
        J = second_moment(inertia)
        K += np.trace(m * np.outer(pd, pd) + 2 * np.outer(Wd @ n, pd) + Wd @ J @ Wd.T) / 2  # (A4), (A5)
        P -= m * np.array(arm.gravity) @ (p + W @ link.about_com.center)  # (A6)
    assert_close(K, kinetic_energy(arm, q, qd))
    assert_close(P, potential_energy(arm, q), scale=9.81 * arm.total_mass * 2)


def test_slopes_of_rates_are_slopes_of_positions():
    """The first and third lines of (A12): ∂ṗ_j/∂q̇_i = ∂p_j/∂q_i and ∂Ẇ_j/∂q̇_i = ∂W_j/∂q_i, exactly linear in q̇."""
    arm, q, qd, qdd = arm_and_state(6)
    for i in range(1, arm.n + 1):
        more = rotations(arm, q, qd + np.eye(arm.n)[i - 1], qdd)
        for j, (here, there) in enumerate(zip(rotations(arm, q, qd, qdd), more, strict=True)):
            if j < i:
                continue
            dp, dW = slopes(arm, q, i, j)
            assert_close(there[4] - here[4], dp, scale=np.max(np.abs(there[4])))
            assert_close(there[1] - here[1], dW, scale=np.max(np.abs(there[1])))


def proximal_origins(arm, q, qd, qdd):
    """The other repair: origin i at joint i, in the orientation of frame i. Then (17) and (18) hold as printed.

    r*_i is counted from joint i, ⁱp_{i+1} is the old p*_i, J_i is about joint i; (16) becomes
    p̈_j = p̈_{j-1} + Ẅ_{j-1} ʲ⁻¹p_j, and c_i gains M_{i+1} ⁱp_{i+1}.
    """
    count = arm.n
    A = {i: link.rotation(x) for i, (link, x) in enumerate(zip(arm.links, q, strict=True), 1)}
    dA = {i: skew(link.z) @ A[i] for i, link in enumerate(arm.links, 1)}
    p_next = {i: link.p_star(x) for i, (link, x) in enumerate(zip(arm.links, q, strict=True), 1)}
    W, Wd, Wdd = {0: np.eye(3)}, {0: np.zeros((3, 3))}, {0: np.zeros((3, 3))}
    pdd, p_next[0] = {0: np.zeros(3)}, np.zeros(3)
    n, J, m = {}, {}, {}
    for i, link in enumerate(arm.links, 1):
        ddA, rate, push = skew(link.z) @ dA[i], qd[i - 1], qdd[i - 1]
        W[i] = W[i - 1] @ A[i]
        Wd[i] = Wd[i - 1] @ A[i] + W[i - 1] @ dA[i] * rate
        Wdd[i] = Wdd[i - 1] @ A[i] + 2 * Wd[i - 1] @ dA[i] * rate + W[i - 1] @ (ddA * rate**2 + dA[i] * push)
        pdd[i] = pdd[i - 1] + Wdd[i - 1] @ p_next[i - 1]
        m[i], h, inertia = link.ten
        p = p_next[i]
        n[i] = h + m[i] * p
        J[i] = second_moment(inertia) + np.outer(p, h) + np.outer(h, p) + m[i] * np.outer(p, p)
    A[count + 1], e, D, c, M, F = np.eye(3), np.zeros(3), np.zeros((3, 3)), np.zeros(3), 0.0, []
    for i in range(count, 0, -1):
        D = A[i + 1] @ D + np.outer(p_next[i], e) + np.outer(n[i], pdd[i]) + J[i] @ Wdd[i].T  # (18)
        e = e + m[i] * pdd[i] + Wdd[i] @ n[i]  # (18)
        c = n[i] + A[i + 1] @ c + M * p_next[i]
        M = M + m[i]
        dW = W[i - 1] @ dA[i]
        F.append(np.trace(dW @ D) - arm.gravity_in_base @ dW @ c)  # (17)
    return np.array(F[::-1])


@pytest.mark.parametrize("seed", range(4))
def test_with_proximal_origins_17_and_18_hold_as_printed(seed):
    arm, q, qd, qdd = arm_and_state(seed, n=6)
    assert_close(proximal_origins(arm, q, qd, qdd), RIGHT(arm, q, qd, qdd))


def test_tables_one_and_two():
    """The linear rows of Table II are Table I at n = 6, as the registry quotes it."""
    table_two = {
        "hollerbach_1980_4x4": (4388, 3586),
        "hollerbach_1980_3x3": (2195, 1719),
        "luh_walker_paul_1980": (852, 738),
        "horn_raibert_1978": (468, 264),
        "waters_1979": (7045, 5652),  # Table II prints 7051 multiplications (H16)
        "uicker_kahn_1969": (67143, 51548),  # Table II prints 66271 multiplications (H15)
    }
    for stem, numbers in table_two.items():
        polynomials = FORMULATIONS[stem].published.split(" | ")
        assert tuple(at_six(text) for text in polynomials) == numbers


def at_six(text):
    """The value of a printed polynomial such as '106 1/2 n^2+620 1/2 n-512' at n = 6."""
    total = Fraction(0)
    for term in text.replace("-", "+-").split("+"):
        number, _, power = term.partition("n")
        sign = -1 if number.strip().startswith("-") else 1
        parts = [Fraction(part) for part in number.replace("-", " ").split()]
        size = sum(parts, Fraction(0)) if parts else Fraction(1)
        exponent = 0 if "n" not in term else int(power.strip().removeprefix("^") or 1)
        total += sign * size * 6**exponent
    return total


# -- the pages ------------------------------------------------------------------------------------------------

PAGES = Path(__file__).parents[2] / "docs" / "papers"


def test_the_real_time_table_of_the_page_is_counts_times_time():
    """7.9 s for Uicker and Kahn's operations of Table II; every other row at the same price per operation."""
    text = (PAGES / "uicker_kahn_1969.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]*\| ([\d,]+) \| ([\d,]+) \| (\d+) ms \|", text, re.MULTILINE)
    assert len(rows) == 6
    numbers = [[int(x.replace(",", "")) for x in row] for row in rows]
    price = 7900 / (numbers[0][0] + numbers[0][1])
    for multiplications, additions, milliseconds in numbers:
        assert milliseconds == round(price * (multiplications + additions))


def test_the_example_of_the_horn_raibert_page_runs():
    text = (PAGES / "horn_raibert_1978.md").read_text(encoding="utf-8")
    found = {}
    exec(re.search(r"\n\n```python\n(.*?)```", text, re.DOTALL)[1], found)
    assert_close(found["tau"], RIGHT(found["arm"], found["q"], found["qd"], found["qdd"]))


@pytest.mark.parametrize(
    ("stem", "convention"),
    [
        ("uicker_kahn_1969", "as set forth"),
        ("waters_1979", "as set forth"),
        ("hollerbach_1980_4x4", "as set forth"),
        ("hollerbach_1980_3x3", "as set forth"),
        ("luh_walker_paul_1980", "as set forth, base at rest"),
        ("luh_walker_paul_1980_base", "as set forth, base at rest"),
        ("horn_raibert_1978", "as set forth"),
    ],
)
def test_the_costs_on_the_pages_are_measured(stem, convention):
    """The section Cost names both polynomials that counting finds for our lines."""
    text = (PAGES / f"{stem}.md").read_text(encoding="utf-8").partition("## Cost")[2]
    text = re.sub(r"\\tfrac(\d)\{?(\d+)\}?", r" \1/\2 ", text)
    squeezed = re.sub(r"[\s$]", "", text)
    for polynomial_found in str(polynomial(stem, convention=convention)).split(" | "):
        assert polynomial_found.replace(" ", "") in squeezed, f"{stem}.md does not say {polynomial_found}"
