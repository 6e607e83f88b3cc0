"""A whole arm: impossible masses and inertias, limits, names, all at once; and what a person should know about it."""

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from forearm.algebra import cross, is_number, is_zero
from forearm.faults.call_arguments import did_you_mean, several, shown
from forearm.faults.calls import coordinates
from forearm.faults.kinds import ArmFault, StateFault
from forearm.faults.number_arrays import floats
from forearm.faults.parts import SLACK, choice, part, text
from forearm.faults.parts import name as checked_name
from forearm.outside.escapes import composed

DEFECTS = ("mass", "inertia_sign", "triangle", "massless_inertia")
"""Kinds of physical fault that an arm may declare, with a reason, and then carry as a note."""

MOST_SAID = 25
"""Faults of an arm that one message tells: a file may have thousands."""

_HINT = (
    " Inertia given about the joint instead of the centre of mass? See CONVENTIONS.md, Inertia. "
    "Published so? Declare the defect, with its reason."
)


def texts(arm: Any, where: str) -> None:
    """Refuse what is no text in the remarks, the provenance and the configurations of an arm or a robot."""
    for remark in arm.remarks:
        text(remark, f"{where}: a remark")
    for about, source in arm.provenance:
        checked_name(about, f"{where}: the subject of a provenance")
        text(source, f"{where}: the provenance of {about!r}")
    for title in _named_states(arm.configurations, where):
        checked_name(title, f"{where}: the name of a configuration")


def configurations(given: Any, where: str) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Named states as names and numbers."""
    states = ((k, floats(f"{where}: configuration {k!r}", v)) for k, v in _named_states(given, where).items())
    return tuple((str(k), tuple(float(x) for x in np.ravel(values))) for k, values in states)


def _named_states(given: Any, where: str) -> dict[Any, Any]:
    try:
        return dict(given if isinstance(given, Mapping) else several(given, f"{where}: configurations"))
    except (TypeError, ValueError):
        raise ArmFault(
            f"{where}: configurations is {shown(given)}; give named states, such as {{'home': (0.0, 0.5)}}."
        ) from None


def link_faults(link: Any) -> list[tuple[str, str]]:
    """Physical faults of one link: (kind, sentence)."""
    mass, _, inertia = link.about_com
    found: list[tuple[str, str]] = []
    if is_number(mass) and mass < 0:
        found.append(("mass", f"mass is {mass:g} kg; give a mass that is zero or positive."))
    if not all(is_number(x) for row in inertia for x in row):
        return found
    low, middle, high = np.linalg.eigvalsh(np.array(inertia, dtype=float))
    printed = f"({low:.6g}, {middle:.6g}, {high:.6g}) kg m²"
    slack = SLACK * max(abs(low), abs(high))
    if low < -slack:
        sentence = f"principal moments {printed} are not all positive; no rigid body has them.{_HINT}"
        found.append(("inertia_sign", sentence))
    elif low + middle < high - slack:
        sentence = (
            f"principal moments {printed} break the triangle inequality ({high:.6g} > {low:.6g} + "
            f"{middle:.6g}); no rigid body has them.{_HINT}"
        )
        found.append(("triangle", sentence))
    if is_number(mass) and mass == 0 and high > slack:
        sentence = (
            f"mass is 0 but principal moments are {printed}; give the mass, or a zero inertia, or declare the "
            "defect."
        )
        found.append(("massless_inertia", sentence))
    return found


def physical_faults(links: Any) -> list[tuple[int, str]]:
    """(link from 1, kind) of every body that cannot be."""
    return [(number, kind) for number, link in enumerate(links, 1) for kind, _ in link_faults(link)]


def moment_without_mass(link: Any, moment: Any) -> None:
    """Refuse a first moment of a link without mass: there is no centre that gives it."""
    if any(not is_zero(x) for x in moment):
        raise ArmFault(
            f"link {link.name!r}: mass is 0 but its first moment is {', '.join(f'{x:.4g}' for x in moment)} kg m; give "
            "a mass, or zeros."
        )


def arm_faults(arm: Any) -> tuple[list[str], list[str]]:
    """All faults of an arm, and the notes of those that are declared."""
    faults: list[str] = []
    notes: list[str] = []
    declared = {(d.link, d.kind): d for d in arm.defects}
    for defect in arm.defects:
        choice(defect.kind, DEFECTS, f"arm {arm.name!r}: defect kind")
        if not (0 if getattr(arm, "free", False) else 1) <= defect.link <= len(arm.links):
            faults.append(f"defect names link {defect.link}; links are numbered 1 to {len(arm.links)}.")
    for number, link in enumerate(arm.links, 1):
        place = f"link {number} {link.name!r}"
        for kind, sentence in link_faults(link) if arm.dynamics else ():
            if (number, kind) in declared:
                notes.append(f"{place}: {sentence.split(';')[0]}; declared: {declared[number, kind].reason}")
            else:
                faults.append(f"{place}: {sentence}")
        if link.limits is not None and link.limits[0] >= link.limits[1]:
            low, high = link.limits
            faults.append(f"{place}: limits ({low:g}, {high:g}) are not in order; give (low, high).")
    names = [composed(link.name) for link in arm.links]
    for name in sorted({n for n in names if names.count(n) > 1}):
        faults.append(f"joint name {name!r} is used {names.count(name)} times; names must differ.")
    held = len(coordinates(arm, "q"))
    for name, values in arm.configurations:
        if len(values) != held:
            has = "numbers in q" if getattr(arm, "free", False) else "joints"
            faults.append(f"configuration {name!r} has {len(values)} values; the arm has {held} {has}.")
    return faults, notes


def base_faults(robot: Any) -> tuple[list[str], list[str]]:
    """Physical faults of a free base, and the notes of those that are declared (as link 0)."""
    faults: list[str] = []
    notes: list[str] = []
    declared = {d.kind: d.reason for d in robot.defects if d.link == 0}
    for kind, sentence in link_faults(robot.trunk.as_link):
        if kind in declared:
            notes.append(f"the base: {sentence.split(';')[0]}; declared: {declared[kind]}")
        else:
            faults.append(f"the base: {sentence}")
    return faults, notes


def raise_arm_faults(where: str, faults: list[str]) -> NoReturn:
    """Report every fault of an arm at once, or the first of them where a file has hundreds."""
    said = "more below" if len(faults) <= MOST_SAID else f"more, {MOST_SAID - 1} of them below"
    more = f"   ({len(faults) - 1} {said})" if len(faults) > 1 else ""
    rest = "".join(f"\n  {sentence}" for sentence in faults[1:MOST_SAID])
    raise ArmFault(f"{where}, {faults[0]}{more}{rest}")


# -- notes: nothing wrong, but a person should know -------------------------------------------------------


def idle_joint_notes(arm: Any) -> list[str]:
    """Joints that move nothing: forward dynamics would be singular."""
    notes = []
    for number, link in enumerate(arm.links, 1):
        beyond = arm.links[number - 1 :]
        if not is_zero(link.drive.rotor_inertia) or not all(has_no_body(far) for far in beyond[1:]):
            continue
        if has_no_body(link) or (number == len(arm.links) and _rests_on_its_axis(link)):
            what = "about" if link.revolute else "along"
            notes.append(
                f"joint {number} {link.name!r} has no inertia {what} its axis (nothing beyond it has any, and "
                "its drive has no rotor_inertia): torques exist, forward dynamics does not."
            )
    return notes


def has_no_body(link: Any) -> bool:
    """Whether a link has neither mass nor inertia."""
    return is_zero(link.mass) and all(is_zero(x) for row in link.inertia.tensor for x in row)


def _rests_on_its_axis(link: Any) -> bool:
    """Whether the link's body feels nothing of its own joint's motion (all its mass is on the axis)."""
    if link.prismatic or not _all_numbers(link):
        return False
    mass, center, inertia = link.about_com
    lever = np.asarray(cross(link.axis, link.p_star(0.0) + center), dtype=float)
    felt = float(link.axis @ inertia @ link.axis + mass * (lever @ lever))
    return abs(felt) <= SLACK * SLACK * (1 + float(np.max(np.abs(inertia))))


def _all_numbers(link: Any) -> bool:
    rows = (link.com, link.pose.translation, *link.inertia.tensor, *link.pose.rotation)
    return all(is_number(x) for x in (link.mass, link.d, link.theta)) and all(
        is_number(x) for row in rows for x in row
    )


def drives(given: Any, kind: type, arm: Any) -> tuple[Any, ...]:
    """One drive for each joint: one for all, a sequence of n, or a mapping by joint name (the others stay)."""
    names = [link.name for link in arm.links]
    n, where = len(names), f"arm {arm.name!r}, with_drives"
    if isinstance(given, kind):
        return (given,) * n
    if isinstance(given, dict):
        for name in given:
            if name not in names:
                raise ArmFault(
                    f"{where}: there is no joint {name!r}{did_you_mean(str(name), names)}; it has {', '.join(names)}."
                )
        given = [given.get(link.name, link.drive) for link in arm.links]
    if not isinstance(given, (list, tuple)) or len(given) != n:
        many = f"{len(given)} drives" if isinstance(given, (list, tuple)) else f"a {type(given).__name__}"
        raise ArmFault(
            f"{where}: {many} given; give one Drive for all, {n} of them, or a mapping by joint name."
        )
    for i, drive in enumerate(given, 1):
        part(drive, kind, f"{where}: drive {i}")
    return tuple(given)


SIZES = ("friction", "viscous", "dry", "density", "lengths")
"""What may be varied and is a size, or a factor: zero or positive."""
SIZED = (".mass", ".drive.viscous", ".drive.coulomb", ".drive.rotor_inertia")
"""Fields of which the same is true."""
MASSES = ("payload", "inertial")
"""What may be varied and begins with a mass."""


def possible_sizes(where: str, arm: Any, name: str, values: Any) -> None:
    """Refuse numbers (S, *shape) that no parameter of an arm can be: sizes below zero, more taken off than there is."""
    least, kind = 0.0, name.partition("@")[0]
    if kind == "payload":  # one that is taken off is less than what holds it
        least = -float(arm.total_mass if hasattr(arm, "couplings") else arm.links[-1].mass)
    if kind in MASSES:
        values = values[..., 0] if values.shape[-1:] == (10,) else values
    elif name not in SIZES and not name.endswith(SIZED):
        return
    if values.size and float(np.min(values)) < least:
        raise StateFault(
            f"{where} goes to {float(np.min(values)):.6g}, and no arm has less than {least:g}; give values that can be "
            "(Uniform instead of Normal where a tail of it goes below)."
        )


def frame_name(value: Any, where: str) -> str:
    """A name that a file may give a frame: those of the arm itself are kept apart."""
    if checked_name(value, where).startswith("#") or value == "tool":
        raise ArmFault(
            f"{where} is {value!r}, which is the arm's own ('#0' to '#n' are its numbered frames, 'tool' the one that "
            "with_tool sets); give another name."
        )
    return str(value)


def convention(value: Any) -> str:
    """A Denavit-Hartenberg convention, which has no default."""
    if value not in ("standard", "modified"):
        raise ArmFault(
            f"convention is {value!r}; say convention='standard' (frame i at the far end of link i, A = Rz Tz Tx "
            "Rx) or 'modified' (frame i at joint i, A = Rx Tx Rz Tz). There is no default, because reading one "
            "table as the other gives plausible wrong torques."
        )
    return str(value)
