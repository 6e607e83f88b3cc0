"""Paths as fast as the drives allow: speeds, accelerations and torques, by reachability analysis.

fastest_motions    `fastest`: what is asked, and what is impossible
joint_paths        waypoints and motions as paths
splines            cubic splines of many paths side by side
path_grids         paths on a grid, and the torques along them in one batch
limit_lines        limits as lines in the plane of path speed and path acceleration
reachability       both passes; reachability_text is the same for LLVM
profile_search     friction, and what lies between grid points
closer_looks       a look at many more places, before a profile is given away
optimal_motion     the motion that comes out, what binds it, its phase plane
"""
