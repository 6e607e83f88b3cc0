"""Equations as SymPy's matrices, torques collected as a person would."""

from typing import TYPE_CHECKING, Any

from forearm.derivation.expressions.sympy_formulas import symbol_of, sympy, sympy_of

if TYPE_CHECKING:
    from forearm.derivation.equations import Equations


def sympy_matrix(equations: "Equations", what: str) -> Any:
    """M, C (matrices), g, tau (column matrices) or christoffel (an array)."""
    sp = sympy()
    if what == "tau":
        return sp.Matrix(sympy_torques(equations))
    entries = equations.entries(what)
    flat = [sympy_of(x) for x in entries.ravel()]
    if what == "christoffel":
        return sp.ImmutableDenseNDimArray(flat, entries.shape)
    return sp.Matrix(entries.shape[0], entries.size // entries.shape[0], flat)


def sympy_torques(equations: "Equations") -> list[Any]:
    """tau_i collected: accelerations, then products of speeds, then gravity."""
    sp, ring, n = sympy(), equations.ring, equations.n
    qd = [symbol_of(ring, name) for name in equations.speeds]
    qdd = [symbol_of(ring, name) for name in equations.accelerations]
    rows = []
    for i in range(n):
        terms = [sympy_of(equations.M[i, j]) * qdd[j] for j in range(n)]
        for j in range(n):
            for k in range(j, n):
                coefficient = sympy_of(equations.christoffel[i, j, k] * (1 if j == k else 2))
                terms.append(coefficient * qd[j] * qd[k])
        rows.append(sp.Add(*terms, sympy_of(equations.g[i])))
    return rows
