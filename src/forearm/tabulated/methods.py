"""What each method stores, over what, and how it becomes a torque.

Albus (1975) stores the torques themselves over q, qd and qdd. Raibert (1978) stores J(q) and K(q, qd), so that
tau = J qdd + K. Horn and Raibert (1978) store G(q), J(q) and C(q): tau = G + J qdd + C qd qd. Friction is in none of
them: it is a function of one speed alone, so a look-up adds it as it is; rotor inertia is in J.

An entry that is zero, or equal to another by symmetry, is not stored; an entry is stored over those coordinates
alone that occur in its compiled graph (joint 1 of an upright arm never does).
"""

from dataclasses import dataclass, replace

from forearm.arm import Arm
from forearm.arm_calls import kernel_of
from forearm.compiler.graph.graph import Graph
from forearm.faults import StateFault, needs_arm, needs_dynamics

Coordinate = tuple[str, int]
"""('q', 'qd' or 'qdd', joint from 0)."""


@dataclass(frozen=True)
class TorqueTerm:
    """One thing that an entry does: torque at a joint, times a product of speeds or accelerations."""

    joint: int
    """Where the torque acts, from 0."""
    factors: tuple[Coordinate, ...] = ()
    """What the entry is multiplied with."""
    times: float = 1.0
    """And by this: 2 for a mixed Coriolis coefficient, which stands for two."""


@dataclass(frozen=True)
class TableEntry:
    """One number that is stored for each point of a grid."""

    quantity: str
    """The function of states that gives it."""
    place: int
    """Which element of that quantity, flat."""
    terms: tuple[TorqueTerm, ...]
    """What it does."""
    over: tuple[Coordinate, ...]
    """The coordinates that it depends on."""


METHODS = {
    "albus": ("inverse_dynamics",),
    "raibert": ("mass_matrix", "bias_torque"),
    "horn_raibert": ("gravity_torque", "mass_matrix", "christoffel"),
}
"""Method -> the quantities that it stores."""
INPUTS = ("q", "qd", "qdd")


def method_named(name: str) -> tuple[str, ...]:
    """The quantities that a method stores."""
    if name not in METHODS:
        raise StateFault(f"tabulate: method is {name!r}; give one of {', '.join(METHODS)}.")
    return METHODS[name]


def frictionless(arm: Arm) -> Arm:
    """The arm whose torques are tabulated: rotor inertia stays, friction does not."""
    needs_arm(arm)
    needs_dynamics(arm, "table of torques")
    if not any(link.drive.viscous or any(link.drive.coulomb) for link in arm.links):
        return arm
    links = [link.replace(drive=replace(link.drive, viscous=0.0, coulomb=(0.0, 0.0))) for link in arm.links]
    return arm.replace(links=tuple(links))


def entries_of(arm: Arm, method: str) -> tuple[TableEntry, ...]:
    """All numbers that a method stores for this arm (without friction)."""
    return tuple(entry for quantity in method_named(method) for entry in _entries(arm, quantity))


def _entries(arm: Arm, quantity: str) -> list[TableEntry]:
    graph = kernel_of(arm, quantity).graph
    found = []
    for place, (over, zero) in enumerate(_reach(graph)):
        terms = _terms(quantity, arm.n, place)
        if terms and not zero:
            found.append(TableEntry(quantity, place, terms, over))
    return found


def _terms(quantity: str, n: int, place: int) -> tuple[TorqueTerm, ...]:
    """What an element does; none for what symmetry already says."""
    if quantity == "mass_matrix":
        i, j = divmod(place, n)
        if i == j:
            return (TorqueTerm(i, (("qdd", i),)),)
        pair = TorqueTerm(i, (("qdd", j),)), TorqueTerm(j, (("qdd", i),))
        return pair if i < j else ()
    if quantity == "christoffel":
        i, (j, k) = place // (n * n), divmod(place % (n * n), n)
        return (TorqueTerm(i, (("qd", j), ("qd", k)), 1.0 if j == k else 2.0),) if j <= k else ()
    return (TorqueTerm(place),)


def _reach(graph: Graph) -> list[tuple[tuple[Coordinate, ...], bool]]:
    """For each result: the inputs that it depends on, and whether it is zero."""
    reached: list[frozenset[tuple[int, int]]] = []
    for node in graph.nodes:
        own = frozenset() if node.at is None else frozenset([node.at])
        reached.append(own.union(*(reached[k] for k in node.args)))
    names = [port.name for port in graph.inputs]
    return [
        (
            tuple((names[port], joint) for port, joint in sorted(reached[result])),
            graph.nodes[result].op == "const" and graph.nodes[result].value == 0,
        )
        for result in graph.results[0]
    ]
