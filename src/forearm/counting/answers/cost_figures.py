"""Answers as pictures (matplotlib, the extra `plot`)."""

from collections.abc import Sequence
from typing import Any

from forearm.counting.answers.question import Question
from forearm.counting.costs.customised_costs import GENERAL
from forearm.counting.costs.side_by_side import cost_curves, tables_lose
from forearm.counting.meter.tallies import count
from forearm.counting.schedules.list_schedules import list_schedule, schedule_table
from forearm.counting.schedules.operation_graphs import OperationGraph
from forearm.plots import cost_lines
from forearm.plots.style import figure, styled


def cost_picture(question: Question) -> Any:
    """Cost against n for all formulations, and what each equation of one costs."""
    stem = question.stem or GENERAL
    found = count(
        stem,
        question.n,
        arm=question.arm,
        convention=question.convention,
        quantity=question.quantity_of(stem) if question.stem else "joint_torques",
    )
    with styled():
        made, (left, right) = figure(12.5, 5.4, ncols=2, width_ratios=(1.35, 1))
        cost_lines.cost_against_joints(left, cost_curves(), tables_lose(), mark=question.stem)
        left.set_title("what the torques cost, as set forth")
        cost_lines.breakdown(right, found)
    return made


def schedule_picture(graph: OperationGraph, processors: Sequence[int]) -> Any:
    """Who does what when on the first p, and T_p against p."""
    p = processors[0] if processors else 4
    rows = schedule_table(graph, sorted({1, 2, 3, 4, 6, 8, 12, 16, *processors}))
    with styled():
        height = min(2.6 + 0.36 * p, 12.0)
        made, (top, bottom) = figure(9.0, height + 3.4, nrows=2, height_ratios=(height, 3.4))
        cost_lines.gantt(top, list_schedule(graph, p))
        cost_lines.time_against_units(bottom, rows)
    return made
