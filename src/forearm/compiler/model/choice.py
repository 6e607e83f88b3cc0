"""Which formulation, in which frames.

`default_choice` is the rule: a committed table of searches, searched.json (written by benchmarks/search.py), and
otherwise what wins everywhere. With `formulation="search"` every candidate is traced and the cheapest graph taken,
origins of frames slid along the axes. Two things come after the rule: `chosen_model.trusted_choice` goes back to
plainer frames where the chosen ones are not exact enough, and `pipeline` makes loops of chains of more than 30 joints.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.kernel import SEARCH, Why
from forearm.compiler.model.chains.articulated_bodies import gives_way_nowhere
from forearm.compiler.model.chosen_model import Choice, trusted_choice
from forearm.compiler.model.free_parameters import is_body
from forearm.compiler.model.quantities import QUANTITIES, Quantity
from forearm.compiler.model.quantity_graphs import graph_by
from forearm.compiler.store.graphs import simplified
from forearm.faults import KernelFault, needs_floats, no_dynamics, shown, yes_or_no
from forearm.formulations import FORMULATIONS, Formulation
from forearm.robot import Robot

HEAVY = 2000
"""Operations beyond which a graph is only folded: derivatives come from factored parts, and gain 1 % in seconds."""
WORTHWHILE = 1.6
"""A candidate that costs so many times the cheapest before factoring is not worth factoring."""
ARTICULATED_FROM = 12
"""Joints from which articulated bodies beat composite bodies and elimination."""


def best_graph(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...] = (),
    formulation: str | None = None,
    options: dict[str, Any] | None = None,
    precision: str = "float64",
) -> tuple[Graph, Why]:
    """The simplified graph of a quantity, for numbers of a precision, and why this one."""
    if quantity not in QUANTITIES:
        raise KernelFault(f"compile: no quantity {shown(quantity)}; there are {', '.join(QUANTITIES)}.")
    what = QUANTITIES[quantity]
    _refuse_options(quantity, options or {})
    if what.dynamics and not arm.dynamics:
        no_dynamics(arm, quantity)
    needs_floats(arm, f"compile: {quantity}")
    if formulation == SEARCH:
        choices, source = _rivals(arm, quantity), SEARCH
    else:
        if formulation is not None:
            _refuse_useless(arm, quantity, free, formulation)
        choice, source = default_choice(arm, quantity, formulation)
        choices = [trusted_choice(arm, choice, quantity)]
    choices = [replace(choice, precision=precision) for choice in choices]
    traced = _traced(arm, quantity, free, choices, options or {}, formulation == SEARCH)
    best = traced[0]
    labels = {c.label(what): graph.counts for c, graph in reversed(traced)}
    ranked = sorted(labels.items(), key=lambda pair: pair[1].operations)
    return best[1], Why(best[0].label(what), tuple(ranked), source)


def _refuse_options(quantity: str, options: dict[str, Any]) -> None:
    """Refuse options that a quantity does not have."""
    takes = _options_of(quantity)
    for name in options:
        if name not in takes:
            homes = [other for other in QUANTITIES if name in _options_of(other)]
            known = f"its options: {', '.join(takes)}" if takes else "it has no options"
            where = f"; {name} is an option of {', '.join(homes)}" if homes else ""
            raise KernelFault(f"compile: {quantity} takes no {name}= ({known}){where}. Leave it out.")
    if "local" in options:
        yes_or_no(options["local"], "compile: local", KernelFault)


def _options_of(quantity: str) -> list[str]:
    parameters = signature(QUANTITIES[quantity].function).parameters.values()
    return [x.name for x in parameters if x.kind is x.KEYWORD_ONLY]


def default_choice(arm: Arm | Robot, quantity: str, formulation: str | None = None) -> tuple[Choice, str]:
    """What is taken without a search, and why: what was asked for, what a search found for this arm, or what wins
    everywhere else (Khalil and Kleinfinger's recursion on base parameters; articulated bodies for long chains).
    """
    if formulation is not None:
        asked = _by(arm, formulation)
        if QUANTITIES[quantity].needs == "mass" and asked.torques_by == formulation:
            asked = replace(
                asked, mass_by=formulation
            )  # M alone is strobed from it, dearly, and is not another's
        return asked, "asked for"
    if isinstance(arm, Robot):
        return Choice(), "default"
    found = searched().get(arm.without_drives().digest[:16], {}).get(quantity)
    if found is not None:
        return replace(
            Choice(), **{**found, "origins": tuple(found["origins"]) if found.get("origins") else None}
        ), "table"
    long = quantity == "forward_dynamics" and arm.n >= ARTICULATED_FROM and not arm.has_drives
    if long and gives_way_nowhere(arm):
        return Choice(accelerations_by="featherstone_1983"), "default"
    return Choice(), "default"


def quantity_graph(
    arm: Arm | Robot, quantity: str, choice: Choice | None = None, free: tuple[str, ...] = (), **options: Any
) -> Graph:
    """The simplified graph of a quantity by one choice of formulation and frames."""
    return graph_by(arm, quantity, free, choice or default_choice(arm, quantity)[0], options)


def search(arm: Arm | Robot, quantity: str) -> tuple[Choice, Graph]:
    """The cheapest of all choices, and its graph."""
    return _traced(arm, quantity, (), _rivals(arm, quantity), {}, True)[0]


def _rivals(arm: Arm | Robot, quantity: str) -> list[Choice]:
    """All choices, each once; what is done about rounding (`refined`) does not depend on them."""
    what = QUANTITIES[quantity]
    once = trusted_choice(arm, Choice(frames="arm"), quantity).refined
    return list(
        {c.label(what): c for c in (replace(x, refined=once) for x in _candidates(arm, what))}.values()
    )


def _traced(
    arm: Arm | Robot,
    quantity: str,
    free: tuple[str, ...],
    choices: list[Choice],
    options: dict[str, Any],
    slide: bool,
) -> list[tuple[Choice, Graph]]:
    """Every choice with its graph, cheapest first; `slide` also tries other origins for the best."""
    folded = [(c, graph_by(arm, quantity, free, c, options, effort=0)) for c in choices]
    least = min(graph.counts.operations for _, graph in folded)
    worth = min(WORTHWHILE * least, HEAVY)
    traced = [(c, simplified(graph) if graph.counts.operations <= worth else graph) for c, graph in folded]
    if slide:
        traced.append(_slid(arm, quantity, free, traced, options))
    return sorted(traced, key=lambda pair: pair[1].counts.operations)


USED = {
    "torques": ("joint_torques",),
    "mass": ("mass_matrix", "joint_torques"),
    "accelerations": ("mass_matrix", "joint_torques", "joint_accelerations"),
    "": (),
}
"""What a quantity takes of a formulation, by what it needs."""


def _refuse_useless(arm: Arm | Robot, quantity: str, free: tuple[str, ...], stem: str) -> None:
    """Refuse a formulation by which a quantity is not computed: another's numbers, or none, would go by its name."""
    row, what = _row_of(stem), QUANTITIES[quantity]
    takes, gives = USED[what.needs], ", ".join(row.gives)
    if not takes:
        raise KernelFault(
            f"compile: {quantity} is computed by no formulation, and {stem} would change nothing; leave formulation= "
            "out."
        )
    told = ""
    if not set(takes) & set(row.gives):
        told = f"{stem} gives {gives}, and {quantity} takes {' or '.join(takes)}"
    elif not {"joint_torques", "mass_matrix"} & set(row.gives) and what.outputs != ("qdd",):
        told = f"{stem} gives {gives} alone, and {quantity} takes mass_matrix and joint_torques"
    elif not {"joint_torques", "mass_matrix"} & set(row.gives) and any(x.drive.side for x in arm.links):
        told = f"{stem} gives {gives} of the rigid arm, without the rotors of {arm.name!r} (see arm.without_drives())"
    elif row.needs:
        told = f"{stem} must be given {row.needs} beside the state, and a kernel is not"
    elif row.view != "ten" and (any(is_body(path) for path in free) or _by_bodies(what)):
        of = f"free={free!r}" if any(is_body(path) for path in free) else quantity
        told = f"{stem} takes masses and centres of bodies, and {of} takes ten numbers of each"
    if told:
        raise KernelFault(f"compile: {told}; give another formulation, or leave formulation= out.")


def _by_bodies(what: Quantity) -> bool:
    return what.derivative is not None and "pi" in what.derivative.inputs


def _row_of(stem: str) -> Formulation:
    if stem not in FORMULATIONS:
        raise KernelFault(
            f"compile: no formulation {stem!r}; there are {', '.join(FORMULATIONS)}, or 'search'."
        )
    return FORMULATIONS[stem]


def _by(arm: Arm | Robot, stem: str) -> Choice:
    row = _row_of(stem)
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
            found = graph_by(arm, quantity, free, tried, options)
            if found.counts.operations < best[0]:
                best, origins = (found.counts.operations, tried, found), trial
    return best[1], best[2]


@cache
def searched() -> dict[str, dict[str, Any]]:
    """The committed table of searches: by arm (16 digits of its digest without drives) and quantity."""
    text = Path(__file__).with_name("searched.json").read_text(encoding="utf-8")
    return json.loads(text)["arms"]  # type: ignore[no-any-return]
