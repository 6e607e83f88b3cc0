"""Logs of arms with joints that slide: metres, millimetres, and motors that turn behind ball screws."""

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motion_files import write_columns

GEARS = np.array([50.0, 50.0, 2 * np.pi / 0.02, 30.0])
"""Turns of the motors for those of the joints; the third is a screw of 20 mm."""


def scara():
    """Two hinges, a screw that carries what is beyond it, a wrist; none has limits."""
    inertia = fa.Inertia.about_com(np.diag([0.01, 0.02, 0.02]))
    screw = fa.Drive(rotor_inertia=1.5, side="joint", viscous=20.0, coulomb=(8.0, 8.0), smoothing=0.01)
    links = [
        fa.Link.dh("revolute", a=0.325, d=0.387, mass=8.0, com=(-0.15, 0, 0), inertia=inertia, name="j1"),
        fa.Link.dh("revolute", a=0.275, mass=5.0, com=(-0.1, 0, 0), inertia=inertia, name="j2"),
        fa.Link.dh("prismatic", mass=2.0, com=(0, 0, -0.1), inertia=inertia, name="j3", drive=screw),
        fa.Link.dh("revolute", mass=0.8, com=(0.02, 0, 0.03), inertia=inertia, name="j4"),
    ]
    return fa.Arm("scara", links=links)


ARM = scara()


def log_of(stroke):
    """A log of it whose third joint slides so far [m], with noise."""
    t = np.arange(0.0, 20.0, 0.004)
    wide = np.array([0.8, 0.7, stroke, 0.9])
    phase = 2 * np.pi / 10 * t[:, None] * np.array([3, 4, 5, 6]) + np.array([0, 1, 0.3, 2])
    other = 2 * np.pi / 10 * t[:, None] * np.array([7, 8, 9, 10])
    q = wide * (np.sin(phase) + 0.3 * np.sin(other))
    qd = np.gradient(q, t, axis=0)
    tau = fa.inverse_dynamics(ARM, q, qd, np.gradient(qd, t, axis=0))
    size = np.sqrt(np.mean(tau**2, axis=0))
    return {"t": t, "q": q, "tau": tau + 0.002 * size * np.random.default_rng(0).normal(size=tau.shape)}


def file_of(log, path, titles):
    """The log as a file, with these titles of its positions."""
    columns = {"t": log["t"]} | dict(zip(titles, log["q"].T, strict=True))
    return write_columns(path, columns | {f"tau{j + 1}": log["tau"][:, j] for j in range(4)})


def viscous(found):
    return found.arm.links[2].drive.viscous


def test_motors_of_sliding_joints_in_degrees_were_taken_for_radians(tmp_path):
    """Friction of the screw was a 57th, its rotor nothing, and the file could not say that its motor turns."""
    log = log_of(0.3)
    log |= {"q": np.degrees(log["q"] * GEARS), "tau": log["tau"] / GEARS}
    plain = file_of(log, tmp_path / "plain.csv", [f"q{j}" for j in (1, 2, 3, 4)])
    for call in (fa.identify, fa.watch):
        with pytest.raises(
            fa.ReadFault, match=r"motor of joint 'j3', which slides: .* q3 \[deg\] or q3 \[m\]"
        ):
            call(ARM, plain, coupling=GEARS, degrees=True)
        with pytest.raises(fa.StateFault, match=r"motor of joint 'j3', which slides, may turn or slide"):
            call(ARM, log, coupling=GEARS, degrees=True)
    titled = file_of(log, tmp_path / "titled.csv", [f"q{j} [deg]" for j in (1, 2, 3, 4)])
    assert viscous(fa.identify(ARM, titled, coupling=GEARS)) == pytest.approx(20.0, rel=0.01)
    with pytest.raises(fa.ReadFault, match=r"'q3 \[deg\]' is in 'deg', but joint 'j3' is prismatic"):
        fa.identify(ARM, titled)


def test_a_motor_that_slides_is_read_in_millimetres(tmp_path):
    gears = np.array([50.0, 50.0, 1.0, 30.0])
    log = log_of(0.3)
    log |= {"q": log["q"] * gears * np.array([1, 1, 1e3, 1]), "tau": log["tau"] / gears}
    path = file_of(log, tmp_path / "log.csv", ["q1", "q2", "q3 [mm]", "q4"])
    assert viscous(fa.identify(ARM, path, coupling=gears)) == pytest.approx(20.0, rel=0.01)


def test_a_motor_that_says_degrees_beside_others_that_say_nothing_is_asked_about(tmp_path):
    log = log_of(0.3)
    path = file_of(log, tmp_path / "log.csv", ["q1", "q2", "q3 [deg]", "q4"])
    with pytest.raises(fa.ReadFault, match=r"column 'q1' says no unit, and 'q3 \[deg\]' is not in rad"):
        fa.identify(ARM, path, coupling=GEARS)


@pytest.mark.parametrize("call", [fa.identify, fa.watch])
def test_a_log_in_millimetres_was_taken_for_metres_without_a_word(call, tmp_path):
    """`torque` asked about the same file."""
    log = log_of(0.3)
    log["q"][:, 2] *= 1e3
    told = r"joint 'j3' goes to 38\d\.\d m \(no limits\)\. In millimetres\? Then give metres, .* q3 \[mm\]"
    with pytest.raises(fa.StateFault, match=told):
        call(ARM, log)
    path = file_of(log, tmp_path / "log.csv", ["q1", "q2", "q3 [m]", "q4"])
    with pytest.raises(fa.StateFault, match=told):
        call(ARM, path)


def test_a_short_stroke_in_millimetres_could_be_metres():
    log = log_of(0.008)
    assert viscous(fa.identify(ARM, log, mend="unexcited")) == pytest.approx(20.0, rel=0.03)
    log["q"][:, 2] *= 1e3
    with pytest.raises(
        fa.StateFault, match=r"where its positions are in millimetres, and does not .* metres"
    ):
        fa.identify(ARM, log)
