"""The exception family."""


class Fault(Exception):
    """Anything that this library refuses; the message says what to do."""


class ArmFault(Fault, ValueError):
    """The description of an arm is wrong."""


class NoDynamics(ArmFault):
    """The arm has no published masses: kinematics only."""


class StateFault(Fault, ValueError):
    """A state, or another argument of a call, is wrong."""


class UnknownFormulation(StateFault, KeyError):
    """A name that is not in the registry of formulations: a KeyError too, because the registry is a dict."""

    __str__ = Exception.__str__


class ReadFault(Fault, ValueError):
    """A file could not be understood."""


class SingularInertia(Fault, ArithmeticError):
    """The mass matrix cannot be inverted; the message names the joint."""


class TraceFault(Fault, TypeError):
    """A traced value was used where a number is needed."""


class KernelFault(Fault, RuntimeError):
    """A kernel could not be compiled or called."""
