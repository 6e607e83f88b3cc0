"""Every scheme is on the pages that help to choose one, and its row is complete."""

from pathlib import Path

import pytest

from forearm.simulation import SCHEMES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_is_on_its_pages(name):
    assert f'`"{name}"`' in (DOCS / "choose.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in (DOCS / "simulate.md").read_text(encoding="utf-8")
    scheme = SCHEMES[name]
    assert scheme.name == name
    assert scheme.told
    assert scheme.adaptive or scheme.stable < 10
