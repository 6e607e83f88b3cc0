"""The style sheet of all pictures, and how a picture becomes a file or inline SVG."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forearm.faults import Fault
from forearm.outside.libraries.optional_libraries import optional
from forearm.outside.output_files import replacing
from forearm.outside.signal_errors import pass_on_signals

INK, FAINT, PAPER = "#22313f", "#c9d1d9", "#ffffff"
COLORS = ("#16494f", "#c8553d", "#e0a33e", "#5b8e7d", "#7b2d26", "#8aa0b5", "#b07aa1", "#4b6c8f")
"""Line colours, dark and light in turn, so that neighbours differ in greyscale too."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (7, 1.5, 1.5, 1.5)),
    (0, (3, 1)),
    "-",
    "--",
    ":",
)
"""Line patterns that go with the colours."""

STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "text.color": INK,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "figure.constrained_layout.use": True,
}
"""matplotlib's settings for every picture here."""


class NoMatplotlib(Fault, ImportError):
    """matplotlib is not installed."""


def matplotlib() -> Any:
    """matplotlib, or one sentence on how to get it."""
    try:
        return optional("matplotlib")
    except ImportError:
        raise NoMatplotlib(
            "pictures need matplotlib, which is not installed; pip install 'forearm[plot]' brings it."
        ) from None
    except OSError as error:  # no HOME that it can write to, and no folder for what is temporary
        pass_on_signals()
        raise NoMatplotlib(
            "pictures need matplotlib, which wants a folder to write to and finds none "
            f"({' '.join(str(error).split())[:120]} …); set MPLCONFIGDIR to one."
        ) from None
    except ValueError as error:  # MPLBACKEND, which is looked at although nothing here has a window
        raise NoMatplotlib(
            f"pictures need matplotlib, which does not begin ({' '.join(str(error).split())[:80]} …); unset MPLBACKEND."
        ) from None


def load_apart() -> None:
    """Load matplotlib as if we stood elsewhere: a `matplotlibrc` of the folder where we stand may be a stranger's.

    Versions before 3.11 evaluate what it says of colours; it can name a preamble for LaTeX, which reads any file.
    """
    here = os.getcwd()
    os.chdir(Path(__file__).parent)
    try:
        matplotlib()
    finally:
        os.chdir(here)


@contextmanager
def styled(**more: Any) -> Iterator[None]:
    """Within this, pictures follow the style sheet and matplotlib's own defaults, whatever its files of settings say.

    Where somebody's settings hand all text to LaTeX, names from a file would be commands. `more`: further settings,
    their points as underscores.
    """
    plain = {key: value for key, value in matplotlib().rcParamsDefault.items() if key != "backend"}
    further = {key.replace("_", "."): value for key, value in more.items()}
    with matplotlib().rc_context({**plain, **STYLE, **further}):
        yield


def figure(width: float = 5.2, height: float = 3.4, **grid: Any) -> tuple[Any, Any]:
    """A figure of its own (no window, no global state) and its axes; `grid` as for matplotlib's subplots."""
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with styled():
        made = Figure(figsize=(width, height))
        FigureCanvasAgg(made)
        return made, made.subplots(**grid)


def check_place(path: str | Path) -> None:
    """Refuse a name of a picture that nothing can be written to, before anything is computed for it."""
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    target = Path(path)
    if target.suffix.lstrip(".").lower() not in FigureCanvasAgg.get_supported_filetypes():
        raise Fault(
            f"{target}: pictures are not written as {target.suffix or 'no suffix'!r}; give .png, .svg or .pdf."
        )
    _check_date(target)


DATED = (".svg", ".svgz", ".pdf", ".ps", ".eps")
"""Pictures that say when they were made."""


def _check_date(target: Path) -> None:
    """Refuse a date of reproducible builds that is none: matplotlib looks at it when all is drawn."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if not said or target.suffix.lower() not in DATED:
        return
    try:
        datetime.fromtimestamp(int(said), UTC)
    except (ValueError, OverflowError, OSError):
        raise Fault(
            f"{target}: the variable SOURCE_DATE_EPOCH is {said[:40]!r}, which is no time; give seconds since "
            "1970, or unset it."
        ) from None


def save(picture: Any, path: str | Path) -> Path:
    """Write a picture; the suffix says how (png, svg, pdf)."""
    target = Path(path)
    check_place(target)
    with styled(), replacing(target) as file:
        picture.savefig(file, format=target.suffix.lstrip(".").lower())
    return target


def svg(picture: Any, name: str) -> str:
    """The picture as an SVG element to stand in a page; `name` keeps its ids apart from other pictures'."""
    kept = io.StringIO()
    with styled(svg_hashsalt=name, savefig_facecolor="none"):
        picture.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    text = kept.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:href="#|href="#|url\(#)', rf"\1{name}-", text)
    return re.sub(
        r'(<svg[^>]*?) width="[^"]*"',
        r"\1",
        re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1),
        count=1,
    )
