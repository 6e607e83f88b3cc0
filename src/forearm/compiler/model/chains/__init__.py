"""Long chains: what one link does, found once and looped over.

long_chains         the recursion as a loop over a table of link constants
chain_sections      a short chain traced and cut into what one link does; which sections repeat
articulated_bodies  accelerations, one axis at a time
composite_bodies    what each link adds to M
"""
