"""What is given to a function of another library's arrays: how many, of which shapes; and what cannot be followed."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from forearm.arm import Arm
from forearm.compiler.call.arguments import JOINT_INPUTS, batch_shape, shape_text
from forearm.compiler.graph.graph import Port
from forearm.faults import KernelFault, StateFault, a_or_an, joint_shape, no_arm
from forearm.outside.escapes import one_line
from forearm.robot import Robot

Tensor = TypeVar("Tensor")


class Differentiable(Protocol):
    """A function of arrays (..., *shape) of one library, one for each input; it gives arrays of the same library."""

    def __call__(self, *values: Tensor) -> Any:
        """The quantity; a named tuple where it has several outputs."""


def check_inputs(
    arm: Arm | Robot, quantity: str, ports: Sequence[Port], values: Sequence[Any]
) -> tuple[int, ...]:
    """The leading axes; refuse what is not one array for each input, of its shape: these libraries stretch a (1,)."""
    where = f"{quantity} of {arm.name}"
    if len(values) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise StateFault(f"{where}: got {len(values)} arrays; give {len(ports)}: {names}.")
    for port, value in zip(ports, values, strict=True):
        shape = tuple(value.shape)
        if port.name in JOINT_INPUTS:
            joint_shape(arm, port.name, shape)
        elif len(shape) < len(port.shape) or shape[len(shape) - len(port.shape) :] != port.shape:
            raise StateFault(f"{where}: {port.name} has shape {shape}; give {shape_text(port, 'rows')}.")
        if any(word in str(value.dtype) for word in ("complex", "key", "float8")):
            raise StateFault(f"{where}: {port.name} is {value.dtype}; give real numbers.")
    return batch_shape(where, tuple(ports), list(values), "rows")


def check_kind(where: str, name: str, value: Any, wanted: tuple[type, ...], library: str) -> None:
    """Refuse what is neither an array of the library nor plain numbers."""
    if not isinstance(value, (*wanted, int, float, list, tuple)):
        raise StateFault(
            f"{where}: {name} is {a_or_an(type(value).__name__)}; give {library}'s arrays, or plain numbers beside "
            "them."
        )


def plain_numbers(where: str, name: str, value: Any, made: Callable[[Any], Any]) -> Any:
    """An array made of what is given; one sentence for what no array is made of."""
    try:
        return made(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as reason:
        told = one_line(str(reason))[:200]
        raise StateFault(f"{where}: {name} is no array of numbers ({told}); give rows of numbers.") from None


def check_arm(arm: Any) -> None:
    """Refuse what is neither an arm nor a robot."""
    if not isinstance(arm, (Arm, Robot)):
        no_arm(arm)


def refuse_quaternions(arm: Arm | Robot, quantity: str) -> None:
    """Refuse a free base, whose seven numbers have no gradient of their own."""
    if isinstance(arm, Robot) and arm.free:
        raise KernelFault(
            f"{quantity} of {arm.name}: the seven numbers of a free base have no gradient of their own; take "
            "fa.derivatives, which are by small moves of the base, or fix the base (robot.fixed())."
        )
