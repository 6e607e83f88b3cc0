"""The live page without a browser: what it holds, what its kernels compute, what it refuses."""

import base64
import html
import json
import re

import numpy as np
import pytest
from scipy.interpolate import BPoly

import forearm as fa
from arms import random_arm
from cli.verbs import forearm
from forearm.compiler.wasm.module_files import joint_module
from forearm.compiler.wasm.wasm_host import WasmHost
from forearm.compiler.wasm.wasm_kernel import WasmKernel
from forearm.formulations import FORMULATIONS
from forearm.motion.motion_files import write_motion
from forearm.motion.motions import Samples
from forearm.page.equation_values import _watching, equation_values
from forearm.page.live_view import frame_of, upright
from forearm.page.view_kernels import view_graphs, view_rollouts
from forearm.simulation import Quintic

MARKUP = "</script><img src=x onerror=alert(1)>&\"'"


def data_of(html):
    """What the page's script reads."""
    return json.loads(re.search(r"id='data'>(.*?)</script>", html, re.DOTALL).group(1))


@pytest.fixture(scope="module")
def arm():
    return fa.load("generic_3r")


@pytest.fixture(scope="module")
def page(arm):
    return fa.view(arm, formulations=["luh_walker_paul_1980"])


def test_one_file_that_asks_for_nothing(page):
    html = page.html
    assert html.count("<script") == html.count("</script>") == 2
    assert not re.search(r"https?:|//[a-z]+\.|src=|@import|url\(", html.replace("'none'", ""))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src 'none'" in policy
    assert "'wasm-unsafe-eval'" in policy
    assert "unsafe-inline" not in policy
    assert len(html.encode()) < 300_000
    assert "eval(" not in html.replace("wasm-unsafe-eval", "")
    assert "innerHTML" not in html


def test_names_with_markup_are_text():
    tricky = random_arm(2, 1)
    links = tuple(link.replace(name=f"{MARKUP} {k}") for k, link in enumerate(tricky.links))
    html = fa.view(tricky.replace(name=MARKUP, links=links), formulations=()).html
    assert "<img" not in html
    assert html.count("</script>") == 2
    assert data_of(html)["joints"][0]["name"] == f"{MARKUP} 0"
    assert data_of(html)["name"] == MARKUP


def test_a_motion_travels_to_the_last_bit(arm):
    motion = Quintic(np.zeros(arm.n), np.full(arm.n, 0.5), 1.5)
    data = data_of(fa.view(arm, motion, formulations=()).html)
    rows = np.frombuffer(base64.b64decode(data["motion"])).reshape(-1, 1 + 3 * arm.n)
    samples = motion.sample(301)
    assert np.array_equal(rows, np.column_stack([samples.t, samples.q, samples.qd, samples.qdd]))
    assert data["q"] == samples.q[0].tolist()


@pytest.mark.parametrize("load", [0.0, 2.0])
def test_the_kernels_of_the_page(arm, load):
    """Places, torques and energy for ten states, with a load and gravity at an angle."""
    com, gravity = (0.05, -0.02, 0.1), (1.0, 2.0, -9.0)
    there = arm.replace(gravity=gravity)
    there = there.with_payload(load, com, frame="tool") if load else there
    x, y, z = com
    cross = (-x * y, -x * z, -y * z)
    ten = [load, *(load * c for c in com), load * (y * y + z * z), load * cross[0], load * cross[1]]
    ten = np.array([*ten, load * (z * z + x * x), load * cross[2], load * (x * x + y * y)])
    graphs = view_graphs(arm)
    host = WasmHost("page", joint_module(graphs, {}))
    n, count = arm.n, 10
    q, qd, qdd = arm.random_state(3, (count,))
    shared = [np.tile(ten, (count, 1)), np.tile(gravity, (count, 1))]
    (tau,) = host.run("torques", [count], [q, qd, qdd, *shared], [(count, n)])
    np.testing.assert_allclose(tau, fa.inverse_dynamics(there, q, qd, qdd), rtol=0, atol=1e-10)
    shapes = [(count, n + 2, 12), (count, n, 3), (count, 6, n), (count,)]
    frames, _, J, potential = host.run("look", [count], [q, *shared], shapes)
    np.testing.assert_allclose(frames[:, -1, 9:], fa.pose(there, q)[:, :3, 3], atol=1e-13)
    np.testing.assert_allclose(frames[:, -1, :9].reshape(-1, 3, 3), fa.pose(there, q)[:, :3, :3], atol=1e-13)
    np.testing.assert_allclose(J, fa.jacobian(there, q), atol=1e-13)
    np.testing.assert_allclose(potential, fa.energy(there, q, qd).potential, atol=1e-10)


def test_falling_keeps_the_energy():
    """Two seconds of the double arm, let go: work and heat are nothing, energy stays."""
    arm = fa.load("rr")
    fall = view_rollouts(arm)["fall"]
    q, still = np.array([0.3, 0.4]), np.zeros(2)
    end = fall(q, still, 0.0, 0.0, 1.0, np.zeros(10), arm.gravity, dt=1 / 8000, steps=16000).end
    before, after = (sum(fa.energy(arm, *state)) for state in ((q, still), (end.q, end.qd)))
    assert abs(after - before) < 1e-9
    assert float(end.work) == 0.0


@pytest.mark.more
def test_friction_is_booked():
    arm = fa.load("puma560")
    fall = view_rollouts(arm)["fall"]
    q, still = arm.configuration("nominal"), np.zeros(6)
    for share in (0.0, 1.0):
        end = fall(q, still, 0.0, 0.0, share, np.zeros(10), arm.gravity, dt=1 / 8000, steps=2000).end
        before, after = (sum(fa.energy(arm, *state)) for state in ((q, still), (end.q, end.qd)))
        assert abs(after - before + float(end.lost)) < 1e-6
        assert (float(end.lost) > 0.1) == bool(share)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_controller_that_knows_its_arm_stays_at_the_goal_without_friction_too(share):
    """Friction that was switched off was still compensated: a PUMA 560 stood 0.03 rad beside its goal."""
    arm = fa.load("puma560")
    follow = view_rollouts(arm)["follow"]
    q, still = arm.configuration("nominal"), np.zeros(6)
    given = {name: value for name, value in zip(("goal", "rate", "push"), (q, still, still), strict=True)}
    given |= {
        "q": q,
        "qd": np.full(6, 0.1),
        "work": 0.0,
        "lost": 0.0,
        "share": share,
        "kp": 225.0,
        "kd": 30.0,
    }
    given |= {"believed": np.zeros(10), "payload": np.zeros(10), "gravity": arm.gravity}
    end = follow(*(given[port.name] for port in follow.roles.given), dt=1 / 8000, steps=8000).end
    # e'' + kd e' + kp e = 0 of every joint, after a second
    apart = 0.1 * np.exp(-15.0)
    np.testing.assert_allclose(end.q - q, apart, rtol=0, atol=1e-9)


def test_a_limit_with_one_end_is_in_the_page():
    """The hand took a slide below its lower limit where it had no upper one."""
    arm = fa.Arm(
        "slide",
        [
            fa.Link("prismatic", mass=1.0, limits=(0.0, np.inf)),
            fa.Link("revolute", mass=1.0, com=(0.1, 0.0, 0.0), limits=(-np.inf, 0.5)),
            fa.Link("revolute", mass=1.0, com=(0.1, 0.0, 0.0)),
        ],
    )
    data = data_of(fa.view(arm, q=[0.0, 0.4, 0.0]).html)
    assert [joint["limits"] for joint in data["joints"]] == [[0.0, None], [None, 0.5], [None, None]]
    rows = np.frombuffer(base64.b64decode(data["motion"])).reshape(-1, 1 + 3 * arm.n)
    assert rows[:, 2].max() <= 0.5


@pytest.mark.parametrize("stem", ["luh_walker_paul_1980", "hollerbach_1980_3x3"])
def test_equations_have_the_values_of_their_file(stem):
    """The last equation is the torque, and the forces of the recursion are those that its file returns."""
    arm = fa.load("panda").without_drives()
    found = equation_values(arm, stem)
    q, qd, qdd = arm.random_state(2)
    values = WasmKernel(found[0])(q, qd, qdd, np.zeros(10), np.array(arm.gravity))
    rows = found[1]
    torques = [values[row.first] for row in rows if row.tag == rows[-1].tag and row.shape == ()]
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(sorted(torques[-7:]), sorted(want), atol=1e-11)
    if stem == "luh_walker_paul_1980":
        force, moment = FORMULATIONS[stem].reactions(arm, q, qd, qdd)
        for tag, table in (("NE7", force), ("NE8", moment)):
            for row in rows:
                if row.tag == tag:
                    np.testing.assert_allclose(
                        values[row.first : row.first + 3], table[row.link - 1], atol=1e-11
                    )


FINAL = {
    "khalil_kleinfinger_1987": "tau",
    "featherstone_1983": "qdd",
    "horn_raibert_1978": "tau",
    "waters_1979": "tau",
}
"""What the last value of each link is, of formulations that call it j, or count from zero."""


@pytest.mark.parametrize("stem", FINAL)
def test_a_value_stands_at_its_own_link(arm, stem):
    """Whatever the paper calls its index: the values of link 2 are not those of the last link that the loop saw."""
    graph, rows = equation_values(arm, stem)
    q, qd, qdd = arm.random_state(2)
    values = WasmKernel(graph)(q, qd, qdd, np.zeros(10), np.array(arm.gravity))
    want = {"qdd": qdd, "tau": fa.inverse_dynamics(arm.without_drives(), q, qd, qdd)}[FINAL[stem]]
    for link in range(1, arm.n + 1):
        found = [values[row.first] for row in rows if row.link == link and row.shape == ()]
        assert np.min(np.abs(np.array(found) - want[link - 1])) < 1e-11, f"link {link} of {stem}"
    assert {row.link for row in rows} <= set(range(arm.n + 1))


@pytest.mark.parametrize("stem", FORMULATIONS)
def test_every_formulation_shows_its_equations(stem):
    found = equation_values(fa.load("rr"), stem)
    assert found is not None
    assert {0, 1, 2} >= {row.link for row in found[1]} >= {1, 2}


@pytest.mark.parametrize(
    ("name", "stem", "says"),
    [
        ("stanford", "turney_mudge_lee_1980_lagrange", "it is for revolute joints"),
        ("puma560", "uicker_kahn_1969", "they take more than 6000 operations"),
    ],
)
def test_equations_that_are_not_in_the_page_are_said(name, stem, says, caplog):
    html = fa.view(fa.load(name), formulations=stem).html
    assert data_of(html)["papers"] == []
    assert f"the equations of {stem} are not in the page: {says}" in caplog.text


def test_every_tagged_line_of_a_recursion_is_there():
    rows = equation_values(fa.load("panda"), "luh_walker_paul_1980")[1]
    assert {row.tag for row in rows} == {f"NE{k}" for k in range(1, 10)}
    assert {row.link for row in rows} == set(range(1, 8))


def test_an_arm_without_masses_is_shown_too():
    data = data_of(fa.view(fa.load("cobra600")).html)
    assert data["dynamics"] is False
    assert list(data["interface"]) == ["look"]


def test_a_notebook_shows_it(page):
    frame = page._repr_html_()
    assert frame == frame_of(page)
    assert frame.startswith('<iframe title="generic_3r, live"')
    assert frame.count('"') == 6, "the page is quoted"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"motion": 3.0}, "motion is a float; give a Motion"),
        ({"motion": Quintic(np.zeros(2), np.ones(2), 1.0)}, "has 3 joints, so give two rows"),
        ({"q": [0.0]}, r"q has shape \(1,\)"),
        ({"q": [0.0, np.nan, 0.0]}, r"takes \(3,\) finite numbers"),
        ({"q": "home"}, r"view: q has type <U4; give real numbers, shape \(3,\)"),
        ({"formulations": ["magic"]}, "no formulation 'magic'"),
        ({"formulations": "magic"}, "no formulation 'magic'"),
    ],
)
def test_what_a_page_cannot_show(arm, given, says):
    with pytest.raises(fa.StateFault, match=says):
        fa.view(arm, **given)


def test_too_many_joints():
    with pytest.raises(fa.StateFault, match="pages show up to 12"):
        fa.view(random_arm(13, 1))


def test_what_falls_is_drawn_as_falling_down():
    """Gravity of the arms in a plane is along -y: they stand in the picture, they do not lie on its floor."""
    data = data_of(fa.view(fa.load("rr"), formulations=()).html)
    axes = np.array(data["axes"])
    np.testing.assert_allclose(axes @ [0, -9.81, 0], [0, 0, -9.81], atol=1e-12)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
    assert data["foot"][2] <= -1.4, "the floor is where the arm does not reach"
    for gravity in ([0, 0, 9.81], [3, -2, -1], [0, 0, 0], [9.81, 0, 0]):
        turned = upright(gravity)
        np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(turned) == pytest.approx(1)
        np.testing.assert_allclose(turned @ gravity, [0, 0, -np.linalg.norm(gravity)], atol=1e-12)


def test_gravity_of_next_to_nothing_is_a_direction_and_no_number_that_json_refuses():
    np.testing.assert_allclose(upright([0, -1e-200, 0]), upright([0, -9.81, 0]), atol=1e-15)
    data = data_of(fa.view(fa.load("rr").replace(gravity=(0, 0, -1e-200)), formulations=()).html)
    assert data["axes"] == np.eye(3).tolist()


@pytest.mark.parametrize(
    ("place", "floor"), [((25.0, -13.0, 40.0), 40.0), ((3.0, 0.0, 0.5), 0.0), ((0, 0, 0), 0.0)]
)
def test_the_floor_is_under_the_arm_wherever_its_base_is(arm, place, floor):
    there = arm.with_base(fa.Pose(rotation=np.eye(3).tolist(), translation=place))
    data = data_of(fa.view(there, q=[0.0, 0.3, 0.3], formulations=()).html)
    assert data["foot"][:2] == pytest.approx(place[:2])
    assert floor - 0.5 * data["size"] <= data["foot"][2] <= floor


def test_a_chain_of_many_short_links_is_thin():
    short, long = (data_of(fa.view(random_arm(n, 1), formulations=()).html) for n in (12, 3))
    assert short["thickness"] / short["size"] < 0.5 * long["thickness"] / long["size"]


def test_rows_of_a_long_motion_were_left_out_of_the_page_without_a_word(capsys, tmp_path):
    arm, t = fa.load("rr"), np.linspace(0.0, 3.0, 601)
    wave = np.stack([0.3 * np.sin(80 * t), 0.5 * t], axis=1)
    rate = np.stack([24.0 * np.cos(80 * t), np.full_like(t, 0.5)], axis=1)
    push = np.stack([-1920.0 * np.sin(80 * t), np.zeros_like(t)], axis=1)
    rows = Samples(t, wave, rate, push)
    page = fa.view(arm, rows)
    assert page.notes[0].startswith("the motion has 601 rows, and the page plays 301 of them")
    assert page.notes[0][1:] in html.unescape(page.html)
    numbers = np.frombuffer(base64.b64decode(data_of(page.html)["motion"])).reshape(-1, 7)
    curve = BPoly.from_derivatives(numbers[:, 0], numbers[:, 1:].reshape(-1, 3, 2))
    tau = fa.inverse_dynamics(arm, wave, rate, push)
    off = np.abs(fa.inverse_dynamics(arm, *(curve(t, k) for k in range(3))) - tau).max(axis=0)
    shares = off / np.abs(tau).max(axis=0)
    j = int(np.argmax(shares))
    assert f"joint 'q{j + 1}' is up to" in page.notes[0]
    assert f"its torque up to {off[j]:.2g} of {np.abs(tau[:, j]).max():.3g} N m" in page.notes[0]
    assert fa.view(arm, Samples(*(x[:301] for x in rows))).notes == ()
    write_motion(rows, arm, tmp_path / "motion.csv")
    told = forearm(capsys, "view", "rr", tmp_path / "motion.csv", "-o", tmp_path / "v.html", "--json").json
    assert told["notes"][-1] == page.notes[0]


def test_ctrl_c_while_a_page_watches_a_paper_was_told_as_a_missing_key():
    from forearm.formulations import luh_walker_paul_1980 as paper

    class Pressed:
        def __mul__(self, _):
            raise KeyboardInterrupt

        __rmul__ = __add__ = __radd__ = __mul__

    rest = np.zeros(2)
    with pytest.raises(KeyboardInterrupt), _watching(paper.__file__, []):
        paper.joint_torques(fa.load("rr").without_drives(), rest, rest, [Pressed(), Pressed()])


@pytest.mark.parametrize("stem", ["luh_walker_paul_1980", "hollerbach_1980_3x3", "waters_1979"])
@pytest.mark.parametrize("load", [0.0, 2.0])
def test_equations_of_an_arm_whose_last_link_has_no_mass_left_the_load_out(stem, load):
    """The bars beside them had it."""
    rr = fa.load("rr")
    bare = rr.links[1].replace(mass=0.0, com=(0, 0, 0), inertia=fa.Inertia.point())
    arm = rr.replace(links=(rr.links[0], bare))
    graph, _ = equation_values(arm, stem)
    q, qd, qdd = rr.random_state(2)
    values = WasmKernel(graph)(q, qd, qdd, np.array([load, *[0.0] * 9]), np.array(arm.gravity))
    held = arm.with_payload(load, frame="tool") if load else arm
    assert np.all(np.isfinite(values))
    for want in fa.inverse_dynamics(held, q, qd, qdd):
        assert np.abs(values - want).min() < 1e-12
