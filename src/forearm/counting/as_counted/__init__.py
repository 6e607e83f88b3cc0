"""Formulations in the structure that a published table counts, where the paper's equations have another.

Each is equal in value to its formulation (a test says so) and tags its lines by the rows of the table.
"""
