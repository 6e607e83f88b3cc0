"""What the live page computes, as graphs: places, torques, and steps of a simulation. Payload and gravity are inputs.

look      q, payload, gravity     places of frames and bodies, the tool's Jacobian, potential energy
torques   q, qd, qdd, payload, gravity      inverse dynamics; gravity, M and C qd come from it too
friction  qd
fall      the arm let go: nothing drives it; friction as much as wanted
follow    computed torque towards a goal, by a controller that believes in another payload
"""

from typing import Any

import numpy as np

from forearm import drives, kinematics
from forearm.algebra import product
from forearm.arm import Arm
from forearm.compiler.graph.graph import Graph
from forearm.compiler.graph.interpreter import apply
from forearm.compiler.graph.passes import lower
from forearm.compiler.graph.trace import trace
from forearm.compiler.pipeline import compile
from forearm.compiler.wasm.wasm_rollout import WasmRollout

FREE = ("payload@tool", "gravity")
"""What a reader of the page can change of the arm."""
EXTRA = {"payload": (10,), "gravity": (3,)}


def view_graphs(arm: Arm) -> dict[str, Graph]:
    """The functions of the page by name; torques only where the arm has masses."""
    graphs = {"look": _look(arm)}
    if arm.dynamics:
        graphs["torques"] = compile(arm, "inverse_dynamics", target="wasm", free=FREE).graph
        graphs["friction"] = lower(
            trace(lambda qd: drives.friction_torque(arm, qd), {"qd": (arm.n,)}, name="friction"), 0
        )
    return graphs


def _look(arm: Arm) -> Graph:
    """Frames 0 … n and the tool (n + 2, 12: rows of R, then p), bodies' centres, J (6, n), potential energy."""

    def look(q: Any, payload: Any, gravity: Any) -> dict[str, Any]:
        poses = kinematics.link_poses(arm, q)
        tool = kinematics.frame_pose(arm, q, "tool")
        rows = [np.concatenate([R[0], R[1], R[2], p]) for R, p in (*poses, tool)]
        centers, potential = [], 0.0
        for link, (R, p) in zip(arm.links, poses[1:], strict=True):
            mass, center, _ = link.about_com if arm.dynamics else (0.0, np.zeros(3), None)
            centers.append(p + product(R, center))
            potential = potential - mass * (gravity @ centers[-1])
        held = payload[0] * tool[1] + product(tool[0], payload[1:4])
        return {
            "frames": np.array(rows),
            "centers": np.array(centers),
            "J": kinematics.frame_jacobian(arm, q, "tool"),
            "potential": potential - gravity @ held,
        }

    return lower(trace(look, {"q": (arm.n,), **EXTRA}, name="look"), 0)


def view_rollouts(arm: Arm) -> dict[str, WasmRollout]:
    """The simulations of the page: energies that enter and leave are integrated with the state."""
    if not arm.dynamics:
        return {}
    n = arm.n
    plant = compile(arm, "forward_dynamics", target="wasm", free=FREE).graph
    model = compile(arm, "inverse_dynamics", target="wasm", free=FREE).graph
    states = {"q": "qd", "qd": "qdd", "work": "power", "lost": "heat"}
    ports: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (n,), "work": (), "lost": ()}

    def driven(v: dict[str, Any], tau: Any) -> dict[str, Any]:
        loss = drives.friction_torque(arm, v["qd"])
        undone = tau + (1.0 - v["share"]) * loss  # the plant has all of its friction
        given = {"q": v["q"], "qd": v["qd"], "tau": undone, "payload": v["payload"], "gravity": v["gravity"]}
        qdd = apply(plant, **given)["qdd"]
        return {"qdd": qdd, "power": tau @ v["qd"], "heat": v["share"] * (loss @ v["qd"])}

    def fall(**v: Any) -> dict[str, Any]:
        return driven(v, np.zeros(n))

    def follow(**v: Any) -> dict[str, Any]:
        push = v["push"] + v["kp"] * (v["goal"] - v["q"]) + v["kd"] * (v["rate"] - v["qd"])
        given = {
            "q": v["q"],
            "qd": v["qd"],
            "qdd": push,
            "payload": v["believed"],
            "gravity": v["gravity"],
        }
        missing = (1.0 - v["share"]) * drives.friction_torque(arm, v["qd"])  # as the arm, so its controller
        return driven(v, apply(model, **given)["tau"] - missing)

    targets = {"goal": (n,), "rate": (n,), "push": (n,), "kp": (), "kd": (), "believed": (10,)}
    falling = lower(trace(fall, {**ports, "share": (), **EXTRA}, name="fall"), 0)
    led = lower(trace(follow, {**ports, "share": (), **targets, **EXTRA}, name="follow"), 0)
    return {"fall": WasmRollout(falling, states), "follow": WasmRollout(led, states)}
