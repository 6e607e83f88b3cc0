"""Slips of a unit in an arm: which numbers, by which factor, and what becomes of the arm."""

import math
from dataclasses import replace as changed

from forearm.inertia import Inertia


def scaled_pose(pose, k):
    return changed(pose, translation=tuple(k * x for x in pose.translation))


def lengths(link, k):
    return {"pose": scaled_pose(link.pose, k), "d": k * link.d}


def centers(link, k):
    return {"com": tuple(k * x for x in link.com)}


def masses(link, k):
    return {"mass": k * link.mass}


def tensors(link, k):
    rows = tuple(tuple(k * x for x in row) for row in link.about_com.inertia)
    return {"inertia": Inertia(rows, "com")}


def drives(name):
    def slip(link, k):
        if name == "gear" and (link.drive.side != "motor" or not link.drive.rotor_inertia):
            return {}  # a gear is for a rotor before it
        value = getattr(link.drive, name)
        return {
            "drive": changed(
                link.drive, **{name: tuple(k * x for x in value) if name == "coulomb" else k * value}
            )
        }

    return slip


def limits(link, k):
    return {"limits": link.limits and tuple(k * x for x in link.limits)}


def of(name):
    return lambda link, k: {name: getattr(link, name) and k * getattr(link, name)}


def turning(link):
    return link.revolute


def sliding(link):
    return not link.revolute


def both(link):
    return True


DEG, RPM, POUND, INCH, FOOT = 180 / math.pi, 30 / math.pi, 1 / 0.45359237, 1 / 0.0254, 1 / 0.3048
KGF = 1 / 9.80665

LINKS = {
    # what is scaled, of which joints, and by how much where it is written in
    "lengths": ((lengths, centers), both, {"mm": 1e3, "cm": 1e2, "km": 1e-3, "inch": INCH, "feet": FOOT}),
    "offsets": ((lengths,), both, {"mm": 1e3, "cm": 1e2, "inch": INCH}),
    "centres": ((centers,), both, {"mm": 1e3, "cm": 1e2, "inch": INCH}),
    "masses": ((masses,), both, {"g": 1e3, "t": 1e-3, "lb": POUND, "mg": 1e6}),
    "tensors": ((tensors,), both, {"g m²": 1e3, "kg cm²": 1e4, "kg mm²": 1e6, "g mm²": 1e9, "t m²": 1e-3,
                          "lb in²": POUND * INCH**2}),
    "bodies": ((masses, tensors), both, {"g, g m²": 1e3, "t, t m²": 1e-3}),
    "rotors": ((drives("rotor_inertia"),), both, {"g m²": 1e3, "kg cm²": 1e4, "kg mm²": 1e6, "g cm²": 1e7,
                                                   "t m²": 1e-3}),
    "gears": ((drives("gear"),), both, {"1/1000": 1e3, "thousandths": 1e-3, "percent": 1e2}),
    "viscous friction": ((drives("viscous"),), both, {"N mm": 1e3, "by rpm": 1 / RPM, "by deg/s": 1 / DEG, "kN": 1e-3}),
    "dry friction": ((drives("coulomb"),), both, {"N mm": 1e3, "kN": 1e-3, "kgf": KGF}),
    "limits of angles": ((limits,), turning, {"deg": DEG, "rev": 1 / math.tau, "mrad": 1e3}),
    "limits of slides": ((limits,), sliding, {"mm": 1e3, "cm": 1e2, "inch": INCH, "km": 1e-3}),
    "limits of speed": ((of("speed_limit"),), turning, {"deg/s": DEG, "rpm": RPM, "mrad/s": 1e3,
                                                            "rev/s": 1 / math.tau}),
    "limits of slides' speed": ((of("speed_limit"),), sliding, {"mm/s": 1e3, "m/min": 60.0, "km/s": 1e-3}),
    "limits of effort": ((of("effort_limit"),), both, {"N mm": 1e3, "kN m": 1e-3, "kgf m": KGF, "kgf cm": 100 * KGF}),
}  # fmt: skip


def on_links(arm, what, k, only=None):
    """The arm with a slip in all links, or in one (from 0); None where that changes nothing."""
    parts, which, _ = LINKS[what]
    links = list(arm.links)
    for i, link in enumerate(links):
        if which(link) and only in (None, i):
            for part in parts:
                links[i] = links[i].replace(**part(links[i], k))
    return arm.replace(links=tuple(links)) if tuple(links) != arm.links else None
