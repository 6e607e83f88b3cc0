"""From a quantity and a choice to a graph: the model's function, and its derivatives, traced and simplified."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import simplify
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.base_parameters import origin_choices
from forearm.compiler.model.chosen_model import Choice, model_with, trusted_choice
from forearm.compiler.model.free_parameters import (
    GEOMETRY,
    freed,
    is_body,
    port_name,
    port_shape,
    refuse_twice,
)
from forearm.compiler.model.quantities import QUANTITIES, Derivative
from forearm.faults import KernelFault
from forearm.robot import Robot


def graph_by(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...],
    choice: Choice,
    options: dict[str, Any],
    effort: int = 1,
) -> Graph:
    """The graph of a quantity by one choice; `effort` is that of `simplify`."""
    what = QUANTITIES[quantity]
    choice = trusted_choice(arm, choice, quantity)
    if GEOMETRY in free and choice.origins is None and choice.frames != "arm":
        choice = replace(choice, origins=origin_choices(arm))  # type: ignore[arg-type]
    names = {port_name(path): path for path in free}
    refuse_twice(arm, free)
    extra = {name: port_shape(arm, path) for name, path in names.items()}

    def model_of(values: dict[str, Any]) -> Model:
        """The model with its free parameters taken from the inputs."""
        given = {path: values.pop(name) for name, path in names.items()}
        return model_with(freed(arm, given), choice, {p: v for p, v in given.items() if is_body(p)})

    slopes = None if what.derivative is None else _slopes(arm, what.derivative, model_of, extra)

    def function(**values: Any) -> Any:
        shared = {name: values[name] for name in names}
        if slopes is not None:
            return what.function(model_of(values), lambda **v: slopes(**v, **shared), **values, **options)
        return what.function(model_of(values), **values, **options)

    by = choice.label(what)
    title = f"{quantity} of {arm.name}" + (f" by {by}" if by and what.needs else f", {by}" if by else "")
    return simplify(
        trace(function, _ports(arm, what.inputs, extra), name=title, outputs=what.outputs), effort
    )


def _slopes(arm: Arm | Robot, slope: Derivative, model_of: Any, extra: dict[str, tuple[int, ...]]) -> Any:
    """The differentiated graph of a function, as a function of its inputs by name.

    The place of a free base is no vector: it is differentiated by a small move, at zero, from a place `at`.
    """
    moved = isinstance(arm, Robot) and arm.free
    if moved and slope.twofold:
        raise KernelFault(
            f"second derivatives of robot {arm.name!r}: small moves of a free base do not add up, so they have none "
            "that is symmetric; fix the base (robot.fixed()), or take differences of the first derivatives."
        )

    def inner(**values: Any) -> Any:
        model = model_of(values)
        if moved:
            model, values["q"] = model.moved(values.pop("at"), values["q"])
        return slope.function(model, **values)

    ports = _ports(arm, slope.inputs, extra)
    if moved:
        ports = {"at": ports["q"], **ports, "q": ports["qd"]}
    prepared = slope.differentiated(trace(inner, ports, outputs=(slope.output,)))
    known = {port.name for port in prepared.inputs}
    others = [_slopes(arm, other, model_of, extra) for other in slope.beside]

    def slopes(**values: Any) -> dict[str, Any]:
        given = {**values, "at": values["q"], "q": np.zeros(arm.nv)} if moved else values
        found = apply(prepared, **{name: value for name, value in given.items() if name in known})
        for other in others:
            found |= other(**values)
        return found

    return slopes


def evaluated(model: Model, quantity: str, *values: Any) -> Any:
    """A quantity of one state by its plain function, nothing compiled: what kernels are held against."""
    what = QUANTITIES[quantity]
    if what.derivative is None:
        return what.function(model, *values)
    return what.function(model, _slopes(model.arm, what.derivative, lambda v: model, {}), *values)


def _ports(
    arm: Arm | Robot, names: Sequence[str], extra: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Shapes of state inputs, and of free parameters after them."""
    special = {"wrench": (6,), "point": (3,), "dt": (), "pi": (len(arm.bodies), 10)}
    if isinstance(arm, Robot):
        special["q"] = (arm.nq,)
    return {**{name: special.get(name, (arm.nv,)) for name in names}, **extra}
