"""From a pose to joint values: inverse kinematics.

solver          `inverse_kinematics`: what is asked for, checked; closed form first, then the search
distinct        all solutions of an arm without a closed form
branch_choice   the branches of a closed form, chosen, refined, counted
answers         what comes back, and how it is held against the arm's own pose
programs        what is compiled for an arm, and where searches begin
closed_forms    spherical wrists and parallel axes, found in the arm's geometry
subproblems     one rotation, or two, that bring points together (Paden, Kahan)
goals           poses, positions, directions as given, checked
iteration       one step of Levenberg and Marquardt, within limits, on any scalar
"""

from forearm.reach.answers import Reached as Reached
from forearm.reach.solver import inverse_kinematics as inverse_kinematics
