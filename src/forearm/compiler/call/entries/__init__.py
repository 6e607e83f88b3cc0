"""Machine code that Python calls without ctypes between: arrays are looked at, and kernels entered, in it.

entry_text          the builtin function for one state, as LLVM's text
batch_entry_text    that for many states
crew_text           threads that wait, work and come back
builtin_functions   loads these texts and says on which interpreters they may run
"""
