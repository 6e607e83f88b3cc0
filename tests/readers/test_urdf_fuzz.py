"""Broken and odd URDF texts by the hundred: nothing but ReadFault and ArmFault, no hang, and no wrong torques.

Mutations act on sound files: bytes are cut, doubled, exchanged; attributes get strange values; elements are
dropped, repeated, moved. A mutant that is still accepted must have the torques that Pinocchio gives it.
"""

import copy
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from forearm.dynamics import inverse_dynamics
from forearm.faults import ArmFault, ReadFault
from forearm.formulations import FORMULATIONS
from forearm.readers.urdf import from_urdf
from forearm.robot import Robot
from forearm.verification.proof import oracle

torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
SOUND = (Path(__file__).parent / "museum" / "sound.urdf").read_text()
BRANCHED = (Path(__file__).parents[2] / "examples" / "fork.urdf").read_text()
VALUES = (
    "",
    "0",
    "-1",
    "1e-3",
    "nan",
    "inf",
    "1e400",
    "0 0 0",
    "1 2",
    "0 0 1",
    "0 1 0",
    "0.3 -0.2 0.5",
    "a",
    "1,5",
    "\t",
    "base",
    "hand",
    "fixed",
    "prismatic",
    "floating",
    "½",
    "0x1",
    "1e",
    "+.5",
    "--1",
)


def load_quickly(text, **options):
    """The arm, or None if the text is refused in the proper way; never slow, never another exception."""
    start = time.perf_counter()
    arm, said = None, "mutant.urdf: fine"
    try:
        arm = from_urdf(text, "mutant.urdf", keep_defects=True, **options)
    except (ReadFault, ArmFault) as fault:
        said = str(fault)
    assert said.startswith("mutant.urdf:"), said
    assert time.perf_counter() - start < 20
    return arm


def mutated_tree(seed, text, count):
    """The text with a few changes of its tree."""
    rng = random.Random(seed)
    root = etree.fromstring(text.encode())
    for _ in range(count):
        elements = [e for e in root.iter() if isinstance(e.tag, str) and e is not root]
        if not elements:
            break
        element = rng.choice(elements)
        what = rng.randrange(6)
        if what <= 2 and element.attrib:
            element.set(rng.choice(sorted(element.attrib)), rng.choice(VALUES))
        elif what == 3:
            element.getparent().remove(element)
        elif what == 4:
            element.getparent().append(copy.deepcopy(element))
        elif element.attrib:
            del element.attrib[rng.choice(sorted(element.attrib))]
    return etree.tostring(root, encoding="unicode")


def jittered(seed, text):
    """The text with every number changed a little, or a lot: still a sound file, mostly."""
    rng = random.Random(seed)

    def other(match):
        value = float(match[0])
        return repr(round(value * rng.choice([1, 1, 1, 0.5, -1, 2]) + rng.choice([0, 0, 0.1, -0.3]), 6))

    def attribute(match):
        return match[1] + re.sub(r"-?\d+\.?\d*(e-?\d+)?", other, match[2]) + match[3]

    return re.sub(r'((?:xyz|rpy)=")([^"]*)(")', attribute, text)


def pinocchios_torques(text, names, q, qd, qdd):
    """What Pinocchio gives for the same file; None if it cannot read, reduce or fold it."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    try:
        model = pin.buildModelFromXML(text)
        held = [i for i in range(1, model.njoints) if model.names[i] not in names]
        if held:
            model = pin.buildReducedModel(model, held, pin.neutral(model))
    except (ValueError, RuntimeError):  # stricter than we are, or a link named like a joint
        return None
    if (
        list(model.names)[1:] != list(names) or '<mass value="-' in text
    ):  # negative masses: it divides by a floor
        return None
    return pin.rnea(model, model.createData(), pin.integrate(model, pin.neutral(model), q), qd, qdd)


def assert_right_torques(arm, text):
    """The torques are the oracle's, which reads the text itself, and Pinocchio's; whether it could be asked."""
    if not arm.dynamics:
        return False
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, arm.n))
    if isinstance(arm, Robot):  # a change may make a chain branch
        theirs = None if arm.couplings or arm.free else pinocchios_torques(text, arm.joint_names, q, qd, qdd)
        if theirs is not None:
            got = inverse_dynamics(arm.without_drives(), q, qd, qdd)
            assert np.max(np.abs(got - theirs)) <= 1e-10 * max(1, np.max(np.abs(theirs))), text
        return theirs is not None
    got = torques(arm, q, qd, qdd)
    chain = oracle.chain_from_urdf(text, arm.joint_names)
    theirs = pinocchios_torques(text, arm.joint_names, q, qd, qdd)
    for want in (oracle.spatial_torques(chain, q, qd, qdd), theirs):
        assert want is None or np.max(np.abs(got - want)) <= 1e-10 * max(1, np.max(np.abs(want))), text
    return theirs is not None


bounded = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
long = settings(bounded, max_examples=3000)


def try_tree(seed, count):
    for text in (SOUND, BRANCHED):
        mutant = mutated_tree(seed, text, count)
        arm = load_quickly(mutant, tip="hand" if text is BRANCHED else None)
        if arm is not None:
            assert_right_torques(arm, mutant)


def try_numbers(seed):
    mutant = jittered(seed, SOUND)
    arm = load_quickly(mutant)
    return arm is not None and assert_right_torques(arm, mutant)


def try_bytes(content, cut):
    text = SOUND.encode()
    load_quickly(text[:cut] + content + text[cut + len(content) :])
    load_quickly(text[:cut] + content)
    load_quickly(content)


@given(st.integers(0, 2**32), st.integers(1, 4))
@bounded
def test_changed_trees(seed, count):
    try_tree(seed, count)


@given(st.integers(0, 2**32))
@bounded
def test_changed_numbers(seed):
    try_numbers(seed)


def test_most_files_with_changed_numbers_are_accepted_and_right():
    assert sum(try_numbers(seed) for seed in range(40)) > 20


@given(st.binary(max_size=60), st.integers(0, len(SOUND)))
@bounded
def test_changed_bytes(content, cut):
    try_bytes(content, cut)


@pytest.mark.parametrize("tag", ["link", "joint"])
def test_a_name_that_cannot_be_read_is_told_with_its_line(tag):
    mutant = SOUND.replace(f'<{tag} name="', f'<{tag} name="\x7f', 1)
    with pytest.raises(
        ArmFault, match=rf"^mutant\.urdf:\d+: the name of a {tag} has the control character U\+007F"
    ):
        from_urdf(mutant, "mutant.urdf")


@given(st.text(st.sampled_from("<>/=\"'&;!-[]?:. \n\t\x01ab19robotlinkjnüλ\ud800"), max_size=80))
@bounded
def test_any_text(text):
    load_quickly(text)
    load_quickly(f'<robot name="r">{text}</robot>')


@pytest.mark.more
@given(st.integers(0, 2**32), st.integers(1, 6))
@long
def test_changed_trees_at_length(seed, count):
    try_tree(seed, count)


@pytest.mark.more
@given(st.integers(0, 2**32))
@long
def test_changed_numbers_at_length(seed):
    try_numbers(seed)


@pytest.mark.more
@given(st.binary(max_size=200), st.integers(0, len(SOUND)))
@long
def test_changed_bytes_at_length(content, cut):
    try_bytes(content, cut)
