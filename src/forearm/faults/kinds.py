"""The exception family."""

from forearm.outside.escapes import terminal


class Fault(Exception):
    """Anything that this library refuses; the message says what to do, and is a screen long at most."""

    def __str__(self) -> str:
        text = terminal(Exception.__str__(self))  # it may tell what stands in a file
        return text if len(text) <= LONGEST else f"{text[:FIRST]} [...] {text[FIRST - LONGEST :]}"


LONGEST, FIRST = 3000, 2000
"""Letters of a message that are shown, and how many of them are its first."""


class ArmFault(Fault, ValueError):
    """The description of an arm is wrong."""


class NoDynamics(ArmFault):
    """The arm has no published masses: kinematics only."""


class StateFault(Fault, ValueError):
    """A state, or another argument of a call, is wrong."""


class UnknownFormulation(StateFault, KeyError):
    """A name that is not in the registry of formulations: a KeyError too, because the registry is a dict."""


class ReadFault(Fault, ValueError):
    """A file could not be understood."""


class SingularInertia(Fault, ArithmeticError):
    """The mass matrix cannot be inverted; the message names the joint."""


class TraceFault(Fault, TypeError):
    """A traced value was used where a number is needed."""


class KernelFault(Fault, RuntimeError):
    """A kernel could not be compiled or called."""
