"""From a graph to something that is read, or built elsewhere.

c99               a header, a source and a self-test
controller        emit_c: the C of an arm, quantity by quantity
parameter_structs names and meanings of the numbers of free parameters, for its structs
identifiers       names from outside as words of every language
numpy_source      a NumPy function: readable, and what runs where LLVM is missing
jax_operations    a function of JAX arrays, in steps that XLA compiles quickly (the extra `jax`)
casadi_symbols    a CasADi function, for optimal control (the extra `casadi`)
"""
