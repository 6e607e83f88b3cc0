"""Between the rows of a motion: a log says what is at its rows, and peaks are seldom there.

row_curves      the motion through rows with speeds and accelerations
missed_peaks    what it asks for between them, where that is more than the rows show
"""
