"""Robots with branches, from their links to their quantities.

tree_frames   frames and base parameters of a robot with branches
tree_walk     torques and M along a tree, branches added where they meet
tree_model    a robot's quantities: sums over chains, couplings, a free base
tree_digits   how far rounding carries its accelerations, and whether they are refined
"""
