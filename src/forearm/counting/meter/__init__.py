"""Counting itself: a formulation runs unchanged on numbers that notice what is done to them.

line_tags        which equation an operation belongs to, from the line that it is written on
conventions      what is charged
counted_scalar   the numbers, and the meter that they report to
counted_arm      the arm that a formulation sees while it is counted
tallies          `count`: the operations added up, by equation and by link
"""
