"""Answers as data: what is asked about cost, and documents, tables and sentences that answer it.

question              the question, the shape of an answer, conventions by name
formulation_answers   one formulation; all of them side by side
table_answers         the published tables beside our counts
cost_answers          strobing; arms with their numbers folded in
schedule_answers      schedules
cost_figures          the same as pictures
row_formats           rows as CSV, JSON, LaTeX and Markdown
"""
