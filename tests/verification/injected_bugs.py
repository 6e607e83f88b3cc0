"""Nine real bugs to inject, one at a time, and the laws that must notice."""

import functools
import importlib
import sys
import types

from forearm.inertia import Inertia
from forearm.verification.proof.mechanical_laws import LAWS

SOME = (
    "luh_walker_paul_1980",
    "luh_walker_paul_1980_base",
    "hollerbach_1980_3x3",
    "newton_euler_notes",
    "uicker_kahn_1969",
)
MUTANT = "luh_walker_paul_1980"


def broken_laws(proof, subject=None):
    """Short names of the laws that fail (for one subject)."""
    says = {law.says: name for name, law in LAWS.items()}
    rows = [r for r in proof.failures if r.group == "law" and (subject is None or r.subject == subject)]
    return {says[r.check] for r in rows}


def with_origin_inertia(arm):
    """The same arm with inertias given about the origin of the link frame: the same numbers mean another body."""
    links = [k.replace(inertia=Inertia(tuple(map(tuple, k.ten.inertia)), "origin")) for k in arm.links]
    return arm.replace(links=tuple(links))


# What each bug changes in the source of the formulation, and the laws that must notice.
CODE_BUGS = {
    "acceleration without the turn into the link (parentheses)": (
        "A[i].T @ pdd[i - 1]",
        "A[i].T @ (pdd[i - 1] + cross(wd[i], p_star[i])) - cross(wd[i], p_star[i])",
        {"symmetric", "kinetic"},
    ),
    "joint offset instead of the arm to the centre of mass": (
        "cross(r_star[i], F[i])",
        "cross(p_star[i], F[i])",
        {"symmetric", "skew", "gravity", "tilted", "kinetic"},
    ),
    "gravity changes sign when the base is tilted": (
        "pdd = {0: -arm.gravity_in_base}",
        "pdd = {0: -arm.gravity_in_base * (1 if arm.base.rotation[2][2] == 1 else -1)}",
        {"tilted"},
    ),
    "tilt of the base ignored": ("-arm.gravity_in_base", "-np.array(arm.gravity)", {"tilted"}),
    "rotational inertia dropped": (
        "N[i] = I @ wd[i] + cross(w[i], I @ w[i])",
        "N[i] = 0 * w[i]",
        {"kinetic"},
    ),
    "another link's velocity in the gyroscopic term": (
        "cross(w[i], I @ w[i])",
        "cross(w[1], I @ w[i])",
        {"skew"},
    ),
    "products of inertia with the other sign": (
        "m, r_star[i], I = link.about_com",
        "m, r_star[i], I = link.about_com\n        I = 2 * np.diag(np.diag(I)) - I",
        {"kinetic"},
    ),
    "inertia about the origin taken for one about the centre": (
        "m, r_star[i], I = link.about_com",
        "m, r_star[i], I = link.about_com\n        I = np.array(link.inertia.tensor)",
        {"kinetic"},
    ),
}
ONLY = {
    "gravity changes sign when the base is tilted",
    "tilt of the base ignored",
    "rotational inertia dropped",
    "products of inertia with the other sign",
    "inertia about the origin taken for one about the centre",
}
"""Bugs that one law alone (or that law and power, which contains it) can see."""


def mutate(monkeypatch, old, new, stem=MUTANT):
    """Put a formulation with one change in place of the real one."""
    name = f"forearm.formulations.{stem}"
    source = importlib.import_module(name).__loader__.get_source(name)
    assert source.count(old) >= 1, f"{stem} has no {old!r} any more"
    module = types.ModuleType(name)
    exec(compile(source.replace(old, new), name, "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)


def change(monkeypatch, owner, name, function):
    """Replace a cached property."""
    monkeypatch.setattr(owner, name, functools.cached_property(function))
    owner.__dict__[name].__set_name__(owner, name)
