"""`derive`: the closed form of an arm, by energies or by any paper's formulation, with its check."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from forearm import faults
from forearm.arm import Arm
from forearm.derivation.closed_form import from_energies, from_torques, weight_scales
from forearm.derivation.equations import Equations
from forearm.derivation.numeric_check import numeric_check
from forearm.derivation.parameter_groups import Grouping, grouped, used
from forearm.derivation.preparation import Prepared, prepared
from forearm.derivation.recursion_steps import Steps, watching
from forearm.faults import needs_chain


@faults.explained
def derive(
    arm: Arm,
    formulation: str | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: Any = None,
    group: bool = False,
    timeout: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Equations:
    """The equations of motion of an arm in closed form: M, the Christoffel symbols, C, g and tau.

    The equations are those of the rigid arm (drives are left out, and `notes` says so). Every number of the
    arm may be a SymPy symbol; numbers are read as the decimals that they print and calculated with exactly,
    unless the arm has fixed angles that are no right angles. Sines and cosines of sums of parallel joints are
    folded as the result is formed, so there is no simplification that could hang.

    Args:
        arm: Any arm, with numbers, symbols or both; see `symbolic`.
        formulation: A paper's stem (`luh_walker_paul_1980`): its own torques are evaluated on symbols and
            taken apart. None: energies in closed form and derivatives, the fastest way.
        names: Names of the coordinates, q1 … qn by default.
        coordinates: S (n, n), or a `Coordinates`, for other coordinates x with q = S x, absolute angles for
            instance; torques become Sᵀ tau. Whole numbers where a joint turns.
        group: Whether to group the arm's parameters into base parameters (by energies only).
        timeout: Seconds after which to give up, with a TimeoutError that says how far it came.
        progress: Called with (stage, done, of) as the work goes on.

    Returns:
        Equations, with a numeric check attached.
    """
    needs_chain(arm, "derive")
    started = time.monotonic()
    p = prepared(arm, names, coordinates, timeout, progress)
    _refuse_other_functions(p)
    steps: Steps = {}
    groupings: list[Grouping] = []
    if formulation is not None:
        _refuse_grouping(formulation, group)
        p.tell(formulation, 0, 1)
        with watching(p.ring, arm.n) as steps:
            tau = p.torques_by(formulation)
        dynamics = from_torques(tau, p.ring, p.xd, p.xdd, weight_scales(p.arm, p.ring, p.q, p.S))
    elif group:
        letters, groupings = grouped(p.arm, p.ring)
        dynamics = from_energies(letters, p.ring, p.q, p.x, p.S, p.tell)
        groupings = used(groupings, [dynamics.M, dynamics.christoffel, dynamics.g])
    else:
        dynamics = from_energies(p.arm, p.ring, p.q, p.x, p.S, p.tell)
    equations = Equations(
        arm=arm,
        formulation=formulation,
        coordinates=p.x,
        speeds=p.xd,
        accelerations=p.xdd,
        S=p.S,
        M=dynamics.M,
        christoffel=dynamics.christoffel,
        g=dynamics.g,
        steps=steps,
        groupings=tuple(groupings),
        read_arm=p.arm,
        q=tuple(p.q),
        seconds=time.monotonic() - started,
        check=None,
    )
    p.tell("numeric check", 0, 1)
    p.ring.deadline = float("inf")
    return equations.checked(numeric_check(equations))


def _refuse_other_functions(p: Prepared) -> None:
    """Roots, exponentials and the like are read as letters, which equations have no values for."""
    for meaning in p.ring.meanings.values():
        if not meaning.is_Symbol:
            raise faults.StateFault(
                f"derive: arm {p.arm.name!r} has {faults.shown(meaning)}, which is no sum of products of letters, "
                "their sines and cosines; put a letter in its place."
            )


def _refuse_grouping(formulation: str, group: bool) -> None:
    if group:
        raise faults.StateFault(
            f"derive: group=True with formulation={formulation!r}; base parameters belong to no rigid body "
            "that a paper could be run on. Leave formulation out."
        )
