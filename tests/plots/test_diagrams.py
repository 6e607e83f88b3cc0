"""Drawings for a blackboard: letters where the lengths are, arrows as long as the forces, and links in balance."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm
from forearm import plots


def words(figure):
    """Everything written in a picture."""
    return [text.get_text().strip() for text in figure.axes[0].texts if text.get_text().strip()]


@pytest.mark.parametrize("name", ["rr", "planar_3r", "double_pendulum"])
def test_a_planar_arm_has_all_its_letters(name, tmp_path):
    arm = fa.load(name)
    figure = plots.lettered_figure(arm, np.full(arm.n, 0.6))
    letters = words(figure)
    for i in range(1, arm.n + 1):
        for wanted in (f"$q_{i}$", f"$l_{i}$", rf"$l_{{c{i}}}$", f"$m_{i}$"):
            assert letters.count(wanted) == 1
    assert {"$x_0$", "$y_0$", "$g$"} <= set(letters)
    assert plots.save(figure, tmp_path / "a.png").stat().st_size > 8000


def test_an_arm_in_space_has_no_such_drawing():
    with pytest.raises(fa.StateFault, match="does not move in the plane of x and y; give an arm"):
        plots.lettered_figure(fa.load("puma560"), np.zeros(6))
    with pytest.raises(
        fa.StateFault, match=r"lettered_figure: q has shape \(3,\), but arm 'rr' has 2 joints"
    ):
        plots.lettered_figure(fa.load("rr"), [1, 2, 3])


@pytest.mark.parametrize(("name", "link"), [("rr", 1), ("rr", 2), ("puma560", 2), ("stanford", 3)])
def test_a_link_cut_free_shows_what_acts_on_it(name, link, tmp_path):
    arm = fa.load(name).without_drives()
    q, qd, qdd = arm.random_state(4)
    loads = fa.reactions(arm, q, qd, qdd)
    figure = plots.free_body_figure(arm, q, loads, link)
    said = " ".join(words(figure))
    assert f"$f_{link}$  {np.linalg.norm(loads.force[link - 1]):.3g} N" in said
    assert (f"$-f_{link + 1}$" in said) is (link < arm.n)
    assert f"$n_{link}$  {np.linalg.norm(loads.moment[link - 1]):.3g} N m" in said
    assert f"$m_{link} g$" in said
    assert plots.save(figure, tmp_path / "a.svg").stat().st_size > 3000


def test_the_sum_of_the_forces_drawn_is_mass_times_acceleration():
    """The centre of link 1 of rr moves on a circle: its acceleration is known without any dynamics."""
    arm, qd, qdd = fa.load("rr"), np.array([1.5, -0.5]), np.array([2.0, 1.0])
    q = np.array([0.5, 0.7])
    title = plots.free_body_figure(arm, q, fa.reactions(arm, q, qd, qdd), 1).axes[0].get_title(loc="left")
    wanted = 2.0 * 0.35 * np.hypot(qd[0] ** 2, qdd[0])
    assert title.endswith(f"= {wanted:.3g} N")


def test_what_cannot_be_drawn_is_refused():
    arm = fa.load("rr")
    loads = fa.reactions(arm, [0, 0], [0, 0], [0, 0])
    with pytest.raises(fa.StateFault, match=r"link is 3; give a number from 1 to 2"):
        plots.free_body_figure(arm, [0, 0], loads, 3)
    batch = fa.reactions(arm, np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2)))
    with pytest.raises(fa.StateFault, match=r"shapes \(4, 2, 3\) and \(4, 2, 3\); give those of one state"):
        plots.free_body_figure(arm, [0, 0], batch, 1)


def test_the_verb_tells_and_draws(capsys, tmp_path):
    state = ["--q", "0.5", "0.7", "--qd", "1", "-0.5", "--qdd", "2", "1"]
    data = forearm(capsys, "reactions", "rr", *state, "--plot", str(tmp_path / "b.svg"), "--json").json
    want = fa.inverse_dynamics(fa.load("rr"), [0.5, 0.7], [1, -0.5], [2, 1])
    assert np.allclose(data["drive"], want, rtol=1e-12)
    assert (tmp_path / "b.svg").exists()
    said = forearm(capsys, "reactions", "stanford", "--q", "0.1", "0.2", "0.3", "0", "0", "0").out
    assert "bearing Fx" in said
    assert " N " in next(line for line in said.splitlines() if line.startswith("joint3"))
