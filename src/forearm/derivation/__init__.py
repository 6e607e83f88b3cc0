"""Closed forms: the equations of motion of an arm as formulas that can be read, checked and compiled.

`derive` runs an arm (or a paper's formulation) on exact polynomials in sines, cosines and parameters;
`symbolic` gives an arm the letters of the textbooks; `prove_equal` shows that papers agree as formulas.
"""

from forearm.derivation.deriving import derive
from forearm.derivation.equations import Equations
from forearm.derivation.polynomial import Expression
from forearm.derivation.proof import Proof, prove_equal
from forearm.derivation.symbols import symbolic, with_values

__all__ = ["Equations", "Expression", "Proof", "derive", "prove_equal", "symbolic", "with_values"]
