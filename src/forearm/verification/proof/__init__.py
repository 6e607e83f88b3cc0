"""verify: proves the code on an arm.

oracle           torques by spatial vectors and by Lagrange, from plain numbers; imports nothing of ours
agreement        every formulation against the median of all, and the median against the oracle
mechanical_laws  what every right dynamics obeys, no reference needed
magnitudes       what is added up for each joint: what a difference in it is measured by
compiled_targets  ways to run a kernel
tree_examination  the proof on a robot with branches: sums over chains
tree_laws        the laws on a robot with branches
examination      the proof from start to end: states, agreement, laws, kernels
examination_report  what comes out
"""
