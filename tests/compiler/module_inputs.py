"""States for modules and kernels of any quantity."""


def inputs_of(graph, rng, rows):
    """Rows for every input of a graph."""
    sizes = {"dt": 1e-3}  # over a step of seconds a motion forgets where it began, and every rounding with it
    return [sizes.get(port.name, 1.0) * rng.uniform(-3, 3, (rows, *port.shape)) for port in graph.inputs]
