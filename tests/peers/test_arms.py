"""Each built-in arm against Pinocchio on the original description: from files, and live if there is pin."""

import importlib.metadata
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from close import assert_close
from forearm.drives import rotor_torque
from forearm.energies import kinetic_energy, potential_energy
from forearm.faults import NoDynamics
from forearm.formulations import FORMULATIONS
from forearm.kinematics import link_poses
from forearm.readers import known_arms, load

REFERENCES = {
    f.stem: json.loads(f.read_text()) for f in (Path(__file__).parent / "references").glob("*.json")
}
WITH_DYNAMICS = sorted(name for name, r in REFERENCES.items() if not r.get("kinematics_only"))
torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques

needs_pin = pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pin has no wheel here")


def arrays(state):
    return (np.array(state[k]) for k in ("q", "qd", "qdd"))


def rigid(name):
    return load(name).without_drives()


def mass_matrix_by_energy(arm, q):
    """M from kinetic energies alone, by polarisation: T is quadratic in qd."""
    unit = np.eye(arm.n)
    single = [kinetic_energy(arm, q, e) for e in unit]
    return np.array(
        [
            [
                2 * single[i] if i == j else kinetic_energy(arm, q, unit[i] + unit[j]) - single[i] - single[j]
                for j in range(arm.n)
            ]
            for i in range(arm.n)
        ]
    )


def gravity_by_potential(arm, q, h=1e-3):
    """dU/dq by central differences of fourth order, good to about 1e-11."""
    slopes = []
    for e in np.eye(arm.n) * h:
        near = potential_energy(arm, q + e) - potential_energy(arm, q - e)
        far = potential_energy(arm, q + 2 * e) - potential_energy(arm, q - 2 * e)
        slopes.append((8 * near - far) / (12 * h))
    return np.array(slopes)


def test_every_built_in_arm_has_a_reference():
    assert set(known_arms()) == set(REFERENCES)


@pytest.mark.parametrize("name", WITH_DYNAMICS)
def test_mass_matrix_is_pinocchios(name):
    arm = rigid(name)
    for state in REFERENCES[name]["states"]:
        q, _, _ = arrays(state)
        assert_close(mass_matrix_by_energy(arm, q), state["M"], label=f"M of {name}")


@pytest.mark.parametrize("name", WITH_DYNAMICS)
def test_gravity_torque_is_the_slope_of_the_potential_and_pinocchios(name):
    arm = rigid(name)
    for state in REFERENCES[name]["states"]:
        q, _, _ = arrays(state)
        zero = np.zeros(arm.n)
        scale = 9.81 * arm.total_mass
        assert_close(torques(arm, q, zero, zero), state["g"], scale=scale, label=f"g of {name}")
        slope = gravity_by_potential(arm, q)
        assert_close(
            slope, state["g"], eps=1e6, scale=scale, because="difference quotient", label=f"dU/dq of {name}"
        )


@pytest.mark.parametrize("name", WITH_DYNAMICS)
def test_torques_are_pinocchios(name):
    arm = rigid(name)
    for state in REFERENCES[name]["states"]:
        assert_close(torques(arm, *arrays(state)), state["tau"], label=f"torques of {name}")


@pytest.mark.parametrize("name", WITH_DYNAMICS)
def test_kinetic_energy_is_pinocchios(name):
    arm = rigid(name)
    for state in REFERENCES[name]["states"]:
        q, qd, _ = arrays(state)
        assert_close(kinetic_energy(arm, q, qd), state["kinetic"], label=f"energy of {name}")


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_last_frame_is_where_the_original_has_it(name):
    arm = load(name)
    for state in REFERENCES[name]["states"]:
        R, p = link_poses(arm, np.array(state["q"]))[-1]
        want = np.array(state["pose"])
        assert_close(R, want[:3, :3], label=f"orientation of {name}")
        assert_close(p, want[:3, 3], scale=2.0, label=f"position of {name}")


def test_puma_with_motors_is_the_robotics_toolboxs():
    arm = load("puma560")
    for state in REFERENCES["puma560"]["states"]:
        q, qd, qdd = arrays(state)
        # far above the smoothing speed dry friction is a constant; the Toolbox has a step
        dry = [
            d.coulomb[0] if v > 0 else -d.coulomb[1]
            for d, v in zip((x.drive for x in arm.links), qd, strict=True)
        ]
        viscous = [link.drive.viscous * v for link, v in zip(arm.links, qd, strict=True)]
        tau = torques(arm, q, qd, qdd) + rotor_torque(arm, qdd) + viscous + dry
        assert_close(tau, state["tau_with_motors"], label="torques with motors")


@pytest.mark.parametrize("name", ["xarm7", "kinova_gen3"])
def test_rounded_angles_of_the_description_change_torques_a_little(name):
    change = REFERENCES[name]["rounded_angles_change_torques_by"]
    assert 1e-7 < change < 2e-5, f"{name}.toml states this figure"


@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur3e", "ur5e", "ur10e"])
def test_exact_angles_of_the_description_change_nothing(name):
    assert REFERENCES[name]["rounded_angles_change_torques_by"] < 1e-14


def test_kinematics_only_arm_says_so():
    from forearm import faults

    arm = load("cobra600")
    assert not arm.dynamics
    with pytest.raises(
        NoDynamics, match=r"'cobra600' has no masses or inertias .* it has no torques; give each link"
    ):
        faults.no_dynamics(arm, "torques")


@needs_pin
@pytest.mark.parametrize("name", WITH_DYNAMICS)
def test_pinocchio_says_the_same_today(name):
    from peers.pin_models import from_record, quantities

    arm = rigid(name)
    model, last = from_record(REFERENCES[name])
    for seed in range(3):
        q, qd, qdd = arm.random_state(seed)
        want = quantities(model, last, q, qd, qdd)
        assert_close(torques(arm, q, qd, qdd), want["tau"], label=f"torques of {name}")
        assert_close(mass_matrix_by_energy(arm, q), want["M"], label=f"M of {name}")


@pytest.mark.parametrize("name", [n for n in WITH_DYNAMICS if "urdf" in REFERENCES[n]["original"]])
def test_reading_the_description_itself_gives_the_same_torques(name):
    """Two readers, two sources of numbers: our TOML, and the URDF with its right angles made exact."""
    arm = rigid(name)
    read = load(Path(__file__).parent / "descriptions" / f"{name}.urdf", right_angles=1e-4)
    assert read.joint_names == arm.joint_names
    for state in REFERENCES[name]["states"]:
        assert_close(torques(read, *arrays(state)), torques(arm, *arrays(state)), label=f"torques of {name}")


def numbers(element, *way):
    """Attributes of an element's descendant as floats."""
    found = element.find("/".join(way))
    return {k: [float(x) for x in v.split()] for k, v in found.attrib.items()}


@pytest.mark.parametrize("name", ["panda", "xarm7"])
def test_description_has_the_packages_numbers(name):
    try:
        files = importlib.metadata.files("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    original = etree.parse(next(f for f in files if f.name == f"{name}.urdf").locate()).getroot()
    ours = etree.parse(Path(__file__).parent / "descriptions" / f"{name}.urdf").getroot()
    joints = ours.findall("joint")
    assert len(joints) == 7
    for joint in joints:
        child = joint.find("child").get("link")
        theirs = original.find(f"joint[@name='{joint.get('name')}']")
        assert theirs.find("child").get("link") == child
        assert numbers(joint, "origin") == numbers(theirs, "origin")
        assert numbers(joint, "axis") == numbers(theirs, "axis")
        link, same = (root.find(f"link[@name='{child}']") for root in (ours, original))
        for part in ("origin", "mass", "inertia"):
            assert numbers(link, "inertial", part) == numbers(same, "inertial", part)
