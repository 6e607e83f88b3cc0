"""Motions: joint positions, speeds and accelerations over time; how they are made, judged, and kept in files.

motions          functions of time: quintics, trapezoids, Fourier series, via points
instants         at which times a motion is looked at, closely where it is short
profiles/        from limits to motions: point to point, through points, along paths
tool_paths/      lines and arcs of the tool
time_optimal/    as fast as speeds, accelerations and torques allow
speed_ups        how much faster a motion may be run as a whole
between_rows/    the motion between the rows of a log, and peaks that they miss
feasibility      whether an arm can do a motion; limit_excesses: what goes beyond its limits
motion_files     the one reader and writer of CSV logs: a motion, a record, torques to compare
columns          which column of a header is which quantity of which joint, or of a free base
column_units     in which unit a column is; headers that say it of some columns only
robot_rows       joints that follow others, quaternions of free bases, and columns of two arms, as a log has them
row_times        whether a log's times rise, are seconds, and have gaps; whether its last row is cut off
number_tables    text to numbers, strictly and streamed
plain_numbers    the parser of plain ones in machine code
differentiation  speeds and accelerations that a log lacks, filtered where noise asks for it, and said
slope_checks     whether a log's speeds are those of its positions
"""
