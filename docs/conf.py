"""The documentation site: sphinx, furo, MyST. `make docs` builds it, warnings are errors."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import live_views  # noqa: E402

import forearm  # noqa: E402

(HERE / "_build" / "extra").mkdir(parents=True, exist_ok=True)

project = "forearm"
author = "The forearm authors"
release = version = forearm.__version__
extensions = ["myst_parser", "mathml"]
html_math_renderer = "mathml"
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"

html_theme = "furo"
html_title = "forearm"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#16494f", "color-brand-content": "#16494f"},
    "dark_css_variables": {"color-brand-primary": "#8fd0c9", "color-brand-content": "#8fd0c9"},
}
html_show_sphinx = False
html_show_copyright = False
html_extra_path = [str(HERE / "_build" / "extra")]
VIEWS = HERE / "_build" / "extra" / "views"
"""Where the live arms of the pages are written: static files like the rest."""


def write_live_arms(app):
    """The live arms are made before the pages that show them."""
    live_views.write_views(VIEWS)


def add_live_arm(app, name, source):
    """The page of a paper ends with an arm that its equations move."""
    folder, _, stem = name.rpartition("/")
    if folder == "papers":
        source[0] += live_views.live_section(stem)


def setup(app):
    """What is done before the site is built, and before each page is read."""
    app.connect("builder-inited", write_live_arms)
    app.connect("source-read", add_live_arm)
