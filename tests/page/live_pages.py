"""A live page in a browser: opened, waited for, read."""

import time

from browsers import listen


def opened(browser, file, width=1400, scheme="light", heard=None):
    """The page, ready; what it says and asks for is noted."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    if heard is not None:
        listen(page, heard)
    page.goto(file.as_uri())
    until(page, "globalThis.forearmView && forearmView.drawn > 1")
    return page


def until(page, condition):
    """Wait for something; the page's policy lets no waiting script in."""
    end = time.monotonic() + 120
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def settle(page):
    """Let the arm come to where the hand is: as many frames as that takes."""
    page.evaluate(
        "for (let k = 0; k < 400 && forearmView.mode === 'hand'; k++) forearmView.come(0.02); forearmView.showSlowly()"
    )


def value(page, name):
    return page.evaluate(f"JSON.parse(document.getElementById('{name}').dataset.value)")
