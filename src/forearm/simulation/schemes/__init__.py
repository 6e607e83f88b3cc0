"""Integration schemes, one file each; a file holds the scheme's row and what makes its engine.

rk4          classical Runge-Kutta, inside the kernel
euler        semi-implicit Euler; `dry_friction` is the same with joints that stick
symplectic   implicit midpoint rule in momenta
dop853       adaptive, one motion
papers       as the report of 1980 did it, in plain Python

A scheme is added by its file and its name in SCHEMES; `simulate`, `advise_step`, the command line, outcomes and the GPU
read the row.
"""

from forearm.simulation.engines import Scheme
from forearm.simulation.schemes import dop853, euler, papers, rk4, symplectic

SCHEMES: dict[str, Scheme] = {
    module.SCHEME.name: module.SCHEME for module in (rk4, euler, symplectic, dop853, papers)
}
"""Every scheme by name; the first is the default."""
