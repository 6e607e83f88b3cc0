"""What formulations cost: exact operation counts, the published tables, schedules, customised costs.

count("luh_walker_paul_1980", n=6).total          861 | 690 (852 | 681 where the base is at rest)
polynomial("luh_walker_paul_1980")                150n - 39 | 122n - 42
published("hollerbach_1980")                      every printed number beside ours, with its status
customised(arm)                                   what the compiled kernel of one arm costs
list_schedule(operation_graph(stem), 4)           on four multipliers and four adders

as_counted/ holds formulations in the structure that a table counts; meter/ counts; schedules/ and costs/ make
sense of the counts; published_tables/ judges what is printed; answers/ is what the command line tells.
"""

from forearm.counting.answers.row_formats import written
from forearm.counting.costs.customised_costs import Customised, customised, customised_rows
from forearm.counting.costs.polynomials import CostPolynomials, Polynomial, polynomial
from forearm.counting.costs.side_by_side import cost_curves, first_above, formulation_rows, tables_lose
from forearm.counting.costs.strobing_costs import simulation_costs, strobing_costs
from forearm.counting.meter.conventions import CONVENTIONS, Convention
from forearm.counting.meter.tallies import Count, Tally, count
from forearm.counting.published_tables.verdicts import STATUSES, PublishedRow, Verdict, published
from forearm.counting.schedules.list_schedules import Schedule, list_schedule, schedule_table
from forearm.counting.schedules.operation_graphs import (
    OperationGraph,
    macro_schedule,
    makespan,
    operation_graph,
)

__all__ = [
    "CONVENTIONS",
    "STATUSES",
    "Convention",
    "CostPolynomials",
    "Count",
    "Customised",
    "OperationGraph",
    "Polynomial",
    "PublishedRow",
    "Schedule",
    "Tally",
    "Verdict",
    "cost_curves",
    "count",
    "customised",
    "customised_rows",
    "first_above",
    "formulation_rows",
    "list_schedule",
    "macro_schedule",
    "makespan",
    "operation_graph",
    "polynomial",
    "published",
    "schedule_table",
    "simulation_costs",
    "strobing_costs",
    "tables_lose",
    "written",
]
