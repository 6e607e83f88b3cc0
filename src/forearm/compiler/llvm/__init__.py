"""From a graph to machine code: text that LLVM compiles, vectors of states in its registers.

lanes           what one value is: how many states, in which precision
nodes           one operation after the other; the writer of LLVM's text
sines           sine and cosine, and the same in Python to the last bit
large_angles    sines in memory, and those of very large angles
movers          rows and columns in memory, brought into tiles and back
lines_ahead     rows of later tiles, asked for while a tile is computed
tile_columns    where the numbers of a tile lie, and its sines
sections        long programs, cut so that each piece stays decoded
tiles           a tile of states through a graph
batches         the program for many states
one_state       the program for one
rollout_steps   the program that steps: a simulation inside the kernel, on the processor
loops/          programs with loops of their own: over links, over groups of states, until a search has arrived
ptx/            the same for NVIDIA GPUs, one state for each thread
jit             text to object code, object code to addresses
"""
