"""Semi-implicit Euler with true dry friction: joints may stick. Reached by sticking=True."""

from typing import Any

import numpy as np

from forearm.algebra import Vector, is_zero, where
from forearm.compiler.call.processor import ProcessorKernel
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.model.free_parameters import is_friction
from forearm.factorisation import factor, solve_factored
from forearm.simulation.engines import Engine, KernelLoop, Scheme, Setting, map_step
from forearm.simulation.plant import Plant, State, drivers, kept, law_in_graph, scalar_rates, state_ports
from forearm.simulation.schemes.stuck_joints import StuckJoints


def sticking_graph(plant: Plant, law: Graph | None) -> Graph:
    """One step of the semi-implicit scheme with true dry friction: joints may stick.

    Speeds after the step are v - h M⁻¹ f, where each friction torque f is within its bounds and stops its joint if it
    can: stuck_joints.py. For how long that was not found is integrated as `unsettled`.
    """
    ports = state_ports(plant) | drivers(plant, law) | plant.free_ports | {"unsettled": (), "h": ()}
    arm, smooth = plant.arm, _without_friction(plant)

    def step(**v: Any) -> dict[str, Any]:
        h, q, qd = v["h"], v["q"], v["qd"]
        tau, push = plant.clipped(law_in_graph(plant, law, v)), plant.external(v)
        dry, speed, unsettled = _pushed(plant, smooth, v, tau + push)
        going = where(v["first"], 0.0, 1.0) if plant.stops else 1.0
        viscous = _viscous(plant, v)
        rates = scalar_rates(plant, v, tau, push)
        rates["work_rate"], rates["lost_rate"] = (tau + push) @ speed, (viscous + dry) @ speed
        found = {"q_next": q + going * h * speed, "qd_next": qd + going * (speed - qd)}
        found["unsettled_next"] = v["unsettled"] + going * h * unsettled
        rates["work_rate"], rates["lost_rate"] = going * rates["work_rate"], going * rates["lost_rate"]
        return found | {f"{k}_next": v[k] + h * rates[f"{k}_rate"] for k in plant.scalars}

    name = f"{arm.name}, a step with sticking"
    return lower(trace(step, ports, name=name, careful=law is not None and law.careful), 0)


def accelerations(plant: Plant) -> Any:
    """A kernel of q, qd, tau, parameters of a motion's own and the step h: accelerations while joints slip or stick."""
    nq, nv = plant.arm.nq, plant.arm.nv
    ports = {"q": (nq,), "qd": (nv,), "tau": (nv,), **plant.free_ports, "h": ()}
    smooth = _without_friction(plant)

    def rates(**v: Any) -> dict[str, Any]:
        _, speed, _ = _pushed(plant, smooth, v, plant.clipped(v["tau"]) + plant.external(v))
        return {"qdd": (speed - v["qd"]) / v["h"]}

    name = f"accelerations of {plant.arm.name} with sticking"
    return kept(plant, ("sticking",), lambda: ProcessorKernel(lower(trace(rates, ports, name=name), 0)))


def _slippery(link: Any) -> Any:
    return link.replace(drive=link.drive.replace(viscous=0.0, coulomb=(0.0, 0.0)))


def _without_friction(plant: Plant) -> Plant:
    """The plant on drives that turn freely; what a row says of friction is no part of it."""
    links = tuple(_slippery(link) for link in plant.arm.links)
    free = tuple(path for path in plant.free if not is_friction(path))
    return Plant(plant.arm.replace(links=links), free, plant.wrench)


def _viscous(plant: Plant, v: Any) -> Vector:
    """Viscous friction torques (n,), of the row's own drives where those are free."""
    links = plant.with_own_drives(v).links
    return np.array([link.drive.viscous * speed for link, speed in zip(links, v["qd"], strict=True)])


def _pushed(plant: Plant, smooth: Plant, v: Any, torque: Vector) -> tuple[Vector, Vector, Any]:
    """Dry friction torques (n,) in the step that begins here, the speeds after it, and 1 if they are not settled."""
    arm, h = plant.arm, v["h"]
    bias = smooth.quantity("bias_torque", **v) + _viscous(plant, v)
    M = plant.quantity("mass_matrix", **v)
    rows, inverse = factor(M, arm=arm)
    free = v["qd"] + h * solve_factored(rows, inverse, torque - bias)
    levels = [link.drive.coulomb for link in plant.with_own_drives(v).links]
    bounds = {i: pair for i, pair in enumerate(levels) if not all(is_zero(level) for level in pair)}
    if not bounds:
        return np.zeros(arm.n), free, 0.0
    columns = np.array([solve_factored(rows, inverse, e) for e in np.eye(arm.n)])
    return StuckJoints(bounds, M, columns, free, h).settled()


def engine(setting: Setting) -> Engine:
    """The step as a map in the kernel's loop."""
    return Sticking(setting, SCHEME.name, lambda plant, law: map_step(sticking_graph(plant, law)))


class Sticking(KernelLoop):
    """The kernel's loop, and for how long friction was not settled."""

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return super().start(q, qd) | {"unsettled": np.zeros(q.shape[:-1])}


SCHEME = Scheme(
    "euler with sticking",
    order=1,
    make=engine,
    told="semi-implicit, with true dry friction",
    stable=2.0,
    looks_once=True,
    calls_python=False,
    robots=False,
    accelerations=accelerations,
)
