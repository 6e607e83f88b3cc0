"""Calls: arrays in, arrays out, as little Python between as possible.

door                the way in: through Python once, then past it
arguments           what a kernel accepts, checked in one place; how arrays are described to machine code
foreign_arrays      arrays of CuPy, PyTorch and JAX: where they live decides where the work is done
machine             what kernels of machine code have in common
processor           straight-line code for this machine
grouped_states      states in groups that share parameters: what depends on these alone is computed once
chain_kernel        loops over the links of a long chain
entries/            machine code that Python calls: for one state, for many, for crews of threads
threads             crews of threads that stay
rollout             simulations on the processor
searches            searches on the processor
"""
