# ruff: noqa: E501  (prose)
"""Write docs/errata.md from docs/errata.toml: `python docs/make_errata.py`. A test says when it is due."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
DATA, PAGE = HERE / "errata.toml", HERE / "errata.md"

PAPERS = {
    "turney_mudge_lee_1980": "Turney, Mudge, Lee: Equivalence of two formulations for robot arm dynamics (1980)",
    "newton_euler_notes": "Newton-Euler formulation for dynamics of an n-link manipulator (notes)",
    "hollerbach_1980": "Hollerbach: A recursive Lagrangian formulation of manipulator dynamics (1980)",
    "giacaglia_kottke_2007": "Giacaglia, Kottke: The Newton-Euler multibody equations revisited (2007)",
}
"""Stem -> title, in the order of the page."""

HEAD = """# Errata of the papers

<!-- written by docs/make_errata.py from docs/errata.toml; do not edit -->

What the papers print wrongly, one row a slip: {count} of them. Class A changes numbers if followed as printed, B misleads or
is ambiguous, C is harmless. "Printed" means as the texts at hand show it (scans turned into text), so a slip may be the author's
or the scan's. The size is the error of the torques relative to the largest one, unless it says otherwise. Each row has a test that
shows it. The same as data: [errata.toml](errata.toml).

The notes on the planar RR arm (*Example of dynamics computation: Revolute-Revolute manipulator*) have no erratum: all of (1) to
(33) hold as printed.
"""


def errata() -> list[dict[str, str]]:
    """All rows, in the order of the file."""
    return tomllib.loads(DATA.read_text(encoding="utf-8"))["erratum"]


def page() -> str:
    """The page as text."""
    rows = errata()
    parts = [HEAD.format(count=len(rows))]
    for paper, title in PAPERS.items():
        parts += [
            f"\n## {title}\n",
            "| id | class | place | printed | corrected | size | test |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            if row["paper"] == paper:
                file, _, test = row["test"].partition("::")
                cells = [row[key] for key in ("id", "class", "place", "printed", "corrected", "size")]
                cells = [cell.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_") for cell in cells]
                parts.append(f"| {' | '.join(cells)} | `{Path(file).name}`: `{test}` |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
