"""Scalar operations as data. A graph can be printed, counted, interpreted, differentiated, simplified.

graph           the graph itself: nodes in order, ports, counts, its printed form
interpreter     what a graph means: run it on any scalars, or on arrays
builder         makes graphs: equal nodes are one node, constants fold
traced_scalar   numbers that write down what is done to them
traced_array    arrays of them that know the larger of two, for control laws
trace           from a plain NumPy function to a graph
memories        what a function keeps between calls, which no graph can
disagreement    where a graph gives something else than the function that it was traced from
derivatives     forward, reverse, Jacobians: graphs from graphs
shared_work     a graph cut in two: what many states share, and the rest
curvatures      second derivatives: Jacobians and gradients, differentiated once more
step_rules      how a step of a simulation is made from evaluations: Runge-Kutta tableaus, Euler, maps
passes/         graph to graph: the same values, never more operations
"""
