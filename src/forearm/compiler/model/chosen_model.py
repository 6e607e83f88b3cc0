"""A choice of formulation and frames, and the model of an arm or robot by it."""

from dataclasses import dataclass, replace
from typing import Any

from forearm.arm import Arm
from forearm.compiler.model.arm_model import Model
from forearm.compiler.model.base_parameters import described, reframed, regroup
from forearm.compiler.model.free_parameters import INERTIAL, payload_place
from forearm.compiler.model.quantities import Quantity
from forearm.compiler.model.trees.tree_digits import is_refined
from forearm.compiler.model.trees.tree_frames import described_tree
from forearm.compiler.model.trees.tree_model import TreeModel, with_payload
from forearm.compiler.model.trust import tree_in, trusted, trusted_tree
from forearm.formulations import FORMULATIONS
from forearm.frames import SAME
from forearm.free_base import SIX
from forearm.inertia import Ten, moved_ten, ten_from
from forearm.link import carrying
from forearm.robot import Robot


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
    refined: bool = False
    """Whether accelerations by M are refined once, where elimination costs too many digits."""
    precision: str = "float64"
    """In which numbers will be computed."""

    def label(self, quantity: Quantity) -> str:
        """What `kernel.why` calls it."""
        stems = {"torques": (self.torques_by,), "mass": (self.mass_by,), "": ()}.get(quantity.needs)
        if stems is None:
            stems = (self.accelerations_by,) if self.accelerations_by else (self.mass_by, self.torques_by)
        frames = {"arm": "", "reframed": "better frames", "regrouped": "base parameters"}[self.frames]
        where = f"origins {''.join(map(str, self.origins))}" if self.origins else ""
        once = "refined once" if self.refined and quantity.outputs == ("qdd",) else ""
        return ", ".join(filter(None, (" + ".join(stems), frames, where, once)))


def plain_model(arm: Arm | Robot) -> Model:
    """The model of an arm or robot as it is described, for plain evaluation."""
    return TreeModel(arm, described_tree(arm)) if isinstance(arm, Robot) else Model(arm, arm)


def model_by(arm: Arm | Robot, choice: Choice) -> Model:
    """The model of an arm or robot by one choice of formulation and frames, for plain evaluation."""
    return model_with(arm, trusted_choice(arm, choice, "forward_dynamics"), {})


def trusted_choice(arm: Arm | Robot, choice: Choice, quantity: str) -> Choice:
    """The choice in frames that were tried on the arm's own numbers, accelerations refined where a robot needs it."""
    if isinstance(arm, Robot):
        once = quantity == "forward_dynamics" and is_refined(arm)
        return replace(choice, frames=trusted_tree(arm, choice.frames), refined=once)
    return replace(choice, frames=trusted(arm, choice.frames, choice.origins))


def model_with(arm: Arm | Robot, choice: Choice, free: dict[str, Any]) -> Model:
    """The model of an arm by a choice, some of its bodies free: all of them, or what it holds."""
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
    ways = (choice.torques_by, choice.mass_by, choice.accelerations_by)
    return Model(arm, chain, *ways, choice.frames, precision=choice.precision)


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
    ways = (choice.torques_by, choice.mass_by, "", choice.frames, choice.refined)
    return TreeModel(robot, tree, *ways, precision=choice.precision)


def _arm_with_payload(arm: Arm, body: Ten, number: int) -> Arm:
    """The arm whose link 1 to n holds a body given in its frame, for what reads the arm itself."""
    held = carrying(arm.links[number - 1], body)
    return arm.replace(links=(*arm.links[: number - 1], held, *arm.links[number:]))
