"""The kinds of faults, and the checks that several rooms share; a room's own refusals stand in that room.

A message says where, what was given, what was expected, what to do.

The parts of an arm check shape and type when they are made; `arm_faults` then collects *all* physical faults
of a whole arm, so that one reading shows them all. Entries that are not plain numbers (symbols, traced
scalars) pass unchecked.

    kinds    the exception family
    call_arguments    readers of one argument of a call
    declarations    what annotations say of an argument
    misfits    no result for what is not declared; the argument that an error is about
    parts    one argument: a scalar, a vector, a matrix, a word
    chains   a whole arm: impossible inertias, names, limits; notes
    calls    states, missing masses, singular matrices
    number_arrays    arrays of real numbers
    labelled_rows    rows of tables in another order
    odd_arms    arms whose numbers look like another unit
    odd_loads    payloads and pushes that look like another unit
    odd_sizes    states that look like degrees or millimetres
    stated_units    units that stand beside numbers
    trees    robots with branches: parents, couplings, free bases
"""

from forearm.faults.call_arguments import *  # noqa: F403
from forearm.faults.calls import *  # noqa: F403
from forearm.faults.chains import *  # noqa: F403
from forearm.faults.declarations import *  # noqa: F403
from forearm.faults.kinds import *  # noqa: F403
from forearm.faults.labelled_rows import *  # noqa: F403
from forearm.faults.misfits import *  # noqa: F403
from forearm.faults.number_arrays import *  # noqa: F403
from forearm.faults.odd_arms import *  # noqa: F403
from forearm.faults.odd_loads import *  # noqa: F403
from forearm.faults.odd_sizes import *  # noqa: F403
from forearm.faults.parts import *  # noqa: F403
from forearm.faults.stated_units import *  # noqa: F403
from forearm.faults.trees import *  # noqa: F403
