"""Pictures: every arm can be drawn, what is drawn is where it should be, and greyscale is enough."""

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest

import forearm as fa
from close import assert_close
from forearm import plots
from forearm.faults import Fault, StateFault
from forearm.plots import arms, curves, style


@pytest.mark.parametrize("name", fa.known_arms())
def test_every_arm_can_be_drawn(name, tmp_path):
    arm = fa.load(name)
    path = plots.save(plots.arm_figure(arm, plots.good_view(arm)), tmp_path / "arm.png")
    pixels = path.read_bytes()
    assert pixels[:4] == b"\x89PNG"
    assert len(pixels) > 8000


def test_the_chain_ends_at_the_tool():
    for name in ("puma560", "stanford", "panda"):
        arm = (
            fa.load(name)
            .with_tool(fa.Pose.at((0.1, 0.2, 0.3)))
            .with_base(fa.Pose.at((1, 2, 3), (0.3, 0.2, 0.1)))
        )
        q, _, _ = arm.random_state(seed=4)
        assert_close(arms.corners(arm, q)[-1], fa.pose(arm, q)[:3, 3])


def test_an_ellipsoid_has_the_inertia_of_its_link():
    """Seen along x, the ellipse has the axes that the moments of a box ask for: 2 sqrt(5/12) times its edges."""
    from matplotlib.patches import Ellipse

    box = fa.Inertia.box(3.0, 0.2, 0.4, 0.6)
    arm = fa.Arm("box", (fa.Link("revolute", mass=3.0, inertia=box),))
    figure = plots.arm_figure(arm, [0.0], azimuth=0.0, elevation=0.0)
    ellipse = next(p for p in figure.axes[0].patches if isinstance(p, Ellipse))
    want = 2 * np.sqrt(5.0 / 12.0) * np.array([0.6, 0.4])
    assert_close(sorted([ellipse.width, ellipse.height], reverse=True), want)


def test_a_view_is_a_rotation():
    for azimuth, elevation in ((0, 0), (-60, 22), (130, -40)):
        view = arms.projection(azimuth, elevation)
        assert_close(view @ view.T, np.eye(3))
        assert_close(np.linalg.det(view), 1.0)


def test_wrong_positions_are_refused():
    with pytest.raises(StateFault, match=r"arm_figure: q has shape \(3,\), but arm 'rr' has 2 joints"):
        plots.arm_figure(fa.load("rr"), [1, 2, 3])


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(Fault, match=r"pictures are not written as '.docx'; give .png, .svg or .pdf"):
        plots.save(plots.arm_figure(fa.load("rr"), [0, 0]), tmp_path / "arm.docx")


def test_without_matplotlib_one_sentence():
    probe = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import forearm as fa\nfrom forearm import plots\n"
        "try:\n    plots.arm_figure(fa.load('rr'), [0, 0])\n"
        "except fa.Fault as fault:\n    print(fault)"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == (
        "pictures need matplotlib, which is not installed; pip install 'forearm[plot]' brings it."
    )


@pytest.fixture(scope="module")
def motion():
    arm = fa.load("stanford")
    t = np.linspace(0, 1, 12)
    q = np.outer(t**2, np.linspace(0.1, 0.6, 6))
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    return arm, t, fa.terms(arm, q, qd, qdd)


def test_torques_have_a_panel_for_each_joint_with_its_unit(motion):
    arm, t, terms = motion
    figure = plots.torque_figure(arm, t, terms.total, others={"half": terms.total / 2})
    titles = [ax.get_title(loc="left") for ax in figure.axes[: arm.n]]
    assert sum("[N]" in title for title in titles) == 1, "the sliding joint is in newtons"
    for i, ax in enumerate(figure.axes[: arm.n]):
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert_close(lines["torque"].get_ydata(), terms.total[:, i])
        assert_close(lines["half"].get_ydata(), terms.total[:, i] / 2)


def test_the_predicted_torque_is_drawn_over_the_measured_one(motion):
    arm, t, terms = motion
    figure = plots.comparison_figure(arm, t, terms.total, 0.9 * terms.total)
    for i, ax in enumerate(figure.axes[: arm.n]):
        names = [line.get_label() for line in ax.get_lines()]
        assert names.index("measured") < names.index("predicted"), "what comes later lies above"
        lines = dict(zip(names, ax.get_lines(), strict=True))
        assert lines["measured"].get_linewidth() > 2 * lines["predicted"].get_linewidth()
        assert_close(lines["left over"].get_ydata(), terms.total[:, i] - 0.9 * terms.total[:, i])


def test_stacked_terms_end_at_their_sum(motion):
    """What is above zero less what is below it is the torque."""
    arm, t, terms = motion
    figure = plots.term_figure(arm, t, terms)
    for i, ax in enumerate(figure.axes[: arm.n]):
        heights = np.zeros(len(t))
        for area in ax.collections:
            corners = area.get_paths()[0].vertices
            for k, x in enumerate(t):
                column = corners[np.isclose(corners[:, 0], x)][:, 1]
                far, near = max(column, key=abs), min(column, key=abs)
                heights[k] += far - near
        assert_close(heights, terms.total[:, i], scale=np.max(np.abs(terms.total)))


@pytest.fixture
def long_motion():
    """Of the arm rr, whose torque of friction is a hundred for one row, and its coriolis torque is noise."""
    from types import SimpleNamespace

    t = np.linspace(0, 50, 50_000)
    noise = np.random.default_rng(0).normal(size=(len(t), 2))
    parts = dict.fromkeys(curves.TERMS, np.zeros_like(noise)) | {
        "gravity": np.sin(np.c_[t, 2 * t]),
        "coriolis": noise,
        "friction": np.where(np.arange(len(t)) == 31_234, 100.0, 0.0)[:, None] * [1, -1],
    }
    return fa.load("rr"), t, SimpleNamespace(**parts, total=sum(parts.values()))


def test_an_area_over_a_long_motion_took_kilobytes_for_each_row(long_motion):
    arm, t, terms = long_motion
    drawn = {
        "terms": plots.term_figure(arm, t, terms),
        "band": plots.band_figure(arm, t, terms.total, limits=[0.5, 0.5]),
    }
    for name, made in drawn.items():
        assert len(plots.svg(made, name)) < 3e6, "a report of an hour's log was gigabytes"


def test_an_area_over_a_long_motion_has_the_one_row_that_stands_out(long_motion):
    arm, t, terms = long_motion
    for i, ax in enumerate(plots.term_figure(arm, t, terms).axes[: arm.n]):
        corners = np.concatenate([area.get_paths()[0].vertices for area in ax.collections])
        there = corners[np.argmax(np.abs(corners[:, 1]))]
        assert there[0] == t[31_234]
        assert abs(there[1]) >= 100
        assert_close([corners[:, 0].min(), corners[:, 0].max()], [0, 50])
        assert_close(ax.get_lines()[0].get_ydata(), terms.total[:, i])


def test_the_balance_shows_what_is_missing():
    t = np.linspace(0, 1, 5)
    figure = plots.energy_figure(t, t, 0 * t + 2, 3 * t, t)
    missed = figure.axes[1].get_lines()[0].get_ydata()
    assert_close(missed, -t)


def test_errors_are_in_thousandths(motion):
    arm, t, terms = motion
    figure = plots.tracking_figure(arm, t, {"one": 0 * terms.total + 0.002})
    assert_close(figure.axes[0].get_lines()[-1].get_ydata(), 2 + 0 * t)
    assert "mm" in figure.axes[2].get_title(loc="left")


def test_costs_and_schedules_can_be_drawn(tmp_path):
    from forearm.counting import list_schedule, operation_graph

    plots.save(
        plots.schedule_figure(list_schedule(operation_graph("newton_euler_notes", 2), 2)), tmp_path / "s.png"
    )
    rows = [("a", 10.0, "10 ns"), ("b", 1e6, "1 ms")]
    figure = plots.bar_figure(rows, "time [ns]")
    assert [bar.get_width() for bar in figure.axes[0].patches] == [10.0, 1e6]


def luminance(color):
    r, g, b = (int(color[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_neighbouring_lines_differ_without_colour():
    """In lightness, or in their pattern."""
    for (c1, d1), (c2, d2) in zip(
        zip(style.COLORS, style.DASHES, strict=True),
        list(zip(style.COLORS, style.DASHES, strict=True))[1:],
        strict=False,
    ):
        assert d1 != d2 or abs(luminance(c1) - luminance(c2)) > 0.1
    for (c1, p1, _), (c2, p2, _) in itertools.combinations(curves.TERMS.values(), 2):
        assert p1 != p2 or abs(luminance(c1) - luminance(c2)) > 0.04


def test_inline_svg_keeps_its_ids_to_itself():
    arm = fa.load("rr")
    one, two = (plots.svg(plots.arm_figure(arm, [0.1, 0.2]), name) for name in ("one", "two"))
    for text, name in ((one, "one"), (two, "two")):
        assert text.startswith("<svg")
        assert "<?xml" not in text
        assert all(found.startswith(f"{name}-") for found in re.findall(r'\bid="([^"]+)"', text))
        uses = re.findall(r"url\(#([^)]+)\)", text)
        assert set(uses) <= set(re.findall(r'\bid="([^"]+)"', text))
    assert not set(re.findall(r'\bid="([^"]+)"', one)) & set(re.findall(r'\bid="([^"]+)"', two))
    assert plots.svg(plots.arm_figure(arm, [0.1, 0.2]), "one") == one, "the same picture gives the same text"
