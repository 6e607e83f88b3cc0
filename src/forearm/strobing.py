"""Strobing: M, the C^i_jk and g out of any inverse dynamics, by asking it for well chosen torques.

Turney, Mudge and Lee (1980), section 3, switch the inputs of an inverse dynamics on and off: with everything
at rest it answers with gravity; without gravity a unit acceleration of joint j answers with column j of M,
a unit velocity of joint j with C^i_jj. For the mixed coefficients the report prescribes the response to unit
velocities of both joints. That is C^i_jj + C^i_kk + 2 C^i_jk, so the two single responses must be taken off
and the rest halved:

    C^i_jk = (response(j, k) - response(j) - response(k)) / 2

Everything works on any scalar that the formulation works on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, States, Vector
from forearm.arm import Arm
from forearm.faults import StateFault, explained, finite_state, needs_chain, no_formulation, one_state, state
from forearm.formulations import FORMULATIONS, Formulation

DEFAULT = "luh_walker_paul_1980"
"""The formulation that is strobed unless another is named."""

NO_GRAVITY = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Strobed:
    """The coefficients of the equations of motion at one configuration: tau = M qdd + C qd qd + g."""

    M: Matrix
    """Mass matrix (n, n)."""
    C: Matrix
    """Christoffel symbols (n, n, n): C[i, j, k] is what qd[j] qd[k] costs at joint i, symmetric in j, k."""
    g: Vector
    """Gravity torque (n,)."""


@explained
def strobe(arm: Arm, q: States, formulation: str = DEFAULT) -> Strobed:
    """Coefficients M, C, g at q, strobed from a formulation's joint torques.

    Args:
        arm: The arm; its drives play no part.
        q: Joint positions (n,).
        formulation: Which inverse dynamics to ask, by its name in FORMULATIONS.

    Returns:
        M from n responses, C from n (n + 1) / 2 (its symmetry in j, k is used), g from one.
    """
    needs_chain(arm, "strobe")
    torques = _checked(arm, formulation)
    n = len(arm.links)
    one_state(arm, "q", q)
    q = state(arm, "q", q)
    finite_state(arm, "q", q)
    weightless = arm.replace(gravity=NO_GRAVITY)
    rest, unit = np.zeros(n), np.eye(n)
    alone = [torques(weightless, q, unit[j], rest) for j in range(n)]
    C: dict[tuple[int, int], Vector] = {}
    for j in range(n):
        C[j, j] = alone[j]
        for k in range(j):
            both = torques(weightless, q, unit[j] + unit[k], rest)
            C[j, k] = C[k, j] = (both - alone[j] - alone[k]) / 2
    tensor = np.array([[[C[j, k][i] for k in range(n)] for j in range(n)] for i in range(n)])
    return Strobed(strobed_mass_matrix(arm, q, formulation), tensor, torques(arm, q, rest, rest))


def strobed_mass_matrix(arm: Any, q: Any, formulation: str = DEFAULT) -> Matrix:
    """M (n, n), column j the torques of a unit acceleration of joint j, at rest and without gravity.

    Args:
        arm: The arm; its drives play no part.
        q: Joint positions (n,).
        formulation: Which inverse dynamics to ask, by its name in FORMULATIONS.
    """
    torques = _checked(arm, formulation)
    n = len(arm.links)
    weightless = arm.replace(gravity=NO_GRAVITY)
    return np.array([torques(weightless, q, np.zeros(n), column) for column in np.eye(n)]).T


def torques_of(formulation: str) -> Callable[..., Vector]:
    """Joint torques of any formulation as a function (arm, q, qd, qdd, *, tip_wrench=None) of the state.

    A formulation that needs coefficients (horn_raibert_1978) gets them strobed from the default one.
    """
    row = _row(formulation)
    if not row.needs:
        return row.joint_torques  # type: ignore[no-any-return]

    def tabulated(arm: Any, q: Any, qd: Any, qdd: Any, *, tip_wrench: Any = None) -> Vector:
        """Joint torques (n,) from coefficients strobed at q."""
        return row.joint_torques(arm, q, qd, qdd, coefficients=strobe(arm, q), tip_wrench=tip_wrench)  # type: ignore[no-any-return]

    return tabulated


def _row(formulation: str) -> Formulation:
    """The registry's row, if it gives joint torques."""
    able = [stem for stem, row in FORMULATIONS.items() if "joint_torques" in row.gives]
    if formulation in able:
        return FORMULATIONS[formulation]
    no_formulation(formulation, able, giving="joint torques")


def _checked(arm: Any, formulation: str) -> Callable[..., Vector]:
    """The formulation's joint torques, if they do not need coefficients themselves and it takes this arm."""
    row = _row(formulation)
    if row.needs:
        raise StateFault(
            f"formulation {formulation!r} needs {row.needs} to give torques, and strobing is how they are "
            f"found; strobe another one, such as {DEFAULT!r}."
        )
    if not row.accepts(arm):
        first = next(i for i, link in enumerate(arm.links, 1) if link.prismatic)
        raise StateFault(
            f"formulation {formulation!r} is for revolute joints, but joint {first} of arm {arm.name!r} is "
            f"prismatic; strobe another one, such as {DEFAULT!r}."
        )
    return row.joint_torques  # type: ignore[no-any-return]
