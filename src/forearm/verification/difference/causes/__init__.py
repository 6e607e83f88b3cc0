"""Causes of a difference: what they do to torques, which of them fit, and whether that is no accident.

inertia_readings  inertias and rows of an arm as somebody else may read them
hypotheses        one cause as a view of the arm, and the fit of its unknowns
unknowns          what the unknowns of a cause do to torques
suspects          every cause that is tried
row_causes        causes with one number that is searched: late rows, another width of dry friction
bounds            what no cause can take away: it spares most pairs
coincidences      whether a cause could explain a difference by accident
remainders        whether what a cause leaves is noise, and whether its numbers can be
cause_search      the search, one cause and then two
cause_texts       causes in words
"""
