"""Pictures: drawn on the axes given, from the data given."""

import pytest

from forearm.counting import count, list_schedule, macro_schedule, operation_graph, schedule_table
from forearm.counting.costs.side_by_side import cost_curves, tables_lose, torque_formulations, whole_cost
from forearm.plots import cost_lines as pictures

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib draws")


@pytest.fixture
def ax():
    """Axes that are never shown."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    yield figure.subplots()
    figure.canvas.draw()


def test_cost_against_joints(ax):
    pictures.cost_against_joints(ax, cost_curves(last=12), tables_lose())
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
    assert all(line.get_xdata()[-1] == 12 for line in lines)
    assert len(lines) == len(torque_formulations())
    texts = " ".join(text.get_text() for text in ax.texts)
    assert "from n = 9" in texts
    assert "uicker kahn 1969" in texts
    first = {stem: whole_cost(stem).first for stem in torque_formulations()}
    assert sorted(line.get_xdata()[0] for line in lines) == sorted(first.values()), "only where they hold"
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_breakdown(ax):
    found = count("luh_walker_paul_1980", 3)
    pictures.breakdown(ax, found)
    widths = sum(patch.get_width() for patch in ax.patches)
    assert widths == found.multiplications + found.additions
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"(NE{i})" for i in range(1, 10)]


def test_schedules(ax):
    graph = operation_graph("turney_mudge_lee_1980_modified", 2)
    schedule = list_schedule(graph, 2)
    pictures.gantt(ax, schedule)
    assert ax.get_xlim() == (0, schedule.length)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["× 1", "× 2", "+ 1", "+ 2"]


def test_macro_schedule(ax):
    tasks = macro_schedule(operation_graph("turney_mudge_lee_1980_table_4", 2))
    pictures.macro_gantt(ax, tasks)
    assert len(ax.collections) == len(tasks)


def test_time_against_units(ax):
    rows = schedule_table(operation_graph("turney_mudge_lee_1980_modified", 2), (1, 2, 4))
    pictures.time_against_units(ax, rows)
    assert list(ax.get_lines()[1].get_ydata()) == [row["steps"] for row in rows]
