"""compare: how two torque functions differ, and why.

counterparts      the other side: an arm, another library's model, a function, a CSV file
torque_tables     torques of many states, linear in what a hypothesis may change
inertia_readings  inertias and rows of an arm as somebody else may read them
hypotheses        one cause as a view of the arm, and the fit of its unknowns
suspects          every cause that is tried
row_causes        causes with one number that is searched: late rows, another width of dry friction
bounds            what no cause can take away: it spares most pairs
coincidences      whether a cause could explain a difference by accident
cause_search      the search, one cause and then two
term_differences  gravity, M and velocity torques, one by one
comparison        what counts as none, and the judgement
cause_texts       causes in words
verdict           what comes out
"""
