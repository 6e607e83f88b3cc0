"""check: questions the numbers of an arm.

plausibility    lengths, angles, gravity, masses, the arm in motion
sampled_motion  M and gravity torques of a chain at some positions
doubts          one body, held against the size of its link
body_shapes     a body's size and density, and which slip would explain an impossible one
findings        what comes out
"""
