"""Calls: arrays in, arrays out, as little Python between as possible.

door                the way in: through Python once, then past it
arguments           what a kernel accepts, checked in one place; how arrays are described to machine code
foreign_arrays      arrays of CuPy, PyTorch and JAX: where they live decides where the work is done
machine             what kernels of machine code have in common
processor           straight-line code for this machine
grouped_states      states in groups that share parameters: what depends on these alone is computed once
chain_kernel        loops over the links of a long chain
entry_text          the builtin function for one state, as LLVM's text; batch_entry_text for many
builtin_functions   loads those texts and says on which interpreters they may run
threads             crews of threads that stay; crew_text is their machine code
rollout             simulations on the processor
searches            searches on the processor
"""
