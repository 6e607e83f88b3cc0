"""Arms whose numbers nobody has: millimetres, grams, N mm, turns a minute. Asked about, not refused; so does `check`.

Numbers are held against each other, because arms have all sizes: masses against lengths, bodies against what things are
made of, rotors, friction and limits against the whole arm at full stretch. 113 robots of public collections are on this
side of each line, but for some with made-up bodies. Arms of all sizes that stay silent, slips that are seen and those
that nobody can see are in tests/units.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from forearm.algebra import Matrix, Vector, is_number
from forearm.faults.parts import DEGREES, FARTHEST

HEAVY = 100.0
"""Gravity beyond this is asked about [m/s²]; Jupiter has 25."""
MASSIVE, SHORTEST = 350.0, 0.25
"""A link of more than this mass [kg] by the cube of the arm's length is asked about, where that is so long [m].

Links of known arms have 0.4 to 100; a shaft a third as long and a sixth as thick as the arm has 60 in solid steel.
Shorter arms may be gimbals, which carry more than they reach.
"""
THIN = 0.05
"""Mass of a link by the cube of its length, on average, that is too light [kg/m³]; known ones have 0.5."""
LIGHTEST = 1e-3
"""Density of a link's body, as a box, that no body has [kg/m³]; a load that is a point makes any link as dense."""
MOSTLY = 1.0, 3e4
"""The same of an arm: what half of its mass is denser than, and half of its links; known ones have 5 to 12 000."""
SOUND = 20.0, 23_000.0
"""Density of what is a real body, from foam to osmium: it may be larger than the arm that carries it."""
WIDE, WIDER = 3.0, 30.0
"""Radius of gyration by the length of the arm, for any body, and for one that may be real."""
APART = 5.0
"""A centre or a tool is that many times farther off than all else reaches, and farther than `SMALL`."""
SMALL = 1.0
"""Distances [m] that are not held against the size of an arm."""
TINY = 5e-3
"""An arm that is shorter [m], and whose bodies are smaller."""
ABSURD = 1e50
"""Numbers beyond this are held against nothing: their cubes are infinite."""
SITE = 100.0
"""A base [m] that is farther from the origin of the world."""
MOST_RAIL = MOST_TURNS = 1e5
"""Limits beyond this [m, rad] stand for none, whatever their unit."""
FAST = 60.0
"""A limit of speed [rad/s] that hardly a joint has: 570 turns a minute."""
RAPID = 30.0
"""The same of a slide [m/s]."""
STRONG, DRY, VISCOUS, DRAGGING = 200.0, 30.0, 15.0, 200.0
"""Limits of effort and friction by the weight of the arm at full stretch; viscous friction of a slide by its weight."""
HELD_FAST, HELD_BACK = 3.0, 10.0
"""Friction by the limit of effort, at rest and at the limit of speed: such a joint never moves, or never so fast."""
POWERFUL = 1e4
"""Effort by speed, by the mass of the arm [W/kg]: the best motors have that, of their own mass."""
ROTORS, SPINNING, SLID = 50.0, 4e-4, 2e3
"""Rotors by mass times reach² of the arm, reflected and before a gear above `GEARED`; those of slides by the mass."""
GEARED = 10.0
GEARS = 0.5, 5000.0
"""Gears of joints that turn, from direct drives to hobby servos."""
FEET = 32.17405, 386.0886
"""The earth's gravity in ft/s² and in/s²."""


@dataclass(frozen=True)
class Doubt:
    """A number whose unit is doubted."""

    link: int | None
    """Which link, 1 to n; None for the whole arm."""
    given: str
    """What was given, and what it was held against."""
    ask: str
    """Which other unit it might be, and which is taken."""


def mount_notes(gravity_in_world: tuple[Any, ...]) -> list[str]:
    """What a person should know about the direction and the size of gravity."""
    x, y, z = gravity_in_world
    if not all(is_number(c) for c in (x, y, z)):
        return []
    notes = []
    if z > 0 and x == 0 and y == 0:
        notes.append(
            f"gravity (0, 0, {z:g}) points up: is the arm hanging from the ceiling? If so, turn the base "
            "instead (with_base); if not, gravity is (0, 0, -9.81)."
        )
    size = norm_of((x, y, z))
    if size > HEAVY or any(abs(size / odd - 1) < 0.01 for odd in (*FEET, 9.80665e-3)):
        notes.append(f"gravity is {size:g} m/s², {size / 9.81:.3g} times the earth's: another unit?")
    return notes


def unit_notes(arm: Any) -> list[str]:
    """Doubts about an arm's or a robot's units, as sentences."""
    return [
        (f"link {doubt.link} {arm.links[doubt.link - 1].name!r}: " if doubt.link else "")
        + f"{doubt.given}: {doubt.ask}"
        for doubt in unit_doubts(arm)
    ]


def unit_doubts(arm: Any) -> list[Doubt]:
    """Numbers of an arm or a robot that look like another unit; letters in their place are passed over."""
    size = size_of(arm)
    found = [
        Doubt(number, given, ask)
        for number, link in enumerate(arm.links, 1)
        for looked in (_lengths, _body, _limits, _drive)
        for given, ask in looked(link, number - 1, size)
    ]
    return [*found, *_of_the_whole(arm, size, any(doubt.ask == LENGTHS for doubt in found))]


def whole_weight(arm: Any, turning: bool) -> float:
    """The torque [N m] that holds an arm at full stretch, or the force [N] that lifts it; 0 where it is not known."""
    size = size_of(arm)
    return size.weight if turning else 9.81 * size.mass


@dataclass(frozen=True)
class ArmSize:
    """What the numbers of an arm are held against."""

    spans: list[float]
    """Length of each link [m]."""
    centers: list[float]
    """Distance of each centre from its frame [m]."""
    reach: float
    """All lengths and centres of a chain [m]."""
    mass: float
    """Of all links [kg]; 0 where one is a letter."""

    @property
    def weight(self) -> float:
        """The torque that would hold it at full stretch [N m]."""
        return 9.81 * self.mass * self.reach

    @property
    def turning(self) -> float:
        """Its mass times reach² [kg m²]."""
        return self.mass * self.reach**2


def size_of(arm: Any) -> ArmSize:
    """Lengths and mass of an arm or a robot, kept with it; letters count as nothing."""
    if "_size" not in arm.__dict__:
        arm.__dict__["_size"] = _measured(arm)
    size: ArmSize = arm.__dict__["_size"]
    return size


def _measured(arm: Any) -> ArmSize:
    mounts = getattr(arm, "mounts", None) or [None] * len(arm.links)
    spans = [
        norm_of((*link.pose.translation[:2], _along(link))) + (norm_of(mount.translation) if mount else 0.0)
        for link, mount in zip(arm.links, mounts, strict=True)
    ]
    centers = [norm_of(link.com) for link in arm.links]
    ways, reach = [0.0], 0.0
    for i, parent in enumerate(arm.parents):
        ways.append(ways[parent] + spans[i] + centers[i])
        reach = max(reach, ways[-1])
    trunk = getattr(arm, "trunk", None)
    masses = [body.mass for body in (*arm.links, *([trunk] if trunk else []))]
    mass = sum(map(float, masses)) if all(map(is_number, masses)) else 0.0
    return ArmSize(spans, centers, min(reach, ABSURD), min(max(mass, 0.0), ABSURD))


# -- the whole arm -------------------------------------------------------------------------------------------


def _of_the_whole(arm: Any, size: ArmSize, asked: bool) -> Iterator[Doubt]:
    tool = norm_of(arm.tool.translation) if hasattr(arm, "tool") else 0.0
    if tool > FARTHEST or (size.reach > 0 and tool > max(SMALL, APART * size.reach)):
        yield Doubt(
            None, f"the tool is {tool:g} m from the last frame, of an arm {size.reach:.3g} m long", LENGTHS
        )
    for frame in arm.frames:
        if (away := norm_of(frame.pose.translation)) > FARTHEST:
            yield Doubt(None, f"frame {frame.name!r} is {away:g} m from the one that carries it", LENGTHS)
    base = norm_of(arm.base.translation) if hasattr(arm, "base") else 0.0
    if base > SITE:
        yield Doubt(None, f"the base is {base:g} m from the origin of the world", LENGTHS)
    count = sum(bool(link.mass) for link in arm.links if is_number(link.mass))
    if not asked and size.reach > SMALL and 0 < size.mass * count**2 < THIN * size.reach**3:
        yield Doubt(
            None,
            f"{size.mass:.3g} kg in all on an arm {size.reach:.4g} m long, lighter than a thread",
            f"millimetres, or tonnes? {LENGTHS.partition('? ')[2]} Masses are in kilograms.",
        )
    bodies = [gyration(mass, tensor) for mass, tensor in map(_body_of, arm.links) if tensor is not None]
    if 0 < max(size.reach, *bodies, 0.0) < TINY:
        ask = "kilometres, or lengths left out? Lengths are in metres."
        yield Doubt(None, f"the arm is {size.reach:g} m long", ask)
    for rho in _densities(arm):
        yield Doubt(None, f"bodies are of {rho:.3g} kg/m³, taken as boxes", BODIES)


def _densities(arm: Any) -> Iterator[float]:
    """Densities that most of an arm cannot have: by mass where it is too light, by links where it is too dense."""
    bodies = [
        (rho, mass) for mass, tensor in map(_body_of, arm.links) if (rho := density(mass, tensor)) is not None
    ]
    if not bodies:
        return
    densities, masses = np.array(sorted(bodies)).T
    summed = np.cumsum(masses)
    if (rho := float(densities[np.searchsorted(summed, summed[-1] / 2)])) < MOSTLY[0]:
        yield rho
    if len(bodies) > 1 and (rho := float(densities[(len(bodies) - 1) // 2])) > MOSTLY[1]:
        yield rho


LENGTHS = "millimetres? Lengths are in metres."
BODIES = "mass or inertia in another unit, or a lost decimal point? Units are kg and kg m²."


# -- one link ------------------------------------------------------------------------------------------------


def _lengths(link: Any, i: int, size: ArmSize) -> Iterator[tuple[str, str]]:
    far = max(size.spans[i], size.centers[i])
    others = size.reach - size.centers[i]
    if far > FARTHEST:
        yield f"{far:g} m long", LENGTHS
    elif size.centers[i] > max(SMALL, APART * others) and others > 0:
        yield f"its centre of mass is {size.centers[i]:g} m off, and all else {others:.3g} m long", LENGTHS


def _body(link: Any, i: int, size: ArmSize) -> Iterator[tuple[str, str]]:
    mass, tensor = _body_of(link)
    reach = size.reach
    if reach > SHORTEST and mass > MASSIVE * reach**3:
        yield (
            f"{mass:g} kg on an arm {reach:.3g} m long, more than a shaft of solid steel would have",
            "grams? Masses are in kilograms.",
        )
    if tensor is None or not mass > 0:
        return
    radius, rho = gyration(mass, tensor), density(mass, tensor)
    real = rho is not None and SOUND[0] < rho < SOUND[1]
    if reach > 0 and radius > (WIDER if real else WIDE) * reach:
        yield f"radius of gyration {radius:.3g} m on an arm {reach:.3g} m long", BODIES
    elif rho is not None and rho < LIGHTEST:
        yield f"{mass:g} kg of {rho:.3g} kg/m³, taken as a box", BODIES


def _limits(link: Any, i: int, size: ArmSize) -> Iterator[tuple[str, str]]:
    widest = max(map(abs, link.limits)) if link.limits else 0.0
    speed, effort = link.speed_limit or 0.0, link.effort_limit or 0.0
    if link.revolute and DEGREES < widest <= MOST_TURNS and (widest <= 720 or not _stands_for_none(widest)):
        yield f"limits reach {widest:g} rad, {widest / math.tau:.1f} turns", _turned(*link.limits)
    if not link.revolute and FARTHEST < widest <= MOST_RAIL:
        yield f"limits reach {widest:g} m", LENGTHS
    if link.revolute and speed > FAST and not _stands_for_none(speed):
        ask = "degrees a second, or turns a minute? Speeds are in rad/s."
        yield f"its speed limit is {speed:g} rad/s, {speed * 30 / math.pi:.0f} turns a minute", ask
    if not link.revolute and speed > RAPID and not _stands_for_none(speed):
        yield f"its speed limit is {speed:g} m/s", "millimetres a second? Speeds are in m/s."
    whole = size.weight if link.revolute else 9.81 * size.mass
    if 0 < POWERFUL * size.mass < effort * speed < math.inf and not any(
        map(_stands_for_none, (effort, speed))
    ):
        yield (
            f"its limits of effort and speed, {effort:g} and {speed:g}, make {effort * speed:.3g} W, on an arm of "
            f"{size.mass:.3g} kg",
            "another unit? They are in N m and rad/s, or N and m/s.",
        )
    elif 0 < STRONG * whole < effort < math.inf and not _stands_for_none(effort):
        unit, other = ("N m", "N mm") if link.revolute else ("N", "mN")
        yield (
            f"its effort limit is {effort:g} {unit}, {effort / whole:.3g} times what holds the whole arm stretched out",
            f"{other}? Efforts are in {unit}.",
        )


def _turned(low: float, high: float) -> str:
    return f"degrees? In radians they would be ({math.radians(low):.3g}, {math.radians(high):.3g})."


def _drive(link: Any, i: int, size: ArmSize) -> Iterator[tuple[str, str]]:
    drive, turns = link.drive, link.revolute
    numbers = (drive.rotor_inertia, drive.gear, drive.viscous, *drive.coulomb)
    if not all(map(is_number, numbers)):
        return
    rotor, gear, viscous, dry = *map(float, numbers[:3]), max(map(float, drive.coulomb))
    geared = drive.side == "motor"
    reflected = rotor * gear * gear if geared else rotor
    whole = size.turning if turns else size.mass
    most, before = (ROTORS, SPINNING) if turns else (SLID, math.inf)
    if whole > 0 and (reflected > most * whole or (geared and abs(gear) > GEARED and rotor > before * whole)):
        yield (
            f"its rotor has {rotor:g} kg m²{f' before a gear of {abs(gear):g}' if geared else ''}, and the whole arm "
            f"about {whole:.3g} kg{' m²' if turns else ''}",
            "kg cm², g cm² or kg mm²? Rotors are in kg m².",
        )
    if rotor and geared and turns and not GEARS[0] <= abs(gear) <= GEARS[1]:
        yield (
            f"its gear is {gear:g}",
            "the other way round? A gear is turns of the motor for one of the joint.",
        )
    yield from _friction(link, size.weight if turns else 9.81 * size.mass, viscous, dry)


def _friction(link: Any, weight: float, viscous: float, dry: float) -> Iterator[tuple[str, str]]:
    unit = "N m" if link.revolute else "N"
    rubs = f"{unit} s/rad" if link.revolute else "N s/m"
    speed, effort = link.speed_limit or 0.0, link.effort_limit or math.inf
    never, holds = f"its limit of effort is {effort:g} {unit}", f"{weight:.3g} {unit} hold the whole arm"
    slow = viscous * speed > HELD_BACK * effort and not _stands_for_none(speed)
    if slow or 0 < (VISCOUS if link.revolute else DRAGGING) * weight < viscous:
        against = never if slow else holds
        ask = f"N mm, or by turns a minute? It is in {rubs}."
        yield f"its viscous friction is {viscous:g} {rubs}, and {against}", ask
    if dry > HELD_FAST * effort or 0 < DRY * weight < dry:
        against = never if dry > HELD_FAST * effort else holds
        yield f"its dry friction is {dry:g} {unit}, and {against}", f"another unit? It is in {unit}."


# -- bodies --------------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")
def gyration(mass: float, tensor: Matrix) -> float:
    """The largest radius of gyration [m]."""
    return float(np.sqrt(max(np.max(np.linalg.eigvalsh(tensor)), 0.0) / mass)) if mass > 0 else 0.0


@np.errstate(over="ignore", invalid="ignore")
def box_edges(mass: float, tensor: Matrix) -> Vector:
    """Edges of the uniform box with this mass and these principal moments [m], ascending; zero where there is none."""
    moments = np.linalg.eigvalsh(tensor)
    squares = 6 * (np.sum(moments) - 2 * moments) / mass if mass > 0 else np.zeros(3)
    return np.sqrt(np.maximum(squares, 0.0))[::-1]


@np.errstate(over="ignore", invalid="ignore")
def density(mass: float, tensor: Matrix | None) -> float | None:
    """Density of that box [kg/m³]; None for points, rods and sheets."""
    if tensor is None:
        return None
    edges = box_edges(mass, tensor)
    volume = float(np.prod(edges))
    return mass / volume if volume > 0 and edges[0] > 1e-3 * edges[2] else None


def _body_of(link: Any) -> tuple[float, Matrix | None]:
    """Mass and tensor about the centre, which is None where there are letters; 0 for a mass that is one."""
    mass = float(link.mass) if is_number(link.mass) and link.mass > 0 else 0.0
    rows = (link.com, *link.inertia.tensor)
    if not mass or not all(is_number(x) for row in rows for x in row):
        return mass, None
    tensor = np.array(link.about_com.inertia, dtype=float)
    return mass, tensor if np.all(np.abs(tensor) < ABSURD) else None


def _stands_for_none(limit: float) -> bool:
    """Whether a limit is infinite or a power of ten, as those have who want none."""
    return limit >= 100 and (limit == math.inf or math.log10(limit).is_integer())


def _along(link: Any) -> float:
    """Constant length along the joint axis; symbols count as nothing."""
    return sum(float(x) for x in (link.d, link.pose.translation[2]) if is_number(x))


def norm_of(vector: Any) -> float:
    """Length of a vector; letters count as nothing."""
    return math.hypot(*(float(x) if is_number(x) else 0.0 for x in vector))
