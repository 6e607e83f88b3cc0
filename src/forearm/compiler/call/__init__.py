"""Calls: arrays in, arrays out, as little Python between as possible.

arguments           what a kernel accepts, checked once; how arrays are described to machine code
processor           kernels on the processor: the way in, single states, batches
entry_text          the builtin function for one state, as LLVM's text; batch_entry_text for many
builtin_functions   loads those texts and says on which interpreters they may run
threads             crews of threads that stay; crew_text is their machine code
rollout             simulations on the processor
"""
