"""What was measured, brought to a form that a fit can take.

logs      files and mappings, currents, coupled motors
filters   even times, a cut-off from the data, the same filter on torques and columns
"""
