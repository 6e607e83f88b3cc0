"""docs/tabulated.md is what benchmarks/results/tables.json says."""

import json

from house.pages import script


def test_the_page_is_what_the_results_say():
    module = script("make_tabulated")
    found = json.loads(module.RESULTS.read_text(encoding="utf-8"))
    assert module.PAGE.read_text(encoding="utf-8") == module.page(found), "run python docs/make_tabulated.py"
    assert {row["method"] for row in found["errors"]} == {"albus", "raibert", "horn_raibert"}
