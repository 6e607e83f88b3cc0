"""A real browser for the pages, and what it hears."""

import os
from contextlib import contextmanager

import pytest

FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
OF_THE_DRIVER = "GL Driver Message (OpenGL, Performance"
"""What the browser says of itself where it draws in software: no word of the page's."""


@contextmanager
def chromium():
    """Chromium, drawing in software; skips where there is none."""
    api = pytest.importorskip("playwright.sync_api")
    found = next(filter(os.path.exists, ("/usr/bin/chromium", "/usr/bin/chromium-browser")), None)
    if found is None:
        pytest.skip("no chromium on this machine; tests/install_debian_packages.sh brings it")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def listen(page, heard):
    """Note what the page says, throws and asks for."""
    page.on("console", lambda said: OF_THE_DRIVER in said.text or heard.append(said.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
