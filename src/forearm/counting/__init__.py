"""What formulations cost: exact operation counts, the published tables, schedules, customised costs.

count("luh_walker_paul_1980", n=6).total          861 | 690 (852 | 681 where the base is at rest)
polynomial("luh_walker_paul_1980")                150n - 39 | 122n - 42
published("hollerbach_1980")                      every printed number beside ours, with its status
customised(arm)                                   what the compiled kernel of one arm costs
list_schedule(operation_graph(stem), 4)           on four multipliers and four adders
"""

from forearm.counting.comparing import first_above, formulation_rows
from forearm.counting.conventions import CONVENTIONS, Convention
from forearm.counting.customising import Customised, customised, customised_rows
from forearm.counting.operation_graphs import OperationGraph, macro_schedule, makespan, operation_graph
from forearm.counting.polynomials import Polynomial, Polynomials, polynomial
from forearm.counting.schedules import Schedule, list_schedule, schedule_table
from forearm.counting.strobing_costs import simulation_costs, strobing_costs
from forearm.counting.tallies import Count, Tally, count
from forearm.counting.verdicts import STATUSES, PublishedRow, Verdict, published
from forearm.counting.writing import written

__all__ = [
    "CONVENTIONS",
    "STATUSES",
    "Convention",
    "Count",
    "Customised",
    "OperationGraph",
    "Polynomial",
    "Polynomials",
    "PublishedRow",
    "Schedule",
    "Tally",
    "Verdict",
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
    "written",
]
