"""Which terms of the dynamics matter along a motion.

summands            a recursion's summands, each with its equation and link, and life without it
significant_terms   how much each contributes, what could be deleted, and what that would cost at which speed
"""
