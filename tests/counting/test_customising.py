"""Customised costs: what the compiler leaves of an arm, beside records."""

import numpy as np
import pytest

from forearm.compiler.model.choice import best_graph
from forearm.counting import customised, customised_rows, polynomial
from forearm.counting.costs.customised_costs import (
    GENERAL_RECORDS,
    RECORDS,
    customised_graph,
    with_arbitrary_inertias,
)
from forearm.readers import load


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_cost_is_that_of_the_compiled_graph(name):
    arm = load(name)
    graph, why = best_graph(arm.without_drives(), "inverse_dynamics")
    found = customised(arm)
    assert found == customised_graph(graph, arm.name, "inverse_dynamics", why.chosen)
    assert found.operations == graph.counts.operations
    assert found.instructions < found.operations
    general = polynomial("luh_walker_paul_1980")
    assert found.operations < 0.3 * float(general.multiplications(6) + general.additions(6))


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_arbitrary_inertias_cost_less_than_the_records(name):
    arm = load(name)
    best = min(r.operations for r in RECORDS if r.arm == name and "arbitrary" in r.inertias)
    assert customised(with_arbitrary_inertias(arm)).operations < best


def test_arbitrary_inertias_keep_the_geometry():
    arm = load("puma560")
    other = with_arbitrary_inertias(arm)
    assert [link.pose for link in other.links] == [link.pose for link in arm.links]
    assert all(np.all(np.array(link.com) != 0) for link in other.links)


def test_rows():
    (row,) = customised_rows([load("stanford")])
    assert row["operations"] == row["multiplications"] + row["additions"]
    assert row["operations"] <= row["arbitrary"] <= row["general"]
    assert "Kane" in row["records"]
    assert all(record.multiplications(6) > 0 for record in GENERAL_RECORDS)
