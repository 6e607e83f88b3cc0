"""Torques by look-up: the memory-based methods that Hollerbach's introduction weighs, as tables that work.

    table = fa.tabulate(arm, "horn_raibert", points=33, interpolation="cubic")
    tau = table.torques(arm, q, qd, qdd)

methods           Albus, Raibert, Horn and Raibert: what is stored, over what, and how it becomes a torque
grids             axes over the joints that matter, and the grid that they span
stencils          nearest, linear and cubic weights
plans             memory and time known beforehand, and refused beyond a limit
filled_tables     the table from compiled kernels
learnt_tables     the table from a log of torques
log_domains       where such a table is known to hold, and how well
lookup_tables     LookupTable: torques for batches; an arm that changed is refused
programs/         the look-up as machine code
table_files       compressed files, and plain ones, which are mapped where they are large
table_headers     what such a file begins with, and how it is written
c_source          one look-up in C99
memory_answers    the memory formulas, for `forearm count --tables`
"""

from forearm.tabulated.filled_tables import tabulate
from forearm.tabulated.learnt_tables import learn_table
from forearm.tabulated.lookup_tables import LookupTable
from forearm.tabulated.plans import TablePlan, plan_table
from forearm.tabulated.table_files import open_table

__all__ = ["LookupTable", "TablePlan", "learn_table", "open_table", "plan_table", "tabulate"]
