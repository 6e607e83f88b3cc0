"""The map of the house is true: its rows are the order of imports, its arrows are functions that exist."""

import re
from importlib import import_module
from xml.etree import ElementTree

import pytest

from house.pages import script
from house.sources import HOME
from house.test_layering import LAYERS, ROOMS

house = script("make_architecture")
ARROWS = sorted({function for steps in house.WAYS.values() for _, function in steps if function})


def test_page_and_drawing_are_as_generated():
    assert house.PAGE.read_text(encoding="utf-8") == house.page(), "run python docs/make_architecture.py"
    assert house.FIGURE.read_text(encoding="utf-8") == house.drawing(), "run python docs/make_architecture.py"


def test_the_order_drawn_is_the_order_of_imports():
    drawn = [name for row in house.rows() for name in row]
    there = [name for row in LAYERS for name in row if house.source(name)]
    want = [
        name
        for first in there
        for name in ([f"{first}.{r}" for r in ROOMS[first]] if first in ROOMS else [first])
    ]
    firsts = list(dict.fromkeys(name.split(".")[0] for name in drawn))
    assert sorted(drawn) == sorted(want)
    height = {name: k for k, row in enumerate(LAYERS) for name in row}
    assert [height[name] for name in firsts] == sorted(height[name] for name in firsts)
    for package, rooms in ROOMS.items():
        assert tuple(n.partition(".")[2] for n in drawn if n.startswith(f"{package}.")) == rooms


def test_every_module_of_the_first_level_is_on_the_page():
    text = house.PAGE.read_text(encoding="utf-8")
    modules = {p.stem for p in HOME.glob("*.py")} | {p.parent.name for p in HOME.glob("*/__init__.py")}
    missing = [name for name in modules - {"__init__"} if f"| `{name}` |" not in text]
    assert missing == []


@pytest.mark.parametrize("function", ARROWS)
def test_every_arrow_is_a_function_that_exists(function):
    module, _, name = function.rpartition(".")
    assert hasattr(import_module(f"forearm.{module}"), name)


def test_the_drawing_is_well_formed_and_shows_every_name():
    root = ElementTree.fromstring(house.drawing())
    shown = {"".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")}
    assert {name for row in house.rows() for name in row} <= shown
    assert set(house.WAYS) <= shown


@pytest.mark.parametrize(
    "module", sorted({m for text in house.BESIDE.values() for m in re.findall(r"`([\w.]+\.[\w.]+)`", text)})
)
def test_what_leaves_a_way_leads_to_a_module(module):
    assert import_module(f"forearm.{module}").__doc__
