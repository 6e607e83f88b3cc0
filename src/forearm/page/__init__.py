"""Self-contained HTML: one file, no network, readable on a phone, on paper and in the dark.

document   a page from sections, tables and figures; page.css is its style
"""

from forearm.page.document import Figure, PageTable, Section, page

__all__ = ["Figure", "PageTable", "Section", "page"]
