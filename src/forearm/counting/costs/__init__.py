"""Costs in general: exact in the number of joints, formulation by formulation, arm by arm.

polynomials           polynomials in n, fitted on more points than coefficients
side_by_side          all formulations, and from which n one costs more than another
customised_costs      one arm after the compiler's simplification, beside published records
strobing_costs        M, the C^i and a simulation step by strobing
strobing_structures   the same by what a paper could have meant
"""
