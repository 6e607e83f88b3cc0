"""Every public name is on the page of public names, with a docstring, its arguments and an example that runs."""

import inspect
import re

import pytest

import forearm
from house.pages import script

make_api, api_examples = script("make_api"), script("api_examples")
LISTED = [name for names in make_api.GROUPS.values() for name in names.split()]
PUBLIC = [name for name in forearm.__all__ if name != "__version__"]


def test_every_public_name_is_listed_once():
    assert sorted(LISTED) == sorted(PUBLIC)


def test_every_public_name_has_an_example_or_a_reason():
    assert set(api_examples.EXAMPLES) | set(api_examples.NO_EXAMPLE) == set(PUBLIC)
    assert not set(api_examples.EXAMPLES) & set(api_examples.NO_EXAMPLE)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "FORMULATIONS"])
def test_every_public_name_says_what_it_is(name):
    text = inspect.getdoc(getattr(forearm, name))
    assert text, f"{name} has no docstring"
    assert len(text) > 15


def test_the_page_is_as_generated_and_its_examples_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = make_api.PAGE.read_text(encoding="utf-8")
    assert make_api.refreshed(make_api.page()) == kept, "run python docs/make_api.py"


def test_the_list_can_be_read_aloud():
    """Short enough: a minute and a half at most."""
    syllables = sum(len(re.findall(r"[aeiouy]+", name.lower())) for name in PUBLIC)
    assert syllables < 450
