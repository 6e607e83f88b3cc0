"""The live arms of the site: one for every built-in arm, and one beside every paper, which its equations move.

They are static files like the rest; `conf.py` writes them before the pages that show them.
"""

from pathlib import Path

import forearm
from forearm.page.equation_values import equation_values

SHOWN = ("puma560", "generic_3r")
"""Arms beside a paper: the first whose equations are few enough for a page."""


def write_views(folder: Path) -> None:
    """A page for every built-in arm and every formulation."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in forearm.known_arms():
        forearm.view(forearm.load(name)).save(folder / f"{name}.html")
    for stem in forearm.FORMULATIONS:
        arm = forearm.load(arm_beside(stem))
        forearm.view(arm, formulations=stem).save(folder / f"{stem}.html")


def arm_beside(stem: str) -> str:
    """Which arm stands beside a paper."""
    return next(name for name in SHOWN if equation_values(forearm.load(name), stem) is not None)


def live_section(stem: str) -> str:
    """The end of a paper's page: an arm that moves, and what each of the paper's lines computes as it does."""
    arm = arm_beside(stem)
    return (
        f"\n\n## The equations at work\n\nDrag the hand of `{arm}`: under *Which equation is this* stands what each of "
        "the lines above computes, now ([the arm in a page](../view.md)).\n\n```{raw} html\n"
        f'<iframe class="live-arm small" title="{arm}, live" loading="lazy" src="../views/{stem}.html"></iframe>\n```\n'
    )
