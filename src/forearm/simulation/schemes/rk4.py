"""The classical Runge-Kutta scheme of fourth order."""

from forearm.compiler.graph.step_rules import RK4
from forearm.simulation.engines import Scheme, by_rule

SCHEME = Scheme(
    "rk4",
    order=4,
    make=by_rule(RK4),
    told="fourth order, compiled, the whole loop in one kernel",
    stable=2.6,
)
