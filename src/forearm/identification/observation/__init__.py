"""Watching an arm: what pushes it, online and in a log.

momentum_observer  external torques from momentum, step by step, also as C
pushes             when and where a log shows that something pushed
"""
