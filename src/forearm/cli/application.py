"""The verbs, put together."""

from functools import cache
from importlib import import_module

from cyclopts import App, Group, Parameter

import forearm

VERBS = {
    "The arm": ("arms", "show", "convert"),
    "Dynamics": ("torque", "simulate"),
    "Trust": ("verify", "check", "compare"),
    "The papers": ("count", "derive", "cite"),
    "Code and machine": ("emit", "bench", "doctor", "cache"),
    "To begin with": ("demo", "completion"),
}
"""Verbs by purpose, in the order of `forearm --help`."""

HOMES = {
    "arms": "arm_verbs",
    "show": "arm_verbs",
    "convert": "arm_verbs",
    "torque": "motion_verbs",
    "simulate": "motion_verbs",
    "verify": "trust_verbs",
    "check": "trust_verbs",
    "compare": "trust_verbs",
    "count": "count_verbs",
    "derive": "paper_verbs",
    "cite": "paper_verbs",
    "emit": "machine_verbs",
    "bench": "machine_verbs",
    "doctor": "machine_verbs",
    "demo": "first_verbs",
    "completion": "first_verbs",
}
"""Verb -> module of this package; `cache` has verbs of its own."""

ABOUT = """The dynamics of robot arms: torques, proofs, counts, closed forms, code.

An arm is a name ("forearm arms" lists them) or a file: arm.toml, arm.urdf, arm.xml (MJCF).
Every verb takes --json, --quiet, --no-color and --debug.
Exit codes: 0 fine, 1 something was found, 2 bad input.
"""


@cache
def application() -> App:
    """The command line as cyclopts knows it."""
    app = App(
        name="forearm",
        help=ABOUT,
        version=forearm.__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
        group_commands=Group("Of forearm itself", sort_key=99),
        default_parameter=Parameter(show_default=False),
    )
    for place, (title, verbs) in enumerate(VERBS.items()):
        group = Group(title, sort_key=place)
        for verb in verbs:
            if verb == "cache":
                app.command(_cache_verbs(group))
            else:
                app.command(
                    getattr(import_module(f"forearm.cli.{HOMES[verb]}"), verb), name=verb, group=group
                )
    return app


def _cache_verbs(group: Group) -> App:
    from forearm.cli import machine_verbs

    app = App(name="cache", help="List or clear the kernels kept on disk.", group=group)
    app.command(machine_verbs.cache_list, name="list")
    app.command(machine_verbs.cache_clear, name="clear")
    return app
