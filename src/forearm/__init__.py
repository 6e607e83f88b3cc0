"""forearm: the dynamics of robot arms."""

__version__ = "0.1.0"
