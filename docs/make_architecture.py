"""Write docs/architecture.md and docs/figures/architecture.svg: the house on one page.

    python docs/make_architecture.py

The order of the rows is LAYERS and ROOMS of tests/house/test_layering.py, which every import obeys; what a room says of
itself is the first sentence of its docstring; what it uses is what it imports. Only WAYS is written by hand, and a test
looks each of its functions up.
"""

import ast
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOME = ROOT / "src" / "forearm"
PAGE = ROOT / "docs" / "architecture.md"
FIGURE = ROOT / "docs" / "figures" / "architecture.svg"

WAYS = {
    "a torque": [
        ("puma560.toml", "readers.load"),
        ("Arm", "dynamics.inverse_dynamics"),
        ("arm and arrays", "arm_calls.arm_call"),
        ("arm and quantity", "compiler.pipeline.compile"),
        ("arm and quantity", "compiler.model.choice.best_graph"),
        ("the choice of a paper", "formulations.FORMULATIONS"),
        ("its function of one state", "compiler.graph.trace.trace"),
        ("Graph", "compiler.graph.passes.simplify"),
        ("Graph, fewer operations", "compiler.llvm.batches.batch_program"),
        ("LLVM's text", "compiler.llvm.jit.load_program"),
        ("machine code", "compiler.call.processor.ProcessorKernel"),
        ("torques", ""),
    ],
    "a simulation": [
        ("Arm, law, q0", "simulation.run.simulate"),
        ("arguments, checked", "simulation.request.make_request"),
        ("Request: what to step, with what", "simulation.plant.rates_graph"),
        ("Graph of qdd, the law traced into it", "compiler.llvm.rollout_steps.rollout_program"),
        ("LLVM's text, steps inside", "compiler.call.rollout.Rollout"),
        ("states along the motion", "simulation.outcomes.outcomes_of"),
        ("Record, with an Outcome for each motion", ""),
    ],
    "a count": [
        ("a formulation's stem, n", "counting.meter.tallies.count"),
        ("a generic arm", "counting.meter.counted_arm.run_counted"),
        ("counted scalars", "formulations.FORMULATIONS"),
        ("Count, line by line", "counting.costs.polynomials.polynomial"),
        ("150n - 39 | 122n - 42", "counting.published_tables.verdicts.published"),
        ("beside the printed number", ""),
    ],
    "a closed form": [
        ("Arm", "derivation.symbols.symbolic"),
        ("Arm with letters", "derivation.arm_derivation.derive"),
        ("exact polynomials", "formulations.FORMULATIONS"),
        ("Equations", "derivation.expressions.formula_text.text_of"),
        ("text, LaTeX, SymPy, code", ""),
    ],
    "a proof": [
        ("Arm, and the file it came from", "verification.proof.examination.verify"),
        ("source numbers", "verification.proof.oracle.spatial_torques"),
        ("a second opinion that shares no code", "formulations.FORMULATIONS"),
        ("every paper's torques", "verification.proof.agreement.distances"),
        ("agreement", "verification.proof.mechanical_laws.MechanicalLaw"),
        ("laws of mechanics", "verification.proof.examination_report.Verification"),
        ("PASS or FAIL, check by check", ""),
    ],
}
"""A datum -> what it is between two arrows, and the function (module.name) that is the arrow."""

BESIDE = {
    "a torque": (
        "Chains of more than 30 joints leave at 4: `compiler.model.chains.long_chains` makes loops of them. Robots "
        "with branches pass through `compiler.model.trees.tree_model` at 6. On a GPU, or with `target=`, the last "
        "arrows are those of `compiler.llvm.ptx` and `compiler.cuda`, or of `compiler.wasm`."
    ),
    "a simulation": (
        "On a GPU 4 and 5 are `compiler.llvm.ptx.ptx_rollout` and `compiler.cuda.gpu_rollout` (for NumPy's arrays "
        "`compiler.cuda.host_rollout`), in a page `compiler.wasm.wasm_rollout`. What a step is, "
        "`compiler.graph.step_rules`, is the same for all."
    ),
}
"""What leaves a way, and where to."""

COLORS = {  # light, dark
    "a torque": ("#b3400e", "#f08a4b"),
    "a simulation": ("#0b6e4f", "#4cc38a"),
    "a count": ("#1d4ed8", "#7aa2ff"),
    "a closed form": ("#7c3aed", "#b794ff"),
    "a proof": ("#a3195b", "#f472b6"),
}


PAPERS = ("formulations", "counting.as_counted")
"""Folders with one file for each paper or table."""


# -- what is there -----------------------------------------------------------------------------------------


def order() -> tuple[list[tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """LAYERS and ROOMS, as the test of the imports has them; names that are not there left out."""
    text = (ROOT / "tests" / "house" / "test_layering.py").read_text(encoding="utf-8")
    tables = {
        node.targets[0].id: ast.literal_eval(node.value)  # type: ignore[attr-defined]
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("LAYERS", "ROOMS")
    }
    layers = [tuple(name for name in row if source(name)) for row in tables["LAYERS"]]
    return [row for row in layers if row], tables["ROOMS"]


def source(name: str) -> Path | None:
    """The file of a module (dots for rooms), its __init__ for a package."""
    base = HOME.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.exists():
            return path
    return None


def inside(name: str) -> list[str]:
    """The modules and rooms in a package, by name; of a module, none. The papers' files are listed elsewhere."""
    folder = HOME.joinpath(*name.split("."))
    if not folder.is_dir() or name in PAPERS:
        return []
    return sorted(
        path.stem for path in folder.iterdir() if source(f"{name}.{path.stem}") and path.stem[0] != "_"
    )


def sentence(name: str) -> str:
    """The first sentence of a module's docstring."""
    path = source(name)
    assert path is not None, name
    first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(first.split())


def used_by(name: str) -> set[str]:
    """Modules of the first level that a module imports, inside functions too."""
    base = HOME / name
    files = base.rglob("*.py") if base.is_dir() else [base.with_suffix(".py")]
    found = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("forearm."):
                found.add((node.module or "").split(".")[1])
            elif isinstance(node, ast.ImportFrom) and node.module == "forearm":
                found |= {alias.name for alias in node.names if source(alias.name)}
    return found - {name}


def rows() -> list[tuple[str, ...]]:
    """The rows of the drawing from the ground up; a package with rooms has a row for each of them."""
    layers, rooms = order()
    drawn: list[tuple[str, ...]] = []
    for row in layers:
        within = [f"{name}.{room}" for name in row for room in rooms.get(name, ())]
        plain = tuple(name for name in row if name not in rooms)
        drawn += [(room,) for room in within]
        drawn += [plain] if plain else []
    return drawn


def place(function: str, drawn: list[tuple[str, ...]]) -> int:
    """The row that a function (module.name) lives in."""
    for height, row in enumerate(drawn):
        if any(function.startswith(f"{name}.") for name in row):
            return height
    raise KeyError(function)


# -- the drawing -------------------------------------------------------------------------------------------

LEFT, LANE, LINE, GAP, TOP = 420, 166, 15, 8, 62
STYLE = """
  .paper { fill: #ffffff } .ink { fill: #1b1f24 } .soft { fill: #5b6b7c } .room { fill: #e4ecf4; stroke: #8aa0b8 }
  .floor { stroke: #d5dde6 }
  text { font-family: Helvetica, Arial, sans-serif; font-size: 12.5px }
  .name { font-family: Menlo, Consolas, monospace; font-size: 12px } .title { font-weight: bold; font-size: 14px }
"""
DARK = """
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14171b } .ink { fill: #e6e9ed } .soft { fill: #9fb0c1 } .room { fill: #243140; stroke: #5b7690 }
    .floor { stroke: #2c3540 }
    %s
  }
"""


def stations(drawn: list[tuple[str, ...]]) -> dict[tuple[str, int], list[str]]:
    """(way, row) -> the numbered functions there."""
    found: dict[tuple[str, int], list[str]] = {}
    for way, steps in WAYS.items():
        for number, function in enumerate((f for _, f in steps if f), 1):
            label = f"{number} {function.rpartition('.')[2]}"
            found.setdefault((way, place(function, drawn)), []).append(label)
    return found


def drawing() -> str:
    """The house with the ways of five data through it; the ground is at the bottom."""
    drawn = rows()
    there = stations(drawn)
    lines = [max([1, *(len(there.get((way, k), ())) for way in WAYS)]) for k in range(len(drawn))]
    heights = [n * LINE + 2 * GAP for n in lines]
    width, height = LEFT + LANE * len(WAYS) + 10, TOP + sum(heights) + 16
    middle = {}
    y = TOP + sum(heights)
    for k, tall in enumerate(heights):
        y -= tall
        middle[k] = y + tall / 2
    classes = [f".w{i} {{ fill: {COLORS[way][0]}; stroke: {COLORS[way][0]} }}" for i, way in enumerate(WAYS)]
    darker = [f".w{i} {{ fill: {COLORS[way][1]}; stroke: {COLORS[way][1]} }}" for i, way in enumerate(WAYS)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="The modules of forearm from the ground up, and the ways of {", ".join(WAYS)} through them">',
        f"<style>{STYLE}  {' '.join(classes)}{DARK % ' '.join(darker)}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        '<text class="ink title" x="16" y="26">The house, from the ground up</text>',
        '<text class="soft" x="16" y="46">a row uses the rows below it, never one above</text>',
    ]
    for k, row in enumerate(drawn):
        edge = middle[k] + heights[k] / 2
        parts.append(f'<line class="floor" x1="16" y1="{edge:.1f}" x2="{width - 10}" y2="{edge:.1f}"/>')
        parts += _boxes(row, middle[k])
    for i, way in enumerate(WAYS):
        parts += _lane(i, way, middle, there)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _boxes(row: tuple[str, ...], y: float) -> list[str]:
    """The boxes of one row, its names written in them."""
    parts, x = [], 16.0
    for name in row:
        wide = 7.3 * len(name) + 16
        shift = 26 if "." in name else 0  # rooms stand back a little
        parts.append(
            f'<rect class="room" x="{x + shift:.1f}" y="{y - 11:.1f}" width="{wide:.1f}" height="22" rx="4"/>'
        )
        parts.append(f'<text class="ink name" x="{x + shift + 8:.1f}" y="{y + 4:.1f}">{escape(name)}</text>')
        x += wide + 8
    return parts


def _lane(i: int, way: str, middle: dict[int, float], there: dict[tuple[str, int], list[str]]) -> list[str]:
    """One datum's way: a line, a dot in every row that it visits, the functions in their order."""
    x = LEFT + LANE * i
    visited = [k for k in middle if (way, k) in there]
    top, bottom = middle[max(visited)], middle[min(visited)]
    parts = [
        f'<text class="w{i} title" stroke="none" style="stroke: none" x="{x - 5}" y="26">{escape(way)}</text>',
        f'<line class="w{i}" x1="{x}" y1="{top:.1f}" x2="{x}" y2="{bottom:.1f}" stroke-width="2" opacity="0.55"/>',
    ]
    for k in visited:
        labels = there[way, k]
        parts.append(f'<circle class="w{i}" cx="{x}" cy="{middle[k]:.1f}" r="4.5"/>')
        for j, label in enumerate(labels):
            y = middle[k] + 4 + LINE * (j - (len(labels) - 1) / 2)
            parts.append(f'<text class="ink" x="{x + 11}" y="{y:.1f}">{escape(label)}</text>')
    return parts


# -- the page ----------------------------------------------------------------------------------------------

HEAD = """# The house

<!-- written by docs/make_architecture.py; do not edit -->

Imports point one way. A module uses what stands below it, nothing above, imports inside functions included; no module
imports itself in a circle. `tests/house/test_layering.py` holds the order; this page is made from it and from the
sources.

![The modules from the ground up, and the ways of five data through them](figures/architecture.svg)

## The way of a datum

Each arrow is one function; each thing between two arrows can be printed.
"""


def ways() -> str:
    """The ways, arrow by arrow."""
    blocks = []
    for way, steps in WAYS.items():
        listed = [
            f"{k}. {thing} → `{function}`" if function else f"{k}. {thing}"
            for k, (thing, function) in enumerate(steps, 1)
        ]
        beside = f"\n{BESIDE[way]}\n" if way in BESIDE else ""
        blocks.append(f"### {way.capitalize()}\n\n" + "\n".join(listed) + f"\n{beside}")
    return "\n".join(blocks)


def table() -> str:
    """Every module of the first level and what is in it: what it says of itself, what it uses."""
    layers, rooms = order()
    lines = ["| module | what is in it | uses |", "| --- | --- | --- |"]
    for row in reversed(layers):
        for name in row:
            listed = ", ".join(f"`{other}`" for other in sorted(used_by(name)))
            lines.append(f"| `{name}` | {_cell(sentence(name))} | {listed} |")
            for room in reversed(rooms.get(name, tuple(reversed(inside(name))))):
                within = "".join(f" `{other}`" for other in inside(f"{name}.{room}"))
                lines.append(
                    f"| `{name}.{room}` | {_cell(sentence(f'{name}.{room}'))}{within and ' In it:'}{within} | |"
                )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """The whole page."""
    below = (
        "From the top down; each stands on rows below its own. [Extending](extend.md) says which to touch.\n"
    )
    return "\n".join([HEAD, ways(), "## Room by room\n", below, table()])


if __name__ == "__main__":
    FIGURE.write_text(drawing(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
