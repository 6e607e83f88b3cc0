"""The arm in one file: a page that computes and draws it in the browser, without a server and without a network.

The page holds its own JavaScript (page/js), the arm's kernels as WebAssembly, and its data as text. Its
Content-Security-Policy lets nothing else run, and nothing leave.
"""

import base64
import hashlib
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from forearm import __version__, kinematics
from forearm.arm import Arm
from forearm.compiler.wasm.module_files import interface, joint_module, loader_source
from forearm.faults import StateFault, explained, needs_arm, needs_chain, state
from forearm.formulations import FORMULATIONS
from forearm.motion.motions import Samples
from forearm.outside import escapes
from forearm.outside.output_files import write_text
from forearm.page.document import MARK
from forearm.page.equation_values import LARGEST, EquationValue, equation_values
from forearm.page.played_rows import AnyMotion, played
from forearm.page.view_kernels import view_graphs, view_rollouts
from forearm.plots import good_view

LOG = logging.getLogger("forearm")

SCRIPTS = (
    "linear", "elements", "charts", "model", "renderer", "scene", "stage", "panels", "hand", "controls", "app"
)  # fmt: skip
"""Files of page/js, in an order in which each uses those before it."""
PAPERS = ("luh_walker_paul_1980", "hollerbach_1980_3x3")
"""Formulations whose equations a page shows unless told otherwise: Newton's way and Lagrange's."""
MOST_JOINTS = 12
"""An arm with more joints needs more code than a page should hold."""


@dataclass(frozen=True)
class View:
    """A page that shows an arm."""

    name: str
    """The arm's name."""
    html: str
    """The page."""
    notes: tuple[str, ...] = ()
    """What it does not show of a long motion; the page says it, too."""

    @explained
    def save(self, path: str | Path) -> Path:
        """Write the page; gives the path."""
        return write_text(path, self.html)

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        return frame_of(self)

    def __repr__(self) -> str:
        """Name and size."""
        return f"<View of {self.name}: {len(self.html.encode()) / 1000:.0f} kB of HTML>"


class Shown(Protocol):
    """Something with a page."""

    @property
    def name(self) -> str:
        """What it shows."""

    @property
    def html(self) -> str:
        """The page."""


def frame_of(shown: Shown, height: int = 760) -> str:
    """The page as a frame inside another page."""
    inside = shown.html.replace("&", "&amp;").replace('"', "&quot;")
    style = f"width:100%;height:{height}px;border:0;border-radius:12px"
    return f'<iframe title="{escapes.html(shown.name)}, live" style="{style}" srcdoc="{inside}"></iframe>'


@explained
def view(
    arm: Arm,
    motion: AnyMotion | None = None,
    *,
    q: npt.ArrayLike | None = None,
    formulations: str | Sequence[str] = PAPERS,
) -> View:
    """A page that shows an arm alive: drag its hand, see every torque by its terms, let it go.

    Args:
        arm: The arm.
        motion: A motion to play: a Motion, Samples, what `read_motion` gives, or the path of a motion file.
        q: Positions (n,) to begin with; a good view otherwise, or the motion's first.
        formulations: Papers whose equations are shown with the values of the present state.

    Returns:
        The page; `view.save("arm.html")`, or let a notebook show it.
    """
    needs_arm(arm)
    needs_chain(arm, "view")
    if arm.n > MOST_JOINTS:
        raise StateFault(
            f"view: arm {arm.name!r} has {arm.n} joints; pages show up to {MOST_JOINTS}. Use forearm show --plot."
        )
    formulations = (formulations,) if isinstance(formulations, str) else formulations
    for stem in formulations:
        if stem not in FORMULATIONS:
            raise StateFault(f"view: no formulation {stem!r}; there are {', '.join(FORMULATIONS)}.")
    samples, notes = (None, ()) if motion is None else played(arm, motion)
    shown = good_view(arm) if samples is None else samples.q[0]
    start = _start(arm, shown if q is None else q)
    graphs, rollouts = view_graphs(arm), view_rollouts(arm)
    papers: list[dict[str, Any]] = []
    for stem in formulations if arm.dynamics else ():
        found = equation_values(arm, stem)
        if found is None:
            LOG.warning("view: the equations of %s are not in the page: %s", stem, _too_much(arm, stem))
            continue
        kernel = f"paper_{len(papers)}"
        graphs[kernel] = found[0]
        papers.append(_paper(stem, kernel, *found))
    data = _description(arm, start) | {
        "papers": papers,
        "interface": interface(graphs, rollouts),
        "module": base64.b64encode(joint_module(graphs, rollouts)).decode("ascii"),
        "motion": _packed(_aside(arm, start) if samples is None else samples),
    }
    return View(arm.name, _document(arm, data, notes), notes)


def _too_much(arm: Arm, stem: str) -> str:
    if not FORMULATIONS[stem].accepts(arm):
        return f"it is for revolute joints, and arm {arm.name!r} has others."
    return f"they take more than {LARGEST} operations for arm {arm.name!r}."


def _start(arm: Arm, q: Any) -> Any:
    """Positions as numbers (n,); refuses what is not that."""
    start = state(arm, "view: q", q)
    if start.shape != (arm.n,) or start.dtype == object or not np.all(np.isfinite(start)):
        raise StateFault(
            f"view: q has shape {start.shape}; arm {arm.name!r} takes ({arm.n},) finite numbers."
        )
    return start


def _aside(arm: Arm, start: Any) -> Samples:
    """From rest to rest, some way off: two rows, and the page's polynomial between them."""
    size = _extent(arm, start)["size"]
    steps = [(0.8, -0.8)[j % 2] if link.revolute else 0.1 * size for j, link in enumerate(arm.links)]
    low, high = np.array([link.limits or (-np.inf, np.inf) for link in arm.links]).T
    q = np.array([start, np.clip(start + steps, low, high)])
    return Samples(np.array([0.0, 2.0]), q, np.zeros_like(q), np.zeros_like(q))


def _packed(samples: Samples) -> str:
    rows = np.column_stack([samples.t, samples.q, samples.qd, samples.qdd]).astype("<f8")
    return base64.b64encode(np.ascontiguousarray(rows).tobytes()).decode("ascii")


def _description(arm: Arm, start: Any) -> dict[str, Any]:
    joints = [
        {
            "name": link.name,
            "kind": "R" if link.revolute else "P",
            "limits": _ends(link.limits),
            "speed": _size(link.speed_limit),
            "effort": _size(link.effort_limit),
            "rotor": float(link.drive.reflected_inertia),
        }
        for link in arm.links
    ]
    frictional = any(link.drive.viscous or any(link.drive.coulomb) for link in arm.links)
    rotors = any(joint["rotor"] for joint in joints)
    terms = (
        ["gravity", "inertial", "centrifugal", "coriolis"] + rotors * ["rotor"] + frictional * ["friction"]
    )
    return {
        "name": arm.name,
        "joints": joints,
        "bodies": [_body(arm, link) for link in arm.links],
        "configurations": {name: list(map(float, q)) for name, q in arm.configurations},
        "q": start.tolist(),
        "gravity": [float(x) for x in arm.gravity],
        "mass": float(arm.total_mass) if arm.dynamics else 0.0,
        "dynamics": bool(arm.dynamics),
        "frictional": frictional,
        "terms": terms,
        **_extent(arm, start),
    }


def _subtitle(arm: Arm) -> str:
    title = dict(arm.provenance).get("title", "")
    mass = f"{_plain(arm.total_mass)} kg" if arm.dynamics else "kinematics only: its source gives no masses"
    return f"{title}{'. ' if title else ''}{arm.n} joint{'s' * (arm.n > 1)}, {mass}"


def _plain(x: float) -> str:
    """Three digits that count, without powers of ten where people write none."""
    return f"{float(f'{x:.3g}'):,.0f}" if 1e3 <= x < 1e9 else f"{x:.3g}"


def _extent(arm: Arm, start: Any) -> dict[str, Any]:
    """How long the chain is [m] and how thick it is drawn, what is seen at first, what is up, where the floor is."""
    frames = [*kinematics.link_poses(arm, start), kinematics.frame_pose(arm, start, "tool")]
    points = np.array([p for _, p in frames], dtype=float)
    spans = np.linalg.norm(np.diff(points, axis=0), axis=1)
    size = float(spans.sum()) or 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    axes = upright(arm.gravity)
    first = np.asarray(frames[0][0], dtype=float)[:, 2]
    return {
        "size": size,
        "thickness": 0.034 * min(size, 5 * float(spans[spans > 0.01 * size].mean() if spans.any() else size)),
        "seen": float(np.clip(1.05 * np.linalg.norm(high - low), 0.4 * size, 0.75 * size)),
        "middle": ((low + high) / 2).tolist(),
        "axes": axes.tolist(),
        "foot": [
            *(axes[:2] @ points[0]).tolist(),
            _floor(axes[2] @ points.T, size, abs(float(axes[2] @ first))),
        ],
    }


def upright(gravity: Any) -> Any:
    """Axes (3, 3) of what is drawn: two along the floor, and the one that things fall against."""
    g = np.asarray(gravity, dtype=float)
    g = g / (np.abs(g).max() or 1.0)  # squares of next to nothing are nothing
    x, y, z = -g / np.linalg.norm(g) if np.any(g) else (0.0, 0.0, 1.0)
    if z < -1 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    # the shortest turn from z to it; its rows are where x, y and z come to lie
    return np.array(
        [[1 - x * x / (1 + z), -x * y / (1 + z), -x], [-x * y / (1 + z), 1 - y * y / (1 + z), -y], [x, y, z]]
    )


def _floor(heights: Any, size: float, upward: float) -> float:
    """The world's floor where it is near below the base; else under an arm that stands, or out of its reach."""
    base = float(heights[0])
    stands = upward > 0.5
    near = (0.0 if stands else 0.5 * size) <= base <= 1.5 * size
    floor = 0.0 if near else base if stands else base - size
    return float(min(floor, heights.min()))


def _ends(limits: Any) -> list[float | None]:
    """The least and the greatest position, None where there is none."""
    return [float(x) if np.isfinite(x) else None for x in limits or (-np.inf, np.inf)]


def _size(limit: float | None) -> float | None:
    return limit if limit is not None and np.isfinite(limit) else None


def _body(arm: Arm, link: Any) -> dict[str, Any] | None:
    """The solid ellipsoid that has the link's mass and inertia: its axes in the link's frame, and its centre."""
    if not arm.dynamics or not float(link.about_com.mass) > 0:
        return None
    mass, center, tensor = link.about_com
    moments, turn = np.linalg.eigh(np.asarray(tensor, dtype=float))
    with np.errstate(over="ignore"):
        squares = 2.5 * (moments.sum() - 2 * moments) / float(mass)
    if not np.all(np.isfinite(squares)):
        return None  # a mass next to nothing: no size goes with it
    axes = (turn * np.sqrt(np.clip(squares, max(1e-4 * float(squares.max()), 1e-12), None))).T
    return {"mass": float(mass), "center": [float(x) for x in center], "axes": axes.round(9).tolist()}


def _paper(stem: str, kernel: str, graph: Any, values: list[EquationValue]) -> dict[str, Any]:
    """A formulation's statements, each once, and the rows of values that belong to them."""
    statements: list[list[str]] = []
    rows = []
    for value in values:
        text = [value.tag, value.line]
        if text not in statements:
            statements.append(text)
        rows.append([statements.index(text), value.name, value.link, value.first, list(value.shape)])
    return {
        "stem": stem,
        "paper": FORMULATIONS[stem].paper,
        "operations": f"{graph.counts.operations} operations for all values",
        "kernel": kernel,
        "statements": statements,
        "rows": rows,
    }


# -- the document --------------------------------------------------------------------------------------------


def _document(arm: Arm, data: dict[str, Any], notes: Sequence[str]) -> str:
    folder = resources.files("forearm") / "page"
    style, body = ((folder / name).read_text(encoding="utf-8") for name in ("view.css", "view.html"))
    credit = f"Made by forearm {__version__}. Everything on this page is computed in it, in WebAssembly."
    said = "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
    words = {"name": arm.name, "subtitle": _subtitle(arm), "credit": credit, "notes": said}
    body = Template(body).substitute({key: escapes.html(text) for key, text in words.items()})
    script = _script()
    # in a script element only `<` could end the data or open a comment
    content = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )
    policy = (
        f"default-src 'none'; script-src {_hash(script)} 'wasm-unsafe-eval'; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>{MARK}"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>"
        f"<title>{escapes.html(arm.name)}, live</title><style>{style}</style></head><body>\n{body}"
        f"<script type='application/json' id='data'>{content}</script><script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _script() -> str:
    """The page's JavaScript as one script: its modules one after the other, without imports and exports."""
    folder = resources.files("forearm") / "page" / "js"
    texts = [loader_source(), *((folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)]
    joined = re.sub(r"^(import [^;]*;|export \{[^}]*\};)\n", "", "\n".join(texts), flags=re.MULTILINE)
    joined = re.sub(r"^export ", "", joined, flags=re.MULTILINE)
    joined = re.sub(
        r"/\*\*.*?\*/\n?", "", joined, flags=re.DOTALL
    )  # types are for those who read the sources
    lines = (line.strip() for line in joined.split("\n"))
    return '"use strict";\n(() => {\n' + "\n".join(line for line in lines if line) + "\nstart();\n})();\n"
