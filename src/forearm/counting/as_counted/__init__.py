"""Formulations in the structure that a published table counts, where that is not the structure of the paper's equations.

Each is equal in value to its formulation (a test says so) and tags its lines by the rows of the table.
"""
