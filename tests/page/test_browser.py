"""The live page in a browser: drag, slide, play, let go, load; its numbers are those of the library."""

import json

import numpy as np
import pytest

import forearm as fa
from browsers import chromium
from forearm.simulation import Quintic
from page.live_pages import opened, settle, until, value

pytestmark = pytest.mark.more
SIZES = [(360, "light"), (360, "dark"), (1400, "light"), (1400, "dark")]


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    arm = fa.load("panda")
    motion = Quintic(arm.configuration("ready"), arm.configuration("ready") + 0.3, 1.0)
    return fa.view(arm, motion).save(tmp_path_factory.mktemp("view") / "panda.html")


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_it_opens_in_silence(browser, file, width, scheme, tmp_path):
    heard = []
    page = opened(browser, file, width, scheme, heard)
    assert heard == [file.as_uri()], "one file, no message, nothing else asked for"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#scene").bounding_box()["height"] > 250
    assert page.locator("h1").inner_text() == "panda"
    assert page.screenshot(path=tmp_path / "view.png")[:4] == b"\x89PNG"
    painted = page.evaluate(
        """() => { forearmView.render(1); const { gl, canvas: c } = forearmView.stage.renderer;
        const all = new Uint8Array(4 * c.width * c.height);
        gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, all);
        let solid = 0; for (let k = 3; k < all.length; k += 4) solid += all[k] === 255;
        return solid / (all.length / 4); }"""
    )
    assert 0.01 < painted < 0.5, "an arm is drawn"
    page.close()


@pytest.mark.parametrize("width", [360, 1400])
def test_the_hand_follows_the_pointer(browser, file, width):
    page = opened(browser, file, width)
    page.locator("#scene").scroll_into_view_if_needed()
    before = page.evaluate("forearmView.places.tool")
    x, y = page.evaluate(
        """() => { const box = document.getElementById('scene').getBoundingClientRect();
        globalThis.place = (p) => { const m = forearmView.stage.camera.matrix(box.width / box.height);
          const h = [0, 1, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
          return [box.left + (h[0] / h[2] + 1) / 2 * box.width, box.top + (1 - h[1] / h[2]) / 2 * box.height]; };
        return place(forearmView.places.tool); }"""
    )
    page.mouse.move(x, y)
    page.mouse.down()
    aim = (x - 25, y - 35)
    for k in range(1, 6):
        page.mouse.move(x + (aim[0] - x) * k / 5, y + (aim[1] - y) * k / 5)
        settle(page)
    page.mouse.up()
    settle(page)
    tool = page.evaluate("forearmView.places.tool")
    assert np.linalg.norm(np.subtract(tool, before)) > 0.02
    there = page.evaluate("place(forearmView.places.tool)")
    away = (
        page.evaluate("forearmView.stage.camera.distance")
        * 0.64
        / page.locator("#scene").bounding_box()["height"]
    )
    assert np.hypot(there[0] - aim[0], there[1] - aim[1]) * away < 1e-3, "within a millimetre of the pointer"
    q = page.evaluate("forearmView.q")
    np.testing.assert_allclose(tool, fa.pose(fa.load("panda"), q)[:3, 3], atol=1e-12)
    page.close()


def test_moved_to_a_place_the_tool_is_there(browser, file):
    """The inverse kinematics of the page: a millimetre is far more than what it misses."""
    page = opened(browser, file)
    start = np.array(page.evaluate("forearmView.places.tool"))
    for shift in ([0.1, 0.1, -0.1], [-0.05, -0.2, 0.05], [0.05, 0.15, 0.1]):
        goal = (start + shift).tolist()
        page.evaluate(f"forearmView.reach({goal})")
        settle(page)
        assert np.linalg.norm(np.subtract(page.evaluate("forearmView.places.tool"), goal)) < 1e-4
    limits = [link.limits for link in fa.load("panda").links]
    assert all(
        low <= x <= high for x, (low, high) in zip(page.evaluate("forearmView.q"), limits, strict=True)
    )
    page.close()


def test_keys_move_the_hand_and_sliders_the_joints(browser, file):
    page = opened(browser, file)
    before = page.evaluate("forearmView.places.tool")
    page.locator("#scene").focus()
    page.keyboard.press("ArrowUp")
    settle(page)
    assert np.linalg.norm(np.subtract(page.evaluate("forearmView.places.tool"), before)) > 0.005
    page.locator("#q-3-number").fill("-1.5")
    settle(page)
    assert abs(page.evaluate("forearmView.q[3]") + 1.5) < 1e-9
    page.locator("#scene").focus()
    page.keyboard.press("l")
    assert page.locator("#let-go").get_attribute("aria-pressed") == "true"
    page.close()


def test_every_control_has_a_name(browser, file):
    page = opened(browser, file)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, canvas[tabindex]')].filter((e) =>
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    page.close()


def test_ten_states_by_numbers(browser, file):
    """Torques, terms, M, energies and the tool's place, read out of the page, beside those of the library."""
    page, arm = opened(browser, file), fa.load("panda")
    page.evaluate("document.getElementById('exact').open = true")
    q, qd, qdd = arm.random_state(11, (10,))
    for k in range(10):
        page.evaluate(
            """(state) => { state.forEach(([name, values]) => values.forEach((x, j) => {
              document.getElementById(`${name}-${j}-exact`).value = String(x); }));
              document.getElementById('q-0-exact').dispatchEvent(new Event('change')); forearmView.showNumbers(); }""",
            [["q", q[k].tolist()], ["qd", qd[k].tolist()], ["qdd", qdd[k].tolist()]],
        )
        tau = [value(page, f"tau-{j}") for j in range(7)]
        np.testing.assert_allclose(tau, fa.inverse_dynamics(arm, q[k], qd[k], qdd[k]), atol=1e-9, rtol=0)
        M = [[value(page, f"M-{i}-{j}") for j in range(7)] for i in range(7)]
        np.testing.assert_allclose(M, fa.mass_matrix(arm, q[k]), atol=1e-9)
        energy = fa.energy(arm, q[k], qd[k])
        assert abs(value(page, "kinetic") - energy.kinetic) < 1e-9
        assert abs(value(page, "potential") - energy.potential) < 1e-9
        np.testing.assert_allclose(value(page, "readout"), fa.pose(arm, q[k])[:3, 3], atol=1e-9)
        terms = fa.terms(arm, q[k], qd[k], qdd[k])
        for name in ("gravity", "inertial", "centrifugal", "coriolis"):
            shown = page.evaluate(
                f"[...document.querySelectorAll('[data-term={name}]')].map((e) => Number(e.dataset.value))"
            )
            np.testing.assert_allclose(shown, getattr(terms, name), atol=1e-9, err_msg=name)
    page.close()


def test_an_equation_has_the_value_of_its_file(browser, file):
    page, arm = opened(browser, file), fa.load("panda")
    page.locator("#equation-link").select_option("4")
    page.evaluate("forearmView.showSlowly()")
    shown = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.equation:not([hidden])')].map((e) => "
        "[e.querySelector('.tag').textContent, e.querySelector('output').dataset.value]))"
    )
    state = [np.array(page.evaluate(f"forearmView.{name}")) for name in ("q", "qd", "qdd")]
    force, moment = fa.FORMULATIONS["luh_walker_paul_1980"].reactions(arm.without_drives(), *state)
    np.testing.assert_allclose(json.loads(shown["(NE7)"]), force[3], atol=1e-9)
    np.testing.assert_allclose(json.loads(shown["(NE8)"]), moment[3], atol=1e-9)
    page.close()


def test_a_load_changes_the_torques(browser, file):
    page, arm = opened(browser, file), fa.load("panda")
    page.locator("#payload-number").fill("2.5")
    page.locator("#payload-z-number").fill("0.1")
    until(page, "!forearmView.stale")
    loaded = arm.with_payload(2.5, (0.0, 0.0, 0.1), frame="tool")
    q = np.array(page.evaluate("forearmView.q"))
    tau = [value(page, f"tau-{j}") for j in range(7)]
    np.testing.assert_allclose(tau, fa.gravity_torque(loaded, q), atol=1e-9)
    page.locator("#tilt-number").fill("90")
    until(page, "!forearmView.stale")
    wall = loaded.replace(gravity=(9.81 if arm.gravity[2] == -9.81 else -arm.gravity[2], 0.0, 0.0))
    tau = [value(page, f"tau-{j}") for j in range(7)]
    np.testing.assert_allclose(tau, fa.gravity_torque(wall, q), atol=1e-9)
    page.close()


def test_playing_and_scrubbing(browser, file):
    page, arm = opened(browser, file), fa.load("panda")
    page.locator("#play").click()
    until(page, "forearmView.time > 0.1")
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "▶ play"
    page.evaluate(
        "const s = document.getElementById('scrub'); s.value = 0.5; s.dispatchEvent(new Event('input'))"
    )
    motion = Quintic(arm.configuration("ready"), arm.configuration("ready") + 0.3, 1.0)
    want = motion(0.5)
    for name, values in zip(("q", "qd", "qdd"), want, strict=True):
        np.testing.assert_allclose(page.evaluate(f"forearmView.{name}"), values, atol=1e-9)
    until(page, "document.querySelector('.cursor').style.left === '50%'")
    page.close()


def test_let_go_for_ten_seconds(browser, file):
    """Runge-Kutta in the page, no friction: energy drifts by less than a millionth of what it moves."""
    page = opened(browser, file)
    page.locator("#let-go").click()
    page.evaluate("for (let k = 0; k < 200; k++) forearmView.simulate(0.05); forearmView.showNumbers()")
    assert page.evaluate("forearmView.ledger.time") >= 10
    assert value(page, "relative-drift") <= 1e-6
    assert page.evaluate("forearmView.ledger.largest") > 1
    page.close()


def test_a_wrong_load_makes_computed_torque_err(browser, file):
    page = opened(browser, file)
    errors = {}
    page.locator("#payload-number").fill("2")
    for believed in ("0", "2"):
        page.locator("#believed-number").fill(believed)
        page.locator("#follow").click()
        page.evaluate("for (let k = 0; k < 20; k++) forearmView.simulate(0.05); forearmView.showNumbers()")
        errors[believed] = value(page, "error")
        page.evaluate("forearmView.setMode('still')")
    assert errors["2"] < 1e-3 < 0.01 < errors["0"]
    page.close()


def test_keys_of_the_browser_stay_the_browsers(browser, file):
    page = opened(browser, file)
    page.locator("#scene").focus()
    page.keyboard.press("Control+l")
    assert page.evaluate("forearmView.mode") == "still"
    page.keyboard.press("l")
    assert page.evaluate("forearmView.mode") == "fall"
    page.close()


def test_bars_come_back_after_an_angle_without_a_sine(browser, file):
    """Beyond 1e5 rad there are no torques; the next state has its bars again."""
    page = opened(browser, file)
    before = page.evaluate("document.querySelector('#torques .sum').style.left")
    page.evaluate(
        "const still = forearmView.model.still; forearmView.before = forearmView.q;"
        "forearmView.take({ q: still.map(() => 1e7), qd: still, qdd: still }); forearmView.showNumbers()"
    )
    assert page.locator("#tau-1").inner_text() == "– N m"
    page.evaluate(
        "const none = forearmView.model.still;"
        "forearmView.take({ q: none.map(() => 1), qd: none, qdd: none }); forearmView.showNumbers()"
    )
    widths = page.evaluate(
        "[...document.querySelectorAll('#torques [data-term=gravity]')].map((e) => e.style.width)"
    )
    assert before.endswith("%")
    assert float(widths[1][:-1]) > 1, "gravity's bar of the second joint"
    page.close()


def test_a_simulation_that_ran_away_says_so(browser, file):
    page = opened(browser, file)
    page.locator("#let-go").click()
    page.evaluate("forearmView.qd = forearmView.qd.map(() => 1e6); forearmView.simulate(0.001)")
    page.evaluate("forearmView.showSlowly()")
    assert "ran away" in page.locator("#readout").inner_text()
    page.locator("#play").click()
    until(page, "document.getElementById('readout').textContent.startsWith('tool')")
    page.close()


def test_the_mass_matrix_of_a_small_arm_has_digits(browser, file):
    page = opened(browser, file)
    page.evaluate("forearmView.map.show(forearmView.now.M.map((row) => row.map((x) => x / 500)))")
    shown = float(page.locator("#M-1-1").inner_text())
    assert value(page, "M-1-1") == pytest.approx(1e-3 * shown, abs=5e-7)
    assert "× 1e−3" in page.locator(".mass caption").inner_text()
    page.close()


def test_the_hand_is_seen_where_it_is_inside_a_joint(browser, tmp_path):
    """Its tool lies on the axis of a joint, whose capsule is no smaller than the hand used to be."""
    page = opened(browser, fa.view(fa.load("cobra600")).save(tmp_path / "view.html"))
    golden = page.evaluate(
        """() => { forearmView.render(1); const { gl, canvas } = forearmView.stage.renderer;
        const all = new Uint8Array(4 * canvas.width * canvas.height);
        gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, all);
        let gold = 0;
        for (let k = 0; k < all.length; k += 4) gold += all[k] > 1.25 * all[k + 1] && all[k + 1] > 2 * all[k + 2];
        return gold; }"""
    )
    assert golden > 300
    page.close()


@pytest.mark.parametrize("name", fa.known_arms())
def test_every_arm_has_its_page(browser, name, tmp_path):
    heard = []
    view = fa.view(fa.load(name))
    assert len(view.html.encode()) <= 300_000
    page = opened(browser, view.save(tmp_path / f"{name}.html"), 360, "light", heard)
    assert len(heard) == 1, heard
    page.close()
