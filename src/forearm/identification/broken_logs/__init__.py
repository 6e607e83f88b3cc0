"""What is wrong with a log: found, named, refused, or mended on request.

log_checks      the questions that every log is asked
clocks          positions, speeds and torques that were not read at the same time
torque_columns  whose torque a column is, and which way round
"""
