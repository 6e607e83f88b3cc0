"""Photograph the demo's report for README.md: docs/figures/report.png (Playwright, and Debian's chromium).

forearm demo --out out && python docs/shoot_report.py out/report.html
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PICTURE = Path(__file__).parent / "figures" / "report.png"


def shoot(report: Path) -> None:
    """The top of the page, as wide as a laptop."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1010})
        page.goto(report.resolve().as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]))
