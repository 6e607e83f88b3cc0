"""Schedules: longest chains, and the time on p multipliers and p adders."""

from collections.abc import Sequence

from forearm.counting.answers.question import (
    MODIFIED,
    MOST,
    Answer,
    AnswerTable,
    Question,
    in_n,
    refuse_the_endless,
)
from forearm.counting.meter.conventions import TURNEY_DIAGONAL
from forearm.counting.schedules.list_schedules import schedule_table
from forearm.counting.schedules.operation_graphs import (
    SLOW_MULTIPLY,
    TABLE_5_TASKS,
    OperationGraph,
    macro_schedule,
    makespan,
    operation_graph,
)


def schedule_graph(question: Question) -> tuple[OperationGraph, str]:
    """The operations that are scheduled, and the name of the convention that charges them."""
    stem = question.stem or MODIFIED
    quantity = question.quantity_of(stem)
    rule = question.convention or (question.rule if question.arm is not None else TURNEY_DIAGONAL)
    if question.arm is None and (whole := in_n(stem, rule, quantity)) is not None:
        refuse_the_endless(stem, question.n, whole, MOST // 4)
    arm = None if question.arm is None else question.arm.without_drives()
    return operation_graph(stem, question.n, arm=arm, convention=rule, quantity=quantity), rule.name


def table_5_graph(question: Question) -> OperationGraph | None:
    """The operations of table 4, which table 5 schedules, if it is the modified set that is asked about."""
    if question.stem not in (None, MODIFIED) or question.arm is not None or question.convention is not None:
        return None
    return operation_graph("turney_mudge_lee_1980_table_4", question.n)


def scheduled(
    graph: OperationGraph, convention: str, processors: Sequence[int], table_5: OperationGraph | None = None
) -> Answer:
    """Longest chains, and the time on p multipliers and p adders with its bound; table 5's tasks where they apply."""
    rows = schedule_table(graph, processors) if processors else schedule_table(graph)
    chains = [
        {"on as many units as one likes": "longest chain, one step for each operation",
         "steps": graph.critical_path()},
        {"on as many units as one likes": "longest chain, two steps for a multiplication",
         "steps": graph.critical_path(SLOW_MULTIPLY)},
        {"on as many units as one likes": "each equation of each link one task on a processor of its own",
         "steps": makespan(macro_schedule(graph))},
    ]  # fmt: skip
    if table_5 is not None:
        chains.append(
            {
                "on as many units as one likes": "the quantities of Turney, Mudge and Lee's table 5 as tasks",
                "steps": makespan(macro_schedule(table_5, merge=TABLE_5_TASKS)),
            }
        )
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
        "macro_table_5": None if table_5 is None else chains[3]["steps"],
        "schedules": rows,
    }
    tables = (
        AnswerTable("T_p: steps on p multipliers and p adders, the longest remaining chain first", shown),
        AnswerTable("", chains),
    )
    return Answer(document, tables, (sentence,))
