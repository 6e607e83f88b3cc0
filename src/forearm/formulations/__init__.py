"""The formulations: one paper, one file. `FORMULATIONS` is the registry that tests, docs and CLI read.

Every quantity is a plain function of one arm and one state:

    joint_torques(arm, q, qd, qdd, *, tip_wrench=None)   tau (n,)
    mass_matrix(arm, q)                                  M (n, n)
    christoffel(arm, q)                                  C[i, j, k], symmetric in j, k
    coriolis_matrix(arm, q, qd)                          C (n, n), the Christoffel one
    gravity_torque(arm, q)                               g (n,)
    reactions(arm, q, qd, qdd, *, tip_wrench=None)       f, n (n, 3) on link i, axes of link i, at origin i-1
    joint_accelerations(arm, q, qd, tau, *, tip_wrench=None)    qdd (n,)

`tip_wrench` is [force; moment] (6,) that the surroundings exert on the hand, at the origin of frame n, base
axes. `joint_torques` of horn_raibert_1978 also needs `coefficients=`, the M, C, g that `strobe` gives.
"""

from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import Any

from forearm.faults import (
    ArmFault,
    StateFault,
    needs_arm,
    needs_chain,
    no_dynamics,
    no_formulation,
    one_state,
)

QUANTITIES = (
    "joint_torques",
    "mass_matrix",
    "christoffel",
    "coriolis_matrix",
    "gravity_torque",
    "reactions",
    "joint_accelerations",
)

_STATE = {
    "mass_matrix": ("q",),
    "christoffel": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "gravity_torque": ("q",),
    "joint_accelerations": ("q", "qd", "tau"),
}
"""What a quantity takes after the arm; (q, qd, qdd) where it is not here."""


@dataclass(frozen=True)
class Formulation:
    """One row of the registry."""

    stem: str
    """Name of the module, authors_year[_variant]."""
    paper: str
    """Where it is published, short."""
    gives: tuple[str, ...]
    """Quantities that it computes; one public function each."""
    joints: str
    """'RP' for revolute and prismatic joints, 'R' for revolute joints only."""
    view: str
    """How it reads inertia: 'com' or 'ten'. Only 'ten' accepts a regrouped arm."""
    order: str
    """How the cost of its main quantity grows with the number of joints."""
    published: str = ""
    """The published cost (multiplications | additions), if any; H13 and H16 corrected (25n^4, 620 1/2 n)."""
    extension: str = ""
    """What goes beyond the paper, if anything."""
    needs: str = ""
    """What joint_torques must be given besides the state: '' or 'coefficients' (see strobing.torques_of)."""

    @property
    def module(self) -> ModuleType:
        """The module itself, imported on first use."""
        return import_module(f"forearm.formulations.{self.stem}")

    def __getattr__(self, name: str) -> Any:
        if name in QUANTITIES and name in self.gives:
            return _checked(self, name)
        raise AttributeError(f"{self.stem} gives {', '.join(self.gives)}; it has no {name}")

    def accepts(self, arm: Any) -> bool:
        """Whether the arm's joints are of the kinds that it handles."""
        return self.joints == "RP" or (
            all(link.revolute for link in arm.links) and not getattr(arm, "free", False)
        )

    def giving(self, quantity: str | None) -> "Formulation":
        """Itself, or a fault if it does not give the quantity (None: whatever it gives)."""
        if quantity is not None and quantity not in self.gives:
            raise StateFault(
                f"{self.stem} gives {', '.join(self.gives)}, not {quantity}; choose another formulation."
            )
        return self


@cache
def _checked(row: Formulation, quantity: str) -> Any:
    """A formulation's function with its arguments checked; one for all who ask, so that it equals itself."""
    function = getattr(row.module, quantity)
    names = _STATE.get(quantity, ("q", "qd", "qdd"))

    @wraps(function)
    def checked(arm: Any, *args: Any, **keywords: Any) -> Any:
        needs_arm(arm)
        needs_chain(arm, row.stem)
        if not getattr(arm, "dynamics", True):
            no_dynamics(arm, quantity)
        sliding = [link.name for link in arm.links if not link.revolute] if row.joints == "R" else []
        if sliding:
            raise ArmFault(
                f"{row.stem} takes revolute joints only, but {', '.join(sliding)} of arm {arm.name!r} "
                "is prismatic; choose a formulation whose FORMULATIONS[stem].joints is 'RP'."
            )
        for name, value in (*zip(names, args, strict=False), *keywords.items()):
            if name in names:
                one_state(arm, name, value)
        return getattr(row.module, quantity)(arm, *args, **keywords)  # as it is now

    return checked


_ROWS = (
    Formulation(
        "uicker_kahn_1969",
        "Uicker 1965, Kahn 1969, in Hollerbach 1980 (1)-(5)",
        ("joint_torques", "mass_matrix", "christoffel", "gravity_torque"),
        "RP",
        "com",
        "n^4",
        "32 1/2 n^4+86 5/12 n^3+171 1/4 n^2+53 1/3 n-128 | 25n^4+66 1/3 n^3+129 1/2 n^2+42 1/3 n-96",
    ),
    Formulation(
        "waters_1979",
        "Waters 1979, in Hollerbach 1980 (6)-(10)",
        ("joint_torques",),
        "RP",
        "com",
        "n^2",
        "106 1/2 n^2+620 1/2 n-512 | 82n^2+514n-384",
    ),
    Formulation(
        "hollerbach_1980_4x4",
        "Hollerbach 1980 (11)-(14)",
        ("joint_torques",),
        "RP",
        "com",
        "n",
        "830n-592 | 675n-464",
    ),
    Formulation(
        "hollerbach_1980_3x3",
        "Hollerbach 1980 (15)-(18)",
        ("joint_torques",),
        "RP",
        "ten",
        "n",
        "412n-277 | 320n-201",
        "prismatic joints",
    ),
    Formulation(
        "luh_walker_paul_1980_base",
        "Luh, Walker, Paul 1980, in base coordinates, in Hollerbach 1980",
        ("joint_torques", "reactions"),
        "RP",
        "com",
        "n",
        "",
        "prismatic joints",
    ),
    Formulation(
        "luh_walker_paul_1980",
        "Luh, Walker, Paul 1980, in Hollerbach 1980",
        ("joint_torques", "reactions"),
        "RP",
        "com",
        "n",
        "150n-48 | 131n-48",
        "prismatic joints",
    ),
    Formulation(
        "horn_raibert_1978",
        "Horn, Raibert 1978, in Hollerbach 1980",
        ("joint_torques",),
        "RP",
        "com",
        "n^3",
        "2n^3+n^2 | n^3+n^2+2n",
        needs="coefficients",
    ),
    Formulation(
        "turney_mudge_lee_1980_newton_euler",
        "Turney, Mudge, Lee 1980, 3.15-3.21",
        ("joint_torques", "reactions"),
        "RP",
        "com",
        "n",
        "108n-12 | 100n-9",
        "prismatic joints",
    ),
    Formulation(
        "turney_mudge_lee_1980_modified",
        "Turney, Mudge, Lee 1980, 5.1-5.2",
        ("joint_torques", "reactions"),
        "RP",
        "com",
        "n",
        "90n-27 | 88n-24",
        "prismatic joints",
    ),
    Formulation(
        "turney_mudge_lee_1980_lagrange",
        "Turney, Mudge, Lee 1980, 2.11",
        ("joint_torques", "mass_matrix", "christoffel", "gravity_torque"),
        "R",
        "ten",
        "n^3",
        "27/2 n^3+165/2 n^2+5n | 40/3 n^3+58n^2-64/3 n",
    ),
    Formulation(
        "newton_euler_notes",
        "Newton-Euler notes, (5)-(21)",
        ("joint_torques", "reactions"),
        "RP",
        "com",
        "n",
    ),
    Formulation(
        "euler_lagrange_notes",
        "Euler-Lagrange notes (RR example), (1)-(17)",
        ("joint_torques", "mass_matrix", "christoffel", "coriolis_matrix", "gravity_torque"),
        "RP",
        "com",
        "n^4",
        "",
        "any serial arm",
    ),
    Formulation(
        "giacaglia_kottke_2007",
        "Giacaglia, Kottke 2007, (1)-(33)",
        (
            "joint_torques",
            "mass_matrix",
            "christoffel",
            "gravity_torque",
            "reactions",
            "joint_accelerations",
        ),
        "RP",
        "com",
        "n^3",
    ),
    Formulation(
        "khalil_kleinfinger_1987",
        "Khalil, Kleinfinger 1987",
        ("joint_torques",),
        "RP",
        "ten",
        "n",
        "92n-127 | 81n-117 (base parameters)",
    ),
    Formulation(
        "walker_orin_1982",
        "Walker, Orin 1982, method 3",
        ("mass_matrix",),
        "RP",
        "ten",
        "n^2",
    ),
    Formulation(
        "featherstone_1983",
        "Featherstone 1983",
        ("joint_accelerations",),
        "RP",
        "ten",
        "n",
    ),
)


class _Registry(dict[str, Formulation]):
    """Stem -> row; a stem that is not there is refused with those that are."""

    def __missing__(self, stem: Any) -> Formulation:
        no_formulation(stem, self)


FORMULATIONS: dict[str, Formulation] = _Registry({row.stem: row for row in _ROWS})
