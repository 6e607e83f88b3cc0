"""compare: how two torque functions differ, and why.

counterparts   the other side: an arm, another library's model, a function, a CSV file
torque_tables  torques of many states, linear in what a hypothesis may change
hypotheses     one cause as a view of the arm, and the fit of its unknowns
suspects       every cause that is tried
comparison     the search, one cause and then two
verdict        what comes out
"""
