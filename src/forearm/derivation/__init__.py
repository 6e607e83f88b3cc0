"""Closed forms: the equations of motion of an arm as formulas that can be read, checked and compiled.

expressions/       exact polynomials in letters, sines and cosines: the scalar that formulations run on
symbols            arms with letters, and the arm read as expressions
preparation        what every derivation begins with: coordinates, the arm read, the clock
closed_form        M, Christoffel symbols, g: from energies, or from a paper's torques
parameter_groups   base parameters; recursion_steps what a paper held for each link
equations          the result, to be evaluated and compiled; sympy_matrices and texts/ write it
lagrange_steps     from the Lagrangian to the torques, as by hand
numeric_check      closed form against numbers
arm_derivation     `derive`: all of this in its order
equivalence        `prove_equal`: papers agree as formulas
symbolic_states    poses, Jacobians and energies of arms with letters
"""

from forearm.derivation.arm_derivation import derive
from forearm.derivation.equations import Equations
from forearm.derivation.equivalence import Equivalence, prove_equal
from forearm.derivation.expressions.expression import Expression
from forearm.derivation.lagrange_steps import LagrangeSteps
from forearm.derivation.symbols import symbolic, with_values

__all__ = [
    "Equations",
    "Equivalence",
    "Expression",
    "LagrangeSteps",
    "derive",
    "prove_equal",
    "symbolic",
    "with_values",
]
