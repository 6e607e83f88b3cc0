"""Look-ups as machine code.

scratch_areas    where things lie, what the program is told, what its functions share
axis_points      the points around a state on every axis, and their weights
grid_walks       the walk over the points, with the entries of a grid
torque_actions   what the entries do to the torques
batch_programs   the whole program, tile after tile
lookup_kernels   the program compiled, and called with arrays
"""
