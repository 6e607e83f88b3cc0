"""Self-contained HTML: one file, no network, readable on a phone, on paper and in the dark."""

from forearm.page.document import Figure, PageTable, Section, page

__all__ = ["Figure", "PageTable", "Section", "page"]
