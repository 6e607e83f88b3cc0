"""check: questions the numbers of an arm.

plausibility    lengths, angles, gravity, masses, the arm in motion
sampled_motion  M and gravity torques of a chain at some positions
doubts          one body, held against the size of its link
misread_bodies  bodies that would fit their links better if they were read another way
body_shapes     a body's size and density, and which slip would explain an impossible one
findings        what comes out
"""
