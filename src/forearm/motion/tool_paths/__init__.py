"""Paths of the tool: straight lines and arcs, orientation with them, corners rounded.

tool_legs       lines and arcs, and poses along them with their derivatives
corner_paces    how fast corners may be passed by
continuation    joint positions along poses, from a start, in one piece: the seam to inverse kinematics
tool_motion     `tool_path`: places in, a motion out
"""
