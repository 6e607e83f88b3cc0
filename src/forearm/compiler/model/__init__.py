"""The arm's side of the compiler: what can be computed, by which formulation, in which numbers.

arm_model         what quantities are computed from: an arm, the chain that formulations walk, drives
quantities        torques, accelerations, M, ... as plain functions of one state, ready for tracing
hessians          second derivatives of torques and of accelerations, whole, weighted, times a direction
rollout_slopes    a step of a rollout, backwards
base_parameters   the same torques from fewer numbers: bodies regrouped, frames turned
free_parameters   what stays an input instead of a constant: payload, masses, friction
trees/            the same for a robot with branches
chains/           long chains, as loops over their links
choice            which formulation, in which frames: the rule, and the search for the cheapest
chosen_model      a choice, and the model of an arm or robot by it
quantity_graphs   a quantity by a choice, traced and simplified, derivatives included
trust             whether frames and base parameters still give the arm's torques, before they are used
searched.json     what earlier searches found, arm by arm
"""
