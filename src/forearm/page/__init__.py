"""Self-contained HTML: one file, no network, readable on a phone, on paper and in the dark.

document         a page from sections, tables and figures; page.css is its style
live_view        view: the arm alive in one file (view.html, view.css, and its JavaScript in js/)
played_rows      rows of a motion that the view plays, and how far that is from a long one's others
view_kernels     what that page computes, as graphs
equation_values  a formulation's tagged equations with their values, as a graph
evidence         agreement of the formulations, counts beside the published ones, times
motion_report    report: a motion of any arm, with the view on top
"""

from forearm.page.document import Figure, PageTable, Section, page

__all__ = ["Figure", "PageTable", "Section", "page"]
