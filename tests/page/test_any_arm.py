"""The live page of arms that nobody chose: small, large, flat, far away, with long names; and of other senses."""

import numpy as np
import pytest

import forearm as fa
from browsers import chromium
from page.live_pages import opened, settle, until, value

pytestmark = pytest.mark.more
ON_SCREEN = """() => { const { places, stage } = forearmView, box = stage.renderer.canvas.getBoundingClientRect();
    const m = stage.camera.matrix(box.width / box.height), p = places.tool;
    const [x, y, w] = [0, 1, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
    return [box.left + (x / w + 1) / 2 * box.width, box.top + (1 - y / w) / 2 * box.height]; }"""
"""Where the hand is, in pixels."""
LONG = "a_very_long_joint_name_that_somebody_wrote_in_the_file_of_a_vendor_"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def snake(n, length, mass, name="snake", stem="joint"):
    """Equal links, each turned by a right angle."""
    inertia = fa.Inertia.about_com(mass * length**2 * np.diag([0.02, 1 / 12, 1 / 12]))
    body = {"mass": mass, "com": (-length / 2, 0.0, 0.0), "inertia": inertia}
    turns = [np.pi / 2 if k % 2 else -np.pi / 2 for k in range(n)]
    links = [
        fa.Link.dh("revolute", a=length, alpha=turn, d=0.0, theta=0.0, name=f"{stem}{k + 1}", **body)
        for k, turn in enumerate(turns)
    ]
    return fa.Arm(name, links=links)


def shown(browser, arm, folder, **how):
    return opened(browser, fa.view(arm, formulations=()).save(folder / "arm.html"), **how)


@pytest.mark.parametrize("name", ["rr", "planar_3r"])
def test_the_hand_of_an_arm_in_a_plane_stays_under_the_pointer(browser, name, tmp_path):
    """It cannot go where the pointer is in the plane that faces the eye, but to where both look the same."""
    page = shown(browser, fa.load(name), tmp_path)
    x, y = page.evaluate(ON_SCREEN)
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 6):
        page.mouse.move(x - 8 * k, y + 6 * k)
        settle(page)
    page.mouse.up()
    settle(page)
    there = page.evaluate(ON_SCREEN)
    pixel = page.evaluate(
        "2 * forearmView.stage.camera.distance * Math.tan(0.31) / forearmView.stage.renderer.canvas.clientHeight"
    )
    assert pixel * np.hypot(there[0] - x + 40, there[1] - y - 30) < 1e-3, "within a millimetre"
    page.close()


def test_gravity_tilts_from_where_the_arms_own_points(browser, tmp_path):
    """The double arm of the notes hangs along -y: a degree of tilt is a degree, not a jump to -z."""
    arm = fa.load("rr")
    page = shown(browser, arm, tmp_path)
    page.locator("#tilt-number").fill("1")
    until(page, "!forearmView.stale")
    down = np.array(page.evaluate("forearmView.model.gravity"))
    own = np.array(arm.gravity)
    assert np.degrees(np.arccos(down @ own / np.linalg.norm(down) / np.linalg.norm(own))) == pytest.approx(1)
    q = np.array(page.evaluate("forearmView.q"))
    want = fa.gravity_torque(arm.replace(gravity=tuple(down)), q)
    np.testing.assert_allclose([value(page, f"tau-{j}") for j in range(2)], want, atol=1e-9)
    page.close()


@pytest.mark.parametrize(("length", "mass", "unit"), [(0.004, 2e-4, "µN m"), (60.0, 4e5, "GN m")])
def test_numbers_of_small_and_large_arms_have_digits(browser, length, mass, unit, tmp_path):
    page = shown(browser, snake(4, length, mass), tmp_path)
    number, _, told = page.locator("#tau-1").inner_text().partition(" ")
    power = {"µN m": 1e-6, "GN m": 1e9}[told]
    assert told == unit
    assert float(number.replace("−", "-")) * power == pytest.approx(value(page, "tau-1"), rel=0.01)
    tool = page.locator("#readout").inner_text().replace("−", "-").removeprefix("tool ").removesuffix(" m")
    np.testing.assert_allclose(
        np.array(tool.split(", "), dtype=float), value(page, "readout"), atol=0.02 * length
    )
    most = float(page.locator("#payload").get_attribute("max"))
    assert most == pytest.approx(mass, rel=0.1), "a quarter of the arm, not a kilogram"
    page.close()


def test_long_names_fit_a_phone(browser, tmp_path):
    arm = snake(3, 0.3, 1.0, name=2 * LONG, stem=LONG)
    page = opened(browser, fa.view(arm).save(tmp_path / "arm.html"), 360)
    page.evaluate("document.getElementById('exact').open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    return fa.view(fa.load("panda")).save(tmp_path_factory.mktemp("panda") / "panda.html")


def test_on_a_phone_no_number_is_cut_and_sliders_are_wide(browser, panda):
    page = opened(browser, panda, 360)
    cut = page.evaluate(
        "[...document.querySelectorAll('.mass td')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.id)"
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for what in ("#q-0", "#payload", "#torques .track"):
        assert page.locator(what).first.bounding_box()["width"] > 200, what
    page.close()


def test_a_voice_reads_out_what_rests_alone(browser, panda):
    """Sixty numbers a second would drown everything else: they are silent; a place of rest is told once."""
    page = opened(browser, panda)
    loud = page.evaluate(
        "[...document.querySelectorAll('output, [aria-live]')].filter((e) => e.ariaLive !== 'off').map((e) => e.id)"
    )
    assert loud == []
    assert page.locator("[role=status]").count() == 1
    assert page.locator("#said").inner_text() == page.locator("#readout").inner_text() != ""
    told = page.locator("#said").inner_text()
    page.locator("#play").click()
    until(page, "forearmView.time > 0.3")
    assert page.evaluate("document.getElementById('readout').textContent") != told
    assert page.evaluate("document.getElementById('said').textContent") == told
    page.close()


def test_a_lost_drawing_comes_back(browser, panda):
    page = opened(browser, panda)
    count = """() => { forearmView.render(1); const { gl, canvas: c } = forearmView.stage.renderer;
        const all = new Uint8Array(4 * c.width * c.height);
        gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, all);
        return all.reduce((sum, x, k) => sum + (k % 4 === 3 && x === 255), 0); }"""
    before = page.evaluate(count)
    page.evaluate(
        "globalThis.lost = forearmView.stage.renderer.gl.getExtension('WEBGL_lose_context'); lost.loseContext()"
    )
    until(page, "forearmView.stage.renderer.gl.isContextLost()")
    page.evaluate("globalThis.first = forearmView.stage.renderer; lost.restoreContext()")
    until(page, "forearmView.stage.renderer && forearmView.stage.renderer !== first")
    assert page.evaluate(count) == before > 1000
    page.close()


def test_paper_is_white_and_nothing_on_it_is_cut(browser, panda):
    page = opened(browser, panda, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(equations)") <= 1
    page.close()


def test_a_browser_without_webgl_says_so(browser, panda):
    page = browser.new_page()
    page.add_init_script(
        "const has = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        "function (kind, how) { return kind === 'webgl2' ? null : has.call(this, kind, how); }"
    )
    page.goto(panda.as_uri())
    until(page, "document.getElementById('readout').textContent.startsWith('This browser')")
    told = page.locator("#readout").inner_text()
    assert told == "This browser cannot show the arm: This browser has no WebGL 2."
    assert value(page, "tau-1") != 0, "numbers of the first state are there"
    page.close()
