"""Self-contained HTML: one file, no network, readable on a phone, on paper and in the dark.

page   sections, tables and figures become the text of one page
"""

from forearm.reports.page import Figure, Section, Table, page

__all__ = ["Figure", "Section", "Table", "page"]
