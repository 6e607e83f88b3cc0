"""Motions made from limits: as fast as speeds, accelerations and jerks allow.

joint_limits     limits as they are given, or the arm's own
point_to_point   from rest to rest, trapezoids and S-curves, all joints in time with each other
via_splines      through points, by splines, or along straight lines with rounded corners
path_profiles    a path run by a profile; motions one after the other
round_corners    the rounding itself, which tool paths use too
"""
