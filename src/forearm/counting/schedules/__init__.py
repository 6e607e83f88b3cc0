"""When operations can be done: who waits for whom, and the time on several arithmetic units.

operation_graphs   operations and what they need; longest chains; each equation one task
list_schedules     on p multipliers and p adders, the longest remaining chain first
"""
