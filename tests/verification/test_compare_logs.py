"""compare and what people write down: rounded torques, noisy logs, another law of friction."""

import csv

import numpy as np
import pytest

import forearm as fa
from forearm.link import Drive
from forearm.verification import compare


def write_log(path, arm, tau_of, decimals=None, count=60, noise=0.0, seed=1):
    """A CSV file of random states and torques."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = arm.random_state(seed, (count,))
    tau = tau_of(q, qd, qdd)
    tau = tau + noise * rng.normal(size=tau.shape)
    names = [f"{what}{i + 1}" for what in ("q", "qd", "qdd", "tau") for i in range(arm.n)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in np.concatenate([q, qd, qdd, tau], axis=1):
            writer.writerow([repr(float(x)) if decimals is None else f"{x:.{decimals}f}" for x in row])
    return path


@pytest.mark.parametrize("decimals", [3, 6])
@pytest.mark.parametrize("name", ["rr", "ur5e"])
def test_torques_written_with_few_decimals_are_the_same_to_the_digits_written(tmp_path, name, decimals):
    arm = fa.load(name).without_drives()
    file = write_log(tmp_path / "log.csv", arm, lambda *s: fa.inverse_dynamics(arm, *s), decimals)
    found = compare(arm, file)
    assert found.same, str(found)
    assert "the same, to the digits written" in found.verdict
    assert "within the digits written" in str(found)


def test_a_real_difference_is_not_hidden_by_the_digits(tmp_path):
    arm = fa.load("ur5e").without_drives()
    loaded = arm.with_payload(0.05, frame="tool")
    file = write_log(tmp_path / "log.csv", arm, lambda *s: fa.inverse_dynamics(loaded, *s), 6)
    assert not compare(arm, file, patience=0.0).same


def test_dry_friction_in_a_noisy_log_is_named_with_an_estimate(tmp_path):
    arm = fa.load("ur3e").without_drives()
    rubbing = arm.replace(links=tuple(x.replace(drive=Drive(coulomb=(2.0, 2.0))) for x in arm.links))
    file = write_log(tmp_path / "log.csv", arm, lambda *s: fa.inverse_dynamics(rubbing, *s), 4, 300, 0.1)
    found = compare(arm, file, patience=0.0)
    assert found.keys == ("friction",), str(found)
    numbers = found.causes[0].split("dry by (")[1].split(")")[0]
    assert np.allclose([float(x) for x in numbers.split(",")], 2.0, atol=0.1)
    assert "rms are left: noise, or a second cause" in found.verdict


def test_two_laws_of_friction_are_told_apart():
    arm = fa.load("puma560")

    def jumping(q, qd, qdd):
        rigid = fa.inverse_dynamics(arm.without_drives(), q, qd, qdd)
        drives = [link.drive for link in arm.links]
        rest = [
            d.reflected_inertia * a + d.viscous * v + (d.coulomb[0] if v > 0 else -d.coulomb[1])
            for d, v, a in zip(drives, qd, qdd, strict=True)
        ]
        return rigid + np.array(rest)

    found = compare(arm, jumping)
    assert found.keys == ("friction law",), str(found)
    assert "c sign(qd)" in found.verdict
    assert "puma560" in found.verdict


def test_the_same_is_not_printed_above_one_part_in_one():
    """A planar arm in a horizontal plane: its gravity torques are rounding on both sides."""
    arm = fa.load("rr").replace(gravity=(0.0, 0.0, 0.0))
    tiny = 1e-17

    def almost(q, qd, qdd):
        return fa.inverse_dynamics(arm, q, qd, qdd) + tiny

    found = compare(arm, almost)
    assert found.same
    assert "1.00e+00 apart" not in str(found)
    assert "gravity torques: the same" in str(found)


@pytest.mark.parametrize("name", ["planar_3r", "puma560", "ur10e"])
def test_swapped_torque_columns_and_constant_offsets_could_not_be_told(name):
    arm = fa.load(name).without_drives()
    last = list(range(arm.n))
    last[-1], last[-2] = last[-2], last[-1]

    def swapped(q, qd, qdd):
        return fa.inverse_dynamics(arm, q, qd, qdd)[last]

    found = fa.compare(arm, swapped)
    assert found.keys == ("torque order",)
    names = arm.joint_names
    assert (
        f"the torques of {names[-2]} and {names[-1]} are exchanged, their positions are not" in found.verdict
    )
    offset = np.arange(1.0, arm.n + 1)
    found = fa.compare(arm, lambda *state: fa.inverse_dynamics(arm, *state) + offset)
    assert found.keys == ("offset",)
    assert found.verdict.startswith("torques differ by constants, the other's are larger by (1, 2")
