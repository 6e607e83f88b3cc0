"""How much memory each method needs: the formulas that follow from what it stores, and an arm's own numbers."""

from forearm.arm import Arm
from forearm.counting.answers.question import Answer, AnswerTable
from forearm.faults import StateFault
from forearm.tabulated.methods import METHODS
from forearm.tabulated.plans import amount, plan_table

FORMULAS = {
    "albus": ("tau(q, qd, qdd)", "n p^(3n)", "n p^(3n-1)"),
    "raibert": ("J(q), K(q, qd)", "n² p^n + n p^(2n)", "n(n+1)/2 p^(n-1) + n p^(2n-1)"),
    "horn_raibert": ("G(q), J(q), C(q)", "(n³+n²+n) p^n", "(n²(n+1)/2 + n(n+1)/2 + n) p^(n-1)"),
}
"""Method -> what it stores, numbers stored as Hollerbach's introduction describes it, and after symmetry and without
joint 1, which does not enter when its axis is vertical; p points on each axis."""
BYTES = 8


def all_numbers(method: str, n: int, p: int) -> int:
    """Numbers stored when nothing is saved."""
    return {
        "albus": n * p ** (3 * n),
        "raibert": n**2 * p**n + n * p ** (2 * n),
        "horn_raibert": (n**3 + n**2 + n) * p**n,
    }[method]


def needed_numbers(method: str, n: int, p: int) -> int:
    """Numbers stored after symmetry, joint 1 left out."""
    half = n * (n + 1) // 2
    return {
        "albus": n * p ** (3 * n - 1),
        "raibert": half * p ** (n - 1) + n * p ** (2 * n - 1),
        "horn_raibert": (n * half + half + n) * p ** (n - 1),
    }[method]


def memory_of_tables(n: int, arm: Arm | None, points: int) -> Answer:
    """The three methods side by side, in formulas and in numbers."""
    if points < 2:
        raise StateFault(f"--points is {points}; an axis has at least 2.")
    joints = n if arm is None else arm.n
    rows = []
    for method in METHODS:
        stores, plain, saved = FORMULAS[method]
        whole, least = all_numbers(method, joints, points), needed_numbers(method, joints, points)
        row = {
            "method": method,
            "stores": stores,
            "numbers": plain,
            "memory": amount(BYTES * whole),
            "numbers, least": saved,
            "memory, least": amount(BYTES * least),
        }
        if arm is not None:
            plan = plan_table(arm, method, points=points, speeds=1.0, accelerations=1.0)
            row |= {f"{arm.name}": f"{plan.bytes // BYTES:,}", "its memory": amount(plan.bytes)}
        rows.append(row)
    who = f"{joints} joints" if arm is None else f"{arm.name}, {joints} joints"
    notes = (
        f"p = {points} values an axis, {BYTES} bytes a number. What is stored is Hollerbach's (1980, introduction); "
        "he prints no formula for it.",
        "Least: symmetric entries once, joint 1 left out (vertical axis); an arm's own zeros and constants save more.",
    )
    return Answer(rows, (AnswerTable(f"Memory of tabulated torques: {who}", rows, notes),))
