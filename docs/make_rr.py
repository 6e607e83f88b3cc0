"""Draw the pictures of docs/rr_both_ways.md: `python docs/make_rr.py`. A test says when it is due."""

from pathlib import Path

import forearm as fa
from forearm import plots

FIGURES = Path(__file__).parent / "figures"
STATE = ([0.5, 0.7], [1.0, -0.5], [2.0, 1.0])
"""The state of the page: q, qd, qdd."""


def letters():
    """The arm with its letters."""
    return plots.svg(plots.lettered_figure(fa.load("rr"), STATE[0]), "rr")


def free_body():
    """Link 1 cut free."""
    rr = fa.load("rr")
    return plots.svg(plots.free_body_figure(rr, STATE[0], fa.reactions(rr, *STATE), 1), "body")


DRAWINGS = {"rr_letters.svg": letters, "rr_free_body.svg": free_body}
"""File in docs/figures -> what draws it."""


if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (FIGURES / name).write_text(draw() + "\n", encoding="utf-8")
