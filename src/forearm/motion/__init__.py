"""Motions: joint positions, speeds and accelerations over time, and the files that hold them.

motions          functions of time: quintics, trapezoids, Fourier series, via points
motion_files     the one reader and writer of CSV logs: a motion, a record, torques to compare
columns          which column of a header is which quantity of which joint, in which unit
number_tables    text to numbers, strictly and streamed
plain_numbers    the parser of plain ones in machine code
limit_excesses   what a motion does beyond the limits of its arm
differentiation  speeds and accelerations that a log lacks, filtered where noise asks for it, and said
"""
