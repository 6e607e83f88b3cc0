"""Which formulation, in which frames: the cheapest graph of a quantity is found, not chosen.

The way of a datum: Arm -> Model (which formulation, which frames) -> trace -> Graph -> passes. The cheapest model is
found by tracing every candidate (`formulation="search"`); the default comes from a committed table of such searches,
searched.json, and from what wins everywhere otherwise.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import simplify
from forearm.compiler.graph.trace import trace
from forearm.compiler.kernel import SEARCH, Why
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.base_parameters import described, origin_choices, reframed, regroup
from forearm.compiler.model.free_parameters import (
    GEOMETRY,
    INERTIAL,
    freed,
    is_body,
    payload_place,
    port_name,
    port_shape,
)
from forearm.compiler.model.quantities import QUANTITIES, Derivative, Quantity
from forearm.compiler.model.trees.tree_frames import described_tree
from forearm.compiler.model.trees.tree_model import TreeModel, with_payload
from forearm.compiler.model.trust import tree_in, trusted, trusted_tree
from forearm.compiler.store.graphs import simplified
from forearm.faults import KernelFault, no_dynamics
from forearm.formulations import FORMULATIONS
from forearm.frames import SAME
from forearm.free_base import SIX
from forearm.inertia import Inertia, Ten, moved_ten, ten_from
from forearm.robot import Robot

HEAVY = 2000
"""Operations beyond which a graph is only folded: derivatives come from factored parts, and gain 1 % in seconds."""
WORTHWHILE = 1.6
"""A candidate that costs so many times the cheapest before factoring is not worth factoring."""
ARTICULATED_FROM = 12
"""Joints from which articulated bodies beat composite bodies and elimination."""


@dataclass(frozen=True)
class Choice:
    """One way to compute a quantity."""

    torques_by: str = "khalil_kleinfinger_1987"
    """Formulation for torques."""
    mass_by: str = "walker_orin_1982"
    """Formulation for M."""
    accelerations_by: str = ""
    """Formulation for accelerations, where M and torques are not used."""
    frames: str = "regrouped"
    """'arm' (as described), 'reframed' (better frames) or 'regrouped' (better frames and base parameters)."""
    origins: tuple[int, ...] | None = None
    """Where the origins of better frames sit (see `reframed`)."""

    def label(self, quantity: Quantity) -> str:
        """What `kernel.why` calls it."""
        stems = {"torques": (self.torques_by,), "mass": (self.mass_by,), "": ()}.get(quantity.needs)
        if stems is None:
            stems = (self.accelerations_by,) if self.accelerations_by else (self.mass_by, self.torques_by)
        frames = {"arm": "", "reframed": ", better frames", "regrouped": ", base parameters"}[self.frames]
        where = f", origins {''.join(map(str, self.origins))}" if self.origins else ""
        return " + ".join(stems) + frames + where


def best_graph(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...] = (),
    formulation: str | None = None,
    options: dict[str, Any] | None = None,
) -> tuple[Graph, Why]:
    """The simplified graph of a quantity, and why this one."""
    if quantity not in QUANTITIES:
        raise KernelFault(f"compile: no quantity {quantity!r}; there are {', '.join(QUANTITIES)}.")
    what = QUANTITIES[quantity]
    if what.dynamics and not arm.dynamics:
        no_dynamics(arm, quantity)
    if formulation == SEARCH:
        choices, source = list({c.label(what): c for c in _candidates(arm, what)}.values()), SEARCH
    else:
        choice, source = _default(arm, quantity, formulation)
        choices = [_trusted(arm, choice)]
    traced = _traced(arm, quantity, free, choices, options or {}, formulation == SEARCH)
    best = traced[0]
    labels = {c.label(what): graph.counts for c, graph in reversed(traced)}
    ranked = sorted(labels.items(), key=lambda pair: pair[1].operations)
    return best[1], Why(best[0].label(what), tuple(ranked), source)


def search(arm: Arm | Robot, quantity: str) -> tuple[Choice, Graph]:
    """The cheapest of all choices, and its graph."""
    what = QUANTITIES[quantity]
    choices = list({c.label(what): c for c in _candidates(arm, what)}.values())
    return _traced(arm, quantity, (), choices, {}, True)[0]


def _traced(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...],
    choices: list[Choice],
    options: dict[str, Any],
    slide: bool,
) -> list[tuple[Choice, Graph]]:
    """Every choice with its graph, cheapest first; `slide` also tries other origins for the best."""
    folded = [(c, _graph(arm, quantity, free, c, options, effort=0)) for c in choices]
    least = min(graph.counts.operations for _, graph in folded)
    worth = min(WORTHWHILE * least, HEAVY)
    traced = [(c, simplified(graph) if graph.counts.operations <= worth else graph) for c, graph in folded]
    if slide:
        traced.append(_slid(arm, quantity, free, traced, options))
    return sorted(traced, key=lambda pair: pair[1].counts.operations)


def quantity_graph(
    arm: Arm | Robot, quantity: str, choice: Choice | None = None, free: tuple[str, ...] = (), **options: Any
) -> Graph:
    """The simplified graph of a quantity by one choice of formulation and frames."""
    return _graph(arm, quantity, free, choice or _default(arm, quantity, None)[0], options)


def _graph(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...],
    choice: Choice,
    options: dict[str, Any],
    effort: int = 1,
) -> Graph:
    what = QUANTITIES[quantity]
    choice = _trusted(arm, choice)
    if GEOMETRY in free and choice.origins is None and choice.frames != "arm":
        choice = replace(choice, origins=origin_choices(arm))  # type: ignore[arg-type]
    names = {port_name(path): path for path in free}
    if len(names) < len(free):
        raise KernelFault(f"compile: free={free!r} names one input twice; name each parameter once.")
    extra = {name: port_shape(arm, path) for name, path in names.items()}

    def model_of(values: dict[str, Any]) -> Model:
        """The model with its free parameters taken from the inputs."""
        given = {path: values.pop(name) for name, path in names.items()}
        return _model(freed(arm, given), choice, {p: v for p, v in given.items() if is_body(p)})

    slopes = None if what.derivative is None else _slopes(arm, what.derivative, model_of, extra)

    def function(**values: Any) -> Any:
        shared = {name: values[name] for name in names}
        if slopes is not None:
            return what.function(model_of(values), lambda **v: slopes(**v, **shared), **values, **options)
        return what.function(model_of(values), **values, **options)

    by = choice.label(what)
    title = f"{quantity} of {arm.name}" + (f" by {by}" if by else "")
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


def plain_model(arm: Arm | Robot) -> Model:
    """The model of an arm or robot as it is described, for plain evaluation."""
    return TreeModel(arm, described_tree(arm)) if isinstance(arm, Robot) else Model(arm, arm)


def _ports(
    arm: Arm | Robot, names: Sequence[str], extra: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Shapes of state inputs, and of free parameters after them."""
    special = {"wrench": (6,), "point": (3,), "dt": (), "pi": (len(arm.bodies), 10)}
    if isinstance(arm, Robot):
        special["q"] = (arm.nq,)
    return {**{name: special.get(name, (arm.nv,)) for name in names}, **extra}


def _model(arm: Arm | Robot, choice: Choice, free: dict[str, Any]) -> Model:
    """The model of an arm whose bodies may be free: all of them, or what it holds."""
    payloads = dict(free)
    given = payloads.pop(INERTIAL, None)
    if isinstance(arm, Robot):
        return _tree_model(arm, choice, payloads, given)
    chain: Any = arm
    if choice.frames != "arm" or free:
        chain = described(arm) if choice.frames == "arm" else reframed(arm, choice.origins)
        chain = chain if given is None else chain.with_link_numbers(given)
        chain = regroup(chain) if choice.frames == "regrouped" else chain
    for path, numbers in payloads.items():
        number, pose = payload_place(arm, path)
        body = ten_from(numbers)
        body = body if pose == SAME else moved_ten(body, pose.inverse())
        chain = chain.with_payload(body, number)
        arm = _arm_with_payload(arm, body, number)
    return Model(arm, chain, choice.torques_by, choice.mass_by, choice.accelerations_by, choice.frames)


def _tree_model(robot: Robot, choice: Choice, payloads: dict[str, Any], given: Any) -> Model:
    tree = tree_in(robot, choice.frames) if FORMULATIONS[choice.torques_by].view == "ten" else None
    if tree is not None and given is not None:
        tree = tree.with_numbers(given, len(SIX) if robot.free else 1)
    for path, numbers in payloads.items():
        number, pose = payload_place(robot, path)
        body = ten_from(numbers)
        body = body if pose == SAME else moved_ten(body, pose.inverse())
        robot = with_payload(robot, number, body)
        tree = None if tree is None else tree.with_body(number + (len(SIX) if robot.free else 0), body)
    return TreeModel(robot, tree, choice.torques_by, choice.mass_by, "", choice.frames)


def model_by(arm: Arm | Robot, choice: Choice) -> Model:
    """The model of an arm or robot by one choice of formulation and frames, for plain evaluation."""
    return _model(arm, _trusted(arm, choice), {})


def _trusted(arm: Arm | Robot, choice: Choice) -> Choice:
    """The choice in frames that were tried on the arm's own numbers."""
    if isinstance(arm, Robot):
        return replace(choice, frames=trusted_tree(arm, choice.frames))
    return replace(choice, frames=trusted(arm, choice.frames, choice.origins))


def _arm_with_payload(arm: Arm, body: Ten, number: int) -> Arm:
    """The arm whose link 1 to n holds a body given in its frame, for what reads the arm itself."""
    mass, h, J = body
    link = arm.links[number - 1]
    own_mass, own_h, own_J = link.ten
    total = own_mass + mass
    held = link.replace(mass=total, com=tuple((own_h + h) / total), inertia=Inertia.about_origin(own_J + J))
    return arm.replace(links=(*arm.links[: number - 1], held, *arm.links[number:]))


# -- which candidates there are ----------------------------------------------------------------------------


def _default(arm: Arm | Robot, quantity: str, formulation: str | None) -> tuple[Choice, str]:
    if formulation is not None:
        return _by(arm, formulation), "asked for"
    if isinstance(arm, Robot):
        return Choice(), "default"
    found = searched().get(arm.without_drives().digest[:16], {}).get(quantity)
    if found is not None:
        return replace(
            Choice(), **{**found, "origins": tuple(found["origins"]) if found.get("origins") else None}
        ), "table"
    if quantity == "forward_dynamics" and arm.n >= ARTICULATED_FROM and not arm.has_drives:
        return Choice(accelerations_by="featherstone_1983"), "default"
    return Choice(), "default"


def _by(arm: Arm | Robot, stem: str) -> Choice:
    if stem not in FORMULATIONS:
        raise KernelFault(
            f"compile: no formulation {stem!r}; there are {', '.join(FORMULATIONS)}, or 'search'."
        )
    row = FORMULATIONS[stem]
    if isinstance(arm, Robot) and not {"joint_torques", "mass_matrix"} & set(row.gives):
        raise KernelFault(
            f"compile: {stem} gives {', '.join(row.gives)} alone, which does not add up over the chains of robot "
            f"{arm.name!r}; give one for torques or M, or leave formulation= out."
        )
    if not row.accepts(arm):
        raise KernelFault(
            f"compile: {stem} takes revolute joints only, and arm {arm.name!r} has a prismatic one."
        )
    frames = "regrouped" if row.view == "ten" else "arm"
    if "joint_torques" in row.gives:
        return Choice(torques_by=stem, mass_by=stem if frames == "arm" else "walker_orin_1982", frames=frames)
    if "mass_matrix" in row.gives:
        return Choice(mass_by=stem, frames=frames)
    return Choice(accelerations_by=stem, frames=frames)


MOST_JOINTS = {"n^4": 4, "n^3": 6, "n^2": 12}
"""Formulations whose cost grows faster are not worth tracing beyond so many joints."""


def _candidates(arm: Arm | Robot, what: Quantity) -> Iterator[Choice]:
    """Every formulation that gives the quantity, each in the frames it accepts."""
    if not what.needs:
        yield Choice()
        return
    for stem, row in FORMULATIONS.items():
        if not row.accepts(arm) or arm.n > MOST_JOINTS.get(row.order, 1000) or row.needs:
            continue
        frames = ("arm", "reframed", "regrouped") if row.view == "ten" else ("arm",)
        for frame in frames:
            if "joint_torques" in row.gives:
                yield Choice(
                    torques_by=stem, mass_by=stem if frame == "arm" else "walker_orin_1982", frames=frame
                )
            elif "mass_matrix" in row.gives and what.needs in ("mass", "accelerations") and row.view == "ten":
                yield Choice(mass_by=stem, frames=frame)
            elif (
                "joint_accelerations" in row.gives
                and what.needs == "accelerations"
                and not isinstance(arm, Robot)
                and what.outputs == ("qdd",)
                and not arm.has_drives
            ):
                yield Choice(accelerations_by=stem, frames=frame)


def _slid(
    arm: Arm | Robot, quantity: str, free: tuple[str, ...], traced: Any, options: dict[str, Any]
) -> tuple[Choice, Graph]:
    """The best candidate with its origins slid along the axes, one joint at a time, while that helps."""
    choice, graph = min(traced, key=lambda pair: pair[1].counts.operations)
    if choice.frames == "arm" or isinstance(arm, Robot):
        return choice, graph
    best = (graph.counts.operations, choice, graph)
    origins = [0] * arm.n
    for _ in range(2):
        for j in range(-1, arm.n):
            trial = [1 - k if i == j else k for i, k in enumerate(origins)]
            tried = replace(choice, origins=tuple(trial))
            found = _graph(arm, quantity, free, tried, options)
            if found.counts.operations < best[0]:
                best, origins = (found.counts.operations, tried, found), trial
    return best[1], best[2]


@cache
def searched() -> dict[str, dict[str, Any]]:
    """The committed table of searches: by arm (16 digits of its digest without drives) and quantity."""
    text = Path(__file__).with_name("searched.json").read_text(encoding="utf-8")
    return json.loads(text)["arms"]  # type: ignore[no-any-return]
