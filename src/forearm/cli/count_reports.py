"""More answers of `forearm count`: the published tables, strobing, customised arms, schedules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forearm.cli.count_answers import MOST, Answer, Question, Rows, Table, in_n, refuse_the_endless
from forearm.cli.verbs.paper_verbs import formulation_of

if TYPE_CHECKING:
    from forearm.counting import OperationGraph, PublishedRow

MODIFIED = "turney_mudge_lee_1980_modified"
"""What is strobed and scheduled unless a formulation is named: the report's own set."""
KERNELS = {
    "joint_torques": "inverse_dynamics",
    "joint_accelerations": "forward_dynamics",
    "mass_matrix": "mass_matrix",
}
"""What the compiler calls the quantities that it customises."""

# -- the published tables --------------------------------------------------------------------------------


def printed(which: str | None) -> Answer:
    """The published tables (of a paper, one table) with our count, the computed status and the explanation."""
    from forearm.counting import STATUSES, published
    from forearm.counting.printed import PAPERS, TABLES
    from forearm.faults import StateFault

    numbers = {number: paper for paper in PAPERS for number in TABLES[paper]}
    if which is not None and which not in (*PAPERS, *numbers):
        raise StateFault(
            f"there is no published table {which!r}; give a paper ({', '.join(PAPERS)}) or the number of a table "
            f"({', '.join(numbers)})."
        )
    found = (
        published(which) if which in PAPERS else published(numbers[which], which) if which else published()
    )
    rows = [line for row in found for line in row.rows()]
    keys = dict.fromkeys((row.paper, row.table) for row in found)
    tables = [_printed_table([row for row in found if (row.paper, row.table) == key]) for key in keys]
    tally = {status: sum(row["status"] == status for row in rows) for status in STATUSES}
    sentence = f"{len(rows)} printed numbers: " + ", ".join(f"{k} {name}" for name, k in tally.items()) + "."
    document = {"statuses": tally, "rows": rows}
    return Answer(document, (Table("", rows, file_only=True), *tables), (sentence,))


def _printed_table(found: "list[PublishedRow]") -> Table:
    """A table for reading: explanations stand below, each said once."""
    said: dict[str, int] = {}
    lines = []
    for row in found:
        for line, verdict in zip(row.rows(), (row.multiplications, row.additions), strict=True):
            words = [verdict.reason, *(f"difference {account}" for account in verdict.accounts), row.remark]
            marks = [said.setdefault(sentence, len(said) + 1) for sentence in words if sentence]
            sign = "×" if line["operation"] == "multiplications" else "+"
            shown = {key: line[key] for key in ("published", "ours", "status", "residual")}
            lines.append({"row": row.row, "": sign, **shown, "note": " ".join(f"[{mark}]" for mark in marks)})
    notes = tuple(f"[{k}] {sentence}" for sentence, k in said.items())
    return Table(f"{found[0].paper}, table {found[0].table}, {found[0].page}", lines, notes)


# -- strobing, customised arms ---------------------------------------------------------------------------


def strobed(question: Question) -> Answer:
    """What M, the C^i, one acceleration and one step cost by strobing; k1, d1, k2, d2."""
    from forearm.counting import simulation_costs, strobing_costs
    from forearm.counting.strobing_costs import coefficients
    from forearm.faults import StateFault

    stem = question.stem or MODIFIED
    row = formulation_of(stem, "joint_torques")
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
        Table("", rows, file_only=True),
        Table("", short),
        Table("Work for each visit of a link, in long chains", visits),
    )
    return Answer(document, tables, sentences)


def customised(question: Question) -> Answer:
    """The compiled cost of an arm beside general polynomials and published records."""
    from forearm.counting import customised as compiled
    from forearm.counting.customising import with_arbitrary_inertias
    from forearm.faults import StateFault

    assert question.arm is not None
    quantity = question.quantity or "joint_torques"
    if quantity not in KERNELS:
        raise StateFault(f"--customised: no kernel gives {quantity!r}; give one of {', '.join(KERNELS)}.")
    if question.stem is not None and question.stem != "search":
        formulation_of(question.stem, quantity)
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
    return Answer(document, (Table("", rows),), (sentence,))


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
    from forearm.counting import polynomial
    from forearm.counting.customising import GENERAL, GENERAL_RECORDS, RECORDS

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


# -- schedules -------------------------------------------------------------------------------------------


def schedule_graph(question: Question) -> "tuple[OperationGraph, str]":
    """The operations that are scheduled, and the name of the convention that charges them."""
    from forearm.counting import operation_graph
    from forearm.counting.conventions import TURNEY_DIAGONAL

    stem = question.stem or MODIFIED
    quantity = question.quantity_of(stem)
    rule = question.convention or (question.rule if question.arm is not None else TURNEY_DIAGONAL)
    if question.arm is None and (whole := in_n(stem, rule, quantity)) is not None:
        refuse_the_endless(stem, question.n, whole, MOST // 4)
    arm = None if question.arm is None else question.arm.without_drives()
    return operation_graph(stem, question.n, arm=arm, convention=rule, quantity=quantity), rule.name


def scheduled(graph: "OperationGraph", convention: str, processors: Sequence[int]) -> Answer:
    """Longest chains, and the time on p multipliers and p adders with its bound."""
    from forearm.counting import macro_schedule, makespan, schedule_table
    from forearm.counting.operation_graphs import SLOW_MULTIPLY

    rows = schedule_table(graph, processors) if processors else schedule_table(graph)
    chains = [
        {"on as many units as one likes": "longest chain, one step for each operation",
         "steps": graph.critical_path()},
        {"on as many units as one likes": "longest chain, two steps for a multiplication",
         "steps": graph.critical_path(SLOW_MULTIPLY)},
        {"on as many units as one likes": "each equation of each link one task on a processor of its own",
         "steps": makespan(macro_schedule(graph))},
    ]  # fmt: skip
    shown = [{**row, "speed_up": round(row["speed_up"], 2)} for row in rows]
    m, a = graph.count("multiplications"), graph.count("additions")
    sentence = f"{graph.name}: {m:,} multiplications, {a:,} additions, convention {convention!r}."
    document = {
        "graph": graph.name,
        "convention": convention,
        "multiplications": m,
        "additions": a,
        "critical_path": chains[0]["steps"],
        "critical_path_slow_multiply": chains[1]["steps"],
        "macro": chains[2]["steps"],
        "schedules": rows,
    }
    tables = (
        Table("T_p: steps on p multipliers and p adders, the longest remaining chain first", shown),
        Table("", chains),
    )
    return Answer(document, tables, (sentence,))
