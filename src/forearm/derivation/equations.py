"""Equations: the closed form of an arm's dynamics, to be read, evaluated, compiled and doubted."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from forearm import faults
from forearm.algebra import Matrix, Vector, product
from forearm.arm import Arm
from forearm.derivation.closed_form import Dynamics, expressions, potential, torques_of
from forearm.derivation.expressions.evaluation import Evaluator
from forearm.derivation.expressions.expression import Expression, Ring
from forearm.derivation.lagrange_steps import LagrangeSteps, lagrange_steps
from forearm.derivation.numeric_check import Check
from forearm.derivation.parameter_groups import Grouping
from forearm.derivation.recursion_steps import Steps
from forearm.derivation.symbols import RIGID, parameter_names
from forearm.derivation.sympy_matrices import sympy_matrix
from forearm.derivation.texts.coefficient_table import CoefficientTable, coefficient_table
from forearm.derivation.texts.latex_page import equations_latex, torque_latex
from forearm.derivation.texts.markdown_report import equations_markdown
from forearm.derivation.texts.plain_page import LONGEST, equations_text, recursion_text
from forearm.derivation.texts.written_digits import digit_notes
from forearm.kinematics import jacobian_at, link_poses

QUANTITIES = ("M", "christoffel", "C", "g", "tau")
"""What can be asked of `to_sympy`, `lambdify`, `to_graph` and `compile`."""
READABLE = 600
"""Terms up to which a notebook shows formulas; beyond, it shows the text."""
INPUTS = {"M": 1, "christoffel": 1, "C": 2, "g": 1, "tau": 3}
"""How many of q, qd, qdd each needs."""


@dataclass(frozen=True)
class Equations:
    """tau = M(q) qdd + C(q, qd) qd + g(q) of the rigid arm. Made by `derive`."""

    arm: Arm
    """The arm, as it was given."""
    formulation: str | None
    """The paper whose torques these are; None for energies."""
    coordinates: tuple[str, ...]
    """Names of the coordinates, q1 … qn."""
    speeds: tuple[str, ...]
    """Names of their rates, qd1 … qdn."""
    accelerations: tuple[str, ...]
    """Names of their second rates, qdd1 … qddn."""
    S: Matrix
    """The joint variables are S times the coordinates (n, n)."""
    M: Matrix
    """Mass matrix (n, n) of expressions."""
    christoffel: Matrix
    """Christoffel symbols (n, n, n): [i, j, k] multiplies qd_j qd_k in tau_i, symmetric in j, k."""
    g: Vector
    """Gravity torque (n,)."""
    steps: Steps
    """What the formulation held for each link, by the paper's names (w, wd, a_c …); empty for energies."""
    groupings: tuple[Grouping, ...]
    """Base parameters and their meaning, where they were asked for."""
    read_arm: Arm
    """The arm over expressions."""
    q: tuple[Expression, ...]
    """The joint variables as expressions of the coordinates."""
    seconds: float
    """How long the derivation took."""
    check: Check | None
    """Closed form against numbers."""

    def checked(self, check: Check) -> "Equations":
        """The same with its check attached."""
        return replace(self, check=check)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of what was derived; how long that took is no part of it."""
        asked = (
            self.arm.digest,
            self.formulation,
            self.coordinates,
            self.S.tolist(),
            *map(str, self.groupings),
        )
        return hashlib.sha256(repr(asked).encode()).hexdigest()

    # -- what follows from M, Christoffel symbols, g -----------------------------------------------------

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.coordinates)

    @property
    def ring(self) -> Ring:
        """Where the expressions live."""
        return self.q[0].ring

    def _generators(self, names: tuple[str, ...]) -> list[Expression]:
        return [self.ring.generator(name) for name in names]

    @cached_property
    def C(self) -> Matrix:
        """The Christoffel C (n, n): C_ij = Σ_k christoffel[i, j, k] qd_k, so that Mdot - 2C is skew."""
        qd = self._generators(self.speeds)
        entries = [[self.christoffel[i, j] @ np.array(qd) for j in range(self.n)] for i in range(self.n)]
        return expressions(self.ring, entries)

    @cached_property
    def tau(self) -> Vector:
        """Torques (n,), multiplied out."""
        pieces = Dynamics(self.M, self.christoffel, self.g)
        tau = torques_of(pieces, self._generators(self.speeds), self._generators(self.accelerations))
        return expressions(self.ring, tau)

    @cached_property
    def potential(self) -> Expression:
        """Potential energy of the weight, zero at the origin of frame 0."""
        return potential(self.read_arm, self.ring, list(self.q))

    @cached_property
    def kinetic(self) -> Expression:
        """Kinetic energy, half qd · M qd."""
        qd = np.array(self._generators(self.speeds), dtype=object)
        twice: Expression = expressions(self.ring, [qd @ self.M @ qd])[0]
        return twice.scaled(self.ring.trigonometry.half)

    @cached_property
    def jacobians(self) -> list[tuple[Matrix, Matrix]]:
        """(J_v, J_w), each (3, n), of every link's centre of mass, world axes, by the coordinates."""
        q = np.array(self.q, dtype=object)
        poses = link_poses(self.read_arm, q)
        found = []
        for i, (link, (R, p)) in enumerate(zip(self.read_arm.links, poses[1:], strict=True), 1):
            J = product(
                jacobian_at(self.read_arm, q, p + R @ link.about_com.center, i), self.S.astype(object)
            )
            found.append((expressions(self.ring, J[:3]), expressions(self.ring, J[3:])))
        return found

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the symbols that must have values: the arm's, or the base parameters and what is left."""
        if not self.groupings:
            return parameter_names(self.arm)
        entries = [*self.M.ravel(), *self.christoffel.ravel(), *self.g]
        known = set(self.coordinates)
        used = {name for x in entries for name in x.names if name not in known}
        return tuple(name for name in self.ring.names if name in used)

    @property
    def size(self) -> int:
        """Terms of M (upper triangle), Christoffel symbols (j <= k) and g together."""
        i, j = np.triu_indices(self.n)
        parts = (*self.M[i, j], *self.christoffel[:, i, j].ravel(), *self.g)
        return sum(x.size for x in parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        notes = []
        if self.arm.has_drives or RIGID in self.arm.remarks:
            notes.append(RIGID)
        if not self.ring.exact:
            notes.append(
                "the arm has fixed angles that are no right angles, so coefficients are floats, not exact"
            )
        return (*notes, *digit_notes(self))

    def entries(self, what: str) -> Matrix:
        """One of QUANTITIES as an array of expressions."""
        found: Matrix = getattr(self, faults.choice(what, QUANTITIES, "Equations: what"))
        return found

    # -- numbers -----------------------------------------------------------------------------------------

    def lambdify(self, what: str = "tau") -> Callable[..., Any]:
        """A plain function of q, qd, qdd (as far as needed) and the parameters by name.

        It takes arrays (..., n) of floats, or traced scalars (n,), and gives M (..., n, n), tau (..., n)
        and so on.
        """
        faults.choice(what, QUANTITIES, "Equations.lambdify: what")

        def function(q: Any, qd: Any = None, qdd: Any = None, **parameters: Any) -> Any:
            missing = [name for name in self.parameters if name not in parameters]
            given = (q, qd, qdd)[: INPUTS[what]]
            if missing or any(x is None for x in given):
                raise faults.StateFault(
                    f"{what} of arm {self.arm.name!r} needs {', '.join(('q', 'qd', 'qdd')[: INPUTS[what]])}"
                    f"{' and values for ' + ', '.join(self.parameters) if self.parameters else ''}; "
                    f"missing: {', '.join(missing) or 'a state'}."
                )
            return self._values(what, [np.asarray(x) for x in given], parameters)

        function.__name__ = what
        function.__doc__ = f"{what} of arm {self.arm.name!r} in closed form."
        return function

    def _values(self, what: str, state: list[Any], parameters: dict[str, Any]) -> Any:
        known = dict(parameters)
        for names, x in zip((self.coordinates, self.speeds, self.accelerations), state, strict=False):
            known.update({name: x[..., i] for i, name in enumerate(names)})
        evaluate = Evaluator(self.ring, known.__getitem__)
        if what == "tau":
            entries = self._torque_values(evaluate)
        else:
            entries = [evaluate(x) for x in self.entries(what).ravel()]
        shape = (self.n,) if what == "tau" else self.entries(what).shape
        batch = np.broadcast_shapes(*(np.shape(x) for x in entries))
        stacked = np.stack([np.broadcast_to(np.asarray(x), batch) for x in entries], axis=-1)
        return stacked.reshape((*batch, *shape))

    def _torque_values(self, evaluate: Evaluator) -> list[Any]:
        """Torques collected by accelerations, then speeds: fewer operations than multiplied out."""
        qd, qdd = [evaluate.value(x) for x in self.speeds], [evaluate.value(x) for x in self.accelerations]
        values = []
        for i in range(self.n):
            total = evaluate(self.g[i])
            for j in range(self.n):
                if not self.M[i, j].is_zero:
                    total = total + evaluate(self.M[i, j]) * qdd[j]
                row: Any = None
                for k in range(j, self.n):
                    x = self.christoffel[i, j, k]
                    if not x.is_zero:
                        term = evaluate(x * (1 if j == k else 2)) * qd[k]
                        row = term if row is None else row + term
                total = total if row is None else total + row * qd[j]
            values.append(total)
        return values

    def to_graph(self, what: str = "tau") -> Any:
        """The closed form as a graph of the compiler: inputs q, qd, qdd as needed, then each parameter."""
        from forearm.compiler.graph.trace import trace

        shapes: dict[str, tuple[int, ...]] = {name: (self.n,) for name in ("q", "qd", "qdd")[: INPUTS[what]]}
        shapes.update({name: () for name in self.parameters})
        return trace(self.lambdify(what), shapes, f"{self.arm.name} {what} in closed form", (what,))

    def compile(self, what: str = "tau", *, effort: int | None = None, **options: Any) -> Any:
        """A kernel of the closed form: call it with q, qd, qdd as needed, then each parameter.

        `effort` is how hard the compiler looks for common factors (0, 1, 2); by default 1 for up to 2000
        operations, 0 for more, because it takes seconds. `options` are those of Kernel.
        """
        from forearm.compiler.call.processor import ProcessorKernel
        from forearm.compiler.graph.passes import lower

        graph = self.to_graph(what)
        if effort is None:
            effort = 1 if graph.counts.operations <= 2000 else 0
        return ProcessorKernel(lower(graph, effort), **options)

    # -- looking at it -----------------------------------------------------------------------------------

    def to_sympy(self, what: str = "tau") -> Any:
        """M, C (matrices), g, tau (column matrices) or christoffel (an array) in SymPy.

        Torques come collected: accelerations, then products of speeds, then gravity.
        """
        return sympy_matrix(self, what)

    def to_latex(self, document: bool = False) -> str:
        """All equations in LaTeX (amsmath); with `document`, a page that compiles by itself."""
        return equations_latex(self, document)

    def _repr_latex_(self) -> str | None:
        return torque_latex(self) if self.size <= READABLE else None

    def to_markdown(self) -> str:
        """A report: equations, base parameters, table of coefficients, check."""
        return equations_markdown(self)

    def lagrange_steps(self) -> LagrangeSteps:
        """From the Lagrangian to the torques: T, V, L, ∂L/∂qd, d/dt, ∂L/∂q, for arms small enough to follow it."""
        return lagrange_steps(self)

    def coefficient_table(self) -> CoefficientTable:
        """Every coefficient that is not zero, with what it depends on, as Horn and Raibert tabulate."""
        return coefficient_table(self)

    def to_text(self) -> str:
        """All torques as plain text, however long they are; `print` only counts the terms of long ones."""
        return equations_text(self)

    def recursion_text(self) -> str:
        """What the formulation held for each link, then the torques, as plain text."""
        return recursion_text(self)

    def __str__(self) -> str:
        return equations_text(self, LONGEST)

    __repr__ = __str__
