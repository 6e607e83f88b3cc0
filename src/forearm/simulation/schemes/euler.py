"""Semi-implicit Euler: speeds first, positions with the new speeds; first order, and joints may stick."""

from typing import Any

from forearm.algebra import where
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.step_rules import SemiImplicitEuler
from forearm.compiler.graph.trace import trace
from forearm.free_base import unit
from forearm.simulation.engines import Engine, KernelLoop, Scheme, Setting, by_rule, map_step
from forearm.simulation.plant import Plant, rates_graph
from forearm.simulation.schemes import dry_friction

RULE = SemiImplicitEuler()


def euler_graph(plant: Plant, law: Graph | None) -> Graph:
    """One step of the semi-implicit scheme as a map, for rows that stop and free bases: there q follows no state."""
    rates = rates_graph(plant, law)
    ports = {port.name: port.shape for port in rates.inputs} | {"h": ()}

    def step(**v: Any) -> dict[str, Any]:
        k, h = apply(rates, **{port.name: v[port.name] for port in rates.inputs}), v["h"]
        after = {f"{name}_next": v[name] + h * k[f"{name}_rate"] for name in ("qd", *plant.scalars)}
        if plant.floats:
            moved = plant.position_rates(v["q"], after["qd_next"])
            moved = moved * where(v["first"], 0.0, 1.0) if plant.stops else moved
            # a rotation about a fixed axis lengthens the quaternion in each step, and steps may be millions
            return {"q_next": unit(v["q"] + h * moved), **after}
        moved = k["q_rate"] + (after["qd_next"] - v["qd"])
        return {"q_next": v["q"] + h * moved, **after}

    return lower(trace(step, ports, name=f"{plant.arm.name}, a step", careful=rates.careful), 0)


def engine(setting: Setting) -> Engine:
    """The rule itself; as a map where rows can stop."""
    if (setting.plant.stops or setting.plant.floats) and setting.calls is None:
        return KernelLoop(setting, SCHEME.name, lambda plant, law: map_step(euler_graph(plant, law)))
    return by_rule(RULE)(setting)


SCHEME = Scheme(
    "euler",
    order=1,
    make=engine,
    told="semi-implicit: cheap, and joints may stick (sticking=True)",
    stable=2.0,
    looks_once=True,
    sticking=dry_friction.SCHEME,
)
