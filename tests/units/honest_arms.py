"""Arms of all sizes whose numbers are right: nothing of them is asked about."""

import functools

from forearm.arm import Arm
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Drive, Link
from forearm.readers import known_arms, load


def bar(kind, length, mass, thick, **more):
    """A link as long as a bar that lies along it."""
    body = {"mass": mass, "com": (-length / 2, 0, 0), "inertia": Inertia.box(mass, length, thick, thick)}
    return Link.dh(kind, a=length, **{**body, **more})


def chain(name, rows, twists=(), **rest):
    links = [
        bar("revolute", length, mass, thick, name=f"q{i}", alpha=(twists or [0.0] * len(rows))[i], **more)
        for i, (length, mass, thick, more) in enumerate(rows)
    ]
    return Arm(name, tuple(links), **rest)


def finger():
    """A finger of 5 g with hobby motors: rotors of 0.1 g cm² before gears of 256."""
    drive = Drive(rotor_inertia=1e-8, gear=256.0, side="motor", viscous=2e-4, coulomb=(0.002, 0.002))
    rows = [(x, 0.0017, 0.008, {"drive": drive, "limits": (-0.3, 1.6), "effort_limit": 0.15, "speed_limit": 9.0})
            for x in (0.045, 0.028, 0.022)]  # fmt: skip
    return chain("finger", rows)


def tiny():
    """An endoscope's arm, 16 mm long."""
    rows = [(0.004, 6e-5, 0.0015, {"limits": (-0.8, 0.8), "effort_limit": 2e-4, "speed_limit": 6.0})] * 4
    return chain("tiny", rows, (1.5707963, 0, 1.5707963, 0))


def crane():
    """A loader crane of 30 m: two booms, a telescope, a rope's end."""
    links = [
        Link.dh("revolute", d=4.0, alpha=1.5707963, mass=6500.0, com=(0, -2, 0),
                inertia=Inertia.box(6500.0, 1.2, 4, 1.2),
                name="slew", limits=(-6.2, 6.2), speed_limit=0.15, effort_limit=9e5,
                drive=Drive(rotor_inertia=0.06, gear=2400.0, side="motor", viscous=9e4, coulomb=(6e3, 6e3))),
        bar("revolute", 13.0, 3200.0, 0.6, name="boom", limits=(-0.2, 1.4), speed_limit=0.06, effort_limit=2.5e6),
        bar("prismatic", 0.0, 1300.0, 0.5, name="out", limits=(0.0, 13.0), speed_limit=0.5, effort_limit=2e5,
            com=(0, 0, -5.0), inertia=Inertia.box(1300.0, 0.5, 0.5, 11.0)),
    ]  # fmt: skip
    return Arm("crane", tuple(links))


def station():
    """A manipulator of a space station, 17 m and 1800 kg, without weight."""
    big = {"limits": (-4.7, 4.7), "speed_limit": 0.07, "effort_limit": 1044.0}
    motor = Drive(rotor_inertia=1.4e-3, gear=1842.0, side="motor", viscous=30.0, coulomb=(8.0, 8.0))
    rows = [(0.38, 106.0, 0.35, big), (1.36, 140.0, 0.35, big), (7.11, 250.0, 0.35, big), (7.11, 250.0, 0.35, big),
            (0.5, 106.0, 0.35, big), (0.635, 106.0, 0.35, big), (1.36, 244.0, 0.5, big)]  # fmt: skip
    rows = [(length, mass, thick, {**more, "drive": motor}) for length, mass, thick, more in rows]
    return chain("station", rows, (1.5707963,) * 7, gravity=(0, 0, 0))


def gantry():
    """A gantry over 20 m, two slides and a wrist, with rack and pinion."""
    rack = Drive(rotor_inertia=2e-3, gear=180.0, side="motor", viscous=800.0, coulomb=(500.0, 500.0))
    screw = Drive(rotor_inertia=4e-4, gear=628.0, side="motor", viscous=900.0, coulomb=(200.0, 200.0))
    links = [
        Link.dh("prismatic", alpha=1.5707963, mass=1200.0, com=(0, 0, 0), inertia=Inertia.box(1200.0, 0.6, 6.0, 0.6),
                name="x", limits=(0.0, 20.0), speed_limit=2.5, effort_limit=9000.0, drive=rack),
        Link.dh("prismatic", alpha=-1.5707963, a=0.2, mass=350.0, com=(0, 0, 0),
                inertia=Inertia.box(350.0, 0.8, 0.8, 0.8),
                name="y", limits=(0.0, 6.0), speed_limit=2.5, effort_limit=5000.0, drive=rack),
        Link.dh("prismatic", mass=160.0, com=(0, 0, -1), inertia=Inertia.box(160.0, 0.2, 0.2, 2.4),
                name="z", limits=(0.0, 2.0), speed_limit=1.5, effort_limit=6000.0, drive=screw),
        bar("revolute", 0.3, 25.0, 0.15, name="wrist", limits=(-6.2, 6.2), speed_limit=4.0, effort_limit=200.0),
    ]  # fmt: skip
    return Arm("gantry", tuple(links))


def picker():
    """An arm that picks with 100 m/s²: light carbon tubes on direct drives."""
    direct = Drive(rotor_inertia=6e-3, gear=1.0, side="motor", viscous=0.01, coulomb=(0.1, 0.1))
    geared = Drive(rotor_inertia=3e-5, gear=12.0, side="motor", viscous=0.02, coulomb=(0.2, 0.2))
    rows = [(0.24, 0.35, 0.03, {"drive": geared, "limits": (-2.6, 2.6), "speed_limit": 32.0, "effort_limit": 60.0}),
            (0.30, 0.20, 0.02, {"drive": direct, "limits": (-2.6, 2.6), "speed_limit": 45.0, "effort_limit": 25.0}),
            (0.04, 0.08, 0.03, {"drive": direct, "limits": (-40.0, 40.0), "speed_limit": 55.0})]  # fmt: skip
    rows[2][3]["limits"] = None
    return chain("picker", rows)


def gimbal():
    """A camera of 4 kg on axes that meet: it is larger than the arm that carries it."""
    ring = {"mass": 0.7, "inertia": Inertia.box(0.7, 0.2, 0.03, 0.2), "speed_limit": 6.0}
    links = [
        Link.dh("revolute", alpha=1.5707963, com=(0, 0, 0.02), name="pan", **ring),
        Link.dh("revolute", alpha=1.5707963, com=(0, 0.01, 0), name="roll", **ring),
        Link.dh(
            "revolute",
            mass=4.0,
            com=(0.004, 0, 0.006),
            inertia=Inertia.box(4.0, 0.14, 0.16, 0.22),
            name="tilt",
        ),
    ]
    return Arm("gimbal", tuple(links))


def palletiser():
    """Carries 500 kg through 3 m, weighs 2.6 t."""
    motor = Drive(rotor_inertia=7e-3, gear=190.0, side="motor", viscous=300.0, coulomb=(250.0, 250.0))
    more = {"drive": motor, "limits": (-3.2, 3.2), "speed_limit": 1.7, "effort_limit": 3.2e4}
    rows = [
        (0.5, 900.0, 0.8, more),
        (1.3, 750.0, 0.35, more),
        (1.4, 600.0, 0.3, more),
        (0.25, 350.0, 0.35, more),
    ]
    return chain("palletiser", rows, (1.5707963, 0, 0, 0))


def reed():
    """Ten metres of carbon tube, 40 kg, driven by ropes from the base."""
    return chain(
        "reed", [(2.5, 10.0, 0.12, {"limits": (-1.6, 1.6), "speed_limit": 0.5, "effort_limit": 900.0})] * 4
    )


def quick_legs():
    """A leg whose limits stand for none, as those of many files."""
    more = {"limits": (-10.0, 10.0), "speed_limit": 1000.0, "effort_limit": 1000.0}
    return chain("leg", [(0.16, 0.15, 0.03, more), (0.16, 0.03, 0.02, more)])


def points(mass, length):
    """A textbook's pendulum of point masses at the ends."""
    link = Link.dh("revolute", a=length, mass=mass, com=(0, 0, 0))
    return Arm(f"points of {mass:g} kg", (link.replace(name="q1"), link.replace(name="q2")))


def on_a_rail():
    """An arm of 25 kg on a rail of 12 m, in a hall, with a long tool that carries a torch."""
    first = Link.dh("prismatic", alpha=1.5707963, mass=80.0, com=(0, 0, 0), inertia=Inertia.box(80.0, 0.5, 0.5, 0.3),
                    name="rail", limits=(0.0, 12.0), speed_limit=2.0, effort_limit=3000.0)  # fmt: skip
    arm = load("ur5e")
    return Arm("rail", (first, *arm.links), base=Pose.at((35.0, -12.0, 2.0)), tool=Pose.at((0, 0, 0.9)))


MADE = (finger, tiny, crane, station, gantry, picker, gimbal, palletiser, reed, quick_legs, on_a_rail)


@functools.cache
def honest():
    """All of them, by name."""
    made = [*(make() for make in MADE), points(1.0, 1.0), points(0.1, 1.0), points(5.0, 0.2)]
    loads = [load("iiwa14").with_payload(14.0, (0, 0, 0.2), frame="flange"),
             load("puma560").with_payload(2.5, frame="tool"),
             palletiser().with_payload(500.0, (0.2, 0, 0.3), Inertia.box(500.0, 0.8, 0.6, 0.5), frame="tool"),
             crane().with_payload(4000.0, (0, -8.0, 0), frame="tool"),
             finger().with_payload(0.05, (0.01, 0, 0), frame="tool")]  # fmt: skip
    held = [arm.replace(name=f"{arm.name} with a load") for arm in loads]
    return {arm.name: arm for arm in (*map(load, known_arms()), *made, *held)}
