"""The page builder: text is escaped, tables and figures are whole, nothing comes from elsewhere."""

from html.parser import HTMLParser

import pytest

from forearm.page import Figure, PageTable, Section, page

VOID = {"meta", "br", "img", "hr", "link", "wbr"}


class Tree(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    tree = Tree()
    tree.feed(html)
    assert not tree.open
    return tree


@pytest.fixture
def html():
    table = PageTable(("name", "ns"), [("<script>alert(1)</script>", 12345), ("b", 1.23456)], "A & B", (0,))
    figure = Figure("<svg viewBox='0 0 1 1'><path d='M0 0'/></svg>", 'Says "so".', "fig")
    sections = [Section("One < two", "Text with `code & more`.", (table, figure)), Section("Two", "Nothing.")]
    return page("Title", "Lead.", [("14", "papers")], "<svg></svg>", sections, "End.")


def test_the_page_is_well_formed_and_escaped(html):
    tree = read(html)
    assert "<script" not in html
    assert "One < two" in "".join(tree.texts)
    assert "<code>code &amp; more</code>" in html


def test_links_go_to_sections(html):
    tree = read(html)
    ids = {attrs.get("id") for _, attrs in tree.seen}
    assert all(attrs["href"][1:] in ids for tag, attrs in tree.seen if tag == "a")


def test_numbers_are_set_for_people(html):
    assert "12,345" in html
    assert "1.23<" in html


def test_a_figure_says_what_it_shows(html):
    assert 'role="img" aria-label="Says &quot;so&quot;."' in html


def test_nothing_comes_from_elsewhere(html):
    for word in ("http:", "https:", "src=", "@import", "url("):
        assert word not in html
