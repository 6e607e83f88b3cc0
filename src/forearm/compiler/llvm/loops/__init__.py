"""Programs with loops of their own inside the loop over states.

group_loops    groups of states that share parameters
group_sums     what is least, greatest and summed up of each group, as results come
search_loops   iterations until a search has arrived, lane by lane
chain_loops    a long chain: loops over links
chain_pairs    its mass matrix: an entry for each pair of links
"""
