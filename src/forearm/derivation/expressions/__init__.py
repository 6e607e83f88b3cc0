"""Exact algebra: polynomials in letters, sines and cosines, always in normal form, and how they are written.

trigonometry     products of sines and cosines as sums of basis elements, in exactly one way
terms            sums and products of bare terms
formula          what writers and evaluators see of an expression
evaluation       values for floats, arrays, traced scalars
formula_text     one line of plain text; the order of terms and factors
formula_latex    the same in LaTeX
sympy_formulas   the same in SymPy; sympy_reader is the way back
expression       Expression and Ring: the scalar that formulations run on, above all these
"""
