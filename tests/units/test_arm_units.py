"""Every number of an arm that has a unit, in another one: asked about, or on the list of what nobody can see.

`LINKS` has the numbers and the wrong units, `honest` the arms of all sizes. A slip in all links of an arm is asked
about by its notes, which every verb, JSON, `check` and the first call tell; where it is not, it is here, with the
reason.
"""

import numpy as np
import pytest

from forearm.faults import ArmFault, mount_notes, unit_notes
from forearm.frames import NamedFrame, Pose
from forearm.inertia import Inertia
from forearm.readers import load
from forearm.verification import check
from units.honest_arms import honest
from units.slips import LINKS, on_links, scaled_pose

SMALL_FACTOR = "so small a factor, and arms differ by more"
SLOW = "a slow joint's limit in the wrong unit is a fast one's in the right one"
WEAK = (
    "limits of effort below what the weight asks are those of an arm that hangs, or of its motors: check asks"
)
FREE = "an arm without friction, or with ideal rotors, is a common simplification"
NARROW = "a joint may move as little as it likes"
POINTS = "bodies without size have no density to hold against their masses"
HUGE = "a large machine's own rotors, gears and drives are spread over so many decades"
NO_WEIGHT = "an arm without weight to hold needs hardly any effort"
NONE_MEANT = "limits that stand for none stand for none in any unit"
TUBES = "tubes of ten metres on ropes are that soft"
GIMBAL = "a body that is larger than its arm is a camera on a gimbal"
MINUTE = "an arm of millimetres is one of a hand's size"
GANTRY = "a gantry of 20 m has one axis for its length, and it is a limit"
SLIDES = "a slide may be as long as a hall"

EVERY = "*"
UNSEEN = {
    ("lengths", "cm"): {"gimbal": GIMBAL},
    ("lengths", "inch"): {"tiny": MINUTE, "gimbal": GIMBAL, "cobra600": POINTS},
    ("lengths", "feet"): {EVERY: SMALL_FACTOR},
    ("offsets", "cm"): {"gantry": GANTRY},
    ("offsets", "inch"): {"cobra600": SMALL_FACTOR, "stanford": SMALL_FACTOR, "tiny": MINUTE, "gantry": GANTRY},
    ("centres", "cm"): {"tiny": MINUTE, "gimbal": GIMBAL},
    ("centres", "inch"): {EVERY: SMALL_FACTOR},
    ("masses", "g"): {"double_pendulum": POINTS, "rr": POINTS, "points of 1 kg": POINTS, "points of 0.1 kg": POINTS},
    ("masses", "t"): {"points of 5 kg": POINTS},
    ("masses", "lb"): {EVERY: SMALL_FACTOR},
    ("tensors", "g m²"): {"planar_3r": POINTS, "finger with a load": POINTS},
    ("tensors", "t m²"): {"double_pendulum": POINTS, "rr": POINTS, "planar_3r": POINTS},
    ("bodies", "g, g m²"): {"double_pendulum": POINTS, "rr": POINTS, "points of 1 kg": POINTS,
                            "points of 0.1 kg": POINTS},
    ("bodies", "t, t m²"): {"points of 5 kg": POINTS, "leg": SMALL_FACTOR},
    ("rotors", "g m²"): dict.fromkeys(
        ("stanford", "crane", "station", "gantry", "palletiser", "palletiser with a load", "crane with a load"), HUGE
    ),
    ("rotors", "kg cm²"): {"gantry": HUGE},
    ("rotors", "t m²"): {EVERY: FREE},
    ("gears", "thousandths"): dict.fromkeys(("crane", "station", "gantry", "crane with a load"), HUGE),
    ("gears", "percent"): {"gantry": HUGE},
    ("viscous friction", "N mm"): {"station": HUGE},
    ("viscous friction", "by rpm"): {EVERY: SMALL_FACTOR},
    ("viscous friction", "by deg/s"): {EVERY: FREE},
    ("viscous friction", "kN"): {EVERY: FREE},
    ("dry friction", "kN"): {EVERY: FREE},
    ("dry friction", "kgf"): {EVERY: SMALL_FACTOR},
    ("limits of angles", "rev"): {EVERY: NARROW},
    ("limits of angles", "mrad"): {"leg": NONE_MEANT},
    ("limits of slides", "cm"): {"cobra600": SLIDES},
    ("limits of slides", "inch"): {"cobra600": SLIDES},
    ("limits of slides", "km"): {EVERY: NARROW},
    ("limits of speed", "deg/s"): dict.fromkeys(("crane", "station", "reed", "crane with a load"), SLOW),
    ("limits of speed", "rpm"): {EVERY: SLOW},
    ("limits of speed", "mrad/s"): {"leg": NONE_MEANT},
    ("limits of speed", "rev/s"): {EVERY: SLOW},
    ("limits of slides' speed", "m/min"): {"crane": SLOW, "crane with a load": SLOW},
    ("limits of slides' speed", "km/s"): {EVERY: SLOW},
    ("limits of effort", "N mm"): {"station": NO_WEIGHT, "leg": NONE_MEANT},
    ("limits of effort", "kN m"): {EVERY: WEAK},
    ("limits of effort", "kgf m"): {EVERY: SMALL_FACTOR},
    ("limits of effort", "kgf cm"): {EVERY: SMALL_FACTOR},
}  # fmt: skip
"""Slips of which an arm's notes say nothing: which arms, and why. `EVERY`: any arm, though of some they do."""

SLIPS = [
    pytest.param(what, unit, marks=() if factor in (1e3, 1e6) or "deg" in unit else pytest.mark.more)
    for what, (_, _, units) in LINKS.items()
    for unit, factor in units.items()
]
"""The thousandfold, the millionfold and degrees are quick; other units are in the long tests."""


@pytest.mark.parametrize("name", honest())
def test_an_arm_whose_numbers_are_right_is_asked_about_nothing(name):
    arm = honest()[name]
    assert [note for note in arm.notes if "?" in note] == []


@pytest.mark.parametrize(("what", "unit"), SLIPS)
def test_a_slip_in_all_of_an_arm_is_asked_about(what, unit):
    factor, unseen = LINKS[what][2][unit], UNSEEN.get((what, unit), {})
    silent = {name for name, arm in honest().items() if _passes(arm, what, factor)}
    assert silent == set(unseen) if EVERY not in unseen else silent


def _passes(arm, what, factor):
    """Whether a slip changes an arm and nothing is said."""
    try:
        slipped = on_links(arm, what, factor)
    except ArmFault:
        return False
    return slipped is not None and not unit_notes(slipped)


@pytest.mark.parametrize("unit", LINKS["lengths"][2])
def test_tools_and_bases_are_asked_about_as_links_are(unit):
    """A tool 0.15 m from the flange, a base 5 m from the origin of a hall."""
    factor = LINKS["lengths"][2][unit]
    for arm in honest().values():
        told = unit_notes(arm.replace(tool=scaled_pose(Pose.at((0, 0, 0.15)), factor)))
        assert bool(told) == (0.15 * factor > max(1.0, 5 * _reach(arm)) or 0.15 * factor > 30), (
            arm.name,
            told,
        )
        told = unit_notes(arm.replace(base=scaled_pose(Pose.at((3.0, 4.0, 0)), factor)))
        assert bool(told) == (5 * factor > 100), arm.name


def _reach(arm):
    """All lengths and centres of an arm, one after the other, worked out beside the library."""
    return sum(
        np.linalg.norm(np.array(link.pose.translation) + [0, 0, link.d]) + np.linalg.norm(link.com)
        for link in arm.links
    )


GRAVITIES = [9810.0, 981.0, 32.174, 386.09, 9.81e-3]


@pytest.mark.parametrize(
    ("size", "asked"), [(x, True) for x in GRAVITIES] + [(x, False) for x in (9.81, 1.62, 24.8, 1.0)]
)
def test_gravity_of_the_earth_in_other_units_is_asked_about(size, asked):
    """mm/s², cm/s², ft/s², in/s², km/s²; the moon's, Jupiter's and a textbook's 1 are none of them."""
    assert bool(mount_notes((0.0, 0.0, -size))) == asked


PAYLOADS = [
    # mass, centre, tensor, what is asked: an iiwa14 is 26 kg and reaches 1.3 m, a finger 5 g and 0.1 m
    ("iiwa14", 14.0, (0, 0, 0.2), 0.1, ""),
    ("iiwa14", 0.5, (0, 0.02, 0.05), 1e-4, ""),
    ("iiwa14", 500.0, (0, 0, 0), 0.1, "grams?"),
    ("iiwa14", 1.0, (0, 0, 20.0), 1e-3, "millimetres?"),
    ("iiwa14", 1.0, (0, 0, 0.02), 1e3, "another unit"),
    ("finger", 0.05, (0.01, 0, 0), 1e-6, ""),
    ("finger", 2.0, (0, 0, 0), 1e-4, "grams?"),
    ("finger", 0.002, (10.0, 0, 0), 1e-7, "millimetres?"),
    ("finger", 0.002, (0.01, 0, 0), 0.1, "another unit"),
    ("crane", 4000.0, (0, -9.0, 0), 2e4, ""),
    ("crane", 4000.0, (0, -9000.0, 0), 2e4, "millimetres?"),
    ("crane", 2e6, (0, 0, 0), 2e4, "grams?"),
    ("points of 1 kg", 5.0, (0, 0, 0.3), 0.1, ""),
]


@pytest.mark.parametrize(("name", "mass", "com", "moment", "asked"), PAYLOADS)
def test_payloads_in_other_units_are_asked_about_by_every_arm(name, mass, com, moment, asked):
    arm, tensor = honest()[name], Inertia.about_com(np.diag([moment] * 3))
    told = " ".join(arm.with_payload(mass, com, tensor, frame="tool").notes)
    assert (asked in told, "?" in told) == (True, bool(asked)), told


def test_frames_of_a_file_in_millimetres_are_asked_about():
    far = load("ur5e").replace(frames=(NamedFrame("camera", 6, Pose.at((0, 0, 300.0))),))
    assert "300 m from the one that carries it: millimetres?" in " ".join(unit_notes(far))


TEXTBOOK = [f"points of {mass} kg/{i}" for mass in ("1", "0.1", "5") for i in (1, 2)]
ONE_LINK = {
    ("lengths", "mm"): {},
    ("offsets", "mm"): {},
    ("centres", "mm"): dict.fromkeys(("ur5e/6", "rail/7"), "a centre 1 mm off the frame is then as far off as a hand"),
    ("masses", "g"): dict.fromkeys(TEXTBOOK[:4], POINTS),
    ("masses", "t"): dict.fromkeys(TEXTBOOK, POINTS)
    | dict.fromkeys(("puma560/3", "puma560 with a load/3"), "a declared defect is already an error of that link"),
    ("tensors", "kg mm²"): dict.fromkeys(("puma560/1", "puma560 with a load/1"), "a link without mass, as published"),
    ("limits of angles", "deg"): {},
    ("limits of slides", "mm"): {},
}  # fmt: skip
"""Slips in one link of an arm of which `check` says nothing that it does not say of the right arm."""


@pytest.mark.parametrize("name", ["generic_3r", "cobra600"])
def test_a_speed_without_limit_was_asked_whether_it_is_in_degrees(name):
    arm = load(name)
    endless = {"speed_limit": np.inf, "effort_limit": np.inf, "limits": (-np.inf, np.inf)}
    assert unit_notes(arm.replace(links=tuple(link.replace(**endless) for link in arm.links))) == unit_notes(
        arm
    )


@pytest.mark.more
@pytest.mark.parametrize(("what", "unit"), ONE_LINK)
def test_a_slip_in_one_link_is_found_by_check(what, unit):
    silent = set()
    for name, arm in honest().items():
        known = _doubts(arm)
        for i in range(arm.n if arm.dynamics else 0):
            try:
                slipped = on_links(arm, what, LINKS[what][2][unit], i)
            except ArmFault:
                continue
            if slipped is not None and not _doubts(slipped) - known:
                silent.add(f"{name}/{i + 1}")
    assert silent == set(ONE_LINK[what, unit])


def _doubts(arm):
    return {(doubt.kind, doubt.link, doubt.level) for doubt in check(arm).findings if doubt.level != "note"}
