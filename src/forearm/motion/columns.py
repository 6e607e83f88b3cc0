"""Which column of a header is which quantity of which joint, in which unit: our names, those of ROS, and others.

t, time, timestamp                       the time; `t_ms`, `t [ms]`, `time (us)` say the unit
q1, q_1, q[0], q:elbow, elbow_q          positions, by number (from 1, or from 0 where there is a 0) or by name
position[0], elbow.position, joint_1_pos the same as ROS logs have them, a topic before it or not
qd, dq, velocity …   qdd, ddq, acceleration …   tau, torque, effort …   current, i …   as for positions
actual_q_0, actual_current_0             as Universal Robots' RTDE names them; target_… is not measured, and ignored
desired.position[0], error/elbow/position what is wanted, or a difference: not measured, and ignored
q1_deg, q1 [deg], qd1 (deg/s), q3 [mm]   the unit; radians, metres, seconds otherwise, where no other title says degrees
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from forearm.arm import Arm
from forearm.faults import ReadFault, coordinates
from forearm.motion.column_units import (
    SECONDS,
    TIMES,
    Column,
    check_time_unit,
    column_of,
    refuse_half_said,
    refuse_half_stamps,
)
from forearm.motion.number_tables import refuse
from forearm.robot import Robot

KINDS = ("q", "qd", "qdd", "tau")
LOGGED = (*KINDS, "current")
"""What a log may hold beside its times."""
WORDS = {
    "q": "q pos position angle joint_position joint_angle actual_q q_actual measured_q q_measured",
    "qd": "qd dq qdot q_dot vel velocity speed joint_velocity actual_qd qd_actual measured_qd qd_measured",
    "qdd": "qdd ddq acc accel acceleration joint_acceleration",
    "tau": "tau torque effort eff joint_torque joint_effort tau_j tau_measured measured_torque actual_torque",
    "current": "current cur i motor_current joint_current actual_current current_actual measured_current",
}
_KIND = {word: kind for kind, words in WORDS.items() for word in words.split()}
# tau_joint1 is the tau of joint1, not the tau_J of oint1
_ANY = "|".join(w + "(?![a-z])" * w.endswith("_j") for w in sorted(_KIND, key=len, reverse=True))
_BETWEEN = " _.:/"
_FIRST = re.compile(rf"({_ANY})s?([^\])]*)[\])]?", re.IGNORECASE)
_LAST = re.compile(rf"[{_BETWEEN}]({_ANY})s?\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:joint|axis|j|a)?[ _.]?([0-9]+)", re.IGNORECASE)
_ENDS = re.compile(r"([0-9]{1,9})\Z")
_UNIT = re.compile(r"[ _](deg|degrees|rad|mm|cm|ms|us|µs|ns|s|sec|min|h|m|nm|(?:deg|rad)[_/]?s2?)\Z")
LONGEST_WORD, MOST_LEVELS = 2 + max(map(len, _KIND)), 16
"""Letters of a title's end that may be a word of ours with what is beside it; levels of a topic's name before it."""
NOT_MEASURED = frozenset(
    "centrifugal collision command commanded cmd computed contact coriolis covariance delta desired difference "
    "disturbance err error ext external feedforward friction goal gravity inertial limit limits max maximum min "
    "minimum noise nominal offset planned predicted prediction ref reference residual set setpoint std sigma target "
    "variance wanted".split()
)
"""Before a dot or slash they say that what follows was wanted, is a part of something, or is no value at all."""
RECORDED = ("kinetic", "potential", "work", "dissipated", "drift")
"""Further columns of a record's own file."""


@dataclass
class Header:
    """What a header holds."""

    places: dict[tuple[str, int], Column] = field(default_factory=dict)
    """(quantity, joint from 0) -> column; the time is ("t", 0)."""
    ignored: list[str] = field(default_factory=list)
    """Titles that say nothing of this arm."""
    beyond: list[str] = field(default_factory=list)
    """Those of them that count more joints than the arm has."""
    counted: list[str] = field(default_factory=list)
    """Titles whose joint was told by its number."""
    led: list[str] = field(default_factory=list)
    """Those of them that are of joints that follow others."""
    followers: dict[int, Column] = field(default_factory=dict)
    """Positions of such joints: joint, from 0 of all -> column."""

    def has(self, kind: str) -> bool:
        """Whether a quantity is there, for every joint."""
        return (kind, 0) in self.places

    def of(self, kind: str, n: int) -> list[Column]:
        """The columns of a quantity, joint by joint."""
        return [self.places[kind, i] for i in range(n)]

    def stated(self, kind: str, n: int) -> list[bool]:
        """For each joint, whether the header says the unit of a quantity; empty where it is not there."""
        return [c.stated for c in self.of(kind, n)] if self.has(kind) else []


def columns_of(
    arm: Arm | Robot,
    label: str,
    titles: Sequence[str],
    *,
    needs: Sequence[str],
    degrees: bool | None,
    time_unit: str | None,
    motors: bool = False,
) -> Header:
    """Take a header apart.

    Args:
        arm: Whose joints they are.
        label: The file, for messages.
        titles: The header.
        needs: Quantities that must be there for every joint, "t" among them where time is needed.
        degrees: Whether angles without a unit are in degrees; None for radians, where no other title says degrees.
        time_unit: Unit of a time that says none; seconds if None.
        motors: Whether positions are those of motors, which may turn where a joint slides.
    """
    check_time_unit(label, time_unit)
    meant = {at: _meaning(arm, title) for at, title in enumerate(titles)}
    named = {at: what for at, what in meant.items() if what is not None}
    found = Header(ignored=[title for at, title in enumerate(titles) if at not in named])
    bases = {kind: 0 if any(w[:2] == (kind, "#0") for w in named.values()) else 1 for kind in LOGGED}
    for kind in LOGGED:
        two = [titles[at] for at, what in named.items() if what[:2] in ((kind, "#0"), (kind, f"#{arm.n}"))]
        if len(two) == 2:
            given = f"columns {two[0]!r} and {two[1]!r}: {kind} of {arm.n + 1} joints, not {arm.n}"
            refuse(label, 1, given, f"{kind}1 to {kind}{arm.n}, or from 0 to {arm.n - 1}")
    _refuse_other_numbers(arm, label, titles, named, bases)
    _refuse_other_counts(arm, label, titles, named, bases)
    written = _is_ours(arm, titles)
    for at, (kind, joint, unit) in named.items():
        i = int(joint[1:]) - bases[kind] if isinstance(joint, str) else joint
        if not 0 <= i < arm.n:
            found.ignored.append(titles[at])
            found.beyond.append(titles[at])
            continue
        if (kind, i) in found.places:
            other = titles[found.places[kind, i].at]
            both = "the time" if kind == "t" else f"{kind} of joint {arm.joint_names[i]!r}"
            refuse(label, 1, f"columns {other!r} and {titles[at]!r} are both {both}", "each column once")
        column = column_of(arm, label, titles[at], at, kind, i, unit, bool(degrees), time_unit, motors)
        found.places[kind, i] = replace(column, stated=True) if written else column
        if isinstance(joint, str):
            found.counted.append(titles[at])
    if isinstance(arm, Robot) and arm.couplings:
        _find_followers(arm, label, titles, found, bool(degrees))
    refuse_half_said(arm, label, titles, found.places, degrees, motors)
    refuse_half_stamps(label, titles, found.places.get(("t", 0)), found.ignored)
    _check(arm, label, titles, found, needs)
    return found


def free_columns_of(
    robot: Robot,
    label: str,
    titles: Sequence[str],
    *,
    needs: Sequence[str],
    degrees: bool | None,
    time_unit: str | None,
) -> Header:
    """Take the header of a free robot's file apart: the names that records write, `q:base x` … `qd:base vx` …

    The base has seven numbers in q and six in qd, qdd and tau, so that joints cannot be counted: columns go by name
    alone, and those that are not its own are ignored, and said.
    """
    check_time_unit(label, time_unit)
    if degrees:
        refuse(
            label,
            1,
            f"degrees were said, and the base of robot {robot.name!r} is free: its turns are a quaternion and rad/s",
            "joints in radians, too: convert them, and leave --degrees (degrees=True) out",
        )
    found, known = Header(), {"t": ("t", 0)}
    for kind in KINDS:
        known |= {f"{kind}:{name}": (kind, i) for i, name in enumerate(coordinates(robot, kind))}
    for at, title in enumerate(titles):
        place = known.get(title)
        if place is None:
            if title not in RECORDED:
                found.ignored.append(title)
            continue
        found.places[place] = Column(at, SECONDS[time_unit or "s"] if place[0] == "t" else 1.0, True)
    missing = ["t"] if "t" in needs and not found.has("t") else []
    for kind in KINDS:
        have = {i for k, i in found.places if k == kind}
        if have or kind in needs:
            missing += [f"{kind}:{x}" for i, x in enumerate(coordinates(robot, kind)) if i not in have]
    if missing:
        few = f"no column {', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}"
        wanted = (
            f"the columns of a free base and its joints as `forearm simulate` writes them: t, q:base x … q:base qw, "
            f"q:<joint> …, qd:base vx … qd:base wz, qd:<joint> …, and so on for qdd and tau (joints of {robot.name!r}: "
            f"{', '.join(robot.joint_names)})"
        )
        refuse(label, 1, few, wanted)
    return found


def _refuse_other_numbers(
    arm: Arm | Robot,
    label: str,
    titles: Sequence[str],
    named: dict[int, tuple[str, int | str, str]],
    bases: dict[str, int],
) -> None:
    """Refuse `q2` where it would be the second joint, and a joint of that very name is another."""
    if all(name == f"q{i}" for i, name in enumerate(arm.joint_names, 1)):
        return  # names that count themselves; a file may count from 0
    for at, (kind, joint, _) in named.items():
        place = _places(arm.joint_names)[0].get(titles[at])
        if place is None or not isinstance(joint, str) or place == int(joint[1:]) - bases[kind]:
            continue
        refuse(
            label,
            1,
            f"column {titles[at]!r} counts joints, so it would be number {int(joint[1:])}, and the joint of that "
            f"name is number {place + bases[kind]}",
            f"q:{titles[at]} for the joint of that name, and so on for all",
        )


def _refuse_other_counts(
    arm: Arm | Robot,
    label: str,
    titles: Sequence[str],
    named: dict[int, tuple[str, int | str, str]],
    bases: dict[str, int],
) -> None:
    """Refuse numbers that may be another joint's: beyond the last one, or where joint3 stands before joint2."""
    if not counts_otherwise(arm):
        return
    own = _name_numbers(arm)
    for at, (kind, joint, _) in named.items():
        if not isinstance(joint, str):
            continue
        number, place = int(joint[1:]), int(joint[1:]) - bases[kind]
        by_joint = f"titles by joint, {kind}:{arm.joint_names[0]} and so on for all"
        if place >= arm.n:
            refuse(
                label,
                1,
                f"column {titles[at]!r} counts joints, and {arm.n} move of themselves here: "
                f"{', '.join(arm.joint_names)}",
                by_joint,
            )
        if own != sorted(own) and number in own and own.index(number) != place:
            refuse(
                label,
                1,
                f"column {titles[at]!r} counts joints from the base, so it would be {arm.joint_names[place]!r}, and "
                f"{arm.joint_names[own.index(number)]!r} has that number",
                by_joint,
            )


def counts_otherwise(arm: Arm | Robot) -> bool:
    """Whether a number may be another joint's: some follow others, or names count j1, j3, j2, or left1, right1."""
    numbers = [int(match[1]) for name in arm.joint_names if (match := _ENDS.search(name))]
    counted = [list(range(base, base + arm.n)) for base in (0, 1)]
    return (bool(numbers) and numbers not in counted) or (isinstance(arm, Robot) and bool(arm.couplings))


def _name_numbers(arm: Arm | Robot) -> list[int]:
    """The numbers that the joints' names end with, from the base on; none where some have none, or two the same."""
    found = [int(match[1]) for name in arm.joint_names if (match := _ENDS.search(name))]
    return found if len(found) == arm.n == len(set(found)) else []


def _is_ours(arm: Arm | Robot, titles: Sequence[str]) -> bool:
    """Whether a header is that of a record or a motion as we write them, in radians: nobody else has all of it."""
    motion = ["t", *(f"{kind}:{name}" for kind in ("q", "qd", "qdd") for name in arm.joint_names)]
    return list(titles[: len(motion)]) == motion and (
        len(titles) == len(motion) or set(RECORDED).issubset(titles)
    )


def _find_followers(robot: Robot, label: str, titles: Sequence[str], found: Header, degrees: bool) -> None:
    """Among the titles that were ignored, those of joints that follow others: they go by their names alone."""
    whole, led = robot.with_couplings(()), {coupling.joint for coupling in robot.couplings}
    for title in found.ignored:
        kind, i, unit = _meaning(whole, title) or ("t", 0, "")
        if kind == "t" or isinstance(i, str) or whole.joint_names[i] not in led:
            continue
        found.led.append(title)
        if kind == "q" and i not in found.followers:
            found.followers[i] = column_of(
                whole, label, title, titles.index(title), kind, i, unit, degrees, None
            )


def _meaning(arm: Arm | Robot, title: str) -> tuple[str, int | str, str] | None:
    """(quantity, joint or '#' and its number, unit) of a title."""
    kind, _, name = title.partition(":")
    if kind in LOGGED and (own := _places(arm.joint_names)[0].get(name)) is not None:
        return kind, own, ""  # as we write it, whatever the name would mean: a unit, an index, a topic
    for stem, unit in _stems(title):
        if stem.lower() in TIMES:
            return "t", 0, unit or ("ns" if stem == "%time" else "")
        ends = _before(_LAST, stem) is not None
        for part in _parts(stem):
            before = stem[: len(stem) - len(part)].lower()
            words = re.split(r"[/._ ]", before)
            if NOT_MEASURED.intersection((*words, *(word.removesuffix("s") for word in words))):
                break
            if (match := _FIRST.fullmatch(part)) is not None:
                rest = match[2].lstrip(f"{_BETWEEN}[(")
                named = part[match.end(1) :]  # qs1 is the q of a joint s1, where there is one
                rest = named if named in _places(arm.joint_names)[0] else rest
                joint = _joint(arm, rest) if rest else _only_joint(arm, before)
                if joint is not None:
                    return _KIND[match[1].lower()], joint, unit
            if ends and (found := _before(_LAST, part)) is not None:
                joint = _joint(arm, found[0].rstrip(_BETWEEN))
                if joint is not None:
                    return _KIND[found[1].lower()], joint, unit
    return None


def _only_joint(arm: Arm | Robot, before: str) -> int | None:
    """The joint of an arm that has one; not where a joint that follows it is named before the word."""
    ends = [-1, *(m.start() for m in re.finditer(r"[/.]", before))][-MOST_LEVELS:]
    words = [before[a + 1 : b] for a in ends for b in ends]  # a joint's name may have levels, too
    named = {form for word in words for form in (word, f"{word}_joint", word.removesuffix("_joint"))}
    led = {coupling.joint.lower() for coupling in getattr(arm, "couplings", ())}
    return 0 if arm.n == 1 and not named & led else None


def _parts(stem: str) -> list[str]:
    """The whole, and what is left of it without the levels of a topic."""
    levels = [m.end() for m in re.finditer(r"[/.]", stem)]
    return list(dict.fromkeys([stem, *(stem[at:] for at in levels[-MOST_LEVELS:])]))


def _before(word: re.Pattern[str], title: str) -> tuple[str, str] | None:
    """(what is before it, the word) of a title that ends with a word; only its end is searched, however long it is."""
    match = word.search(title, max(1, len(title) - LONGEST_WORD))
    return None if match is None else (title[: match.start()], match[1])


def _stems(title: str) -> list[tuple[str, str]]:
    """The title as it is, and without what may be its unit."""
    found = _before(_UNIT, title)
    if title.endswith(("]", ")")):
        last = max(title.rfind("]", 0, -1), title.rfind(")", 0, -1), 0)  # a unit has no bracket in it
        opens = [at for at in (title.find("[", last + 1), title.find("(", last + 1)) if at > 0]
        if opens:
            found = title[: min(opens)].rstrip(), title[min(opens) + 1 : -1].strip()
    return [(title, "")] if found is None else [(title, ""), (found[0], found[1].lower())]


def _joint(arm: Arm | Robot, word: str) -> int | str | None:
    """A joint by its name, or '#' and its number."""
    exact, lower = _places(arm.joint_names)
    word = word.strip()
    for name in (word, f"{word}_joint", word.removesuffix("_joint")):
        if name in exact:
            return exact[name]
    if word.lower() in lower:
        return lower[word.lower()]
    match = _NUMBERED.fullmatch(word)
    if match is None or (match.start(1) and word[: match.start(1)].lower() in _numbered(arm.joint_names)):
        return None  # j3, where joints are j1, j2 and j4, is another joint's name
    return f"#{int(match[1][:9])}"


@lru_cache(16)
def _numbered(names: tuple[str, ...]) -> frozenset[str]:
    """What stands before the number in names that are no more than that, in small letters: j of j1."""
    found = (_NUMBERED.fullmatch(name) for name in names)
    return frozenset(match[0][: match.start(1)].lower() for match in found if match)


@lru_cache(16)
def _places(names: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int]]:
    """The place of each joint by its name, and by its name in small letters."""
    pairs = [(name, i) for i, name in enumerate(names)][::-1]  # of two the first
    return dict(pairs), {name.lower(): i for name, i in pairs}


def _check(arm: Arm | Robot, label: str, titles: Sequence[str], found: Header, needs: Sequence[str]) -> None:
    """Refuse a header that lacks something, and strange columns in a file of our own."""
    own = all(f"q:{name}" in titles for name in arm.joint_names)
    ours = any(title.startswith("q:") for title in titles)
    missing = ["t"] if "t" in needs and not found.has("t") else []
    for kind in LOGGED:
        have = [i for i in range(arm.n) if (kind, i) in found.places]
        if (kind in needs or have) and len(have) < arm.n:
            lacking = [i for i in range(arm.n) if i not in have]
            missing += [f"{kind}:{arm.joint_names[i]}" if ours else f"{kind}{i + 1}" for i in lacking]
    if missing:
        taken = f" (ignored: {', '.join(map(repr, found.ignored[:8]))})" if found.ignored else ""
        raise ReadFault(
            f"{label}:1: no column {', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}; give a header with q1 … "
            f"q{arm.n}, or the joints of arm {arm.name!r} by name ({', '.join(arm.joint_names)}: q:<joint>, "
            f"<joint>.position), t, and if known qd…, qdd…, tau…{taken}."
        )
    known = {*RECORDED, *found.led}
    strange = [title for title in found.ignored if title not in known]
    if own and strange:
        refuse(label, 1, f"column {strange[0]!r}", "t, q:, qd:, qdd: and tau: with the arm's joint names")
    found.ignored[:] = [title for title in found.ignored if not (own and title in RECORDED)]
