"""Robots with branches out of a table of links and joints.

branched_tree   which link hangs on which, what is held, what follows what
tree_robot      the robot, exact as written
tree_toml       the robot of our own format
chain_or_tree   an Arm where it is one chain on a fixed base, a Robot otherwise
"""
