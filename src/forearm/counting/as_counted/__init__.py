"""Formulations in the structure that a published table counts, where the paper's equations have another.

Each is equal in value to its formulation (a test says so) and tags its lines by the rows of the table.

hollerbach_1980_3x3_gravity_4x4        the 3x3 recursion with the gravity term of the 4x4 one: 412n-277
hollerbach_1980_3x3_proximal           the 3x3 recursion with origin i at joint i
horn_raibert_1978_sums                 sums formed from zero, then joined
turney_mudge_lee_1980_table_3          Newton-Euler with A_i in place of the double cross products
turney_mudge_lee_1980_table_3_last     the same without a_n
turney_mudge_lee_1980_table_4          the modified set, one line for each row
turney_mudge_lee_1980_table_4_moment   the same with Euler's moment in place of the trace
simulation_steps                       elimination, and one step of the four point integration
"""
