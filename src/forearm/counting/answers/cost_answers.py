"""Strobing, and arms with their numbers folded in."""

from typing import Any

from forearm.counting.answers.question import MODIFIED, Answer, AnswerTable, Question, Rows
from forearm.counting.costs.customised_costs import GENERAL, GENERAL_RECORDS, RECORDS, with_arbitrary_inertias
from forearm.counting.costs.customised_costs import customised as compiled
from forearm.counting.costs.polynomials import polynomial
from forearm.counting.costs.strobing_costs import coefficients, simulation_costs, strobing_costs
from forearm.faults import StateFault
from forearm.formulations import FORMULATIONS

KERNELS = {
    "joint_torques": "inverse_dynamics",
    "joint_accelerations": "forward_dynamics",
    "mass_matrix": "mass_matrix",
}
"""What the compiler calls the quantities that it customises."""


def strobed(question: Question) -> Answer:
    """What M, the C^i, one acceleration and one step cost by strobing; k1, d1, k2, d2."""
    stem = question.stem or MODIFIED
    row = FORMULATIONS[stem].giving("joint_torques")
    if row.needs:
        raise StateFault(
            f"{stem} needs {row.needs}, and strobing is how they are found; give another formulation."
        )
    costs = {cost.part: cost for cost in (*strobing_costs(stem), *simulation_costs(stem))}
    kinds = ("multiplications", "additions", "divisions")
    rows = [
        {
            "part": part,
            **{f"{kind} in n": str(getattr(cost, kind)) for kind in kinds},
            **{kind: int(getattr(cost, kind)(question.n)) for kind in kinds},
        }
        for part, cost in costs.items()
    ]
    visits = [
        {name.replace("multiplications", "multiplications each").replace("additions", "additions each"): value
         for name, value in row.items()}
        for row in coefficients(stem)
    ]  # fmt: skip
    sentences = (
        f"{stem} strobed, n = {question.n}, inertia diagonal, no gravity; only what is asked for is done.",
    )
    document = {"formulation": stem, "n": question.n, "costs": rows, "coefficients": visits}
    short = [
        {
            "part": row["part"],
            "multiplications": row["multiplications in n"],
            "additions": row["additions in n"],
            "divisions": row["divisions in n"],
            f"n = {question.n}": " | ".join(f"{row[kind]:,}" for kind in kinds),
        }
        for row in rows
    ]
    tables = (
        AnswerTable("", rows, file_only=True),
        AnswerTable("", short),
        AnswerTable("Work for each visit of a link, in long chains", visits),
    )
    return Answer(document, tables, sentences)


def customised(question: Question) -> Answer:
    """The compiled cost of an arm beside general polynomials and published records."""
    assert question.arm is not None
    quantity = question.quantity or "joint_torques"
    if quantity not in KERNELS:
        raise StateFault(f"--customised: no kernel gives {quantity!r}; give one of {', '.join(KERNELS)}.")
    if question.stem is not None and question.stem != "search":
        FORMULATIONS[question.stem].giving(quantity)
    kernel, arm = KERNELS[quantity], question.arm.without_drives()
    cost = compiled(arm, kernel, question.stem)
    arbitrary = compiled(with_arbitrary_inertias(arm), kernel, question.stem)
    rows = [
        _cost_line(f"{arm.name}, its numbers folded in", cost, f"compiled: {cost.by}"),
        _cost_line(f"{arm.name}, arbitrary inertias", arbitrary, f"compiled: {arbitrary.by}"),
    ]
    if quantity == "joint_torques":
        rows += _records(arm.name, arm.n)
    document = {"arm": arm.name, "n": arm.n, "quantity": quantity, "customised": vars(cost), "rows": rows}
    sentence = (
        f"{arm.name}, rigid, {arm.n} joints, {kernel}: {cost.operations} operations, {cost.instructions} instructions "
        f"with fused multiply-adds, {cost.sincos} sines and cosines, longest chain {cost.critical_path}."
    )
    return Answer(document, (AnswerTable("", rows),), (sentence,))


def _cost_line(what: str, cost: Any, how: str) -> dict[str, Any]:
    return {
        "cost": what,
        "multiplications": cost.multiplications,
        "additions": cost.additions,
        "operations": cost.operations,
        "how": how,
    }


def _records(arm: str, n: int) -> Rows:
    """General polynomials at n, ours first, and what others report for the same arm."""
    ours = polynomial(GENERAL)
    general = [
        (f"{GENERAL} as set forth", ours.multiplications, ours.additions, "counted"),
        *((r.source, r.multiplications, r.additions, r.standing) for r in GENERAL_RECORDS),
    ]
    lines = [
        {
            "cost": f"general: {source}",
            "multiplications": int(m(n)),
            "additions": int(a(n)),
            "operations": int(m(n) + a(n)),
            "how": f"{m} | {a}; {standing}",
        }
        for source, m, a, standing in general
    ]
    return lines + [
        {
            "cost": f"record: {r.source}",
            "multiplications": r.multiplications,
            "additions": r.additions,
            "operations": r.operations,
            "how": f"{r.inertias}; {r.standing}",
        }
        for r in RECORDS
        if r.arm == arm
    ]
