"""compare: how two torque functions differ, and why.

counterparts      the other side: an arm, another library's model, a function, a CSV file
torque_tables     torques of many states, linear in what a hypothesis may change
causes            what may lie behind a difference, and the search for it
term_differences  gravity, M and velocity torques, one by one
comparison        what counts as none, and the judgement
verdict           what comes out
torqueless_parts    what differs of two descriptions and changes no torque
"""
