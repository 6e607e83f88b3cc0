"""The verbs, put together from their table."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from cyclopts import App, Group, Parameter

import forearm
from forearm.cli.hyphens import heeding
from forearm.cli.verbs import FAMILIES, VERBS

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
    families: dict[str, App] = {}
    for place, (title, verbs) in enumerate(VERBS.items()):
        group = Group(title, sort_key=place)
        for verb, home in verbs.items():
            first, _, second = verb.partition(" ")
            if not second:
                app.command(_function(verb, home), name=verb, group=group)
                continue
            if first not in families:
                families[first] = App(name=first, help=FAMILIES[first], group=group)
                app.command(families[first])
            families[first].command(_function(verb, home), name=second)
    return app


def _function(verb: str, home: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f"forearm.cli.verbs.{home}"), verb.replace(" ", "_"))
    return heeding(function)
