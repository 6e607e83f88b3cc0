"""Robots with branches: parents, couplings, free bases, and what cannot be had for them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import is_number
from forearm.faults.call_arguments import attribute, did_you_mean, number_of, several, shown
from forearm.faults.kinds import ArmFault, StateFault
from forearm.faults.parts import name, part

UNIT = 1e-6
"""How far from one the length of a quaternion may be."""


def plain_number(value: Any, where: str) -> float:
    """A finite number, no symbol."""
    number = number_of(value) if is_number(value) else None
    if number is None or not math.isfinite(number):
        raise ArmFault(f"{where} is {shown(value)}; give a finite number.")
    return number


def listed(given: Any, where: str, what: str) -> tuple[Any, ...]:
    """What must be a sequence, as a tuple."""
    return several(given, f"{where}: {what}")


def coupling_terms(terms: Any, where: str) -> tuple[tuple[str, float], ...]:
    """(leader, factor) pairs: at least one, each leader once."""
    pairs = tuple(terms.items()) if isinstance(terms, Mapping) else listed(terms, where, "terms")
    if not pairs or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
        raise ArmFault(
            f"{where}: terms are {shown(terms)}; give pairs (joint that leads, factor), at least one."
        )
    found = tuple((name(leader, where), plain_number(factor, f"{where}: factor")) for leader, factor in pairs)
    if len(dict(found)) < len(found):
        raise ArmFault(f"{where} names a leader twice; add its factors up.")
    return found


def coupling_words(said: Any, joint: str) -> tuple[Any, Any, Any]:
    """("leader", factor, offset), the last two optional."""
    if not isinstance(said, Sequence) or not 1 <= len(said) <= 3:
        raise ArmFault(
            f"coupling of joint {joint!r} is {said!r}; give the joint that leads, ('leader', factor, offset), or "
            "{'leader': factor, …}."
        )
    given = [*said, *(1.0, 0.0)[len(said) - 1 :]]
    return given[0], given[1], given[2]


def coupling_circle(names: Sequence[str]) -> NoReturn:
    """Joints that follow each other round and round."""
    raise ArmFault(
        f"joints follow each other in a circle, {' -> '.join(names)}; one of them has to lead: take its coupling out."
    )


def coupled_joints(couplings: Sequence[Any], names: Sequence[str], where: str) -> list[str]:
    """Sentences on couplings that name what is not there, follow themselves, or follow twice."""
    followers = Counter(c.joint for c in couplings)
    there, strange, found = set(names), dict[str, None](), []
    for coupling in couplings:
        joints = (coupling.joint, *(leader for leader, _ in coupling.terms))
        strange |= dict.fromkeys(joint for joint in joints if joint not in there)
        if coupling.joint in dict(coupling.terms):
            found.append(f"joint {coupling.joint!r} is coupled to itself; name another joint that leads.")
    if strange:
        found.insert(0, _strangers(list(strange), names))
    for twice in sorted(x for x, times in followers.items() if times > 1):
        found.append(f"joint {twice!r} has {followers[twice]} couplings; give one, with all its terms.")
    if followers and len(followers) == len(names):
        found.append("every joint follows another; one has to lead.")
    return found


def _strangers(strange: Sequence[str], names: Sequence[str]) -> str:
    """A sentence on joints of couplings that are not there, however many."""
    others = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return (
        f"a coupling names joint {strange[0]!r}{others}, which is not there{did_you_mean(strange[0], names)}; it has "
        f"{listed}."
    )


def parents(given: Any, n: int, where: str) -> tuple[int, ...]:
    """The link (1 to n) or base (0) that each link hangs on: one that comes before it."""
    found = listed(given, where, "parents")
    if len(found) != n:
        raise ArmFault(f"{where} has {n} links and {len(found)} parents; give one parent for each link.")
    for number, parent in enumerate(found, 1):
        if not is_number(parent) or not 0 <= parent < number or parent != int(parent):
            before = f"the number of a link that comes before it (1 to {number - 1}), or 0 for the base"
            raise ArmFault(
                f"{where}: link {number} has parent {parent!r}; give {before if number > 1 else '0, for the base'}."
            )
    return tuple(int(parent) for parent in found)


def mounts(given: Any, n: int, kind: type, where: str) -> None:
    """One pose for each joint."""
    if len(given) != n:
        raise ArmFault(
            f"{where} has {n} links and {len(given)} mounts; give a Pose for each joint, or none at all."
        )
    for i, pose in enumerate(given):
        part(pose, kind, f"{where}: mounts[{i}]")


def empty_robot(where: str) -> NoReturn:
    """Neither joints nor a base that moves."""
    raise ArmFault(
        f"{where} has no links, and its base is fixed: nothing moves; give links, or free=True (load: base='free')."
    )


def tip_on_base(robot: Any, tip: Any, ends: Sequence[str]) -> NoReturn:
    """A chain without joints."""
    raise ArmFault(
        f"robot {robot.name!r}: {tip!r} stands on the base, so no joint moves it; "
        + (f"give an end of an arm: {', '.join(ends)}." if ends else "this robot has no joints.")
    )


def torn_coupling(robot: Any, coupling: Any, tip: Any) -> NoReturn:
    """A chain that has one joint of a coupling and not the other, or both."""
    raise ArmFault(
        f"robot {robot.name!r}: the chain to {tip!r} needs joint {coupling.joint!r} and those that lead it "
        f"({', '.join(leader for leader, _ in coupling.terms)}), and a single chain has no couplings; use the robot "
        "itself, or take the coupling out (with_couplings)."
    )


def default_frame(robot: Any) -> NoReturn:
    """'tool' of a robot that has several, or none."""
    tools = ", ".join(repr(tool.name) for tool in robot.tools) or "none"
    say = robot.tips[0] if robot.tips else "base"
    raise StateFault(
        f"robot {robot.name!r} has no frame 'tool' of its own (its tools: {tools}); say which frame is meant, frame="
        f"{say!r} say: any link or joint by its name."
    )


def needs_chain(value: Any, what: str) -> None:
    """Refuse a robot where one chain on a fixed base is needed."""
    if not hasattr(value, "couplings"):
        return
    said = f"robot {value.name!r}: {what} takes one chain on a fixed base, and this "
    if not value.tips:
        raise StateFault(f"{said}is a free body; hang links with joints on it first.")
    said += f"robot {'has a free base' if value.free else 'branches or is coupled'}; "
    raise StateFault(said + chain_advice(value))


def no_absolute_angles(arm: Any, number: int) -> NoReturn:
    """Absolute angles need joints that turn about parallel axes."""
    link = arm.links[number - 1]
    what = "slides" if link.prismatic else "turns about an axis that is not parallel to the first one's"
    raise StateFault(
        f"coordinates of arm {arm.name!r}: absolute angles are of joints that turn about parallel axes, and joint "
        f"{number} {link.name!r} {what}; give the matrix that you mean: Coordinates(arm, S)."
    )


def chain_advice(robot: Any) -> str:
    """How one chain of a robot is had in Python: a sentence's end."""
    if sound := sound_ends(robot):
        return f"give one of its chains, robot.arm({sound[0]!r})."
    return (
        "each of its chains has joints that follow others; give one in which they move by themselves, "
        f"robot.with_couplings(()).arm({robot.tips[0]!r})."
    )


def sound_ends(robot: Any) -> list[str]:
    """Where chains without coupled joints end: at the ends of arms, or, if all of those are fingers, at the hand."""
    coupled = {x for c in robot.couplings for x in (c.joint, *dict(c.terms))}
    joints, whole = [0], [True]  # how many joints lead to each link, and whether none of them is coupled
    for link, parent in zip(robot.links, robot.parents, strict=True):
        joints.append(joints[parent] + 1)
        whole.append(whole[parent] and link.name not in coupled)
    ends = [tip for tip in robot.tips if whole[robot.place_of(tip)[0]]]
    if ends or not robot.links:
        return ends
    hand = max((i for i, is_whole in enumerate(whole) if is_whole), key=lambda i: (joints[i], -i))
    if 2 * joints[hand] < max(joints):
        return []
    return [next((f.name for f in reversed(robot.frames) if f.link == hand), robot.links[hand - 1].name)]


def payload_frame_of_many(robot: Any) -> NoReturn:
    """A payload as an input, of a robot with several hands."""
    raise StateFault(
        f"free parameter 'payload': robot {robot.name!r} has no frame 'tool' of its own; say where the payload is, "
        f"'payload@{robot.tips[0] if robot.tips else 'base'}' say: any link or joint by its name."
    )


OWN_MOTION = "give a motion of your own, which feasible(robot, motion) judges"
LET_GO = "where they may move by themselves, take the couplings out: robot.with_couplings(())"


def needs_own_joints(value: Any, what: str, instead: str = OWN_MOTION) -> None:
    """Refuse a robot with a free base or coupled joints where each joint is moved by itself."""
    if getattr(value, "free", False):
        raise StateFault(
            f"robot {value.name!r}: {what} moves joints on a fixed base, and this robot has a free base; fix it, "
            "robot.fixed()."
        )
    if getattr(value, "couplings", ()):
        raise StateFault(
            f"robot {value.name!r}: {what} moves each joint by itself, and this robot has joints that follow others "
            f"({value.couplings[0].joint!r}); {instead}."
        )


def needs_joints(value: Any, what: str) -> None:
    """Refuse a free body where joints are asked about."""
    if not attribute(value, "links", True):
        raise StateFault(
            f"robot {value.name!r}: {what} are those of joints, and this is a free body; it has none."
        )


def needs_mount(value: Any) -> None:
    """Refuse the wrench on the mount of what has none."""
    if attribute(value, "free", False) is True:
        raise StateFault(
            f"robot {value.name!r} has a free base, which stands on nothing; the wrench on its base is the first six "
            "numbers of inverse_dynamics."
        )


def unit_quaternions(robot: Any, q: Any) -> None:
    """Refuse states (..., nq) of which one has a quaternion that is no rotation; NaN stays in its own row."""
    rows = q.reshape(-1, q.shape[-1])
    off = np.abs(np.linalg.norm(rows[:, 3:7], axis=1) - 1) >= UNIT
    for row in rows[off][:1]:
        unit_quaternion(robot, row)


def unit_quaternion(robot: Any, q: Any) -> None:
    """Refuse a state whose quaternion is no rotation."""
    length = math.hypot(*(float(x) for x in q[3:7]))
    if abs(length - 1) < UNIT:
        return
    raise StateFault(
        f"robot {robot.name!r}: the base's quaternion, q[3:7] = (x, y, z, w), has length {length:.9g}; give one of "
        "unit length, within 1e-6. (In a batch the row would be NaN.)"
    )
