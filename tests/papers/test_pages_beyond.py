"""Pages of the methods beyond the five papers: their figures for Panda are those of the graphs that are compiled."""

import re
from pathlib import Path

import pytest

from forearm.compiler.model.choice import best_graph
from forearm.readers import load

PAGES = Path(__file__).parents[2] / "docs" / "papers"


def operations(quantity, formulation=None):
    """Operations of Panda's graph after simplification."""
    graph, _ = best_graph(load("panda").without_drives(), quantity, formulation=formulation)
    return graph.counts.operations


@pytest.mark.parametrize(
    ("stem", "pattern", "quantity", "formulation"),
    [
        ("featherstone_1983", r"For Panda (\d+)\s+operations", "forward_dynamics", "featherstone_1983"),
        ("featherstone_1983", r"against (\d+)\s+for \[composite", "forward_dynamics", None),
        ("walker_orin_1982", r"Panda's \$M\$ takes (\d+)\s+operations", "mass_matrix", None),
    ],
)
def test_figures_on_the_page(stem, pattern, quantity, formulation):
    text = (PAGES / f"{stem}.md").read_text(encoding="utf-8")
    assert int(re.search(pattern, text)[1]) == operations(quantity, formulation)
